#!/usr/bin/env python3
"""Reads what `llvm-cov show --show-instantiations=false` prints, and prints the lines that nothing reached, per file.

    missed_lines.py             the lines
    missed_lines.py --count     reached and all lines of each file, of each folder with what is in it, and the percentage
"""

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


def read(lines):
    """For each file, the lines that something could reach, each with whether something did."""
    files = {}
    for line in lines:
        row = ROW.match(line)
        if row is None:
            if line.rstrip().endswith(".rs:"):
                path = line.rstrip()[:-1]
                rows = files.setdefault(path[path.rfind("/src/") + 1 :], {})
        elif row[2]:
            rows[int(row[1])] = row[2] != "0"
    return files


def print_counts(files):
    counts = {}
    for path, rows in files.items():
        folders = [path[:at] + "/" for at, letter in enumerate(path) if letter == "/"]
        for place in [path, *folders]:
            reached, total = counts.get(place, (0, 0))
            counts[place] = reached + sum(rows.values()), total + len(rows)
    for place, (reached, total) in sorted(counts.items()):
        if total:
            print(f"{place}: {reached} of {total}, {100 * reached / total:.1f} %")


files = read(sys.stdin)
if sys.argv[1:] == ["--count"]:
    print_counts(files)
else:
    for path, rows in files.items():
        if missed := [number for number, is_reached in rows.items() if not is_reached]:
            print(f"{path}: {ranges(missed)}")
