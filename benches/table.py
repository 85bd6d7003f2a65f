"""Prints what criterion measured as Markdown tables, one for each benchmark: the medians of the memory copy in GB/s of
its bytes, and of each contestant as a ratio to it, or where all are far slower, in GB/s too.

    cargo bench && python3 table.py [TEXT ...]     # only benchmarks whose name has one of these texts
"""
import json
import pathlib
import sys

YARDSTICK = "copy"


def measured():
    """Speeds in GB/s by benchmark, case and contestant."""
    benchmarks = {}
    for path in pathlib.Path("target/criterion").rglob("new/benchmark.json"):
        description = json.loads(path.read_text())
        estimates = json.loads((path.parent / "estimates.json").read_text())
        benchmark, *case, contestant = description["full_id"].split("/")
        throughput = description["throughput"]
        size = throughput["Bytes"] if isinstance(throughput, dict) else throughput
        speed = size / estimates["median"]["point_estimate"]
        benchmarks.setdefault(benchmark, {}).setdefault("/".join(case), {})[contestant] = speed
    return benchmarks


def table(cases):
    """Where every case is far slower than a copy, speeds say more than ratios."""
    is_slow = all(speeds["zcodec"] < 0.2 * speeds[YARDSTICK] for speeds in cases.values())
    contestants = ["zcodec"] + sorted({name for case in cases.values() for name in case} - {YARDSTICK, "zcodec"})
    titles = ["%s, GB/s" % name for name in contestants] if is_slow else contestants
    yield "| case | %s, GB/s | %s |" % (YARDSTICK, " | ".join(titles))
    yield "| --- |" + " ---: |" * (1 + len(contestants))
    for name, speeds in sorted(cases.items()):
        unit = 1 if is_slow else speeds[YARDSTICK]
        cells = [shown(speeds[contestant] / unit) if contestant in speeds else "" for contestant in contestants]
        yield "| %s | %.1f | %s |" % (name, speeds[YARDSTICK], " | ".join(cells))


def shown(value):
    return "%.2f" % value if value >= 0.1 else "%.1g" % value


def main():
    texts = sys.argv[1:]
    for benchmark, cases in sorted(measured().items()):
        wanted = {
            name: speeds
            for name, speeds in cases.items()
            if {YARDSTICK, "zcodec"} <= speeds.keys() and (not texts or any(t in benchmark + "/" + name for t in texts))
        }
        if wanted:
            print("### %s\n" % benchmark)
            print("\n".join(table(wanted)) + "\n")


if __name__ == "__main__":
    main()
