"""Writes the declarations of zcodec.h as a Python module that cffi loads without a compiler or a parser.

    declarations.py path/to/zcodec.h path/to/_declarations.py
"""

import re
import sys
from pathlib import Path

from cffi import FFI


def declarations(header: str) -> str:
    """The header without what only a C compiler needs: directives, and the blocks for C++."""
    header = re.sub(r"(?ms)^#ifdef __cplusplus$.*?^#endif.*?$", "", header)
    lines = header.splitlines()
    return "\n".join(line for line in lines if not line.startswith("#") or re.match(r"#define \w+ \d+$", line))


def main(header: str, module: str) -> None:
    ffi = FFI()
    ffi.cdef(declarations(Path(header).read_text(encoding="utf-8")))
    ffi.set_source("zcodec._declarations", None)
    ffi.emit_python_code(module)


if __name__ == "__main__":
    main(*sys.argv[1:])
