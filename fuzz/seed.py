#!/usr/bin/env python3
"""Fills fuzz/corpus from earlier runs (corpus.tar.xz), from the conformance cases, one small file for each different
configuration, and with chains that the cases lack: large enough for threads, and with codecs of the host.

    seed.py

A seed of `metadata` and `decode` is `codecs NUL input NUL encoded`, or a zarr.json. One of `calls` is that after eight
bytes, and has `document NUL NUL encoded` for a document.
"""
import base64
import hashlib
import itertools
import json
import math
import pathlib
import tarfile

import made_seeds

ROOT = pathlib.Path(__file__).resolve().parent
LARGEST = 2000
PCODEC_TYPES = "uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float32 float64".split()

# Of the first byte of `calls`.
THREADS, CALL_DATA, EXECUTOR, STORE_EMPTY, PLAIN, PADDINGS, EXECUTOR_FAILS = (1 << bit for bit in range(7))


def text_of(value):
    return value.encode() if isinstance(value, str) else json.dumps(value, separators=(",", ":")).encode()


def texts(case):
    """`codecs` and `input` as bytes, the latter empty if there is none; None if the case has a document."""
    if "codecs_b64" in case:
        codecs = base64.b64decode(case["codecs_b64"])
    elif "codecs_text" in case:
        codecs = case["codecs_text"].encode()
    elif "codecs" in case:
        codecs = json.dumps(case["codecs"], separators=(",", ":")).encode()
    else:
        return None
    given = case.get("input_text", case.get("input"))
    return [codecs, text_of(given) if given else b""]


def document(case):
    return text_of(case["zarr_json_text"] if "zarr_json_text" in case else case.get("zarr_json", ""))


def calls(parts, encoded=b"", **chosen):
    """A seed of `calls`; what is not chosen depends on the rest."""
    rest = b"\0".join([*parts, encoded])
    control = bytearray(hashlib.sha1(rest).digest()[:8])
    control[0] = chosen.get("flags", control[0] & ~EXECUTOR_FAILS & (~CALL_DATA if control[7] % 8 else 255))
    control[1] = chosen.get("level", control[1])
    if chosen.get("whole", control[6] % 4 == 0):
        control[2:4] = 0, 255
    return "calls", bytes(control) + rest


def seeds(case):
    encoded = base64.b64decode(case["encoded"]) if isinstance(case.get("encoded"), str) else b""
    parts = texts(case)
    if parts is None:
        text = document(case)
        yield "metadata", text
        yield calls([text, b""], encoded)
        return
    yield "metadata", b"\0".join(parts)
    flags = {"flags": PADDINGS} if "padding" in case else {}
    yield calls(parts, encoded, **flags)
    if "encoded" in case:
        yield "decode", b"\0".join(parts + [encoded])
        if "numcodecs.pcodec" in json.dumps(case.get("codecs")) and isinstance(case.get("input"), dict):
            kind, count = PCODEC_TYPES.index(case["input"]["data_type"]), math.prod(case["input"]["shape"])
            yield "pcodec", bytes([kind]) + count.to_bytes(2, "little") + encoded


def outline(value):
    """Values of the same outline are different numbers, or texts that are not names."""
    if isinstance(value, dict):
        return {name: outline(member) for name, member in value.items()}
    if isinstance(value, list):
        return sorted({json.dumps(outline(member), sort_keys=True) for member in value})
    if isinstance(value, str) and len(value) > 20:
        return "text"
    return type(value).__name__ if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def kind(case):
    """Two cases of the same kind differ in data only."""
    if "codecs" not in case or not isinstance(case.get("input", {}), (dict, type(None))):
        return case["name"]
    given = dict(case.get("input") or {})
    if isinstance(given.get("shape"), list):
        given["shape"] = len(given["shape"])
    return json.dumps([outline(case["codecs"]), outline(given), given.get("shape"), "error" in case], sort_keys=True)


def made():
    for number, chain in enumerate(made_seeds.large()):
        for flags in (THREADS, THREADS | STORE_EMPTY | PADDINGS, EXECUTOR, EXECUTOR | EXECUTOR_FAILS):
            yield calls([text_of(part) for part in chain], flags=flags, level=number if flags == THREADS else 0, whole=True)
    for codecs, given, encoded in made_seeds.parts():
        texts = [text_of(codecs), b"" if given is None else text_of(given)]
        yield calls(texts, encoded, **({"flags": 0} if b"host." in texts[0] else {}))
        yield "metadata", texts[0] if given is None else b"\0".join(texts)
        if encoded and given is not None:
            yield "decode", b"\0".join([*texts, encoded])
        if isinstance(codecs, list) and codecs[-2:-1] and made_seeds.is_cast(codecs[-2]):
            pattern = bytes((37 * at + at // 5) & 255 for at in range(8 * 43))
            size = {"8": 1, "6": 2, "2": 4, "4": 8}[codecs[-2]["configuration"]["data_type"][-1]]
            yield "decode", b"\0".join([*texts, pattern[: 43 * size]])


def cases():
    seen = set()
    for path in sorted((ROOT / "../tests/conformance/cases").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            key = (path.name, kind(case))
            if key in seen:
                continue
            for target, data in seeds(case):
                if len(data) <= LARGEST:
                    seen.add(key)
                    yield target, data


def main():
    with tarfile.open(ROOT / "corpus.tar.xz") as archive:
        # Python 3.11.2, of Debian 12, has no filters yet.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(ROOT / "corpus")
    count = 0
    for target, data in itertools.chain(cases(), made()):
        folder = ROOT / "corpus" / target
        folder.mkdir(parents=True, exist_ok=True)
        (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)
        count += 1
    print("%d seeds" % count)


if __name__ == "__main__":
    main()
