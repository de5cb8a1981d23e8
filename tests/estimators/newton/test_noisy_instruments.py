"""Regressions with instruments: neighbours, the limit of no noise, coverage."""

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE
from tests.checks.noisy_instruments import check_random, check_worst

EFFECT = 0.5


def table(n: int, seed: int, strength: float = 0.5, spread: float = 0.0) -> pd.DataFrame:
    """y on d and x, where d has two instruments and an error in common with y."""
    rng = np.random.default_rng([n, seed])
    z, w, x, u, e = rng.normal(size=(5, n))
    d = 1 + strength * z + 0.3 * w + 0.3 * x + 0.5 * u + 0.8 * e
    g = pd.Categorical(rng.choice(["a", "b", "c"], n))
    y = 2 + EFFECT * d + 0.7 * x + u * np.exp(spread * z) + (g == "b")
    return pd.DataFrame({"y": y, "d": d, "x": x, "z": z, "w": w, "g": g})


def two_stages(
    frame: pd.DataFrame, instruments: list[str], labels=None, weights=1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Two-stage least squares of y on 1, g, x and d, by numpy; errors are HC1, or by ``labels``."""
    frame = frame.assign(one=np.sqrt(weights))
    given = [np.ones(len(frame)), frame.g == "b", frame.g == "c", frame.x]
    X = np.column_stack([*given, frame.d]).astype(float)
    Z = np.column_stack([*given, *(frame[name] for name in instruments)]).astype(float)
    X, Z, y = (part * frame[["one"]].to_numpy() for part in (X, Z, frame[["y"]].to_numpy()))
    fitted = Z @ np.linalg.lstsq(Z, X, rcond=None)[0]
    params = np.linalg.solve(fitted.T @ X, fitted.T @ y)
    scores = fitted * (y - X @ params)
    inverse, (n, p) = np.linalg.inv(fitted.T @ X), X.shape
    factor = n / (n - p)
    if labels is not None:
        scores = pd.DataFrame(scores).groupby(np.asarray(labels)).sum().to_numpy()
        factor = len(scores) / (len(scores) - 1) * (n - 1) / (n - p)
    cov = factor * inverse @ (scores.T @ scores) @ inverse.T
    return params.ravel(), np.sqrt(np.diag(cov))


def test_random_rows_move_no_query_further_than_stated():
    check_random()


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("neighbors", [ADD_REMOVE, REPLACE_ONE])
def test_the_worst_rows_reach_the_stated_sensitivity(neighbors, grouped):
    check_worst(neighbors, grouped)


@pytest.mark.parametrize("instruments", [["z"], ["z", "w"]])
@pytest.mark.parametrize("neighbors", [ADD_REMOVE, REPLACE_ONE])
def test_as_noise_vanishes_it_is_two_stage_least_squares(instruments, neighbors):
    frame = table(20_000, 1, spread=0.3)
    formula = f"y ~ g + x + [d ~ {' + '.join(instruments)}]"
    with dp.testing.insecure_seed(1):
        fit = dp.dp_iv(formula, frame, epsilon=1e9, neighbors=neighbors)
    params, errors = two_stages(frame, instruments)
    names = ["Intercept", "g[T.b]", "g[T.c]", "x", "d"]
    assert fit.params[names].to_numpy() == pytest.approx(params, abs=1e-5)
    assert fit.bse[names].to_numpy() == pytest.approx(errors, rel=0.01)
    assert fit.status == "ok" and fit.cov_type == "HC1"


KINDS = {
    "clusters": {"cov_type": "cluster", "cluster": "k"},
    "weights": {"weights": "v", "bounds": {"v": (0, 2)}},
    "units": {"unit": "who", "max_rows": 2},
    "units in clusters": {"unit": "who", "max_rows": 2, "cov_type": "cluster", "cluster": "k"},
}


@pytest.mark.parametrize("kind", KINDS)
def test_with_clusters_weights_and_units_it_tends_to_what_numpy_gives(kind):
    """Errors are in common in clusters, up to the factor for few of them, and in persons."""
    rng = np.random.default_rng(2)
    frame = table(20_000, 1, spread=0.3).assign(who=np.arange(20_000) // 2)
    frame["k"] = frame["who"] % 60
    frame["y"] += 0.3 * rng.normal(size=60)[frame["k"]] + rng.normal(size=10_000)[frame["who"]]
    frame["v"] = rng.choice([0.5, 1.0, 2.0], len(frame))
    with dp.testing.insecure_seed(1):
        fit = dp.dp_iv("y ~ g + x + [d ~ z + w]", frame, epsilon=1e9, **KINDS[kind])
    labels = {"weights": frame.index, "units": frame["who"]}.get(kind, frame["k"])
    params, errors = two_stages(frame, ["z", "w"], labels, frame["v"] if kind == "weights" else 1.0)
    names = ["Intercept", "g[T.b]", "g[T.c]", "x", "d"]
    assert fit.params[names].to_numpy() == pytest.approx(params, abs=1e-5)
    assert fit.bse[names].to_numpy() == pytest.approx(errors, rel=0.01)
    assert fit.cov_type == ("HC1" if kind == "weights" else "cluster")


def test_sets_and_intervals_hold_the_effect():
    """40 fits; with coverage .95 fewer than 34 hold it once in 160 times, here none does worse.

    In one of them noise gives a normal regressor a long tail, so that little is known of its rows.
    """
    held, statuses = [], []
    for seed in range(40):
        with dp.testing.insecure_seed(seed):
            fit = dp.dp_iv("y ~ x + [d ~ z]", table(5000, seed), epsilon=2)
        low, high = fit.conf_int().loc["d"]
        statuses.append(fit.status)
        held.append((EFFECT in fit.anderson_rubin(), low <= EFFECT <= high))
    assert (np.mean(held, axis=0) >= 0.85).all() and statuses.count("ok") >= 39


def test_a_weak_instrument_is_a_status_and_has_a_set():
    with dp.testing.insecure_seed(1):
        fit = dp.dp_iv("y ~ x + [d ~ z]", table(5000, 2, strength=0.05), epsilon=1)
    assert fit.status == "weak_instruments" and fit.first_stage.fvalue < 30
    assert np.isinf(fit.conf_int().to_numpy()).all() and fit.bse.isna().all()
    assert "anderson_rubin() has a set" in fit.reasons["conf_int"]
    assert EFFECT in fit.anderson_rubin()


@pytest.mark.parametrize("rows", [0, 1, 40])
def test_few_rows_tell_nothing_and_say_so(rows):
    with dp.testing.insecure_seed(1):
        fit = dp.dp_iv("y ~ x + [d ~ z]", table(max(rows, 2), 3)[:rows], epsilon=1)
    assert fit.status == "weak_instruments" and str(fit.anderson_rubin()) == "(-inf, inf)"
    assert "too few" in fit.reasons["conf_int"] and np.isnan(fit.first_stage.fvalue)


def test_an_endogenous_regressor_in_tiny_units_ends_no_call():
    """Squares of its coefficient leave the range of doubles."""
    rng = np.random.default_rng(0)
    y, d, z = rng.uniform(size=(3, 50))
    table = {"y": 1e99 * y, "d": 1e-99 * d, "z": z}
    fit = dp.dp_iv("y ~ [d ~ z]", table, epsilon=1, bounds={"d": (0, 1e-99), "y": (0, 1e99)})
    assert fit.status == "weak_instruments"
