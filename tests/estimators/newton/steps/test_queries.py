"""Releases of sums over rows: what is counted, and how far one row may move it."""

from dataclasses import replace

import numpy as np
import pytest

from dpstats.estimators.newton.row_sums.indicator_basis import IndicatorBasis
from dpstats.estimators.newton.steps.queries import Counted, Queries
from dpstats.estimators.newton.steps.squared_loss import SquaredLoss
from dpstats.noise import Noise
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.privacy import ADD_REMOVE, GDP, RELATIONS, REPLACE_ONE
from dpstats.testing import insecure_seed
from tests.checks.noisy_newton import factor_case


def made(neighbors: str, mu: float = 1e4, **kind: bool) -> Queries:
    """The releases over rows whose sums are given by the work itself."""
    problem = replace(factor_case(neighbors).problem, **kind)
    basis = IndicatorBasis.of(factor_case(neighbors).problem)
    return Queries(basis, lambda work: work(None, None), problem, Noise(GDP(mu)), SquaredLoss())


def test_the_number_of_rows_is_public_under_replace_one_alone():
    with insecure_seed(1):
        assert made(REPLACE_ONE).number([70], GDP(1.0)) == Counted(70.0)
        assert made(REPLACE_ONE).number([0], GDP(1.0)) == Counted(1.0)
        rows = made(ADD_REMOVE).number([70], GDP(0.5))
    assert rows.noise == pytest.approx(2, rel=1e-3) and abs(rows.total - 70) < 12
    assert rows.part == 1.0 and rows.number == rows.total


def test_with_weights_their_sum_and_the_number_of_rows_are_released():
    """A row that is added moves both, one that is replaced the sum alone."""
    given = [70_000 << ENTRY_BITS, 280_000 << ENTRY_BITS]
    with insecure_seed(3):
        added = made(ADD_REMOVE, weighted=True).number(given, GDP(0.5))
        replaced = made(REPLACE_ONE, weighted=True).number(given, GDP(0.5))
        none = made(ADD_REMOVE, weighted=True).number([0, 0], GDP(0.5))
    assert added.noise == pytest.approx(np.sqrt(2) * 2, rel=1e-3)
    assert replaced.noise == pytest.approx(2, rel=1e-3)
    for found in (added, replaced):
        assert found.part == pytest.approx(0.25, rel=1e-3)
        assert found.number == pytest.approx(280_000, rel=1e-3)
    assert 0 < none.part <= 1 and none.total >= 1


def test_the_number_of_units_is_beside_the_sum_of_what_they_count_for():
    """A unit that is added moves both, one that is replaced the sum alone; one counts for one."""
    given = [70_000 << ENTRY_BITS, 280_000 << ENTRY_BITS]
    with insecure_seed(4):
        added = made(ADD_REMOVE, by_unit=True).number(given, GDP(0.5))
        replaced = made(REPLACE_ONE, by_unit=True).number(given, GDP(0.5))
    assert added.noise == pytest.approx(np.sqrt(2) * 2, rel=1e-3)
    assert replaced.noise == pytest.approx(2, rel=1e-3)
    for found in (added, replaced):
        assert found.part == 1.0 and abs(found.total - 70_000) < 6 * found.noise
        assert abs(found.number - 280_000) < 6 * found.noise


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_one_row_is_in_one_bin(neighbors):
    """A row that is replaced moves two counts by one each, so the noise is sqrt 2 times that."""
    queries = made(neighbors, mu=1.0)
    with insecure_seed(2):
        counts = queries.counts("bins", lambda X, y: np.array([4, 0, 9]), GDP(0.5))
    times = np.sqrt(2) if neighbors == REPLACE_ONE else 1
    assert counts.deviation == pytest.approx(2 * times, rel=1e-3)
    assert len(counts.values) == 3


def test_a_problem_may_change_and_the_rows_stay():
    queries = made(ADD_REMOVE)
    changed = queries.with_problem(replace(queries.problem, neighbors=REPLACE_ONE))
    assert changed.replaces and not queries.replaces and changed.total is queries.total
    assert queries.one == 1 and made(ADD_REMOVE, by_unit=True).one == 1 << ENTRY_BITS
    assert queries.reference is queries.problem.reference
