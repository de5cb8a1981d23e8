"""Files are read by their ending; what fails says which file and nothing of what is in it."""

import gzip
import re

import numpy as np
import pandas as pd
import pytest

from dpstats.engines import files
from dpstats.engines.files import read
from dpstats.engines.frames import Table
from dpstats.errors import ArgumentError

FRAME = pd.DataFrame({"age": [31, 45], "pay": [1.5, np.nan], "town": ["Ulm", "Bonn"]})
TEXT = "age,pay,town\n31,1.5,Ulm\n45,,Bonn\n"


def check(frame):
    assert list(frame.columns) == ["age", "pay", "town"]
    assert frame["age"].tolist() == [31, 45]
    assert frame["pay"][0] == 1.5 and frame["pay"].isna().tolist() == [False, True]
    assert frame["town"].tolist() == ["Ulm", "Bonn"]


@pytest.mark.parametrize("name", ["a.csv", "a.b.CSV", "a.csv.gz", "a.tsv", "a.tsv.gz"])
def test_text(tmp_path, name):
    path = tmp_path / name
    text = TEXT.replace(",", "\t") if ".tsv" in name else TEXT
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    check(read(path))
    check(read(str(path)))


def test_parquet_and_stata(tmp_path):
    FRAME.to_parquet(tmp_path / "a.parquet")
    check(read(tmp_path / "a.parquet"))
    FRAME.to_stata(tmp_path / "a.dta", write_index=False)
    check(read(tmp_path / "a.dta"))


def test_one_missing_cell_changes_no_kind(tmp_path):
    path = tmp_path / "a.csv"
    kinds = []
    for flag, age in (("True", "3"), ("", "")):
        path.write_text(f"flag,age\nFalse,1\n{flag},{age}\n")
        table = Table.from_data(read(path))
        kinds.append((table.kind("flag"), table.kind("age")))
    assert kinds == [("bool", "numeric")] * 2


def test_a_trailing_separator_shifts_nothing(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,2,\n3,4,\n")
    assert read(path)["x"].tolist() == [1, 3]


def test_stata_levels_are_the_codebook(tmp_path):
    people = pd.DataFrame({"sex": [1, 2, np.nan], "pay": [10.0, -9.0, 20.0]})
    labels = {"sex": {1: "male", 2: "female", 3: "other"}, "pay": {-9: "refused"}}
    people.to_stata(tmp_path / "a.dta", write_index=False, value_labels=labels)
    frame = read(tmp_path / "a.dta")
    table = Table.from_data(frame)
    assert table.levels("sex") == ("male", "female", "other")
    assert table.codes("sex", ["male", "female"]).tolist() == [0, 1, -1]
    assert frame["pay"].tolist() == [10, -9, 20]


def test_stata_without_rows(tmp_path):
    FRAME[:0].to_stata(tmp_path / "a.dta", write_index=False)
    assert len(read(tmp_path / "a.dta")) == 0


def refused(path, match):
    with pytest.raises(ArgumentError, match=match) as error:
        read(path)
    assert str(path) in str(error.value)
    assert error.value.__cause__ is None and error.value.__suppress_context__
    return str(error.value)


def test_no_such_file_or_ending(tmp_path):
    path = tmp_path / "a.xlsx"
    path.write_text("x")
    with pytest.raises(ArgumentError, match=re.escape("expected one of .csv, .csv.gz, .tsv")):
        read(path)
    with pytest.raises(ArgumentError, match="there is no file"):
        read(tmp_path / "b.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ArgumentError, match="there is no file"):
        read(tmp_path / "folder.csv")


@pytest.mark.parametrize("ending", list(files.READERS))
def test_unreadable_files_show_nothing(tmp_path, ending):
    path = tmp_path / f"a{ending}"
    # neither UTF-8 nor any of the formats
    path.write_bytes(b'secret,"open\n\xff\xfe\n1,2,3,4\n')
    message = refused(path, f"cannot be read as a {re.escape(ending)} file")
    assert "secret" not in message


def test_an_empty_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("")
    refused(path, "cannot be read")


def test_missing_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    def absent(path):
        raise ImportError("pyarrow")

    monkeypatch.setitem(files.READERS, ".parquet", absent)
    path = tmp_path / "a.parquet"
    path.touch()
    refused(path, re.escape("pip install 'dpstats[parquet]'"))
