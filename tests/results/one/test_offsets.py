"""predict() at offsets and exposures: the model's means, and numbers that it refuses."""

import numpy as np
import pandas as pd
import pytest
from scipy import special

import dpstats as dp

RNG = np.random.default_rng(2)
N = 4000
FRAME = pd.DataFrame({"x": RNG.normal(size=N), "t": RNG.uniform(0.5, 3, N)})
FRAME["c"] = RNG.poisson(FRAME.t * np.exp(0.3 * FRAME.x))
FRAME["b"] = RNG.random(N) < 1 / (1 + np.exp(-FRAME.x))
NEW = pd.DataFrame({"x": [-1.0, 0.5]})
with dp.testing.insecure_seed(1):
    COUNTS = dp.dp_poisson("c ~ x", FRAME, epsilon=8, exposure="t")
    ODDS = dp.dp_logit("b ~ x", FRAME, epsilon=8, offset="t")


def test_an_exposure_multiplies_means_errors_and_intervals():
    alone, exposed = (COUNTS.predict(NEW, True, exposure=t) for t in (None, [2.0, 3.0]))
    assert exposed.to_numpy() == pytest.approx(alone.to_numpy() * [[2.0], [3.0]])
    means = COUNTS.predict(NEW).to_numpy()
    assert COUNTS.predict(NEW, exposure=2).tolist() == pytest.approx(2 * means)
    assert COUNTS.predict(NEW, offset=np.log(3), exposure=2).tolist() == pytest.approx(6 * means)


def test_an_offset_is_added_to_log_odds():
    alone, moved = (ODDS.predict(NEW, True, offset=o) for o in (None, [0.5, -1.0]))
    for column in ("mean", "mean_ci_lower", "mean_ci_upper"):
        before, after = (np.log(at[column] / (1 - at[column])) for at in (alone, moved))
        assert (after - before).tolist() == pytest.approx([0.5, -1.0])
    before, after = (at["mean_se"] / (at["mean"] * (1 - at["mean"])) for at in (alone, moved))
    assert after.tolist() == pytest.approx(before.tolist())


@pytest.mark.parametrize(("fit", "link"), [(COUNTS, np.log), (ODDS, special.logit)])
def test_which_linear_gives_the_linear_predictor_of_statsmodels(fit, link):
    means, predictors = (fit.predict(NEW, True, offset=1.0, which=w) for w in ("mean", "linear"))
    ends = ["mean", "mean_ci_lower", "mean_ci_upper"]
    assert link(means[ends].to_numpy()) == pytest.approx(predictors[ends].to_numpy())
    hand = fit.params["Intercept"] + fit.params["x"] * NEW.x + 1.0
    assert predictors["mean"].tolist() == pytest.approx(hand.tolist())
    spread = predictors["mean_ci_upper"] - predictors["mean"]
    assert (spread / predictors["mean_se"]).tolist() == pytest.approx([1.96] * 2, abs=1e-3)
    with pytest.raises(dp.ArgumentError, match="which to be one of mean, linear, got 'prob'"):
        fit.predict(NEW, which="prob")


def test_groups_take_which_too():
    frame = FRAME.assign(g=pd.Categorical(np.where(np.arange(N) % 2, "a", "b")))
    with dp.testing.insecure_seed(1):
        groups = dp.dp_logit("b ~ x", frame, by="g", epsilon=8)
    for interval in (False, True):
        alone = [groups[g].predict(NEW, interval, which="linear") for g in ("a", "b")]
        found = groups.predict(NEW, interval, which="linear").to_numpy()
        assert found.ravel() == pytest.approx(np.array(alone).ravel())


@pytest.mark.parametrize(
    "given",
    [
        {"offset": [1.0, 2.0, 3.0]},
        {"offset": np.nan},
        {"offset": "t"},
        {"offset": "1"},
        {"offset": np.complex64(1j)},
        {"exposure": 0.0},
        {"exposure": [1.0, -1.0]},
    ],
)
def test_other_numbers_are_refused(given):
    (name,) = given
    with pytest.raises(dp.ArgumentError, match=f"expected {name} to be a .*finite number"):
        COUNTS.predict(NEW, **given)


def test_a_model_without_an_offset_says_so():
    with pytest.raises(dp.ArgumentError, match="a fit of Logit predicts without exposure="):
        ODDS.predict(NEW, exposure=2.0)
    line = dp.dp_ols("x ~ t", FRAME, epsilon=1)
    with pytest.raises(dp.ArgumentError, match="predicts without offset="):
        line.predict({"t": [1.0]}, offset=1.0)
