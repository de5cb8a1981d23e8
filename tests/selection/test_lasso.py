"""The lasso's votes: their spread, the rows of a subset, and what is recorded."""

import numpy as np
import pytest

from dpstats.privacy import (
    ADD_REMOVE,
    RELATIONS,
    REPLACE_ONE,
    PureDP,
)
from dpstats.selection import SELECTORS, Candidates
from dpstats.selection.lasso import count_votes, voters
from tests.checks.replay import (
    Recorder,
)
from tests.checks.selections import one_of_each

HUGE = PureDP(1e9)


@pytest.mark.parametrize("relation", RELATIONS)
def test_lasso_votes_stay_within_their_spread_and_reach_it(relation):
    rng, worst = np.random.default_rng(6), 0
    for trial in range(150):
        n, k = int(rng.integers(0, 25)), int(rng.integers(1, 4))
        X, y = one_of_each(rng, n, 5)
        X[:, 4] = np.round(X[:, 4]) if trial % 2 else 1.0
        row, at = rng.choice([-1e150, -1.0, 0.0, 1e150], 6), int(rng.integers(0, n + 1))
        labels = rng.integers(0, 4, n + 1)
        grown = np.insert(X, at, row[:5], axis=0), np.insert(y, at, row[5])
        start = X, y, np.delete(labels, at)
        if relation == REPLACE_ONE:
            new = np.insert(X, at, rng.normal(size=5), axis=0), np.insert(y, at, 0.0)
            start = *new, labels
        votes = [
            count_votes(Candidates(A, b, np.array([0, 1, 1, 2, 3]), relation), which, k)
            for A, b, which in (start, (*grown, labels))
        ]
        moved = votes[1] - votes[0]
        assert np.abs(moved).max() <= 1
        worst = max(worst, moved.max() - moved.min())
    assert worst == 2


def test_lasso_records_the_spread_and_a_noisy_count():
    rng = np.random.default_rng(7)
    X, y = one_of_each(rng, 200, 4)
    for relation in RELATIONS:
        noise = Recorder(HUGE)
        SELECTORS["lasso"].select(Candidates(X, y, np.arange(4), relation), 2, HUGE, noise)
        scores = [asked for asked in noise.asked if asked.kind == "permute-and-flip"]
        assert [2 * asked.sensitivity for asked in scores] == [2, 2]
        counted = [event.step for event in noise.events if event.mechanism == "laplace"]
        assert counted == (["number of rows for the votes"] if relation == ADD_REMOVE else [])


def test_votes_of_a_subset_depend_on_its_own_rows_alone():
    rng = np.random.default_rng(8)
    X, y = one_of_each(rng, 300, 6)
    labels = rng.integers(0, 9, 300)
    together = count_votes(Candidates(X, y, np.arange(6), ADD_REMOVE), labels, 2)
    apart = []
    for own in (labels == i for i in range(9)):
        alone = Candidates(X[own], y[own], np.arange(6), ADD_REMOVE)
        apart.append(count_votes(alone, np.zeros(own.sum(), int), 2))
    np.testing.assert_array_equal(together, np.sum(apart, axis=0))
    assert together.sum() <= 18


def test_voters_are_public_and_at_least_one():
    assert voters(-50.0, 3, PureDP(1.0)) == 1
    assert voters(15_000.0, 3, PureDP(1.0)) == 300  # 50 scales of 6
    assert voters(150.0, 3, PureDP(1.0)) == 10
