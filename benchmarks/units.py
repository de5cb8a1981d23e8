"""Calls that protect units, such as persons, beside calls that protect rows: time and memory."""

import argparse
import os
import tempfile
import time
from pathlib import Path

import numpy as np

import dpstats as dp
from benchmarks.tools import fresh, peak_megabytes, print_table
from dpstats.engines import Table

COLUMNS = [*(f"x{j}" for j in range(1, 6)), "y"]
BOUNDS = dict.fromkeys(COLUMNS, (0, 1))
FORMULA = "y ~ " + " + ".join(COLUMNS[:-1])
_CHUNK = 1 << 18


def chunks(rows: int, persons: int, ordered: bool = False):
    """Yield columns of doubles and the persons of rows, in random order or one after the other."""
    rng = np.random.default_rng(1)
    for start in range(0, rows, _CHUNK):
        size = min(_CHUNK, rows - start)
        ids = rng.integers(persons, size=size)
        if ordered:
            ids = (np.arange(start, start + size) * persons) // rows
        yield {"id": ids, **{name: rng.uniform(size=size) for name in COLUMNS}}


def in_memory(rows: int, persons: int, ordered: bool) -> Table:
    """Return a table of all chunks."""
    parts = [*chunks(rows, persons, ordered)]
    return Table.from_data({name: np.concatenate([p[name] for p in parts]) for name in parts[0]})


def write(path: Path, rows: int, persons: int) -> None:
    """Write the chunks to a Parquet file, a row group each."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([("id", pa.int64()), *((name, pa.float64()) for name in COLUMNS)])
    with pq.ParquetWriter(path, schema) as writer:
        for columns in chunks(rows, persons):
            writer.write_table(pa.table(columns, schema=schema))


CALLS = {
    "adassp": dict(method="adassp", bounds=BOUNDS),
    "adassp, HC1": dict(method="adassp", bounds=BOUNDS, cov_type="HC1"),
    "adassp, unit": dict(method="adassp", bounds=BOUNDS, unit="id"),
    "auto": dict(bounds=BOUNDS),
    "auto, unit": dict(bounds=BOUNDS, unit="id"),
}


def calls(data, names=tuple(CALLS)) -> list[tuple[str, float, float, float]]:
    """Wall and processor seconds of each call, and the peak of memory after it in MB."""
    found = []
    for name in names:
        start = time.perf_counter(), time.process_time()
        dp.dp_ols(FORMULA, data, epsilon=1, delta=1e-6, progress=False, **CALLS[name])
        taken = time.perf_counter() - start[0], time.process_time() - start[1]
        found.append((name, *taken, peak_megabytes()))
    return found


def memory(rows: int, persons: int, ordered: bool) -> list:
    """Make the calls on a table in memory; the peak before them comes first."""
    calls(in_memory(1000, 100, False))
    table = in_memory(rows, persons, ordered)
    return [("making the table", 0.0, 0.0, peak_megabytes()), *calls(table)]


def file(path: str) -> list:
    """Make the calls on sums over a Parquet file; the peak before them comes first."""
    calls(in_memory(1000, 100, False))
    least_squares = [name for name in CALLS if "adassp" in name]
    return [("loading libraries", 0.0, 0.0, peak_megabytes()), *calls(path, least_squares)]


def main(arguments: list[str]) -> None:
    """Print seconds and peak memory of each call, each table in a process of its own."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks units", description=__doc__)
    parser.add_argument("--rows", type=int, default=10**7, help="in memory, 56 bytes each")
    parser.add_argument("--file-rows", type=int, default=2 * 10**7, help="112 bytes of disk each")
    parser.add_argument("--rows-per-person", type=int, default=10)
    options = parser.parse_args(arguments)
    persons = max(1, options.rows // options.rows_per_person)
    found = {
        f"in memory, {order}": fresh(
            f"units.memory({options.rows}, {persons}, {order == 'sorted'})"
        )
        for order in ("unsorted", "sorted")
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write(path, options.file_rows, max(1, options.file_rows // options.rows_per_person))
        found["Parquet"] = fresh(f"units.file({str(path)!r})")
    print_table(
        f"units: {options.rows:,} rows in memory and {options.file_rows:,} in a Parquet file, "
        f"{options.rows_per_person} a person, {len(COLUMNS)} doubles;\n{os.cpu_count()} cores. "
        "Targets: a call with unit at most three times the one without; the file below 1,536 MiB "
        "(1,611 MB).",
        ("table", "call", "seconds", "processor s", "peak MB"),
        [
            (name, step, f"{seconds:.2f}", f"{processor:.2f}", f"{peak:,.0f}")
            for name, steps in found.items()
            for step, seconds, processor, peak in steps
        ],
    )
