#!/usr/bin/env python3
"""Compares what a shared library exports with its header and with the committed list.

    check_symbols.py LIBRARY HEADER SYMBOLS SONAME

New functions are added to SYMBOLS by hand: nothing enters the ABI by accident, and nothing leaves it.
"""
import re
import subprocess
import sys


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def exported(library):
    if sys.platform == "darwin":
        return {line.split()[-1].removeprefix("_") for line in run("nm", "-gU", library).splitlines()}
    return {line.split()[-1] for line in run("nm", "-D", "--defined-only", library).splitlines()}


def declared(header):
    """The names before the parameter list of each declaration that is not a typedef."""
    with open(header) as file:
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", file.read(), flags=re.DOTALL)
    return set(re.findall(r"\b(zcodec_\w+)\s*\(", re.sub(r"typedef[^;{]*;", "", text)))


def soname(library):
    if sys.platform == "darwin":
        return run("otool", "-D", library).splitlines()[-1]
    return re.search(r"SONAME\)\s+.*\[(.*)\]", run("readelf", "-d", library)).group(1)


def differences(what, found, expected):
    return ["%s: %s" % (name, what % ("has" if name in found else "lacks")) for name in sorted(found ^ expected)]


def main(library, header, symbols, expected_soname):
    with open(symbols) as file:
        listed = {line.strip() for line in file if line.strip()}
    problems = differences("the library %s it, unlike symbols.txt", exported(library), listed)
    problems += differences("the header %s it, unlike symbols.txt", declared(header), listed)
    if soname(library) != expected_soname:
        problems.append("the library calls itself %s, expected %s" % (soname(library), expected_soname))
    print("\n".join(problems) or "%d symbols, as listed" % len(listed))
    return 1 if problems or not listed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
