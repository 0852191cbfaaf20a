"""``python -m ulmus.cli``."""

import sys

from ulmus.cli import main

sys.exit(main())
