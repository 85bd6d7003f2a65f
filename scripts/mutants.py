#!/usr/bin/env python3
"""Mutation testing with one build: takes a random sample of what cargo-mutants would change in the chain, the codecs
without their kernels, and the C boundary, compiles all of it into one copy of the library, where the environment
variable ZCODEC_MUTANT picks one, and runs tests for each mutant until one of them fails: the C and C++ programs, the
conformance cases, tests/engine, tests/hostile.rs, tests/n5.rs, and the unit tests of the mutant's module.

    scripts/mutants.py build COUNT SEED      writes target/mutants, with the mutants that compile in mutants.json
    scripts/mutants.py run                   continues where it stopped; results in target/mutants/results.jsonl
    scripts/mutants.py report                the count, and each mutant that no test noticed

Needs cargo-mutants, gcc, g++, and tree-sitter and tree-sitter-rust from PyPI. A mutant that does not compile as a
branch beside the original (in a const fn, for example) is replaced by the next one of the sample. A test that takes more than
LIMIT seconds (an environment variable, 120 if it is not set) ends; such mutants are counted apart.
"""
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "target/mutants"
TREE = WORK / "tree"
FILES = ["src/chain/**/*.rs", "src/capi/**/*.rs", "src/codec/**/*.rs", "src/json/**/*.rs"]
# Kernels, which are compared with a definition for every case, and code of tests.
KERNELS = re.compile(r"/(avx2|avx512|neon|portable|loops|blocks|own_blocks|small_float|c_blocks|c_library|"
                     r"tests|chain_tests)[/.]")
SWITCH = """
/// Whether this mutant is the one that runs.
#[inline(never)]
pub(crate) fn is_mutant(id: u32) -> bool {
    static CHOSEN: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    *CHOSEN.get_or_init(|| std::env::var("ZCODEC_MUTANT").ok().and_then(|text| text.parse().ok()).unwrap_or(0)) == id
}
"""


def listed():
    """What cargo-mutants would do, as branches can do it: all but deleted fields of structs."""
    command = ["cargo", "mutants", "--list", "--json", *(word for name in FILES for word in ("--file", name))]
    text = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    mutants = [mutant for mutant in json.loads(text) if not KERNELS.search(mutant["file"])]
    return [mutant for mutant in mutants if mutant["genre"] != "StructField"]


def nodes(node):
    yield node
    for child in node.children:
        yield from nodes(child)


class Source:
    """A file and its syntax."""

    def __init__(self, path):
        import tree_sitter
        import tree_sitter_rust

        self.text = path.read_bytes()
        self.lines = self.text.split(b"\n")
        parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))
        self.nodes = list(nodes(parser.parse(self.text).root_node))

    def offset(self, place):
        before = sum(len(line) + 1 for line in self.lines[: place["line"] - 1])
        line = self.lines[place["line"] - 1].decode()
        return before + len(line[: place["column"] - 1].encode())

    def at(self, node):
        return self.text[node.start_byte : node.end_byte].decode()

    def around(self, offset):
        return (node for node in self.nodes if node.start_byte <= offset < node.end_byte)

    def is_const(self, node):
        before_name = self.text[node.start_byte : node.end_byte].split(b"fn ")[0]
        return node.type == "function_item" and b"const" in before_name.split()

    def edit(self, mutant, number):
        """(start, end, text): what stands there instead, or None."""
        start, end = (self.offset(mutant["span"][side]) for side in ("start", "end"))
        new, is_chosen = mutant["replacement"], "crate::is_mutant(%d)" % number
        if any(node.type in ("const_item", "static_item") or self.is_const(node) for node in self.around(start)):
            return None
        if mutant["genre"] == "FnValue":
            fits = [node for node in self.nodes if node.type == "block" and node.parent.type == "function_item"
                    and node.start_byte <= start and end <= node.end_byte]
            if not fits:
                return None
            place = max(node.start_byte for node in fits) + 1
            return place, place, " if %s { return %s; }" % (is_chosen, new)
        if mutant["genre"] in ("BinaryOperator", "UnaryOperator"):
            for token in self.nodes:
                if token.start_byte != start or token.parent is None or token.children:
                    continue
                whole = token.parent
                if whole.type in ("binary_expression", "compound_assignment_expr") and token.end_byte == end:
                    left, right = (self.at(whole.child_by_field_name(side)) for side in ("left", "right"))
                    other = "%s %s %s" % (left, new, right)
                elif whole.type == "unary_expression":
                    other = self.at(whole.children[1])
                else:
                    continue
                text = "(if %s { %s } else { %s })" % (is_chosen, other, self.at(whole))
                return whole.start_byte, whole.end_byte, text
        if mutant["genre"] in ("MatchArm", "MatchArmGuard"):
            for arm in self.nodes:
                if arm.type != "match_arm" or not arm.start_byte <= start < arm.end_byte:
                    continue
                pattern = arm.child_by_field_name("pattern")
                guard = pattern.child_by_field_name("condition")
                if guard is not None and guard.type in ("let_condition", "let_chain"):
                    continue
                if mutant["genre"] == "MatchArm" and arm.start_byte == start:
                    if guard is None:
                        return pattern.end_byte, pattern.end_byte, " if !%s" % is_chosen
                    return guard.start_byte, guard.end_byte, "!%s && (%s)" % (is_chosen, self.at(guard))
                if mutant["genre"] == "MatchArmGuard" and guard in self.around(start):
                    text = "(if %s { %s } else { %s })" % (is_chosen, new, self.at(guard))
                    return guard.start_byte, guard.end_byte, text
        return None


def overlaps(a, b):
    return a[0] <= b[1] and b[0] <= a[1]


def chosen(mutants, count, refused, sources):
    """The first mutants of the shuffled list that can stand beside one another."""
    edits, taken = {}, []
    for number, mutant in enumerate(mutants, 1):
        if number in refused:
            continue
        name = mutant["file"]
        if name not in sources:
            sources[name] = Source(TREE / name)
        edit = sources[name].edit(mutant, number)
        if edit is None or any(overlaps(edit, other) for other, _ in edits.get(name, [])):
            continue
        edits.setdefault(name, []).append((edit, number))
        taken.append({"number": number, "name": mutant["name"], "file": name})
        if len(taken) == count:
            break
    return edits, taken


def write(sources, edits):
    """Writes the changed files, and the others as they were; where each mutant is in them."""
    places = {}
    for name in sources:
        changes = edits.get(name, [])
        text, done, made = sources[name].text, 0, b""
        for (start, end, new), number in sorted(changes):
            made += text[done:start]
            begin = len(made)
            made += new.encode()
            places.setdefault(name, []).append((begin, len(made), number))
            done = end
        (TREE / name).write_bytes(made + text[done:])
    return places


def refusals(places):
    """The mutants that the compiler refuses; an error elsewhere ends the program."""
    command = ["cargo", "check", "--locked", "--lib", "--message-format=json", "-q"]
    done = subprocess.run(command, cwd=TREE, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True)
    refused = set()
    for line in done.stdout.splitlines():
        message = json.loads(line).get("message") or {}
        if message.get("level") != "error":
            continue
        spans = message["spans"] + [span for child in message["children"] for span in child["spans"]]
        here = [(place, span) for span in spans for place in places.get(span["file_name"], [])]
        found = {place[2] for place, span in here if place[0] <= span["byte_end"] and span["byte_start"] <= place[1]}
        # An early return may make the compiler blame what follows it.
        before = [place for place, span in here if place[1] < span["byte_start"]]
        refused |= found or ({max(before)[2]} if before else set())
        print("refused: %s: %s" % (sorted(found), message["message"]), file=sys.stderr)
    if done.returncode != 0 and not refused:
        sys.exit("the sample does not compile, and not because of one mutant")
    return refused


def environment(**more):
    return {**os.environ, "CARGO_TARGET_DIR": os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target")),
            "CARGO_INCREMENTAL": "0", "RUSTFLAGS": os.environ.get("RUSTFLAGS", ""), **more}


def build(count, seed):
    if TREE.exists():
        shutil.rmtree(TREE)
    TREE.mkdir(parents=True)
    parts = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    for part in parts.splitlines():
        if (ROOT / part).is_file():
            (TREE / part).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / part, TREE / part)
    lib = TREE / "src/lib.rs"
    lib.write_text("#![allow(warnings, arithmetic_overflow, unconditional_panic)]\n" + lib.read_text() + SWITCH)
    mutants = listed()
    print("%d mutants in all" % len(mutants))
    random.Random(seed).shuffle(mutants)
    refused, sources = set(), {}
    while True:
        edits, taken = chosen(mutants, count, refused, sources)
        new = refusals(write(sources, edits))
        print("%d mutants, %d of them refused by the compiler" % (len(taken), len(new)))
        if not new:
            break
        refused |= new
    (WORK / "mutants.json").write_text(json.dumps(taken, indent=1))
    compile_tests()


def compile_tests():
    """The unit tests, the conformance cases, and the C and C++ programs with the shared library."""
    command = ["cargo", "test", "--locked", "--no-run", "--lib", "--test", "conformance", "--test", "engine",
               "--test", "hostile", "--test", "n5", "--message-format=json",
               "--config", "profile.test.package.zcodec.debug=0", "--config", "profile.dev.package.zcodec.debug=0"]
    text = subprocess.run(command, cwd=TREE, env=environment(), check=True, stdout=subprocess.PIPE, text=True).stdout
    programs = []
    for line in text.splitlines():
        message = json.loads(line)
        if message.get("executable"):
            programs.append(message["executable"])
        for name in message.get("filenames") or []:
            if name.endswith("libzcodec.so"):
                shutil.copy(name, WORK / "libzcodec.so")
    (WORK / "libzcodec.so.0").unlink(missing_ok=True)
    (WORK / "libzcodec.so.0").symlink_to("libzcodec.so")
    version = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
    tests = [[path] for path in programs]
    for path in sorted([*(TREE / "tests/c").glob("*.c"), *(TREE / "tests/cpp").glob("*.cpp")]):
        compiler = ["gcc", "-std=c99", "-D_POSIX_C_SOURCE=200809L"] if path.suffix == ".c" else ["g++", "-std=c++20"]
        program = str(WORK / path.name.replace(".", "-"))
        flags = ["-DEXPECTED_VERSION=\"%s\"" % version, "-Itests/c", "-Iinclude", "-L%s" % WORK]
        subprocess.run([*compiler, *flags, str(path), "-o", program, "-lzcodec", "-Wl,-rpath,%s" % WORK, "-pthread"],
                       cwd=TREE, check=True)
        tests.append([program])
    tests.sort(key=lambda test: "/deps/" in test[0])  # the quick ones first
    (WORK / "tests.json").write_text(json.dumps(tests))


def modules(file):
    """Of whose unit tests a mutant is the business. Those of blosc also decode boxes through chains."""
    parts = pathlib.PurePath(file).with_suffix("").parts[1:]
    own = "::".join(parts[: 2 if parts[0] == "codec" and parts[1] != "mod" else 1])
    return [own, "codec::blosc"] if own == "chain" else [own]


def run_one(number, tests, file="src/chain/mod.rs"):
    for test in tests:
        extra = [*modules(file), "--skip", "every_source_of_up_to_16_bits"] if "/deps/zcodec-" in test[0] else []
        try:
            done = subprocess.run([*test, *extra], cwd=TREE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  env=environment(ZCODEC_MUTANT=str(number), RUST_BACKTRACE="0"),
                                  timeout=float(os.environ.get("LIMIT", "120")))
        except subprocess.TimeoutExpired:
            return {"noticed_by": pathlib.Path(test[0]).name, "how": "no end"}
        if done.returncode != 0:
            return {"noticed_by": pathlib.Path(test[0]).name, "how": done.stdout.decode(errors="replace")[-300:]}
    return {"noticed_by": None}


def run():
    tests, results = json.loads((WORK / "tests.json").read_text()), WORK / "results.jsonl"
    done = {json.loads(line)["number"] for line in results.read_text().splitlines()} if results.exists() else set()
    if 0 not in done:
        without = run_one(0, tests)
        if without["noticed_by"]:
            sys.exit("the tests fail without a mutant: %s" % without)
        with open(results, "a") as file:
            file.write(json.dumps({"number": 0, "name": "none", **without}) + "\n")
    left = [mutant for mutant in json.loads((WORK / "mutants.json").read_text()) if mutant["number"] not in done]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        found = workers.map(lambda mutant: run_one(mutant["number"], tests, mutant["file"]), left)
        for mutant, result in zip(left, found):
            with open(results, "a") as file:
                file.write(json.dumps({**mutant, **result}) + "\n")


def report():
    results = [json.loads(line) for line in (WORK / "results.jsonl").read_text().splitlines()][1:]
    unnoticed = [result for result in results if not result["noticed_by"]]
    endless = sum(result.get("how") == "no end" for result in results)
    print("%d mutants, %d with tests that did not end, %d not noticed by any test"
          % (len(results), endless, len(unnoticed)))
    for result in unnoticed:
        print(result["name"])


if __name__ == "__main__":
    if sys.argv[1] == "build":
        build(int(sys.argv[2]), int(sys.argv[3]))
    else:
        {"run": run, "report": report}[sys.argv[1]]()
