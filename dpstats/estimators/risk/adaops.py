"""Release one posterior sample with adaptive regularisation (Wang 2018, Algorithm 1)."""

import math
from functools import lru_cache, partial

import numpy as np

from dpstats.estimators.contract import Method, Passes, Problem, Release
from dpstats.estimators.least_squares.dense.gram import box_of, scaled_moments
from dpstats.noise import Noise, Objective, PosteriorQuery, Query
from dpstats.noise.multiprecision import MP
from dpstats.noise.posterior import about_largest_shift
from dpstats.numerics import Moments
from dpstats.numerics.cross_products import PRODUCT_UNIT
from dpstats.privacy import ADD_REMOVE, ApproxDP, PureDP

# Fractions of epsilon for the smallest eigenvalue, the size of the fit and the sample; delta is
# split in equal parts.
_FRACTIONS = (0.15, 0.15, 0.7)
# The smallest eigenvalue is released in units of R^2 / 2^10, the log of the size in 2^-30.
_EIGEN_BITS, _LOG_BITS = 10, 30
# Exceeds the rounding of a logarithm and the discreteness of the noise.
_SLACK = 1 + 2.0**-24
_LEAST_RIDGE = 2.0**-20
# Limit on the logarithm of a bound on a residual, so that the bound is a finite double.
_LARGEST_LOG = 300.0


def release(passes: Passes, problem: Problem, cost: ApproxDP, noise: Noise) -> Release:
    r"""Draw from N(H^-1 w, (gamma H)^-1), H = u'u + lambda I, w = u'v, gamma set by the data.

    Rows have ||u|| <= R and |v| <= 1.

    Guarantee. (epsilon, delta)-DP under add/remove, by three steps at e_1 + e_2 + e_3 = epsilon.
    Let D be a table, D' the same with a row more.

    1. lambda_min(u'u) + Laplace noise at e_1. It is rounded down to multiples of R^2 / 2^10.
       u u' is positive semidefinite with norm at most R^2, so by Weyl's inequality the
       sensitivity is R^2; a routine that errs by less than half a unit (LAPACK's bound, for up
       to 2^30 rows) and rounding add at most two units. l~ is the noisy value less the quantile
       of the noise at delta / 3 and the sensitivity, or zero: whether D or D' was drawn from,
       l~ exceeds lambda_min of D, the smaller, with probability delta / 3 at most.
    2. With lambda a function of l~ and L = l~ + lambda, log(1 + R ||m||) + Laplace noise at e_2,
       for m = H^-1 w. A row more makes it m' = m + H^-1 u r' = m + H^-1 u r / (1 + u'H^-1 u),
       H of D and r, r' the row's residuals under m and m', at most 1 + R ||m|| and
       1 + R ||m'||. Where l~ is right, ||H^-1 u|| <= R / L. So each of 1 + R ||m|| and
       1 + R ||m'|| is at most 1 + R^2 / L times the other, and the logarithm of this factor is
       the sensitivity (Lemma 12 of the paper); rounding down to multiples of 2^-30 adds two
       units. rho is e to the power of the noisy value plus the quantile at delta / 3 plus the
       sensitivity: 1 + R ||m||, which no residual under D exceeds, is above it with
       probability delta / 3 at most.
    3. The sample, by :meth:`dpstats.noise.Noise.posterior`: under D a row has leverage
       u'H^-1 u <= R^2 / L and a residual of at most rho, unless step 1 or 2 went wrong.

    Where the outcomes of steps 1 and 2 make both bounds true, their densities change by a factor
    of e^(e_1 + e_2) at most and step 3 is (e_3, delta / 3)-DP; integrated over those outcomes that
    is (epsilon, delta / 3), and the other outcomes add 2 delta / 3.

    Notes
    -----
    Where it differs from Algorithm 1. Its steps 1 and 2 add Gaussian noise, which for this
    little of delta is wider, and step 7 calibrates gamma by tail bounds; here by the exact
    hockey-stick divergence (:mod:`dpstats.noise.posterior`). Step 2 of the algorithm lacks the
    factor R^2 of the sensitivity, so it holds for R = 1 only. It bounds what the table at hand
    has; the proof above needs what the smaller of two neighbours has, hence one sensitivity
    more in both. lambda minimises the same trade-off as equation (7), variance S / (2
    gamma) plus bias lambda ||theta||^2 / 2 at R ||theta|| = 1/2, with what steps 1 to 3 really
    cost.

    References
    ----------
    Wang (2018), Revisiting differentially private linear regression. Wang (2017),
    Per-instance differential privacy and the adaptivity of posterior sampling.
    """
    moments: Moments = passes.sum(partial(scaled_moments, problem=problem))
    box, columns = box_of(problem), len(problem.low)
    squared, failure = box.norm**2, cost.delta / 3
    first, second, last = (cost.epsilon * fraction for fraction in _FRACTIONS)
    eigenvalue = _least_eigenvalue(moments, squared, PureDP(first), failure, noise)
    wanted = _wanted_eigenvalue(columns, second, last, failure, eigenvalue / squared)
    ridge = squared * max(wanted - eigenvalue / squared, _LEAST_RIDGE)
    leverage = squared / (eigenvalue + ridge)
    objective = Objective.least_squares(moments.cross, PRODUCT_UNIT, ridge)
    size = MP.log(1 + box.norm * MP.norm(objective.minimiser()))
    residual = _residual(size, leverage, PureDP(second), failure, noise)
    query = PosteriorQuery(
        "posterior sample", moments.cross, PRODUCT_UNIT, ridge, leverage, residual, 2 * failure
    )
    theta = noise.posterior(query, ApproxDP(last, cost.delta))
    params = box.back(theta)
    return Release(params, problem.x_new @ params, reasons={"bse": METHOD.standard_errors})


def _quantile(scale: float, failure: float) -> float:
    """Return what Laplace noise of this scale exceeds with probability ``failure`` at most."""
    return scale * max(-math.log(2 * failure), 0.0) * _SLACK


def _least_eigenvalue(moments, squared: float, cost: PureDP, failure: float, noise) -> float:
    """Release a lower bound on the smallest eigenvalue, valid for the smaller of two neighbours."""
    unit, moved = math.ldexp(squared, -_EIGEN_BITS), (1 << _EIGEN_BITS) + 2
    gram = moments.cross[:-1, :-1].astype(float) * PRODUCT_UNIT
    value = math.floor(np.linalg.eigvalsh(gram)[0] / unit)
    query = Query("smallest eigenvalue of X'X", [value], l1=moved, unit=unit)
    noisy = noise.add(query, cost)
    return max(float(noisy.values[0]) - _quantile(noisy.scale, failure) - moved * unit, 0.0)


def _residual(size, leverage: float, cost: PureDP, failure: float, noise: Noise) -> float:
    """Release an upper bound on 1 + R ||m||, valid for the smaller of two neighbours."""
    unit = 2.0**-_LOG_BITS
    moved = math.ceil(math.log1p(leverage) / unit) + 2
    query = Query("size of the fit", [int(MP.floor(size / unit))], l1=moved, unit=unit)
    noisy = noise.add(query, cost)
    log_size = noisy.values[0] + _quantile(noisy.scale, failure) + moved * unit
    return math.exp(min(max(log_size, 0.0), _LARGEST_LOG))


def _wanted_eigenvalue(
    columns: int, second: float, last: float, failure: float, eigenvalue: float
) -> float:
    """Return the smallest eigenvalue that H should have, in units of R^2, given that of u'u."""
    wanted, variance = _variances(second, last, failure)
    risk = columns * variance + np.maximum(wanted - eigenvalue, 0.0)
    return float(wanted[np.argmin(risk)])


@lru_cache(maxsize=256)
def _variances(second: float, last: float, failure: float) -> tuple[np.ndarray, np.ndarray]:
    """Tabulate eigenvalues L of H and 1 / (gamma R^2 ||theta||^2) at each, for R ||theta|| = 1/2.

    With L in units of R^2 the leverage of a row is 1 / L. L ranges from where no gamma is
    private enough. The bound on a residual exceeds the truth by the sensitivity of its logarithm
    and the quantile.
    """
    log_size = 1 - math.log(2 * failure) / second
    wanted = -math.log(failure) / last * np.geomspace(0.1, 1e5, 128)
    shifts = np.array([about_largest_shift(1 / (1 + at), last, failure) for at in wanted])
    with np.errstate(divide="ignore", over="ignore"):
        residuals = 1.5 * np.exp(log_size * np.log1p(1 / wanted))
        return wanted, (2 * residuals / shifts) ** 2 / (1 + wanted)


METHOD = Method(
    name="adaops",
    paper="Wang 2018, Algorithm 1",
    guarantee="approx",
    neighbors=(ADD_REMOVE,),
    single_regressor=False,
    standard_errors="a posterior sample whose spread is set by privacy has no standard error",
    release=release,
    fixed_size_summary=True,
)
