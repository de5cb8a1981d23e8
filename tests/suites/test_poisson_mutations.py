"""Poisson regressions broken on purpose: each defect must be caught by a check of the real tests.

In the manner of test_mutations.py; the checks are replays of the worst rows.
"""

from functools import cache

import numpy as np

from dpstats.errors import BudgetError
from dpstats.estimators.newton import noisy_poisson
from dpstats.estimators.newton.generalized import poisson_loss, poisson_queries
from dpstats.estimators.newton.generalized.poisson_loss import PoissonLoss
from dpstats.estimators.newton.row_sums import indicator_basis
from dpstats.estimators.newton.row_sums.scores import Scores
from dpstats.estimators.newton.row_sums.sums import slices
from dpstats.estimators.newton.steps import queries
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE
from tests.checks.breaks import smaller, without_limit
from tests.checks.mutants import Mutant, both_tests, patched
from tests.checks.noisy_poisson import check_offsets, check_worst

RELATIONS = {ADD_REMOVE: "added", REPLACE_ONE: "replaced"}


@cache
def check(neighbors):
    """The worst rows; whether they reach each bound is not asked."""
    return lambda: check_worst(neighbors, "none of them")


def unclipped(original):
    """Scores that are cut to nothing."""
    return lambda self, limit, rows: (block * 2 for block in original(self, limit, rows))


def with_offset(original):
    """Offsets are added to scores after these are clipped."""

    def clipped(self, limit, rows):
        for block, own in zip(original(self, limit, rows), slices(len(rows)), strict=True):
            added = 0.0 if rows.offsets is None else np.clip(rows.offsets[own], -3, 3)
            yield block + np.trunc(added * 2**20)

    return clipped


def last_offset(original):
    """A row's linear predictor has the offset of the last row."""

    def starts(center, rows):
        found = original(center, rows)
        return found if rows.offsets is None else found + found[-1:]

    return starts


def offsets_added():
    """Rows with offsets under add/remove."""
    check_offsets(ADD_REMOVE)


def exact_mean(original):
    """The mean before noise is the unit of residuals."""

    def mean(rough, rows, cost):
        _, error = original(rough, rows, cost)
        sums = rough.total(lambda some: np.array([int(np.fmin(some.response, 1e6).sum())], object))
        return float(sums[0]) / rows, error

    return mean


def shares(**larger):
    """Some steps take more of the budget."""
    return patched(noisy_poisson, "_PARTS", lambda parts: parts | larger)


def times_the_last(original):
    """A row's mean depends on other rows."""

    def curvatures(self, rows, columns, eta):
        found = original(self, rows, columns, eta)
        return found * (1 + found[-1:])

    return curvatures


def uncapped(original):
    """Hessians of rows that are not scaled down to the bound."""
    return lambda curvature, squares, bound, parts: parts * curvature / bound


def far_responses(original):
    """Responses of at most twice the limit count as up to two."""
    return lambda limit, rows: original(2 * limit, rows) * 2


MUTANTS = {
    "scores of twice the limit": Mutant(patched(Scores, "clipped", unclipped), check(ADD_REMOVE)),
    "Hessians without a bound": Mutant(
        patched(poisson_loss, "capped_curvature", uncapped), check(ADD_REMOVE)
    ),
    "responses cut at twice their limit": Mutant(
        patched(poisson_queries, "responses", far_responses), check(ADD_REMOVE)
    ),
    "offsets outside the clip": Mutant(patched(Scores, "clipped", with_offset), offsets_added),
    "offsets of the last row": Mutant(
        patched(poisson_loss, "starts_of", last_offset), offsets_added
    ),
    "means times that of the last row": Mutant(
        patched(PoissonLoss, "curvatures", times_the_last), check(ADD_REMOVE)
    ),
    "the unit from the mean before noise": Mutant(
        patched(noisy_poisson, "mean_count", exact_mean), check(ADD_REMOVE)
    ),
    "twice the budget of a step": Mutant(shares(fifth=1.0), check(ADD_REMOVE), BudgetError),
    "twice the budget of a step, no limit": Mutant(
        without_limit(shares(fifth=1.0)), check(ADD_REMOVE)
    ),
    **{
        f"half the sensitivity of {step}, {name}": Mutant(
            smaller(module, step=step), check(relation)
        )
        for step, module in (
            ("mean of y", poisson_queries),
            ("scores", poisson_queries),
            ("score norms", queries),
            ("Hessian", indicator_basis),
            ("score products", indicator_basis),
        )
        for relation, name in RELATIONS.items()
    },
}


# tests/estimators/newton/test_noisy_poisson.py runs offsets_added on unbroken code
test_every_mutant_is_caught, test_the_same_checks_pass_when_nothing_is_broken = both_tests(
    MUTANTS, [offsets_added]
)
