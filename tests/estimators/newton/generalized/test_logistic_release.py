"""Coefficients, covariance and status from a position."""

from dataclasses import replace

import numpy as np
import pytest

from dpstats.estimators.newton.generalized.level_outcomes import LevelRows
from dpstats.estimators.newton.generalized.logistic_position import Hessian, Position
from dpstats.estimators.newton.generalized.logistic_release import FittedLogit, release_of
from dpstats.estimators.newton.row_sums.indicator_basis import IndicatorBasis
from dpstats.estimators.newton.steps.queries import Counted
from dpstats.evidence import Stack
from dpstats.privacy import ADD_REMOVE
from tests.checks.noisy_logit import logit_case

PROBLEM = logit_case(ADD_REMOVE).problem
BASIS = IndicatorBasis.of(PROBLEM)
P = BASIS.span.shape[1]
EYE = np.eye(P)
POSITION = Position(np.full(P, 0.2), 1e-4 * EYE, 0.0, 1e-6 * EYE)
LONG = replace(POSITION, eta=np.full(P, 1.6 / np.sqrt(P)))
FITTED = FittedLogit(
    POSITION, Hessian.released(900.0 * EYE, 2.0), BASIS.span, 0.3, Counted(5000.0, 20.0), 5000.0,
    (0.4, 0.01), 1.0, 0.0, None, None, np.r_[1000.0, np.zeros(P)], np.full(P + 1, 5.0), False,
    np.zeros((0, P)), LevelRows.none(P), False, None,
)  # fmt: skip


def released(**changed):
    return release_of(replace(FITTED, **changed), BASIS, PROBLEM)


def test_sampling_and_noise_add_up():
    found, back = released(), BASIS.from_span @ BASIS.span
    assert found.params[1:] == pytest.approx((back @ POSITION.eta)[1:])
    variance = 1e-4 + 1 / 898
    assert found.cov == pytest.approx(variance * back @ back.T)
    assert found.evidence.privacy_cov == pytest.approx(1e-4 * back @ back.T)
    assert float(found.evidence.mean_slope) == 0.2
    assert found.status == "ok" and found.cov_type == "nonrobust" and not found.reasons
    index = PROBLEM.x_new @ found.params
    assert found.predictions == pytest.approx(1 / (1 + np.exp(-index)))


def test_what_weights_may_change_counts_as_an_error_of_unknown_sign():
    changed, back = np.vstack([np.eye(P)[1], 2 * np.eye(P)[2]]) / 100, BASIS.from_span @ BASIS.span
    found = released(changed=changed)
    more = back @ np.diag([0, 1, 4, *[0] * (P - 3)]) @ back.T / 100**2
    assert found.cov - released().cov == pytest.approx(more)
    assert found.evidence.privacy_cov - released().evidence.privacy_cov == pytest.approx(more)


def test_errors_of_rare_outcomes_are_longer_the_more_noise_moves_the_position():
    """e to the power of 2.5 times what noise moves it by and how rare they are, at most of one."""

    def ratio(cov, rare):
        position = replace(POSITION, cov=cov, rare=rare)
        plain = released(position=replace(position, rare=0.0)).cov
        return np.sqrt(np.diag(released(position=position).cov / plain))

    assert ratio(1e-4 * EYE, 0.5) == pytest.approx(np.exp(2.5 * 0.5 * 0.01))
    assert ratio(1e4 * EYE, 0.9) == pytest.approx(np.e)
    uneven = np.diag(np.linspace(1e-4, 0.04, P))
    noise = replace(FITTED, position=replace(POSITION, cov=uneven, rare=0.9))
    longer = np.linalg.eigvalsh(noise.total - noise.noise - noise.sampling)
    assert longer.min() > 0


def test_robust_errors_are_of_the_products_of_scores():
    found = released(products=2 * 900.0 * EYE)
    back = BASIS.from_span @ BASIS.span
    assert found.cov == pytest.approx((1e-4 + 2 / 900) * back @ back.T)
    assert found.cov_type == "HC1"


def test_weights_that_take_leverage_widen_intervals():
    assert (np.diag(released(kept=0.9).cov) > np.diag(released().cov)).all()


@pytest.mark.parametrize(
    "changed, why",
    [
        ({"few": True}, "rows are too few"),
        ({"mean": (0.03, 0.01)}, "all the ones, or all the zeros"),
        ({"mean": (0.98, 0.01)}, "all the ones, or all the zeros"),
        ({"position": replace(POSITION, beyond=0.2)}, "did not settle"),
        ({"position": replace(POSITION, cov=EYE / 50, left=EYE / 51)}, "did not settle"),
        ({"position": replace(LONG, moved=0.05, noise=1e-4)}, "did not settle"),
        ({"position": replace(LONG, moved=1e-4, noise=0.05)}, "did not settle"),
        ({"hessian": Hessian.released(900.0 * EYE, 300.0)}, "decide some coefficients"),
    ],
)
def test_where_nothing_is_to_be_trusted_no_interval_is_shown(changed, why):
    found = released(**changed)
    assert found.status == "not_identified" and why in found.reasons["bse"]
    uncertainty = Stack.of([found], len(found.params)).uncertainty()
    assert np.isinf(uncertainty.intervals(np.eye(len(found.params)), 0.05)).all()


def test_a_long_position_that_settled_has_intervals():
    settled = replace(LONG, moved=0.01, noise=0.01)
    assert released(position=settled).status == "ok"
    short = replace(POSITION, moved=0.05, noise=0.05)
    assert released(position=short).status == "ok"


def test_a_direction_that_noise_hides_takes_its_coefficients_along():
    values = np.r_[10.0, np.full(P - 1, 900.0)]
    found = released(hessian=Hessian.released(np.diag(values), 4.0))
    assert found.status == "imprecise" and "decide some coefficients" in found.reasons["bse"]


@pytest.mark.parametrize(
    ("directions", "hidden", "deviation", "swamped"),
    [(36, 5, 60.0, True), (36, 3, 60.0, False), (36, 5, 20.0, False), (19, 5, 60.0, False)],
)
def test_many_directions_in_much_noise_leave_steps_halfway(directions, hidden, deviation, swamped):
    values = np.r_[np.full(hidden, 30.0), np.full(directions - hidden, 900.0)]
    hessian = Hessian.released(np.diag(values), deviation)
    assert replace(FITTED, hessian=hessian).is_swamped == swamped


def test_much_noise_is_imprecise():
    found = released(position=replace(POSITION, cov=0.2 * EYE))
    assert found.status == "imprecise" and "0.3 in log odds" in found.note
