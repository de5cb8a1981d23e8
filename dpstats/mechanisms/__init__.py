"""List the mechanisms by name; adding one takes one file and one line here."""

from dpstats.mechanisms import (
    absorbed,
    absorbed_units,
    adaops,
    adassp,
    boosted_adassp,
    by_spread,
    gradient_descent,
    noisy_intercept,
    noisy_moments,
    noisy_newton,
    noisy_sgd,
    noisy_stats,
    ops_objpert,
    shrunken,
    smooth_theil_sen,
    theil_sen,
    tukey,
)
from dpstats.mechanisms.shared import Method

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        noisy_newton.METHOD,
        *shrunken.METHODS,
        *adassp.METHODS,
        adaops.METHOD,
        *ops_objpert.METHODS,
        noisy_sgd.METHOD,
        boosted_adassp.METHOD,
        tukey.METHOD,
        noisy_stats.METHOD,
        noisy_moments.METHOD,
        noisy_intercept.METHOD,
        *theil_sen.METHODS,
        smooth_theil_sen.METHOD,
        by_spread.method(theil_sen.METHODS[0], noisy_moments.METHOD),
        *gradient_descent.METHODS,
    )
}

ABSORBING: dict[str, Method] = absorbed.methods(adassp.METHODS)
"""The methods that take ``y ~ x | column``, as they do it."""

ABSORBING_UNITS: dict[str, Method] = absorbed_units.methods(tuple(ABSORBING.values()))
"""The same where the column is the privacy unit, whose rows are protected together."""
