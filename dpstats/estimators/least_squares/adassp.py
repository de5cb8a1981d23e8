"""Perturb sufficient statistics: SSP and AdaSSP (Wang 2018, section 3.2 and Algorithm 2)."""

from collections.abc import Callable
from functools import partial

from dpstats.estimators.contract import Method, Passes, Problem, Ranges, Release, released_twice
from dpstats.estimators.least_squares.dense import ClippedSums, NoisySums
from dpstats.estimators.least_squares.dense.clipped_rows import (
    clipped_moments,
    cost_of_sums,
    with_share,
)
from dpstats.estimators.least_squares.dense.fit import (
    fitted,
    is_identified,
    least_squares,
    with_intervals,
)
from dpstats.estimators.least_squares.dense.gram import clipped_box
from dpstats.estimators.least_squares.dense.noisy_sums import noisy_sums
from dpstats.estimators.least_squares.dense.robust_covariance import COV_TYPES, OPTIONS, score_share
from dpstats.estimators.least_squares.dense.unidentified import ridged, unidentified
from dpstats.estimators.least_squares.factors.fit import release_blocks, summarise_blocks
from dpstats.estimators.least_squares.factors.scores import scored
from dpstats.noise import Noise
from dpstats.numerics import Rows
from dpstats.numerics.ridge import ridge
from dpstats.privacy import ADD_REMOVE, GDP, REPLACE_ONE

_Fit = Callable[[NoisySums, Problem], Release]


def summarise(rows: Rows, problem: Problem) -> ClippedSums:
    """Sum the cross-products of scaled rows, of designs with factors in indicators and numbers."""
    return (summarise_blocks if problem.coded else clipped_moments)(rows, problem)


def release(
    passes: Passes, problem: Problem, cost: GDP, noise: Noise, cov_type: str = COV_TYPES[0]
) -> Release:
    r"""Fit ridge regression to noisy cross-products, with the ridge chosen from the noise.

    Guarantee. mu-GDP for the given relation, hence (epsilon, delta)-DP: three Gaussian
    releases for fractions of mu^2 that add up to one
    (:func:`~dpstats.estimators.least_squares.dense.noisy_sums.noisy_sums`) with the sensitivities
    derived in :meth:`~dpstats.numerics.coordinates.Sensitivity.of`; together they are
    one Gaussian release of the upper triangle of z z' with z = (u, v). The rest is post-processing.
    Where ranges are estimated, a twentieth of mu^2 is for the share of the rows that they clip
    (:func:`~dpstats.estimators.least_squares.dense.clipped_rows.with_share`). They are released
    before, and given them a row is clipped as at declared bounds.

    Powers or splines of one variable are first combined by a public matrix M into columns that are
    orthogonal on its range (:func:`~dpstats.formula.orthogonal.orthogonal_basis`). Each coordinate
    of x M is clipped to [-1, 1] in its row, so that the sensitivities are those of any S columns,
    and with coefficients theta of the coordinates those of the columns are M theta, up to scale.

    Where it differs from Algorithm 2. The paper spends (epsilon/3, delta/3) on each of
    lambda_min, X'X and X'y. Composed as Gaussian differential privacy the same
    guarantee needs about half the noise. lambda_min is not released at all: see
    :func:`~dpstats.numerics.ridge.ridge`. Where a ridge is needed, intervals are those of least
    squares on the same sums (:func:`~dpstats.estimators.least_squares.dense.fit.with_intervals`).
    Where the noise could account for the smallest eigenvalue, so that no coefficient has an
    interval, slopes are released that predict better than a constant, or the mean
    (:func:`~dpstats.estimators.least_squares.dense.unidentified.unidentified`); through the origin,
    where there is no mean, those of the ridge.

    Designs with factors are fitted by
    :func:`~dpstats.estimators.least_squares.factors.fit.release_blocks`, which has its own proof
    and no ridge: what the noise hides has no interval, and the other coefficients stand.

    Robust standard errors take a tenth of mu^2 for squared scores at these coefficients
    (:func:`~dpstats.estimators.least_squares.dense.robust_covariance.release_squares`).
    """
    return _released(_fit, passes, problem, cost, noise, cov_type)


def release_plain(
    passes: Passes, problem: Problem, cost: GDP, noise: Noise, cov_type: str = COV_TYPES[0]
) -> Release:
    """Fit least squares to noisy cross-products: SSP (Wang 2018, section 3.2, item 1).

    Guarantee. mu-GDP for the given relation, hence (epsilon, delta)-DP: the releases, shares and
    sensitivities are those of :func:`release`, and the rest is post-processing.

    Where it differs from the paper. A noisy X'X may be close to singular or have negative
    eigenvalues, and then its inverse is noise alone: the paper's own table reports mean squared
    errors of up to 9,540 for responses in [-1, 1]. Where the noise could account for the
    smallest eigenvalue (:func:`~dpstats.numerics.ridge.least_eigenvalue`, a function of
    released values) the status is ``not_identified`` here, with what
    :func:`~dpstats.estimators.least_squares.dense.unidentified.unidentified` releases.
    """
    return _released(least_squares, passes, problem, cost, noise, cov_type)


def _released(
    fit: _Fit, passes: Passes, problem: Problem, cost: GDP, noise: Noise, cov_type: str
) -> Release:
    """Release a fit, and squared scores at its coefficients where robust errors are asked for."""
    return released_twice(
        lambda cost: _first(fit, passes, problem, cost, noise),
        lambda found, cost: scored(found, passes, problem, cost, noise),
        cost,
        score_share(cov_type, problem),
    )


def _first(fit: _Fit, passes: Passes, problem: Problem, cost: GDP, noise: Noise) -> Release:
    """Release the cross-products of the scaled rows, fit, and say how many rows were clipped."""
    summary = passes.sum(partial(summarise, problem=problem))
    if problem.coded:
        return release_blocks(summary, problem, cost, noise)
    box, moments = clipped_box(problem), summary.sums
    sums = noisy_sums(moments, box, problem.neighbors, cost_of_sums(problem, cost), noise,
                      problem.counted)  # fmt: skip
    one = problem.intercept
    rows = 0.0 if one is None else float(sums.gram[one, one] * box.scale[one] ** 2)
    rows = rows if sums.rows is None else max(sums.rows, rows)
    return with_share(fit(sums, problem), summary.clipped, rows, problem, cost, noise)


def _fit(sums: NoisySums, problem: Problem) -> Release:
    """Fit with the ridge that the noise calls for, and add intervals where it calls for one."""
    penalty = ridge(sums.gram, sums.scales[0])
    fit = fitted(sums, problem, penalty)
    if not is_identified(sums):
        if problem.intercept is None:
            return ridged(fit, problem)
        return unidentified(sums, clipped_box(problem), problem, fit.evidence)
    return with_intervals(fit, sums, problem) if penalty > 0 else fit


_NORMAL = "normal approximation with the noise included"
_method = partial(
    Method,
    guarantee="gdp",
    neighbors=(ADD_REMOVE, REPLACE_ONE),
    single_regressor=False,
    fixed_size_summary=True,
    options=OPTIONS,
    ranges=Ranges(share=0.3, everywhere=True, widened=True),
    takes=frozenset({"weights", "units", "basis", "codes"}),
)
METHODS = (
    _method(
        "adassp",
        "Wang 2018, Algorithm 2",
        standard_errors=f"{_NORMAL}; where a ridge is needed, those of least squares",
        release=release,
    ),
    _method(
        "ssp",
        "Wang 2018, section 3.2",
        standard_errors=_NORMAL,
        release=release_plain,
    ),
)
