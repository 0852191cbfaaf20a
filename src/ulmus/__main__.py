"""``python -m ulmus``, as ``ulmus`` does."""

import sys

from ulmus.cli import main

sys.exit(main())
