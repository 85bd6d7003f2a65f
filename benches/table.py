"""Prints what criterion measured as Markdown tables, one per benchmark: the memory copy in GB/s, and each contestant as
a ratio to it. If most contestants are far slower, they are in GB/s, too, and the ratio in brackets says how many times
as fast zcodec is.

    cargo bench && python3 table.py [TEXT ...]     # only benchmarks whose name has one of these texts

On a shared machine, make several runs: CRITERION_HOME=target/criterion-2, and so on, gives each a folder of its own
beside target/criterion. The tables have the medians of all runs; a ratio compares contestants of one run.
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


def medians(runs, value):
    """By contestant, of value(its speed, the speeds of the run by contestant)."""
    found = {}
    for speeds in runs.values():
        if {YARDSTICK, "zcodec"} <= speeds.keys():
            for name, speed in speeds.items():
                found.setdefault(name, []).append(value(speed, speeds))
    return {name: statistics.median(values) for name, values in found.items()}


def table(cases):
    """Where most cases are far slower than a copy, speeds say more than ratios."""
    to_copy = {name: medians(runs, lambda speed, run: speed / run[YARDSTICK]) for name, runs in sorted(cases.items())}
    is_slow = statistics.median(row["zcodec"] for row in to_copy.values()) < 0.2
    contestants = ["zcodec"] + sorted({name for row in to_copy.values() for name in row} - {YARDSTICK, "zcodec"})
    titles = ["%s, GB/s" % name for name in contestants] if is_slow else contestants
    yield "| case | %s, GB/s | %s |" % (YARDSTICK, " | ".join(titles))
    yield "| --- |" + " ---: |" * (1 + len(contestants))
    for name, row in to_copy.items():
        speeds = medians(cases[name], lambda speed, _: speed)
        times = medians(cases[name], lambda speed, run: run["zcodec"] / speed)
        cells = [cell(contestant, row, speeds, times, is_slow) for contestant in contestants]
        yield "| %s | %.1f | %s |" % (name, speeds[YARDSTICK], " | ".join(cells))


def cell(contestant, row, speeds, times, is_slow):
    if contestant not in row:
        return ""
    if not is_slow:
        return shown(row[contestant])
    return shown(speeds[contestant]) + ("" if contestant == "zcodec" else " (%s)" % shown(times[contestant]))


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
