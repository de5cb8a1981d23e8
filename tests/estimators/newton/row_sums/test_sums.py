"""Sums over rows for noisy Newton steps: exact, and the same however the rows are cut."""

import math
from functools import partial

import numpy as np
import pytest

from dpstats.estimators.newton.row_sums import sums as newton_sums
from dpstats.estimators.newton.row_sums.sums import LEVERAGE_EDGES
from tests.checks.bounded_products import WITHIN, check_within
from tests.checks.newton_queries import BASIS
from tests.checks.noisy_newton import check_pass, coded, phi, rows

PARTS = {
    "rough": partial(newton_sums.rough_products, BASIS, 8.0),
    "leverages": partial(newton_sums.leverage_counts, BASIS, BASIS.span, 2.0),
    "whitened": partial(newton_sums.whitened_products, BASIS, BASIS.span, 3.0),
}


@pytest.mark.parametrize("part", PARTS)
def test_a_pass_is_the_sum_of_its_rows_and_crosses_to_a_worker(part):
    check_pass(PARTS[part])


@pytest.mark.parametrize("part", PARTS)
def test_blocks_of_many_columns_are_short_and_change_no_bit(monkeypatch, part):
    table = coded(*rows(np.random.default_rng(6), 5000))
    expected = PARTS[part](table)
    monkeypatch.setattr(newton_sums, "_COLUMNS", 1)
    assert [s.stop - s.start for s in newton_sums.slices(5000, 2)] == [1024] * 4 + [904]
    assert (PARTS[part](table) == expected).all()


def test_lengths_and_fits_are_those_of_whitened_rows():
    X, y = rows(np.random.default_rng(4), 5000)
    map_ = np.random.default_rng(5).normal(size=(BASIS.size, 9))
    table, a, eta = coded(X, y), phi(BASIS, X) @ map_, np.arange(9.0)
    lengths = newton_sums.squared_lengths(BASIS, map_, table)
    np.testing.assert_allclose(lengths, (a**2).sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(newton_sums.fits(BASIS, map_ @ eta, table), a @ eta, atol=1e-11)


def test_products_and_counts_are_those_of_whitened_rows():
    """Two or three units off, where rounding moves a number across a point of the grid."""
    X, y = rows(np.random.default_rng(4), 5000)
    table, a = coded(X, y), phi(BASIS, X) @ BASIS.span
    lengths = np.linalg.norm(a, axis=1)
    short = a / np.maximum(lengths / math.sqrt(3), 1)[:, None] / math.sqrt(3)
    whole = np.trunc(short * 2.0**20 * (1 - 2.0**-30))
    found = PARTS["whitened"](table).astype(float)
    np.testing.assert_allclose(found, whole.T @ whole, atol=3 * 2.0**20)
    ends = np.concatenate([[-np.inf], LEVERAGE_EDGES, [np.inf]])
    expected = np.histogram(lengths**2 / 2, ends)[0]
    assert PARTS["leverages"](table).tolist() == expected.tolist()
    assert PARTS["leverages"](table).sum() == 5000


@pytest.mark.parametrize("part", WITHIN)
def test_products_of_one_row_or_of_one_unit_stay_within_the_bound(part):
    check_within(part)
