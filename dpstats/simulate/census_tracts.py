"""Simulate the Opportunity Atlas: income ranks in the census tracts of a state."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpstats.option_checks import seeded_generator, whole
from dpstats.spelling import check_word


@dataclass(frozen=True)
class State:
    """Hold published aggregates of one state, the constants of `atlas`.

    Everything but `rank_slope` is over the tracts with both values in the Opportunity Atlas' public
    table (Chetty, Friedman, Hendren, Jones and Porter 2018): mean household income in 2000, and
    p25, the mean individual income rank of children whose parents are at the 25th percentile.
    `rank_slope` is the population-weighted mean over commuting zones of the rank-rank slope in the
    public table of Chetty, Hendren, Kline and Saez (2014).
    """

    tracts: int
    log_income_mean: float  # of ln(mean household income in dollars)
    log_income_sd: float
    p25_mean: float  # ranks in [0, 1]
    p25_on_log_income: float  # slope of the regression of p25 on ln(income)
    p25_sd: float  # of its residuals, which hold the table's own sampling error too
    rank_slope: float


STATES = {
    "IL": State(3108, 11.282, 0.392, 0.447, 0.0904, 0.0445, 0.384),
    "NC": State(2156, 11.174, 0.328, 0.403, 0.0829, 0.0377, 0.387),
    "US": State(71921, 11.217, 0.386, 0.445, 0.0842, 0.0466, 0.333),
}
# Population-weighted regression of the rank-rank slope on p25 over the 709 commuting zones of the
# 2014 table, and the s.d. of its residuals: places with a high p25 have a flat line.
SLOPE_ON_P25, SLOPE_SD = -1.02, 0.0443
# Alabi et al. (2022), appendix A.1.
SIZE_SCALE, SIZE_MIN, LOG_NOISE_SD, WITHIN_OVER_BETWEEN = 52, 20, 0.2, 4


def atlas(tracts=None, *, seed=None, state="IL") -> pd.DataFrame:
    """Simulate the income ranks of parents and children in the census tracts of a state.

    A simulation, not a release: no row is a person. Tract t has floor(Exp(52) + 20) families.
    Parents' income is lognormal with mean mu_t and variance 4 Var(mu_t); ln child = alpha_t +
    beta_t ln parent + N(0, 0.2^2); both incomes become percentile ranks within the state, rounded
    up to two decimals. The paper does not print mu_t, alpha_t and beta_t. Here mu_t is lognormal,
    and the tract's line runs where a p25 and a rank-rank slope drawn around the published ones
    put it; for Illinois ln mu_t ~ N(11.282, 0.392^2), p25_t ~ 0.447 + 0.0904 (ln mu_t - 11.282) +
    N(0, 0.0445^2), slope_t ~ 0.384 - 1.02 (p25_t - 0.447) + N(0, 0.0443^2). These means, standard
    deviations and regressions were computed from the two public tables named in `State`.

    Parameters
    ----------
    tracts : int, optional
        Number of tracts; by default as many as the state has (Illinois: 3,108).
    seed : int, numpy.random.Generator, optional
        Seed or source of randomness; fresh by default.
    state : {"IL", "NC", "US"}
        The state with the constants to use. "US" ranks within the whole country.

    Returns
    -------
    pandas.DataFrame
        A row per family, in the order of the tracts: ``tract`` (int, 1 to `tracts`),
        ``parent_rank`` and ``kid_rank`` (multiples of 0.01 in (0, 1]). About 71.5 rows per tract.

    Raises
    ------
    ArgumentError
        If the state is not one of those, there is not at least one tract, or a seed is of another
        type.

    References
    ----------
    Alabi, McMillan, Sarathy, Smith and Vadhan (2022), Differentially private simple linear
    regression, appendix A.1.

    Examples
    --------
    >>> people = atlas(tracts=100, seed=1)
    >>> list(people.columns), people["tract"].nunique()
    (['tract', 'parent_rank', 'kid_rank'], 100)
    >>> bool(people.groupby("tract").size().min() >= 20)
    True
    """
    check_word("state", state, STATES)
    place = STATES[state]
    tracts = place.tracts if tracts is None else whole("tracts", 1, 10**7)(tracts)
    rng = seeded_generator(seed)
    sizes = np.floor(rng.exponential(SIZE_SCALE, tracts) + SIZE_MIN).astype(np.int64)
    tract = np.repeat(np.arange(tracts), sizes)
    log_mean = rng.normal(place.log_income_mean, place.log_income_sd, tracts)
    parent = _log_parent_income(place, log_mean, tract, rng)
    kid = _log_kid_income(place, log_mean, tract, parent, rng)
    return pd.DataFrame(
        {"tract": tract + 1, "parent_rank": _percentile(parent), "kid_rank": _percentile(kid)}
    )


def _log_parent_income(place, log_mean, tract, rng) -> np.ndarray:
    """Draw ln(parents' income), (n,), from each family's tract's lognormal distribution."""
    # Var(mu_t) of the lognormal distribution itself, so that it exists for a single tract too
    between = np.exp(2 * place.log_income_mean + place.log_income_sd**2)
    between *= np.expm1(place.log_income_sd**2)
    variance = np.log1p(WITHIN_OVER_BETWEEN * between / np.exp(2 * log_mean))
    centre = log_mean - variance / 2
    return centre[tract] + np.sqrt(variance)[tract] * rng.normal(size=tract.size)


def _log_kid_income(place, log_mean, tract, parent, rng) -> np.ndarray:
    """Draw ln(child's income), (n,), around each tract's line in ln(parents' income)."""
    p25 = place.p25_on_log_income * (log_mean - place.log_income_mean)
    p25 += rng.normal(0, place.p25_sd, log_mean.size)
    slope = place.rank_slope + SLOPE_ON_P25 * p25 + rng.normal(0, SLOPE_SD, log_mean.size)
    level, steepness = _normal_line(place.p25_mean + p25, slope)
    score = level[tract] + steepness[tract] * (parent - parent.mean()) / parent.std()
    # The rank of a child whose line is at z has mean Phi(score) if z = unit * score and
    # unit^2 = Var(z) + 2 noise^2; with Var(z) = unit^2 Var(score) that fixes the unit.
    unit = LOG_NOISE_SD * np.sqrt(2 / (1 - score.var()))
    return unit * score + rng.normal(0, LOG_NOISE_SD, tract.size)


def _normal_line(p25, slope) -> tuple[np.ndarray, np.ndarray]:
    """Turn a line in ranks into one in normal scores, E[child's rank] = Phi(level + steepness z).

    The two agree at the median, p25 + slope/4. For normal z the least-squares slope of Phi(b z) on
    Phi(z) is (6/pi) arcsin(b / sqrt(2 (1 + b^2))), solved here for b.
    """
    from scipy.special import ndtri

    level = ndtri(np.clip(p25 + slope / 4, 0.01, 0.99))
    sine = np.sin(np.pi * np.clip(slope, -1, 1) / 6)
    return level, sine * np.sqrt(2 / (1 - 2 * sine**2))


def _percentile(income) -> np.ndarray:
    """Rank incomes (n,) within the state, rounded up to hundredths, exactly."""
    n = income.size
    hundredths = np.empty(n, dtype=np.int64)
    hundredths[np.argsort(income)] = (100 * np.arange(1, n + 1) + n - 1) // n
    return hundredths / 100
