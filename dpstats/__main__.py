"""``python -m dpstats``: the command line."""

import sys

from dpstats.cli import main

if __name__ == "__main__":
    sys.exit(main())
