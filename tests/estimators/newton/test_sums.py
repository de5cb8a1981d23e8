"""Sums over rows for noisy Newton steps: exact, and the same however the rows are cut."""

import math
import pickle
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from dpstats.estimators.newton import sums as newton_sums
from dpstats.estimators.newton.indicator_basis import IndicatorBasis
from dpstats.estimators.newton.score_tails import LEVERAGE_EDGES, SCORE_EDGES
from dpstats.privacy import ADD_REMOVE
from tests.checks.noisy_newton import ENDS, coded, factor_case, rows

PARTS = ["rough", "leverages", "whitened", "scores", "norms", "score products"]


def worker_parts(case):
    """What a pass over the rows sends to a worker, one of each."""
    basis = IndicatorBasis.of(case.problem)
    map_, eta = basis.span, np.linspace(-1, 1, basis.span.shape[1])
    scores = basis, map_, case.problem.reference, eta, 1.5
    return {
        "rough": partial(newton_sums.rough_products, basis, 8.0),
        "leverages": partial(newton_sums.leverage_counts, basis, map_, 2.0),
        "whitened": partial(newton_sums.whitened_products, basis, map_, 3.0),
        "scores": partial(newton_sums.score_sums, *scores, 0.9, 0.3),
        "norms": partial(newton_sums.score_counts, *scores),
        "score products": partial(newton_sums.score_products, *scores),
    }


@pytest.mark.parametrize("part", PARTS)
def test_a_pass_is_the_sum_of_its_rows_and_crosses_to_a_worker(part):
    """Exactly: so a row has the same part in it whatever rows stand beside it, and where."""
    work = worker_parts(factor_case(ADD_REMOVE))[part]
    table = coded(*rows(np.random.default_rng(3), 4300, ENDS))
    whole, alone = work(table), sum(map(work, table.blocks(1)))
    other = replace(table[::-1], numbers=np.asfortranarray(table.numbers[::-1]))
    sent = pickle.loads(pickle.dumps(work))(other)
    assert whole.tolist() == alone.tolist() == sent.tolist()
    assert (work(table[:0]) == 0).all()
    assert all(isinstance(value, int) for value in whole.ravel().tolist())


def test_sums_are_those_of_whitened_rows_and_clipped_scores():
    """Two or three units off, where rounding moves a number across a point of the grid."""
    case = factor_case(ADD_REMOVE)
    X, y = rows(np.random.default_rng(4), 5000)
    table = coded(X, y)
    parts, basis, reference = (
        worker_parts(case),
        IndicatorBasis.of(case.problem),
        case.problem.reference,
    )
    z = np.linalg.solve(basis.root, (X[:, 2:] - basis.center).T).T
    phi = np.hstack([np.eye(3)[X[:, 0].astype(int)], np.eye(2)[X[:, 1].astype(int)], z])
    a, eta = phi @ basis.span, np.linspace(-1, 1, basis.span.shape[1])
    left = (y - reference.y_center) / reference.y_scale - a @ eta
    scores = a * left[:, None]
    norms, lengths = np.linalg.norm(scores, axis=1), np.linalg.norm(a, axis=1)
    clipped = scores * np.minimum(1.5 / norms, 1)[:, None] / 1.5
    squares = 0.3 * np.minimum(np.abs(left) / 0.9, 1) ** 2
    sums = np.trunc(np.column_stack([clipped, squares]) * 2.0**20 * (1 - 2.0**-30)).sum(axis=0)
    np.testing.assert_allclose(parts["scores"](table).astype(float), sums, atol=3)
    short = a / np.maximum(lengths / math.sqrt(3), 1)[:, None] / math.sqrt(3)
    whole = np.trunc(short * 2.0**20 * (1 - 2.0**-30))
    found = parts["whitened"](table).astype(float)
    np.testing.assert_allclose(found, whole.T @ whole, atol=3 * 2.0**20)
    of_scores = parts["score products"](table).astype(float)
    whole = np.trunc(clipped * 2.0**20 * (1 - 2.0**-30))
    np.testing.assert_allclose(of_scores, whole.T @ whole, atol=3 * 2.0**20)
    for part, sizes, edges in (
        ("leverages", lengths**2 / 2, LEVERAGE_EDGES),
        ("norms", norms / 1.5, SCORE_EDGES),
    ):
        expected = np.histogram(sizes, np.concatenate([[-np.inf], edges, [np.inf]]))[0]
        assert parts[part](table).tolist() == expected.tolist()
    assert parts["leverages"](table).sum() == 5000


def test_a_row_of_a_weight_is_a_unit_of_that_row():
    """Its part scales each sum as a unit's does, and a row of weight 1 is as one without."""
    case, generator = factor_case(ADD_REMOVE), np.random.default_rng(7)
    table = coded(*rows(generator, 3000, ENDS))
    weights = generator.choice([0.0, 0.25, 1.0], 3000)
    weighted = replace(table, parts=weights)
    units = replace(weighted, units=np.arange(3000))
    for name, work in worker_parts(case).items():
        assert work(weighted).tolist() == work(units).tolist(), name
    table = coded(*rows(generator, 3000))
    once = replace(table, parts=np.ones(3000))
    for name in ("rough", "whitened", "score products"):
        work = worker_parts(case)[name]
        np.testing.assert_allclose(
            work(once).astype(float), work(table).astype(float), rtol=1e-4, atol=2**27
        )


def test_scores_are_clipped_after_they_are_weighted():
    """So a light row far out may count as much as others, and none more than the limit."""
    case = factor_case(ADD_REMOVE)
    X, y = rows(np.random.default_rng(8), 1)
    far = replace(coded(X, y + 1e4), parts=np.array([0.25]))
    whole = replace(far, parts=np.ones(1))
    work = worker_parts(case)["scores"]
    np.testing.assert_allclose(work(far).astype(float), work(whole).astype(float), atol=2**-18)
    near = replace(coded(X, y), parts=np.array([0.25]))
    one = replace(near, parts=np.ones(1))
    long = worker_parts(case)["scores"].func, worker_parts(case)["scores"].args[:4]
    small = partial(long[0], *long[1], 100.0, 0.9, 0.3)
    np.testing.assert_allclose(
        small(near)[:-1].astype(float), 0.25 * small(one)[:-1].astype(float), atol=2
    )
