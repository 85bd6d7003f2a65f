"""Compares the table of codecs in a README with what a library supports: codec_table.py README LIBRARY."""

import ctypes
import json
import pathlib
import re
import sys


def in_table(readme):
    """The names of the first column. "`numcodecs.` `a`, `b`" are numcodecs.a and numcodecs.b."""
    text = pathlib.Path(readme).read_text(encoding="utf-8")
    table = text.partition("<!-- codecs -->\n")[2].partition("\n\n")[0]
    for row in table.splitlines()[2:]:
        names = re.findall("`([^`]*)`", row.split("|")[1])
        prefix = names.pop(0) if names[0].endswith(".") else ""
        yield from (prefix + name for name in names)


def in_library(path):
    library = ctypes.CDLL(path)
    library.zcodec_supported_json.restype = ctypes.c_char_p
    for codec in json.loads(library.zcodec_supported_json())["codecs"]:
        yield from (codec["name"], *codec["aliases"])


readme, library = sys.argv[1:]
table, supported = sorted(in_table(readme)), sorted(in_library(library))
if table != supported:
    sys.exit(f"only in the table: {set(table) - set(supported)}; only in the library: {set(supported) - set(table)}; "
             f"{len(table)} and {len(supported)} names")
