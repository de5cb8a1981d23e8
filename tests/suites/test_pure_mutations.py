"""Newton steps with delta = 0 broken on purpose: each defect must be caught by a replay.

In the manner of test_newton_mutations.py, whose defects of sums, clipping and limits are of the
same code; here it is the noise of an epsilon alone, its sensitivities and its fractions.
"""

from dataclasses import replace
from functools import partial

from dpstats.errors import BudgetError
from dpstats.estimators import METHODS
from dpstats.estimators.newton.row_sums import indicator_basis
from dpstats.estimators.newton.steps import clusters
from dpstats.estimators.newton.steps import rounds as newton_rounds
from dpstats.estimators.newton.steps.queries import Queries
from dpstats.noise import noise as noise_module
from dpstats.noise import random_sources, spherical
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE, PureDP
from tests.checks.breaks import full_share, on, smaller, without_limit
from tests.checks.mutants import Mutant, both_tests, over, patched
from tests.checks.newton_clusters import check_clusters
from tests.checks.replayed import check_worst
from tests.checks.spherical import check_lengths

ADDED = on(check_worst, "noisy_newton_pure", neighbors=ADD_REMOVE)
REPLACED = on(check_worst, "noisy_newton_pure", neighbors=REPLACE_ONE)
CLUSTERED = over(partial(check_clusters, method=METHODS["noisy_newton_pure"]), (ADD_REMOVE,))
LENGTHS = over(check_lengths, (3, 4))


def of_one_value(original):
    """Noise of many values has the deviation that one value needs."""

    def chosen(cost, l1, l2, values=1):
        return _scaled(original(cost, l1, l2, values), (values + 1) ** -0.5)

    return chosen


def laplace_by_l2(original):
    """Laplace noise is scaled to the sensitivity in the L2 norm."""
    return lambda cost, l1, l2, values=1: original(cost, l1 if l2 is None else l2, l2, values)


def a_tenth_less(original):
    """Noise is a tenth too small."""
    return lambda *given: _scaled(original(*given), 0.9)


def _scaled(chosen, factor):
    return chosen and chosen._replace(scale=chosen.scale * factor)


def one_entry(original):
    """Scores are bounded in L1 as if they had one entry."""
    return lambda self, p: original(self, 1)


def row_of_one_entry(original):
    """Products are bounded in L1 as if rows had one entry."""
    return lambda self, step, work, bound, free, cost, entries=None: original(
        self, step, work, bound, free, cost, 1
    )


def shares(**changed):
    """Fractions of epsilon that add up to more than 1."""
    return lambda monkeypatch: monkeypatch.setattr(
        newton_rounds, "PURE", replace(newton_rounds.PURE, **changed)
    )


def smaller_terms(original):
    """Exponential variables are a tenth too small."""
    return lambda randbelow: 0.9 * original(randbelow)


MUTANTS = {
    "spherical noise of one value": Mutant(
        patched(noise_module, "distribution", of_one_value), ADDED
    ),
    "Laplace noise by L2": Mutant(patched(noise_module, "distribution", laplace_by_l2), ADDED),
    "a tenth too little noise": Mutant(patched(noise_module, "distribution", a_tenth_less), ADDED),
    "scores in L1 as if of one entry": Mutant(patched(Queries, "score_l1", one_entry), ADDED),
    "products in L1 as if of one entry": Mutant(
        patched(Queries, "products", row_of_one_entry), ADDED
    ),
    "twice the budget of a round": Mutant(shares(rounds=(0.4, 0.4)), ADDED, BudgetError),
    "twice the budget of a round, no limit": Mutant(
        without_limit(shares(rounds=(0.4, 0.4))), ADDED
    ),
    "all of epsilon for each step": Mutant(full_share(PureDP), ADDED, BudgetError),
    "all of epsilon for each step, no limit": Mutant(without_limit(full_share(PureDP)), ADDED),
    "normal noise of one variance": Mutant(
        patched(random_sources, "standard_deviation", lambda _: lambda *given: 1.0),
        LENGTHS,
        AssertionError,
    ),
    "exponential variables a tenth too small": Mutant(
        patched(spherical, "_exponential", smaller_terms), LENGTHS, AssertionError
    ),
    "half the sensitivity of X'X": Mutant(smaller(indicator_basis, step="X'X"), REPLACED),
    **{
        f"half the sensitivity of {step}": Mutant(smaller(module, step=step), CLUSTERED)
        for module, step in (
            (clusters, "norm of cluster sizes"),
            (clusters, "cluster lengths"),
            (indicator_basis, "cluster products"),
        )
    },
}


# tests/noise/test_spherical.py runs LENGTHS on unbroken code
test_every_mutant_is_caught, test_the_same_checks_pass_when_nothing_is_broken = both_tests(
    MUTANTS, [LENGTHS]
)
