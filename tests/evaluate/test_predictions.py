"""Predictions of repeated fits, which error bounds sum up."""

import numpy as np
import pytest

import dpstats as dp
from dpstats.evaluate import (
    error_bounds,
    ols_reference,
    predictions,
)

BOUNDS = {"kid_rank": (0, 1), "parent_rank": (0, 1)}


FORMULA = "kid_rank ~ parent_rank"


def test_predictions_are_what_error_bounds_sum_up(people):
    call = {"methods": ["noisy_stats", "mean"], "epsilon": 4, "by": "cell", "bounds": BOUNDS}
    call |= {"trials": 3, "seed": 1, "public": True}
    table, errors = predictions(FORMULA, people, **call), error_bounds(FORMULA, people, **call)
    assert list(table.columns) == ["method", "group", "trial", "point", "prediction"]
    assert len(table) == 2 * 111 * 3 * 2
    ols = ols_reference(FORMULA, people, by="cell", bounds=BOUNDS, public=True)
    ols = ols.set_index(["cell", "term"])["estimate"]
    far = table.apply(lambda r: abs(r["prediction"] - ols[r["group"], r["point"]]), axis=1)
    worst = far.fillna(np.inf).groupby([table[key] for key in ("method", "group", "point")]).max()
    of_three = error_bounds(FORMULA, people, q=100, **call).set_index(["method", "group", "point"])
    np.testing.assert_allclose(worst.loc[of_three.index], of_three["c_hat"])
    assert (errors["c_hat"].to_numpy() <= of_three["c_hat"].to_numpy()).all()
    with pytest.raises(dp.ArgumentError, match="public=True"):
        predictions(FORMULA, people, **{**call, "public": False})
