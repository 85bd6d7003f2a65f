"""`python -m zcodec` is the command `zcodec`."""

import sys

from zcodec.cli import main

sys.exit(main())
