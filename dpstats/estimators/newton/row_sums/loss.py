"""Define what a loss is: the residual of a row, how it falls, and how large it may be."""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from dpstats.estimators.contract import Problem, Reference
from dpstats.noise import Noise
from dpstats.numerics import Rows
from dpstats.privacy import Cost


class Residuals(Protocol):
    """State the residual r of a row, by which its score is a r."""

    def residuals(
        self, rows: Rows, reference: Reference, columns: np.ndarray, eta: np.ndarray
    ) -> np.ndarray:
        """Return residuals (m,) of whitened rows, as columns (p, m), at the position eta (p,).

        Each row's is finite, whatever its response and offset are, and the same to the last bit
        whatever rows stand beside it.
        """
        ...


class Loss(Residuals, Protocol):
    """State a loss of the linear predictor of a row, of which Newton's steps minimise the sum.

    With a whitened row a the predictor is center + scale a'eta, ``y_center`` and ``y_scale`` of the
    reference, and the loss falls by the score a r per unit of eta. Center, scale and the unit of
    residuals r are such that at eta = 0 their mean square and their mean curvature,
    -dr / d(a'eta), are about 1.
    """

    def measured(
        self, problem: Problem, has_constant: bool, total: Callable, rows: float, cost: Cost,
        noise: Noise,
    ) -> Problem:  # fmt: skip
        """Release center and scale at ``cost``, and update the reference by them."""
        ...

    def farthest(self, reference: Reference) -> float:
        """Return the largest residual that a row may have at eta = 0."""
        ...

    def mean_square(self, reference: Reference, explained: float) -> float:
        """Return the mean square of residuals where a'eta has the variance ``explained``."""
        ...

    def curvature(self, reference: Reference, explained: float) -> float:
        """Return the mean curvature there."""
        ...
