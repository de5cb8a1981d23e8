"""Files and queries read in batches: the release of the same rows in memory, to the last bit."""

import json
import tracemalloc

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import dpstats as dp
from dpstats.engines import Table
from dpstats.engines.open_table import open_table
from dpstats.engines.streams import Stream
from dpstats.errors import ArgumentError
from dpstats.schema import Numeric

N = 1000
FORMULA = "y ~ x + C(g)"
LEVELS = {"g": ["u", "v"]}
BOUNDS = {"x": (0, 1), "y": (0, 1)}


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(3)
    x = rng.uniform(size=N).round(3)
    frame = pd.DataFrame({"x": x, "y": (0.2 + x / 2 + rng.normal(0, 0.1, N)).round(3)})
    frame["g"] = rng.choice(["u", "v"], N)
    frame["area"] = rng.integers(0, 4, N)
    frame.loc[rng.choice(N, 20), "x"] = np.nan
    return frame


@pytest.fixture(scope="module")
def folder(people, tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    for part in range(3):
        own = people.iloc[part * 400 : (part + 1) * 400]
        own.to_parquet(folder / f"part{part}.parquet", index=False, row_group_size=70)
        own.to_csv(folder / f"part{part}.csv", index=False)
        own.to_csv(folder / f"part{part}.csv.gz", index=False)
    return folder


def relation(folder):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.read_parquet(str(folder / "*.parquet"))


def dataset(folder):
    return ds.dataset([str(path) for path in sorted(folder.glob("*.parquet"))])


SOURCES = {
    "parquet": lambda folder: str(folder / "*.parquet"),
    "csv": lambda folder: str(folder / "*.csv"),
    "csv.gz": lambda folder: folder / "*.csv.gz",
    "dataset": dataset,
    "lazy": lambda folder: pl.scan_parquet(folder / "*.parquet"),
    "duckdb": relation,
}


@pytest.fixture(params=SOURCES)
def source(request, folder):
    return SOURCES[request.param](folder)


def seeded(data, method, **more):
    with dp.testing.insecure_seed(8):
        return dp.dp_ols(data=data, method=method, epsilon=3, **more)


@pytest.mark.parametrize("bounds", [BOUNDS, None], ids=["declared", "estimated"])
def test_streamed_sums_are_those_in_memory_to_the_last_grid_unit(source, people, bounds):
    more = {"formula": FORMULA, "levels": LEVELS, "bounds": bounds}
    assert isinstance(open_table(source), Stream)
    more["types"] = {"x": "number", "y": "number"}
    streamed, whole = (seeded(data, "adassp", **more) for data in (source, people))
    assert streamed == whole
    assert streamed.privacy == whole.privacy


@pytest.mark.parametrize("method", ["noisy_moments", "exp_theil_sen", "gd_pure"])
def test_other_methods_read_streams_too(source, people, method):
    results = [seeded(data, method, formula="y ~ x", bounds=BOUNDS) for data in (source, people)]
    assert results[0] == results[1]


def test_a_stream_is_read_once_more_for_robust_standard_errors(source, people):
    call = {"formula": FORMULA, "levels": LEVELS, "bounds": BOUNDS, "cov_type": "HC1"}
    with dp.testing.insecure_seed(8):
        streamed = dp.dp_ols(data=source, method="adassp", epsilon=50, **call)
    with dp.testing.insecure_seed(8):
        whole = dp.dp_ols(data=people, method="adassp", epsilon=50, **call)
    assert streamed == whole and streamed.cov_type == "HC1"


@pytest.mark.parametrize("groups", [None, [3, 1, 7]])
def test_groups_of_a_stream(source, people, groups):
    more = {"formula": "y ~ x", "bounds": BOUNDS, "by": "area", "groups": groups}
    more["types"] = {"area": "integer"}
    streamed, whole = (seeded(data, "exp_theil_sen", **more) for data in (source, people))
    assert streamed.frame.equals(whole.frame)
    assert streamed.labels == whole.labels and streamed.privacy == whole.privacy


def test_several_formulas_and_group_columns_of_a_stream(source, people):
    more = {"formula": ["y ~ x", "x ~ y"], "bounds": BOUNDS, "by": ["area", "g"]}
    more["types"] = {"area": "integer", "g": "string"}
    streamed, whole = (seeded(data, "noisy_moments", **more) for data in (source, people))
    assert list(streamed) == list(whole) == more["formula"]
    for name, fit in whole.items():
        assert streamed[name].frame.equals(fit.frame) and streamed[name].privacy == fit.privacy


def test_a_stream_keeps_types_and_no_rows(folder):
    stream = open_table(str(folder / "*.csv"))
    assert repr(stream) == "Stream of Table(x: text, y: text, g: text, area: text)"
    assert repr(stream.typed({"area": "integer"})).endswith("g: text, area: integer)")
    sizes = [len(batch["x"]) for batch in stream.batches({"x": Numeric(0, 1)}, size=150)]
    assert sizes[0] == 0 and sum(sizes) == N and max(sizes) <= 150


def test_memory_does_not_grow_with_the_file(tmp_path, monkeypatch):
    """Peak of Python's and numpy's allocations while batches pass through two cores."""
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    rows, path = 1 << 20, tmp_path / "large.parquet"
    pq.write_table(
        pa.table({"x": np.zeros(rows), "y": np.ones(rows)}), path, row_group_size=1 << 16
    )
    seeded(path, "noisy_moments", formula="y ~ x", bounds=BOUNDS)
    tracemalloc.start()
    try:
        seeded(path, "noisy_moments", formula="y ~ x", bounds=BOUNDS)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * 2 * rows / 1.3


@pytest.mark.parametrize("method", dp.METHODS)
def test_an_empty_file_is_a_table_without_rows(tmp_path, method):
    none = pd.DataFrame({"x": np.empty(0), "y": np.empty(0)})
    none.to_parquet(tmp_path / "none.parquet")
    results = [
        seeded(data, method, formula="y ~ x", bounds=BOUNDS)
        for data in (none, tmp_path / "none.parquet")
    ]
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothing*.parquet", "there is no file"),
        ("*", "one of .parquet, .csv, .csv.gz"),
        ("notes.txt", "one of .parquet, .csv, .csv.gz"),
        ("broken.parquet", "cannot be read"),
    ],
)
def test_unusable_files_are_refused_before_a_budget_is_charged(folder, tmp_path, name, message):
    (tmp_path / "notes.txt").write_text("a")
    (tmp_path / "broken.parquet").write_text("0.123456789")
    budget = dp.Budget(epsilon=5)
    with pytest.raises(dp.ArgumentError, match=message) as caught:
        seeded(tmp_path / name, "adassp", formula="y ~ x", bounds=BOUNDS, budget=budget)
    assert "0.1234" not in str(caught.value) and budget.spent == (0.0, 0.0)


def test_a_query_that_fails_later_shows_no_row(tmp_path):
    query = pl.LazyFrame({"x": ["0.1", "secret"], "y": [0.1, 0.2]}).with_columns(
        pl.col("x").cast(pl.Float64)
    )
    with pytest.raises(dp.InternalError, match="counts as spent") as caught:
        seeded(query, "noisy_moments", formula="y ~ x", bounds=BOUNDS)
    assert "secret" not in str(caught.value) and caught.value.__context__ is None


def test_evaluation_reads_public_streams(folder, people):
    more = {"methods": ["noisy_moments"], "epsilon": 1, "bounds": BOUNDS, "public": True}
    found = [
        dp.evaluate.error_bounds("y ~ x", data, by="area", trials=5, seed=1, **more)
        for data in (str(folder / "*.parquet"), people)
    ]
    assert found[0].equals(found[1]) and len(found[0])
    assert isinstance(open_table(people), Table)


def parquet_file(path, **columns) -> str:
    """The path of a Parquet file of one column."""
    pq.write_table(pa.table(columns), path)
    return str(path)


def test_a_dataset_of_files_with_other_types_is_refused(tmp_path):
    """A scan stopped at the first whole number that did not fit into 32 bits."""
    narrow = parquet_file(tmp_path / "a.parquet", x=pa.array([1, 2], pa.int32()))
    wide = parquet_file(tmp_path / "b.parquet", x=pa.array([1, 2], pa.int64()))
    declared = ds.dataset([wide], schema=pa.schema([("x", pa.int32())]))
    same = ds.dataset([narrow])
    for data in (ds.dataset([narrow, wide]), declared, ds.dataset([same, declared])):
        with pytest.raises(ArgumentError, match="x is int64 in .*b.parquet and int32"):
            open_table(data)
    for data in (same, same.filter(ds.field("x") > 0), ds.dataset([same, ds.dataset([narrow])])):
        assert open_table(data).kind("x") == "integer"


@pytest.mark.parametrize("style", ["csv", "json"])
def test_a_dataset_that_takes_its_types_from_values_is_refused(tmp_path, style):
    (tmp_path / "a").write_text({"csv": "x\n1\n", "json": '{"x": 1}\n'}[style])
    with pytest.raises(ArgumentError, match=f"a dataset of {style} files takes its types from"):
        open_table(ds.dataset([str(tmp_path / "a")], format=style))


def queries_of(path, style):
    """Queries of a text file, as they are and below others, by library."""
    duckdb, lazy = pytest.importorskip("duckdb"), {"csv": pl.scan_csv, "json": pl.scan_ndjson}
    of_polars, of_duckdb = lazy[style](path), getattr(duckdb, f"read_{style}")(str(path))
    yield of_polars
    yield nw.from_native(of_polars)
    yield of_polars.join(pl.LazyFrame({"x": [1.0]}).cast(pl.Int64), "x").filter(pl.col("x") > 0)
    yield of_duckdb
    yield duckdb.sql(f"select x + 1 as x from read_{style}_auto('{path}') where x > 0")


@pytest.mark.parametrize("style", ["csv", "json"])
def test_a_query_that_takes_its_types_from_values_is_refused(tmp_path, style):
    """A text in the last row, among whole numbers, stopped the fit once it was charged."""
    cells = [*range(30_000), "oops"]
    lines = ["x", *cells] if style == "csv" else [json.dumps({"x": cell}) for cell in cells]
    text = "\n".join(map(str, lines))
    (tmp_path / f"a.{style}").write_text(text)
    for query in queries_of(tmp_path / f"a.{style}", style):
        with pytest.raises(ArgumentError, match="takes its types from their values"):
            open_table(query)


def test_a_query_whose_types_are_stored_is_no_query_of_text(folder, people):
    duckdb = pytest.importorskip("duckdb")
    frame = people.rename(columns={"g": "read_it", "x": "csv scan"})
    stored = [frame, pl.scan_parquet(folder / "*.parquet").filter(pl.col("area") > 0)]
    stored += [pl.from_pandas(frame).lazy(), duckdb.sql("select * from frame")]
    stored += [nw.from_native(query) for query in stored]
    for data in stored:
        assert "area" in open_table(data).columns


def test_an_enum_of_duckdb_declares_its_levels_as_a_categorical_of_pandas_does(people, tmp_path):
    """No row has the last level; the first in the order of the type is the reference."""
    duckdb, levels = pytest.importorskip("duckdb"), ["v", "u", "none"]
    frame = people.assign(g=pd.Categorical(people["g"], categories=levels))
    held = duckdb.connect()
    held.execute(f"create type letter as enum ({str(levels)[1:-1]})")
    held.execute("create table held as select x, y, g::varchar::letter as g from frame")
    for query in (held.table("held"), held.sql("select x as a, g, y, x from held where y > -9")):
        table = open_table(query)
        assert table.levels("g") == tuple(levels) and table.kind("g") == "category"
        for call in ({"formula": "y ~ x + g"}, {"formula": "y ~ x", "by": "g"}):
            ours, other = (seeded(data, "adassp", **call) for data in (query, frame))
            assert ours.names == other.names
            np.testing.assert_array_equal(ours.params, other.params)


def test_a_dictionary_in_parquet_may_have_more_labels_than_its_index_numbers(tmp_path):
    """The reader puts the dictionaries of a row group together in the type that is stored."""
    labels = [f"l{i:03}" for i in range(200)]
    parts = [pa.array(labels[i : i + 100]).dictionary_encode() for i in (0, 100)]
    small = [pa.DictionaryArray.from_arrays(p.indices.cast(pa.int8()), p.dictionary) for p in parts]
    path = parquet_file(tmp_path / "a.parquet", g=pa.chunked_array(small))
    assert open_table(path).gathered(["g"]).labels("g")[1] == tuple(labels)
    with pytest.raises(ArgumentError, match=r"dictionary_columns=\['g'\]"):
        open_table(ds.dataset(path))
    style = ds.ParquetFileFormat(dictionary_columns=["g"])
    opened = open_table(ds.dataset(path, format=style))
    assert opened.gathered(["g"]).labels("g")[1] == tuple(labels)
