"""Linear hypotheses written as statsmodels writes them."""

from collections.abc import Sequence

import numpy as np
import patsy

from dpstats.errors import ArgumentError


def linear_constraints(names: Sequence[str], hypotheses) -> tuple[np.ndarray, np.ndarray]:
    """(R, r) of the hypotheses R beta = r about the coefficients with these names.

    ``hypotheses`` is a text such as ``"x1 = x2"`` or ``"x1 = 0, x2 + x3 = 1"``, a sequence or
    a mapping of them, or a matrix with one row a hypothesis = 0.

    >>> linear_constraints(["Intercept", "x1", "x2"], "x1 = x2, Intercept = 3")
    (array([[ 0.,  1., -1.],
           [ 1.,  0.,  0.]]), array([0., 3.]))
    """
    try:
        constraint = patsy.DesignInfo(list(names)).linear_constraint(hypotheses)
    except (patsy.PatsyError, ValueError, TypeError) as error:
        raise ArgumentError(
            f"cannot read the hypotheses {hypotheses!r} about {', '.join(names)}: {error}"
        ) from None
    R, r = constraint.coefs.astype(float), constraint.constants[:, 0].astype(float)
    if np.linalg.matrix_rank(R) < len(R):
        raise ArgumentError(f"expected hypotheses that do not follow from each other: {R.tolist()}")
    return R, r
