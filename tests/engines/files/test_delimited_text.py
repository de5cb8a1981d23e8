"""Delimited text: each cell on its own, whatever stands around it."""

import csv
import gzip

import numpy as np
import pytest

import dpstats as dp
from dpstats.engines.open_table import open_table
from dpstats.errors import ArgumentError
from dpstats.schema import BOOLEAN, Categorical, Numeric
from tests.checks.open_table import RANGE, columns


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


def test_rows_of_a_text_file_are_taken_by_position(tmp_path):
    (tmp_path / "a.csv").write_text("x,g\n1,a\n,b\n3,a\n")
    table = open_table(tmp_path / "a.csv").typed({"x": "number"}).gathered(["x", "g"])
    schema = {"x": Numeric(0, 9), "g": Categorical(("a", "b"))}
    (batch,) = table.take(np.array([2, 1, 1])).batches(schema)
    np.testing.assert_array_equal(batch["x"], [3, np.nan, np.nan])
    np.testing.assert_array_equal(batch["g"], [0, 1, 1])


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


@pytest.mark.parametrize(
    ("name", "first"),
    [("a.csv", "x;y;g"), ("a.csv", "x\ty"), ("a.tsv", "x,y"), ("a.csv", "x|y")],
)
def test_a_line_of_names_that_is_separated_otherwise_says_how_to_write_it(tmp_path, name, first):
    path = tmp_path / name
    path.write_text(f"{first}\n1;2;3\n")
    signs = "tabs" if name.endswith("tsv") else "commas"
    with pytest.raises(ArgumentError, match=f"is not separated by {signs}; write the file with"):
        open_table(path)


@pytest.mark.parametrize(
    "first",
    ["6.3696,12,north", "1.0", "-2.5e3,south", "12,north", "2019,2020", "ann, 7 ", "2020-01-02,z"],
)
def test_a_first_line_that_is_a_row_is_refused_without_its_values(tmp_path, first):
    """Names are public and stand in messages; those of a file without names would be a row."""
    path = tmp_path / "a.csv"
    path.write_text(f"{first}\n{first}\n")
    with pytest.raises(ArgumentError, match="has numbers or dates where the names") as caught:
        open_table(path)
    said = str(caught.value).replace(str(path), "").replace("y2019 for 2019", "")
    assert not any(cell in said for cell in first.split(","))


def test_a_name_that_is_there_twice_is_told_by_its_places(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("ann,north,south,north\n")
    with pytest.raises(ArgumentError, match="columns 2 and 4 of .*a.csv have one name") as caught:
        open_table(path)
    assert "north" not in str(caught.value).replace(str(path), "")


@pytest.mark.parametrize("types", [{}, {"region": "string"}])
@pytest.mark.parametrize("code", ["NA", ""])
def test_a_level_that_is_the_mark_of_a_missing_value_is_refused(tmp_path, types, code):
    """It would have no rows, as NA for North America has none."""
    path = tmp_path / "a.csv"
    path.write_text("region\nNA\nSA\n")
    with pytest.raises(ArgumentError, match=f"levels lists '{code}' .* stands for a missing value"):
        open_table(path).typed(types).check_labels("region", [code, "SA"], "levels")


@pytest.mark.parametrize("cut", [slice(30), slice(-9)])
def test_a_compressed_file_that_is_cut_off_costs_nothing(tmp_path, cut):
    rows = "\n".join(f"{x},{x * x % 97}" for x in range(5000))
    path, budget = tmp_path / "a.csv.gz", dp.Budget(1)
    path.write_bytes(gzip.compress(f"x,y\n{rows}\n".encode())[cut])
    with pytest.raises(ArgumentError, match=r"a\.csv\.gz (is cut off|cannot be read)"):
        dp.dp_ols("y ~ x", path, epsilon=1, budget=budget, types={"x": "number", "y": "number"})
    assert budget.spent == (0, 0)


@pytest.mark.parametrize("first", ["x", "v1.2,1.2.3", "x;y,z", "y2019,inf,NA,", "true,nan,1st"])
def test_names_that_look_odd_are_names(tmp_path, first):
    path = tmp_path / "a.csv"
    path.write_text(f"{first}\n{first}\n")
    assert [*open_table(path).columns] == first.split(",")
