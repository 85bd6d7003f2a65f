"""Prints what criterion measured as Markdown tables, one for each benchmark: the medians of the memory copy in GB/s of
its bytes, and of each contestant as a ratio to it.

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


def ratio(value):
    return "%.2f" % value if value >= 0.1 else "%.1g" % value


def table(cases):
    contestants = sorted({name for case in cases.values() for name in case} - {YARDSTICK, "zcodec"})
    contestants = ["zcodec"] + contestants
    yield "| case | %s, GB/s | %s |" % (YARDSTICK, " | ".join(contestants))
    yield "| --- |" + " ---: |" * (1 + len(contestants))
    for name, speeds in sorted(cases.items()):
        yardstick = speeds.get(YARDSTICK)
        ratios = [ratio(speeds[c] / yardstick) if c in speeds and yardstick else "" for c in contestants]
        yield "| %s | %s | %s |" % (name, "%.1f" % yardstick if yardstick else "", " | ".join(ratios))


def main():
    texts = sys.argv[1:]
    for benchmark, cases in sorted(measured().items()):
        wanted = {
            name: speeds
            for name, speeds in cases.items()
            if not texts or any(text in benchmark + "/" + name for text in texts)
        }
        if wanted:
            print("### %s\n" % benchmark)
            print("\n".join(table(wanted)) + "\n")


if __name__ == "__main__":
    main()
