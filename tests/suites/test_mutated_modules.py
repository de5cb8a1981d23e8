"""No module that touches rows before noise does is without a mutant.

Mutants of what test_mutations.py does not reach stand here; the modules of both are read off
what a mutant replaces.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

import dpstats as dp
from dpstats.errors import BudgetError, InternalError
from dpstats.estimators import companion
from dpstats.estimators.contract import InMemory
from dpstats.estimators.least_squares import adassp, shrunken
from dpstats.estimators.least_squares.factors import fit as block_least_squares
from dpstats.estimators.lines import pairwise_table
from dpstats.noise import exponential_batch, exponential_compiled, posterior
from dpstats.noise.drawn_ahead import DrawnAhead
from dpstats.numerics import Moments, Rows, concordance
from dpstats.privacy import GDP
from dpstats.range_estimation import estimate
from dpstats.selection import path
from tests.checks.breaks import (
    KENDALL,
    LASSO,
    WORST_ADASSP,
    WORST_SHRUNKEN,
    both_relations,
    counts_before_noise,
    on,
    pure_ranges,
    random_rows,
    squares,
)
from tests.checks.companion import check_pair
from tests.checks.drawn_ahead import check_handed_out_once
from tests.checks.group_batches import check_agreement
from tests.checks.mutants import Mutant, both_tests, broken_modules, patched
from tests.checks.posterior import check_samples
from tests.checks.replayed import check_ranges
from tests.checks.rooms import ROOMS as FLOORS
from tests.checks.structure import Structure
from tests.suites import test_absorbed_mutations as within
from tests.suites import test_basis_mutations as basis
from tests.suites import test_describe_mutations as describe
from tests.suites import test_instrument_mutations as instruments
from tests.suites import test_logit_mutations as logit
from tests.suites import test_newton_mutations as newton
from tests.suites import test_outcome_mutations as outcomes
from tests.suites import test_pair_mutations as pairs
from tests.suites import test_person_replay as persons
from tests.suites import test_poisson_mutations as poisson
from tests.suites import test_pure_mutations as pure
from tests.suites.test_mutations import MUTANTS

careful_ranges = both_relations(partial(check_ranges, careful=True), GDP.of(8.0, 1e-6))


def counted(original):
    """The exact number of rows finds its way into the coefficients."""

    def release(passes, *rest, **options):
        made = original(passes, *rest, **options)
        return replace(made, params=made.params + passes.sum(len))

    return release


def half_as_much_again(original):
    """What releases for a cost does so for half as much again."""

    def release(*given, **options):
        return original(*(c.part(1.5) if hasattr(c, "part") else c for c in given), **options)

    return release


def generous_pair(original):
    """Both releases of a pair take half as much again as is theirs."""
    return lambda release, **facts: original(release=half_as_much_again(release), **facts)


def first_row_twice(of):
    """The first row of a chunk is counted twice."""
    return classmethod(lambda _, rows, box: of(rows, box) + of(rows[:1], box))


def first_row_again(original):
    """The first row is passed over twice."""

    def twice(passes, summary):
        return original(InMemory(Rows.joined([passes.rows, passes.rows[:1]])), summary)

    return twice


def handed_out_again(original):
    """What is drawn ahead is not taken out of what is held."""

    def draw(self, name, scale, size):
        drawn = original(self, name, scale, size)
        self._held[name, scale] += drawn
        return drawn

    return draw


def whole_table(votes):
    """All rows together vote too, and count as much as three subsets."""

    def more(X, y, edges, *rest):
        return votes(X, y, edges, *rest) + 3 * votes(X, y, edges[[0, -1]], *rest)

    return more


def fit_of_factor(method="adassp"):
    """A fit in indicators, which the limit of its noise stops where it takes too much."""
    data = {"x": np.linspace(0, 1, 60), "g": np.tile(["u", "v"], 30), "y": np.linspace(0, 1, 60)}
    bounds = {"x": (0, 1), "y": (0, 1)}
    levels = {"g": ["u", "v"]}
    dp.dp_ols("y ~ x + g", data, method=method, epsilon=1, bounds=bounds, levels=levels)


groups = partial(check_agreement, "exp_theil_sen", 40, 1)
MORE = {
    "adassp: the exact number of rows is released": Mutant(
        patched(adassp, "release", counted), on(random_rows, "adassp")
    ),
    "shrunken: half the norm of a row": Mutant(
        patched(
            shrunken,
            "noisy_sums",
            lambda f: lambda m, box, *rest: f(m, replace(box, norm=box.norm / 2), *rest),
        ),
        WORST_SHRUNKEN,
    ),
    "blocks: the sums take half as much again": Mutant(
        patched(block_least_squares, "release_block_sums", half_as_much_again),
        fit_of_factor,
        InternalError,
    ),
    "shrunken: the sums in indicators take half as much again": Mutant(
        patched(shrunken, "release_block_sums", half_as_much_again),
        partial(fit_of_factor, "shrunken"),
        InternalError,
    ),
    "companion: each of the two takes half as much again": Mutant(
        patched(companion, "Method", generous_pair),
        partial(check_pair, "gd_pure", "noisy_moments"),
        BudgetError,
    ),
    "second pass: both releases take half as much again": Mutant(
        patched(adassp, "released_twice", half_as_much_again), squares, BudgetError
    ),
    "passes: the first row comes twice": Mutant(
        patched(InMemory, "sum", first_row_again), WORST_ADASSP
    ),
    "pairs of groups: predictions a step too high": Mutant(
        patched(pairwise_table, "all_pairs", lambda f: lambda *a: (f(*a)[0] + 2, f(*a)[1])),
        groups,
        AssertionError,
    ),
    "groups: weights fall twice as fast": Mutant(
        patched(
            exponential_compiled,
            "draw_each",
            lambda f: lambda *a: f(*a[:5], 2 * a[5], a[6]),
        ),
        groups,
        AssertionError,
    ),
    "groups: the rate of the first for all, half as large": Mutant(
        patched(
            exponential_batch, "draw_each", lambda f: lambda query, r, more: f(query, r / 2, more)
        ),
        groups,
        AssertionError,
    ),
    "noise drawn ahead is handed out again": Mutant(
        patched(DrawnAhead, "draw", handed_out_again), check_handed_out_once, AssertionError
    ),
    "posterior: half the deviation": Mutant(
        patched(posterior, "normals", lambda f: lambda count, below: f(count, below) / 2),
        check_samples,
        AssertionError,
    ),
    "kendall: each pair counted twice": Mutant(
        patched(concordance, "concordance", lambda f: lambda *a: 2 * f(*a)), KENDALL
    ),
    "lasso: a row is in more than one subset": Mutant(
        patched(path, "votes_of_subsets", whole_table), LASSO
    ),
    "sums: the first row of a chunk counted twice": Mutant(
        patched(Moments, "of", first_row_twice), WORST_ADASSP
    ),
    "ranges: a row is in two bins": Mutant(
        patched(estimate, "bin_counts", lambda f: lambda *a: 2 * f(*a)), pure_ranges
    ),
    "ranges that hold the tails: a row is in two bins": Mutant(
        patched(estimate, "bin_counts", lambda f: lambda *a: 2 * f(*a)), careful_ranges
    ),
    "ranges that hold the tails: read off the counts before noise": Mutant(
        counts_before_noise(estimate), careful_ranges
    ),
}
ROOMS = {room for floor in FLOORS for room in floor if room.startswith("estimators")} | {
    "noise",
    "numerics",
    "range_estimation",
    "selection",
}
# Modules in which no row meets a query, so that nothing in them can break a guarantee.
HARMLESS = {
    "estimators.contract.reference": "holds what was released of distributions",
    "estimators.contract.release": "defines a problem and what is released",
    "estimators.least_squares.dense.fit": "computes from released sums",
    "estimators.least_squares.dense.shrinkage": "computes from released sums",
    "estimators.least_squares.dense.unidentified": "computes from released sums",
    "estimators.least_squares.factors.elimination": "computes from released sums",
    "estimators.least_squares.factors.goodness": "computes from released sums",
    "estimators.least_squares.factors.sampling": "computes from released sums",
    "estimators.least_squares.factors.shrinkage": "computes from released sums",
    "estimators.least_squares.factors.simulation": "computes from released sums",
    "estimators.least_squares.factors.system": "computes from released sums",
    "estimators.least_squares.within.fit": "computes from released sums",
    "estimators.newton.generalized.far_scores": "computes from noisy counts",
    "estimators.newton.generalized.level_outcomes": "computes from released numbers",
    "estimators.newton.generalized.logistic_position": "computes from released numbers",
    "estimators.newton.generalized.logistic_release": "computes from released numbers",
    "estimators.newton.generalized.offsets": "computes from a released distribution",
    "estimators.newton.generalized.poisson_release": "computes from released numbers",
    "estimators.newton.generalized.poisson_steps": "computes from released numbers",
    "estimators.newton.generalized.pseudo_rsquared": "computes from released numbers",
    "estimators.newton.instruments.reduced_forms": "computes from released numbers",
    "estimators.newton.instruments.two_stages": "computes from released numbers",
    "estimators.newton.row_sums.loss": "defines what a loss is",
    "estimators.newton.steps.bias": "computes from noisy counts",
    "estimators.newton.steps.far_directions": "computes from released distributions",
    "estimators.newton.steps.far_responses": "computes from released distributions",
    "estimators.newton.steps.flat_responses": "computes from noisy counts",
    "estimators.newton.steps.rare_values": "computes from noisy counts",
    "estimators.newton.steps.goodness": "computes from released numbers",
    "estimators.newton.steps.hidden_rows": "computes from noisy counts",
    "estimators.newton.steps.coefficient_errors": "computes from released numbers",
    "estimators.newton.steps.products": "computes from released products and noisy counts",
    "estimators.newton.steps.release": "computes from released numbers",
    "estimators.newton.steps.score_tails": "computes from noisy counts",
    "estimators.newton.steps.state": "holds released numbers",
    "estimators.newton.steps.steps": "computes from released numbers; units are limits",
    "estimators.quantiles.rank_margins": "computes ranks from public numbers",
    "noise.noisy_values": "holds released values",
    "numerics.cut_normal": "a distribution's moments",
    "numerics.first_use": "listens to the compiler",
    "numerics.layout": "describes the columns of a design",
    "numerics.mixing": "scrambles keys and rows one to one; by any hash sums are as private",
    "numerics.normal_laplace": "a distribution function",
    "numerics.sandwich": "computes from released sums",
    "numerics.tail_loops": "computes from noisy counts",
    "range_estimation.excess": "computes from noisy counts",
    "range_estimation.far_rows": "computes from noisy counts",
    "range_estimation.histogram": "computes from noisy counts",
    "range_estimation.long_tails": "computes from noisy counts",
    "range_estimation.marginal": "computes from noisy counts",
    "range_estimation.reach": "computes from noisy counts",
    "selection.spec": "defines what a selector is",
}


ALL = (
    *MUTANTS.values(), *newton.MUTANTS.values(), *within.MUTANTS.values(), *basis.MUTANTS.values(),
    *persons.MUTANTS.values(), *pairs.MUTANTS.values(), *logit.MUTANTS.values(),
    *poisson.MUTANTS.values(), *instruments.MUTANTS.values(), *pure.MUTANTS.values(),
    *describe.MUTANTS.values(), *outcomes.MUTANTS.values(), *MORE.values(),
)  # fmt: skip


def mutated() -> list[frozenset[str]]:
    """List for each mutant the modules in which it replaces something."""
    return [broken_modules(mutant) for mutant in ALL]


test_every_mutant_is_caught, test_the_same_checks_pass_when_nothing_is_broken = both_tests(
    MORE, {mutant.check for mutant in MUTANTS.values()}
)


def test_no_module_is_without_a_mutant():
    structure = Structure(Path(dp.__file__).parent)
    modules = {name for name in structure.files if structure.room(name) in ROOMS - {name}}
    assert modules - frozenset().union(*mutated()) == set(HARMLESS)
