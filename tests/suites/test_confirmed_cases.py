"""Calls that once told neighbouring tables apart, or spent a budget on noise, by their way in.

Each test is one confirmed case, by the public interface alone.
"""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpstats as dp
from dpstats.r.serialize import describe

N = 40
X = np.linspace(0.05, 0.95, N)
FRAME = pd.DataFrame({"x": X, "y": 0.2 + X / 2})
UNIT = {"x": (0, 1), "y": (0, 1)}
DAY = datetime.date(2020, 1, 2)


def release(data, formula="y ~ x", **more):
    """A release under frozen noise."""
    call = {"method": "adassp", "epsilon": 8, "bounds": UNIT, "progress": False, **more}
    with dp.testing.insecure_seed(1):
        return dp.dp_ols(formula, data, **call)


def with_cell(cells, cell):
    """The same cells, the last one exchanged."""
    return [*cells[:-1], cell]


def stata(path, codes, **labels):
    """A .dta file whose whole numbers of one byte are these codes; 101 is a missing value."""
    frame = FRAME.assign(code=np.ones(N, np.int8))[["code", "x", "y"]]
    frame.to_stata(path, write_index=False, value_labels=labels, version=118)
    content = bytearray(path.read_bytes())
    start = content.index(b"<data>") + 6
    for i, code in enumerate(codes):
        content[start + 17 * i] = code
    path.write_bytes(content)
    return path


CODES = [1, 2] * (N // 2)


@pytest.mark.parametrize("code", [9, 101], ids=["unlabelled", "missing"])
def test_one_code_of_a_stata_file_changes_no_other_row(tmp_path, code):
    """Case 1: .isin(codebook).all() made numbers of the whole column."""
    labels = {"code": {1: "male", 2: "female"}}
    files = [stata(tmp_path / f"{i}.dta", codes, **labels)
             for i, codes in enumerate((CODES, with_cell(CODES, code)))]  # fmt: skip
    names = [list(release(file, "y ~ x + C(code)").params.index) for file in files]
    assert names[0] == names[1] == ["Intercept", "C(code)[T.female]", "x"]
    called = {"by": "code", "groups": ["male", "female"], "epsilon": 1e6}
    groups = [release(file, **called) for file in files]
    assert groups[0].params.loc["male"].equals(groups[1].params.loc["male"])


def test_one_missing_value_in_a_stata_file_is_no_error(tmp_path):
    """Case 1: integers with a missing value became real numbers, which by= refuses."""
    for codes in (CODES, with_cell(CODES, 101)):
        file = stata(tmp_path / "a.dta", codes)
        assert release(file, by="code").labels == (1, 2)


@pytest.mark.parametrize("kind", ["date32", "timestamp"])
def test_an_arrow_date_beyond_the_year_9999_is_missing(kind):
    """Case 2: OverflowError outside the try."""
    far = pa.array([18263] * (N - 1) + [2_933_000], pa.int32()).cast(pa.date32())
    column = far if kind == "date32" else far.cast(pa.timestamp("s"))
    data = FRAME.assign(d=pd.arrays.ArrowExtensionArray(pa.chunked_array([column])))
    level = DAY if kind == "date32" else pd.Timestamp(DAY)
    other = level + datetime.timedelta(1)
    assert len(release(data, by="d", groups=[level, other])) == 2
    assert len(release(data, "y ~ x + C(d)", levels={"d": [level, other]}).params) == 3


class Unhashable:
    """A value whose hash raises."""

    def __hash__(self):
        raise RuntimeError("asked")

    def __str__(self):
        return "unhashable"


@pytest.mark.parametrize(
    "cell", [["a"], Unhashable(), np.int8(1), Decimal("sNaN"), "\udfff"], ids=str
)
@pytest.mark.parametrize("wrap", [list, lambda cells: pd.Series(cells, dtype=object)])
def test_no_object_stops_a_call(cell, wrap):
    """Case 3: a list beside a surrogate, a hash that raises, np.int8 beside Decimal levels."""
    cells = with_cell(["\ud800", "u", Decimal(1), "v"] * (N // 4), cell)
    data = {"x": X, "y": FRAME["y"], "c": wrap(cells)}
    levels = {"c": ["u", "v", Decimal(1)]}
    assert len(release(data, "y ~ x + C(c)", levels=levels).params) == 4


def test_a_date_beside_a_datetime64_keeps_its_code():
    """Case 3: both were coded by one representative, which another row could choose."""
    expected = None
    for cell in ("u", np.datetime64("2020-01-02"), pd.Timestamp("2020-01-02")):
        cells = [cell, *[DAY] * (N - 1)]
        data = {"x": X, "y": FRAME["y"], "c": pd.Series(cells, dtype=object)}
        result = release(data, by="c", groups=[DAY, "u"], epsilon=1e6)
        found = result.params.loc[[DAY]].round(1).to_numpy().tolist()
        assert expected in (None, found)
        expected = found


def test_an_object_array_shows_no_character():
    """Case 4: a raw UnicodeEncodeError quoted a character of the value."""
    cells = np.array(with_cell(["u", "v"] * (N // 2), "\ud83d"), dtype=object)
    data = {"x": X, "y": FRAME["y"].to_numpy(), "c": cells}
    assert len(release(data, "y ~ x + C(c)", levels={"c": ["u", "v"]}).params) == 3


@pytest.mark.parametrize("odd", [2**70, 0.5, "n/a", [1]], ids=str)
@pytest.mark.parametrize("column", ["x", "y"])
def test_one_cell_of_a_list_changes_no_type(column, odd):
    """Case 5: lists were typed from all their values, and an odd one was an ArgumentError."""
    plain = {"x": [0, 1] * (N // 2), "y": [1, 0] * (N // 2)}
    expected = release(plain)
    result = release(plain | {column: with_cell(plain[column], odd)})
    assert result.privacy == expected.privacy and set(result.to_dict()) == set(expected.to_dict())


def test_one_cell_of_a_list_of_groups_changes_no_type():
    """Case 5: 1.5 among whole numbers was refused as a label that is no whole number."""
    data = {"x": X, "y": FRAME["y"].to_numpy(), "g": [3] * N}
    for cells in (data["g"], with_cell(data["g"], 1.5), with_cell(data["g"], 2**70)):
        result = release(data | {"g": cells}, by="g", types={"g": "integer"})
        assert result.labels == (3,)


def test_rows_in_use_are_public_under_replace_one_in_one_sentence():
    """Case 6: the number of rows showed an undeclared level, and the report did not say so."""
    data = FRAME.assign(c=with_cell(["u", "v"] * (N // 2), "undeclared"))
    call = {"levels": {"c": ["u", "v"]}, "neighbors": "replace_one", "method": "ssp"}
    result = release(data, "y ~ x + C(c)", **call)
    said = " ".join(result.privacy.assumptions)
    assert result.nobs == N - 1
    assert "rows with a missing value or with a value outside the declared levels" in said


@pytest.mark.parametrize("last", ["3", "x", "2.5"])
def test_no_cell_of_a_text_file_decides_a_type(tmp_path, last):
    """Case 9: types came from the values in the first megabyte."""
    path = tmp_path / "a.csv"
    FRAME.assign(g=with_cell(["3"] * N, last)).to_csv(path, index=False)
    for label in ("3", 3):
        result = release(path, by="g", groups=[label, type(label)(4)], epsilon=1e6)
        np.testing.assert_allclose(result.params.loc[label, "x"], 0.5, atol=0.01)


def test_what_counts_as_public_by_its_type_is_said():
    """Case 9: categories of a type, and the labels that are present."""
    data = FRAME.assign(c=pd.Categorical(["u", "v"] * (N // 2)), g=["a", "b"] * (N // 2))
    noted = "taken from the column type"
    assert noted in " ".join(release(data, "y ~ x + c").privacy.assumptions)
    declared = release(data, "y ~ x + c", levels={"c": ["u", "v"]})
    assert noted not in " ".join(declared.privacy.assumptions)
    for groups in (None, "present"):
        status = release(data, by="g", groups=groups).summary().split("\n")[3]
        assert "the labels present in the data are public" in status
    assert "labels present" not in release(data, by="g", groups=["a", "b"]).summary()


DATES = {
    "arrow": lambda days: pa.table({"x": X, "y": FRAME["y"], "d": pa.array(days)}),
    "polars": lambda days: pl.DataFrame({"x": X, "y": FRAME["y"].to_numpy(), "d": days}),
    "pandas": lambda days: FRAME.assign(d=pd.Series(days, dtype=pd.ArrowDtype(pa.date32()))),
}


@pytest.mark.parametrize("make", DATES.values(), ids=DATES)
def test_dates_of_a_library_match_dates(make):
    """Case 10: no row matched, and pure noise was released."""
    result = release(make([DAY] * N), by="d", groups=[DAY], epsilon=1e6)
    np.testing.assert_allclose(result.params.loc[DAY, "x"], 0.5, atol=0.01)


@pytest.mark.parametrize(
    "more",
    [
        {"formula": "y ~ x + C(k)", "levels": {"k": ["8", "12"]}},
        {"by": "k", "groups": ["8", "12"]},
        {"by": "t", "groups": [1, 2]},
        {"by": ["k", "t"], "groups": [(8, 1)]},
        {"formula": "y ~ x + t", "levels": {"t": [1, 2]}},
    ],
    ids=str,
)
def test_levels_and_groups_of_another_type_are_refused(more):
    """Case 11: every row was dropped, and the budget was spent on noise."""
    data = FRAME.assign(k=[8, 12] * (N // 2), t=["01", "02"] * (N // 2))
    budget = dp.Budget(100, 1e-3)
    with pytest.raises(dp.ArgumentError, match="a column of type (integer|string)"):
        release(data, budget=budget, **more)
    assert budget.spent == (0, 0)


def test_a_level_that_the_noise_hides_is_named():
    """Case 11: a typo in a level drops its rows, which no message may tell; the noise is told."""
    data = FRAME.assign(c=pd.Series(["u", "v"] * (N // 2)))
    call = {"levels": {"c": ["u", "v", "tpyo"]}, "epsilon": 1e4}
    said = " ".join(str(release(data, "y ~ x + c", **call).summary()).split())
    assert "the noise hides the effects of c[T.tpyo], whose intervals are wider" in said
    declared = call | {"levels": {"c": ["u", "v"]}}
    assert "hides the effects" not in str(release(data, "y ~ x + c", **declared).summary())
    told = describe(release(data, dp.RFormula("y ~ x + c"), **call))["notes"]
    assert any("the noise hides the effects of ctpyo, whose intervals" in note for note in told)


WORDS = pd.Series([f"w{i}" for i in range(N)], dtype=object)
UNDECLARED = {
    "an object column": lambda path: FRAME.assign(w=WORDS),
    "a list": lambda path: {"x": X, "w": list(WORDS)},
    "a text file": lambda path: written(FRAME.assign(w=WORDS), path / "words.csv"),
}


def written(frame, path):
    """The path of a text file with these rows."""
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("formula", ["w ~ x", "w ~ 1", "np.log(w) ~ x"])
@pytest.mark.parametrize("make", UNDECLARED.values(), ids=UNDECLARED)
def test_a_response_of_words_is_refused_before_it_is_paid_for(make, formula, tmp_path):
    """Case 13: all words counted as missing numbers, and the budget was spent on noise."""
    budget, data = dp.Budget(100, 1e-3), make(tmp_path)
    with pytest.raises(dp.ArgumentError, match='what w is.* types={"w": "number"}.*a response'):
        release(data, formula, bounds={"x": (0, 1)}, method="auto", budget=budget)
    assert budget.spent == (0, 0)
    numbers = pd.Series(list(FRAME["y"]), dtype=object)
    declared = release(FRAME.assign(w=numbers), "w ~ x", types={"w": "number"}, bounds=None,
                       method="shrunken")  # fmt: skip
    assert declared.schema["w"].low < declared.schema["w"].high


def test_rows_without_a_declared_level_are_named_whether_there_are_any():
    """Case 18: a level missing from levels= dropped a third of the rows, and nothing said so."""
    data = FRAME.assign(c=["u", "v", "z", "u"] * (N // 4), k=pd.Categorical(["u", "v"] * (N // 2)))
    reports = []
    for levels in (["u", "v"], ["u", "v", "z"]):
        result = release(data, "y ~ x + c + k", levels={"c": levels})
        said = " ".join(str(result.summary()).split())
        assert "rows with another value of c than the declared levels are left out" in said
        reports.append(result.privacy.assumptions)
    assert reports[0] == reports[1]
    assert "another value of" not in " ".join(release(data, "y ~ x + k").privacy.assumptions)


def test_the_reasons_for_which_rows_are_not_in_use_are_all_named():
    """Case 12: under replace-one the report named missing values and levels, and not subset=."""
    data = FRAME.assign(w=1.0, age=30)
    more = {"neighbors": "replace_one", "bounds": UNIT | {"w": (0, 2)}}
    reasons = {"subset": "outside subset=", "weights": "without a positive, finite weight"}
    both = {"subset": "age > 20", "weights": "w"}
    for given in ({}, {"subset": "age > 20"}, {"weights": "w"}, both):
        for unit in ({}, {"unit": "age", "max_rows": 1}):
            said = " ".join(release(data, **more, **given, **unit).privacy.assumptions)
            assert "rows with a missing value" in said and "are left out" in said
            assert all((reason in said) == (name in given) for name, reason in reasons.items())
