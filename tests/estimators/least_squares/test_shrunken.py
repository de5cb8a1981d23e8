"""shrunken: what it releases when little can be seen, its intervals and its privacy."""

import math

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from benchmarks import coverage
from dpstats.estimators.least_squares.dense import NoisyMoments
from dpstats.estimators.least_squares.dense.shrinkage import needed_rows, shrunken_slopes
from dpstats.privacy import REPLACE_ONE
from dpstats.testing import insecure_seed
from tests.checks.shrunken import (
    LAWS,
    LINE,
    NOISE,
    RNG,
    ROWS,
    STRANGE,
    X1,
    check_composite,
    named,
    squeezed,
)


def fitted(data, formula="y ~ x1 + x2", seed=1, **call):
    """A fit with noise that repeats."""
    with insecure_seed(seed):
        return dp.dp_ols(formula, data, **{"epsilon": 1, "method": named(call), **call})


def test_the_shortest_call_fits_without_bounds():
    result = fitted(LINE)
    assert (result.method, result.status) == ("shrunken", "ok")
    np.testing.assert_allclose(result.params, [3, 2, -1], rtol=0.15)
    assert result.method_report in squeezed(result)
    assert dp.DPResults.from_json(result.to_json()) == result


def test_delta_zero_is_pure():
    result = fitted(LINE, epsilon=4, delta=0)
    assert (result.method, result.privacy.delta, result.status) == ("shrunken_pure", 0, "ok")
    assert {event.mechanism for event in result.privacy.events} == {"laplace"}
    np.testing.assert_allclose(result.params, [3, 2, -1], rtol=0.2)


@pytest.mark.parametrize("seed", range(5))
def test_where_there_is_no_slope_a_constant_is_released(seed):
    result = fitted(LINE.assign(y=5 + NOISE), seed=seed)
    assert result.status == "constant"
    assert result.params[["x1", "x2"]].tolist() == [0, 0]
    assert abs(result.params["Intercept"] - 5) < 0.3
    assert "rows at this epsilon" in squeezed(result)


OTHER_GUARANTEES = [{"epsilon": 1, "neighbors": REPLACE_ONE}, {"epsilon": 1, "delta": 0}]


@pytest.mark.parametrize(
    "call", [*({"epsilon": e} for e in (1e-3, 0.1, 1, 10)), *OTHER_GUARANTEES], ids=str
)
@pytest.mark.parametrize("name", STRANGE)
def test_there_is_always_an_answer_in_the_released_range(name, call):
    result = fitted(STRANGE[name], **call)
    assert result.status in ("ok", "constant") and np.isfinite(result.params).all()
    far = pd.DataFrame({"x1": [-1e300, 0, 1e300], "x2": [1e300, 0, 1e300]})
    kind, values = result.schema["y"], result.predict(far).to_numpy()
    assert np.all((kind.low <= values) & (values <= kind.high))


@pytest.mark.parametrize("seed", range(4))
def test_a_spike_beside_thinly_spread_values_does_not_become_the_range(seed):
    y = STRANGE["spike, response"]["y"]
    result = fitted(LINE.assign(y=y), seed=seed)
    assert result.schema["y"].low < 25_100 and result.schema["y"].high > 30_000


def test_a_regressor_that_is_hardly_seen_gets_a_rough_range():
    thin = LINE.assign(x1=np.sign(X1) * np.exp(RNG.uniform(-27, 34, ROWS)))
    result = fitted(thin, seed=2)
    assert result.status == "ok" and abs(result.params["x2"] + 1) < 0.5
    assert 1 < result.schema["x1"].high < 2.0**50
    assert "too few rows for a histogram of x1 at this epsilon" in result.method_report


@pytest.mark.parametrize("name", LAWS)
def test_with_500_rows_a_constant_is_nearly_the_mean(name):
    """The median over 15 tables of what the constant's error takes of R^2, at epsilon = 1."""
    rng, lost = np.random.default_rng(4), []
    for seed in range(15):
        y = LAWS[name](rng, 500)
        result = fitted(pd.DataFrame({"x1": rng.normal(size=len(y)), "y": y}), "y ~ x1", seed)
        lost.append((result.params["Intercept"] - y.mean()) ** 2 / y.var())
    assert np.median(lost) < 0.05


def test_a_rough_range_says_how_many_rows_would_do():
    result = fitted(LINE[:300])
    said = squeezed(result)
    assert "only a median and a spread were released" in said and "bounds= are better" in said
    steps = [event.step for event in result.privacy.events]
    assert steps.count("median of y") == steps.count("spread of y") == 1
    assert sum(share for _, share in result.privacy.shares()) == pytest.approx(1)


def noisy(rng, n, d, sd, slopes):
    """Exact and noisy cross-products of n uniform rows."""
    X = np.column_stack([np.ones(n), rng.uniform(-1, 1, (n, d))])
    y = X[:, 1:] @ slopes + 0.2 * rng.normal(size=n)
    E = np.triu(rng.normal(0, sd, (d + 1, d + 1)))
    gram, cross = X.T @ X + E + np.triu(E, 1).T, X.T @ y + rng.normal(0, sd, d + 1)
    return X, y, NoisyMoments(gram, cross, float(y @ y), sd, sd, 0)


def test_without_noise_the_slopes_are_those_of_ols():
    X, y, moments = noisy(np.random.default_rng(1), 500, 3, 1e-9, [0.3, 0, -0.2])
    ols = np.linalg.lstsq(X, y, rcond=None)[0]
    np.testing.assert_allclose(moments.theta(shrunken_slopes(moments)), ols, atol=1e-6)


def test_slopes_are_rarely_taken_from_noise_alone():
    """400 tables without a slope: more than 40 taken has a chance below 1e-6 if 1 in 30 is."""
    rng = np.random.default_rng(2)
    taken = sum(
        shrunken_slopes(noisy(rng, 300, d, 30.0, np.zeros(d))[2]).any()
        for d in (1, 5)
        for _ in range(200)
    )
    assert taken < 40


def test_a_tenth_of_the_variance_shows_from_about_the_rows_that_are_said():
    rng = np.random.default_rng(3)
    slopes = np.full(3, 0.2 * math.sqrt(1 / 9))
    shown = {}
    for n in (1000, 8000):
        tables = [noisy(rng, n, 3, 40.0, slopes)[2] for _ in range(60)]
        shown[n] = np.mean([shrunken_slopes(moments).any() for moments in tables])
        assert 1000 < np.nanmedian([needed_rows(moments) for moments in tables]) < 8000
    assert shown[1000] < 0.3 and shown[8000] > 0.9


def test_a_constant_keeps_its_unit_under_a_row_norm():
    """Rows (1, x) of norm up to 5, scaled to a fifth: the constant column is 0.2 then."""
    data = pd.DataFrame({"x": X1, "y": 0.8 + 0.01 * NOISE})
    result = fitted(data, "y ~ x", epsilon=50, bounds={"y": (0, 1)}, row_norm=5.0)
    assert result.params["Intercept"] == pytest.approx(0.8, abs=0.02)


DECLARED = {"x1": (-3, 3), "x2": (-3, 3), "y": (-8, 14)}


def test_at_declared_bounds_there_are_intervals_of_least_squares():
    result = fitted(LINE, epsilon=8, bounds=DECLARED)
    assert np.isfinite(result.bse).all() and result.companion is not None
    low, high = result.conf_int().to_numpy().T
    assert np.all((low < result.companion) & (result.companion < high))
    assert "about least squares on the same noisy sums" in squeezed(result)
    assert [event.step for event in result.privacy.events] == ["X'X", "X'y", "y'y"]
    assert dp.DPResults.from_json(result.to_json()) == result


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ({"bounds": DECLARED, "epsilon": 0.1}, "the noise could account for a direction"),
        ({"bounds": DECLARED, "delta": 0}, "biases any interval; with delta > 0"),
        ({}, "privately estimated ranges clip"),
    ],
)
def test_without_intervals_there_is_a_reason(call, reason):
    result = fitted(LINE, **call)
    assert result.bse.isna().all() and result.companion is None
    assert reason in result.reasons["bse"] and reason in squeezed(result)


def test_intervals_cover():
    for d, n in ((1, 1000), (3, 4000)):
        cell = coverage.Cell("shrunken", n, d=d, epsilons=(16.0,))
        (outcome,) = coverage.run(cell, 300, seed=4)
        for j in range(3 if d == 1 else 1):
            assert coverage.verdict(outcome.covered[:, j], outcome.ols_covered[:, j]) == "holds"
        assert outcome.covered[:, 0].mean() > 0.9


def test_no_row_moves_a_whole_call_further_than_stated():
    check_composite()


# A row more, off the line that all others lie on, and the median is another one.
FEW = pd.DataFrame({"x": np.tile([0.0, 64.0], 10), "y": np.tile([0.0, 64.0], 10)})
MORE = pd.concat([FEW, FEW[1:2].assign(x=0.0)])


@pytest.mark.parametrize(("epsilon", "refuted"), [(1, False), (1000, True)])
def test_an_audit_of_a_whole_call_refutes_what_is_not_so(epsilon, refuted):
    """The claim is epsilon = 1; the seed is fixed, and the bound fails once in a thousand."""

    def published(table):
        result = dp.dp_ols("y ~ x", table, epsilon=epsilon, method="shrunken")
        ends = [(kind.low, kind.high) for kind in result.schema.values()]
        return np.concatenate([np.clip(result.params, -1e9, 1e9), np.ravel(ends)])

    with insecure_seed(3):
        found = dp.audit(
            published, epsilon=1, delta=1e-6, pairs=[(FEW, MORE)], trials=80, alpha=1e-3
        )
    assert found.violated == refuted
