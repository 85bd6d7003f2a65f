#!/usr/bin/env python3
"""Packs the findings of fuzzing into corpus.tar.xz: for each target, the fewest small inputs with the same coverage.

    keep.py        after scripts/fuzz.sh, whose targets it runs
"""
import pathlib
import subprocess
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent
PROGRAMS = ROOT / "target/x86_64-unknown-linux-gnu/release"
LARGEST = 300


def merged(target, folder):
    small, kept = folder / "small", folder / "kept"
    for new in small, kept:
        new.mkdir(parents=True)
    for path in (ROOT / "corpus" / target).iterdir():
        if path.stat().st_size <= LARGEST:
            (small / path.name).write_bytes(path.read_bytes())
    subprocess.run([PROGRAMS / target, "-merge=1", kept, small], check=True, stderr=subprocess.DEVNULL)
    return sorted(kept.iterdir())


def plain(member):
    """The same archive whoever makes it, and whenever."""
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    return member


def main():
    targets = sorted(path.stem for path in (ROOT / "fuzz_targets").glob("*.rs"))
    with tempfile.TemporaryDirectory() as folder:
        kept = {target: merged(target, pathlib.Path(folder) / target) for target in targets}
        with tarfile.open(ROOT / "corpus.tar.xz", "w:xz", preset=9) as archive:
            for target, paths in kept.items():
                for path in paths:
                    archive.add(path, "%s/%s" % (target, path.name), filter=plain)
                print("%s: %d inputs" % (target, len(paths)))


if __name__ == "__main__":
    main()
