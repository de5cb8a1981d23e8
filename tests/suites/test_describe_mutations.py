"""The joint query of a description broken on purpose: each defect must be caught.

In the manner of test_mutations.py; the check replays every kind of row.
"""

import math
from dataclasses import replace

import numpy as np

from dpstats.describe import column_parts
from dpstats.describe.column_parts import FactorPart, NumberPart
from dpstats.describe.counting import Counting
from dpstats.describe.joint import Joint
from dpstats.engines.units import PARTS
from dpstats.noise import Query
from dpstats.numerics import column_sums
from dpstats.rows import PrivacyUnit, Weights
from dpstats.rows.privacy_unit import ONE
from tests.checks.descriptions import COUNTED, check_counted, check_rows
from tests.checks.mutants import Mutant, both_tests, over, patched


def unclipped(original):
    def total(self, values, codes, groups, parts):
        far = replace(self, sums=2 * self.sums)
        return original(far, values, codes, groups, parts)

    return total


def longer(original):
    """Columns of C that are longer than stated."""
    return lambda counts: 2 * original(counts)


def in_all_groups(original):
    """A row counts in every group."""

    def total(self, columns, codes, parts=None):
        each = original(self, columns, codes, parts)
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


def beyond_limits(original):
    """Values count as far as two times the limits."""
    return lambda *given: original(*given[:4], 2 * given[4], *given[5:])


def one_weight(original):
    """Counts have the weight of the middle in all bins."""
    return lambda *given: original(*given[:6], np.full_like(given[6], given[6].max()), *given[7:])


def numbers_without_parts(original):
    """A number counts in full."""
    return lambda values, codes, parts, *given: original(
        values, codes, np.full(len(values), float(ONE)), *given
    )


def whole_rows(original):
    """Every row of a person counts in full."""
    return lambda self, batch: {**batch, PARTS: np.full(len(batch["x"]), ONE)}


def in_every_group(original):
    """Rows of a person count in full in every group."""
    return lambda self, units, codes: (np.full(len(codes), ONE), codes)


def in_more_groups(original):
    """A person counts in more groups than stated."""
    return lambda self, units, codes: original(PrivacyUnit("id", self.max_rows, 9), units, codes)


def not_cut(original):
    """Weights are not cut to their bounds."""
    return lambda self, values: np.minimum(values, 1e6) / self.largest


def of_one_group(original):
    """The sensitivity of a person in one group."""
    return property(lambda self: 1)


def without_parts(original):
    """A missing value, or a level, counts in full."""
    return lambda places, size, parts: ONE * original(places, size, None)


CHECK_COUNTED = over(check_counted, COUNTED)
MUTANTS = {
    "a sum beyond its limit": Mutant(patched(NumberPart, "total", unclipped), check_rows),
    "longer columns of C": Mutant(patched(column_parts, "transformed", longer), check_rows),
    "a level that counts twice": Mutant(patched(FactorPart, "exact", twice), check_rows),
    "values beyond the limits": Mutant(
        patched(column_sums, "column_sums", beyond_limits), check_rows
    ),
    "weights of the middle": Mutant(patched(column_sums, "column_sums", one_weight), check_rows),
    "numbers of whole rows": Mutant(
        patched(column_sums, "column_sums", numbers_without_parts), CHECK_COUNTED
    ),
    "a row in every group": Mutant(patched(Joint, "total", in_all_groups), check_rows),
    "too low a sensitivity": Mutant(patched(Joint, "query", only_one_column), check_rows),
    "whole rows": Mutant(patched(PrivacyUnit, "with_parts", whole_rows), CHECK_COUNTED),
    "whole rows in groups": Mutant(
        patched(PrivacyUnit, "in_groups", in_every_group), CHECK_COUNTED
    ),
    "more groups": Mutant(patched(PrivacyUnit, "in_groups", in_more_groups), CHECK_COUNTED),
    "weights beyond bounds": Mutant(patched(Weights, "parts", not_cut), CHECK_COUNTED),
    "the noise of one group": Mutant(patched(Counting, "in_groups", of_one_group), CHECK_COUNTED),
    "counts of whole rows": Mutant(patched(column_parts, "counted", without_parts), CHECK_COUNTED),
}
test_a_mutant_is_caught, test_the_checks_pass_unbroken = both_tests(MUTANTS)
