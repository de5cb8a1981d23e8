"""A file that cannot be read on ends a call in one public sentence, and the charge stands."""

from functools import partial

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import dpstats as dp
from dpstats.engines.files import delimited_text
from dpstats.errors import InternalError

TORN = "damaged or changed; copy it anew"


@pytest.fixture
def people():
    return dp.simulate.line(5000, seed=1)


def ended(data, **more):
    """Return how a fit and a description end, after their charge."""
    budget, said = dp.Budget(3), []
    for call in (partial(dp.dp_ols, "y ~ x"), partial(dp.dp_describe, columns=["x", "y"])):
        before = budget.spent
        with pytest.raises(
            InternalError, match="; the budget of this call counts as spent$"
        ) as caught:
            call(data=data, epsilon=1, budget=budget, **more)
        assert budget.spent > before
        said.append(str(caught.value).partition(" stopped with ")[2].rpartition(";")[0])
    return said


def test_damaged_pages_of_a_parquet_file(people, tmp_path):
    """Of several files the one that is damaged is named."""
    paths = [tmp_path / "whole.parquet", tmp_path / "torn.parquet"]
    for path in paths:
        people.to_parquet(path)
    content = bytearray(paths[1].read_bytes())
    content[4:200] = b"\xff" * 196  # the first page, behind the file's first mark
    paths[1].write_bytes(content)
    damaged = [f"an error of {paths[1]} ({TORN})"] * 2
    assert ended(paths) == damaged == ended(ds.dataset(paths))
    assert ended(pl.scan_parquet(paths[1])) == ["ComputeError of the query in data"] * 2


def flipped(path, people, checksums: bool) -> None:
    """Write an uncompressed file of two columns, then flip a bit of a number in the first one."""
    table = pa.Table.from_pandas(people[["x", "y"]], preserve_index=False)
    pq.write_table(
        table, path, compression=None, use_dictionary=False, write_page_checksum=checksums
    )
    content = bytearray(path.read_bytes())
    place = content.index(np.float64(people["x"][2000]).tobytes())
    content[place + 6] ^= 1
    path.write_bytes(content)


def test_a_flipped_bit_is_noticed_by_the_checksum_of_its_page(people, tmp_path):
    """The file that is damaged is named among others, by path, as a dataset and in a union."""
    whole, path = tmp_path / "whole.parquet", tmp_path / "flipped.parquet"
    people[["x", "y"]].to_parquet(whole, index=False)
    flipped(path, people, checksums=True)
    both = [whole, path]
    for data in (path, both, ds.dataset(both), ds.dataset([*map(ds.dataset, both)])):
        assert ended(data) == [f"an error of {path} ({TORN})"] * 2


def test_a_flipped_bit_without_a_checksum_is_another_value(people, tmp_path):
    path = tmp_path / "flipped.parquet"
    flipped(path, people, checksums=False)
    with dp.testing.insecure_seed(1):
        found = dp.dp_ols("y ~ x", path, epsilon=1, method="adassp")
    assert found.status == "ok" and np.isfinite(found.params).all()
    assert pq.read_table(path)["x"][2000].as_py() != people["x"][2000]


@pytest.mark.parametrize(
    ("name", "change", "why"),
    [
        ("a.csv", lambda path: path.unlink(), "No such file or directory; put it back"),
        ("a.csv.gz", lambda path: path.write_bytes(path.read_bytes()[:-9]), TORN),
    ],
)
def test_text_that_changes_after_the_charge(people, tmp_path, monkeypatch, name, change, why):
    path, rows_of = tmp_path / name, delimited_text._rows_of

    def changed(paths, separator):
        kept = path.read_bytes()
        change(path)
        try:
            yield from rows_of(paths, separator)
        finally:
            path.write_bytes(kept)

    people.to_csv(path, index=False)
    monkeypatch.setattr(delimited_text, "_rows_of", changed)
    said = ended(path, types=dict.fromkeys("xy", "number"))
    assert said == [f"an error of {path} ({why})"] * 2
