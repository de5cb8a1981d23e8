"""Steps of clipped scores with nearly no noise, and the tail and bias that go with them."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dpstats.estimators.newton.steps.bias import Bias
from dpstats.estimators.newton.steps.queries import Counted, Queries
from dpstats.estimators.newton.steps.release import _Fit
from dpstats.estimators.newton.steps.score_tails import Tail
from dpstats.estimators.newton.steps.state import NewtonState
from dpstats.estimators.newton.steps.steps import Steps, _hessian_error, _inflated
from dpstats.estimators.newton.steps.whitening import Lost, Whitening, _shares
from dpstats.privacy import GDP
from dpstats.testing import insecure_seed
from tests.checks.newton_queries import BASIS, X, Y, queries
from tests.checks.noisy_newton import coded


def steps() -> Steps:
    """Steps in directions in which X'X is the number of rows, exactly."""
    made = queries(1e5)
    columns = np.linalg.qr(BASIS.span)[0]
    entries = np.hstack([block[0] for block in _mapped(made, columns)])
    values, vectors = np.linalg.eigh(entries @ entries.T / len(X))
    whitening = Whitening(
        columns @ vectors / np.sqrt(values), np.ones(6), np.zeros(6), values * len(X),
        np.zeros((6, 6)),
    )  # fmt: skip
    return Steps(made, whitening, float(len(X)), 1e3)


def _mapped(made: Queries, map_: np.ndarray):
    return made.at(map_, np.zeros(map_.shape[1])).blocks(coded(X, Y))


def least_squares(made: Steps) -> np.ndarray:
    """The position of least squares."""
    blocks = list(_mapped(made.queries, made.whitening.map))
    A, left = np.hstack([b[0] for b in blocks]), np.concatenate([b[1] for b in blocks])
    return np.linalg.lstsq(A.T, left, rcond=None)[0]


def test_three_steps_come_close_to_least_squares():
    with insecure_seed(1):
        made = steps()
        state = made.start(GDP(1e3))
        tail = made.tail(state, GDP(1e3))
        state, target = made.clipped(state, tail), least_squares(made)
        for _ in range(3):
            state = made.step(state, tail, GDP(1e3))
    np.testing.assert_allclose(state.eta, target, atol=0.02)
    assert state.slope > 0.99 and state.moved_noise < 1e-4


@pytest.mark.parametrize("share", [0.2, 0.4])
def test_the_error_along_a_direction_in_noise_is_no_less_than_steps_leave(share):
    """X'X there is a share of what it is taken for, in all steps, so they stop short together."""
    with insecure_seed(4):
        made = steps()
        size = np.append(math.sqrt(share), np.ones(5))
        of_noise, values = np.eye(6)[0], made.whitening.eigenvalues * np.append(-1, np.ones(5))
        shares = np.where(of_noise[:, None] == 1, _shares(np.array([share]), np.array([0.4])), 1.0)
        hidden = replace(
            made.whitening, map=made.whitening.map * size, unsure=of_noise, eigenvalues=values,
            kept=1 - of_noise, shares=shares,
        )  # fmt: skip
        made = replace(made, whitening=hidden)
        state = made.start(GDP(1e3))
        tail, target = made.tail(state, GDP(1e3)), least_squares(made)
        for _ in range(3):
            state = made.step(state, tail, GDP(1e3))
    error = (state.eta - target) ** 2
    counted = Counted(made.rows, 1.0)
    fit = _Fit(state, BASIS, hidden, False, made.queries.problem, made.rows, counted)
    assert error[0] < 4 * fit.variance[0] and fit.variance[0] > 2 * state.variance[0]
    np.testing.assert_array_equal(fit.variance[1:], state.variance[1:])


def test_the_start_is_biased_by_what_the_tail_shows_beyond_its_limit():
    """It was cut before a tail was seen; the bias is at most as long as the start itself."""
    with insecure_seed(2):
        made = steps()
        start = made.start(GDP(1e3))
        biased = made.clipped(start, made.tail(start, GDP(1e3)))
    assert start.bias.variance.max() == 0
    most = float(start.eta @ start.eta + start.variance.sum())
    assert 0 < biased.bias.even.max() <= most / len(start.eta)
    assert 0 < biased.bias.along @ biased.bias.along <= most * (1 + 1e-9)


def test_a_row_far_out_lies_far_from_the_fit_too():
    """No score of an ordinary response is longer, and those of x = 6 are nearly so long."""
    rng = np.random.default_rng(5)
    x = np.where(np.arange(5000) < 50, 6.0, rng.normal(size=5000))
    u = np.column_stack([np.ones(5000), (x - x.mean()) / x.std()])
    state = NewtonState(np.array([0.0, 0.6]), np.zeros(2), Bias.none(2))
    lengths = np.sqrt((u**2).sum(axis=1) / 2)
    two = Whitening(np.eye(2), np.ones(2), np.zeros(2), np.ones(2), np.zeros((2, 2)))
    made = replace(steps(), whitening=two, most_leverage=float(lengths.max() ** 2))
    scores = lengths * (np.abs(u @ state.eta) + 3)
    assert scores.max() <= made._farthest_row(state) <= 1.1 * scores.max()


def test_a_tail_is_as_long_as_the_residuals():
    with insecure_seed(3):
        made = steps()
        tail = made.tail(made.start(GDP(1e3)), GDP(1e3))
    assert tail.rows == pytest.approx(len(X), rel=0.01)
    assert 0.1 < tail.mean_square() < 3


def test_steps_overshoot_by_lost_leverage_and_no_farther_than_clipped_scores_reach():
    """Ten rows of a huge leverage: their scores add up to ten limits, of lengths in six units."""
    made, known = steps(), np.array([1e-9, 1.0, 1.0, 1.0, 1.0, 1.0])
    few = replace(made, whitening=replace(made.whitening, lost=Lost(10.0, 16.0)))
    longest = (10 * 1.5 * np.sqrt(6) / (0.9 * len(X))) ** 2
    found = few._overshoot(known, 1.5, 0.9)
    np.testing.assert_allclose(found, np.minimum(256 * known, longest))
    assert found[0] < found[1]
    assert not made._overshoot(known, 1.5, 0.9).any()
    halves = replace(few, part=0.5)
    np.testing.assert_allclose(halves._overshoot(np.ones(6), 1.5, 0.9), 4 * longest)


def ends(made: Steps, **of_response: float) -> Steps:
    """The same steps where the distributions say other things of the response."""
    reference = made.queries.reference
    extremes = replace(reference.extremes, **of_response)
    problem = replace(made.queries.problem, reference=replace(reference, extremes=extremes))
    return replace(made, queries=made.queries.with_problem(problem))


def test_a_hidden_tail_has_as_much_room_as_the_response_leaves():
    """Of a chance of .5 the odds count ten times where any tail fits in, not where none does."""
    found = [
        ends(steps(), heavy_seen=seen, y_most=most)._beyond_known(0.5)
        for seen, most in ((0.0, 50.0), (0.0, 12.5), (0.0, 5.0), (0.5, 5.0))
    ]
    assert found == pytest.approx([10, 10 / 3, 0, 10])


def test_a_histogram_of_the_response_rules_out_a_tail_of_scores_of_single_rows():
    """Of scores of units, or without a histogram, all columns and the noise tell it."""
    made = ends(steps(), heavy=0.3, heavy_seen=0.3, y_heavy=(0.0, 0.05), y_most=5.0)
    assert (made._heavy(), made._heavy(hidden=1.0)) == (0.05, 0.05)
    assert made._beyond_known(0.05) == pytest.approx(10 * 0.05 / 0.95)
    assert ends(made, y_heavy=(0.0, 0.9))._heavy(hidden=1.0) == 0.4
    assert ends(made, y_heavy=(0.6, 0.9))._heavy(hidden=1.0) == 0.6
    assert ends(made, y_heavy=None)._heavy(hidden=1.0) == 0.4
    parts = replace(made.queries.problem, by_unit=True)
    of_units = replace(made, queries=made.queries.with_problem(parts))
    assert (of_units._heavy(), of_units._heavy(hidden=1.0)) == (0.3, 0.4)


def test_weights_lengthen_a_tail_where_they_are_uneven():
    made = ends(steps(), heavy=0.3, y_heavy=(0.0, 0.05))
    weighted = made.queries.with_problem(replace(made.queries.problem, weighted=True))
    even, uneven = (replace(made, queries=weighted, part=part) for part in (0.6, 0.4))
    assert (even._heavy(), uneven._heavy()) == (0.05, 0.3)


def test_residuals_have_no_larger_mean_square_than_the_response_leaves():
    """What a tail may hold beyond the limit is cut there, but nothing that was seen is."""
    made = ends(steps(), heavy=0.5, heavy_seen=0.0, y_most=5.0, y_error=0.1)
    given = {"seen": 0.5, "beyond": 4.0, "slope": 1.0, "explained": 0.4}
    assert made._square(**given) == pytest.approx(0.6 + 2 * 0.1)
    assert made._square(**given | {"beyond": 0.1}) == pytest.approx(0.6)
    assert made._square(**given | {"seen": 0.9}) == 0.9
    assert ends(made, y_most=50.0)._square(**given) == pytest.approx(4.5)
    assert ends(made, heavy_seen=0.5)._square(**given) == pytest.approx(4.5)


def test_the_bias_of_a_step_is_at_most_the_variance_of_the_response():
    """A tail of a tenth of the rows at a thousand units."""
    sizes = np.array([1.0, 1000.0])
    tail = Tail(np.array([[0.9, 0.1]]) * len(X), sizes, np.ones(1), 0.8)
    with insecure_seed(4):
        made = steps()
        state = made.step(made.start(GDP(1e3)), tail, GDP(1.0))
    assert 0 < state.bias.along @ state.bias.along <= 1 + 1e-9
    assert state.bias.even.max() <= 1 / 6 + 1e-9


def with_tails(made: Steps, *tails: float) -> Steps:
    """The same with columns of such kurtoses beyond a normal one."""
    reference = made.queries.problem.reference
    far = np.linspace(1.0, 20.0, len(reference.extremes.SHARES))
    extremes = replace(
        reference.extremes, far_tails=np.array(tails), distances=np.tile(far, (len(tails), 1))
    )
    problem = replace(made.queries.problem, reference=replace(reference, extremes=extremes))
    return replace(made, queries=made.queries.with_problem(problem))


def test_a_column_with_a_tail_raises_the_limit_to_where_the_noise_is_as_large():
    """By the root of the root of the number of directions, as scores have noise in each."""
    tail = Tail(np.array([[len(X), 1e-9]]), np.array([1.0, 1e4]), np.ones(1), 0.4)
    scales = []
    for tails in ((0.0, 0.0), (400.0, 0.0), (6400.0, 0.0)):
        with insecure_seed(5):
            made = with_tails(steps(), *tails)
            start = NewtonState(np.full(6, 0.3), np.full(6, 1e-4), Bias.none(6))
            made.step(start, tail, GDP(0.5))
        scales.append(made.queries.noise.events[-1].sensitivity)
    assert scales[0] < scales[1] and scales[2] == pytest.approx(4 * scales[1], rel=1e-3)


def test_a_hessian_is_unsure_by_the_rows_that_were_cut():
    assert [_hessian_error(slope) for slope in (1.0, 0.95, 0.5)] == pytest.approx([0.05, 0.25, 0.4])


def test_a_long_step_raises_the_variance_that_did_not_expect_it():
    variance = np.full(4, 0.01)
    np.testing.assert_allclose(_inflated(variance, np.full(4, 0.05), 0.01), variance)
    # as long as the errors of all directions, of which the one that is far is taken for its own
    raised = _inflated(np.full(8, 0.01), np.eye(8)[0], 0.0)
    assert raised[0] == pytest.approx(1) and raised[1:] == pytest.approx([0.125] * 7)
