"""Where variances of coefficients are larger than numbers go."""

import numpy as np
import pytest

import dpstats as dp
from dpstats.estimators.newton.steps.coefficient_errors import marked, overflows

LARGE = np.array([[2.0, 1e155], [1e155, np.inf]])
COLUMNS = {
    "x": [-400.0, -399, -398, -400, -450], "b": [0, 1, 0, 1, 1], "c": [0, 1, 3, 2, 1],
    "d": [1, 2, 3, 4, 3],
}  # fmt: skip
TABLE = {name: np.array(values) for name, values in COLUMNS.items()}


@pytest.mark.parametrize("variance", [np.inf, -np.inf, np.nan, 1e305])
def test_coefficients_are_marked_by_a_variance_that_is_finite(variance):
    lost = overflows(np.eye(2), np.diag([1.0, variance]))
    np.testing.assert_array_equal(lost, [False, True])
    np.testing.assert_array_equal(marked(LARGE, lost), np.diag([2.0, 1e300]))
    assert marked(LARGE, np.zeros(2, dtype=bool)) is LARGE


@pytest.mark.parametrize(
    "fit",
    [
        lambda: dp.dp_logit("b ~ np.exp(x)", TABLE, epsilon=500),
        lambda: dp.dp_poisson("c ~ np.exp(x)", TABLE, epsilon=500),
        lambda: dp.dp_ols("c ~ np.exp(x)", TABLE, epsilon=500),
        lambda: dp.dp_iv("c ~ np.exp(x) + [d ~ b]", TABLE, epsilon=500),
        lambda: dp.dp_iv("c ~ [d ~ np.exp(x)]", TABLE, epsilon=500),
    ],
)
def test_a_column_in_tiny_units_has_no_interval_and_can_be_stored(fit):
    with dp.testing.insecure_seed(3):
        found = fit()
    assert type(found).from_json(found.to_json()) == found
    assert np.isinf(found.conf_int().iloc[1]).all() and np.isnan(found.bse.iloc[1])
    assert found.reasons["conf_int"] in " ".join(str(found.summary()).split())


def test_nothing_is_known_of_what_depends_on_such_a_column():
    """Its weight is as tiny as its coefficient is large."""
    with dp.testing.insecure_seed(4):
        fit = dp.dp_ols("c ~ np.exp(x)", TABLE, epsilon=500)
    assert fit.status == "not_identified" and "larger than numbers go" in fit.reasons["bse"]
    assert np.isfinite(fit.conf_int().iloc[0]).all() and fit.bse.iloc[0] > 0
    at = fit.predict({"x": [-400.0]}, interval=True)
    assert np.isinf(at["mean_ci_upper"]).all() and at["mean_se"].isna().all()
    assert np.isinf(fit.error_bound()["np.exp(x)"])
