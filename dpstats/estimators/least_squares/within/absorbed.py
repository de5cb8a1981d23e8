"""Fit with absorbed effects of groups: AdaSSP and SSP on within-group cross-products."""

from collections.abc import Callable, Sequence
from functools import partial

from dpstats import option_checks
from dpstats.errors import ArgumentError
from dpstats.estimators.contract import Method, Passes, Problem, Release
from dpstats.estimators.least_squares.dense.robust_covariance import COV_TYPES
from dpstats.estimators.least_squares.within.fit import absorbing, fit_within
from dpstats.estimators.least_squares.within.groups import (
    GroupDeviations,
    grouped_moments,
    release_within,
)
from dpstats.noise import Noise
from dpstats.privacy import GDP


def release(
    penalty_of: Callable,
    passes: Passes,
    problem: Problem,
    cost: GDP,
    noise: Noise,
    cov_type: str = COV_TYPES[0],
) -> Release:
    r"""Fit the regression of deviations from group means, with a ridge as in AdaSSP or without.

    Guarantee. mu-GDP for the given relation, hence (epsilon, delta)-DP: the releases are those
    of :func:`~dpstats.estimators.least_squares.within.groups.release_within`, and the rest is
    post-processing. Nothing is released about any one group, and the noise does not depend on their
    number.

    With noise E on W_uu and w on W_uv, theta - theta_0 is about W_uu^-1 (W_ue + w - E theta), as in
    :mod:`dpstats.estimators.least_squares.adassp`. The only ``cov_type`` is the one for errors of
    one variance.
    """
    moments = passes.sum(partial(grouped_moments, problem=problem))
    within = release_within(moments, GroupDeviations(problem), problem.neighbors, cost, noise)
    return fit_within(within, problem, penalty_of)


def _cov_type(value) -> str:
    """Return "nonrobust"; HC1 is refused with the reason.

    The scores are (u - m_g) e with the private mean m_g of the row's group. A row that joins moves
    m_g and so the scores of all rows of its group, and their squares are no sum over rows of
    functions of one row each, which is what the second release of HC1 needs.
    """
    if value == "HC1":
        raise ArgumentError(
            'cov_type="HC1" is not available with |: group means are private, so one row moves the '
            'scores of all rows of its group; take method="noisy_newton", which compares pairs, or '
            "write the column as C(column) with levels="
        )
    return option_checks.word("cov_type", *COV_TYPES)(value)


def methods(plain: Sequence[Method]) -> dict[str, Method]:
    """Return, by name, what methods on cross-products do with ``y ~ x | column``."""
    cov_type = COV_TYPES[0], _cov_type
    return {each.name: absorbing(each, release, cov_type, _ABSORBED) for each in plain}


_ABSORBED = (
    "the labels of the absorbed column stay private; a row whose label is missing is left out"
)
