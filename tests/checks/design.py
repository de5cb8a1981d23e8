"""Draw rows for the formulas of many designs, and check that a row is coded by itself."""

import numpy as np
import pandas as pd

from dpstats.formula import Formula
from dpstats.schema import BOOLEAN, Categorical, Numeric

SCHEMA = {
    "y": Numeric(-1, 5),
    "x": Numeric(0.5, 8),
    "z": Numeric(-2, 3),
    "u": Numeric(0, 8),
    "my col": Numeric(0, 1),
    "g": Categorical(("a", "b", "c")),
    "h": Categorical((-1, 1, 2)),
    "b": BOOLEAN,
}
# no constants are learnt from data, so other software must give the same columns
PLAIN = [
    "y ~ x",
    "y ~ 1",
    "y ~ 0 + x",
    "y ~ x + z + u",
    "y ~ x * z",
    "y ~ (x + z + u)**2",
    "y ~ x / g",
    "y ~ g",
    "y ~ 0 + g",
    "y ~ b",
    "y ~ g * b * h",
    "y ~ 0 + g:x + b",
    "y ~ g:z",
    "y ~ C(g, Sum) * x",
    "y ~ C(g, Treatment('b')) + C(h, Poly)",
    "y ~ C(g, Helmert, levels=['a', 'b', 'c']):z",
    "y ~ C(h, contrast=Diff)",
    "y ~ 0 + C(g, Poly):C(h, Helmert):z",
    "y ~ I(x > 3) * I(z <= 0)",
    "y ~ I((x >= 3) * 1.0) + I((u < 2) * (z != 1))",
    "y ~ I(x**2) + I(z**3) + I(x**-1) + I(x**0.5) + I(2**z) + I(x**z)",
    "np.log(x) ~ z",
    "I(y + z / x) ~ u",
    "y ~ Q('my col') * np.sqrt(Q('my col'))",
    "y ~ np.log(x) + np.log2(x + 1) + np.log10(x + 2) + np.log1p(u)",
    "y ~ np.exp(z) + np.expm1(z) + np.tanh(z) + np.arctan(z) + np.arcsinh(1000 * z)",
    "y ~ np.sin(x) + np.cos(3 * x) + np.cbrt(z) + np.abs(z) + np.square(z)",
    "y ~ np.sign(z) + np.floor(z) + np.ceil(x / 2)",
    "y ~ np.minimum(x, u) + np.maximum(z, 0) + np.clip(z, -1, 1)",
    "y ~ np.where(z > 0, z, x - u) + np.round(x, 1) + np.round(z)",
    "y ~ I(-z + 2 * x - (u / 3)) : b",
]
LEARNT = [
    "y ~ center(x) * standardize(z)",
    "y ~ scale(x, center=False) + standardize(u, rescale=False)",
    "y ~ np.exp(standardize(x)) + center(np.log(x))",
    "center(y) ~ standardize(x - u)",
    "y ~ bs(x, df=5) * g",
    "y ~ bs(np.sin(x), 4) + bs(u, degree=0, df=3)",
    "y ~ bs(z, knots=[0, 1], degree=2, include_intercept=True, upper_bound=4) - 1",
    "y ~ cr(x, df=4) : z",
    "y ~ cr(x, df=4, constraints='center') + cc(z, df=3, constraints='center')",
    "y ~ cc(z, df=4) + log(x) + sqrt(u) - 1",
    "y ~ I(g == 'b'):x + I('a' != g) + I(h == -1) + I(b == True) + poly(x, 3):b + poly(u, 2)",
]


def draw(m, rng, spread=1.0, schema=SCHEMA):
    """A batch with values beyond the ranges by `spread` of their width, some infinite."""
    batch = {}
    for name, kind in schema.items():
        if isinstance(kind, Categorical):
            batch[name] = rng.integers(0, len(kind.levels), m)
            continue
        width = spread * (kind.high - kind.low)
        batch[name] = rng.uniform(kind.low - width, kind.high + width, m)
        if spread:
            batch[name][rng.random(m) < 0.1] = np.inf
            batch[name][rng.random(m) < 0.1] = -np.inf
    return batch


def rank(formula, schema):
    """The rank of a design on random rows, beside a constant if one is absorbed; its columns."""
    design = Formula.parse(formula).design(schema)
    X = design.rows(draw(2000, np.random.default_rng(1), spread=0.0, schema=schema)).numbers
    X = X - X.mean(axis=0) if "|" in formula else X
    size = np.linalg.norm(X, axis=0)
    return int(np.linalg.matrix_rank(X / np.where(size > 0, size, 1), tol=1e-9)), X.shape[1]


def as_frame(batch, schema=SCHEMA):
    """The same rows as a user would hold them."""
    columns = {}
    for name, values in batch.items():
        kind = schema[name]
        if kind == BOOLEAN:
            values = values.astype(bool)
        elif isinstance(kind, Categorical):
            values = pd.Categorical.from_codes(values, categories=list(kind.levels))
        columns[name] = values
    return pd.DataFrame(columns)


def take(batch, rows):
    return {name: values[rows] for name, values in batch.items()}


def check_row_local(design, batch):
    rows = design.rows(batch)
    X, y = rows.numbers, rows.response
    for i in range(len(y)):
        alone = design.rows(take(batch, [i]))
        X_i, y_i = alone.numbers, alone.response
        np.testing.assert_array_equal(X_i, X[[i]])
        np.testing.assert_array_equal(y_i, y[[i]])
