"""Center and scale of the response of a group, beside a reference of all groups."""

from dataclasses import replace

import numpy as np
import pytest

import dpstats as dp
from dpstats.estimators import METHODS
from dpstats.estimators.contract import Extremes, InMemory
from dpstats.estimators.newton.steps.group_response import located
from dpstats.noise import Noise
from dpstats.numerics import Rows
from dpstats.privacy import ADD_REMOVE, GDP, RELATIONS, PureDP
from dpstats.testing import insecure_seed
from tests.checks.noisy_newton import factor_case
from tests.checks.replay import cases_of
from tests.checks.replayed import check_random, check_worst

Y = np.random.default_rng(1).normal(7, 0.2, 5000)


def found(y, cost=None, has_constant=True, neighbors=ADD_REMOVE, parts=None, points=None):
    """The reference of a group with these responses; that of all groups is about 5, of scale 4."""
    problem = factor_case(neighbors).problem
    extremes = replace(Extremes.unknown(2), y_reach=6.0, y_most=9.0, heavy=0.0)
    extremes = replace(extremes, y_ends=np.array([-3.0, 3.0]))
    if points is not None:
        extremes = replace(extremes, y_points=points[0], y_weights=points[1])
    reference = replace(problem.reference, y_center=5.0, y_scale=4.0, extremes=extremes)
    problem = replace(problem, reference=reference, weighted=parts is not None)
    cost = cost or GDP(1.0)
    with insecure_seed(3):
        noise = Noise(cost)
        total = InMemory(Rows(np.zeros((len(y), 1)), y, parts=parts)).sum
        return located(problem, has_constant, total, len(y), cost, noise).reference, noise.events


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("cost", [GDP(1.0), PureDP(1.0)])
def test_a_group_far_from_the_others_has_its_own_center_and_scale(neighbors, cost):
    reference, events = found(Y, cost, neighbors=neighbors)
    assert reference.y_center == pytest.approx(7, abs=0.1)
    assert reference.y_scale == pytest.approx(0.2, rel=0.25)
    assert [event.step for event in events] == ["center of y", "distances of y"]
    assert sum(cost.share(event.cost) for event in events) == pytest.approx(1)


def test_rows_that_count_for_a_half_tell_the_same():
    whole, half = found(Y)[0], found(Y, parts=np.full(len(Y), 0.5))[0]
    # the center is that of half as many rows where their number is given
    assert half.y_center - 5 == pytest.approx((whole.y_center - 5) / 2, rel=0.1)
    assert half.y_scale < 1.5


def test_ends_of_the_response_stay_where_they_are():
    reference, _ = found(Y)
    ends = reference.y_center + reference.extremes.y_ends * reference.y_scale
    np.testing.assert_allclose(ends, [-7, 17])
    reach = reference.extremes.y_reach * reference.y_scale
    assert reach == pytest.approx(24 + reference.y_center - 5)


def test_where_rows_are_few_the_scale_of_all_groups_stays():
    reference, _ = found(Y[:20], GDP(0.02))
    assert reference.y_scale == 4.0 and reference.y_center == pytest.approx(5, abs=1.5)


def test_without_a_constant_the_center_stays():
    reference, events = found(Y - 2, has_constant=False)
    assert reference.y_center == 5.0 and reference.y_scale == pytest.approx(0.2, rel=0.25)
    assert [event.step for event in events] == ["distances of y"]


def test_long_tails_of_a_group_are_noticed():
    heavy = np.random.default_rng(2).standard_t(2, 5000)
    assert found(Y)[0].extremes.heavy < 0.1 < 0.5 < found(7 + 0.2 * heavy)[0].extremes.heavy
    # noise may hide them where nothing else tells of this group's
    assert found(Y[:400], GDP(0.5))[0].extremes.heavy == Extremes.HEAVY_UNSEEN


def test_the_rows_of_a_rare_response_that_noise_hides_are_part_of_the_scale():
    points, weights = np.array([-4.3, -1.0, 1.3, 5.0]) / 2, np.array([0.1, 0.5, 0.3, 0.1])
    y = np.where(np.arange(2000) < 20, 10.0, 1.0)  # all groups have 10 in a tenth of the rows
    reference, _ = found(y, GDP(0.07), points=(points, weights))
    assert 0.5 < reference.y_scale / y.std() < 4
    extremes = reference.extremes
    far = extremes.y_points * reference.y_scale > 4
    assert 0.002 < extremes.y_weights[far].sum() < 0.1
    assert extremes.y_weights.sum() == pytest.approx(1)


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_intervals_of_groups_whose_response_is_rare_hold_least_squares(neighbors):
    # the noise hides the ones of group 0, whose scale would be that of zeros about the center
    rng, groups, shown = np.random.default_rng(1), [0, 1, 2], 0
    for seed in range(8):
        group, x = rng.integers(0, 3, 10_000), rng.normal(size=10_000)
        y = (rng.random(10_000) < np.where(group == 0, 0.01, 0.4) * (1 + 0.3 * x)) * 1.0
        table = {"group": group, "x": x, "y": y}
        with insecure_seed(seed):
            fits = dp.dp_ols(
                "y ~ x", table, by="group", groups=groups, epsilon=1, bounds={"y": (0, 1)},
                method="noisy_newton", neighbors=neighbors,
            )  # fmt: skip
        own = group == 0
        exact = np.linalg.lstsq(np.column_stack([np.ones(own.sum()), x[own]]), y[own])[0]
        off = ((fits[0].params - exact) / fits[0].bse).abs()
        assert not (off > 3).any()
        shown += off.notna().all()
    assert shown > 4


@pytest.mark.parametrize("kind", ["plain", "weighted", "pure"])
def test_no_row_of_a_group_moves_a_query_further_than_stated(kind):
    method = METHODS["noisy_newton_pure" if kind == "pure" else "noisy_newton"]
    for neighbors in RELATIONS:
        cases = [c for c in cases_of(method) if c.problem.neighbors == neighbors]
        for case in [c for c in cases if c.problem.weighted == (kind == "weighted")][:3]:
            problem = replace(case.problem, grouped=True)
            check_random(replace(case, problem=problem), pairs=4)
            if kind != "weighted":
                assert check_worst(replace(case, problem=problem), seeds=3) is None
