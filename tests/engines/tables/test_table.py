"""Tables of every accepted kind give the same batches, kinds and labels, and leak no value."""

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.engines import Table
from dpstats.engines.columns import CategoricalColumn
from dpstats.errors import ArgumentError
from dpstats.schema import BOOLEAN, Categorical, Numeric

RANGE = Numeric(0, 10)
COLOURS = ("blue", "red")
SCHEMA = {
    "whole": RANGE,
    "real": RANGE,
    "flag": BOOLEAN,
    "text": Categorical(COLOURS),
    "factor": Categorical(COLOURS),
}
WHOLE = [1, None, 3, 4]
REAL = [0.5, 1.5, None, float("nan")]
FLAG = [True, None, False, True]
TEXT = ["red", "blue", None, "green"]
FACTOR = ["red", None, "blue", "red"]


def pandas_nullable():
    return pd.DataFrame(
        {
            "whole": pd.array(WHOLE, dtype="Int64"),
            "real": REAL,
            "flag": pd.array(FLAG, dtype="boolean"),
            "text": pd.array(TEXT, dtype="string"),
            "factor": pd.Categorical(FACTOR, categories=["none", "red", "blue"]),
        },
        index=[7, 7, 3, 0],  # an index, even one with repeats, must not matter
    )


def pandas_arrow():
    return pandas_nullable().assign(
        whole=pd.array(WHOLE, dtype="int64[pyarrow]"),
        real=pd.array([0.5, 1.5, None, None], dtype="double[pyarrow]"),
        flag=pd.array(FLAG, dtype="bool[pyarrow]"),
        text=pd.array(TEXT, dtype=pd.ArrowDtype(pa.string())),
    )


def pandas_text(na_value):
    """Strings that pandas keeps as Python's, as it does without pyarrow and before version 3."""
    text = pd.array(TEXT, dtype=pd.StringDtype("python", na_value=na_value))
    return lambda: pandas_nullable().assign(text=text)


def polars_frame():
    return pl.DataFrame(
        {
            "whole": WHOLE,
            "real": REAL,
            "flag": FLAG,
            "text": TEXT,
            "factor": pl.Series(FACTOR, dtype=pl.Enum(["none", "red", "blue"])),
        }
    )


def arrow_table():
    factor = pa.DictionaryArray.from_arrays(pa.array([1, None, 2, 1]), ["none", "red", "blue"])
    plain = {"whole": WHOLE, "real": REAL, "flag": FLAG, "text": TEXT}
    return pa.table(plain | {"factor": factor})


def mapping():
    factor = pd.Categorical(FACTOR, categories=["none", "red", "blue"])
    return {
        "whole": WHOLE,
        "real": np.array(REAL, dtype=float),
        "flag": FLAG,
        "text": pl.Series(TEXT),
        "factor": pd.Series(factor, index=[3, 2, 1, 0]),
    }


KINDS = {
    "pandas": pandas_nullable,
    "pandas-text": pandas_text(pd.NA),
    "pandas-text-nan": pandas_text(float("nan")),
    "pandas-arrow": pandas_arrow,
    "polars": polars_frame,
    "arrow": arrow_table,
    "mapping": mapping,
}


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def table(request):
    types = {"whole": "integer", "flag": "boolean"} if request.param is mapping else {}
    return Table.from_data(request.param()).typed(types)


def whole_column(table, name, declared, size=1 << 17):
    return np.concatenate([batch[name] for batch in table.batches({name: declared}, size)])


def test_shape_and_kinds(table):
    assert table.columns == tuple(SCHEMA)
    assert table.n_rows == 4
    expected = ["integer", "number", "boolean", "string", "category"]
    assert [table.kind(name) for name in table.columns] == expected
    assert Table.from_data(table) is table


@pytest.mark.parametrize("size", [1, 3, 4, 100])
def test_batches(table, size):
    batches = list(table.batches(SCHEMA, size))
    assert [len(batch["whole"]) for batch in batches] == {1: [1] * 4, 3: [3, 1]}.get(size, [4])
    joined = {name: np.concatenate([batch[name] for batch in batches]) for name in SCHEMA}
    np.testing.assert_array_equal(joined["whole"], [1, np.nan, 3, 4])
    np.testing.assert_array_equal(joined["real"], [0.5, 1.5, np.nan, np.nan])
    np.testing.assert_array_equal(joined["flag"], [1, -1, 0, 1])
    np.testing.assert_array_equal(joined["text"], [1, 0, -1, -1])
    np.testing.assert_array_equal(joined["factor"], [1, -1, 0, 1])
    dtypes = [joined[name].dtype for name in SCHEMA]
    assert dtypes == [np.float64, np.float64, np.int64, np.int64, np.int64]


def test_rows_are_taken_by_position(table):
    taken = table.take(np.array([3, 0, 0]))
    assert (taken.n_rows, taken.columns) == (3, table.columns)
    (batch,) = taken.batches(SCHEMA)
    np.testing.assert_array_equal(batch["whole"], [4, 1, 1])
    np.testing.assert_array_equal(batch["real"], [np.nan, 0.5, 0.5])
    for name, codes in {"flag": [1, 1, 1], "text": [-1, 1, 1], "factor": [1, 1, 1]}.items():
        np.testing.assert_array_equal(batch[name], codes)


def test_bool_as_number(table):
    np.testing.assert_array_equal(whole_column(table, "flag", RANGE), [1, np.nan, 0, 1])


def test_levels(table):
    assert table.levels("factor") == ("none", "red", "blue")
    assert table.levels("text") is None
    assert table.levels("whole") is None


def test_labels_and_codes(table):
    codes, labels = table.labels("text")
    assert labels == ("blue", "green", "red")
    assert codes.tolist() == [2, 0, -1, 1]
    assert codes.dtype == np.int64
    codes, labels = table.labels("whole")
    assert (codes.tolist(), labels) == ([0, -1, 1, 2], (1, 3, 4))
    codes, labels = table.labels("factor")
    assert (codes.tolist(), labels) == ([1, -1, 0, 1], ("blue", "red"))
    assert table.codes("text", ["green", "red"]).tolist() == [1, -1, -1, 0]
    assert table.codes("whole", [4, 3, 2]).tolist() == [-1, -1, 1, 0]
    assert table.codes("factor", ["red"]).tolist() == [0, -1, -1, 0]


def test_missing_column(table):
    for call in (table.kind, table.levels, table.labels, lambda c: table.codes(c, [1])):
        with pytest.raises(ArgumentError, match="no column 'income'; the columns are whole, real"):
            call("income")
    with pytest.raises(ArgumentError, match="no column 'income'"):
        table.batches({"income": RANGE})  # at the call, not at the first batch


@pytest.mark.parametrize("make", [pl.Series, pa.array, pd.Series])
def test_numbers_are_read_where_they_lie_and_cannot_be_written(make):
    values = make([1.0, 2.0])
    batch = next(Table.from_data({"x": values}).batches({"x": RANGE}))
    with pytest.raises(ValueError, match="read-only"):
        batch["x"][:] = 0
    assert np.shares_memory(batch["x"], np.asarray(values))


@pytest.mark.parametrize("make", [pandas_nullable, pandas_arrow, polars_frame, arrow_table])
def test_no_rows(make):
    empty = Table.from_data(make()[:0])
    assert empty.n_rows == 0
    (batch,) = empty.batches(SCHEMA)
    assert all(column.shape == (0,) for column in batch.values())
    codes, labels = empty.labels("text")
    assert (len(codes), labels) == (0, ())


def test_no_rows_and_no_columns_in_a_mapping():
    assert Table.from_data({}).n_rows == 0
    (batch,) = Table.from_data({"x": [], "g": []}).batches({"x": RANGE, "g": BOOLEAN})
    assert batch["x"].dtype == np.float64 and batch["g"].dtype == np.int64


LARGE = 2**60 + 1


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([LARGE, None], dtype="Int64"),
        pd.Series([LARGE, None], dtype="int64[pyarrow]"),
        pl.Series([LARGE, None]),
        pa.chunked_array([[LARGE], [None]]),
        pa.array([LARGE, None]),
        [LARGE, None],
    ],
    ids=["Int64", "pandas-arrow", "polars", "arrow", "arrow-array", "list"],
)
def test_large_integers(column):
    table = Table.from_data({"x": column}).typed({"x": "integer"})
    np.testing.assert_array_equal(whole_column(table, "x", RANGE), [float(LARGE), np.nan])
    assert table.labels("x")[1] == (LARGE,)
    # the neighbouring integer is the same float: codes must not go through floats
    assert table.codes("x", [LARGE - 1, LARGE]).tolist() == [1, -1]


AMOUNT = decimal.Decimal("2.50")


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([AMOUNT, None], dtype=pd.ArrowDtype(pa.decimal128(38, 2))),
        pl.Series([AMOUNT, None], dtype=pl.Decimal(38, 2)),
        pa.chunked_array([[AMOUNT, None]], type=pa.decimal128(38, 2)),
    ],
    ids=["pandas-arrow", "polars", "arrow"],
)
def test_decimals(column):
    table = Table.from_data({"x": column})
    assert table.kind("x") == "number"
    np.testing.assert_array_equal(whole_column(table, "x", RANGE), [2.5, np.nan])


WHEN = datetime.datetime(2020, 1, 2)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["1"], dtype="string"),
        pa.array(["1"]),
        pd.Series([WHEN]),
        pl.Series([WHEN]),
        pa.array([WHEN]),
        pd.Series([datetime.timedelta(1)]),
        pd.Series([1 + 2j]),
        pd.Series([1, 2], dtype="category"),
        pl.Series(["1"], dtype=pl.Categorical),
        pl.Series([[1], [2]]),
    ],
    ids=[
        *("string arrow-string when when-polars when-arrow delta complex category".split()),
        "cat",
        "lists",
    ],
)
def test_dtypes_without_numbers_are_refused_up_front(column):
    table = Table.from_data({"x": column})
    with pytest.raises(ArgumentError, match="'x' is declared numeric.*convert it to numbers") as e:
        table.batches({"x": RANGE})
    assert "junk" not in str(e.value) and "2020" not in str(e.value)


JUNK = ["7", " 2.5 ", "junk", "", None, "1e400", "9" * 400, "0x10"]


@pytest.mark.parametrize("column", [JUNK, pd.Series(JUNK, dtype=object), np.array(JUNK, object)])
def test_cells_without_a_type_are_read_where_they_are_numbers(column):
    expected = [7, 2.5, *[np.nan] * 3, np.inf, np.inf, np.nan]
    values = whole_column(Table.from_data({"x": column}), "x", RANGE)
    np.testing.assert_array_equal(values, expected)


@pytest.mark.parametrize("labels", [("a", "b"), (1, 2)])
@pytest.mark.parametrize("frame", [pa.table, pl.DataFrame])
def test_a_column_whose_type_is_that_of_no_value_is_missing_under_any_levels(frame, labels):
    table = Table.from_data(frame({"none": [None, None]}))
    assert table.codes("none", labels).tolist() == [-1, -1]


def test_any_object_may_be_declared_categorical():
    junk = pd.Series(
        [True, "red", [1], {}, None, np.nan, WHEN, 10**400, 1.0, object()], dtype=object
    )
    codes = whole_column(Table.from_data({"x": junk}), "x", Categorical(("red", WHEN, True)))
    assert codes.tolist() == [2, 0, -1, -1, -1, -1, 1, -1, 2, -1]


@pytest.mark.parametrize("column", [pl.Series([[1], [2]]), pa.array([{"a": 1}, {"a": 2}])])
def test_nested_columns_have_no_labels(column):
    codes, labels = Table.from_data({"x": column}).labels("x")
    assert (codes.tolist(), labels) == ([-1, -1], ())


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_labels_are_rounded_as_the_numbers_of_a_column_of_few_bits_are(dtype):
    values = np.array([0.1, 0.5, np.inf, np.nan], dtype)
    sources = [values, pa.array(values), pd.Series(values)]
    sources += [pl.Series(values), pd.array(values, "Float32")] * (dtype == "float32")
    for source in sources:
        table = Table.from_data({"x": source})
        assert table.codes("x", (0.5, 0.1, 1e300)).tolist() == [1, 0, -1, -1]


def test_numbers_match_by_value_and_never_text():
    table = Table.from_data({"x": np.array([1.0, 2.0, np.nan]), "s": ["1", "2", None]})
    assert table.codes("x", (2, True)).tolist() == [1, 0, -1]
    assert table.codes("x", ("1", "2")).tolist() == [-1, -1, -1]
    assert table.codes("s", (1, "2")).tolist() == [-1, 1, -1]


COLOUR = [*COLOURS, "green"]
TEXTS = {
    "polars": lambda values: pl.Series(values, dtype=pl.String),
    "polars categorical": lambda values: pl.Series(values, dtype=pl.Categorical),
    "polars enum": lambda values: pl.Series(values, dtype=pl.Enum(COLOUR)),
    "arrow": lambda values: pa.array(values, pa.string()),
    "arrow large": lambda values: pa.array(values, pa.large_string()),
    "arrow view": lambda values: pa.array(values, pa.string_view()),
    "arrow dictionary": lambda values: pa.array(values, pa.string()).dictionary_encode(),
}


@pytest.mark.parametrize("make", TEXTS.values(), ids=TEXTS)
@settings(max_examples=20, deadline=None, derandomize=True)
@given(
    st.lists(st.sampled_from([*COLOUR, None]), max_size=20),
    st.permutations(["red", 1, "green", "no such", 2, "\ud800"]).map(lambda mixed: mixed[:5]),
)
def test_text_is_looked_up_alike_wherever_it_lies(make, values, labels):
    found = Table.from_data({"x": make(values)}).codes("x", labels)
    assert found.tolist() == [labels.index(v) if v in labels else -1 for v in values]


def test_a_dictionary_of_numbers_keeps_them():
    numbers = pa.array([20, 10, None]).dictionary_encode()
    table = Table.from_data(pa.table({"x": numbers}))
    assert table.levels("x") == (20, 10)
    assert table.codes("x", (10, 20)).tolist() == [1, 0, -1]


def test_polars_categorical_declares_no_levels():
    table = Table.from_data({"x": pl.Series(["b", "a"], dtype=pl.Categorical)})
    assert table.kind("x") == "category"
    assert table.levels("x") is None
    assert table.labels("x")[1] == ("a", "b")


def test_kind_never_reads_an_object_column():
    frame = pd.DataFrame({"x": pd.Series(["a", "b"], dtype=object)})
    other = pd.DataFrame({"x": pd.Series([1, WHEN], dtype=object)})
    assert Table.from_data(frame).kind("x") == Table.from_data(other).kind("x") == "object"


def test_categories_of_several_types_have_an_order():
    column = pd.Series(pd.Categorical(["b", 2, "a", 1.5]))
    assert Table.from_data({"x": column}).labels("x")[1] == (1.5, 2, "a", "b")


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame([[1, 2]], columns=["x", "x"]),
        pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"]),
        pd.DataFrame([[1, 2]], columns=[1, "1"]),
        {1: [1], "1": [2]},
    ],
    ids=["pandas", "arrow", "as-text", "mapping"],
)
def test_a_name_used_twice_is_refused(data):
    with pytest.raises(ArgumentError, match="used more than once: [x1]; rename them"):
        Table.from_data(data)


def test_names_become_strings():
    frame = pd.DataFrame([[1, 2]], columns=[0, ("a", "b")])
    assert Table.from_data(frame).columns == ("0", "('a', 'b')")


@pytest.mark.parametrize(
    "data", [3, None, "people.csv", [[1, 2]], np.ones((2, 2)), pd.Series([1]), pl.Series([1])]
)
def test_other_types_are_named_and_refused(data):
    with pytest.raises(ArgumentError, match=f"{type(data).__name__}; expected a data frame"):
        Table.from_data(data)


def test_columns_of_a_mapping_are_checked():
    with pytest.raises(ArgumentError, match="x, y are not of equal length"):
        Table.from_data({"x": [1, 2], "y": [1]})
    for bad in (5, "abc", np.ones((2, 2)), None, pa.scalar(1)):
        with pytest.raises(ArgumentError, match="column 'x' is an? .*expected an array"):
            Table.from_data({"x": bad})


def test_nothing_shows_a_value():
    table = Table.from_data({"x": [0.123456789], "g": pd.Categorical(["secret"])})
    assert repr(table) == "Table(x: object, g: category)"
    with pytest.raises(ArgumentError) as e:
        table.batches({"g": RANGE})
    assert "secret" not in str(e.value)


def test_bad_arguments():
    table = Table.from_data({"x": [1]})
    with pytest.raises(ArgumentError, match="size >= 1"):
        table.batches({"x": RANGE}, size=0)
    with pytest.raises(ArgumentError, match="no label of 'x' twice"):
        table.codes("x", [1, 1.0])
    with pytest.raises(ArgumentError, match="numbers, strings or bools"):
        table.codes("x", [[1]])


def test_the_name_of_a_type_has_no_categories():
    frame = Table.from_data({"x": pl.Series(["secret"], dtype=pl.Enum(["secret"]))})
    with pytest.raises(ArgumentError, match="its dtype is Enum") as e:
        frame.batches({"x": RANGE})
    assert "secret" not in str(e.value)


TYPES = {
    "number": (["1.5", 2, True, "n/a", [1]], [1.5, 2, 1, np.nan, np.nan]),
    "integer": (["007", 2.0, 2.5, 2**70, "x"], [7, 2, np.nan, np.nan, np.nan]),
    "boolean": (["TRUE", 0, False, "yes", 2], [1, 0, 0, np.nan, np.nan]),
}


@pytest.mark.parametrize("kind", TYPES)
def test_declared_types_convert_each_cell(kind):
    cells, expected = TYPES[kind]
    table = Table.from_data({"x": cells}).typed({"x": kind})
    assert table.kind("x") == kind
    np.testing.assert_array_equal(whole_column(table, "x", RANGE), expected)


DAY = datetime.date(2020, 1, 2)
DAYS = {
    "list": ["2020-01-02", None, DAY, WHEN],
    "datetime64[D]": np.array(["2020-01-02", "NaT", "2020-01-02", "20000-01-01"], "M8[D]"),
    "arrow": pa.array([DAY, None, DAY, datetime.date(1960, 1, 1)]),
    "arrow date64": pa.array([DAY, None, DAY, datetime.date(1960, 1, 1)], pa.date64()),
    "pandas-arrow": pd.Series([DAY, None, DAY, datetime.date(9999, 1, 1)]).astype(
        pd.ArrowDtype(pa.date32())
    ),
    "polars": pl.Series([DAY, None, DAY, datetime.date(1960, 1, 1)]),
}


@pytest.mark.parametrize("column", DAYS.values(), ids=DAYS)
def test_dates_match_dates(column):
    table = Table.from_data({"d": column})
    table = table.typed({"d": "date"}) if table.kind("d") == "object" else table
    assert table.kind("d") == "date"
    assert table.codes("d", [datetime.date(2021, 1, 1), DAY]).tolist() == [1, -1, 1, -1]
    assert DAY in table.labels("d")[1]


NAIVE = [pd.Timestamp(WHEN), None, pd.Timestamp("2020-01-02 03:04:05.678901")]
TIMES = {
    **{f"pandas {u}": pd.Series(NAIVE).astype(f"M8[{u}]") for u in ("s", "ms", "us", "ns")},
    **{f"arrow {u}": pa.array(NAIVE).cast(pa.timestamp(u), safe=False) for u in ("s", "ns")},
    "polars": pl.Series(NAIVE),
}


@pytest.mark.parametrize("column", TIMES.values(), ids=TIMES)
def test_times_match_times_of_any_unit(column):
    table = Table.from_data({"t": column})
    assert table.kind("t") == "datetime"
    table.check_labels("t", [WHEN], "levels")
    assert table.codes("t", [WHEN])[:2].tolist() == [0, -1]
    assert table.labels("t")[1][0] == pd.Timestamp(WHEN)
    with pytest.raises(ArgumentError, match="levels lists .* for 't', a column of type datetime"):
        table.check_labels("t", [pd.Timestamp(WHEN, tz="UTC")], "levels")


def test_times_with_a_zone_are_instants():
    zoned = pd.Series([pd.Timestamp("2020-01-01 12:00", tz="Europe/Berlin"), None])
    for column in (zoned, pa.array(zoned), pl.Series(zoned)):
        table = Table.from_data({"t": column})
        assert table.codes("t", [pd.Timestamp("2020-01-01 11:00", tz="UTC")]).tolist() == [0, -1]
        assert table.labels("t")[1] == (zoned[0],)


WRONG = [
    (np.array([8, 12]), ["8"]),
    (pd.Series(["a"], dtype="string"), [1]),
    (pl.Series(["a"]), [1, 2]),
    (pa.array([DAY]), [WHEN]),
    (np.array([True]), ["yes"]),
    (np.array([True]), [2]),
    (np.array([8, 12]), [8, 8.5]),
    (pd.Categorical(["a"]), [1]),
    (pl.Series(["a"], dtype=pl.Enum(["a"])), [True]),
    (pd.Categorical([1]), ["1"]),
    (pd.Categorical(["a"]), ["A", "b"]),
    ([1, 2], [float("nan")]),
    ([1, 2], [[1]]),
    (["a"], ["\ud800"]),
    (pd.Series([datetime.timedelta(1)]), [1]),
]


@pytest.mark.parametrize(("column", "labels"), WRONG)
def test_labels_of_another_type_are_refused(column, labels):
    with pytest.raises(ArgumentError, match="levels lists|has no labels"):
        Table.from_data({"x": column}).check_labels("x", labels, "levels")


class Colour:
    """A value that no cell can be looked up by."""


def test_categories_are_labels_of_any_plain_type():
    cut = pd.cut(np.array([0.5, 1.5, 2.5]), [0, 1, 2, 3])
    table = Table.from_data({"c": cut, "o": pd.Categorical([Colour()] * 3)})
    table.check_labels("c", table.levels("c"), "the column type")
    assert table.codes("c", table.levels("c")[1:]).tolist() == [-1, 0, 1]
    with pytest.raises(ArgumentError, match="the column type lists .*Colour"):
        table.check_labels("o", table.levels("o"), "the column type")


def test_types_are_for_columns_without_one():
    table = Table.from_data({"x": [1], "n": np.array([1])})
    assert repr(table.typed({"x": "string", "n": "number"})) == "Table(x: string, n: integer)"
    for wrong, match in (
        ({"n": "string"}, "types declares 'n' string and its type is int64"),
        ({"x": "whole"}, r"expected types\['x'\] to be one of number, integer"),
        ({"w": "number"}, "no column 'w'"),
    ):
        with pytest.raises(ArgumentError, match=match):
            table.typed(wrong)


def test_labels_are_checked_against_a_type_that_is_asked_once(monkeypatch):
    """Each label listed all categories, so that groups by a Categorical took a time of squares."""
    asked = []
    levels = CategoricalColumn.levels.fget
    monkeypatch.setattr(
        CategoricalColumn, "levels", property(lambda own: asked.append(1) or levels(own))
    )
    names = [f"tract {i}" for i in range(500)]
    table = Table.from_data({"g": pd.Categorical(["tract 7"], categories=names)})
    table.check_labels("g", names, "groups")
    assert len(asked) <= 1
    with pytest.raises(ArgumentError, match="groups lists nan for 'g'"):
        table.check_labels("g", [*names, float("nan")], "groups")


@pytest.mark.parametrize("cells", [[2.0, 2.0], [2.0, np.nan]], ids=["full", "with a gap"])
def test_a_sparse_column_is_of_one_kind_whether_it_has_gaps(cells):
    """pandas makes integers of one without gaps and numbers of one with."""
    values = pd.arrays.SparseArray(cells, dtype=pd.SparseDtype("int64", np.nan))
    assert Table.from_data({"x": values}).kind("x") == "number"
