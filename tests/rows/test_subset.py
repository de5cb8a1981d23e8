"""subset=: the rows of a fit, what is missing, which columns need what, and the report."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import dpstats as dp
from dpstats.call.arguments import make_request
from dpstats.call.facts import request_facts
from dpstats.formula import Condition
from dpstats.rows import RowsInUse, Subset
from dpstats.schema import Numeric

BOUNDS = {"x": (0, 1), "y": (0, 1)}


def people(n=4000, seed=2):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.uniform(0, 1, n), "age": rng.integers(15, 90, n)})
    frame["region"] = rng.choice(["north", "south", "west"], n)
    frame["kind"] = pd.Categorical(rng.choice(["u", "v"], n))
    frame["member"] = rng.random(n) < 0.5
    slope = 0.2 + 0.3 * (frame["age"] > 40) + 0.1 * (frame["region"] == "west")
    return frame.assign(y=0.1 + slope * frame["x"] + 0.01 * rng.normal(size=n))


def fit(data, subset, method="adassp", epsilon=1e8, **more):
    with dp.testing.insecure_seed(1):
        return dp.dp_ols("y ~ x", data, method=method, epsilon=epsilon, subset=subset,
                         **{"bounds": BOUNDS} | more)  # fmt: skip


SUBSETS = ["age > 40", "region == 'west'", "kind != 'u' & x > 0.25", "member | age < 30"]


@pytest.mark.parametrize("method", ["adassp", "exp_theil_sen", "shrunken", "noisy_newton", "tukey"])
@pytest.mark.parametrize("subset", SUBSETS)
def test_a_fit_is_that_of_the_rows_chosen_before(subset, method):
    data, more = people(), {"tukey": {"bounds": None}}.get(method, {})
    chosen = data.query(subset).reset_index(drop=True)
    result = fit(data, subset, method, 50, **more)
    pd.testing.assert_series_equal(result.params, fit(chosen, None, method, 50, **more).params)
    assert any(f"rows are used where {subset}" in text for text in result.privacy.assumptions)
    assert f"rows are used where {subset}" in " ".join(str(result.summary()).split())


def test_a_number_is_compared_before_it_is_clipped():
    data = people().assign(x=lambda d: d["x"] * 2)
    chosen = data[data["x"] > 1.5]
    pd.testing.assert_series_equal(fit(data, "x > 1.5").params, fit(chosen, None).params)


@pytest.mark.parametrize("kind", ["float32", "float32[pyarrow]", "Float32", "float16"])
@pytest.mark.parametrize("subset", ["k == 0.1", "k <= 0.1", "k in [0.3, 0.2]", "2 * k != 0.4"])
def test_a_number_of_fewer_bits_is_compared_as_pandas_does(kind, subset, tmp_path):
    """0.1 is no double there."""
    data = people().assign(k=lambda d: (d["age"] % 3 + 1) / 10)
    chosen, narrow = data.query(subset), data.astype({"k": kind})
    expected = fit(chosen, None).params
    pd.testing.assert_series_equal(fit(narrow, subset).params, expected)
    narrow.to_parquet(tmp_path / "people.parquet")
    pd.testing.assert_series_equal(fit(tmp_path / "people.parquet", subset).params, expected)


@pytest.mark.parametrize("kind", ["float64", "Int64", "object"])
def test_a_row_with_a_missing_value_is_left_out(kind):
    data = people().astype({"age": kind})
    missing = data["age"].mask(data.index % 3 == 0)
    types = {"age": "number"} if kind == "object" else None
    for subset in ("age > 40", "~(age > 40)", "age != 40", "member | age > 40"):
        kept = data[data.index % 3 != 0].astype({"age": "int64"}).query(subset)
        result = fit(data.assign(age=missing), subset, types=types)
        pd.testing.assert_series_equal(result.params, fit(kept, None).params)


def test_a_text_without_declared_values_is_equal_to_what_it_is_compared_with_or_not():
    data = people()
    for subset in ("region == 'west'", "region in ['west', 'north'] & age > 30"):
        chosen = data.query(subset)
        result = fit(data.assign(region=data["region"].mask(data.index % 5 == 0)), subset)
        kept = chosen[chosen.index % 5 != 0]
        pd.testing.assert_series_equal(result.params, fit(kept, None).params)
    with pytest.raises(dp.ArgumentError, match=r'levels=\{"region": \[...\]\}'):
        fit(data, "region != 'west'")
    declared = {"region": ["north", "south", "west"]}
    result = fit(data, "region != 'west'", levels=declared)
    pd.testing.assert_series_equal(result.params, fit(data[data.region != "west"], None).params)


@pytest.mark.parametrize("kind", ["polars", "arrow"])
def test_labels_whose_type_lists_none_are_compared_as_texts_are(kind, tmp_path):
    """polars' Categorical and a file's dictionary tell no levels before rows are read."""
    data = people()
    if kind == "polars":
        table = pl.from_pandas(data).with_columns(pl.col("region").cast(pl.Categorical))
    else:
        table = tmp_path / "people.parquet"
        data.astype({"region": "category"}).to_parquet(table)
    for subset in ("region == 'west'", "region in ['west', 'north'] & age > 30"):
        expected = fit(data.query(subset), None).params
        pd.testing.assert_series_equal(fit(table, subset).params, expected)
    with pytest.raises(dp.ArgumentError, match=r'levels=\{"region": \[...\]\}'):
        fit(table, "region != 'west'")


def test_labels_of_an_enum_are_those_that_its_type_declares():
    data, connection = people(), duckdb.connect()
    connection.register("people", data.astype({"region": "string"}))
    connection.sql("CREATE TYPE place AS ENUM ('north', 'south', 'west')")
    table = connection.sql("SELECT * EXCLUDE region, region::place AS region FROM people")
    for subset in ("region == 'west'", "region != 'west'"):
        expected = fit(data.query(subset), None).params
        pd.testing.assert_series_equal(fit(table, subset).params, expected)


def test_selection_groups_ranges_and_weights_see_the_subset_alone():
    data = people()
    data.loc[data["age"] <= 40, ["x", "y"]] = 1e6
    data["g"], data["w"] = np.where(data["member"], "a", "b"), 1.0
    chosen = data[data["age"] > 40]
    calls = [
        {"bounds": None},
        {"by": "g", "groups": ["a", "b"]},
        {"weights": "w", "bounds": {**BOUNDS, "w": (0, 2)}},
    ]
    for more in calls:
        one, two = fit(data, "age > 40", **more), fit(chosen, None, **more)
        assert one.params.equals(two.params)
    with dp.testing.insecure_seed(1):
        call = {"method": "adassp", "epsilon": 50, "bounds": {**BOUNDS, "w": (0, 2)}, "k": 1}
        one = dp.dp_ols("y ~ x + w", data, select="lasso", subset="age > 40", **call)
        two = dp.dp_ols("y ~ x + w", chosen, select="lasso", **call) if one.selected else None
    assert two is not None and one.selected == two.selected


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_give_what_frames_give(ending, tmp_path):
    data, path = people(500), tmp_path / f"rows.{ending}"
    data.to_csv(path, index=False) if ending == "csv" else data.to_parquet(path)
    types = {"age": "integer"} if ending == "csv" else None
    result = fit(str(path), "age > 40 & region == 'west'", types=types)
    expected = fit(data, "age > 40 & region == 'west'").params
    pd.testing.assert_series_equal(result.params, expected)


REFUSED = {
    "number as truth": ("age", "takes age, a column of numbers, for a text or a truth value"),
    "no column": ("nope > 3", "no column 'nope'"),
    "no type": ("text > 3", r'give types=\{"text": "number"\}'),
    "a time": ("when > 3", "compares when, a column of type datetime"),
    "no level": ("kind == 'w'", "has no level 'w'"),
    "another type": ("age == '3'", "takes age, a column of numbers"),
    "not a text": (3, "expected subset to be a condition"),
    "a mask": (np.ones(9, dtype=bool), "or the name of a column that is true or false, got a nd"),
    "number of the formula": ("x", "takes x, a column of numbers, .* as in x > 0"),
    "number beside a truth value": ("member & x", "takes x, a column of numbers"),
    "name with blanks": ("`my age`", "takes my age, a column of numbers, .* as in `my age` > 0"),
    "blanks alone": ("my age", "and `my age` for a name with blanks"),
    "levels as truth": ("kind", "takes kind, a column of labels, for a truth value; .* == 'u'"),
    "text as truth": ("region", "takes region, a column of labels, for a truth value; .* == 'a'"),
    "text as untruth": ("not region", "takes region, a column of labels, for a truth value"),
    "time as truth": ("when", "compares when, a column of type datetime; make a column that is"),
    "untyped as truth": ("text", r'nothing declares what text is.*types=\{"text": "boolean"\}'),
    "one sign of equality": ("age = 3", "write == to compare, as in 'female == 1'"),
    "nothing": ("age == None", "None is equal to nothing, .*leave the comparison with None out"),
    "no number": ("age > 1j", "1j is not row by row"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_a_subset_is_refused_in_one_sentence(case):
    subset, message = REFUSED[case]
    data = people(9).assign(text=["3"] * 9, when=pd.Timestamp("2020-01-01"))
    data["my age"] = data["age"]
    data["text"] = data["text"].astype(object)
    with pytest.raises(dp.ArgumentError, match=message):
        fit(data, subset, epsilon=1)


@pytest.mark.parametrize(
    "formula, subset, message",
    [
        ("y ~ x + kind", "kind == 'v'", "in which kind is 'u', so kind has no effect .*leave it"),
        ("y ~ x*member", "age > 30 & ~member", "in which member is True, so member has no effect"),
        ("y ~ three", "three != 'a'", r'condition write levels=\{"three": \[\'b\', \'c\'\]'),
        (
            "y ~ C(three, Sum) + x",
            "three in ['a', 'b']",
            "three is 'c', so its coefficient",
        ),
        (dp.RFormula("y ~ x:three"), dp.RFormula("three == 'a' | three == 'b'"), "three is 'c'"),
    ],
)
def test_a_level_of_which_a_subset_leaves_no_row_is_refused_before_it_costs(
    formula, subset, message
):
    """The fit of lm has no column for it; here its coefficient, or that of all, would be noise."""
    data, budget = people(90), dp.Budget(epsilon=1)
    data["three"] = pd.Categorical(list("abc") * 30)
    with pytest.raises(dp.ArgumentError, match=message):
        dp.dp_ols(formula, data, epsilon=1, subset=subset, budget=budget)
    assert budget.spent == (0, 0)
    only = dp.dp_ols("y ~ three", data, epsilon=1, levels={"three": ["b", "c"]}, budget=budget)
    assert list(only.params.index) == ["Intercept", "three[T.c]"]


@pytest.mark.parametrize(
    "formula, subset",
    [
        ("y ~ x", "kind == 'v'"),
        ("y ~ x + kind", "kind == 'v' | age > 30"),
        ("y ~ x + I(three == 'b')", "three != 'a'"),
        ("y ~ kind + x", "(kind == 'v') == (x > 0.5)"),
    ],
)
def test_a_subset_that_leaves_a_row_of_each_level_is_not(formula, subset):
    data = people(90)
    data["three"] = pd.Categorical(list("abc") * 30)
    with dp.testing.insecure_seed(1):
        found = dp.dp_ols(formula, data, epsilon=1, subset=subset)
    assert any(f"rows are used where {subset}" in text for text in found.privacy.assumptions)


def test_a_ledger_tells_subsets_apart():
    call = {"method": "adassp", "epsilon": 1, "delta": None, "bounds": BOUNDS, "levels": None,
            "x_new": None, "neighbors": None, "missing": "drop", "row_norm": None,
            "options": {}}  # fmt: skip
    facts = [
        request_facts({None: make_request("y ~ x", people(9), **call, subset=text)}, None, None)
        for text in ("age > 40", "age > 41", None, dp.RFormula("age > 40"))
    ]
    assert all(one != two for i, one in enumerate(facts) for two in facts[:i])


def test_a_ledger_tells_apart_texts_that_are_declared_from_those_that_are_listed():
    """Of a listed text, rows of other labels are not in use; of a declared one they are."""
    call = {"method": "adassp", "epsilon": 1, "delta": None, "bounds": BOUNDS, "x_new": None,
            "neighbors": None, "missing": "drop", "row_norm": None, "options": {},
            "subset": "region == 'west' | region == 'north'"}  # fmt: skip
    one, two = (
        request_facts({None: make_request("y ~ x", people(9), **call, levels=levels)}, None, None)
        for levels in (None, {"region": ["west", "north"]})
    )
    assert one != two


def test_rows_in_use_are_complete_chosen_and_of_a_listed_text():
    condition = Condition.parse("g == 'a' & z > 0")
    subset = Subset(condition, {"g": _listed("a"), "z": Numeric(-1, 1)}, frozenset("g"))
    rows = RowsInUse({"y": Numeric(0, 1)}, None, subset)
    batch = {
        "y": np.array([0.5, np.nan, 0.5, 0.5, 0.5]),
        "g": np.array([0, 0, -1, 0, 0]),
        "z": np.array([1.0, 1.0, 1.0, np.nan, -1.0]),
    }
    assert rows.mask(batch).tolist() == [True, False, False, False, False]
    assert list(rows.columns) == ["g", "z", "y"] and list(subset.needed) == ["z"]


def _listed(*texts):
    from dpstats.schema import Categorical

    return Categorical(texts)


def test_a_dot_in_a_formula_of_python_is_answered_with_the_columns():
    data = people(9).rename(columns={"member": "is member"})
    with pytest.raises(dp.ArgumentError) as refused:
        dp.dp_ols("np.log(y) ~ .", data, by="kind", epsilon=1)
    assert str(refused.value).endswith("write np.log(y) ~ x + age + region + Q('is member')")
    wide = {f"x{i}": [1.0] for i in range(30)} | {"y": [0.5]}
    with pytest.raises(dp.ArgumentError, match=r"x11 \+ \.\.\.$"):
        dp.dp_ols("y ~ . - x1", wide, epsilon=1)
    for formula in ("y ~ I(.5 * x)", "y ~ I(2. * x)", "y ~ np.log(x + 1.)"):
        assert dp.dp_ols(formula, data, method="adassp", epsilon=1, bounds=BOUNDS).status
    in_r = dp.dp_ols(
        dp.RFormula("y ~ ."), data[["y", "x"]], method="adassp", epsilon=1, bounds=BOUNDS
    )
    assert list(in_r.params.index) == ["(Intercept)", "x"]
