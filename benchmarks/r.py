"""What a call from R costs beyond the call in Python, and how fast columns cross."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.tools import print_table

ROOT = Path(__file__).parents[1]


def measured(rows: int, repeats: int) -> list[tuple[str, str]]:
    """Name and seconds of each measurement, with the R package of these sources."""
    with tempfile.TemporaryDirectory() as library:
        environment = {**os.environ, "RETICULATE_PYTHON": sys.executable, "R_LIBS": library}
        install = ["R", "CMD", "INSTALL", "--no-docs", f"--library={library}", ROOT / "r-wrapper"]
        subprocess.run(install, check=True, capture_output=True)
        run = ["Rscript", ROOT / "benchmarks" / "r.R", str(rows), str(repeats)]
        output = subprocess.run(
            run, check=True, stdout=subprocess.PIPE, text=True, env=environment
        ).stdout
    return [tuple(line.split("\t")) for line in output.splitlines()]


def main(arguments: list[str]) -> None:
    """Print the seconds, or that R is not there."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks r", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args(arguments)
    if shutil.which("Rscript") is None:
        print("\nr: skipped, R is not installed")
        return
    rows = [(name, f"{float(taken):.3f}") for name, taken in measured(**vars(options))]
    print_table(f"r: {options.rows:,} rows, 4 columns", ("step", "seconds"), rows)
