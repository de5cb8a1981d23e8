"""Formulas of R without R: rows, names, refusals, dots, and results that keep their dialect."""

import pickle

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.errors import FormulaError
from dpstats.formula import Formula
from dpstats.formula.r import code
from dpstats.formula.r.syntax import parse
from dpstats.schema import BOOLEAN, Categorical, Numeric

SCHEMA = {
    "y": Numeric(-1, 5),
    "x": Numeric(0.5, 8),
    "z": Numeric(0.1, 3),
    "my col": Numeric(0, 1),
    "v.1": Numeric(-2, 2),
    "g": Categorical(("a", "b", "c")),
    "o": Categorical(("s", "m", "l", "xl", "xxl"), ordered=True),
    "k": Categorical((1, 2, 3)),
    "b": BOOLEAN,
}
FORMULAS = [
    "y ~ x * g + `my col`",
    "log(y + 2) ~ log(x, 2) + log1p(z) + I(x^2) + I(-v.1 / 2)",
    "y ~ ifelse(b & x > 3, z, 2 * x) + ifelse(!b | g == 'b', 1, 0)",
    "y ~ pmin(x, z, 2) + pmax(v.1, 0) + round(x, 1) + round(z)",
    "y ~ abs(v.1) + asinh(v.1) + atan(x) + ceiling(x) + cos(x) + exp(z) + expm1(z) + floor(z)",
    "y ~ log10(x) + log2(x + 1) + sign(v.1) + sin(x) + sqrt(z) + tanh(v.1) + x %/% 2",
    "y ~ o * x + relevel(g, ref = 'c')",
    "y ~ 0 + o + C(g, contr.sum):z + C(k, contr.helmert) + C(factor(b), contr.treatment)",
    "y ~ factor(k) / x - 1",
    "y ~ relevel(C(g, contr.poly), ref = 'b')",
    "y ~ x:relevel(g, 'b') + ordered(k) + as.factor(b)",
    "y ~ I(g %in% c('a', 'b')) + I(x > 2) * z + as.numeric(x > 3)",
    "y ~ as.numeric(b):x + as.numeric(k) + as.integer(v.1) + trunc(2 * x)",
    "y ~ (x + g + z)^2 - x:g + x %in% b",
]


def draw(m, seed):
    """Rows with values out of range and infinite ones."""
    rng, batch = np.random.default_rng(seed), {}
    for name, kind in SCHEMA.items():
        if isinstance(kind, Categorical):
            batch[name] = rng.integers(0, len(kind.levels), m)
        else:
            width = kind.high - kind.low
            batch[name] = rng.uniform(kind.low - width, kind.high + width, m)
            batch[name][rng.random(m) < 0.1] = np.inf
    return batch


def test_a_condition_by_an_unknown_function_names_the_function():
    for text in ("between(age, 30, 40)", 'x > 1 & grepl("a", g)', "!is.character(g)"):
        with pytest.raises(FormulaError, match=r"(between|grepl|is.character)\(\) is not known"):
            code.condition_in_python(parse(text))
    with pytest.raises(FormulaError, match="neither TRUE nor FALSE"):
        code.condition_in_python(parse("log(x)"))


def test_an_operator_that_formulas_have_not_is_named():
    with pytest.raises(dp.FormulaError, match="x%%2: there is no %% here; compute the column"):
        Formula.parse(dp.RFormula("y ~ I(x %% 2)"))


def test_case_when_is_no_formula_with_options_after_a_comma():
    for text in ("y ~ case_when(x > 1 ~ 2, TRUE ~ 0)", "case_when(x > 1 ~ 2, TRUE ~ 0) ~ x"):
        with pytest.raises(dp.FormulaError, match=r"case_when\(\) is not known; write ifelse\("):
            Formula.parse(dp.RFormula(text))


@pytest.mark.parametrize("text", FORMULAS)
def test_each_row_depends_on_its_own_record_alone(text):
    design, batch = Formula.parse(dp.RFormula(text)).design(SCHEMA), draw(41, seed=1)
    rows = design.rows(batch)
    X, y = rows.numbers, rows.response
    assert np.all((design.low <= X) & (design.high >= X))
    for i in range(len(y)):
        alone = design.rows({name: values[[i]] for name, values in batch.items()})
        np.testing.assert_array_equal(alone.numbers, X[[i]])
        np.testing.assert_array_equal(alone.response, y[[i]])


def test_the_formulas_use_every_function():
    named = {name for text in FORMULAS for name in code._FUNCTIONS if f"{name}(" in text}
    assert named == set(code._FUNCTIONS)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("y~g", ["(Intercept)", "gb", "gc"]),
        ("y ~ o", ["(Intercept)", "o.L", "o.Q", "o.C", "o^4"]),
        ("y ~ b + factor(k)", ["(Intercept)", "bTRUE", "factor(k)2", "factor(k)3"]),
        ("y ~ x:g + z", ["(Intercept)", "z", "x:ga", "x:gb", "x:gc"]),
        ("y ~ I( x ^2)+`my col`", ["(Intercept)", "I(x^2)", "`my col`"]),
        ("y ~ I(x * 2L) + I(k == 3L)", ["(Intercept)", "I(x * 2)", "I(k == 3)TRUE"]),
        ("y ~ relevel(g, ref='b'):x", None),
    ],
)
def test_columns_are_named_and_ordered_as_in_r(text, names):
    design = Formula.parse(dp.RFormula(text)).design(SCHEMA)
    first = 'relevel(g, ref = "b")'
    assert list(design.names) == (names or ["(Intercept)", *[f"{first}{v}:x" for v in "bac"]])


REFUSED = [
    ("y ~ x^2", "write I(x^2)"),
    ("y ~ poly(log(x), 2)", "of one column"),
    ("y ~ poly(x, z)", "whole number"),
    ("y ~ poly(x, 2, raw = z)", "TRUE or FALSE"),
    ("y ~ I(poly(x, 2) * 2)", "stands alone"),
    ("y ~ scale(x)", "public a and b"),
    ("y ~ ns(x, 3)", "poly(x, 3)"),
    ("y ~ cut(x, 3)", "I(x > 3)"),
    ("y ~ x + offset(z)", "I(y - z)"),
    ("y ~ 2 * x", "I(2 * x)"),
    ("y ~ x + (1 | g)", "no random effects"),
    ("y ~ g:b", "add up"),
    ("y ~ relevel(g, ref = 'q')", "the levels are a, b, c"),
    ("y ~ relevel(b, ref = 'TRUE')", "write factor(b) in its place"),
    ("y ~ C(b, contr.sum)", "write factor(b) in its place"),
    ("y ~ C(relevel(b, 'TRUE'), contr.sum)", "write factor(b) in its place"),
    ("y ~ relevel(o, ref = 'm')", "takes no ordered factor"),
    ("y ~ relevel(factor(o), 'm')", "takes no ordered factor"),
    ("y ~ relevel(ordered(g), ref = 'b')", "write C(g, contr.treatment)"),
    ("y ~ C(i(g), contr.sum)", "expected a column or factor(column)"),
    ("y ~ I(system('ls'))", "system() is not known"),
    ("y ~ x$z", "write y ~ z"),
    ("y ~ log(x", "the end"),
    ("x + z", "y ~ x1 + x2"),
    ("~ x", "y ~ x1 + x2"),
    ("y ~ mean(x)", "public a"),
    ("y ~ log(x, z)", "base of the logarithm"),
    ("y ~ 'x'", "string"),
    ("y ~ I(x:z)", "one row"),
    ("y ~ factor(k, levels = 1:501)", "at most 500 whole numbers"),
    ("y ~ I(k %in% 1:x)", "instead of x"),
    ("y ~ I(o > 'm')", "list the levels"),
    ("y ~ I(x > as.Date(z))", "of a text such as"),
    ("y ~ I(x > as.Date('31.1.2020'))", "of a text such as"),
    ("y ~ ifelse(x, 1, 2)", "levels"),
    ("y ~ factor(x + 1)", "name of a column"),
    ("y ~ x + g %in% c('a', 'b')", 'write I(g %in% c("a", "b"))'),
    ("y ~ interaction(g, b)", "write g * b for the same fit, or g:b - 1 for a"),
    ("y ~ as.numeric(g)", "without as.numeric() for a coefficient of each level"),
    ("y ~ as.double(o) + x", "make a numeric column before the call"),
    ("y ~ I(2 * as.numeric(g))", "g is categorical"),
    ("y ~ as.integer(g)", "g is categorical"),
    ("g ~ x", "numeric response"),
]


@pytest.mark.parametrize("text", ["y ~ g + ga", "y ~ 0 + g"])
def test_columns_of_one_name_are_refused(text):
    schema = {"y": Numeric(0, 1), "g": Categorical(("", "a")), "ga": Numeric(0, 1)}
    with pytest.raises(FormulaError, match="have one name"):
        Formula.parse(dp.RFormula(text)).design(schema)


@pytest.mark.parametrize(("text", "said"), REFUSED)
def test_what_has_no_meaning_for_private_rows_is_refused(text, said):
    with pytest.raises(dp.FormulaError) as error:
        Formula.parse(dp.RFormula(text)).design(SCHEMA)
    assert said in str(error.value)
    assert "Q(" not in str(error.value)


def test_as_numeric_of_truth_values_and_numbered_levels_is_one_column():
    rows = {"y": np.zeros(3), "b": np.array([1, 0, 1]), "k": np.array([0, 2, 1])}
    design = Formula.parse(dp.RFormula("y ~ as.numeric(b) + as.numeric(k)")).design(SCHEMA)
    assert design.names == ("(Intercept)", "as.numeric(b)", "as.numeric(k)")
    assert design.low.tolist() == [1, 0, 1] and design.high.tolist() == [1, 1, 3]
    X = design.rows(rows).numbers
    assert X[:, 1:].tolist() == [[1, 1], [0, 3], [1, 2]]
    X = design.rows(rows | {"b": np.array([0, 1, 0])}).numbers
    assert X[:, 1].tolist() == [0, 1, 0]


def test_a_hat_is_a_power_in_r_and_an_error_in_patsy():
    k = {"y": np.ones(3), "k": np.arange(3.0)}
    schema = {"y": Numeric(0, 1), "k": Numeric(0, 2)}
    X = Formula.parse(dp.RFormula("y ~ 0 + I(k^2)")).design(schema).rows(k).numbers
    assert X[:, 0].tolist() == [0, 1, 4]
    with pytest.raises(dp.FormulaError, match="not a power"):
        Formula.parse("y ~ 0 + I(k^2)")


@pytest.mark.parametrize("text", [*FORMULAS, "a ~ -x^2 + !b", "y ~ f(g(x), h = 'q\"uote')"])
def test_the_text_of_a_tree_reads_back_as_the_tree(text):
    tree = parse(text)
    assert parse(str(tree)) == tree


def test_one_text_in_two_dialects_is_two_formulas():
    text, schema = "y ~ x * g", {name: SCHEMA[name] for name in "yxg"}
    names = [Formula.parse(kind(text)).design(schema).names for kind in (str, dp.RFormula, str)]
    assert names[0] == names[2] != names[1]
    assert text != dp.RFormula(text) and dp.RFormula(text) != text
    assert len({text, dp.RFormula(text), dp.RFormula(text)}) == 2


def test_a_dot_is_every_other_column():
    over = dp.RFormula("log(y) ~ . - a").over(["a", "y", "b c"])
    assert over == dp.RFormula("log(y) ~ (a + `b c`) - a")
    with pytest.raises(dp.FormulaError, match="no other column"):
        dp.RFormula("y ~ .").over(["y"])


@pytest.mark.parametrize("by", ["g", ["g", "h"], ("h", "g")])
def test_a_dot_leaves_the_columns_of_the_groups_out(by):
    rng = np.random.default_rng(1)
    df = pd.DataFrame({"y": rng.random(40), "x": rng.random(40), "g": [1, 2] * 20, "h": 3})
    df = df.drop(columns=[] if "h" in by else ["h"])
    fit = dict(method="noisy_moments", epsilon=8, by=by, bounds={"x": (0, 1), "y": (0, 1)})
    result = dp.dp_ols(dp.RFormula("y ~ ."), df, **fit)
    assert result.names[: result.size] == ("(Intercept)", "x")
    both = dp.dp_ols([dp.RFormula("y ~ ."), dp.RFormula("x ~ .")], df, **fit)
    assert [fit.names[1] for fit in both.values()] == ["x", "y"]


def test_a_result_keeps_its_dialect():
    df = dp.simulate.line(2000, seed=1)
    bounds = {"x": (0, 1), "y": (0, 1)}
    res = dp.dp_ols(dp.RFormula("y ~ I(x^2)"), df, method="adassp", epsilon=1, bounds=bounds)
    for copy in (dp.DPResults.from_json(res.to_json()), pickle.loads(pickle.dumps(res))):
        assert list(copy.params.index) == ["(Intercept)", "I(x^2)"]
        assert copy.predict({"x": [0.5]}).tolist() == res.predict({"x": [0.5]}).tolist()


def test_terms_of_r_are_selected_whole():
    rng = np.random.default_rng(1)
    df = pd.DataFrame(rng.random((3000, 2)), columns=["x", "z"])
    df["g"] = pd.Categorical(rng.choice(list("abc"), 3000))
    df["y"] = 4.0 * (df["g"] == "b") + rng.random(3000)
    formula = dp.RFormula("y ~ I(x^2) + z + g")
    bounds = {"x": (0, 1), "z": (0, 1), "y": (0, 6)}
    with dp.testing.insecure_seed(1):
        res = dp.dp_ols(
            formula, df, method="adassp", epsilon=50, bounds=bounds, select="kendall", k=1
        )
    assert res.selected == ("g",)
    assert list(res.params.index) == ["(Intercept)", "gb", "gc"]


def test_numbers_have_the_digits_of_r_in_names_and_all_of_theirs_in_values():
    text = "y ~ I(v.1 - 0.33333333333333331) + I(x > 100000.00000000001)"
    design = Formula.parse(dp.RFormula(text)).design(SCHEMA)
    assert design.names[1:] == ("I(v.1 - 0.333333333333333)", "I(x > 1e+05)TRUE")
    batch = {"x": np.array([1.0]), "v.1": np.array([1 / 3]), "y": np.array([1.0])}
    assert design.rows(batch).numbers[0, 1] == 0


@pytest.mark.parametrize("text", ["log(x, base = exp(1))", "log(x, exp(1))", "log(x)"])
def test_the_base_of_a_logarithm_may_be_that_of_the_natural_one(text):
    assert code.translate(parse(text))[0] == "np.log(Q('x'))"


def test_contrasts_may_stand_in_quotes_and_an_ordered_factor_may_be_made_unordered():
    same = [
        ("C(g, 'contr.sum')", "C(g, contr.sum)"),
        ("factor(o, ordered = FALSE)", "C(o, contr.treatment)"),
        ("factor(k, ordered = TRUE)", "ordered(k)"),
        ("relevel(factor(o, ordered = FALSE), ref = 's')", "C(o, contr.treatment)"),
    ]
    for text, other in same:
        one, two = (Formula.parse(dp.RFormula(f"y ~ {f}")).design(SCHEMA) for f in (text, other))
        batch = draw(41, seed=1)
        np.testing.assert_array_equal(one.rows(batch).numbers, two.rows(batch).numbers)


def test_what_factor_does_not_take_is_refused_with_the_call_that_makes_the_column():
    for text in ("factor(g, labels = c('u', 'v'))", "factor(k, 1:2, c('u', 'v'))"):
        with pytest.raises(FormulaError, match=r"by data\$(g|k) <- factor\(data"):
            code.translate(parse(text))
    with pytest.raises(FormulaError, match="expected ordered to be TRUE or FALSE, got 1"):
        code.translate(parse("factor(g, ordered = 1)"))


def test_all_indicators_beside_the_intercept_are_refused_before_levels_are_asked_for():
    people = pd.DataFrame({"y": [1.0, 2.0], "day": [1.0, 2.0]})
    with pytest.raises(FormulaError, match=r"leave a level of i\(day\) out by ref ="):
        dp.dp_ols(dp.RFormula("y ~ i(day)"), people, epsilon=1)
    with pytest.raises(dp.ArgumentError, match="the levels of day must be declared"):
        dp.dp_ols(dp.RFormula("y ~ i(day, ref = 1)"), people, epsilon=1)


def test_terms_that_are_kept_are_those_that_were_written():
    """Without parentheses educ + age > 40 is a comparison of a sum."""
    text = "y > 0.10000000000000001 ~ x + (z > 1):g + (!b) + I(x - 0.33333333333333331) + v.1%/%2"
    formula = Formula.parse(dp.RFormula(text))
    kept = formula.keep(formula.terms)
    assert kept.terms == formula.terms and kept.response == formula.response
    assert [each.code for each in kept.readings] == [each.code for each in formula.readings]
    assert "0.33333333333333331" in kept.text
    some = formula.keep(["z > 1:g", "x"])
    assert str(some.text) == "y > 0.10000000000000001 ~ 1 + x + (z > 1):g"
