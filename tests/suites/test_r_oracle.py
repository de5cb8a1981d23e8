"""Formulas of R against R's own lm: names, order and values of the coefficients."""

import os
import re

import numpy as np
import pytest

import dpstats as dp
from dpstats.engines import Table
from dpstats.formula import Formula
from dpstats.formula.r import coding
from dpstats.schema import BOOLEAN, Categorical, Numeric

_LIBRARIES = os.environ.get("LD_LIBRARY_PATH")
try:
    from rpy2 import robjects
except Exception:  # without R the import fails in ways of its own
    if os.environ.get("DPSTATS_REQUIRE_R"):
        raise
    pytest.skip("R and rpy2 are not there", allow_module_level=True)
# R names its libraries in the environment, which other tests hand to processes of their own.
os.environ.pop("LD_LIBRARY_PATH", None)
if _LIBRARIES is not None:
    os.environ["LD_LIBRARY_PATH"] = _LIBRARIES

# A formula of R and, where there is one, its translation into patsy's dialect.
FORMULAS = [
    ("y ~ x", "y ~ x"),
    ("y ~ x + z", "y ~ x + z"),
    ("y ~ 1", "y ~ 1"),
    ("y ~ x - 1", "y ~ x - 1"),
    ("y ~ 0 + x + z", "y ~ 0 + x + z"),
    ("y ~ g", "y ~ g"),
    ("y ~ g - 1", "y ~ g - 1"),
    ("y ~ 0 + g + h", "y ~ 0 + g + h"),
    ("y ~ 0 + x + g", "y ~ 0 + x + g"),
    ("y ~ x + g", "y ~ x + g"),
    ("y ~ g + x", "y ~ g + x"),
    ("y ~ x * g", "y ~ x * g"),
    ("y ~ g * x", "y ~ g * x"),
    ("y ~ x:g", "y ~ x:g"),
    ("y ~ x:g + z", "y ~ x:g + z"),
    ("y ~ g/x", "y ~ g/x"),
    ("y ~ g/h", "y ~ g/h"),
    ("y ~ g + h:g", "y ~ g + h:g"),
    ("y ~ g * h", "y ~ g * h"),
    ("y ~ g:h - 1", "y ~ g:h - 1"),
    ("y ~ b * g * x", "y ~ b * g * x"),
    ("y ~ x:z + x", "y ~ x:z + x"),
    ("y ~ b", "y ~ b"),
    ("y ~ b * x", "y ~ b * x"),
    ("y ~ x %in% b", "y ~ x:b"),
    ("y ~ g + x %in% g", "y ~ g + x:g"),
    ("y ~ o", "y ~ C(o, Poly)"),
    ("y ~ o * x", "y ~ C(o, Poly) * x"),
    ("y ~ o + g", "y ~ C(o, Poly) + g"),
    ("y ~ 0 + o", "y ~ 0 + o"),
    ("y ~ I(x^2)", "y ~ I(x ** 2)"),
    ("y ~ x + I(k^2)", "y ~ x + I(k ** 2)"),
    ("y ~ I(x * z - 2 * k)", "y ~ I(x * z - 2 * k)"),
    ("y ~ I(1/x) + I(x^-0.5)", "y ~ I(1 / x) + I(x ** -0.5)"),
    ("y ~ (x + z + g)^2", "y ~ (x + z + g)**2"),
    ("y ~ (x + z + g)^2 - x:z", "y ~ (x + z + g)**2 - x:z"),
    ("y ~ x * z * k - x:z:k", "y ~ x * z * k - x:z:k"),
    ("log(y) ~ log(x) + log1p(z)", "np.log(y) ~ np.log(x) + np.log1p(z)"),
    ("sqrt(y) ~ sqrt(x) + exp(z)", "np.sqrt(y) ~ np.sqrt(x) + np.exp(z)"),
    ("y ~ log(x, 2) + log(z, base = 10)", "y ~ np.log2(x) + np.log10(z)"),
    ("y ~ log10(x) + log2(z) + abs(x - 5)", "y ~ np.log10(x) + np.log2(z) + np.abs(x - 5)"),
    ("y ~ ifelse(x > 4, z, 0)", "y ~ np.where(x > 4, z, 0)"),
    ("y ~ ifelse(b, x, 2)", "y ~ np.where(b == True, x, 2)"),
    (
        "y ~ pmin(x, 2 * z) + pmax(x, z, 3)",
        "y ~ np.minimum(x, 2*z) + np.maximum(np.maximum(x, z), 3)",
    ),
    ("y ~ factor(k)", "y ~ C(k)"),
    ("y ~ as.factor(k) * x", "y ~ C(k) * x"),
    ("y ~ factor(k, levels = c(2, 1, 3, 4))", None),
    ("y ~ factor(k, levels = 4:1)", None),
    ("y ~ I(k %in% c(1:2, 4)) + I(x > as.Date('1970-01-05'))", None),
    ('y ~ relevel(g, ref = "b")', "y ~ C(g, Treatment('b'))"),
    ('y ~ x * relevel(factor(k), ref = "3")', None),
    ('y ~ x:relevel(g, ref = "c")', None),
    ('y ~ C(relevel(h, "v"), contr.sum)', None),
    ("y ~ C(g, contr.sum) + x", "y ~ C(g, Sum) + x"),
    ("y ~ C(g, contr.treatment) + C(o, contr.treatment):x", None),
    ("y ~ 0 + C(g, contr.treatment) + C(relevel(h, 'v'), contr.treatment)", None),
    ("y ~ C(h, contr.helmert)", "y ~ C(h, Helmert)"),
    ("y ~ ordered(k)", "y ~ C(k, Poly)"),
    ("y ~ I(x > 4) + z", "y ~ I(x > 4) + z"),
    ("y ~ I(x > 4 & z < 2) * g", None),
    ('y ~ I(g %in% c("a", "c")) + x', None),
    ("y ~ x > 4", "y ~ x > 4"),
    ("y ~ I(!b) + x", None),
    ("y ~ I(b == 1) + I((b != 1) * x)", "y ~ I(b == 1) + I((b != 1) * x)"),
    ("y ~ `my var` + x:`my var`", "y ~ Q('my var') + x:Q('my var')"),
    ("y ~ x.1 + I(x.1^2)", "y ~ Q('x.1') + I(Q('x.1')**2)"),
    ("y ~ s + x", "y ~ s + x"),
    ("y ~ .", None),
    ("y ~ . - s - h", None),
    ("log(y) ~ (x + g)^2 + .", None),
    ("y ~ x %/% 2 + z", None),
    ("y ~ round(x) + floor(z) + sign(x - 5)", "y ~ np.round(x) + np.floor(z) + np.sign(x - 5)"),
    ("I(y * 2) ~ I(x + 0.5)", "I(y * 2) ~ I(x + 0.5)"),
    ("y ~ -1 + b + x", "y ~ -1 + b + x"),
    ("y ~ as.numeric(b) * x", None),
    ("y ~ 0 + g + as.double(b):g + as.numeric(x)", None),
    ("y ~ I(as.numeric(b)) + as.numeric(k)", None),
    ("y ~ as.integer(x) + trunc(3 * x.1) + as.integer(z > 2)", None),
    ("y ~ h:x + g:h - 1", None),
    (
        "y ~ sin(x) + cos(z) + tanh(x) + atan(z)",
        "y ~ np.sin(x) + np.cos(z) + np.tanh(x) + np.arctan(z)",
    ),
]
DATA = """
set.seed(20)
n <- 10000
d <- data.frame(x = runif(n, 1, 9), z = runif(n, 0.5, 4), k = sample(1:4, n, TRUE),
  g = factor(sample(c("a", "b", "c"), n, TRUE)), h = factor(sample(c("u", "v", "w", "q"), n, TRUE)),
  b = runif(n) > 0.4, o = factor(sample(c("lo", "mid", "hi", "top"), n, TRUE),
  levels = c("lo", "mid", "hi", "top"), ordered = TRUE), s = sample(c("f", "m"), n, TRUE),
  check.names = FALSE)
d[["my var"]] <- runif(n)
d[["x.1"]] <- runif(n, -1, 1)
d$y <- 6 + 0.2 * d$x - 0.5 * d$z + (d$g == "b") + 0.3 * d$b * d$x + 0.4 * d$k + d[["my var"]] +
  rnorm(n, 0, 0.3)
d
"""
BOUNDS = {
    "y": (0.5, 20), "x": (1, 9), "z": (0.5, 4), "k": (1, 4), "my var": (0, 1), "x.1": (-1, 1),
}  # fmt: skip
LEVELS = {"s": ["f", "m"], "k": [1, 2, 3, 4]}


@pytest.fixture(scope="module")
def frame():
    return robjects.r(DATA)


def private_fit(text, data, columns):
    """At epsilon 1e6 the noise is below the third digit."""
    formula = Formula.parse(text.over(columns) if isinstance(text, dp.RFormula) else text)
    levels = {name: LEVELS[name] for name in formula.variables if name == "s"}
    levels |= {name: LEVELS[name] for name in formula.categorical & {"k"} - set(formula.levels)}
    numeric = set(formula.variables) - set(levels) - formula.categorical
    bounds = {name: pair for name, pair in BOUNDS.items() if name in numeric}
    with dp.testing.insecure_seed(3):
        return dp.dp_ols(text, data, method="adassp", epsilon=1e6, levels=levels, bounds=bounds)


@pytest.mark.parametrize("text", [pair[0] for pair in FORMULAS])
def test_coefficients_are_those_of_lm(text, frame):
    formula = robjects.Formula(text)
    expected = robjects.r["coef"](robjects.r["lm"](formula, data=frame))
    result = private_fit(dp.RFormula(text), frame, list(frame.names))
    assert list(result.params.index) == list(expected.names)
    np.testing.assert_allclose(result.params, np.array(expected), rtol=1e-3, atol=2e-3)


@pytest.mark.parametrize(("text", "translation"), [pair for pair in FORMULAS if pair[1]])
def test_the_other_dialect_fits_what_lm_fits(text, translation, frame):
    fit = robjects.r["lm"](robjects.Formula(text), data=frame)
    expected = robjects.r["fitted"](fit)
    result = private_fit(translation, frame, list(frame.names))
    table = Table.from_data(frame)
    design = Formula.parse(translation).design(result.schema)
    batch = next(table.batches(result.schema, size=50))
    X = design.rows(batch).numbers
    np.testing.assert_allclose(X @ result.params, np.array(expected)[:50], rtol=1e-3, atol=2e-3)


@pytest.mark.parametrize(
    "text",
    [
        "y ~ poly(x, 2)",
        "y ~ poly(x, 3) + g",
        "y ~ g * poly(z, 2)",
        "y ~ poly(x, 2, raw = TRUE) + poly(x.1, 3)",
    ],
)
def test_polynomials_span_those_of_r(text, frame):
    ols = robjects.r["lm"](robjects.Formula(text), data=frame)
    result = private_fit(dp.RFormula(text), frame, list(frame.names))
    # the columns are others than those of lm, but for raw powers, and so are their names
    names = robjects.r["coef"](ols).names
    ours = [re.sub(r"(poly\([\w.]+, \d\))(?=\d)", r"\1P", name) for name in names]
    assert list(result.params.index) == ours
    table = Table.from_data(frame)
    batch = next(table.batches(result.schema, size=50))
    X = Formula.parse(dp.RFormula(text)).design(result.schema).rows(batch).numbers
    expected = np.array(robjects.r["fitted"](ols))[:50]
    np.testing.assert_allclose(X @ result.params, expected, rtol=1e-3, atol=2e-3)


def test_a_broken_contrast_would_be_seen(frame, monkeypatch):
    monkeypatch.setitem(coding._MATRICES, "sum", lambda levels: np.eye(levels)[:, 1:])
    with pytest.raises(AssertionError):
        test_coefficients_are_those_of_lm("y ~ C(g, contr.sum) + x", frame)


def test_columns_of_rpy2_keep_their_kinds_and_missing_values():
    frame = robjects.r("""
    data.frame(whole = c(1L, NA), real = c(NA, 2.5), truth = c(NA, TRUE), text = c("NA", NA),
      size = factor(c("s", NA), levels = c("l", "s"), ordered = TRUE),
      day = structure(c(NA, 9), class = "Date"))
    """)
    table = Table.from_data(frame)
    kinds = ["integer", "number", "boolean", "string", "category", "number"]
    assert [table.kind(name) for name in table.columns] == kinds
    assert table.levels("size") == ("l", "s") and table.ordered("size")
    wide, labels = Numeric(-9, 99), Categorical(("NA", "s"))
    schema = {"whole": wide, "real": wide, "day": wide, "truth": BOOLEAN, "text": labels}
    batch = next(table.batches(schema | {"size": labels}))
    np.testing.assert_array_equal([batch["whole"], batch["real"]], [[1, np.nan], [np.nan, 2.5]])
    np.testing.assert_array_equal(batch["day"], [np.nan, 9])
    codes = [batch[name].tolist() for name in ("truth", "text", "size")]
    assert codes == [[-1, 1], [0, -1], [1, -1]]


def test_frames_of_rpy2_may_be_empty_and_odd_columns_are_named():
    table = Table.from_data(robjects.r("data.frame(x = numeric(), g = factor(character()))"))
    assert table.n_rows == 0 and table.kind("g") == "category"
    for odd in ("list(1)", "matrix(1, 1, 2)", "Sys.time()", "1i"):
        frame = robjects.r(f"local({{d <- data.frame(y = 1); d$odd <- {odd}; d}})")
        with pytest.raises(dp.ArgumentError, match="'odd'"):
            Table.from_data(frame)
    with pytest.raises(dp.ArgumentError, match="R data frame"):
        Table.from_data(robjects.r("1:3"))
