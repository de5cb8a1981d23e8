"""Compute standard errors, intervals and tests of one fit from its release."""

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np
import pandas as pd

from dpstats.errors import ArgumentError, shown
from dpstats.estimators.contract import Release
from dpstats.evidence import Evidence, Stack
from dpstats.formula import Design, Formula, linear_constraints
from dpstats.inference import (
    PARTLY_UNBOUNDED,
    UNBOUNDED,
    ClusterWald,
    TTest,
    Uncertainty,
    slopes_of,
    statuses,
)
from dpstats.option_checks import checked_alpha
from dpstats.schema import Schema


def by_t(errors: Uncertainty) -> bool:
    """Tell whether intervals are of Student's t, as with few clusters."""
    return isinstance(errors, ClusterWald) and bool(np.isfinite(errors.degrees()).any())


class Inferred(ABC):
    """Compute coefficients, standard errors, intervals and tests under statsmodels' names.

    It is the part of :class:`~dpstats.results.one.single.DPResults` that reads ``release``,
    ``names`` and the public facts, and never the data.
    """

    method: str
    release: Release
    names: tuple[str, ...]
    public_rows: int | None
    formula: str
    schema: Schema

    @abstractmethod
    def design(self) -> Design:
        """Build the design from the public schema."""

    @cached_property
    def parsed_formula(self) -> Formula:
        """Return the formula as parsed."""
        return Formula.parse(self.formula)

    @property
    def status(self) -> str:
        """Return "ok", a released outcome, or which slopes have a bounded interval.

        See :func:`dpstats.inference.statuses`.
        """
        return statuses([self.release.status], self._unbounded)[0]

    @cached_property
    def _unbounded(self) -> np.ndarray:
        """Tell the slopes, (1, k), whose intervals are unbounded."""
        slopes = slopes_of(len(self.names), self.parsed_formula.intercept)
        return self.uncertainty.unbounded_at(slopes)

    @property
    def reasons(self) -> dict[str, str]:
        """Explain by attribute why a quantity is NaN or infinite."""
        reasons, status = dict(self.release.reasons), self.status
        if status == "not_identified":
            known = reasons.get("bse", reasons.get("conf_int", UNBOUNDED))
        elif status == "imprecise" and self._unbounded.any():
            known = reasons.get("conf_int", PARTLY_UNBOUNDED)
        else:
            return reasons
        return reasons | {"bse": known, "conf_int": known}

    @property
    def params(self) -> pd.Series:
        """Return the private coefficients, by name."""
        return pd.Series(self.release.params, self.names, copy=True)

    @cached_property
    def uncertainty(self) -> Uncertainty:
        """Derive from the release the distribution of its error."""
        return Stack.of([self.release], len(self.names)).uncertainty()

    @property
    def evidence(self) -> Evidence:
        """Return what was released beyond coefficients and their covariance."""
        return self.release.evidence

    @property
    def cov_type(self) -> str:
        """Return "nonrobust" (errors of one variance), "HC1" or "cluster", as statsmodels does."""
        return self.release.basis.cov_type

    def cov_params(self) -> pd.DataFrame:
        """Return the coefficients' covariance, privacy noise included; NaN when unavailable."""
        return pd.DataFrame(self.uncertainty.covariance()[0], self.names, self.names)

    @property
    def bse(self) -> pd.Series:
        """Return standard errors, privacy noise included; NaN when unavailable."""
        return pd.Series(self._errors(np.eye(len(self.names))), self.names)

    @property
    def tvalues(self) -> pd.Series:
        """Divide the coefficients (of the auxiliary fit, if any) by their standard errors."""
        return (self.params if self.companion is None else self.companion) / self.bse

    @property
    def companion(self) -> pd.Series | None:
        """Return the coefficients of the auxiliary fit, which the intervals cover, or None."""
        release = self.release.companion
        return None if release is None else pd.Series(release.params, self.names, copy=True)

    @property
    def pvalues(self) -> pd.Series:
        """Return the two-sided p-value of each coefficient = 0."""
        size = len(self.names)
        return pd.Series(self.uncertainty.p_values(np.eye(size), np.zeros(size))[0], self.names)

    def conf_int(self, alpha: float = 0.05, cols=None) -> pd.DataFrame:
        """Compute intervals of level 1 - alpha: a row per coefficient, columns 0 and 1.

        Intervals are about least squares on all rows, clipped at declared bounds only, or, where
        none are declared, at released ranges that ``summary()`` prints beside the noisy share of
        rows beyond them. Privacy noise is part of them. They are infinite where the release is
        compatible with coefficients of any size, and NaN where no valid interval exists (see
        ``reasons``). With ``cols``, a list of names or positions, they are of these coefficients.

        Raises
        ------
        ArgumentError
            Unless 0 < alpha < 1, and for ``cols`` that are no coefficients.
        """
        rows = np.eye(len(self.names))
        places = slice(None) if cols is None else self._places(cols)
        return pd.DataFrame(self._intervals(rows, alpha), self.names).iloc[places]

    def _places(self, cols) -> list[int]:
        """Return the positions of coefficients by name or position, or raise ArgumentError."""
        known = {
            **{i: i for i in range(len(self.names))},
            **{n: i for i, n in enumerate(self.names)},
        }
        try:
            return [known[one] for one in ([cols] if isinstance(cols, str) else cols)]
        except (KeyError, TypeError):
            raise ArgumentError(
                f"expected cols to list names or positions of coefficients, such as "
                f"[{self.names[-1]!r}], got {shown(cols)}"
            ) from None

    def _intervals(self, rows: np.ndarray, alpha: float) -> np.ndarray:
        """Compute intervals (q, 2) of linear combinations (q, S) of the coefficients."""
        return self.uncertainty.intervals(rows, checked_alpha(alpha))[0]

    def _errors(self, rows: np.ndarray) -> np.ndarray:
        """Compute standard errors (q,) of linear combinations (q, S) of the coefficients."""
        return self.uncertainty.errors(rows)[0]

    def t_test(self, hypotheses, alpha: float = 0.05) -> TTest:
        """Test each of several linear hypotheses about the coefficients.

        Parameters
        ----------
        hypotheses : str, sequence, mapping or array
            As in statsmodels: ``"x1 = x2"``, ``"x1 + x2 = 1, x3 = 0"``, or a matrix with a row of
            weights for each hypothesis that a combination of coefficients is 0.
        alpha : float
            One minus the level of the intervals.

        Raises
        ------
        ArgumentError
            For hypotheses that cannot be read.
        """
        R, r = linear_constraints(self.names, hypotheses)
        effect, sd = R @ self.release.basis.params, self._errors(R)
        return TTest(
            names=tuple(f"c{i}" for i in range(len(r))),
            effect=effect,
            sd=sd,
            tvalue=(effect - r) / sd,
            pvalue=self.uncertainty.p_values(R, r)[0],
            intervals=self._intervals(R, alpha),
            alpha=float(alpha),
            reasons=self._why_no_errors(R),
            by_t=by_t(self.uncertainty),
        )

    def _why_no_errors(self, rows: np.ndarray) -> tuple[str, ...]:
        """Explain why standard errors of linear combinations are NaN; empty where none is."""
        reason = self.reasons.get("bse", "")
        return (reason,) * bool(reason and np.isnan(self._errors(rows)).any())
