"""Absorbed effects broken on purpose: each defect must be caught by a check of the real tests."""

from dataclasses import replace

import numpy as np

from dpstats.engines.labels import label_keys
from dpstats.estimators.least_squares.dense import noisy_sums
from dpstats.estimators.least_squares.within import absorbed
from dpstats.estimators.least_squares.within import groups as within_groups
from dpstats.estimators.least_squares.within.fit import PENALTIES
from dpstats.numerics import grouped_moments
from dpstats.numerics.grouped_moments import GroupedMoments
from dpstats.privacy import ADD_REMOVE
from tests.checks.absorbed import check_batches, check_least_squares
from tests.checks.breaks import smaller
from tests.checks.grouped_moments import check_exact, check_large
from tests.checks.mutants import Mutant, both_tests, over, patched
from tests.checks.within_groups import (
    CASES,
    PLAIN,
    check_random,
    check_shares,
    check_worst,
    check_worst_factor,
    with_factor,
)

random_rows, worst_rows = over(check_random, CASES), over(check_worst, PLAIN)


def worst_level():
    check_worst_factor(with_factor("C(h)", ADD_REMOVE))


def some_rows():
    check_exact(1, 60, 7)


def large_groups():
    check_large(1 << 40)


def stated(factor):
    """The box of deviations is taken to be this much larger than that of rows."""
    return lambda monkeypatch: monkeypatch.setattr(within_groups, "_DOUBLED", factor)


def changed_counts(change):
    """Group means divide by another number than that of the rows."""

    def mutate(original):
        def within(self):
            counts = np.maximum(change(self.counts), 1)
            return original(GroupedMoments(self.total, self.keys, counts, self.sums))

        return within

    return patched(GroupedMoments, "within", mutate)


def mean_of_the_neighbour(of):
    """Group means leave the last row out: they are those of the table without it."""

    def mutated(cls, rows, box):
        whole, others = of(rows, box), of(rows[:-1], box)
        return GroupedMoments(whole.total, others.keys, others.counts, others.sums)

    return classmethod(mutated)


def coarse(between):
    """Each group's product is rounded to 2^-10, for which the sensitivity has no room."""
    return lambda self, j, l: (between(self, j, l) >> 30) << 30


def released_counts(original):
    """The number of groups finds its way into the coefficients."""

    def release(penalty_of, passes, *rest, **options):
        made = original(penalty_of, passes, *rest, **options)
        return replace(made, params=made.params + passes.sum(lambda rows: len(set(rows.keys))))

    return release


def ranks(original):
    """A key is the rank of the label among those of the batch."""

    def keys(column):
        return np.unique(original(column), return_inverse=True)[1].astype(float)

    return keys


def released_as_patched(*given, **options):
    """The release as the module has it by now; the methods hold the one it had at first."""
    return absorbed.release(PENALTIES["adassp"], *given, **options)


def random_releases():
    for case in CASES:
        check_random(replace(case, method=replace(case.method, release=released_as_patched)))


MUTANTS = {
    "the doubled box is forgotten": Mutant(stated(1), worst_rows),
    "deviations are taken for half as large as they may be": Mutant(stated(2), worst_rows),
    "a product is doubled once": Mutant(stated(3.9), worst_rows),
    "half the sensitivity is stated": Mutant(smaller(noisy_sums), worst_rows),
    "half the sensitivity of the degrees of freedom": Mutant(
        smaller(within_groups, step="degrees"), worst_rows
    ),
    "two dummies count as one": Mutant(
        patched(within_groups, "_diameter", lambda f: lambda points: f(points) / 2**0.5),
        worst_level,
    ),
    "group means divide by n - 1": Mutant(changed_counts(lambda n: n - 1), check_shares),
    "group means divide by n + 1": Mutant(changed_counts(lambda n: n + 1), check_shares),
    "no group mean is taken off": Mutant(
        patched(GroupedMoments, "_between", lambda _: lambda self, j, l: 0),
        check_least_squares,
        error=AssertionError,
    ),
    "the group mean is taken from the neighbour": Mutant(
        patched(GroupedMoments, "of", mean_of_the_neighbour), check_shares
    ),
    "products of group sums are rounded coarsely": Mutant(
        patched(GroupedMoments, "_between", coarse), some_rows, error=AssertionError
    ),
    "groups count in the degrees of freedom": Mutant(
        patched(
            GroupedMoments,
            "degrees",
            lambda _: property(lambda self: int(self.counts.sum()) - 3 * len(self.counts)),
        ),
        random_rows,
    ),
    "the number of groups is released": Mutant(
        patched(absorbed, "release", released_counts), random_releases
    ),
    "sums of large groups overflow": Mutant(
        patched(grouped_moments, "_ROWS_IN_INT64", lambda _: 1 << 62),
        large_groups,
        error=AssertionError,
    ),
    "sums over groups overflow": Mutant(
        patched(grouped_moments, "_total", lambda _: lambda values: int(values.sum(dtype="i4"))),
        some_rows,
        error=AssertionError,
    ),
    "keys are ranks among the labels of a batch": Mutant(
        patched(label_keys, "keys", ranks), check_batches, error=AssertionError
    ),
}


test_every_mutant_is_caught, test_the_same_checks_pass_when_nothing_is_broken = both_tests(MUTANTS)
