"""What is told of a Poisson regression, from a position."""

from dataclasses import replace

import numpy as np
import pytest

from dpstats.estimators.newton.generalized.far_scores import FarScores
from dpstats.estimators.newton.generalized.level_outcomes import LevelRows
from dpstats.estimators.newton.generalized.logistic_position import Hessian, Position
from dpstats.estimators.newton.generalized.logistic_release import release_of
from dpstats.estimators.newton.generalized.poisson_release import FittedCounts
from dpstats.estimators.newton.row_sums.indicator_basis import IndicatorBasis
from dpstats.estimators.newton.steps.bias import Bias
from dpstats.estimators.newton.steps.queries import Counted
from dpstats.evidence import PoissonEvidence
from dpstats.privacy import ADD_REMOVE
from tests.checks.noisy_poisson import poisson_case

PROBLEM = poisson_case(ADD_REMOVE).problem
EXTREMES = replace(PROBLEM.reference.extremes, kurtosis=np.full(2, 3.0))
PROBLEM = replace(PROBLEM, reference=replace(PROBLEM.reference, extremes=EXTREMES))
BASIS = IndicatorBasis.of(PROBLEM)
P = BASIS.span.shape[1]
EYE = np.eye(P)
FITTED = FittedCounts(
    Position(np.full(P, 0.2), 1e-4 * EYE, 0.0, 1e-6 * EYE), Hessian.released(900.0 * EYE, 2.0),
    BASIS.span, 0.3, Counted(5000.0, 20.0), 5000.0, (0.4, 0.01), 1.0, 0.1, 2 * 900.0 * EYE,
    None, np.r_[2000.0, np.zeros(P)], np.full(P + 1, 5.0), False, np.zeros((0, P)),
    LevelRows.none(P), False, None,
    Bias.none(P), FarScores(Counted(3.0, 10.0), Counted(-5.0, 12.0), 5000.0), np.zeros((0, P)),
)  # fmt: skip


def released(**changed):
    return release_of(replace(FITTED, **changed), BASIS, PROBLEM)


def test_means_are_exponentials_of_the_predictor_and_errors_are_robust():
    found, back = released(), BASIS.from_span @ BASIS.span
    assert found.cov == pytest.approx((1e-4 + 2 / 900) * back @ back.T)
    assert found.cov_type == "HC1" and found.status == "ok" and not found.reasons
    assert type(found.evidence) is PoissonEvidence and float(found.evidence.mean_slope) == 0.4
    assert found.predictions == pytest.approx(np.exp(PROBLEM.x_new @ found.params))
    cut = release_of(FITTED, BASIS, replace(PROBLEM, y_high=0.5))
    assert cut.predictions.max() == 0.5


def test_what_is_cut_off_scores_widens_intervals_and_is_told_as_of_privacy():
    bias = Bias(np.full(P, 1e-3), np.full(P, 0.01), np.zeros((1, P)), 0.02)
    wide, plain = released(bias=bias), released()
    more = wide.cov - plain.cov
    assert (np.diag(more) > 0).all()
    assert wide.evidence.privacy_cov - plain.evidence.privacy_cov == pytest.approx(more)
    shifted = released(bias=replace(Bias.none(P), shift=0.5)).cov - plain.cov
    assert shifted[0, 0] == pytest.approx(0.25) and np.abs(shifted[1:]).max() < 1e-9


@pytest.mark.parametrize(
    "changed, why",
    [
        ({"few": True}, "rows are too few"),
        ({"mean": (0.03, 0.01)}, "all that is not zero"),
        ({"far": replace(FITTED.far, later=Counted(60.0, 12.0))}, "far from the model"),
        ({"far": replace(FITTED.far, rows=500.0)}, "could hide 1%"),
        ({"position": replace(FITTED.position, beyond=0.2)}, "nearly all responses of some level"),
    ],
)
def test_where_nothing_is_to_be_trusted_no_interval_is_shown(changed, why):
    found = released(**changed)
    assert found.status == "not_identified" and why in found.reasons["bse"]
    assert found.evidence.hidden_cov == pytest.approx(found.cov)


def test_a_large_mean_is_as_well_as_a_small_one():
    assert released(mean=(40.0, 0.1)).status == "ok"


def test_much_noise_is_imprecise_in_logarithms_of_the_mean():
    found = released(position=replace(FITTED.position, cov=0.2 * EYE))
    assert found.status == "imprecise" and "the logarithm of the mean" in found.note


@pytest.mark.parametrize("counted", [2.0, 3.0])
def test_directions_of_skewed_regressors_are_weak_where_more_rows_than_ordinary_are_far(counted):
    """A projection on what both span, with the directions that noise could account for."""
    hessian = Hessian.released(900.0 * EYE - 899.0 * np.outer(EYE[0], EYE[0]), 2.0)
    both = np.stack([(EYE[0] + EYE[1]) / np.sqrt(2), EYE[1]])
    far = FarScores(Counted(counted, 10.0), Counted(-5.0, 12.0), 5000.0)
    fitted = replace(FITTED, hessian=hessian, far=far, skewed=both)
    expected = np.diag([1.0, float(counted > 2.5), *np.zeros(P - 2)])
    assert fitted.weak == pytest.approx(expected, abs=1e-12)


def test_the_coefficient_along_a_weak_direction_is_hidden():
    back = BASIS.from_span @ BASIS.span
    along = back[-1] / np.linalg.norm(back[-1])
    far = FarScores(Counted(3.0, 10.0), Counted(3.0, 12.0), 5000.0)
    found, whole = released(far=far, skewed=along[None]), np.diag(released().cov)
    assert "skewed regressor" in found.reasons["conf_int"]
    hidden = np.diag(found.evidence.hidden_cov)
    assert hidden[-1] == pytest.approx(whole[-1]) and (hidden < whole / 2).any()
