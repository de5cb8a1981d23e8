"""Hold the reduced forms of y and d on x and z, of which a regression with instruments is made."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dpstats.estimators.contract import Release
from dpstats.estimators.newton.steps import Counted, Fitted
from dpstats.estimators.newton.steps.release import release_of
from dpstats.evidence import NewtonEvidence, Stack


class ReducedForms(NamedTuple):
    """Hold the releases of y and of d on x and z, and how their errors go together.

    ``cross`` (S, S) is the covariance of the coefficients of y with those of d, ``directions``
    (S, p) map whitened positions to coefficients.
    """

    y: Release
    d: Release
    cross: np.ndarray
    directions: np.ndarray

    @classmethod
    def of(
        cls, of_y: Fitted, of_d: Fitted, products: np.ndarray, counted: Counted, few: str
    ) -> "ReducedForms":
        """Return the releases of both, given ``products`` (2 p, 2 p) of their joint scores."""
        p, steps = len(of_y.state.eta), of_y.steps
        directions = steps.queries.basis.from_span @ steps.whitening.map
        scale = of_y.steps.queries.reference.y_scale * of_d.steps.queries.reference.y_scale
        across = scale / (steps.rows**2 * of_y.state.hessian * of_d.state.hessian)
        y, d = (
            release_of(
                replace(fit.state, products=products[own, own]), steps.queries.basis,
                steps.whitening, fit.wild, fit.steps.queries.problem, steps.rows, counted, few,
            )
            for fit, own in ((of_y, slice(0, p)), (of_d, slice(p, None)))
        )  # fmt: skip
        cross = across * directions @ products[:p, p:] @ directions.T
        return cls(y, d, cross, directions)

    @property
    def evidence(self) -> tuple[NewtonEvidence, NewtonEvidence]:
        """Return what was released of each beyond its coefficients."""
        of_y, of_d = self.y.evidence, self.d.evidence
        assert isinstance(of_y, NewtonEvidence) and isinstance(of_d, NewtonEvidence)
        return of_y, of_d

    def of_instruments(self, columns: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients (2, k) of instruments, of y and of d, and their covariance (2k, 2k).

        They are NaN where the noise hides one of them.
        """
        z = np.array(columns)
        block = np.ix_(z, z)
        assert self.y.cov is not None and self.d.cov is not None
        cross = self.cross[block]
        cov = np.block([[self.y.cov[block], cross], [cross.T, self.d.cov[block]]])
        coefficients = np.stack([self.y.params[z], self.d.params[z]])
        if any(_is_hidden(one, z) for one in (self.y, self.d)):
            return np.full_like(coefficients, np.nan), np.full_like(cov, np.nan)
        return coefficients, cov


def _is_hidden(release: Release, columns: np.ndarray) -> bool:
    """Tell whether some of the columns have no interval."""
    uncertainty = Stack.of([release], len(release.params)).uncertainty()
    return bool(uncertainty.unbounded_at(columns).any()) or release.status == "constant"
