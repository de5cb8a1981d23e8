"""Read linear hypotheses written as in statsmodels."""

from collections.abc import Mapping, Sequence

import numpy as np
import patsy

from dpstats.errors import ArgumentError, shown


def linear_constraints(
    names: Sequence[str], hypotheses, joint: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Read hypotheses R beta = r about the coefficients with these names; return (R, r).

    ``hypotheses`` is a text such as ``"x1 = x2"`` or ``"x1 = 0, x2 + x3 = 1"``, a sequence or
    a mapping of them, a matrix with one row a hypothesis = 0, or a pair (R, r). ``joint`` ones
    are tested together, so none may follow from the others.

    >>> linear_constraints(["Intercept", "x1", "x2"], "x1 = x2, Intercept = 3")
    (array([[ 0.,  1., -1.],
           [ 1.,  0.,  0.]]), array([0., 3.]))
    """
    try:
        info = patsy.DesignInfo([_readable(name) for name in names])
        constraint = info.linear_constraint(_readable(hypotheses))
    except (patsy.PatsyError, ValueError, TypeError, LookupError, OverflowError):
        matrix = "" if isinstance(hypotheses, str) else f", or a matrix of {len(names)} columns"
        raise ArgumentError(
            f"cannot read the hypotheses {shown(hypotheses)}; write equations such as "
            f"'{names[-1]} = 0' about {', '.join(names)}{matrix}"
        ) from None
    R, r = constraint.coefs.astype(float), constraint.constants[:, 0].astype(float)
    if not (np.isfinite(R).all() and np.isfinite(r).all()):
        raise ArgumentError(f"expected hypotheses of finite numbers, got {shown(hypotheses)}")
    if not R.any(axis=1).all():
        raise ArgumentError(
            f"expected each hypothesis to be about a coefficient, got {shown(hypotheses)}; leave "
            "out what cancels"
        )
    if joint and np.linalg.matrix_rank(R) < len(R):
        raise ArgumentError(
            f"expected hypotheses that do not follow from each other, got {shown(hypotheses)}; "
            "leave out those that do, or test each by itself with t_test()"
        )
    return R, r


def _readable(hypotheses):
    """Rename (Intercept) in hypotheses: patsy would take the parenthesis for arithmetic."""
    if isinstance(hypotheses, str):
        return hypotheses.replace("(Intercept)", "_(Intercept)")
    if isinstance(hypotheses, Mapping):
        return {_readable(text): value for text, value in hypotheses.items()}
    if isinstance(hypotheses, Sequence) and all(isinstance(one, str) for one in hypotheses):
        return [_readable(one) for one in hypotheses]
    return hypotheses
