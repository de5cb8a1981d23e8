"""Average marginal effects of a logit."""

import numpy as np
import pytest
import statsmodels.api as sm

import dpstats as dp

FRAME = dp.simulate.line(5000, seed=1).assign(z=lambda d: np.sin(np.arange(len(d))))
FRAME["passed"] = (FRAME.y + 0.1 * FRAME.z > FRAME.y.median()).astype(int)


def fitted(epsilon):
    """A logit whose noise repeats."""
    with dp.testing.insecure_seed(1):
        return dp.dp_logit("passed ~ x + z", FRAME, epsilon=epsilon)


def test_without_noise_they_are_those_of_statsmodels():
    theirs = sm.Logit.from_formula("passed ~ x + z", FRAME).fit(disp=0).get_margeff()
    ours = fitted(1e9).get_margeff()
    assert ours.margeff.to_numpy() == pytest.approx(theirs.margeff, rel=1e-4)
    assert ours.margeff_se.to_numpy() == pytest.approx(theirs.margeff_se, rel=0.03)
    assert list(ours.summary_frame()) == list(theirs.summary_frame())
    assert ours.conf_int().to_numpy() == pytest.approx(theirs.conf_int(), abs=2e-3)
    assert "dy/dx" in repr(ours)
    rows = ours.summary().tables[0].data
    assert rows[0][1:] == list(theirs.summary_frame()) and rows[1][0] == "x"
    assert float(rows[1][1]) == pytest.approx(ours.margeff["x"], abs=1e-4)


def test_noise_widens_them():
    little, much = fitted(100).get_margeff(), fitted(1).get_margeff()
    assert (much.margeff_se > little.margeff_se).all()
    assert (much.pvalues["x"], list(much.margeff.index)) == (pytest.approx(0, abs=1e-6), ["x", "z"])


def test_where_nothing_is_known_of_a_coefficient_its_effect_has_no_interval():
    with dp.testing.insecure_seed(1):
        few = dp.dp_logit("passed ~ x", FRAME[:40], epsilon=0.5).get_margeff()
    assert np.isnan(few.margeff_se["x"]) and np.isinf(few.conf_int().to_numpy()).all()


def test_another_place_and_a_linear_regression_are_refused():
    with pytest.raises(dp.ArgumentError, match="expected at=\"overall\".*got 'mean'"):
        fitted(1).get_margeff(at="mean")
    with pytest.raises(dp.NotReleasedError, match="its coefficients"):
        dp.dp_ols("y ~ x", FRAME, epsilon=1).get_margeff()
