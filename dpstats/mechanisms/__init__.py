"""The mechanisms, by name; adding one is one file and one line here."""

from dpstats.mechanisms import (
    adaops,
    adassp,
    ball,
    boosted,
    by_spread,
    gradient_descent,
    noisy_intercept,
    noisy_moments,
    noisy_sgd,
    noisy_stats,
    shrunken,
    theil_sen,
    tukey,
)
from dpstats.mechanisms.spec import Method

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        *shrunken.methods(adassp.release),
        *adassp.METHODS,
        adaops.METHOD,
        *ball.METHODS,
        noisy_sgd.METHOD,
        boosted.METHOD,
        tukey.METHOD,
        noisy_stats.METHOD,
        noisy_moments.METHOD,
        noisy_intercept.METHOD,
        *theil_sen.METHODS,
        by_spread.method(theil_sen.METHODS[0], noisy_moments.METHOD),
        *gradient_descent.METHODS,
    )
}
