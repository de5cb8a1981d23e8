"""Release the three cross-products from which least squares is solved: u'u, u'v and v'v."""

from dataclasses import dataclass

import numpy as np

from dpstats.mechanisms.shared.gram import l1_sensitivities, sensitivities
from dpstats.noise import Noise, Query
from dpstats.numerics import Moments
from dpstats.numerics.cross_products import PRODUCT_UNIT
from dpstats.numerics.ridge import symmetric
from dpstats.privacy import Cost

# Fractions of the cost for u'u, u'v and v'v. The first two carry the coefficients, the last
# only the variance of the residuals or of the response.
FRACTIONS = (0.475, 0.475, 0.05)


@dataclass(frozen=True)
class NoisySums:
    """Hold released cross-products of scaled rows (u, v) and the size of their noise.

    Parameters
    ----------
    gram, cross, square : numpy.ndarray (S, S), numpy.ndarray (S,), float
        Noisy u'u, u'v and v'v.
    scales, deviations : tuple of three floats
        Noise scale and standard deviation on an entry of each; equal for Gaussian noise.
    """

    gram: np.ndarray
    cross: np.ndarray
    square: float
    scales: tuple[float, float, float]
    deviations: tuple[float, float, float]


def noisy_sums(
    moments: Moments, norm: float, neighbors: str, cost: Cost, noise: Noise
) -> NoisySums:
    """Release u'u, u'v and v'v of rows with ||u|| <= ``norm``, |u_j| <= 1 and |v| <= 1.

    Guarantee. The cost, for the given relation: three Gaussian releases with the L2
    sensitivities of :func:`~dpstats.mechanisms.shared.gram.sensitivities` or three Laplace
    releases with the L1 sensitivities of
    :func:`~dpstats.mechanisms.shared.gram.l1_sensitivities`, for fractions of the cost that
    add up to one. Of u'u the upper triangle is released.
    """
    columns, products = len(moments.cross) - 1, moments.cross
    exact = (
        products[:columns, :columns][np.triu_indices(columns)],
        products[:columns, columns],
        products[columns:, columns],
    )
    bounds = zip(
        l1_sensitivities(norm, columns, neighbors), sensitivities(norm, neighbors), strict=True
    )
    queries = [
        Query(step, values, l1=l1 / PRODUCT_UNIT, l2=l2 / PRODUCT_UNIT, unit=PRODUCT_UNIT)
        for step, values, (l1, l2) in zip(("X'X", "X'y", "y'y"), exact, bounds, strict=True)
    ]
    gram, cross, square = [
        noise.add(query, cost.part(fraction))
        for query, fraction in zip(queries, FRACTIONS, strict=True)
    ]
    return NoisySums(
        symmetric(gram.values, columns),
        cross.values,
        float(square.values[0]),
        scales=(gram.scale, cross.scale, square.scale),
        deviations=(gram.deviation, cross.deviation, square.deviation),
    )
