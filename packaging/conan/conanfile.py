"""Conan 2 recipe: `conan create packaging/conan` builds the tree that it lies in. Needs a Rust toolchain on the PATH."""

import pathlib
import re
import sys

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import cross_building
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load

SOURCES = ("src/*", "include/*", "cmake/*", "scripts/static-library.sh", "scripts/licences.py", "abi/*", "CMakeLists.txt", "Cargo.*", "build.rs", "cbindgen.toml", "LICENSE-*", "README.md")


# As Rust names them.
ARCHITECTURES = {"x86_64": "x86_64", "armv8": "aarch64"}


class Zcodec(ConanFile):
    name = "zcodec"
    description = "The codecs of Zarr v3 behind a C interface"
    license = "MIT OR Apache-2.0"
    topics = ("zarr", "codec", "compression")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False]}
    default_options = {"shared": True}
    test_type = "explicit"

    @property
    def _root(self):
        return pathlib.Path(self.recipe_folder).parent.parent

    def set_version(self):
        self.version = re.search(r'^version = "(.*)"', load(self, str(self._root / "Cargo.toml")), re.MULTILINE)[1]

    def export_sources(self):
        for pattern in SOURCES:
            copy(self, pattern, str(self._root), self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def configure(self):
        # The library has the C interface only; zcodec.hpp is compiled by its users.
        self.settings.rm_safe("compiler.cppstd")
        self.settings.rm_safe("compiler.libcxx")

    def validate(self):
        if str(self.settings.arch) not in ARCHITECTURES or str(self.settings.os) not in ("Linux", "Macos", "Windows"):
            raise ConanInvalidConfiguration("zcodec is for x86_64 and armv8 on Linux, Macos and Windows")

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables.update(
            ZCODEC_BUILD_TESTS=False, ZCODEC_BUILD_EXAMPLES=False, ZCODEC_INSTALL=True, CMAKE_INSTALL_LIBDIR="lib",
        )
        if cross_building(self):
            toolchain.cache_variables["ZCODEC_CARGO_TARGET"] = self._rust_target
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        licences = pathlib.Path(self.package_folder) / "licenses"
        copy(self, "LICENSE-*", self.source_folder, str(licences))
        command = f'"{sys.executable}" scripts/licences.py {self._rust_target} >"{licences / "LICENCES.txt"}"'
        self.run(command, cwd=self.source_folder)
        CMake(self).install()

    @property
    def _rust_target(self):
        arch = ARCHITECTURES[str(self.settings.arch)]
        if self.settings.os == "Windows":
            mingw = "gnu" if arch == "x86_64" else "gnullvm"
            return f"{arch}-pc-windows-{'msvc' if self.settings.compiler == 'msvc' else mingw}"
        return arch + {"Linux": "-unknown-linux-gnu", "Macos": "-apple-darwin"}[str(self.settings.os)]

    def package_info(self):
        # Programs find the CMake package that is installed, with both targets.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [str(pathlib.Path("lib") / "cmake" / "zcodec")]
        self.cpp_info.set_property("pkg_config_name", "zcodec")
        # For build systems other than CMake: both libraries are in the package, and with MSVC the plain name is that of
        # the static one.
        if self.settings.compiler == "msvc":
            self.cpp_info.libs = ["zcodec.dll" if self.options.shared else "zcodec"]
        elif not self.options.shared and self.settings.os == "Macos":
            # Its linker takes the shared one for the name, and has no `-l:`.
            library = str(pathlib.Path(self.package_folder) / "lib" / "libzcodec.a")
            self.cpp_info.exelinkflags = self.cpp_info.sharedlinkflags = [library]
        else:
            self.cpp_info.libs = ["zcodec" if self.options.shared else ":libzcodec.a"]
        if not self.options.shared:  # as in cmake/artifacts.cmake
            self.cpp_info.system_libs = {
                "Linux": ["gcc_s", "util", "rt", "pthread", "m", "dl"],
                "Macos": ["iconv", "m"],
                "Windows": ["kernel32", "ntdll", "userenv", "ws2_32", "dbghelp"],
            }[str(self.settings.os)]
            if self.settings.os == "Windows" and self.settings.compiler != "msvc":
                self.cpp_info.system_libs += ["gcc_eh", "pthread"]
