"""Fits of a Parquet file read in batches: rows a second and peak memory of a fresh process."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.tools import print_table

REGRESSORS = [f"x{j}" for j in range(1, 6)]
FORMULA = "y ~ " + " + ".join(REGRESSORS)
BOUNDS = {name: (0, 1) for name in (*REGRESSORS, "y")}
_CHUNK = 1 << 18

# What a fresh process does, after its libraries are loaded by a first pass over few rows.
READ = """
import pyarrow.dataset as ds
def work(path):
    for batch in ds.dataset([path]).to_batches():
        pass
"""
LEAN = """
import pyarrow.dataset as ds
def work(path):
    lean = ds.ParquetFragmentScanOptions(pre_buffer=False)
    for batch in ds.dataset([path]).to_batches(batch_size=1 << 16, fragment_scan_options=lean):
        pass
"""
FIT = """
import dpstats as dp
from benchmarks.stream import BOUNDS, FORMULA
def work(path):
    dp.dp_ols(FORMULA, path, method="adassp", epsilon=1, bounds=BOUNDS)
"""
NEWTON = """
import dpstats as dp
from benchmarks.stream import FORMULA
def work(path):
    dp.dp_ols(FORMULA, path, method="noisy_newton", epsilon=1)
"""
MEASURE = """
import json, resource, sys, time
few, path = sys.argv[1:]
work(few)
clocks = time.perf_counter, time.process_time
start = [clock() for clock in clocks]
work(path)
taken = [clock() - began for clock, began in zip(clocks, start)]
unit = 1 if sys.platform == "darwin" else 1024
print(json.dumps([*taken, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit]))
"""
HEADER = (
    "work",
    "seconds",
    "processor s",
    "rows a second",
    "of reading",
    "of lean reading",
    "peak MiB",
)
WORKS = {"reading": READ, "reading without a buffer": LEAN, "adassp": FIT, "noisy_newton": NEWTON}


def write(path: Path, rows: int) -> None:
    """A file of ``rows`` rows and six columns of doubles, in row groups of 2^18 rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(1)
    schema = pa.schema([(name, pa.float64()) for name in BOUNDS])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, _CHUNK):
            X = rng.uniform(size=(min(_CHUNK, rows - start), len(REGRESSORS)))
            y = X.mean(axis=1) + rng.normal(0, 0.05, size=len(X))
            columns = dict(zip(BOUNDS, [*X.T, y], strict=True))
            writer.write_table(pa.table(columns, schema=schema))


def measured(code: str, few: Path, path: Path) -> tuple[float, float, float]:
    """Seconds and processor seconds of one pass, and peak bytes, of a fresh process."""
    command = [sys.executable, "-c", code + MEASURE, str(few), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return tuple(json.loads(done.stdout))


def runs(rows: int, repeats: int) -> dict[str, np.ndarray]:
    """What :func:`measured` says of each of WORKS, alternating, shape (repeats, 3)."""
    with tempfile.TemporaryDirectory() as folder:
        few, path = Path(folder) / "few.parquet", Path(folder) / "rows.parquet"
        write(few, 1000)
        write(path, rows)
        found = [[measured(code, few, path) for code in WORKS.values()] for _ in range(repeats)]
    return dict(zip(WORKS, np.swapaxes(found, 0, 1), strict=True))


def table(found: dict[str, np.ndarray], rows: int) -> list[tuple[str, ...]]:
    """Medians of :func:`runs`, and the speed beside either way of reading, run by run."""
    cells = []
    for name, taken in found.items():
        seconds, processor, _ = np.median(taken, axis=0)
        speeds = [found[read][:, 0] / taken[:, 0] for read in list(WORKS)[:2]]
        beside = (" ".join(f"{speed:.2f}" for speed in each) for each in speeds)
        peak = f"{taken[:, 2].max() / 2**20:,.0f}"
        cells.append(
            (name, f"{seconds:.2f}", f"{processor:.2f}", f"{rows / seconds:,.0f}", *beside, peak)
        )
    return cells


def main(arguments: list[str]) -> None:
    """Print rows a second and peak memory, of reading alone and of the fit."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks stream", description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000, help="48 bytes of disk each")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(arguments)
    print_table(
        f"stream: Parquet of {options.rows:,} rows x {len(BOUNDS)} doubles, declared bounds; "
        f"{os.cpu_count()} cores. Targets for the fit:\n0.5 of the speed of reading alone, peak "
        "below 1,024 MiB. Arrow reads with its own settings, or without the buffer\nthat keeps "
        "the file in memory. Alternating runs in fresh processes, libraries loaded: medians, "
        "and the\nspeed beside reading run by run.",
        HEADER,
        table(runs(options.rows, options.repeats), options.rows),
    )
