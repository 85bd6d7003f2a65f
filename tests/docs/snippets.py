"""Writes the code blocks of one language in a page to a file: snippets.py PAGE LANGUAGE OUTPUT."""

import pathlib
import re
import sys

page, language, output = sys.argv[1:]
text = pathlib.Path(page).read_text(encoding="utf-8")
blocks = []
for block in re.finditer(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
    line = text.count("\n", 0, block.start(1)) + 1
    blocks.append(f'#line {line} "{pathlib.Path(page).name}"\n{block.group(1)}')
if not blocks:
    sys.exit(f"{page} has no block of {language}")
pathlib.Path(output).write_text("\n".join(blocks), encoding="utf-8")
