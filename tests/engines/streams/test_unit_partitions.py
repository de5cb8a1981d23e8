"""Streams in whole units: as in memory, whatever the order of rows, files and row groups."""

import gc
import os
import signal
import subprocess
import sys
import tempfile
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpstats.engines.labels import label_keys
from dpstats.engines.labels.label_keys import NO_UNIT
from dpstats.engines.open_table import open_table
from dpstats.engines.streams import Stream, partition_of, spill
from dpstats.engines.streams.unit_partitions import PARTITIONS
from dpstats.engines.tables import Table
from dpstats.engines.units import UNIT
from dpstats.errors import Defect
from dpstats.schema import Categorical, Labels, Numeric

N = 5000
SCHEMA = {"x": Numeric(0, 9), "g": Categorical(("u", "v")), "area": Labels()}


def squares(batch):
    """Whole numbers that change when a unit is split, merged or loses a row."""
    starts = np.flatnonzero(np.diff(batch[UNIT], prepend=-1))
    if not len(starts):
        return np.zeros(4, dtype=object)
    sizes = np.diff(starts, append=len(batch[UNIT]))
    sums = [np.add.reduceat(batch[name].astype(np.int64), starts) for name in ("x", "g")]
    found = [len(starts), (sizes**3).sum(), *((total**2).sum() for total in sums)]
    return np.array([int(value) for value in found], dtype=object)


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"x": rng.integers(0, 10, N).astype(float), "g": rng.choice([*"uv"], N)})
    frame["area"] = rng.integers(0, 40, N)
    frame["id"] = pd.array(rng.zipf(1.7, N) % 900 - 100, dtype="Int64")
    frame.loc[rng.choice(N, 300, replace=False), "id"] = pd.NA
    return frame


@pytest.fixture(scope="module")
def expected(people):
    found = Table.from_data(people).by_unit(SCHEMA, "id").total(SCHEMA, squares)
    present = people["id"].notna()
    assert found[0] == people["id"].nunique() + (~present).sum()
    assert (
        found[2]
        == (people[present].groupby("id")["x"].sum() ** 2).sum()
        + (people["x"][~present] ** 2).sum()
    )
    return found


def relation(folder):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.read_parquet(str(folder / "*.parquet"))


SOURCES = {
    "parquet": lambda folder: str(folder / "*.parquet"),
    "csv": lambda folder: str(folder / "*.csv"),
    "csv.gz": lambda folder: str(folder / "*.csv.gz"),
    "lazy": lambda folder: pl.scan_parquet(folder / "*.parquet"),
    "duckdb": relation,
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("source", SOURCES)
def test_sums_over_units_are_those_in_memory(people, expected, source, seed, tmp_path, monkeypatch):
    """Rows shuffled, cut into files of other sizes and row groups, written in many blocks."""
    rng = np.random.default_rng(seed)
    shuffled = people.sample(frac=1, random_state=seed)
    monkeypatch.setattr(spill, "_BUFFER", int(rng.integers(1000, 100_000)))
    size = int(rng.integers(50, 5000))
    monkeypatch.setattr("dpstats.engines.files.arrow_datasets.ROWS", size)
    monkeypatch.setattr("dpstats.engines.queries.ROWS", size)
    edges = [0, *sorted(rng.choice(N, seed, replace=False)), N]
    for i, (start, stop) in enumerate(zip(edges, edges[1:], strict=False)):
        own, path = shuffled[start:stop], tmp_path / f"part{rng.integers(10**6)}-{i}"
        own.to_parquet(f"{path}.parquet", row_group_size=int(rng.integers(10, 3000)))
        own.to_csv(f"{path}.csv", index=False)
        own.to_csv(f"{path}.csv.gz", index=False)
    table = open_table(SOURCES[source](tmp_path))
    assert isinstance(table, Stream)
    units = table.by_unit(SCHEMA, "id")
    assert list(units.total(SCHEMA, squares)) == list(expected)
    assert list(units.total(SCHEMA, squares)) == list(expected)  # another pass over the file


@pytest.mark.parametrize("size", [1, 70, 10**6])
def test_every_unit_is_in_one_batch_under_a_number_of_its_own(people, tmp_path, size):
    people.to_parquet(tmp_path / "rows.parquet", row_group_size=333)
    units = open_table(tmp_path / "rows.parquet").by_unit(SCHEMA, "id")
    seen, rows, last = 0, 0, -1
    for batch in units.batches({"x": SCHEMA["x"]}, size):
        assert set(batch) == {"x", UNIT} and np.all(np.diff(batch[UNIT]) >= 0)
        assert batch[UNIT][0] > last
        seen, rows, last = (
            seen + len(np.unique(batch[UNIT])),
            rows + len(batch["x"]),
            batch[UNIT][-1],
        )
    assert (seen, rows) == (people["id"].nunique() + 300, N)


def test_values_are_stored_to_the_last_bit(tmp_path):
    x = np.array([0.1, -0.0, 5e-324, -1e308, np.nan, 2**53 + 1, 1 / 3])
    table = pa.table({"x": x, "g": ["v", None, "u", "z", "u", "v", "v"], "id": range(7),
                      "area": ["a", None, "b", "a", "", "c", "d"]})  # fmt: skip
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=2)
    schema = SCHEMA | {"x": Numeric(-1e99, 1e99)}
    (here,) = Table.from_data(table).by_unit(schema, "id").batches(schema)
    (there,) = open_table(tmp_path / "x.parquet").by_unit(schema, "id").batches(schema)
    for name in schema:
        assert here[name].dtype == there[name].dtype
        bits = [np.sort(batch[name].view(np.uint64)) for batch in (here, there)]
        assert np.array_equal(*bits)


def test_rows_without_an_id_are_spread_over_partitions():
    counts = np.bincount(partition_of(np.full((1, 100_000), NO_UNIT)), minlength=PARTITIONS)
    assert len(counts) == PARTITIONS and counts.min() > 200
    ids = np.bincount(partition_of(np.arange(100_000, dtype=np.uint64)[None]), minlength=PARTITIONS)
    assert len(ids) == PARTITIONS and ids.min() > 200


IDS = {
    "floats": pa.array([0.0, -0.0, None, np.nan, np.inf, np.inf, 5e-324, 0.0]),
    "integers": pa.array([2**63 - 1, -(2**63) + 1, None, 2**63 - 1, 0, 0, 1, None]),
    "unsigned": pa.array([2**64 - 1, 2**63 - 1, None, 2**64 - 1, 0, 0, 1, None], pa.uint64()),
    "texts": pa.array(["", "", None, "NA", "nan", "\0", "x" * 10**5, ""]),
    "truth": pa.array([True, False, None, True, False, None, True, False]),
}


@pytest.mark.parametrize("kind", IDS)
def test_hostile_ids_make_the_units_of_memory(tmp_path, kind):
    table = pa.table({"x": [1.0, 2, 3, 4, 5, 6, 7, 8], "g": ["u", "v"] * 4, "id": IDS[kind]})
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=3)
    schema = {name: SCHEMA[name] for name in ("x", "g")}
    tables = Table.from_data(table), open_table(tmp_path / "x.parquet")
    here, there = (each.by_unit(schema, "id").total(schema, squares) for each in tables)
    assert list(here) == list(there)
    distinct = {"floats": 5, "integers": 6, "unsigned": 6, "texts": 6, "truth": 4}
    assert here[0] == distinct[kind]


@pytest.mark.parametrize("word", [0, 1])
@pytest.mark.parametrize("many", [10, 10_000])
def test_texts_that_share_one_word_of_their_key_are_told_apart(tmp_path, monkeypatch, word, many):
    """Two of ten million texts share 64 bits with a chance of 3 in a million."""
    digest = label_keys._digest

    def half(label, size):
        words = [digest(label, size)[:8], b"a" * 8]
        return b"".join(words[:: 1 if word else -1])

    monkeypatch.setattr(label_keys, "_digest", half)
    monkeypatch.setattr("dpstats.engines.units.unit_order._MANY", many)
    rng = np.random.default_rng(word)
    ids = pa.array([None, *(f"person {i}" for i in rng.integers(0, 200, 998)), None])
    table = pa.table({"x": rng.integers(0, 10, 1000) * 1.0, "id": ids})
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=90)
    schema = {"x": SCHEMA["x"]}
    sums = table.to_pandas().groupby("id")["x"].sum()
    for each in (Table.from_data(table), open_table(tmp_path / "x.parquet")):
        found = each.by_unit(schema, "id").total(schema, counts_and_squares)
        alone = table["x"].to_numpy()[[0, -1]]
        assert list(found) == [len(sums) + 2, (sums**2).sum() + (alone**2).sum()]


def counts_and_squares(batch):
    """Count the units, and add up the squares of their sums of x."""
    starts = np.flatnonzero(np.diff(batch[UNIT], prepend=-1))
    sums = np.add.reduceat(batch["x"], starts) if len(starts) else np.zeros(0)
    return np.array([len(starts), (sums**2).sum()])


def test_a_unit_may_have_more_rows_than_a_batch_and_a_buffer(tmp_path, monkeypatch):
    monkeypatch.setattr(spill, "_BUFFER", 10_000)
    rows = 150_000
    table = pa.table({"x": np.ones(rows), "id": np.r_[np.zeros(rows - 5, int), [1, 1, 2, 3, 3]]})
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=7000)
    schema = {"x": SCHEMA["x"]}
    units = open_table(tmp_path / "x.parquet").by_unit(schema, "id")
    sizes = units.total(schema, lambda batch: np.bincount(np.bincount(batch[UNIT] - batch[UNIT][0]),
                                                          minlength=rows))  # fmt: skip
    assert [*np.flatnonzero(sizes)][-3:] == [1, 2, rows - 5] and sizes[2] == 2


def test_a_file_without_rows_gives_one_empty_batch(tmp_path):
    pq.write_table(pa.table({"x": pa.array([], "double"), "id": pa.array([], "int64")}),
                   tmp_path / "x.parquet")  # fmt: skip
    schema = {"x": SCHEMA["x"]}
    (batch,) = open_table(tmp_path / "x.parquet").by_unit(schema, "id").batches(schema)
    assert {name: len(column) for name, column in batch.items()} == {"x": 0, UNIT: 0}


def test_nothing_is_read_or_written_before_the_first_pass(monkeypatch):
    def read(names):
        raise AssertionError("read")

    monkeypatch.setattr(tempfile, "TemporaryFile", read)
    types = Table.from_data({"x": np.empty(0), "id": np.empty(0)})
    units = Stream(types, read).by_unit({"x": SCHEMA["x"]}, "id")
    assert units.columns == ("x", "id") and units.kind("id") == "number"


def temporary_files(monkeypatch) -> list:
    """The list to which each temporary file is added that is made from now on."""
    files, make = [], tempfile.TemporaryFile
    monkeypatch.setattr(
        tempfile, "TemporaryFile", lambda **more: files.append(make(**more)) or files[-1]
    )
    return files


def test_the_file_is_closed_with_the_table(people, tmp_path, monkeypatch):
    files = temporary_files(monkeypatch)
    people.to_parquet(tmp_path / "rows.parquet")
    units = open_table(tmp_path / "rows.parquet").by_unit(SCHEMA, "id")
    units.total(SCHEMA, squares)
    assert [file.closed for file in files] == [False]
    del units
    gc.collect()
    assert [file.closed for file in files] == [True]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_full_disk_is_a_defect_without_values(people, tmp_path, monkeypatch):
    full = open("/dev/full", "r+b", buffering=0)  # noqa: SIM115
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **more: full)
    people.to_parquet(tmp_path / "rows.parquet")
    units = open_table(tmp_path / "rows.parquet").by_unit(SCHEMA, "id")
    with pytest.raises(Defect, match="^an error of a temporary file .No space left") as caught:
        units.total(SCHEMA, squares)
    assert caught.value.__context__ is None and caught.value.__cause__ is None


def test_a_file_that_was_cut_short_is_a_defect(people, tmp_path, monkeypatch):
    files = temporary_files(monkeypatch)
    people.to_parquet(tmp_path / "rows.parquet")
    units = open_table(tmp_path / "rows.parquet").by_unit(SCHEMA, "id")
    units.total(SCHEMA, squares)
    files[0].truncate(N)
    with pytest.raises(Defect, match="shorter than written"):
        units.total(SCHEMA, squares)


KILLED = """
import os, pathlib, signal, sys
import numpy as np
from dpstats.engines.labels import label_keys
from dpstats.engines.streams import spill
from dpstats.engines.open_table import open_table
from dpstats.schema import Numeric

path, place = sys.argv[1:]
schema, folder = {"x": Numeric(0, 9)}, pathlib.Path(os.environ["TMPDIR"])
spill._BUFFER = 4096

def die():
    here = [os.readlink(link) for link in pathlib.Path("/proc/self/fd").iterdir() if link.exists()
            or link.is_symlink()] if sys.platform == "linux" else [str(folder)]
    print(sum(name.startswith(str(folder)) for name in here), len([*folder.iterdir()]), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

write = spill.Spill._write
def writing(self, rows):
    write(self, rows)
    writing.done += rows.nbytes
    if place == "writing" and writing.done > 20_000:
        die()
writing.done = 0
spill.Spill._write = writing

for batch in open_table(path).by_unit(schema, "id").batches(schema, 100):
    die()
"""


@pytest.mark.skipif(os.name == "nt", reason="no signal that cannot be handled")
@pytest.mark.parametrize("place", ["writing", "reading"])
def test_a_kill_leaves_no_file(people, tmp_path, place):
    people.to_parquet(tmp_path / "rows.parquet", row_group_size=100)
    folder = tmp_path / "temporary"
    folder.mkdir()
    call = [sys.executable, "-c", KILLED, str(tmp_path / "rows.parquet"), place]
    done = subprocess.run(
        call, capture_output=True, text=True, env=os.environ | {"TMPDIR": str(folder)}
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert done.stdout == "1 0\n"  # open in that folder, and without a name even then
    assert not list(folder.iterdir())


def test_memory_does_not_grow_with_the_file(tmp_path, monkeypatch):
    """Peak of Python's and numpy's allocations while rows go to the disk and come back."""
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr("dpstats.engines.units.unit_table._ROWS", 1 << 13)
    monkeypatch.setattr(spill, "_BUFFER", 1 << 18)
    rows, path = 1 << 19, tmp_path / "large.parquet"
    ids = np.random.default_rng(0).integers(0, rows, rows)
    table = {"id": ids, **{f"x{i}": np.zeros(rows) for i in range(7)}}
    pq.write_table(pa.table(table), path, row_group_size=1 << 12)
    monkeypatch.setattr("dpstats.engines.files.arrow_datasets.ROWS", 1 << 12)
    schema = {f"x{i}": SCHEMA["x"] for i in range(7)}
    open_table(path).by_unit(schema, "id").total({"x0": SCHEMA["x"]}, lambda batch: 0)
    tracemalloc.start()
    try:
        open_table(path).by_unit(schema, "id").total(schema, lambda batch: 0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * 8 * rows / 3
