"""Prints what criterion measured as Markdown tables, one for each benchmark: the medians of the memory copy in GB/s of
its bytes, and of each contestant as a ratio to it, or where all are far slower, in GB/s too.

    cargo bench && python3 table.py [TEXT ...]     # only benchmarks whose name has one of these texts

Of several runs, target/criterion and others begun with CRITERION_HOME=target/criterion-2, it takes the medians: a ratio
is within one run.
"""
import json
import pathlib
import statistics
import sys

YARDSTICK = "copy"


def measured():
    """Speeds in GB/s by benchmark, case, run and contestant."""
    benchmarks = {}
    for run in pathlib.Path("target").glob("criterion*"):
        for path in run.rglob("new/benchmark.json"):
            description = json.loads(path.read_text())
            estimates = json.loads((path.parent / "estimates.json").read_text())
            benchmark, *case, contestant = description["full_id"].split("/")
            throughput = description["throughput"]
            size = throughput["Bytes"] if isinstance(throughput, dict) else throughput
            speed = size / estimates["median"]["point_estimate"]
            runs = benchmarks.setdefault(benchmark, {}).setdefault("/".join(case), {})
            runs.setdefault(run.name, {})[contestant] = speed
    return benchmarks


def medians(runs, is_ratio):
    """By contestant; without the runs that lack the yardstick."""
    found = {}
    for speeds in runs.values():
        for name, speed in speeds.items():
            if YARDSTICK in speeds:
                unit = speeds[YARDSTICK] if is_ratio and name != YARDSTICK else 1
                found.setdefault(name, []).append(speed / unit)
    return {name: statistics.median(values) for name, values in found.items()}


def table(cases):
    """Where every case is far slower than a copy, speeds say more than ratios."""
    is_slow = all(medians(runs, True)["zcodec"] < 0.2 for runs in cases.values())
    rows = {name: medians(runs, not is_slow) for name, runs in sorted(cases.items())}
    contestants = ["zcodec"] + sorted({name for row in rows.values() for name in row} - {YARDSTICK, "zcodec"})
    titles = ["%s, GB/s" % name for name in contestants] if is_slow else contestants
    yield "| case | %s, GB/s | %s |" % (YARDSTICK, " | ".join(titles))
    yield "| --- |" + " ---: |" * (1 + len(contestants))
    for name, row in rows.items():
        cells = [shown(row[contestant]) if contestant in row else "" for contestant in contestants]
        yield "| %s | %.1f | %s |" % (name, row[YARDSTICK], " | ".join(cells))


def shown(value):
    return "%.2f" % value if value >= 0.1 else "%.1g" % value


def main():
    texts = sys.argv[1:]
    for benchmark, cases in sorted(measured().items()):
        wanted = {
            name: runs
            for name, runs in cases.items()
            if any({YARDSTICK, "zcodec"} <= speeds.keys() for speeds in runs.values())
            and (not texts or any(text in benchmark + "/" + name for text in texts))
        }
        if wanted:
            print("### %s\n" % benchmark)
            print("\n".join(table(wanted)) + "\n")


if __name__ == "__main__":
    main()
