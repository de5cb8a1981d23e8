"""Average marginal effects of a logit."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

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


def test_with_few_clusters_they_take_students_t_as_coefficients_do():
    """The normal law made intervals of eight clusters a sixth too short."""
    frame = FRAME.assign(state=np.arange(len(FRAME)) % 8)
    with dp.testing.insecure_seed(1):
        fit = dp.dp_logit("passed ~ z", frame, epsilon=50, cov_type="cluster", cluster="state")
    effects, (degrees,) = fit.get_margeff(), fit.uncertainty.degrees()
    assert 6 < degrees < 8
    half = (effects.margeff - effects.conf_int(0.1)[0]) / effects.margeff_se
    assert half.tolist() == pytest.approx([stats.t.ppf(0.95, degrees)])
    assert effects.pvalues.tolist() == pytest.approx(2 * stats.t.sf(effects.tvalues.abs(), degrees))
    assert list(effects.summary_frame())[2:4] == ["t", "Pr(>|t|)"]


def test_the_arguments_of_statsmodels_are_taken_where_they_ask_for_what_there_is():
    fit = fitted(8)
    named = fit.get_margeff(at="overall", method="dydx", atexog=None, dummy=False, count=False)
    assert named.margeff.equals(fit.get_margeff("overall", "dydx").margeff)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"method": "eyex"}, "expected method=\"dydx\", .* got 'eyex'; .* were not released"),
        ({"method": 3}, "got 3"),
        ({"dummy": True}, r"expected dummy=False, got True; .* compare predict\(newdata\)"),
        ({"count": True}, "expected count=False, got True"),
        ({"atexog": {1: 0}}, r"expected atexog=None, got \{1: 0\}"),
    ],
)
def test_what_statsmodels_has_beyond_them_is_refused(given, message):
    with pytest.raises(dp.ArgumentError, match=message):
        fitted(8).get_margeff(**given)


def test_another_place_and_a_linear_regression_are_refused():
    with pytest.raises(dp.ArgumentError, match="expected at=\"overall\".*got 'mean'"):
        fitted(1).get_margeff(at="mean")
    with pytest.raises(dp.ArgumentError, match=r"got a DataFrame; .* compare predict\(newdata\)"):
        fitted(1).get_margeff(FRAME)
    with pytest.raises(dp.ArgumentError, match='expected method="dydx".*got a ndarray'):
        fitted(1).get_margeff(method=np.ones(2))
    with pytest.raises(dp.NotReleasedError, match="its coefficients"):
        dp.dp_ols("y ~ x", FRAME, epsilon=1).get_margeff()
