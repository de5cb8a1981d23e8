"""Run the command line by ``python -m dpstats``."""

import sys

from dpstats.cli import main

if __name__ == "__main__":
    sys.exit(main())
