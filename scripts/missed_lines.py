#!/usr/bin/env python3
"""Reads what `llvm-cov show --show-instantiations=false` prints, and prints the lines that nothing reached, per file."""

import re
import sys

ROW = re.compile(r" *(\d+)\| *(\S*)\|(.*)")


def ranges(numbers):
    """[1, 2, 3, 7] as "1-3 7"."""
    spans = []
    for number in numbers:
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return " ".join(f"{first}-{last}" if last > first else str(first) for first, last in spans)


missed = {}
for line in sys.stdin:
    row = ROW.match(line)
    if row is None:
        if line.rstrip().endswith(".rs:"):
            rows = missed.setdefault(line.rstrip()[:-1], [])
    elif row[2] == "0":
        rows.append(int(row[1]))
for path, rows in missed.items():
    if rows:
        print(f"{path[path.rfind('/src/') + 1:]}: {ranges(rows)}")
