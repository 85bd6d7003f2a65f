#!/usr/bin/env python3
"""Fills fuzz/corpus from earlier runs (corpus.tar.xz) and from the conformance cases: one small file for each different
configuration.

    seed.py

A seed of `metadata` and `decode` is `codecs NUL input NUL encoded`, or a zarr.json.
"""
import base64
import hashlib
import json
import math
import pathlib
import tarfile

ROOT = pathlib.Path(__file__).resolve().parent
LARGEST = 600
PCODEC_TYPES = "uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float32 float64".split()


def seeds(case):
    if "zarr_json" in case:
        yield "metadata", json.dumps(case["zarr_json"]).encode()
    if "codecs" in case and isinstance(case.get("encoded", ""), str):
        texts = [case["codecs"], case["input"]] if case.get("input") else [case["codecs"]]
        parts = [json.dumps(text, separators=(",", ":")).encode() for text in texts] + [b""] * (2 - len(texts))
        yield "metadata", b"\0".join(parts)
        if "encoded" in case:
            encoded = base64.b64decode(case["encoded"])
            yield "decode", b"\0".join(parts + [encoded])
            if "numcodecs.pcodec" in json.dumps(case["codecs"]):
                kind, count = PCODEC_TYPES.index(case["input"]["data_type"]), math.prod(case["input"]["shape"])
                yield "pcodec", bytes([kind]) + count.to_bytes(2, "little") + encoded


def kind(case):
    """Two cases of the same kind differ in data only."""
    names = [codec if isinstance(codec, str) else codec.get("name") for codec in case.get("codecs", [])
             if isinstance(codec, (str, dict))]
    members = [sorted(codec["configuration"]) for codec in case.get("codecs", [])
               if isinstance(codec, dict) and isinstance(codec.get("configuration"), dict)]
    given = case.get("input") or {}
    return json.dumps([names, members, given.get("data_type"), "error" in case], sort_keys=True)


def main():
    with tarfile.open(ROOT / "corpus.tar.xz") as archive:
        # Python 3.11.2, of Debian 12, has no filters yet.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(ROOT / "corpus")
    seen, count = set(), 0
    for path in sorted((ROOT / "../tests/conformance/cases").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            key = (path.name, kind(case))
            if key in seen:
                continue
            for target, data in seeds(case):
                if len(data) <= LARGEST:
                    seen.add(key)
                    folder = ROOT / "corpus" / target
                    folder.mkdir(parents=True, exist_ok=True)
                    (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)
                    count += 1
    print("%d seeds" % count)


if __name__ == "__main__":
    main()
