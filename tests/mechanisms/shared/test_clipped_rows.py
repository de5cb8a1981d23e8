"""Fits at estimated ranges: about the variables as clipped, with the share of clipped rows."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.mechanisms.shared.clipped_rows import ClippedSums, clipped_moments, rows_outside
from dpstats.numerics import Moments
from dpstats.privacy import ADD_REMOVE
from tests.mechanisms.shared.test_least_squares import PROBLEM

ESTIMATED = replace(PROBLEM, estimated=True)


def rows(n, seed):
    """A normal and a skewed regressor."""
    generator = np.random.default_rng(seed)
    x, z = generator.normal(size=n), generator.lognormal(0, 0.5, n)
    return pd.DataFrame({"x1": x, "x2": z, "y": 1 + 0.5 * x + 0.2 * z + generator.normal(size=n)})


def test_a_row_is_counted_once_however_many_of_its_values_are_outside():
    inside = np.array([1.0, 0.5, -1, 1])
    X = np.array([inside, inside, inside * [1, 4, 4, 4], inside * [1, np.nan, 1, 1]])
    y = np.array([1.0, 1.5, 0.0, 0.0])
    assert rows_outside(X, y, ESTIMATED) == 3


def test_summaries_add_up_and_declared_ranges_count_nothing():
    generator = np.random.default_rng(1)
    X, y = np.column_stack([np.ones(40), generator.normal(size=(40, 3))]), np.zeros(40)
    for problem in (ESTIMATED, PROBLEM):
        parts = clipped_moments(X[:15], y[:15], problem) + clipped_moments(X[15:], y[15:], problem)
        whole = clipped_moments(X, y, problem)
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
    statistics = result.release.statistics
    # six deviations, so a false alarm has a chance of 2e-9
    assert abs(statistics["clipped_share"] - truth) < 6 * statistics["clipped_share_error"]
    assert 0 < truth < 0.05 and "as clipped" in result.method_report
    assert "outside the estimated" in " ".join(str(result.summary()).split())
    steps = {event.step for event in result.privacy.events}
    assert "number of clipped rows" in steps


def test_intervals_without_bounds_cover_least_squares_of_the_clipped_variables():
    """Forty tables of 5,000 rows; with coverage .9 fewer than 103 of 120 have a chance of 3%.

    Coverage is that of least squares on the same rows, so it exceeds 95% where the noise is small.
    """
    hits = shown = 0
    for seed in range(40):
        frame = rows(5000, seed)
        with dp.testing.insecure_seed(seed):
            result = dp.dp_ols("y ~ x1 + x2", frame, method="adassp", epsilon=2)
        ends = result.conf_int().to_numpy()
        if not np.isfinite(ends).all():
            continue
        clipped = frame.clip(
            [result.schema[c].low for c in frame], [result.schema[c].high for c in frame], axis=1
        )
        X = np.column_stack([np.ones(len(frame)), clipped["x1"], clipped["x2"]])
        ols = np.linalg.lstsq(X, clipped["y"], rcond=None)[0]
        shown += 3
        hits += int(((ends[:, 0] <= ols) & (ols <= ends[:, 1])).sum())
    assert shown >= 100 and hits >= 0.86 * shown


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
    assert "clipped_share" not in result.release.statistics
