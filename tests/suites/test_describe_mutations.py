"""The joint query of a description broken on purpose: each defect must be caught.

In the manner of test_mutations.py; the check replays every kind of row.
"""

import math

import numpy as np

from dpstats.describe import joint
from dpstats.describe.joint import FactorPart, Joint, NumberPart
from dpstats.noise import Query
from tests.checks.descriptions import check_rows
from tests.checks.mutants import Mutant, both_tests, patched


def unclipped(original):
    def total(self, values, codes, groups):
        far = NumberPart(self.limits, 2 * self.sums, self.squares, self.counts, self.missing)
        return original(far, values, codes, groups)

    return total


def another_size(original):
    """Counts whose columns of C are longer than stated."""
    return lambda counts, length: original(counts, 2 * length)


def in_all_groups(original):
    """A row counts in every group."""

    def total(self, columns, codes):
        each = original(self, columns, codes)
        return np.broadcast_to(each.sum(axis=0), each.shape)

    return total


def only_one_column(original):
    """The sensitivity of one column instead of all."""

    def query(self, total):
        found = original(self, total)
        return Query(found.step, found.values, l2=found.l2 / math.sqrt(2), unit=found.unit)

    return query


def twice(original):
    return lambda self, total: 2 * original(self, total)


class without_clip:
    """NumPy whose clip leaves values as they are, within what a whole number holds."""

    def __init__(self, original):
        self.original = original

    def __getattr__(self, name):
        return getattr(self.original, name)

    def clip(self, values, low, high):
        return self.original.clip(values, 2 * low, 2 * high)


MUTANTS = {
    "a sum beyond its limit": Mutant(patched(NumberPart, "total", unclipped), check_rows),
    "longer columns of C": Mutant(patched(joint, "transformed", another_size), check_rows),
    "a level that counts twice": Mutant(patched(FactorPart, "exact", twice), check_rows),
    "values beyond the limits": Mutant(patched(joint, "np", without_clip), check_rows),
    "a row in every group": Mutant(patched(Joint, "total", in_all_groups), check_rows),
    "too low a sensitivity": Mutant(patched(Joint, "query", only_one_column), check_rows),
}
test_a_mutant_is_caught, test_the_checks_pass_unbroken = both_tests(MUTANTS)
