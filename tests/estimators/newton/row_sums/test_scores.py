"""Scores of rows and of units: clipped, exact, and the same however the rows are cut."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from dpstats.estimators.newton.row_sums import sums
from dpstats.estimators.newton.row_sums.sums import SCORE_EDGES
from tests.checks.newton_queries import BASIS, PROBLEM, queries
from tests.checks.noisy_newton import ENDS, check_pass, coded, phi, rows

SCORES = queries(1.0).at(BASIS.span, np.linspace(-1, 1, BASIS.span.shape[1]))
PARTS = {
    "sums": partial(SCORES.sums, 1.5, 0.9, 0.3),
    "counts": partial(SCORES.counts, 1.5),
    "products": partial(SCORES.products, 1.5),
}
ONE = 2.0**20 * (1 - 2.0**-30)


def of_numpy(X, y):
    """Scores and residuals of rows, (n, p) and (n,)."""
    a, reference = phi(BASIS, X) @ SCORES.map, PROBLEM.reference
    left = (y - reference.y_center) / reference.y_scale - a @ SCORES.eta
    return a * left[:, None], left


def clipped(scores):
    """Scores clipped to the length 1.5, in units of it."""
    return scores * np.minimum(1.5 / np.linalg.norm(scores, axis=1), 1)[:, None] / 1.5


@pytest.mark.parametrize("part", PARTS)
def test_a_pass_is_the_sum_of_its_rows_and_crosses_to_a_worker(part):
    check_pass(PARTS[part])


def test_sums_are_those_of_clipped_scores():
    """Two or three units off, where rounding moves a number across a point of the grid."""
    X, y = rows(np.random.default_rng(4), 5000)
    table, (scores, left) = coded(X, y), of_numpy(X, y)
    squares = 0.3 * np.minimum(np.abs(left) / 0.9, 1) ** 2
    sums = np.trunc(np.column_stack([clipped(scores), squares]) * ONE).sum(axis=0)
    np.testing.assert_allclose(PARTS["sums"](table).astype(float), sums, atol=3)
    whole, found = np.trunc(clipped(scores) * ONE), PARTS["products"](table).astype(float)
    np.testing.assert_allclose(found, whole.T @ whole, atol=3 * 2.0**20)
    ends = np.concatenate([[-np.inf], SCORE_EDGES, [np.inf]])
    expected = np.histogram(np.linalg.norm(scores, axis=1) / 1.5, ends)[0]
    assert PARTS["counts"](table).tolist() == expected.tolist()


def test_units_are_clipped_once_their_rows_are_added_up():
    X, y = rows(np.random.default_rng(5), 300)
    table = replace(coded(X, y), parts=np.full(300, 0.25), units=np.arange(300) // 3)
    together = of_numpy(X, y)[0].reshape(100, 3, -1).sum(axis=1) / 4
    whole = clipped(together) * ONE
    np.testing.assert_allclose(SCORES.clipped_units(1.5, table), whole.T, atol=3)
    squares = 0.3 * (clipped(together) ** 2).sum(axis=1) * ONE
    sums = np.append(whole.sum(axis=0), squares.sum())
    np.testing.assert_allclose(PARTS["sums"](table).astype(float), sums, atol=300)
    norms = np.linalg.norm(together, axis=1)
    counts = np.bincount(np.searchsorted(SCORE_EDGES, norms / 1.5), minlength=len(SCORE_EDGES) + 1)
    assert PARTS["counts"](table).tolist() == counts.tolist()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", PARTS)
def test_blocks_of_many_columns_change_no_bit(monkeypatch, name, weighted):
    table = coded(*rows(np.random.default_rng(9), 5000))
    table = replace(table, parts=np.resize([0.25, 1.0], 5000) if weighted else None)
    expected = PARTS[name](table)
    monkeypatch.setattr(sums, "_COLUMNS", 1)
    assert (PARTS[name](table) == expected).all()


def test_a_row_of_a_weight_is_a_unit_of_that_row():
    table = coded(*rows(np.random.default_rng(7), 3000, ENDS))
    weighted = replace(table, parts=np.resize([0.0, 0.25, 1.0], 3000))
    units = replace(weighted, units=np.arange(3000))
    for name, work in PARTS.items():
        assert work(weighted).tolist() == work(units).tolist(), name
    table = coded(*rows(np.random.default_rng(8), 3000))
    once = PARTS["products"](replace(table, parts=np.ones(3000))).astype(float)
    expected = PARTS["products"](table).astype(float)
    np.testing.assert_allclose(once, expected, rtol=1e-4, atol=2**27)


def test_scores_are_clipped_after_they_are_weighted():
    """So a light row far out may count as much as others, and a light one near by its part."""
    X, y = rows(np.random.default_rng(8), 1)
    for shift, limit, part in ((1e4, 1.5, 1.0), (0.0, 100.0, 0.25)):
        light, whole = (replace(coded(X, y + shift), parts=np.array([w])) for w in (0.25, 1.0))
        found, expected = (SCORES.sums(limit, 0.9, 0.3, table)[:-1] for table in (light, whole))
        np.testing.assert_allclose(found.astype(float), part * expected.astype(float), atol=2)
