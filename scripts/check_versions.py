#!/usr/bin/env python3
"""Checks that every file that repeats the version of Cargo.toml has the same one.

    scripts/check_versions.py

RELEASING.md says how each of them gets it. Needs Python 3.9 and nothing else. The exit status is 1 if one differs.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCKED = r'^name = "zcodec"\nversion = "(.*)"'
PARENT = r"^  <parent>\n.*\n.*\n    <version>(.*?)(?:-SNAPSHOT)?</version>"
MACROS = "\n".join(rf"#define ZCODEC_VERSION_{part} (\d+)" for part in ("MAJOR", "MINOR", "PATCH"))
# The version is the group of the first match, or its groups.
PLACES = {
    "Cargo.lock": LOCKED,
    "benches/Cargo.lock": LOCKED,
    "fuzz/Cargo.lock": LOCKED,
    "CHANGELOG.md": r"^## (\d.*) \(",
    "include/zcodec.h": MACROS,
    "include/zcodec.hpp": r'The version of the library, such as "(.*)"\.',
    "src/capi/info.rs": r'The version of the library, such as "(.*)"\.',
    "java/pom.xml": r"^  <version>(.*?)(?:-SNAPSHOT)?</version>",
    "java/zcodec-java/pom.xml": PARENT,
    "java/zcodec-zarr-java/pom.xml": PARENT,
    "java/zcodec_imagej/pom.xml": PARENT,
    "java/zcodec-java/src/main/java/zcodec/Zcodec.java": r"@return such as \{@code (.*)\}",
    "packaging/conda/recipe.yaml": r'^  version: "(.*)"',
    "packaging/julia/build_tarballs.jl": r'^version = v"(.*)"',
    "packaging/vcpkg/vcpkg.json": r'^  "version": "(.*)"',
}


def version(path, pattern):
    found = re.search(pattern, (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
    return ".".join(found.groups()) if found else "no version found"


def main():
    wanted = version("Cargo.toml", r'^version = "(.*)"')
    found = {path: version(path, pattern) for path, pattern in PLACES.items()}
    faults = [f"{path}: {other}, Cargo.toml: {wanted}" for path, other in found.items() if other != wanted]
    print("\n".join(faults) or f"{len(found)} files have the version {wanted} of Cargo.toml")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
