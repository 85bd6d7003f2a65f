#!/usr/bin/env python3
"""Packs a folder into a ZIP archive whose bytes depend only on the files: sorted, all with the time SOURCE_DATE_EPOCH.

    scripts/dist/zip.py FOLDER ARCHIVE
"""

import os
import pathlib
import sys
import time
import zipfile

folder, archive = map(pathlib.Path, sys.argv[1:])
when = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        entry = zipfile.ZipInfo(str(path.relative_to(folder.parent)), when)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = 0o644 << 16
        packed.writestr(entry, path.read_bytes())
