"""Regressions with instruments broken on purpose: each defect must be caught by a real check.

In the manner of test_mutations.py; the checks are replays of the worst rows.
"""

from dataclasses import replace
from functools import cache

import numpy as np

from dpstats.estimators.newton import noisy_instruments
from dpstats.estimators.newton.instruments import joint_scores
from dpstats.estimators.newton.instruments.joint_scores import JointScores
from dpstats.estimators.newton.row_sums import indicator_basis
from dpstats.estimators.newton.steps import group_response
from dpstats.numerics import Rows
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE
from tests.checks.breaks import smaller, times_the_last, without_limit
from tests.checks.mutants import Mutant, both_tests, patched
from tests.checks.noisy_instruments import check_worst


@cache
def check(neighbors, grouped=False):
    """The worst rows under a relation, of all rows or of a group."""

    def run():
        check_worst(neighbors, grouped)

    return run


ADDED, REPLACED, IN_GROUP = check(ADD_REMOVE), check(REPLACE_ONE), check(ADD_REMOVE, True)


def longer(original):
    """The length of a joint score is that of y's alone, so that d's is not clipped."""

    def capped(rows, squares, bound):
        half = len(rows) // 2
        return original(rows, (rows[:half] ** 2).sum(axis=0), bound)

    return capped


def each_by_itself(original):
    """Scores of y and of d are clipped to the whole limit each."""

    def capped(rows, squares, bound):
        halves = np.split(rows, 2)
        return np.vstack([original(half, (half**2).sum(axis=0), bound) for half in halves])

    return capped


def unclipped_units(original):
    """What a joint score is measured by is of the rows."""

    def products(self, limit, rows):
        longest = max((np.abs(y).max(initial=1.0) for _, y, _ in self.y.blocks(rows)), default=1.0)
        return original(replace(self, units=(longest, longest)), limit, rows)

    return products


def share(name, value):
    """A step takes another part of the budget."""
    return without_limit(patched(noisy_instruments, name, lambda _: value))


MUTANTS = {
    "one response's score is not clipped": Mutant(
        patched(joint_scores, "capped", longer), ADDED
    ),
    "each response's score is clipped by itself": Mutant(
        patched(joint_scores, "capped", each_by_itself), ADDED
    ),
    "each is clipped by itself, replaced": Mutant(
        patched(joint_scores, "capped", each_by_itself), REPLACED
    ),
    "the endogenous regressor depends on another row": Mutant(
        patched(Rows, "of_outcome", times_the_last), ADDED
    ),
    "the unit of joint scores is of the rows": Mutant(
        patched(JointScores, "products", unclipped_units), REPLACED
    ),
    "a row replaced moves products as one added does": Mutant(
        smaller(indicator_basis, 1 / np.sqrt(2), "score products"), REPLACED
    ),
    "products of scores at half of their sensitivity": Mutant(
        smaller(indicator_basis, 0.5, "score products"), ADDED
    ),
    "the center of a group's responses moves half as far": Mutant(
        smaller(group_response, 0.5, "center of y"), IN_GROUP
    ),
    "mean and rounds of each response take all of the budget": Mutant(share("_HALF", 1.0), ADDED),
}  # fmt: skip

test_a_mutant_is_caught, test_checks_pass_unbroken = both_tests(MUTANTS)
