#!/usr/bin/env python3
"""Writes the licences of everything inside the binaries: of zcodec, of each crate that is linked, of the C libraries in
them, of Rust's standard library, and of what compilers add: those files, under those names.

    scripts/licences.py TARGET [NAME=FILE...] > LICENCES.txt

Fails if a crate has a licence that ALLOWED does not name, or no text of it where the texts differ. `deny.toml` has the
same list for cargo-deny, and the licences of what only the build and the tests use.
"""

import html
import json
import pathlib
import re
import subprocess
import sys

ALLOWED = set("MIT Apache-2.0 BSD-2-Clause BSD-3-Clause Zlib 0BSD Unlicense Unicode-3.0 bzip2-1.0.6".split())
NAMES = re.compile(r"^(licen[cs]e|copying|copyright|notice|unlicense)([-_.].*)?$", re.IGNORECASE)
RULE = "=" * 100


def asked(*command):
    """What a command prints."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def metadata(target):
    """What cargo says of the packages of a build for this target."""
    return json.loads(asked("cargo", "metadata", "--locked", "--format-version=1", "--filter-platform", target))


def linked(metadata):
    """The packages whose code is in the library, by name and version."""
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    found, waiting = {}, [metadata["resolve"]["root"]]
    while waiting:
        identifier = waiting.pop()
        package = packages[identifier]
        is_macro = any("proc-macro" in part["kind"] for part in package["targets"])
        if identifier in found or is_macro:
            continue
        found[identifier] = package
        for dependency in nodes[identifier]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                waiting.append(dependency["pkg"])
    return sorted(found.values(), key=lambda package: (package["name"], package["version"]))


def is_allowed(expression):
    """Whether ALLOWED is enough for an SPDX expression of AND, OR and brackets."""
    words = re.findall(r"[()]|[A-Za-z0-9.+-]+", expression.replace("/", " OR "))
    names = {"AND": "and", "OR": "or", "(": "(", ")": ")"}
    return eval(" ".join(names.get(word, str(word in ALLOWED)) for word in words))  # True, False, and, or, brackets


def texts(folder):
    """The licence files of a package, and of the C library in it (which lies one folder deeper)."""
    files = [path for path in (*folder.iterdir(), *folder.glob("*/*")) if path.is_file() and NAMES.match(path.name)]
    # zstd's COPYING is the GPL, its other choice.
    files = [path for path in files if path.name != "COPYING" or not (path.parent / "LICENSE").is_file()]
    return sorted(files, key=lambda path: str(path.relative_to(folder)))


def standard_library():
    """The licences of Rust's standard library, with those of its own crates if the toolchain has them."""
    version = asked("rustc", "--version")
    heading = f"The standard library of Rust ({version}): MIT OR Apache-2.0\nhttps://github.com/rust-lang/rust"
    page = pathlib.Path(asked("rustc", "--print", "sysroot")) / "share/doc/rust/COPYRIGHT-library.html"
    if not page.is_file():
        print(f"no licences of the crates in Rust's standard library: {page} is missing", file=sys.stderr)
        texts_above = "The texts of both licences are those of zcodec above."
        return f"{heading}\n\nCopyright (c) The Rust Project Contributors. {texts_above}"
    body = re.sub(r"<title>.*?</title>|<[^>]*>", "", page.read_text(encoding="utf-8"))
    lines = [line.rstrip() for line in html.unescape(body).strip().splitlines()]
    return heading + "\n\n" + re.sub(r"\n{3,}", "\n\n", "\n".join(lines))


def main():
    (target, *runtimes), seen = sys.argv[1:], {}
    sys.stdout.reconfigure(encoding="utf-8")
    print("Licences of what is inside the zcodec libraries\n")
    for package in linked(metadata(target)):
        name, expression = f"{package['name']} {package['version']}", package["license"] or ""
        if not expression or not is_allowed(expression):
            sys.exit(f"{name} has the licence {expression!r}, which is not among the allowed ones")
        print(f"{RULE}\n{name}: {expression}\n{package['repository'] or ''}")
        folder = pathlib.Path(package["manifest_path"]).parent
        files = texts(folder)
        if not files and not re.search(r"\bApache-2.0\b", expression):
            sys.exit(f"{name} has no licence file in {folder}")
        if not files:
            # The one licence whose text is the same for all, whoever holds the copyright.
            print("\nNo licence file comes with it: Apache-2.0, as in LICENSE-APACHE")
        for path in files:
            text = path.read_text(encoding="utf-8", errors="replace").strip()
            where = f"{name}, {path.relative_to(folder)}"
            if text in seen:
                print(f"\n{path.relative_to(folder)}: the same as {seen[text]}")
            else:
                seen[text] = where
                print(f"\n{path.relative_to(folder)}:\n\n{text}")
        print()
    print(f"{RULE}\n{standard_library()}")
    for runtime in runtimes:
        name, _, file = runtime.rpartition("=")
        print(f"\n{RULE}\n{name}\n\n{pathlib.Path(file).read_text(encoding='utf-8').strip()}")


if __name__ == "__main__":
    main()
