"""Stata files: levels from the codebook, one file, no rows."""

import numpy as np
import pandas as pd
import pytest

from dpstats.engines.open_table import open_table
from dpstats.errors import ArgumentError
from tests.checks.open_table import FRAME, RANGE, columns


def test_stata_levels_are_the_codebook(tmp_path):
    people = pd.DataFrame({"sex": [1, 2, np.nan], "pay": [10.0, -9.0, 20.0]})
    labels = {"sex": {1: "male", 2: "female", 3: "other"}, "pay": {-9: "refused"}}
    people.to_stata(tmp_path / "a.dta", write_index=False, value_labels=labels)
    table = open_table(tmp_path / "a.dta")
    assert table.levels("sex") == ("male", "female", "other")
    assert table.codes("sex", ["male", "female"]).tolist() == [0, 1, -1]
    assert columns(tmp_path / "a.dta", pay=RANGE) == [[10, -9, 20]]


def test_kinds_of_a_stata_file_are_those_of_its_header(tmp_path):
    """Missing and unlabelled values, and dates out of all years, change nothing but their rows."""
    frame = pd.DataFrame({"tract": np.int32([1, 2]), "sex": np.int8([1, 2]), "when": [0.0, 1.0]})
    frame["text"] = ["a" * 3000, "b"]
    path = tmp_path / "a.dta"
    settings = {"write_index": False, "value_labels": {"sex": {1: "male", 2: "female"}}}
    frame.to_stata(path, convert_strl=["text"], version=118, **settings)
    content = path.read_bytes()
    expected = "Table(tract: integer, sex: integer, when: number, text: string)"
    assert repr(open_table(path)) == expected
    rows = content.index(b"<data>") + 6
    for tract, sex in ((2_147_483_621, 2), (1, 9), (1, 101)):  # missing, unlabelled, missing
        changed = bytearray(content)
        changed[rows : rows + 5] = np.int32(tract).tobytes() + bytes([sex])
        path.write_bytes(changed)
        table = open_table(path)
        assert repr(table) == expected and table.levels("sex") == ("male", "female")
        assert table.codes("sex", ["female", "male"])[1] == 0
        assert table.codes("tract", [2])[1] == 0 and 2 in table.labels("tract")[1]


@pytest.mark.parametrize(("style", "kind"), [("%td", "date"), ("%tc", "datetime")])
def test_dates_of_a_stata_file(tmp_path, style, kind):
    days = pd.Series([pd.Timestamp("2020-01-02"), pd.NaT])
    frame = pd.DataFrame({"d": days})
    frame.to_stata(tmp_path / "a.dta", write_index=False, convert_dates={"d": style[1:]})
    table = open_table(tmp_path / "a.dta")
    label = days[0].date() if kind == "date" else days[0]
    assert table.kind("d") == kind and table.codes("d", [label]).tolist() == [0, -1]


def test_stata_files_come_one_at_a_time(tmp_path):
    for name in ("a.dta", "b.dta"):
        FRAME.to_stata(tmp_path / name, write_index=False)
    with pytest.raises(ArgumentError, match="one .dta file, got 2"):
        open_table(tmp_path / "*.dta")


def test_stata_without_rows(tmp_path):
    FRAME[:0].to_stata(tmp_path / "a.dta", write_index=False)
    assert open_table(tmp_path / "a.dta").n_rows == 0


@pytest.mark.parametrize("length", [5, 3000], ids=["text", "long text"])
def test_a_text_that_is_no_utf8_is_missing_and_changes_no_other(tmp_path, length):
    """One byte of a long text made a file that could not be opened."""
    texts = ["é" + "a" * length, "b" * length, "c" * length]
    path, long = tmp_path / "a.dta", {"convert_strl": ["t"]} if length > 5 else {}
    frame = pd.DataFrame({"t": texts, "k": [1, 2, 1]})
    frame.to_stata(
        path, write_index=False, version=118, value_labels={"k": {1: "ö", 2: "o"}}, **long
    )
    assert open_table(path).codes("t", texts).tolist() == [0, 1, 2]
    content = bytearray(path.read_bytes())
    content[content.index(b"bbbb") + 1] = 0xFF
    path.write_bytes(content)
    assert open_table(path).codes("t", texts).tolist() == [0, -1, 2]
    assert open_table(path).levels("k") == ("ö", "o")
