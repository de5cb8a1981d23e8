"""Printed tables broken on purpose, as in ``test_mutations.py``."""

from types import SimpleNamespace

import numpy as np

from dpstats.results.many import columns, non_private_columns, regression_table
from dpstats.results.one.fit_statistics import FitStatistics
from dpstats.run import single
from tests.checks.mutants import Mutant, both_tests, patched
from tests.checks.printed import (
    check_columns_of_ols_say_so,
    check_no_star_where_nothing_is_shown,
    check_number_of_rows,
)

EVERYWHERE = SimpleNamespace(isfinite=lambda values: np.ones(np.shape(values), dtype=bool))
MUTANTS = {
    "rows: exact under add/remove": Mutant(
        patched(single, "REPLACE_ONE", lambda _: "add_remove"),
        check_number_of_rows,
        AssertionError,
    ),
    "rows: the public number alone": Mutant(
        patched(FitStatistics, "nobs", lambda _: property(lambda fit: fit.public_rows)),
        check_number_of_rows,
        AssertionError,
    ),
    "stars: whatever the interval": Mutant(
        patched(columns, "np", lambda _: EVERYWHERE),
        check_no_star_where_nothing_is_shown,
        AssertionError,
    ),
    "stars: gaps are not said": Mutant(
        patched(regression_table.Comparison, "_without_stars", lambda _: lambda self, column: []),
        check_no_star_where_nothing_is_shown,
        AssertionError,
    ),
    "ols: no stamp": Mutant(
        patched(non_private_columns, "_CAVEAT", lambda _: "least squares"),
        check_columns_of_ols_say_so,
        AssertionError,
    ),
}

test_every_mutant_is_caught, test_the_same_checks_pass_when_nothing_is_broken = both_tests(MUTANTS)
