"""Where the rows of a table are said to be, and what its columns are without types=."""

import os

import pandas as pd

from dpstats.engines.open_table import open_table
from dpstats.engines.tables import Source


def test_files_are_named_by_their_real_paths_in_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("b.csv", "a.csv"):
        (tmp_path / name).write_text("x,y\n1,2\n")
    os.symlink("b.csv", "c.csv")
    real = tmp_path.resolve()
    for data, names in {
        "a.csv": ["a.csv"],
        "./c.csv": ["b.csv"],
        "[ab].csv": ["a.csv", "b.csv"],
    }.items():
        assert open_table(data).source.files == tuple(str(real / name) for name in names)
    assert open_table(["b.csv", "a.csv"]).source == open_table("[ab].csv").source


def test_declared_types_do_not_change_what_columns_are(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,2\n")
    frame = pd.DataFrame({"x": ["1"], "y": [2]}, dtype=object)
    for data, kind in ((path, "text"), (frame, "object")):
        table = open_table(data)
        assert table.source.columns == {"x": kind, "y": kind}
        assert table.typed({"x": "integer"}).source == table.source
    assert open_table(frame).source.files == ()


def test_stata_files_and_queries(tmp_path):
    import polars as pl

    path = tmp_path / "a.dta"
    pd.DataFrame({"x": [1.5]}).to_stata(path, write_index=False)
    assert open_table(path).source == Source((str(path.resolve()),), {"x": "number"})
    assert open_table(pl.LazyFrame({"x": [1.5]})).source == Source((), {"x": "number"})


def test_a_place_is_one_line():
    odd = Source(("/data/a\nb.csv",), {})
    assert odd.place == r"'/data/a\nb.csv'"
