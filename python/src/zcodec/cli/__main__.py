"""`python -m zcodec.cli`"""

import sys

from zcodec.cli import main

sys.exit(main())
