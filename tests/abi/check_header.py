#!/usr/bin/env python3
"""Checks that everything an older header declares is still in the current header.

    check_header.py OLD NEW

Functions, callback types, handles and constants must be there word for word; enums may have more numbers, structs more
members at the end.
"""
import re
import sys


def declarations(path):
    """All declarations, each as words separated by single spaces; enums and structs as (head, [member])."""
    with open(path) as file:
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", file.read(), flags=re.DOTALL)
    constants = {" ".join(words.split()) for words in re.findall(r"^#define (?!ZCODEC_VERSION)\w+ [^\n]+", text, re.MULTILINE)}
    text = re.sub(r"^#[^\n]*", "", text, flags=re.MULTILINE)
    text = re.sub(r'extern "C" \{|^\}\s*$', "", text, flags=re.MULTILINE)
    bodies = {}

    def take(match):
        members = [" ".join(member.split()) for member in re.split("[;,]", match[2]) if member.strip()]
        bodies[" ".join(match[1].split())] = members
        return ""

    # In C++, enums have an underlying type.
    text = re.sub(r"typedef ((?:enum|struct) \w+)\s*(?::\s*int\s*)?\{([^}]*)\} \w+;", take, text)
    return bodies, constants | {" ".join(part.split()) for part in text.split(";") if part.strip()}


def problems(old, new):
    (old_bodies, old_words), (new_bodies, new_words) = declarations(old), declarations(new)
    for head, members in old_bodies.items():
        now = new_bodies.get(head, [])
        if head.startswith("struct") and now[:len(members)] != members:
            yield "%s had %s, and now has %s" % (head, members, now)
        for member in members:
            if member not in now:
                yield "%s has lost %s" % (head, member)
    for words in sorted(old_words - new_words):
        yield "gone or changed: %s" % words
    if len(old_bodies) < 3 or len(old_words) < 30:
        yield "%s was not understood" % old


if __name__ == "__main__":
    found = list(problems(*sys.argv[1:]))
    print("\n".join(found) or "all that %s declares is still there" % sys.argv[1])
    sys.exit(1 if found else 0)
