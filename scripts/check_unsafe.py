#!/usr/bin/env python3
"""Checks that the table in SECURITY.md names every place in src/ where `unsafe` code is allowed, and no other.

    scripts/check_unsafe.py

A place is a folder or a file without its suffix. Needs Python 3.9 and nothing else. The exit status is 1 if the table
and the source differ.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def listed():
    """The places of the table: "`src/a`: `b`, `c`" are src/a/b and src/a/c."""
    rows = re.findall(r"^  \| (`src/[^|]*) \|", (ROOT / "SECURITY.md").read_text(encoding="utf-8"), re.MULTILINE)
    for part in re.split("[;|]", ";".join(rows)):
        folder, colon, members = part.partition(":")
        for name in re.findall("`([^`]*)`", members if colon else folder):
            yield f"{folder.strip().strip('`')}/{name}" if colon else name


def is_in(path, place):
    return path == f"{place}.rs" or path.startswith(f"{place}/")


def allows_unsafe(source):
    """Whether an attribute lets `unsafe_code` pass, alone, in a list, or within `cfg_attr`."""
    source = re.sub(r'\breason\s*=\s*"(?:\\.|[^"\\])*"', "", source, flags=re.DOTALL)  # which may have brackets
    return re.search(r"\b(?:allow|expect|warn)\s*\([^()]*\bunsafe_code\b", source) is not None


def main():
    sources = (path for path in (ROOT / "src").rglob("*.rs") if allows_unsafe(path.read_text(encoding="utf-8")))
    sources = sorted(path.relative_to(ROOT).as_posix() for path in sources)
    # A row may also name a feature.
    places = [place for place in listed() if place.startswith("src/")]
    faults = [f"{path} allows unsafe code; SECURITY.md does not name it" for path in sources
              if not any(is_in(path, place) for place in places)]
    faults += [f"SECURITY.md names {place}, where no unsafe code is allowed" for place in places
               if not any(is_in(path, place) for path in sources)]
    print("\n".join(faults) or f"{len(sources)} files allow unsafe code, all named in SECURITY.md")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
