"""Prints what criterion measured as a Markdown table: medians in GB/s of the decoded bytes, and the ratio to a copy.

    cargo bench && python3 table.py [TEXT ...]     # only benchmarks whose name has one of these texts
"""
import json
import pathlib
import sys


def main():
    rows = {}
    for path in sorted(pathlib.Path("target/criterion").rglob("new/benchmark.json")):
        name = json.loads(path.read_text())
        estimates = json.loads((path.parent / "estimates.json").read_text())
        case, _, contestant = name["full_id"].rpartition("/")
        throughput = name["throughput"]
        size = throughput["Bytes"] if isinstance(throughput, dict) else throughput
        rows.setdefault(case, {})[contestant] = size / estimates["median"]["point_estimate"]
    print("| case | contestant | GB/s | ratio to the copy |\n| --- | --- | ---: | ---: |")
    for case, contestants in rows.items():
        if sys.argv[1:] and not any(text in case for text in sys.argv[1:]):
            continue
        copy = contestants.get("copy")
        for contestant, speed in contestants.items():
            ratio = "%.2f" % (speed / copy) if copy else ""
            print("| %s | %s | %.2f | %s |" % (case, contestant, speed, ratio))


if __name__ == "__main__":
    main()
