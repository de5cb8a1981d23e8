"""Kendall's tau: pairs counted, and how far one row moves a score."""

import math

import numpy as np
import pytest
from scipy.stats import kendalltau

from dpstats.noise import Noise
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE, PureDP
from dpstats.selection import SELECTORS, Candidates
from dpstats.selection.kendall import score, spreads
from dpstats.selection.ranks import Ranked, association
from tests.checks.selections import changes, columns

RELATIONS = (ADD_REMOVE, REPLACE_ONE)


HUGE = PureDP(1e9)


def tau(a, b):
    """S / (n - 1) pair by pair."""
    S = np.sign(np.subtract.outer(a, a)) * np.sign(np.subtract.outer(b, b))
    return S.sum() / 2 / max(len(a) - 1, 1)


def test_pairs_are_counted_exactly():
    rng = np.random.default_rng(1)
    for n in [*range(40), 257, 1000]:
        a, b = columns(rng, n)
        counted = association(Ranked.of(a), Ranked.of(b))
        assert counted == pytest.approx(abs(tau(a, b)) * max(n - 1, 1))
    wide = np.array([-1.5e308, -0.0, 0.0, 1.5e308])
    assert association(Ranked.of(wide), Ranked.of(wide)) == 5


def test_without_ties_it_is_the_papers_tau():
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(2, 60))
    discordant = sum((a[i] - a[j]) * (b[i] - b[j]) < 0 for i in range(60) for j in range(i))
    assert tau(a, b) == pytest.approx(30 * (1 - 2 * discordant / math.comb(60, 2)))
    assert tau(a, b) == pytest.approx(30 * kendalltau(a, b).statistic)


def unrelated(n):
    """Two orders of n rows with S = 0: one, and a rotation of it."""
    up = np.arange(n, dtype=float)
    other = min((np.r_[up[i:], up[:i]] for i in range(n)), key=lambda c: abs(tau(c, up)))
    assert tau(up, other) == 0
    return up, other


@pytest.mark.parametrize("n", [64, 441])
def test_added_rows_reach_the_spread(n):
    """j agrees with y, and y has nothing to do with s; l is weakly related to either or none."""
    rng = np.random.default_rng(0)
    y, s = unrelated(n)
    top, weak = 2 * n, s
    Z = np.column_stack([y, weak, s, y])  # j, l, s, y
    row = [-1, top, 0.5, top]
    assert changes((Z, np.insert(Z, n, row, axis=0)), ADD_REMOVE, [0, 1, 2], [2])[0] >= 0.99
    while not 2 <= tau(weak, s) <= 0.95 * tau(weak, y) <= 5:
        weak = rng.permutation(y)
    Z = np.column_stack([y, weak, s, y])
    row = [-1, top, -1, top]
    moved = changes((Z, np.insert(Z, n, row, axis=0)), ADD_REMOVE, [0, 1, 2], [2, 0])[1]
    assert 0.99 <= moved <= 1


@pytest.mark.parametrize("n", [64, 441])
def test_replaced_rows_reach_the_spread(n):
    y, s = unrelated(n)
    s = np.argsort(np.argsort(y + 0.5 * s)).astype(float)  # agrees with y, but not wholly
    Z, top = np.column_stack([y, y, s, y]), 2 * n
    old, new = [top, -1, top, -1], [top, -1, -1, top]
    pair = [np.insert(Z, n, row, axis=0) for row in (old, new)]
    moves = changes(pair, REPLACE_ONE, [0, 1, 2], [2, 0])
    assert 0.99 <= min(moves) <= max(moves) <= 1


def test_half_a_spread_would_be_caught():
    """The two tests above compare with these numbers, not with others."""
    assert spreads(ADD_REMOVE) == (2.5, 4.5)
    assert spreads(REPLACE_ONE) == (4.0, 8.0)


def test_one_row_moves_tau_b_far_and_ours_by_three_halves():
    """The score of a public implementation: (n / 2) tau-b after one row, ties and all."""
    n = 300
    x, y = np.zeros(n), np.arange(n, dtype=float)
    x[0] = 1e-9
    more = np.append(x, 1.0), np.append(y, 1e3)
    public = [len(a) / 2 * abs(kendalltau(a, b).statistic) for a, b in ((x, y), more)]
    ours = [abs(tau(a, b)) for a, b in ((x, y), more)]
    assert abs(public[1] - public[0]) > 8
    assert abs(ours[1] - ours[0]) <= 1.5


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_constant_column_never_wins(relation):
    """Nor does it when every other term is a near copy of the ones already chosen."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=400)
    copies = [x + 0.01 * rng.normal(size=400) for _ in range(4)]
    X = np.column_stack([np.full(400, 3.0), *copies])
    y = x + rng.normal(size=400)
    candidates = Candidates(X, y, np.arange(5), relation)
    chosen = SELECTORS["kendall"].select(candidates, 4, HUGE, Noise(HUGE))
    assert sorted(chosen) == [1, 2, 3, 4]
    assert score(0, 10**9, 3, 400) == 0 < score(1000, 10**9, 3, 400)
