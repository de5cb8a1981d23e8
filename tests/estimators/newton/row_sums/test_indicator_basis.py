"""Indicator basis: rows, their norms, and sensitivities of their products by brute force."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from dpstats.estimators.newton.row_sums.indicator_basis import IndicatorBasis, release_products
from dpstats.estimators.newton.row_sums.sums import capped, rough_products
from dpstats.noise import Noise
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.numerics.layout import Layout
from dpstats.privacy import ADD_REMOVE, GDP, RELATIONS, PureDP
from dpstats.testing import insecure_seed
from tests.checks.noisy_newton import ENDS, coded, factor_case, rows
from tests.checks.recording import Recording

PROBLEM = factor_case(ADD_REMOVE).problem
BASIS = IndicatorBasis.of(PROBLEM)


def design(X):
    """Design rows by hand: intercept, two dummies, one dummy, two numbers."""
    one = np.ones(len(X))
    return np.column_stack([one, X[:, 0] == 1, X[:, 0] == 2, X[:, 1] == 1, X[:, 2:]])


def coordinates(X):
    """Coordinates phi by definition: indicators of codes, and standardised numbers (m, 7)."""
    codes = X[:, :2].astype(int)
    z = np.linalg.solve(BASIS.root, (X[:, 2:] - BASIS.center).T).T
    return np.hstack([np.eye(3)[codes[:, 0]], np.eye(2)[codes[:, 1]], z])


def whitened(X, map_):
    """Rows (n, p) and their squared norms (n,)."""
    codes, numbers = map(np.ascontiguousarray, np.split(X.T, [2]))
    found, squares = BASIS.row_map(map_).of(codes, numbers, 0, len(X))
    return found.T, squares


def test_design_rows_are_the_coordinates_times_the_map():
    X, _ = rows(np.random.default_rng(1), 50)
    np.testing.assert_allclose(coordinates(X) @ BASIS.to_design, design(X), atol=1e-12)
    np.testing.assert_allclose(whitened(X, np.eye(7))[0], coordinates(X), atol=1e-12)
    assert (BASIS.size, BASIS.indicators, BASIS.ones) == (7, 5, 2)


def test_through_the_origin_numbers_have_mean_squares_of_one():
    center, X = np.array([200.0, -3.0]), np.random.default_rng(1).normal(size=(20_000, 2))
    X = center + X @ [[1.0, 0.5], [0.0, 2.0]]
    reference = replace(PROBLEM.reference, center=center, root=np.linalg.cholesky(np.cov(X.T)))
    layout = Layout((), np.arange(2), None)
    basis = IndicatorBasis.of(replace(PROBLEM, layout=layout, reference=reference))
    Z = basis.row_map(np.eye(2)).of(np.empty((0, len(X))), X.T.copy(), 0, len(X))[0]
    np.testing.assert_allclose(Z @ Z.T / len(X), np.eye(2), atol=0.05)


def test_coefficients_are_read_back_from_the_span():
    beta = np.array([1.0, 2, 3, 4, 5, 6])
    theta = BASIS.span @ BASIS.span.T @ (BASIS.to_design @ beta)
    np.testing.assert_allclose(BASIS.from_span @ theta, beta, atol=1e-10)
    assert BASIS.span.shape == (7, 6)


@pytest.mark.parametrize("sizes, directions", [((3, 2), 4), ((3, 2), 6), ((9,), 10), ((), 2)])
def test_few_directions_and_a_code_tell_the_lengths_of_rows(sizes, directions):
    rng, n, indicators = np.random.default_rng(3), 200, sum(sizes) or 1
    basis = IndicatorBasis(sizes, np.zeros(2), np.eye(2), np.zeros((indicators + 2, 1)), True)
    codes = rng.integers(sizes, size=(n, len(sizes)))
    ones = np.hstack([np.eye(s)[codes[:, b]] for b, s in enumerate(sizes)] or [np.ones((n, 1))])
    phi, map_ = (
        np.hstack([ones, rng.normal(size=(n, 2))]),
        rng.normal(size=(basis.size, directions)),
    )
    narrow, known = basis.narrowed(map_)
    expected = ((phi @ map_) ** 2).sum(axis=1)
    np.testing.assert_allclose(((phi @ narrow) ** 2).sum(axis=1) + phi @ known, expected)
    assert narrow.shape[1] == min(directions, basis.size - max(sizes, default=0))
    assert (known >= 0).all() and np.isin(phi @ known > 0, [narrow.shape[1] < directions]).all()


def test_whitened_rows_are_the_coordinates_times_a_map():
    X, _ = rows(np.random.default_rng(2), 50)
    map_ = np.random.default_rng(3).normal(size=(7, 4))
    found, squares = whitened(X, map_)
    np.testing.assert_allclose(found, coordinates(X) @ map_, atol=1e-10)
    np.testing.assert_allclose(squares, (found**2).sum(axis=1))


def test_entries_are_one_and_the_numbers_of_a_row():
    X, _ = rows(np.random.default_rng(2), 50)
    codes, numbers = map(np.ascontiguousarray, np.split(X.T, [2]))
    found, squares = BASIS.entries.of(codes, numbers, 0, 50)
    np.testing.assert_allclose(found[1:].T, coordinates(X)[:, 5:], atol=1e-12)
    assert (found[0] == 1).all()
    np.testing.assert_allclose(squares, (found**2).sum(axis=0))


def test_products_that_are_not_free_are_zero_in_every_row():
    X, _ = rows(np.random.default_rng(4), 500)
    phi = coordinates(X)
    assert not (phi.T @ phi)[~BASIS.free].any()
    assert (~BASIS.free).sum() == 3 * 2 + 2 * 1


@pytest.mark.parametrize("bound", [0.3, 8.0, 1e12])
def test_no_row_is_longer_than_its_bound(bound):
    X, _ = rows(np.random.default_rng(5), 4000, ENDS)
    phi, squares = whitened(X, np.eye(7))
    short = capped(phi.T, squares, bound)
    assert np.array_equal(short, np.trunc(short))
    longest = max(sum(int(v) ** 2 for v in row) for row in short.T.tolist())
    assert longest <= 4**ENTRY_BITS
    if bound < 1e12:
        assert longest > 0.99 * 4**ENTRY_BITS


def asked(sums, neighbors, free):
    """The values and the sensitivity of the query that is put about these sums."""
    noise = Recording(GDP(1e3))
    with insecure_seed(1):
        release_products("X'X", sums, 8.0, free, GDP(1.0), noise, neighbors)
    query = noise.queries[0]
    return np.array(query.values, dtype=object), query.l2


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_brute_force_reaches_the_sensitivity_and_never_exceeds_it(neighbors):
    """Each row against the next of 3,000, all of them at the bound: no pair moves further."""
    generator, best = np.random.default_rng(7), 0.0
    table = coded(*rows(generator, 3000, (1e300, -1e300, 0.0)))
    sums = (rough_products(BASIS, 8.0, table[i : i + 1]) for i in range(400))
    queries = [asked(one, neighbors, BASIS.free) for one in sums]
    for (one, l2), (other, _) in pairwise(queries):
        moved = one if neighbors == ADD_REMOVE else one - other
        best = max(best, math.sqrt(sum(int(v) ** 2 for v in moved)) / l2)
    assert 0.98 < best <= 1 + 1e-12


@pytest.mark.parametrize("levels", [1, 2, 3])
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_rows_of_one_indicator_move_products_in_l1_as_stated(levels, neighbors):
    """A row that is replaced leaves one level and joins another, so two squares move."""
    one = 1 << 2 * ENTRY_BITS
    noise, moved = Recording(PureDP(1.0)), []
    for level in range(min(levels, 2)):
        sums = np.zeros((levels, levels), dtype=object)
        sums[level, level] = one
        release_products(
            "X'X", sums, 1.0, np.eye(levels, dtype=bool), PureDP(0.5), noise, neighbors, entries=1
        )
        moved.append(noise.queries[-1].values)
    far = noise.queries[-1].l1
    others = [0] * levels if neighbors == ADD_REMOVE or levels == 1 else moved[1]
    assert sum(abs(a - b) for a, b in zip(moved[0], others, strict=True)) == far


def test_sums_are_exact_and_noise_is_larger_on_the_diagonal():
    """The released matrix less the sums, by its deviations: 49 entries of 300 draws each."""
    X, y = rows(np.random.default_rng(8), 9000)
    phi, squares = whitened(X, np.eye(7))
    whole = capped(phi.T, squares, 8.0).astype(np.int64)
    sums = rough_products(BASIS, 8.0, coded(X, y))
    assert sums.tolist() == (whole @ whole.T).tolist()
    exact = sums.astype(float) * 8.0 / 4.0**ENTRY_BITS
    draws = []
    with insecure_seed(2):
        for _ in range(300):
            noisy, deviation = release_products(
                "X'X", sums, 8.0, BASIS.free, GDP(0.5), Noise(GDP(0.5)), ADD_REMOVE
            )
            assert (noisy == noisy.T).all() and not noisy[~BASIS.free].any()
            draws.append((noisy - exact) / deviation)
    deviations = np.std(draws, axis=0)
    off = BASIS.free & ~np.eye(7, dtype=bool)
    assert deviations[off].mean() == pytest.approx(1, abs=0.03)
    assert np.diag(deviations).mean() == pytest.approx(math.sqrt(2), abs=0.12)
    assert deviation == pytest.approx(8.0 / 0.5 / math.sqrt(2), rel=1e-3)
