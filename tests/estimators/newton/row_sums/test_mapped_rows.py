"""Rows in whitened directions have the same sums, to the bit, as they are mapped each by itself."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from dpstats.estimators.contract import InMemory, mapped
from dpstats.estimators.newton.generalized.logistic_sums import LogisticRows
from dpstats.estimators.newton.generalized.poisson_loss import PoissonLoss, hessian, score_sums
from dpstats.estimators.newton.row_sums import sums
from dpstats.estimators.newton.row_sums.indicator_basis import IndicatorBasis
from dpstats.estimators.newton.row_sums.mapped_rows import MappedRows
from dpstats.estimators.newton.row_sums.scores import Scores
from dpstats.estimators.newton.row_sums.sums import mapped_rows
from dpstats.privacy import ADD_REMOVE
from tests.checks.noisy_logit import logit_case, rows
from tests.checks.noisy_newton import coded

PROBLEM = logit_case(ADD_REMOVE).problem
BASIS, ETA = IndicatorBasis.of(PROBLEM), np.array([0.3, -0.8, 0.5, 0.1, 0.2, -0.1])
MAP = np.random.default_rng(1).normal(size=(BASIS.size, len(ETA)))
LOGIT = LogisticRows(BASIS, MAP, 3.0, -0.4, ETA)
POISSON = Scores(PoissonLoss(-0.2, 2.5), BASIS, MAP, PROBLEM.reference, ETA)
# three blocks, of which the last is short
ROWS = coded(*rows(np.random.default_rng(2), 10_001))
SUMS = {
    "scores": LOGIT.scores,
    "products": LOGIT.products,
    "Hessian": partial(LOGIT.hessian, 1.5),
    "slopes": LOGIT.slopes,
    "scores of counts": partial(score_sums, POISSON, 4.0),
    "products of counts": partial(POISSON.products, 4.0),
    "Hessian of counts": partial(hessian, POISSON, 4.0, 2.0),
    "lengths": partial(POISSON.counts, 1.0),
}


@pytest.mark.parametrize("columns", [32, 1])
@pytest.mark.parametrize("offsets", [False, True])
@pytest.mark.parametrize("name", SUMS)
def test_sums_of_mapped_rows_are_those_of_rows_to_the_bit(monkeypatch, name, offsets, columns):
    monkeypatch.setattr(sums, "_COLUMNS", columns)
    table = replace(ROWS, offsets=np.linspace(-2, 2, len(ROWS)) if offsets else None)
    at_once = mapped(InMemory(table), partial(mapped_rows, BASIS, MAP))
    assert np.array_equal(at_once.sum(SUMS[name]), SUMS[name](table))


def test_they_hold_directions_alone_and_only_where_rows_count_whole():
    found = mapped_rows(BASIS, MAP, ROWS)
    assert isinstance(found, MappedRows) and found.codes is None and not found.numbers.size
    assert found.count == 10_001 and found.directions.size == 6 * 10_001
    weighted = replace(ROWS, parts=np.full(len(ROWS), 0.5))
    assert mapped_rows(BASIS, MAP, weighted) is weighted
    assert mapped_rows(BASIS, MAP, ROWS[:0]).count == 0
