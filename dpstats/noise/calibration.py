"""Choose the distribution of the noise on sums, and its scale, by sensitivity and cost."""

import math
from typing import NamedTuple

from dpstats.privacy import GDP, Cost

# Spherical noise needs so many values at least and at most, and so large an epsilon, for its proof
# in doubles (dpstats/noise/spherical.py); its epsilon is smaller by this.
_VALUES, _LEAST_EPSILON, _SLACK = (3, 1 << 13), 2.0**-12, 2.0**-30


class Distribution(NamedTuple):
    """Hold the name of a distribution, the sensitivity it is scaled by, and its scale."""

    name: str
    sensitivity: float
    scale: float

    @property
    def deviation(self) -> float:
        """Return the standard deviation."""
        return self.scale * (math.sqrt(2) if self.name == "laplace" else 1.0)


def distribution(
    cost: Cost, l1: float | None, l2: float | None, values: int = 1
) -> Distribution | None:
    """Return the distribution of noise on so many values with the least standard deviation.

    ``l1`` and ``l2`` bound how far a row moves them in the L1 and the L2 norm. It is Gaussian for
    a Gaussian cost; else Laplace, of scale l1 / epsilon, or spherical, of standard deviation
    sqrt(m + 1) l2 / epsilon for m values (:mod:`dpstats.noise.spherical`). None where the
    sensitivity for it is not known.

    >>> from dpstats.privacy import PureDP
    >>> distribution(PureDP(1.0), 2.0, 2.0).name, distribution(PureDP(1.0), 4.0, 2.0, 4).name
    ('laplace', 'spherical')
    """
    if isinstance(cost, GDP):
        return None if l2 is None else Distribution("gaussian", l2, l2 / cost.mu)
    laplace = None if l1 is None else Distribution("laplace", l1, l1 / cost.epsilon)
    few, many = _VALUES
    if l2 is None or not few <= values <= many or cost.epsilon < _LEAST_EPSILON:
        return laplace
    scale = math.sqrt(values + 1) * l2 / (cost.epsilon - _SLACK)
    spherical = Distribution("spherical", l2, scale)
    return min(filter(None, (laplace, spherical)), key=lambda each: each.deviation)


def noise_deviation(cost: Cost, l1: float, l2: float, values: int = 1) -> float:
    """Return the standard deviation of the noise on sums of these sensitivities."""
    found = distribution(cost, l1, l2, values)
    assert found is not None, "both are given"
    return found.deviation
