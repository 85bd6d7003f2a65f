#!/usr/bin/env python3
"""Keeps the runs of the fuzz targets in runs.jsonl, and their sums in the table of README.md.

    runs.py        writes the table again

A line of runs.jsonl has the date and commit of a run, its target, the seconds that it took (`processor`; of early runs
only `elapsed` is known), and from libFuzzer's last line the executions, and the edges and features that are covered.
"""
import datetime
import json
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent
RUNS = ROOT / "runs.jsonl"
README = ROOT / "README.md"
HEADER = "| target | runs | processor minutes | executions | edges covered | features | last run |\n"
LAST_LINE = re.compile(r"^#(\d+)\s+DONE\s+cov: (\d+) ft: (\d+)", re.MULTILINE)


def add(target, processor, log):
    """Adds a run of `processor` seconds of processor time, from libFuzzer's output. Returns its line."""
    executions, edges, features = map(int, LAST_LINE.findall(log)[-1])
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()
    line = json.dumps(
        {
            "date": datetime.date.today().isoformat(),
            "commit": commit,
            "target": target,
            "processor": round(processor),
            "executions": executions,
            "edges": edges,
            "features": features,
        }
    )
    with RUNS.open("a") as file:
        file.write(line + "\n")
    write_table()
    return line


def row(target, runs):
    last = runs[-1]
    cells = [
        "`%s`" % target,
        len(runs),
        round(sum(run.get("processor", 0) for run in runs) / 60),
        sum(run["executions"] for run in runs),
        last["edges"],
        last["features"],
        "%s, `%s`" % (last["date"], last["commit"]),
    ]
    return "| %s |\n" % " | ".join(cell if isinstance(cell, str) else format(cell, ",") for cell in cells)


def write_table():
    by_target = {}
    for line in RUNS.read_text().splitlines():
        run = json.loads(line)
        by_target.setdefault(run["target"], []).append(run)
    rows = "".join(row(target, by_target[target]) for target in sorted(by_target))
    before, _, after = README.read_text().partition(HEADER)
    rest = after[after.index("\n\n") + 1 :]
    README.write_text(before + HEADER + "| --- | ---: | ---: | ---: | ---: | ---: | --- |\n" + rows + rest)


if __name__ == "__main__":
    write_table()
