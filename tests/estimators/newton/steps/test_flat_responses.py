"""What scores lose to a limit where the response stays flat, against rows that are known."""

from dataclasses import replace

import numpy as np
import pytest

from dpstats.estimators.contract import Extremes
from dpstats.estimators.newton.steps.flat_responses import flat_losses, steepest
from dpstats.estimators.newton.steps.score_tails import SCORE_EDGES, Tail, score_tail
from dpstats.estimators.newton.steps.whitening import Whitening
from tests.checks.newton_queries import BASIS, queries

ROWS = 400_000
# Rows far out in a column, on both sides.
FAR = np.random.default_rng(3).standard_t(5, size=ROWS) / np.sqrt(5 / 3)
# Nothing is known of scores.
UNKNOWN = Tail(np.array([[1.0]]), np.array([1e9]), np.ones(1), 0.4, deviation=1e9)


def histogram(sizes: np.ndarray, deviation: float = 1e-6) -> Tail:
    """The tail that a histogram of scores of these sizes tells."""
    counts = np.histogram(sizes, np.concatenate([[0.0], SCORE_EDGES, [np.inf]]))[0]
    return score_tail(counts.astype(float), deviation, 1.0, 1.0, 1e3)


def distances(values: np.ndarray) -> np.ndarray:
    """Beyond which the shares of a table of these values lie."""
    return np.quantile(np.abs(values), 1 - Extremes.SHARES)


def losses(tail: Tail, slope: float = 0.4, exponential: bool = False, **known):
    """What a fit along the first column may lose there, and the direction of that."""
    made, columns = queries(1e5), np.linalg.qr(BASIS.span)[0]
    whitening = Whitening(columns, np.ones(6), np.zeros(6), np.ones(6), np.zeros((6, 6)))
    direction = BASIS.directions(columns)[0]
    direction = direction / np.linalg.norm(direction)
    reference = made.problem.reference
    known = {"far_tails": np.array([float((FAR**4).mean()) - 3, 0.0]),
             "distances": np.array([distances(FAR), 0 * Extremes.SHARES])} | known  # fmt: skip
    extremes = replace(reference.extremes, **known)
    problem = replace(made.problem, reference=replace(reference, extremes=extremes))
    eta, variance = slope * direction, np.full(6, 1e-4)
    at = made.with_problem(problem), whitening, eta, variance
    return flat_losses(*at, tail, ROWS, 1.0, exponential), direction


def test_rows_far_out_in_a_column_lose_no_more_than_its_kurtosis_says():
    """A response that stays flat: scores beyond a limit, and all of what is cut off them."""
    found, direction = losses(UNKNOWN)
    kurtosis, t = float((FAR**4).mean()), 6.0
    expected = 0.6 * (0.4**2 + 1e-4) * ROWS * (kurtosis - 3) / t
    assert found.longest == pytest.approx(expected)
    for limit in (1.0, 2.0, 5.0, 20.0):
        np.testing.assert_allclose(found.beyond(limit, UNKNOWN), [expected / limit * direction])
        sizes = 0.4 * FAR**2 / np.sqrt(t)
        assert np.maximum(sizes - limit, 0).sum() < 0.4**2 * ROWS * kurtosis / t / limit


@pytest.mark.parametrize("slope", [0.2, 0.4])
def test_rows_far_out_lose_more_where_means_grow_by_factors_along_the_column(slope):
    """Scores a (e^(b a) - 1) on the side where they do: no less than all of what is cut."""
    found, _ = losses(UNKNOWN, slope, exponential=True)
    ahead = FAR[FAR > 0]
    sizes = ahead * np.expm1(np.minimum(slope * ahead, 3.0)) / np.sqrt(6)
    for limit in (2.0, 5.0, 20.0):
        assert np.maximum(sizes - limit, 0).sum() < found.longest / limit
    linear = losses(UNKNOWN, slope)[0].longest
    assert 1.5 * linear < found.longest < 15 * linear
    assert losses(UNKNOWN, 0.0, True)[0].longest == pytest.approx(
        losses(UNKNOWN, 0.0)[0].longest, rel=0.1
    )


def test_columns_without_a_tail_lose_nothing():
    found, _ = losses(UNKNOWN, far_tails=np.zeros(2))
    assert found.longest == 0 and found.beyond(1.0, UNKNOWN).shape == (0, 6)


def test_a_histogram_of_scores_tells_how_flat_a_response_may_be():
    """A fourth as flat as it seems, and then no flatter; where noise hides the rows it may be."""
    for part, expected in ((1.0, 1.0), (0.25, 0.25)):
        tail = histogram(part * 0.4 * FAR**2 / np.sqrt(6))
        ratio = np.sqrt(losses(tail)[0].longest / losses(UNKNOWN)[0].longest)
        assert expected * 0.95 < ratio < max(expected * 1.5, 1.01)
    hidden = histogram(np.ones(ROWS), deviation=ROWS / 10)
    assert losses(hidden)[0].longest == pytest.approx(losses(UNKNOWN)[0].longest)


def test_nothing_is_lost_where_a_histogram_without_noise_counts_nothing():
    none = histogram(np.ones(ROWS))
    found, _ = losses(none)
    assert found.longest > 0
    assert np.linalg.norm(found.beyond(40.0, none)) < 1e-2


def test_a_steep_fit_would_have_longer_scores_than_are_counted():
    """Scores of .7 times a squared distance, in bins a half wide; stretched ones of a part."""
    rows = np.random.default_rng(4).pareto(4, ROWS)
    found = steepest(histogram(0.7 * rows**2), ROWS, distances(rows))
    assert 0.65 < found < 1.05
    some = np.where(np.random.default_rng(5).random(ROWS) < 0.25, 2 * rows, 0.0)
    found = steepest(histogram(0.7 * some**2), ROWS, distances(rows), 4.0)
    assert 0.65 < found < 1.05
    assert steepest(UNKNOWN, ROWS, distances(rows)) == np.inf
