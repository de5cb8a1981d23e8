"""Formulas: rows depend on their own record alone, bounds hold, and errors say what to write."""

import pickle
import warnings

import numpy as np
import pandas as pd
import patsy
import pytest
import statsmodels.formula.api as smf
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.errors import ArgumentError, FormulaError
from dpstats.formula import Formula, RFormula, schema_frame
from dpstats.formula.expressions import LEARNERS, read
from dpstats.formula.expressions.intervals import FUNCTIONS
from dpstats.formula.expressions.reading import CONTRASTS
from dpstats.schema import (
    BOOLEAN,
    INSIDE_FUNCTIONS,
    UNLIMITED,
    Categorical,
    Numeric,
    complete_rows,
)
from tests.checks.design import LEARNT, PLAIN, SCHEMA, as_frame, check_row_local, draw, take

log, sqrt = np.log, np.sqrt  # patsy looks bare names up here


# ---- row-locality


@pytest.mark.parametrize("text", PLAIN + LEARNT)
def test_each_row_depends_on_its_own_record_alone(text):
    design = Formula.parse(text).design(SCHEMA)
    check_row_local(design, draw(67, np.random.default_rng(1)))


@pytest.mark.parametrize("text", PLAIN + LEARNT)
def test_replacing_one_record_changes_no_other_row(text):
    rng = np.random.default_rng(2)
    design, batch = Formula.parse(text).design(SCHEMA), draw(40, rng)
    record = draw(1, rng)
    other = {name: np.r_[values[:7], record[name], values[8:]] for name, values in batch.items()}
    one, two = design.rows(batch), design.rows(other)
    for before, after in ((one.numbers, two.numbers), (one.response, two.response)):
        np.testing.assert_array_equal(np.delete(before, 7, 0), np.delete(after, 7, 0))


@pytest.mark.parametrize(
    ("name", "leak"),
    [
        ("log", lambda x: np.log(x) - np.log(x).mean() + 1),
        ("sqrt", lambda x: np.sort(np.sqrt(x))),
    ],
)
def test_the_locality_check_finds_a_function_that_looks_at_other_rows(monkeypatch, name, leak):
    monkeypatch.setitem(schema_frame.NAMESPACE, name, leak)
    design = Formula.parse(f"y ~ {name}(x)").design(SCHEMA)
    with pytest.raises(AssertionError):
        check_row_local(design, draw(20, np.random.default_rng(3)))


def test_the_locality_formulas_use_everything_that_is_allowed():
    model = [patsy.ModelDesc.from_formula(text) for text in PLAIN + LEARNT]
    codes = " ".join(f.name() for m in model for t in m.rhs_termlist for f in t.factors)
    assert not [name for name in [*FUNCTIONS, *LEARNERS, *CONTRASTS] if name not in codes]


def test_what_is_learnt_comes_from_the_schema_and_not_from_the_rows():
    design = Formula.parse("y ~ 0 + center(x) + standardize(z)").design(SCHEMA)
    X = design.rows({"y": np.zeros(1), "x": np.array([0.5]), "z": np.array([3.0])}).numbers
    np.testing.assert_allclose(X, [[0.5 - 4.25, np.sqrt(3)]], rtol=0.02)


def test_interactions_have_a_column_for_a_combination_that_no_row_shows():
    design = Formula.parse("y ~ g * h").design(SCHEMA)
    batch = {"y": np.zeros(2), "g": np.zeros(2, int), "h": np.zeros(2, int)}
    assert len(design.names) == 9
    assert design.rows(batch).numbers.tolist() == [[1] + [0] * 8] * 2


def test_a_raw_value_out_of_its_range_counts_as_the_end_of_the_range():
    design = Formula.parse("I(y * z) ~ I(x * z) + np.sin(x) + I(x > 100) + g").design(SCHEMA)
    outside = {"y": [-9.0, 99], "x": [np.inf, -7], "z": [0.1, -np.inf], "g": [0, 2]}
    ends = {"y": [-1.0, 5], "x": [8, 0.5], "z": [0.1, -2], "g": [0, 2]}
    ours, theirs = (
        design.rows({n: np.array(v) for n, v in batch.items()}) for batch in (outside, ends)
    )
    np.testing.assert_array_equal(ours.numbers, theirs.numbers)
    np.testing.assert_array_equal(ours.response, theirs.response)


def test_no_combination_of_variables_is_constant_on_the_schemas_grid():
    schema = {name: Numeric(0, 1) for name in ("y", "x1", "x2", "x3")}
    rows = (
        Formula.parse("y ~ 0 + standardize(x1 - x2) + standardize(x2 + x3 - 2 * x1)")
        .design(schema)
        .rows({"y": np.zeros(1), "x1": np.zeros(1), "x2": np.ones(1), "x3": np.ones(1)})
    )
    np.testing.assert_allclose(rows.numbers, [[-np.sqrt(6), np.sqrt(8)]], rtol=0.1)


# ---- other software


@pytest.mark.parametrize("text", PLAIN)
def test_columns_agree_with_patsy_where_values_are_in_range(text):
    batch = draw(200, np.random.default_rng(4), spread=0)
    design = Formula.parse(text).design(SCHEMA)
    rows = design.rows(batch)
    X, y = rows.numbers, rows.response
    y_other, X_other = patsy.dmatrices(text, as_frame(batch))
    assert list(design.names) == X_other.design_info.column_names
    np.testing.assert_allclose(X, np.asarray(X_other), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(y, np.asarray(y_other)[:, 0], rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("text", ["y ~ x * g + np.log(x)", "y ~ b + C(h):z"])
def test_columns_agree_with_statsmodels(text):
    batch = draw(50, np.random.default_rng(5), spread=0)
    design, model = Formula.parse(text).design(SCHEMA), smf.ols(text, as_frame(batch))
    assert list(design.names) == model.exog_names
    np.testing.assert_array_equal(design.rows(batch).numbers, model.exog)


@pytest.mark.parametrize("text", LEARNT[:-1])
def test_learnt_columns_agree_with_patsy_learning_on_the_grid(text):
    """patsy learns the same constants when the schema's own grid is its data."""
    formula = Formula.parse(text)
    design, rows = formula.design(SCHEMA), draw(50, np.random.default_rng(6), spread=0)
    grid = schema_frame.schema_frame(design.schema)
    infos = patsy.dmatrices(text, pd.DataFrame(grid))
    # a sine on the grid does not quite reach the values that rows may take
    inside = take(rows, np.flatnonzero(np.abs(np.sin(rows["x"])) < 0.99))
    other = patsy.build_design_matrices([infos[1].design_info], as_frame(inside))[0]
    assert list(design.names) == other.design_info.column_names
    np.testing.assert_allclose(
        design.rows(inside).numbers, np.asarray(other), rtol=1e-9, atol=1e-12
    )


# what is a variable, a factor or a plain expression, for terms of one to three of them
NUMBERS = [
    "x",
    "z",
    "u",
    "Q('my col')",
    "I(x**2)",
    "np.log(x)",
    "I(x - u)",
    "np.where(z > 0, 1, 2)",
]
FACTORS = ["g", "b", "C(h)", "I(x > 3)"]
TERMS = st.lists(st.sampled_from(NUMBERS + FACTORS), min_size=1, max_size=3, unique=True)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(
    st.sampled_from(["y", "I(y + z)", "np.exp(y)"]),
    st.lists(TERMS.map(":".join), min_size=1, max_size=4, unique=True),
    st.sampled_from(["C(h)", "C(h, Sum)", "C(h, Poly)"]),
    st.sampled_from(["", " - 1"]),
    st.integers(1, 70),
)
def test_columns_are_patsys_to_the_last_bit(response, terms, h, intercept, m):
    """Rows inside the bounds, as patsy itself builds them from the same data."""
    text = f"{response} ~ {' + '.join(terms)}{intercept}".replace("C(h)", h)
    design, batch = Formula.parse(text).design(SCHEMA), draw(m, np.random.default_rng(m), spread=0)
    y_other, X_other = patsy.dmatrices(text, as_frame(batch))
    rows = design.rows(batch)
    X, y = rows.numbers, rows.response
    assert list(design.names) == X_other.design_info.column_names
    np.testing.assert_array_equal(X, X_other)
    np.testing.assert_array_equal(y, np.asarray(y_other)[:, 0])


def test_a_column_that_is_a_variable_keeps_its_own_bounds_beside_a_terms():
    """The variable is clipped to its range first, and its column to the bounds of the term."""
    batch = {"y": np.array([-9.0, 9, 3]), "x": np.array([-9.0, 99, 7])}
    for bounds, x in (((1, 6), [1, 6, 6]), ((-20, 200), [0.5, 8, 7]), ((0.5, 8), [0.5, 8, 7])):
        rows = Formula.parse("y ~ 0 + x").design(SCHEMA, {"x": bounds}).rows(batch)
        X, y = rows.numbers, rows.response
        assert X[:, 0].tolist() == x and y.tolist() == [-1, 5, 3]


# ---- names and shapes


def test_a_truth_value_is_named_as_patsy_names_it():
    assert Formula.parse("y ~ b").design(SCHEMA).names == ("Intercept", "b[T.True]")


@pytest.mark.parametrize(
    ("text", "index"), [("y ~ x", 0), ("y ~ 0 + x", None), ("y ~ x - 1 + g", None), ("y ~ 1", 0)]
)
def test_the_intercept_is_found(text, index):
    assert Formula.parse(text).design(SCHEMA).intercept == index


@pytest.mark.parametrize("text", PLAIN + LEARNT)
@pytest.mark.parametrize("m", [0, 1, 5])
def test_shapes_and_types_do_not_depend_on_the_rows(text, m):
    design = Formula.parse(text).design(SCHEMA)
    rows = design.rows(draw(m, np.random.default_rng(7)))
    X, y = rows.numbers, rows.response
    assert X.shape == (m, len(design.names)) and y.shape == (m,)
    assert X.dtype == y.dtype == np.float64
    assert len(design.names) == len(design.low) == len(design.high)


def test_the_schema_of_a_design_holds_the_variables_in_use():
    design = Formula.parse("np.log(x) ~ z").design(SCHEMA)
    assert list(design.schema) == ["x", "z"]
    batch = {"x": np.array([1.0, np.nan]), "z": np.zeros(2)}
    assert complete_rows(batch, design.schema).tolist() == [True, False]


@pytest.mark.parametrize("kind", [str, RFormula])
def test_a_comparison_as_the_response_is_1_where_it_is_true(kind):
    for text in ("x > 3 ~ y", "I(x > 3) ~ y", "I(x >= 99) ~ y"):
        design = Formula.parse(kind(text)).design({"x": Numeric(0, 9), "y": Numeric(0, 1)})
        assert design.response_bounds == (0, 1) == design.response_ends(["x"])
        assert design.has_two_outcomes
        found = design.responses({"x": np.array([1.0, 5.0]), "y": np.zeros(2)}).tolist()
        assert found == [0, 0 if "99" in text else 1]
    assert (
        not Formula.parse(kind("x ~ y"))
        .design({"x": Numeric(0, 9), "y": Numeric(0, 1)})
        .has_two_outcomes
    )


def test_a_design_survives_pickling():
    design = Formula.parse("y ~ bs(x, df=4) + C(g, Sum)").design(SCHEMA)
    copy, batch = pickle.loads(pickle.dumps(design)), draw(9, np.random.default_rng(8))
    np.testing.assert_array_equal(copy.rows(batch).numbers, design.rows(batch).numbers)
    assert copy.names == design.names


# ---- what a formula says of its variables


def test_a_bare_variable_needs_no_declared_bounds():
    assert Formula.parse("y ~ x * z + Q('my col') + C(g):x + I(h == 1)").declared == frozenset()


def test_a_formula_may_declare_levels():
    formula = Formula.parse("y ~ C(k, levels=[3, 1]) + x:C(k, Sum)")
    assert formula.levels == {"k": (3, 1)}
    design = formula.design({"y": Numeric(0, 1), "x": Numeric(0, 1), "k": Categorical((3, 1))})
    assert design.names[1] == "C(k, levels=[3, 1])[T.1]"
    assert hash(formula) == hash(Formula.parse(formula.text))


# ---- bounds


@pytest.mark.parametrize("text", PLAIN + LEARNT)
def test_unclipped_columns_lie_within_the_bounds(text):
    rng = np.random.default_rng(9)
    design, batch = Formula.parse(text).design(SCHEMA), draw(3000, rng, spread=0)
    X = design.predictors(as_frame(batch))
    slack = 1e-12 * (1 + np.abs(X))
    assert np.all(design.low - slack <= X) and np.all(X <= design.high + slack)
    assert np.all(design.low <= design.high)


@pytest.mark.parametrize("text", PLAIN + LEARNT)
def test_rows_never_leave_the_bounds(text):
    design = Formula.parse(text).design(SCHEMA)
    rows = design.rows(draw(500, np.random.default_rng(10), spread=10))
    X, y = rows.numbers, rows.response
    assert np.all((design.low <= X) & (X <= design.high))
    assert np.all((design.response_bounds[0] <= y) & (y <= design.response_bounds[1]))


def test_a_terms_own_bounds_replace_the_arithmetic():
    formula = Formula.parse("np.exp(y) ~ I(1/z) + x:np.log( u )")
    bounds = {"np.exp( y)": (1, 2), "np.log( u)": (-3, 3), "I(1 / z)": (-10, 10)}
    design = formula.design(SCHEMA, bounds)
    assert design.response_bounds == (1, 2)
    assert design.low.tolist() == [1, -10, -24] and design.high.tolist() == [1, 10, 24]


@pytest.mark.parametrize("released", [INSIDE_FUNCTIONS, Numeric(20, 90), Numeric(-30, 200)])
def test_a_spline_with_ends_needs_no_bounds(released):
    text = "y ~ bs(x, knots=[30, 50], lower_bound=18, upper_bound=99, degree=1)"
    schema, free = {"y": Numeric(1, 2), "x": released}, {"x": UNLIMITED}
    ends = {"x": np.array([18.0, 30.0, 50.0, 99.0])}
    found = Formula.parse(text).design(schema, clipping=free).of_columns(4, ends)
    np.testing.assert_allclose(found[:, 1:], np.vstack([np.zeros(3), np.eye(3)]), atol=1e-12)


@pytest.mark.parametrize(
    "term",
    [
        "bs(x, knots=[30, 50])", "cr(np.log(x), knots=[3, 4])", "bs(x, knots=[.3, .5])",
        "bs(x, df=4, lower_bound=0)", "bs(x, df=4, knots=[30], upper_bound=99)",
    ],
)  # fmt: skip
def test_a_spline_without_ends_asks_for_them(term):
    """Also where its knots suit what stands in for the range, which says nothing of the data."""
    schema, free = {"y": Numeric(1, 2), "x": INSIDE_FUNCTIONS}, {"x": UNLIMITED}
    said = r"^the range of x is not declared.*give bounds={'x': \(low, high\)}, or .*upper_bound=$"
    with pytest.raises(FormulaError, match=said):
        Formula.parse(f"y ~ {term}").design(schema, clipping=free)


def test_too_few_columns_of_a_spline_are_not_taken_for_a_want_of_bounds():
    schema, free = {"y": Numeric(1, 2), "x": INSIDE_FUNCTIONS}, {"x": UNLIMITED}
    with pytest.raises(FormulaError, match=r"df=2 is too small [^;]*; must be >= 3$"):
        Formula.parse("y ~ bs(x, df=2)").design(schema, clipping=free)


def test_undefined_values_become_bounds_or_their_middle_without_a_word():
    design = Formula.parse("y ~ np.log(z) + I(0 / u)").design(
        SCHEMA, {"np.log(z)": (-3, 1), "I(0 / u)": (2, 6)}
    )
    batch = {"y": np.zeros(3), "z": np.array([-1.0, 0.0, np.inf]), "u": np.array([0.0, 1, 2])}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        X = design.rows(batch).numbers
    assert X[:, 1:].tolist() == [[-1, 4], [-3, 2], [1, 2]]


@pytest.mark.parametrize("text", PLAIN + LEARNT)
def test_no_value_raises_or_warns(text):
    design = Formula.parse(text).design(SCHEMA)
    nasty = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, 1.8e308, -1.8e308])
    batch = {
        name: nasty if isinstance(kind, Numeric) else np.arange(8) - 3
        for name, kind in SCHEMA.items()
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = design.rows(batch)
        X, y = rows.numbers, rows.response
    assert np.isfinite(X).all() and np.isfinite(y).all()


@pytest.mark.parametrize("bounds", [(1, 1), (2, 1), (0, np.inf), (0,), (0, 1, 2), 3, ("a", "b")])
def test_a_terms_bounds_must_be_a_finite_range(bounds):
    with pytest.raises(ArgumentError, match="finite low < high"):
        Formula.parse("y ~ np.log(x)").design(SCHEMA, {"np.log(x)": bounds})


# ---- formulas that a schema does not suit

UNSUITABLE = [
    ("y ~ q", "q is not declared.*bounds.*levels"),
    ("q ~ x", "q is not declared"),
    ("y ~ np.log(u)", r"tighten.*bounds=\{'np.log\(u\)'"),
    ("y ~ I(1 / z)", "unbounded or undefined.*z in"),
    ("y ~ I(z**0.5)", "unbounded or undefined"),
    ("y ~ I(z**u)", "unbounded or undefined"),
    ("y ~ np.exp(1000 * x)", "unbounded or undefined"),
    ("y ~ np.sin(1e308 * 10 * x)", "finite|unbounded"),
    ("y ~ I(x * 1e300) : I(u * 1e300)", "overflows"),
    ("y ~ I(x * 10**400)", "too large"),
    ("y ~ center(np.log(u))", "no finite value"),
    ("y ~ standardize(0 * x)", "not all equal"),
    ("y ~ I(-(x > 3))", "cannot build"),
    ("y ~ bs(np.log(u), df=4)", "finite values on the whole range"),
    ("y ~ bs(x, df=4, lower_bound=3)", "cover the declared range"),
    ("y ~ bs(x)", "df or knots"),
    ("y ~ bs(x, df=2)", "too small"),
    ("y ~ C(g, Treatment('q'))", "'q' not found"),
    ("y ~ C(g, levels=['a', 'b'])", "declares levels.*has"),
    ("y ~ C(x)", r"levels=\{\"x\""),
    ("y ~ I(x == 'a')", r"levels=\{\"x\""),
    ("y ~ I(g == 'q')", "no level 'q'"),
    ("y ~ np.log(g)", "g is categorical"),
    ("y ~ np.where(b, x, z)", "b == True"),
    ("y ~ I(b * x)", r"b is true or false, so .* write \(b == True\) for b, which is 1 or 0"),
    ("y ~ poly(b, 2)", "write b alone, which has two values"),
    ("g ~ x", "one numeric response"),
    ("C(g) ~ x", "one numeric response"),
    ("bs(y, df=4) ~ x", "one numeric response"),
    ("poly(y, 2) ~ x", r"one numeric response, but poly\(y, 2\) has 2 columns; write one number"),
]


@pytest.mark.parametrize(("text", "said"), UNSUITABLE)
def test_a_formula_that_the_schema_does_not_suit_is_refused(text, said):
    with pytest.raises(FormulaError, match=said) as caught:
        Formula.parse(text).design(SCHEMA)
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_category_takes_no_bounds():
    with pytest.raises(FormulaError, match="categorical"):
        Formula.parse("y ~ g").design(SCHEMA, {"g": (0, 1)})


def test_a_formula_sees_nothing_of_its_caller():
    secret = np.arange(101.0)  # as long as the frame that patsy learns on
    with pytest.raises(FormulaError, match="secret is not declared"):
        Formula.parse("y ~ x + secret").design(SCHEMA)
    assert len(secret) == 101
    assert vars(schema_frame.NAMESPACE["np"]).keys() == FUNCTIONS.keys()


def test_comparisons_are_taken_in_double_precision():
    design = Formula.parse("y ~ I(exp(x > 3) * 1000) + I(round(x > 3) * 100000.0)").design(SCHEMA)
    X = design.rows({"y": np.zeros(1), "x": np.array([4.0])}).numbers
    assert X[0, 1:].tolist() == [np.exp(1.0) * 1000, 100000]


def test_reading_an_expression_needs_no_schema():
    assert read("bs(np.log(x), df=4)").splined == {"x"}


def test_a_design_lists_the_numbers_that_numbers_are_tested_for():
    schema = {"y": Numeric(0, 9), "x": Numeric(0, 9), "g": Categorical((1, 2)), "b": BOOLEAN}
    design = Formula.parse(
        "y ~ I(x == 3)*x + np.where(x != 4, g == 1, 0) + I(b == True) + I(x > 5) + I((3 == x) * x)"
    ).design(schema)
    assert design.tested == {"x": (3.0, 4.0)}
