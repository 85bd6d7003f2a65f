"""Builds the programs of tests/outside against the package, and runs them."""

import pathlib

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout


class Outside(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps", "VirtualRunEnv"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["ZCODEC_VERSION"] = str(self.dependencies["zcodec"].ref.version)
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure(build_script_folder=str(pathlib.Path(self.recipe_folder).parents[2] / "tests" / "outside"))
        cmake.build()

    def test(self):
        if can_run(self):
            CMake(self).ctest(["--output-on-failure", "--no-tests=error"])
