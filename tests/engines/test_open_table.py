"""Files are read by their ending; what fails says which file and nothing of what is in it."""

import builtins
import csv
import gzip
import re

import numpy as np
import pandas as pd
import pytest

from dpstats.engines.open_table import ENDINGS, open_table
from dpstats.errors import ArgumentError
from dpstats.schema import BOOLEAN, Categorical, Numeric

FRAME = pd.DataFrame({"age": [31, 45], "pay": [1.5, np.nan], "town": ["Ulm", "Bonn"]})
TEXT = "age,pay,town\n31,1.5,Ulm\n45,,Bonn\n"
RANGE = Numeric(-1e6, 1e6)


def columns(path, **schema):
    """Columns of a file as they are summarised."""
    parts = list(open_table(path).batches(schema))
    return [np.concatenate([part[name] for part in parts]).tolist() for name in schema]


def check(path):
    table = open_table(path)
    assert table.columns == ("age", "pay", "town")
    age, pay, town = columns(path, age=RANGE, pay=RANGE, town=Categorical(("Bonn", "Ulm")))
    assert age == [31, 45] and town == [1, 0]
    assert pay[0] == 1.5 and np.isnan(pay[1])


@pytest.mark.parametrize("name", ["a.csv", "a.b.CSV", "a.csv.gz", "a.tsv", "a.tsv.gz"])
def test_text(tmp_path, name):
    path = tmp_path / name
    text = TEXT.replace(",", "\t") if ".tsv" in name else TEXT
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    check(path)
    check(str(path))


def test_parquet_and_stata(tmp_path):
    FRAME.to_parquet(tmp_path / "a.parquet")
    check(tmp_path / "a.parquet")
    FRAME.to_stata(tmp_path / "a.dta", write_index=False)
    check(tmp_path / "a.dta")


def test_no_cell_changes_a_kind(tmp_path):
    path = tmp_path / "a.csv"
    for flag, age in (("True", "3"), ("", ""), ("x", "2.5")):
        path.write_text(f"flag,age\nFalse,1\n{flag},{age}\n")
        table = open_table(path)
        assert repr(table) == "Stream of Table(flag: text, age: text)"
        typed = table.typed({"flag": "boolean", "age": "integer"})
        assert repr(typed) == "Stream of Table(flag: boolean, age: integer)"


MEGABYTE = "True,0.25,3\n" * 200_000
ODD = [
    ("abc,0.5,1", (-1, 0.5, 1)),
    ("False,oops,2.5", (0, np.nan, 2.5)),
    ("true,inf,1e400", (1, np.inf, np.inf)),
    ("NA,,x", (-1, np.nan, np.nan)),
    ("false,-1e-3, 7 ", (0, -1e-3, 7)),
    ("False,1,9007199254740993", (0, 1, 2.0**53)),
]


@pytest.mark.parametrize("i", range(len(ODD)))
def test_a_cell_is_read_alike_in_whatever_company(tmp_path, i):
    """No cell changes how another one is read.

    A line with too few cells is left out; each of the others is read as it is alone.
    """
    path = tmp_path / "a.csv"
    schema = {"flag": BOOLEAN, "x": RANGE, "n": RANGE}
    found = []
    for lines in ([ODD[i]], [ODD[i], *ODD]):
        text = "\n".join(["1,2", *(line for line, _ in lines)])
        path.write_text(f"flag,x,n\n{MEGABYTE}{text}\n")
        read = np.array(columns(path, **schema)).T
        assert len(read) == 200_000 + len(lines)
        found += [read[200_000]]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], ODD[i][1])


def test_labels_of_a_text_file_are_strings_unless_declared(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("area\n" + "03\n" * 200_000 + "12\n7.0\n")
    table = open_table(path)
    assert table.gathered(["area"]).labels("area")[1] == ("03", "12", "7.0")
    whole = table.typed({"area": "integer"}).gathered(["area"])
    assert whole.labels("area")[1] == (3, 7, 12)
    assert whole.codes("area", [3]).sum() == table.gathered(["area"]).codes("area", [3]).sum() == -2
    assert table.gathered(["area"]).codes("area", ["03"]).sum() == -2


RAW = {
    "no utf-8": b"1,a\xff\n",
    "no utf-8 in a short line": b"\xff\n",
    "a long cell": b"1," + b"z" * 5_000_000 + b"\n",
    "a long number": b"1" * 5_000_000 + b",u\n",
    "a newline in quotes": b'1,"u\nu"\n',
    "a quote in quotes": b'1,"u""u"\n',
    "a quote within a cell": b'1,u"u\n',
    "a short line": b"1\n",
    "a long line": b"1,u,2\n",
    "an empty line": b"\n",
    "zeros": b"\0,\0\n",
    "a return": b"1\r,u\n",
}


@pytest.mark.parametrize("raw", RAW.values(), ids=RAW)
@pytest.mark.parametrize("before", [1, 1_200_000])
def test_no_bytes_of_a_line_stop_a_file_or_change_another_line(tmp_path, raw, before, capfd):
    """The lines around it stay, whichever block of the file it is in."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"x,g\n" + b"1,u\n" * before + raw + b"2,v\r\n" * 3)
    x, g = columns(path, x=RANGE, g=Categorical(("u", "v")))
    assert (x[:before], g[:before]) == ([1] * before, [0] * before)
    assert (x[-3:], g[-3:]) == ([2] * 3, [1] * 3)
    assert len(x) - before - 3 in (0, 1) and capfd.readouterr() == ("", "")


def test_cells_are_those_of_pythons_reader(tmp_path):
    rows = [["1", 'a "b"'], ["2", "c,d"], ["3", "e\nf"], ["4", ""], ["5", '"'], ["6", "NA"]]
    path = tmp_path / "a.csv"
    with open(path, "w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file).writerows([["x", "g"], *rows])
    x, g = columns(path, x=RANGE, g=Categorical(tuple(text for _, text in rows if text)))
    assert x == [1, 2, 3, 4, 5, 6] and g == [0, 1, 2, -1, 3, -1]


def test_a_trailing_separator_shifts_nothing(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y,\n1,2,\n3,4,\n")
    assert columns(path, x=RANGE, y=RANGE) == [[1, 3], [2, 4]]


def test_files_with_other_columns_are_refused(tmp_path):
    """A column that one file lacks would be missing in all of its rows."""
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "b.csv").write_text("x,z\n1,2\n")
    with pytest.raises(ArgumentError, match=r"b\.csv are not those of .*a\.csv"):
        open_table(tmp_path / "*.csv")
    FRAME.to_parquet(tmp_path / "a.parquet")
    FRAME.assign(pay=["low", "high"]).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(ArgumentError, match=r"b\.parquet are not those of .*a\.parquet"):
        open_table(tmp_path / "*.parquet")


def test_levels_of_a_parquet_file_must_be_declared(tmp_path):
    """Its dictionaries list what is there, part by part."""
    FRAME.astype({"town": "category"}).to_parquet(tmp_path / "a.parquet")
    assert open_table(tmp_path / "a.parquet").levels("town") is None
    check(tmp_path / "a.parquet")


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


def check_refused(path, match):
    with pytest.raises(ArgumentError, match=match) as error:
        open_table(path)
    assert str(path) in str(error.value)
    assert error.value.__cause__ is None
    return str(error.value)


def test_no_such_file_or_ending(tmp_path):
    path = tmp_path / "a.xlsx"
    path.write_text("x")
    check_refused(path, re.escape("in one of .parquet, .csv, .csv.gz, .tsv, .tsv.gz, .dta"))
    check_refused(tmp_path / "b.csv", "there is no file")
    check_refused(tmp_path / "b*.csv", "there is no file")
    (tmp_path / "folder.csv").mkdir()
    check_refused(tmp_path / "folder.csv", "to name files")


@pytest.mark.parametrize("ending", list(ENDINGS))
def test_unreadable_files_show_nothing(tmp_path, ending):
    path = tmp_path / f"a{ending}"
    # neither a header in UTF-8 nor any of the formats
    path.write_bytes(b'secret,"\xff\xfe"\n1,2,3,4\n')
    assert "secret" not in check_refused(path, "cannot be read as its ending says")


def test_an_empty_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("")
    check_refused(path, "cannot be read")


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_missing_pyarrow_says_what_to_install(tmp_path, monkeypatch, name):
    original = builtins.__import__

    def without_pyarrow(module, *rest):
        if module.partition(".")[0] == "pyarrow":
            raise ImportError(module)
        return original(module, *rest)

    path = tmp_path / name
    path.write_text(TEXT)
    monkeypatch.setattr(builtins, "__import__", without_pyarrow)
    check_refused(path, re.escape("pip install 'dpstats[parquet]'"))
