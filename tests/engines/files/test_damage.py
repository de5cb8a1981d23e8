"""A file that cannot be read on ends a call in one public sentence, and the charge stands."""

from functools import partial

import polars as pl
import pyarrow.dataset as ds
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
