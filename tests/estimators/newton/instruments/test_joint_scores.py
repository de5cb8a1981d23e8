"""Joint scores of two responses: exact sums, one clip for both."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from dpstats.estimators.newton.instruments.joint_scores import JointScores, joint_scatter
from dpstats.estimators.newton.row_sums.indicator_basis import IndicatorBasis
from dpstats.estimators.newton.row_sums.scores import Scores
from dpstats.estimators.newton.steps.squared_loss import SquaredLoss
from dpstats.numerics import Rows
from dpstats.privacy import ADD_REMOVE
from tests.checks.noisy_newton import factor_case, phi
from tests.checks.noisy_newton import rows as random_rows

PROBLEM = factor_case(ADD_REMOVE).problem
BASIS = IndicatorBasis.of(PROBLEM)
UNITS = 0.7, 1.9


def table(n: int) -> Rows:
    X, y = random_rows(np.random.default_rng(3), n)
    return Rows(X[:, 2:], y, X[:, :2], others=y[::-1, None] ** 2)


def joint() -> JointScores:
    map_ = np.random.default_rng(4).normal(size=(BASIS.size, 4))
    at = Scores(SquaredLoss(), BASIS, map_, PROBLEM.reference, np.array([0.1, -0.2, 0.3, 0.0]))
    return JointScores(at, replace(at, eta=-at.eta), UNITS)


def test_products_are_those_of_scores_clipped_together():
    found, rows, limit = joint(), table(500), 3.0
    a = phi(BASIS, np.hstack([rows.codes, rows.numbers])) @ found.y.map
    reference = PROBLEM.reference
    center, scale = reference.y_center, reference.y_scale
    v, w = ((part - center) / scale for part in (rows.response, rows.others[:, 0]))
    s = np.hstack([a * ((r - a @ eta) / unit)[:, None] for r, eta, unit in
                   zip((v, w), (found.y.eta, found.d.eta), UNITS, strict=True)])  # fmt: skip
    lengths = np.linalg.norm(s, axis=1)
    clipped = s * np.minimum(1, limit / lengths)[:, None]
    products = found.products(limit, rows).astype(float) * limit**2 / 2.0**40
    assert products == pytest.approx(clipped.T @ clipped, abs=1e-3 * len(rows))
    assert 0.05 < (lengths > limit).mean() < 0.95
    for block in found.clipped(limit, rows):
        assert ((block / 2.0**20) ** 2).sum(axis=0).max() <= 1


def test_a_pass_is_the_sum_of_its_rows_exactly():
    rows, work = table(5000), partial(joint().products, 3.0)
    alone = sum(work(part) for part in rows[:40].blocks(1))
    assert work(rows[:40]).tolist() == alone.tolist()
    assert work(rows).tolist() == work(rows[::-1]).tolist()
    assert (work(rows[:0]) == 0).all()


def test_products_are_estimated_conservatively_with_the_correlation_they_have():
    """Noise is added to what is seen, along the directions of errors with a correlation of .6."""
    p, rows = 4, 1000.0
    truth = rows * np.kron([[1.0, 0.6], [0.6, 1.0]], np.eye(p))
    assert joint_scatter(truth, 1e-6, rows, 0.0) == pytest.approx(truth, rel=1e-6, abs=1e-3)
    found = joint_scatter(truth, 100.0, rows, 0.0)
    assert np.linalg.eigvalsh(found - truth).min() > 0
    assert found == pytest.approx(truth * found[0, 0] / rows, rel=1e-6, abs=1e-6)
    assert 1 < found[0, 0] / rows < 1.5


def test_what_was_cut_is_made_up_for():
    p, rows = 3, 500.0
    truth = rows * np.eye(2 * p)
    found = joint_scatter(truth, 1e-9, rows, 6 * 50.0)
    assert np.diag(found) == pytest.approx(550, rel=1e-6)
