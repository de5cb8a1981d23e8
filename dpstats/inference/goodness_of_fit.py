"""Estimate from released numbers the figures that stand above a regression table: N, R-squared."""

import math
from dataclasses import dataclass, replace

import numpy as np

from dpstats.inference.bootstrap import Sums

# Simulated draws of the noise, fewer where the matrices are large.
_MOST_DRAWS, _LEAST_DRAWS, _MOST_ENTRIES = 400, 20, 2_000_000
# R-squared is shown where the variance of the response is this many times its noise, and its own
# error is at most so large: below, what is shown would be a lucky draw (benchmarks/goodness.py).
_SEEN, _LARGEST_ERROR = 4.0, 0.25
_DRAWN_HIGH = 1.5
NO_SUMS = (
    "this release holds neither the residual variance nor sums from which it follows, so there is "
    'no R-squared; method="noisy_newton" and "adassp" give one'
)
_RIDGE = "a fit with a ridge has no R-squared of least squares; raise epsilon or n"
_NO_VARIANCE = "the noise could account for the variance of the response, so there is no R-squared"
NOISY = "the noise leaves R-squared open; raise epsilon or n"
WEIGHTED = (
    "the sums of weighted rows, or of persons whose rows share a weight, are in units of the "
    "largest weight, so that they tell R-squared and not the residual variance of a row of weight "
    "one"
)
_NO_ROWS = (
    "neither the number of rows nor a constant was released, which the residual variance is "
    "divided and R-squared adjusted by"
)


@dataclass(frozen=True)
class Estimate:
    """Hold a value and the standard deviation of the privacy noise in it, NaN where unknown."""

    value: float = math.nan
    error: float = math.nan

    def times(self, factor: float) -> "Estimate":
        """Multiply both by a number."""
        return Estimate(self.value * factor, self.error * abs(factor))


@dataclass(frozen=True)
class GoodnessOfFit:
    """Hold the number of rows, R-squared and the residual variance, and why some of them are NaN.

    Parameters
    ----------
    rows, rsquared, scale : Estimate
        ``scale`` is in squared units of the response.
    columns : float
        The number S of coefficients, NaN where effects of groups count beside them.
    is_centred : bool
        Whether R-squared is about the mean of the response, as with a constant.
    reason : str
        Why R-squared is NaN, or another figure where nothing else is said of it.
    scale_reason : str
        Why ``scale`` is, where that is for a reason of its own.
    """

    rows: Estimate
    rsquared: Estimate = Estimate()
    scale: Estimate = Estimate()
    columns: float = 1
    is_centred: bool = True
    reason: str = ""
    scale_reason: str = ""

    def without_errors(self, rows: Estimate) -> "GoodnessOfFit":
        """Return the figures with other rows, and with no errors of R-squared and the scale."""
        rsquared, scale = Estimate(self.rsquared.value), Estimate(self.scale.value)
        return replace(self, rows=rows, rsquared=rsquared, scale=scale)

    @property
    def df_resid(self) -> Estimate:
        """Return the number of rows less that of coefficients, at least 1."""
        return Estimate(max(self.rows.value - self.columns, 1.0), self.rows.error)

    @property
    def rsquared_adj(self) -> Estimate:
        """Return R-squared adjusted for the degrees of freedom, as statsmodels does."""
        factor = (self.rows.value - self.is_centred) / self.df_resid.value
        rest = Estimate(1 - self.rsquared.value, self.rsquared.error).times(factor)
        return Estimate(1 - rest.value, rest.error)


def of_clipped_line(sums: np.ndarray, sigma2: float, public: Estimate) -> GoodnessOfFit:
    """Compute the figures for a line in estimated ranges, which has no standard errors.

    ``sums`` are n and the sums of u, v, u^2, u v and v^2.
    """
    n, su, sv, suu, suv, svv = sums.tolist()
    about_mean = suu - su**2 / n
    explained = (suv - su * sv / n) ** 2 / about_mean
    total = svv - sv**2 / n
    rows = Estimate(n) if math.isnan(public.value) else public
    if not (about_mean > 0 and total > 0):
        return GoodnessOfFit(rows, columns=2, reason=_NO_VARIANCE)
    rsquared = Estimate(min(explained / total, 1.0))
    return GoodnessOfFit(rows, rsquared, Estimate(sigma2), columns=2)


@np.errstate(divide="ignore", invalid="ignore")  # no rows, in a unit in which they count as zero
def of_sums(sums: Sums, constant: np.ndarray | None, public: Estimate) -> GoodnessOfFit:
    """Compute the figures from noisy cross-products, with errors to first order in the noise.

    With A, c and q the released u'u, u'v and v'v, the residual sum of squares of the released
    theta is q - 2 theta'c + theta'A theta. Noise E, w and e moves it by e - 2 theta'w + theta'E
    theta at a fixed theta; that theta minimises the noisy sum makes it too small by
    (w - E theta)'A^-1 (w - E theta) on average, which is added. With a the theta of the
    constant 1, a'A a is the number of rows over the squared unit of v, and (a'c)^2 / a'A a what the
    mean of the response explains.
    """
    theta, columns = sums.theta, len(sums.cross)
    draws = int(np.clip(_MOST_ENTRIES / columns**2, _LEAST_DRAWS, _MOST_DRAWS))
    E, w, e = sums.noise(draws)
    moved = w - E @ theta
    lost = np.mean(np.sum(moved * sums.solve(sums.gram, moved), axis=1))
    # the released value first, then what other noise of the same size would have made of it
    rss = sums.square - 2 * theta @ sums.cross + theta @ sums.gram @ theta + lost
    rss = rss + np.append(0.0, e - w @ theta - moved @ theta)
    tss, rows = sums.square + np.append(0.0, e), np.full(draws + 1, public.value)
    if constant is not None:
        a = np.linalg.lstsq(sums.transform, constant, rcond=0)[0]
        count = a @ sums.gram @ a + np.append(0.0, a @ (E @ a).T)
        total = sums.cross @ a + np.append(0.0, w @ a)
        # fewer rows than the noise on their number make no mean
        tss = tss - total**2 / np.maximum(count, np.std(count[1:]))
        if math.isnan(public.value):
            rows = np.maximum(count * sums.unit**2, 1.0)
    n = _estimate(rows) if math.isnan(public.value) else public
    scale = _estimate(rss / np.maximum(rows - columns, 1.0)).times(sums.unit**2)
    scale = replace(scale, value=max(scale.value, 0.0))
    figures = GoodnessOfFit(n, Estimate(), scale, columns, constant is not None)
    if sums.penalty > 0:
        return replace(figures, scale=Estimate(), reason=_RIDGE)
    fitted = _estimate(1 - rss / np.maximum(tss, tss[0] / 4))
    rsquared, reason = shown_rsquared(fitted, float(tss[0]), float(np.std(tss[1:])))
    uncounted = "" if math.isfinite(n.value) else _NO_ROWS
    return replace(figures, rsquared=rsquared, reason=reason or uncounted, scale_reason=uncounted)


def shown_rsquared(fitted: Estimate, total: float, deviation: float) -> tuple[Estimate, str]:
    """Return R-squared where the noise lets it be seen, or the reason why it does not.

    ``total`` is the noisy sum of squares of the response about its mean, and ``deviation`` that of
    its noise. What is shown was drawn high where the variance is barely seen, so that the error is
    raised.

    >>> shown_rsquared(Estimate(0.5, 0.02), 100.0, 1.0)[0].value
    0.5
    >>> shown_rsquared(Estimate(0.5, 0.02), 3.0, 1.0)[1]
    'the noise could account for the variance of the response, so there is no R-squared'
    """
    if not total > _SEEN * deviation:
        return Estimate(), _NO_VARIANCE
    error = float(fitted.error * (total / (total - _DRAWN_HIGH * deviation)))
    if error > _LARGEST_ERROR:
        return Estimate(), NOISY
    return Estimate(min(max(fitted.value, 0.0), 1.0), error), ""


def _estimate(values: np.ndarray) -> Estimate:
    """Return the first value with the standard deviation of the others."""
    return Estimate(float(values[0]), float(np.std(values[1:])))
