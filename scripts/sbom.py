#!/usr/bin/env python3
"""Writes what the libraries are made of as a CycloneDX 1.6 document: zcodec, each crate that is linked, with version,
licence, hash and what it depends on, the C libraries that crates bring with them, and what compilers add.

    scripts/sbom.py TARGET > zcodec.cdx.json

Needs the Python packages cyclonedx-python-lib[json-validation], which also checks the document, and ziglang, or for
Windows the compilers of Debian's gcc-mingw-w64-x86-64: those of scripts/dist.sh. With SOURCE_DATE_EPOCH set, the same
source gives the same bytes.
"""

import datetime
import importlib.metadata
import os
import pathlib
import re
import sys
import tomllib
import uuid

import licences
from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The C library in a crate: its name, its licence, where its version stands in the crate's version, its package URL.
C_LIBRARIES = {
    "zstd-sys": ("zstd", "BSD-3-Clause", r"\+zstd\.(.*)$", "pkg:github/facebook/zstd@v{}"),
    "libdeflate-sys": ("libdeflate", "MIT", r"^(\d+\.\d+)", "pkg:github/ebiggers/libdeflate@v{}"),
}


def component(package, checksums):
    """The crate as a component."""
    name, version = package["name"], package["version"]
    checksum = checksums.get((name, version))
    part = Component(
        type=ComponentType.LIBRARY,
        name=name,
        version=version,
        description=package["description"],
        bom_ref=f"pkg:cargo/{name}@{version}",
        purl=PackageURL("cargo", name=name, version=version),
        licenses=[LicenseFactory().make_from_string(package["license"].replace("/", " OR "))],
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=checksum)] if checksum else [],
    )
    if package["repository"]:
        part.external_references.add(ExternalReference(type=ExternalReferenceType.VCS, url=XsUri(package["repository"])))
    return part


def c_library(package):
    """The C library that a crate has the source of, if it has one."""
    if package["name"] not in C_LIBRARIES:
        return None
    name, licence, place, url = C_LIBRARIES[package["name"]]
    version = re.search(place, package["version"])[1]
    url = url.format(version)
    return Component(
        type=ComponentType.LIBRARY,
        name=name,
        version=version,
        bom_ref=url,
        purl=PackageURL.from_string(url),
        licenses=[LicenseFactory().make_from_string(licence)],
    )


def runtimes(target):
    """What the compilers of scripts/dist.sh add to the libraries."""
    parts = [("rust-std", licences.asked("rustc", "--version").split()[1], "MIT OR Apache-2.0")]
    if "-windows-" in target:
        package = "mingw-w64-x86-64-dev"
        version = licences.asked("dpkg-query", "--show", "--showformat=${source:Upstream-Version}", package)
        gcc = licences.asked("x86_64-w64-mingw32-gcc", "-dumpfullversion")
        parts += [
            ("libgcc", gcc, "GPL-3.0-or-later WITH GCC-exception-3.1"),
            ("mingw-w64", version, "ZPL-2.1"),
        ]
    else:
        # The libunwind of LLVM that this version of zig has.
        zig = importlib.metadata.version("ziglang")
        parts += [("zig-libunwind", zig, "Apache-2.0 WITH LLVM-exception"), ("zig-compiler_rt", zig, "MIT")]
    return [
        Component(
            type=ComponentType.LIBRARY,
            name=name,
            version=version,
            bom_ref=f"runtime:{name}@{version}",
            licenses=[LicenseFactory().make_from_string(licence)],
        )
        for name, version, licence in parts
    ]


def document(target):
    """The whole document."""
    metadata = licences.metadata(target)
    packages = {package["id"]: package for package in licences.linked(metadata)}
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())
    checksums = {(entry["name"], entry["version"]): entry.get("checksum") for entry in lock["package"]}
    parts = {identifier: component(package, checksums) for identifier, package in packages.items()}
    main = parts.pop(metadata["resolve"]["root"])
    bom = Bom(components=parts.values())
    bom.metadata.component = main
    bom.metadata.timestamp = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.UTC)
    bom.serial_number = uuid.uuid5(uuid.NAMESPACE_URL, f"{main.purl}?target={target}&lock={sorted(checksums.items())}")
    parts[metadata["resolve"]["root"]] = main
    for node in metadata["resolve"]["nodes"]:
        if node["id"] in parts:
            needed = [parts[other["pkg"]] for other in node["deps"] if other["pkg"] in parts]
            inside = c_library(packages[node["id"]])
            if inside:
                bom.components.add(inside)
                bom.register_dependency(inside)
                needed.append(inside)
            bom.register_dependency(parts[node["id"]], needed)
    added = runtimes(target)
    bom.components.update(added)
    bom.register_dependency(main, added)
    return bom


def main():
    text = JsonV1Dot6(document(sys.argv[1])).output_as_string(indent=1)
    fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if fault:
        sys.exit(f"not a CycloneDX document: {fault}")
    print(text)


if __name__ == "__main__":
    main()
