"""Releases of several outcomes broken on purpose: each defect must be caught by a real check.

In the manner of test_mutations.py; the checks are replays of the worst rows.
"""

from dataclasses import replace
from functools import cache

import numpy as np

from dpstats.estimators.newton import noisy_newton
from dpstats.estimators.newton.row_sums.scores import Scores
from dpstats.estimators.newton.steps.rounds import Shares
from dpstats.numerics import Rows
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE
from tests.checks.breaks import times_the_last, without_limit
from tests.checks.mutants import Mutant, both_tests, patched
from tests.checks.several_outcomes import check_worst


@cache
def check(neighbors, **options):
    """The worst rows under a relation."""

    def run():
        check_worst(neighbors, **options)

    return run


ADDED, REPLACED, ROBUST = check(ADD_REMOVE), check(REPLACE_ONE), check(ADD_REMOVE, cov_type="HC1")


def unclipped(of_last: bool):
    """Scores of one response alone are clipped at twice the limit that they state."""

    def make(original):
        def sums(self, limit, cut, weight, rows):
            if (self.reference.y_center < -1) != of_last:
                return original(self, limit, cut, weight, rows)
            total = original(self, 2 * limit, cut, weight, rows)
            return np.append(2 * total[:-1], total[-1])

        return sums

    return patched(Scores, "sums", make)


def as_for_one(original):
    """Each response has the budget that one alone has."""
    return lambda self, outcomes: self


def products_as_for_one(original):
    """Products of scores of each response take what those of one alone do."""
    return lambda fit, counted, cost: original(fit, counted, cost and cost.part(3))


def rounds_as_for_one(original):
    """The rounds of each response take what those of one alone do."""

    def stepped(steps, wild, cost):
        queries = steps.queries.with_problem(replace(steps.queries.problem, others=()))
        return original(replace(steps, queries=queries), wild, cost)

    return stepped


def of_all_rows(original):
    """The mean square of a response is found without noise."""

    def measured(queries, rows, cost):
        found = original(queries, rows, cost)
        last, problem = found[-1], found[-1].problem
        spread = last.total(lambda seen: np.clip(seen.response, -9, 9)).std()
        reference = replace(problem.reference, y_scale=float(spread) + 1e-3)
        return [*found[:-1], last.with_problem(replace(problem, reference=reference))]

    return measured


MUTANTS = {
    "the last response's score is not clipped": Mutant(unclipped(True), ADDED),
    "the other responses' scores are not clipped": Mutant(unclipped(False), REPLACED),
    "another response depends on other rows": Mutant(
        patched(Rows, "of_outcome", times_the_last), ADDED
    ),
    "each response has all of the budget": Mutant(
        without_limit(patched(Shares, "_among", as_for_one)), ADDED
    ),
    "products of each response have all of their part": Mutant(
        without_limit(patched(noisy_newton, "_with_products", products_as_for_one)), ROBUST
    ),
    "rounds of each response have all of the budget": Mutant(
        without_limit(patched(noisy_newton, "stepped", rounds_as_for_one)), REPLACED
    ),
    "the scale of a response is of the rows": Mutant(
        patched(noisy_newton, "_measured", of_all_rows), ADDED
    ),
}  # fmt: skip

test_a_mutant_is_caught, test_checks_pass_unbroken = both_tests(MUTANTS)
