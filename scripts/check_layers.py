#!/usr/bin/env python3
"""Checks that no module of src/ imports a module that stands above it, or beside it.

    scripts/check_layers.py          # the crate in src/
    scripts/check_layers.py SRC      # another source directory, for trying the check itself

Reads every path in the code that begins with `crate::`, `$crate::` or `super::`, in `use` declarations and elsewhere,
finds the top-level module that it leads to, and compares the two modules with LAYERS. Modules of one layer must not
import each other, so there is no circle. Paths in comments and strings do not count.

Test code is checked by the same rule. What it needs from above is listed in TEST_EXEMPTIONS, one entry per file and
module; an entry that nothing uses is an error.

Needs Python 3.9 and nothing else. The exit status is 1 if a path breaks the rule.
"""

import re
import sys
from pathlib import Path

# Lowest first.
LAYERS = (
    ("error",),
    ("float_environment", "json", "memory", "number", "simd"),
    ("data_type", "parallel", "strided"),
    ("representation",),
    ("interface",),
    ("codec",),
    ("chain",),
    ("capi",),
)

# (file, imported module): why the test needs it.
TEST_EXEMPTIONS = {
    ("codec/blosc/chain_tests.rs", "chain"): "runs the codec in a chain, with the element size of the array before it",
    ("codec/numcodecs/shuffle.rs", "chain"): "runs the codec in a chain",
    ("codec/numcodecs/tests.rs", "chain"): "runs the codecs in chains, as numcodecs runs them",
}

LEVEL = {module: level for level, layer in enumerate(LAYERS) for module in layer}

COMMENT_OR_LITERAL = re.compile(
    r"""
    //[^\n]*
    | (?P<block>/\*)
    | b?c?r(?P<hashes>\#*)"(?:.|\n)*?"(?P=hashes)
    | [bc]?"(?:\\(?:.|\n)|[^"\\])*"
    | b?'(?:\\(?:u\{[^}]*\}|x..|.)|[^'\\])'
    """,
    re.VERBOSE,
)
# Stands for the crate in `use crate as name`, which would hide where paths through that name lead.
ANOTHER_NAME = "*"

TOKEN = re.compile(r"[A-Za-z_]\w*|::|[^\s\w]|\d\w*")


def blank(text):
    """The same text with spaces for comments and literals; lines keep their numbers."""
    parts, position = [], 0
    while found := COMMENT_OR_LITERAL.search(text, position):
        end = block_end(text, found.end()) if found["block"] else found.end()
        parts += [text[position : found.start()], re.sub(r"[^\n]", " ", text[found.start() : end])]
        position = end
    return "".join(parts) + text[position:]


def block_end(text, position):
    """Where the block comment ends that was opened before `position`; Rust nests them."""
    depth = 1
    while depth and (found := re.compile(r"/\*|\*/").search(text, position)):
        depth += 1 if found[0] == "/*" else -1
        position = found.end()
    return position


def tokens_of(text):
    text = blank(text)
    line, last, tokens = 1, 0, []
    for found in TOKEN.finditer(text):
        line += text.count("\n", last, found.start())
        last = found.start()
        tokens.append((found[0], line))
    return tokens


class Tokens:
    """Tokens of a file, read one after the other."""

    def __init__(self, tokens):
        self.tokens = tokens
        self.at = 0

    def peek(self, ahead=0):
        return self.tokens[self.at + ahead][0] if self.at + ahead < len(self.tokens) else ""

    def line(self):
        return self.tokens[self.at][1]

    def take(self):
        self.at += 1
        return self.tokens[self.at - 1][0]

    def take_if(self, *wanted):
        if all(self.peek(ahead) == token for ahead, token in enumerate(wanted)):
            self.at += len(wanted)
            return True
        return False


def is_false_outside_tests(tokens):
    """Evaluates a cfg predicate without `test`: False if code under it exists in tests alone. What else it asks for
    may be true or false, which is None."""
    name = tokens.take()
    if name in ("all", "any", "not") and tokens.take_if("("):
        values = []
        while not tokens.take_if(")"):
            values.append(is_false_outside_tests(tokens))
            tokens.take_if(",")
        if name == "not":
            return None if values[0] is None else not values[0]
        decisive = name == "any"
        return decisive if decisive in values else None if None in values else not decisive
    while tokens.peek() not in (",", ")", ""):  # as in `feature = ".."`, whose literal is blank by now
        tokens.take()
    return False if name == "test" else None


def attribute(tokens):
    """Reads an attribute after `#` or `#!`; whether it keeps what follows out of everything but tests."""
    begin, depth = tokens.at, 0
    is_test = False
    if tokens.take_if("[", "cfg", "("):
        is_test = is_false_outside_tests(tokens) is False
    tokens.at = begin
    while True:
        token = tokens.take()
        depth += {"[": 1, "]": -1}.get(token, 0)
        if depth == 0:
            return is_test


def path_ends(tokens, prefix=()):
    """The paths of a path or a `use` tree from here on, each with its line."""
    line, path = tokens.line(), list(prefix)
    while True:
        if tokens.take_if("{"):
            while not tokens.take_if("}"):
                yield from path_ends(tokens, path)
                tokens.take_if(",")
            return
        path.append(tokens.take())
        if not (tokens.peek() == "::" and re.match(r"[A-Za-z_{*]", tokens.peek(1))):
            break
        tokens.take()
    if tokens.take_if("as"):
        tokens.take()
        if [name for name in path if name != "self"] == ["crate"]:
            path = ["crate", ANOTHER_NAME]
    yield path, line


class Crate:
    def __init__(self, root):
        self.root = root
        self.arrows = []  # (file, line, from, to, is_test)
        self.problems = []
        self.files = set()
        self.exported = {}  # what lib.rs hands on: name -> module
        self.read(root / "lib.rs", (), False)
        self.arrows = [arrow for found in self.arrows if (arrow := self.resolve(*found))]

    def fail(self, file, line, message):
        problem = f"{self.root / file}:{line}: {message}"
        if problem not in self.problems:
            self.problems.append(problem)

    def read(self, path, module, is_test):
        """Reads a file and those of the modules that it declares."""
        file = path.relative_to(self.root).as_posix()
        self.files.add(file)
        tokens = Tokens(tokens_of(path.read_text(encoding="utf-8")))
        scopes = []  # of each open brace: (module, whether it is test code)
        here, pending, is_item, brackets = module, False, False, 0
        while tokens.peek():
            line, token = tokens.line(), tokens.peek()
            if tokens.take_if("#", "!"):
                is_test |= attribute(tokens)
                continue
            if tokens.take_if("#") and tokens.peek() == "[":
                pending |= attribute(tokens)
                continue
            if token == "mod" and re.match(r"[A-Za-z_]", tokens.peek(1)) and tokens.peek(2) in (";", "{"):
                tokens.take()
                name = tokens.take()
                if tokens.take() == "{":
                    scopes.append((here, is_test, brackets))
                    here, is_test, brackets = (*here, name), is_test or pending, 0
                else:
                    self.declared(file, line, (*here, name), path, is_test or pending)
                pending = is_item = False
                continue
            if token == "use" and tokens.peek(1) != "<":
                tokens.take()
                tokens.take_if("::")
                for ends, at in path_ends(tokens):
                    self.path(file, at, here, ends, is_test or pending)
                    if not module and ends[0] in LEVEL and len(ends) > 1:
                        self.exported[ends[-1]] = ends[0]
                pending = is_item = False
                continue
            if token in ("crate", "super", "self") and tokens.peek(1) == "::":
                for ends, at in path_ends(tokens):
                    self.path(file, at, here, ends, is_test or pending)
                continue
            tokens.take()
            is_item |= token in ("fn", "impl", "struct", "enum", "const", "static", "type", "trait", "union", "extern")
            brackets += {"(": 1, "[": 1, ")": -1, "]": -1}.get(token, 0)
            if token == "{":
                scopes.append((here, is_test, brackets))
                is_test, pending, is_item, brackets = is_test or pending, False, False, 0
            elif token == "}" and scopes:
                here, is_test, brackets = scopes.pop()
                pending = is_item = False
            elif brackets == 0 and (token == ";" or token == "," and not is_item):
                pending = is_item = False

    def declared(self, file, line, module, path, is_test):
        """Reads the file of a module."""
        own = path.parent if path.name in ("lib.rs", "mod.rs") else path.with_suffix("")
        for candidate in (own / f"{module[-1]}.rs", own / module[-1] / "mod.rs"):
            if candidate.is_file():
                self.read(candidate, module, is_test)
                return
        self.fail(file, line, f"no file for the module {'::'.join(module)}")

    def path(self, file, line, module, path, is_test):
        """Remembers where a path leads, counted from the root of the crate."""
        place = None
        for name in path:
            if name == "crate":
                place = ()
            elif name == "super" and (place is not None or path[0] in ("super", "self")):
                place = (module if place is None else place)[:-1]
            elif name == "self" and place is None:
                place = module
            elif place is not None:
                place = (*place, name)
                break
            else:
                return
        if place and module:
            self.arrows.append((file, line, module[0], place[0], is_test))

    def resolve(self, file, line, source, target, is_test):
        if target == ANOTHER_NAME:
            self.fail(file, line, "another name for the crate hides what its paths lead to")
            return None
        target = self.exported.get(target, target)
        if target not in LEVEL:
            self.fail(file, line, f"{source} -> {target}: lib.rs has no such module in LAYERS")
            return None
        return (file, line, source, target, is_test) if target != source else None


def check(root):
    crate = Crate(root)
    modules = {file.split("/")[0].removesuffix(".rs") for file in crate.files} - {"lib"}
    for module in sorted(modules - LEVEL.keys()):
        crate.fail("lib.rs", 1, f"the module {module} stands in no layer: add it to LAYERS")
    for module in sorted(LEVEL.keys() - modules):
        crate.fail("lib.rs", 1, f"LAYERS names {module}, which is no module")
    for path in sorted(root.rglob("*.rs")):
        if (file := path.relative_to(root).as_posix()) not in crate.files:
            crate.fail(file, 1, "no module declares this file")
    used = set()
    for file, line, source, target, is_test in crate.arrows:
        if source not in LEVEL or LEVEL[target] < LEVEL[source]:
            continue
        if is_test and (file, target) in TEST_EXEMPTIONS:
            used.add((file, target))
            continue
        place = "above" if LEVEL[target] > LEVEL[source] else "beside"
        code = "test code" if is_test else "code"
        crate.fail(file, line, f"{source} -> {target}: {code} imports a module that stands {place} it")
    for file, target in sorted(TEST_EXEMPTIONS.keys() - used):
        crate.fail(file, 1, f"the exemption for {target} is not used: remove it from TEST_EXEMPTIONS")
    return crate, used


def main():
    default = Path(__file__).resolve().parent.parent / "src"
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    if root == default and default.is_relative_to(Path.cwd()):
        root = default.relative_to(Path.cwd())
    crate, used = check(root)
    for problem in crate.problems:
        print(problem, file=sys.stderr)
    print(
        f"layers: {len(crate.files)} files, {len(crate.arrows)} paths into other modules, "
        f"{len(used)} exemptions for tests, {len(crate.problems)} problems"
    )
    return 1 if crate.problems else 0


if __name__ == "__main__":
    sys.exit(main())
