"""Simulate error bounds of a release from released numbers."""

import math
from collections.abc import Mapping

import numpy as np

from dpstats.call import Prepared
from dpstats.call.arguments import make_request
from dpstats.errors import ArgumentError, NotReleasedError
from dpstats.estimators.contract import InMemory
from dpstats.estimators.least_squares.factors import BlockBasis, BlockSimulation
from dpstats.evidence import BlockEvidence, Evidence
from dpstats.formula.orthogonal import orthogonal_basis
from dpstats.inference import Sums
from dpstats.inference.bootstrap import SEED
from dpstats.inference.wald import with_overflow
from dpstats.noise import Noise
from dpstats.numerics import Rows
from dpstats.option_checks import number, whole
from dpstats.schema import Categorical, Labels, Numeric
from dpstats.testing import insecure_seed

# A percentile of absolute errors, and the number of simulated releases it is taken from.
checked_q = number("q", 0, 100, "(]")
checked_trials = whole("trials", 1)


def check_options(reference, options: Mapping) -> None:
    """Raise ArgumentError for options of a method that is not run on public rows."""
    if options and reference is None:
        raise ArgumentError(
            f"{next(iter(options))}= is an option of a fit to public rows; add reference=, or "
            "leave it out"
        )


def not_needed(method: str) -> ArgumentError:
    """Build the error for public rows where released values describe the private ones."""
    return ArgumentError(
        f"error bounds of {method} are simulated from what was released of the private rows; leave "
        "reference out"
    )


def from_sums(sums: Sums, rows: np.ndarray, q: float, trials: int) -> np.ndarray:
    """Simulate q-th percentiles of |release - least squares| of ``rows`` (m, S) @ coefficients.

    The sums are all that the mechanism sees of the rows, so simulated rows are not needed:
    the released sums take the place of the exact ones and the noise is drawn anew.
    """
    theta = sums.theta
    truth = sums.transform @ theta + sums.shift
    return percentile((sums.replicates(theta, trials, sampling=False) - truth) @ rows.T, q)


def from_blocks(
    simulation: BlockSimulation, hidden: np.ndarray, rows: np.ndarray, q: float, trials: int
) -> np.ndarray:
    """Simulate the same from sums in indicators; infinite where the noise hides a combination."""
    fits = simulation.replicates(trials, sampling=False)
    return np.where(hidden, np.inf, percentile((fits - simulation.params) @ rows.T, q))


def released_blocks(result, evidence: Evidence) -> BlockSimulation | None:
    """Return the simulation from sums in indicators, or None where the evidence is not of them."""
    if not isinstance(evidence, BlockEvidence):
        return None
    design = result.design()
    y_low, y_high = design.response_bounds
    orthogonal = orthogonal_basis(design)
    basis = BlockBasis.spanning(design.layout, design.low, design.high, y_low, y_high, orthogonal)
    return BlockSimulation.of(basis, evidence)


def from_covariance(cov: np.ndarray, rows: np.ndarray, q: float) -> np.ndarray:
    """Bound the error of combinations ``rows`` whose privacy noise is normal with a covariance."""
    from scipy.special import ndtri

    bound = ndtri((1 + q / 100) / 2) * np.sqrt(np.einsum("qs,st,qt->q", rows, cov, rows))
    return np.where(with_overflow(cov, rows), np.inf, bound)


def from_reference(result, params, reference, rows, n: int | None, q, trials, options):
    """Simulate these percentiles from public rows, for methods that do not release sums.

    Responses are the released line at regressors drawn from the reference plus residuals
    drawn from its own least-squares fit; then the mechanism and least squares are run, the
    mechanism with the fraction of the budget that it had.
    """
    prepared = Prepared.of(_request(result, reference, options))
    request = prepared.request
    known = Rows.joined(
        [part for part, _ in request.rows_in_use.batches(request.table, request.read_rows)]
    )
    X, y = known.numbers, known.response
    if not len(y):
        raise ArgumentError(
            "reference has no complete row; give public rows without missing values"
        )
    if np.isnan(params).any():
        return np.full(len(rows), np.nan)
    residuals = y - X @ np.linalg.lstsq(X, y, rcond=None)[0]
    generator, problem = np.random.default_rng(SEED), prepared.problem
    cost, method = result.privacy.limit.after(1 - result.share), request.method
    errors = np.full((trials, len(rows)), np.nan)
    with insecure_seed(SEED):
        for t in range(trials):
            drawn = X[generator.integers(len(y), size=n or len(y))]
            response = drawn @ np.asarray(params) + generator.choice(residuals, len(drawn))
            response = np.clip(response, problem.y_low, problem.y_high)
            simulated, noise = InMemory(Rows(drawn, response)), Noise(cost)
            release = method.release(simulated, problem, cost, noise, **request.options)
            ols = np.linalg.lstsq(drawn, response, rcond=None)[0]
            errors[t] = rows @ (release.params - ols)
    return percentile(errors, q)


def percentile(errors: np.ndarray, q: float) -> np.ndarray:
    """Return the minimum c (...) with q% of |errors| (trials, ...) within c; NaN is infinite."""
    size = np.abs(np.where(np.isnan(errors), np.inf, errors))
    rank = max(math.ceil(q * len(size) / 100 - 1e-9), 1)
    return np.sort(size, axis=0)[rank - 1]


def _request(result, reference, options: Mapping):
    """Build the request that repeats the fit of a result on public rows."""
    if any(isinstance(kind, Labels) for kind in result.schema.values()):
        raise NotReleasedError(
            "error bounds of a fit with an absorbed column come from its released sums, where "
            "there are any, and not from public rows; leave reference= out"
        )
    if result.privacy.unit is not None:
        raise NotReleasedError(
            "error bounds of a fit for persons of several rows are not simulated from public rows; "
            "its intervals cover sampling and noise"
        )
    if reference is None:
        raise NotReleasedError(
            f"{result.method} releases neither the spread of the regressors nor the variance of "
            "the errors, from which a bound could be simulated; give public rows that resemble "
            "the private ones as reference="
        )
    bounds = {k: (v.low, v.high) for k, v in result.schema.items() if isinstance(v, Numeric)}
    levels = {k: v.levels for k, v in result.schema.items() if isinstance(v, Categorical)}
    report = result.privacy
    return make_request(
        result.formula, reference, method=result.method, epsilon=1.0, delta=report.delta or None,
        bounds={**bounds, **result.term_bounds}, levels=levels or None,
        neighbors=report.neighbors, options=options,
    )  # fmt: skip
