"""List the methods by name; adding one takes one file in its family and one line here.

The code of methods stands in the families, by what they estimate from.
"""

from dpstats.estimators.contract import Method
from dpstats.estimators.depth import tukey
from dpstats.estimators.least_squares import adassp, boosted_adassp, shrunken
from dpstats.estimators.least_squares.within import absorbed, absorbed_units
from dpstats.estimators.lines import (
    by_spread,
    gradient_descent,
    noisy_intercept,
    noisy_moments,
    noisy_stats,
    smooth_theil_sen,
    theil_sen,
)
from dpstats.estimators.newton import absorbed as absorbed_newton
from dpstats.estimators.newton import (
    absorbed_instruments,
    noisy_instruments,
    noisy_logit,
    noisy_newton,
    noisy_poisson,
)
from dpstats.estimators.newton import absorbed_units as absorbed_units_newton
from dpstats.estimators.risk import adaops, noisy_sgd, ops_objpert

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        noisy_newton.METHOD,
        noisy_newton.PURE_METHOD,
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

GENERALIZED: dict[str, Method] = {
    method.name: method for method in (noisy_logit.METHOD, noisy_poisson.METHOD)
}
"""The methods of generalised linear models, by name."""

INSTRUMENTAL: dict[str, Method] = {noisy_instruments.METHOD.name: noisy_instruments.METHOD}
"""The methods for an endogenous regressor with instruments, by name."""

SEVERAL: dict[str, Method] = noisy_newton.SEVERAL
"""The methods that fit several responses on one design in one release, by name."""

_NEWTON = noisy_newton.METHOD, noisy_newton.PURE_METHOD
ABSORBING: dict[str, Method] = {
    **{plain.name: absorbed_newton.method(plain) for plain in _NEWTON},
    **absorbed.methods(adassp.METHODS),
}
"""The methods that take ``y ~ x | column``, as they do it."""

ABSORBING_INSTRUMENTAL: dict[str, Method] = {
    name: absorbed_instruments.method(plain) for name, plain in INSTRUMENTAL.items()
}
"""The methods that take ``y ~ x + [d ~ z] | column``, as they do it."""

ABSORBING_UNITS: dict[str, Method] = {
    **{plain.name: absorbed_units_newton.method(plain) for plain in _NEWTON},
    **absorbed_units.methods(adassp.METHODS),
}
"""The same where the column is the privacy unit, whose rows are protected together."""
