"""Every column has a description: without rows, constant, missing, far out, at any epsilon."""

import numpy as np
import pandas as pd
import pytest

import dpstats as dp

N = 500
COLUMNS = {
    "no rows": np.zeros(0),
    "missing": np.full(N, np.nan),
    "constant": np.full(N, 7.0),
    "zero": np.zeros(N),
    "infinite": np.full(N, np.inf),
    "huge": np.full(N, -1e300),
    "tiny": np.linspace(0, 1e-300, N),
    "both": np.where(np.arange(N) % 2, 1e300, -1e300),
    "far from zero": 1e15 + np.arange(N),
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("epsilon", [1e-6, 1, 1e6])
@pytest.mark.parametrize("bounds", [None, {"x": (0, 10)}, {"x": (-1e60, 1e60)}])
def test_any_column_has_a_description(name, epsilon, bounds):
    values = COLUMNS[name]
    factor = pd.Categorical(np.where(np.arange(len(values)) % 3, "a", "b"), categories=["a", "b"])
    data = pd.DataFrame({"x": values, "g": factor})
    for by in (None, "g"):
        columns = ["x", "g"] if by is None else ["x"]
        with dp.testing.insecure_seed(1):
            found = dp.dp_describe(data, columns, epsilon=epsilon, by=by, bounds=bounds)
        frame = found.frame
        ordered = (frame["lower"] <= frame["upper"]).all()
        assert ordered and found.summary() and found.to_html() and found.to_latex()
        assert repr(dp.DPDescription.from_json(found.to_json()).figures) == repr(found.figures)
