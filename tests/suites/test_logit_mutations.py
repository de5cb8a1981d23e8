"""Logistic regressions broken on purpose: each defect must be caught by a check of the real tests.

In the manner of test_mutations.py; the checks are replays of the worst rows.
"""

from functools import cache
from unittest import mock

import numpy as np

from dpstats.errors import BudgetError
from dpstats.estimators.newton import noisy_logit
from dpstats.estimators.newton.generalized import logistic_queries, logistic_sums
from dpstats.estimators.newton.generalized.logistic_sums import LogisticRows
from dpstats.estimators.newton.row_sums import indicator_basis
from dpstats.estimators.newton.row_sums.mapped_rows import MappedRows
from dpstats.estimators.newton.row_sums.sums import slices
from dpstats.numerics import logistic_loops
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE
from tests.checks import noisy_logit as noisy_logit_checks
from tests.checks.breaks import smaller, without_limit
from tests.checks.mutants import Mutant, both_tests, patched
from tests.checks.noisy_logit import check_offsets, check_worst

RELATIONS = {ADD_REMOVE: "added", REPLACE_ONE: "replaced"}


@cache
def check(neighbors, only="", **options):
    """The worst rows, those on rays for one query alone."""

    def run():
        check_worst(neighbors, only or "none of them", **options)

    return run


def added(only=""):
    """The worst rows under add/remove."""
    return check(ADD_REMOVE, only)


def weights(change):
    """Blocks of rows with other weights."""

    def mutate(original):
        def blocks(self, rows):
            for block in original(self, rows):
                yield block._replace(weights=change(self, block))

        return blocks

    return patched(LogisticRows, "blocks", mutate)


def twice_as_long(original):
    """Rows that are held are longer than their norms say."""

    def block(self, own, p):
        columns, squares = original(self, own, p)
        return 2 * columns, squares

    return block


def with_offset(original):
    """Scores a (y - mu + o): the offset stands outside of what is bounded."""

    def blocks(self, rows):
        for block, start in zip(original(self, rows), slices(len(rows)), strict=True):
            added = 0.0 if rows.offsets is None else np.clip(rows.offsets[start], -3, 3)
            yield block._replace(response=block.response + added)

    return blocks


def offsets_added():
    """Rows with offsets under add/remove; whether they reach each bound is not asked."""
    with mock.patch.object(noisy_logit_checks, "best_on_rays", return_value=1.0):
        check_offsets(ADD_REMOVE)


def last_offset(original):
    """A row's linear predictor has the offset of the last row."""

    def starts(center, rows):
        found = original(center, rows)
        return found if rows.offsets is None else found + found[-1:]

    return starts


def unbounded_responses(original):
    """Responses count as they are."""
    return lambda y: 2 * original(y)


def times_the_last(original):
    """A row's probability depends on other rows."""

    def probabilities(*at):
        found = original(*at)
        return found * found[-1:]

    return probabilities


def shares(**larger):
    """Some steps take more of the budget."""
    return patched(noisy_logit, "_PARTS", lambda parts: parts | larger)


def half_as_steep(original):
    """A Hessian of which 1/8 is taken for the largest mu'."""
    return lambda self, bound, rows: original(self, bound, rows) * 2


def exact_mean(original):
    """The share of ones before noise is the start."""

    def mean(queries, rows, cost):
        _, error = original(queries, rows, cost)
        return float(queries.total(logistic_sums.ones)[0]) / 2**20 / rows, error

    return mean


MUTANTS = {
    "scores without a limit of leverage": Mutant(
        weights(lambda rows, block: np.ones_like(block.weights)), added()
    ),
    "weights by the length, not its square, for the Hessian": Mutant(
        patched(
            LogisticRows,
            "_curvature",
            lambda f: (
                lambda self, bound, block: f(
                    self,
                    bound,
                    block._replace(squares=0 * block.squares, weights=0 * block.weights + 1),
                )
            ),
        ),
        added(),
    ),
    "1/8 for the largest slope of a probability": Mutant(
        patched(LogisticRows, "hessian", half_as_steep), added()
    ),
    "offsets outside of what is bounded": Mutant(
        patched(LogisticRows, "blocks", with_offset), offsets_added
    ),
    "offsets of the last row": Mutant(
        patched(logistic_sums, "starts_of", last_offset), offsets_added
    ),
    "responses of two": Mutant(patched(logistic_sums, "_within_one", unbounded_responses), added()),
    "probabilities times that of the last row": Mutant(
        patched(logistic_loops, "probabilities", times_the_last), added()
    ),
    "the start from the share of ones before noise": Mutant(
        patched(noisy_logit, "mean_response", exact_mean), added()
    ),
    "twice the budget of a step": Mutant(shares(fifth=1.0), added(), BudgetError),
    "twice the budget of a step, no limit": Mutant(without_limit(shares(fifth=1.0)), added()),
    **{
        f"half the sensitivity of {step}, {name}": Mutant(
            smaller(module, step=step), check(relation, on_ray, **options)
        )
        for step, module, on_ray, options in (
            ("mean of y", logistic_queries, "", {}),
            ("scores", logistic_queries, "scores", {}),
            ("Hessian", indicator_basis, "", {}),
            ("score products", indicator_basis, "score products", {"cov_type": "HC1"}),
        )
        for relation, name in RELATIONS.items()
    },
    "rows that are held have twice their length": Mutant(
        patched(MappedRows, "block", twice_as_long), added("scores")
    ),
    "half the sensitivity of slopes, added": Mutant(
        smaller(logistic_queries, step="slopes"), added("slopes and entropies")
    ),
}


# parts of what tests/estimators/newton/test_noisy_logit.py checks on unbroken code
PARTS = [offsets_added, *(check(one, "score products", cov_type="HC1") for one in RELATIONS)]
test_every_mutant_is_caught, test_the_same_checks_pass_when_nothing_is_broken = both_tests(
    MUTANTS, PARTS
)
