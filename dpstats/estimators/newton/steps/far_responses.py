"""Tell how long scores are where nearly all responses have one value and few lie far from it."""

import numpy as np

from dpstats.estimators.contract import Extremes
from dpstats.estimators.newton.steps.score_tails import Tail

# Nearly all responses have one value where so large a part of them has.
ONE_VALUE = 0.75
_LEAST_RESPONSE = 1e-6


def with_far_responses(tail: Tail, extremes: Extremes, rows: float, dimension: float) -> Tail:
    """Return a tail with at least the scores of responses that lie far from the common value.

    Of a rare outcome these are the ones. Little of it is explained, so their residuals are about
    the responses themselves, whose number the released distribution of the response tells better
    than a histogram of scores in which leverages spread them. Squared leverages are taken for those
    of normal columns, chi-squared with ``dimension`` degrees of freedom.
    """
    from scipy.special import chdtrc

    points, weights = extremes.y_points, extremes.y_weights
    if extremes.y_unseen or weights.max() < ONE_VALUE:
        return tail
    far = points != points[weights.argmax()]
    responses = np.maximum(np.abs(points[far]), _LEAST_RESPONSE)[:, None]

    def beyond(sizes: np.ndarray) -> np.ndarray:
        return rows * (weights[far] @ chdtrc(dimension, dimension * (sizes / responses) ** 2))

    return tail.with_at_least(beyond)
