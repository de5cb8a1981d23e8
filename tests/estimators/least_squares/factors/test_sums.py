"""Sums in indicators and numbers: exact, without noise on zeros, and as sensitive as stated."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from dpstats.estimators import METHODS
from dpstats.estimators.least_squares.factors import BlockBasis, BlockSums
from dpstats.estimators.least_squares.factors.sums import release_block_sums
from dpstats.noise import Noise
from dpstats.privacy import ADD_REMOVE, GDP, RELATIONS, REPLACE_ONE
from dpstats.testing import insecure_seed
from tests.checks.block_sums import (
    asked,
    check_reached,
    coded,
    moved,
    phi_of,
    problem_of,
    released,
    rows,
)
from tests.checks.replay import Case


@pytest.mark.parametrize("blocks", [1, 2, 4])
def test_sums_are_those_of_the_rows_and_add_up(blocks):
    """At a huge budget the released sums are the products of the rows, 20,000 in two parts."""
    basis = BlockBasis.of(problem_of(blocks, 2))
    X, y = rows(blocks, 2, 20_000)
    table = coded(X, y, basis)
    parts = BlockSums.of(table[:9000], basis) + BlockSums.of(table[9000:], basis)
    phi = phi_of(X, y, basis).astype(np.int64)
    whole = (phi.T @ phi) / 4.0**20
    noisy = released(parts, basis, mu=1e7)
    starts = np.concatenate([[0], np.cumsum(basis.sizes)])
    places = [slice(a, b) for a, b in zip(starts[:-1], starts[1:], strict=True)]
    numbers = slice(starts[-1], starts[-1] + 2)
    close = {"atol": 1e-4, "rtol": 0}
    for k, place in enumerate(places):
        np.testing.assert_allclose(noisy.counts[k], np.diag(whole[place, place]), **close)
        np.testing.assert_allclose(noisy.levels[k], whole[place, starts[-1] :], **close)
    for j, k in combinations(range(blocks), 2):
        np.testing.assert_allclose(noisy.pairs[j, k], whole[places[j], places[k]], **close)
    np.testing.assert_allclose(noisy.gram, whole[numbers, numbers], **close)
    np.testing.assert_allclose(noisy.cross, whole[numbers, -1], **close)
    assert noisy.square == pytest.approx(whole[-1, -1], abs=1e-4)


def test_products_that_are_zero_in_every_row_are_not_asked_for():
    basis = BlockBasis.of(problem_of(3, 2))
    gram, cross, square = asked(basis, *rows(3, 2, 10), ADD_REMOVE)
    pairs = 4 * 3 + 4 * 5 + 3 * 5
    assert len(gram[0]) == 12 + pairs + 12 * 2 + 3
    assert len(cross[0]) == 12 + 2 and len(square[0]) == 1


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("blocks, numbers", [(1, 1), (1, 2), (2, 2), (3, 1), (4, 2)])
def test_the_worst_rows_reach_the_stated_sensitivity(blocks, numbers, neighbors):
    check_reached(blocks, numbers, neighbors)


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_no_row_moves_a_query_further(neighbors):
    basis = BlockBasis.of(problem_of(3, 2, neighbors))
    X, y = rows(3, 2, 120, seed=3)
    X[::7, 3:] = 1e300
    y[::5] = np.inf
    X[::11, 4], y[::13] = np.nan, np.nan
    for i in range(0, 118, 2):
        two = (X[i + 1 : i + 2], y[i + 1 : i + 2])
        if neighbors == ADD_REMOVE:
            two = X[:0], y[:0]
        assert max(moved(basis, (X[i : i + 1], y[i : i + 1]), two, neighbors)) <= 1 + 1e-12


def test_the_sensitivity_depends_on_blocks_and_not_on_their_codes():
    assert BlockBasis.of(problem_of(2, 3)).norm == math.sqrt(5)
    assert BlockBasis.of(problem_of(4, 0)).norm == 2


def test_noise_has_the_stated_deviation():
    """Of 200 draws of 31 counts and pairs; the deviation of that mean is 1%."""
    basis = BlockBasis.of(problem_of(2, 1, REPLACE_ONE))
    sums = BlockSums.of(coded(*rows(2, 1, 50), basis), basis)
    exact, draws = np.concatenate([c.ravel() for c in (*sums.counts, *sums.pairs)]), []
    with insecure_seed(5):
        for _ in range(200):
            noisy = release_block_sums(sums, basis, REPLACE_ONE, GDP(0.7), Noise(GDP(0.7)))
            values = np.concatenate([*noisy.counts, noisy.pairs[0, 1].ravel()])
            draws.append((values - exact) / noisy.gram_sd)
    assert np.std(draws) == pytest.approx(1, abs=0.05)
    assert noisy.gram_sd == pytest.approx(
        math.sqrt(2 * (9 + 3) / 2) / (0.7 * math.sqrt(0.475)), rel=1e-3
    )


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("method", ["adassp", "ssp", "shrunken", "shrunken_pure"])
@pytest.mark.parametrize("estimated", [False, True])
def test_a_whole_fit_follows_from_its_releases(method, neighbors, estimated):
    """With the answers frozen, neighbouring tables lead to the same queries and release."""
    problem = replace(problem_of(2, 2, neighbors), estimated=estimated)
    case = Case(METHODS[method], problem, {}, METHODS[method].cost(4.0, 1e-6))
    X, y = rows(2, 2, 300, seed=4)
    X[::9, 2:], y[::7] = 1e300, -np.inf
    for seed, size in enumerate((1, 2, 40, 300)):
        new = np.vstack([X[:size], X[-1:]]), np.append(y[:size], 1e300)
        if neighbors == REPLACE_ONE:
            new = np.vstack([X[: size - 1], X[-1:]]), np.append(y[: size - 1], 1e300)
        ratios = case.check((X[:size], y[:size]), new, seed)
        counted = estimated and not method.startswith("shrunken")
        wanted = {"X'X", "X'y", "y'y"} | ({"number of clipped rows"} if counted else set())
        assert set(ratios) == wanted and max(ratios.values()) <= 1
