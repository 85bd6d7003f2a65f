#!/usr/bin/env python3
"""Runs fuzz targets that are built, one after the other, and records each run in runs.jsonl and README.md.

    run.py SECONDS TARGET...     as scripts/fuzz.sh, which builds them, does

A crash ends it, and its input and the output of the target are in artifacts/.
"""
import os
import pathlib
import subprocess
import sys

import runs

ROOT = pathlib.Path(__file__).resolve().parent
PROGRAMS = ROOT / "target/x86_64-unknown-linux-gnu/release"
OPTIONS = ["-max_len=4096", "-len_control=0", "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1"]


def run(target, seconds):
    artifacts, corpus = ROOT / "artifacts", ROOT / "corpus" / target
    for folder in artifacts, corpus:
        folder.mkdir(parents=True, exist_ok=True)
    log = artifacts / (target + ".log")
    arguments = [*OPTIONS, "-max_total_time=%d" % seconds, "-dict=json.dict", "-artifact_prefix=artifacts/%s-" % target]
    with log.open("wb") as output:
        process = subprocess.Popen([PROGRAMS / target, corpus, *arguments], cwd=ROOT, stdout=output, stderr=output)
        _, status, usage = os.wait4(process.pid, 0)
    text = log.read_text(errors="replace")
    if status != 0:
        sys.exit("%s\n%s failed: see %s" % (text[-4000:], target, log))
    return runs.add(target, usage.ru_utime + usage.ru_stime, text)


def main():
    seconds, *targets = sys.argv[1:]
    for target in targets:
        print(run(target, int(seconds)), flush=True)


if __name__ == "__main__":
    main()
