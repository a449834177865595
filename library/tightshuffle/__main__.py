"""`python -m tightshuffle`, the command `tightshuffle`."""

import sys

from tightshuffle.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
