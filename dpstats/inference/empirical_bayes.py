"""Estimate many normal means together: the posterior under a prior that is estimated as well."""

from dataclasses import dataclass

import numpy as np

# Fewer estimates than this tell too little of the spread between them.
LEAST_ESTIMATES = 4


@dataclass(frozen=True)
class Posterior:
    """Hold the posterior of G means.

    Attributes
    ----------
    mean, deviation, shrinkage : numpy.ndarray, shape (G,)
        Posterior mean and standard deviation, and the part of the way from the estimate to
        ``center`` that the mean lies at, in [0, 1).
    center, spread : float
        The estimated mean and standard deviation of the prior.
    """

    mean: np.ndarray
    deviation: np.ndarray
    shrinkage: np.ndarray
    center: float
    spread: float


def normal_posterior(estimates: np.ndarray, errors: np.ndarray) -> Posterior:
    r"""Shrink G estimates with known standard errors toward their mean.

    The model is y_g ~ N(theta_g, s_g^2) and theta_g ~ N(m, A), all independent. Given m and A the
    posterior mean is y_g - B_g (y_g - m) with B_g = s_g^2 / (s_g^2 + A). A is the solution of

        sum (y_g - m)^2 / (s_g^2 + A) = G - 1,  at least 0,

    whose left side has that expectation at the true A and falls in A, and m is the mean with the
    weights w_g proportional to 1 / (s_g^2 + A). An estimated B_g is too large on average: it is
    multiplied by (G - 3) / (G - 1), which for equal s_g gives the estimator of James and Stein
    toward the mean, whose factor is (G - 3) s^2 / sum (y_g - m)^2 as long as A > 0. With equal s_g
    its squared error, added up over the groups, is less on average than that of the y_g whatever
    the theta_g are; with different s_g it is so on average over theta_g of the model.

    The variance has a part for each quantity that is not known (Morris 1983):

        s_g^2 (1 - (1 - w_g) B_g) + 2 / (G - 3) B_g^2 (S + A) / (s_g^2 + A) (y_g - m)^2,

    that of theta_g at a known A, including w_g s_g^2 B_g for m, and that of B_g, where S is the
    mean of the s_g^2 with weights w_g.

    Parameters
    ----------
    estimates, errors : numpy.ndarray, shape (G,)
        G >= 4; errors > 0.

    References
    ----------
    Efron and Morris (1975), Data analysis using Stein's estimator and its generalizations, JASA 70,
    311-319. Morris (1983), Parametric empirical Bayes inference: theory and applications, JASA 78,
    47-55. Chetty and Hendren (2018), The impacts of neighborhoods on intergenerational mobility
    II: county-level estimates, QJE 133, 1163-1228, shrink estimates of counties like this.

    Examples
    --------
    >>> posterior = normal_posterior(np.array([0.0, 1.0, 2.0, 5.0]), np.ones(4))
    >>> posterior.center, posterior.shrinkage.round(3)
    (2.0, array([0.071, 0.071, 0.071, 0.071]))
    """
    groups, variances = len(estimates), errors**2
    between = _between(estimates, variances)
    weights = 1 / (variances + between)
    weights = weights / weights.sum()
    center = float(weights @ estimates)
    ratio = variances / (variances + between)
    shrinkage = ratio * (groups - 3) / (groups - 1)
    away = estimates - center
    typical = weights @ variances
    unsure = 2 / (groups - 3) * shrinkage**2 * (typical + between) / (variances + between)
    variance = variances * (1 - (1 - weights) * shrinkage) + unsure * away**2
    mean = estimates - shrinkage * away
    return Posterior(mean, np.sqrt(variance), shrinkage, center, float(np.sqrt(between)))


def _between(estimates: np.ndarray, variances: np.ndarray) -> float:
    """Solve for the variance between the means; 0 where the estimates differ by less than noise."""
    from scipy.optimize import brentq  # imported where used: it is slow to import

    groups, highest = len(estimates), float(np.var(estimates, ddof=1))

    def excess(share: float) -> float:
        weights = 1 / (variances + share * highest)
        center = weights @ estimates / weights.sum()
        return float(weights @ (estimates - center) ** 2) - (groups - 1)

    # a weighted sum of squares is least about its own mean, so excess(1) < 0 where highest > 0
    if highest == 0 or excess(0.0) <= 0:
        return 0.0
    return highest * float(brentq(excess, 0.0, 1.0))
