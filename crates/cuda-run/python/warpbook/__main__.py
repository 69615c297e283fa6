"""`python -m warpbook`, the same as the command `warpbook`."""

import sys

from warpbook.cli import main

if __name__ == "__main__":
    sys.exit(main())
