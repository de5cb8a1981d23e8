"""Choose a method for one regressor by a preliminary query: the noisy variation of x."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial, update_wrapper

from dpstats.estimators.contract import Method, Passes, Problem, Release
from dpstats.estimators.lines.simple_regression import centred_moments, too_few
from dpstats.noise import Noise, Query
from dpstats.numerics import Moments
from dpstats.numerics.cross_products import PRODUCT_UNIT
from dpstats.privacy import REPLACE_ONE, PureDP

# The fraction of epsilon for the preliminary query, and the noisy epsilon n var(x), x on [0, 1],
# from which on noisy_moments is taken; both by simulation (benchmarks/crossing.py).
FRACTION, LIMIT = 0.1, 64.0
# Entries are multiples of 2^-20 on [-1, 1], twice the width of [0, 1].
_ONE, _WIDTH = round(1 / PRODUCT_UNIT**0.5), 2


def release(
    by_pairs: Callable[..., Release],
    by_sums: Callable[..., Release],
    passes: Passes,
    problem: Problem,
    cost: PureDP,
    noise: Noise,
) -> Release:
    """Fit exp_theil_sen (``by_pairs``) where x varies little, else noisy_moments (``by_sums``).

    Guarantee. epsilon-DP under replace-one, n public, and under add/remove: a Laplace release of
    n var(x), whose sensitivity :func:`_spread` derives, with a tenth of epsilon, and, whatever it
    says, a release by one of the methods with the rest, each as private as its own docstring
    proves.
    """
    moments: Moments = passes.sum(partial(centred_moments, problem=problem))
    n = int(moments.cross[problem.constant, problem.constant] * PRODUCT_UNIT)
    if failure := too_few(problem, n):
        return failure
    spread = _spread(moments, n, problem, cost.part(FRACTION), noise)
    variation = cost.epsilon * spread
    rest = cost.part(1 - FRACTION)
    if variation < LIMIT:
        fitted = by_pairs(passes, problem, rest, noise)
        reason = "exp_theil_sen, as that is below"
    else:
        fitted = by_sums(passes, problem, rest, noise)
        reason = "noisy_moments, as that is at least"
    note = f"the noisy epsilon n var(x) is {variation:.0f}; it took {reason} {LIMIT:g}"
    return replace(fitted, note=note)


def _spread(moments: Moments, n: int, problem: Problem, cost: PureDP, noise: Noise) -> float:
    """Release n var(x) for x on [0, 1] with Laplace noise.

    Replace-one. Let m be the mean of the other rows: the sum of squares about the mean is theirs
    and (1 - 1/n) (x_i - m)^2, so a row exchanged moves it by at most 1 - 1/n. Times n it is
    n sum x^2 - (sum x)^2, exact in integers, and moves by at most n - 1; attained from
    all rows at one end of the range to one row at the other.

    Add/remove. A row added to n rows of mean m adds n / (n + 1) (x_i - m)^2, less than 1. As n
    is private, so are multiples of 1 / n: the sum is rounded down to a multiple of 2^-42, which
    adds at most that. Nothing is nearer to 1 than a row at one end, with all others at the other.
    """
    x, one, cross = 1 - problem.constant, problem.constant, moments.cross
    scaled = n * cross[x, x] - (cross[one, x] // _ONE) ** 2
    unit = _ONE**2 * _WIDTH**2
    if problem.neighbors == REPLACE_ONE:
        query = Query("spread of x", [scaled], l1=(n - 1) * unit, unit=1 / (n * unit))
    else:
        query = Query("spread of x", [scaled // max(n, 1)], l1=unit + 1, unit=1 / unit)
    return float(noise.add(query, cost).values[0])


def method(pairs: Method, sums: Method) -> Method:
    """Build the method that chooses between ``pairs`` and ``sums``."""
    return Method(
        name="by_spread",
        paper="this package; sums, or pairs as in Alabi et al. 2022, Algorithm 2",
        guarantee="pure",
        neighbors=pairs.neighbors,
        single_regressor=True,
        standard_errors=f"those of {sums.name} where x varies enough for it",
        release=update_wrapper(partial(release, pairs.release, sums.release), release),
        check=pairs.check,
    )
