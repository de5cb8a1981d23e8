"""Fits at estimated ranges: about the variables as clipped, with the share of clipped rows."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.estimators.contract import Release
from dpstats.estimators.least_squares.dense import ClippedSums
from dpstats.estimators.least_squares.dense.clipped_rows import (
    clipped_moments,
    rows_outside,
    with_share,
)
from dpstats.noise import Noise
from dpstats.numerics import Moments, Rows
from dpstats.privacy import ADD_REMOVE, GDP
from tests.checks.noisy_sums import PROBLEM

ESTIMATED = replace(PROBLEM, estimated=True)
LIMIT = GDP(1.0)


def rows(n, seed):
    """A normal and a skewed regressor."""
    generator = np.random.default_rng(seed)
    x, z = generator.normal(size=n), generator.lognormal(0, 0.5, n)
    return pd.DataFrame({"x1": x, "x2": z, "y": 1 + 0.5 * x + 0.2 * z + generator.normal(size=n)})


def test_a_row_is_counted_once_however_many_of_its_values_are_outside():
    inside = np.array([1.0, 0.5, -1, 1])
    X = np.array([inside, inside, inside * [1, 4, 4, 4], inside * [1, np.nan, 1, 1]])
    y = np.array([1.0, 1.5, 0.0, 0.0])
    assert rows_outside(Rows(X, y), ESTIMATED) == 3


def test_summaries_add_up_and_declared_ranges_count_nothing():
    generator = np.random.default_rng(1)
    X = np.column_stack([np.ones(40), generator.normal(size=(40, 3))])
    rows = Rows(X, np.zeros(40))
    for problem in (ESTIMATED, PROBLEM):
        parts = clipped_moments(rows[:15], problem) + clipped_moments(rows[15:], problem)
        whole = clipped_moments(rows, problem)
        assert (parts.sums.cross == whole.sums.cross).all()
        assert parts.clipped == whole.clipped
    assert whole.clipped == 0 and isinstance(whole, ClippedSums)
    assert isinstance(whole.sums, Moments) and PROBLEM.neighbors == ADD_REMOVE


@pytest.mark.parametrize("method", ["adassp", "ssp"])
def test_a_call_without_bounds_has_standard_errors_and_says_what_was_clipped(method):
    frame = rows(20_000, 2)
    with dp.testing.insecure_seed(3):
        result = dp.dp_ols("y ~ x1 + x2", frame, method=method, epsilon=1)
    assert result.status == "ok" and np.isfinite(result.bse).all()
    limits = result.schema
    low, high = ([getattr(limits[c], end) for c in frame] for end in ("low", "high"))
    truth = ((frame < low) | (frame > high)).any(axis=1).mean()
    known = result.release.evidence
    # six deviations, so a false alarm has a chance of 2e-9
    assert abs(known.clipped_share - truth) < 6 * known.clipped_share_error
    assert truth < 0.002
    steps = {event.step for event in result.privacy.events}
    assert "number of clipped rows" in steps


def covered(regressors, errors, n=5000, fits=40, **call):
    """How often both slopes are shown and each is covered, (2,), of least squares on all rows."""
    shown, hits = 0, np.zeros(2)
    for seed in range(fits):
        generator = np.random.default_rng(seed)
        x = regressors(generator, (n, 2))
        frame = pd.DataFrame(x, columns=["x1", "x2"])
        frame["y"] = 1 + x @ [1, -0.5] + errors(generator, n)
        with dp.testing.insecure_seed(seed):
            result = dp.dp_ols("y ~ x1 + x2", frame, **call)
        ends = result.conf_int().loc[["x1", "x2"]].to_numpy()
        if not np.isfinite(ends).all():
            assert result.status in ("clipped", "not_identified") and result.reasons["bse"]
            continue
        ols = np.linalg.lstsq(np.column_stack([x, np.ones(n)]), frame["y"], rcond=None)[0][:2]
        shown += 1
        hits += (ends[:, 0] <= ols) & (ols <= ends[:, 1])
    return shown / fits, hits / max(shown, 1)


LAWS = {
    "normal": lambda generator, size: generator.normal(size=size),
    "uniform": lambda generator, size: generator.uniform(0, 10, size),
    "exponential": lambda generator, size: generator.exponential(size=size),
    "lognormal": lambda generator, size: generator.lognormal(size=size),
}


@pytest.mark.parametrize(
    ("law", "least", "call"),
    [
        ("normal", 0.9, {"epsilon": 1}),
        ("normal", 0.9, {"epsilon": 1, "method": "ssp"}),
        ("normal", 0.9, {"epsilon": 1, "cov_type": "HC1"}),
        ("uniform", 0.9, {"epsilon": 1}),
        ("exponential", 0.5, {"epsilon": 4}),
    ],
    ids=str,
)
def test_intervals_without_bounds_cover_least_squares_on_all_rows(law, least, call):
    """Forty tables of 5,000 rows; with coverage .95 fewer than 34 have a chance of .3%."""
    shown, hits = covered(LAWS[law], LAWS["normal"], **{"method": "adassp", **call})
    assert shown >= least and hits.min() >= 0.85


@pytest.mark.parametrize(("method", "epsilon"), [("adassp", 1), ("ssp", 4)])
def test_intervals_are_hidden_where_tails_may_be_heavy(method, epsilon):
    shown, _ = covered(LAWS["lognormal"], LAWS["normal"], method=method, epsilon=epsilon)
    assert shown == 0


def test_a_hidden_interval_has_a_status_and_a_reason_that_names_the_columns():
    frame = rows(5000, 8).assign(x2=lambda d: np.exp(2 * d["x1"]))
    with dp.testing.insecure_seed(8):
        result = dp.dp_ols("y ~ x2", frame, method="adassp", epsilon=4)
    assert result.status == "clipped" and "range of x2" in result.reasons["bse"]
    assert np.isfinite(result.params).all() and np.isnan(result.bse).all()
    assert np.isnan(result.conf_int().to_numpy()).all() and np.isnan(result.pvalues).all()


def test_groups_hide_intervals_as_single_fits_do():
    frame = rows(20_000, 9).assign(part=["a", "b"] * 10_000)
    frame["x3"] = np.random.default_rng(9).lognormal(size=len(frame))
    with dp.testing.insecure_seed(9):
        heavy = dp.dp_ols("y ~ x3", frame, method="adassp", epsilon=4, by="part")
        light = dp.dp_ols("y ~ x1", frame, method="adassp", epsilon=4, by="part")
    assert set(heavy.status) == {"clipped"} and heavy.bse.isna().all(axis=None)
    assert set(light.status) == {"ok"} and light.bse.notna().all(axis=None)
    assert "range of x3" in heavy.summary() and "lie beyond one of them" in light.summary()


def test_rows_seen_beyond_the_ranges_hide_intervals():
    sums = clipped_moments(Rows(np.ones((4, 4)), np.zeros(4)), ESTIMATED)
    plain = Release(np.zeros(4), np.zeros(0), cov=np.eye(4))
    with dp.testing.insecure_seed(1):
        fits = [
            with_share(plain, clipped, 4.0, ESTIMATED, LIMIT, Noise(LIMIT)) for clipped in (0, 1000)
        ]
    assert sums.clipped == 0
    assert fits[0].status == "ok" and fits[0].cov is not None
    assert fits[1].status == "clipped" and fits[1].cov is None
    assert "more rows lie beyond" in fits[1].reasons["bse"]


def test_ranges_of_another_method_show_no_intervals_of_a_companion():
    """Its ranges leave tails out, which the intervals of adassp are not about."""
    with dp.testing.insecure_seed(2):
        result = dp.dp_ols("y ~ x1", rows(20_000, 3), method="gd_zcdp", companion="adassp",
                           epsilon=2)  # fmt: skip
    assert result.bse.isna().all() and "estimated range" in result.reasons["bse"]


def test_robust_errors_exist_without_bounds():
    with dp.testing.insecure_seed(4):
        result = dp.dp_ols("y ~ x1 + x2", rows(20_000, 5), method="adassp", epsilon=2,
                           cov_type="HC1")  # fmt: skip
    assert result.cov_type == "HC1" and np.isfinite(result.bse).all()


def test_declared_bounds_buy_no_count():
    frame = rows(2000, 6).clip(-3, 3)
    bounds = dict.fromkeys(frame, (-3, 3))
    with dp.testing.insecure_seed(5):
        result = dp.dp_ols("y ~ x1 + x2", frame, method="adassp", epsilon=4, bounds=bounds)
    assert [event.step for event in result.privacy.events] == ["X'X", "X'y", "y'y"]
    assert result.release.evidence.clipped_share is None
