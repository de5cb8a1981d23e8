"""predict() at offsets and exposures: the model's means, and numbers that it refuses."""

import numpy as np
import pandas as pd
import pytest

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


@pytest.mark.parametrize(
    "given",
    [
        {"offset": [1.0, 2.0, 3.0]},
        {"offset": np.nan},
        {"offset": "t"},
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
