"""Compute the figures above a regression table, N and R-squared, from a release."""

import math
from functools import cached_property

import numpy as np
import pandas as pd

from dpstats.evidence import LinkEvidence, LogisticEvidence, NewtonEvidence
from dpstats.inference import Estimate, GoodnessOfFit
from dpstats.results.one.prediction_mixin import Predicted

_ABSORBED = (
    "the sums are about the means of groups, so neither R-squared of the whole model, which the "
    "effects of the groups belong to, nor the residual variance, whose degrees of freedom they "
    "lower, follows from them"
)
_NO_PSEUDO = (
    "the noise leaves the pseudo R-squared open, or an offset does, with which the fitted "
    "probabilities do not tell the likelihood"
)


class FitStatistics(Predicted):
    """Compute the number of rows, R-squared and the residual variance from the release.

    They are about the rows that were fitted, and their standard errors are those of the privacy
    noise alone. They cost no budget.
    """

    estimated: tuple[str, ...]
    rows_seen: tuple[float, float] | None

    @property
    def fit_statistics(self) -> pd.DataFrame:
        """Tabulate them: rows as the attributes, columns ``estimate`` and ``std_error``.

        NaN stands where the release does not tell, and ``reasons`` says why: where estimated
        ranges clip an unknown part of the rows R-squared has no standard error. The figures of
        ``adassp`` and ``ssp`` are there about the variables as clipped. Where standard errors are
        clustered by ``cluster=`` the row ``clusters`` is their effective number, n^2 / sum n_g^2 of
        clusters of n_g rows: the number of clusters of one size that tell as much. A logit has a
        row ``prsquared``.
        """
        figures = self._goodness
        table = {
            "nobs": figures.rows,
            "rsquared": figures.rsquared,
            "rsquared_adj": figures.rsquared_adj,
            "scale": figures.scale,
            "df_resid": figures.df_resid,
        }
        evidence = self.release.basis.evidence
        if isinstance(evidence, NewtonEvidence) and evidence.clusters is not None:
            number, error = float(evidence.clusters), float(evidence.clusters_error)
            table["clusters"] = Estimate(number, error)
        if isinstance(evidence, LogisticEvidence):
            table["prsquared"] = evidence.pseudo_rsquared
        rows = [(estimate.value, estimate.error) for estimate in table.values()]
        return pd.DataFrame(rows, index=list(table), columns=["estimate", "std_error"])

    @property
    def nobs(self) -> float:
        """Return the number of rows, a whole one: exact where it is public, else as released.

        What is released holds noise, of which ``fit_statistics`` has the standard error. NaN where
        the number is private and was not paid for.
        """
        rows = self.nobs_noisy
        return rows if np.isnan(rows) else round(rows)

    @property
    def nobs_noisy(self) -> float:
        """Return the number of rows as ``nobs`` does, before it is rounded."""
        return self._goodness.rows.value

    @property
    def rsquared(self) -> float:
        """Return R-squared, about zero for a model without a constant."""
        return self._goodness.rsquared.value

    @property
    def prsquared(self) -> float:
        """Return McFadden's pseudo R-squared of a logit, 1 - llf / llnull, as released.

        NaN where the noise leaves it open; ``fit_statistics`` has the standard error of the noise.
        """
        evidence = self.release.basis.evidence
        if not isinstance(evidence, LogisticEvidence):
            raise AttributeError("prsquared")  # Python then asks __getattr__, which says why
        return evidence.pseudo_rsquared.value

    @property
    def rsquared_adj(self) -> float:
        """Return R-squared adjusted for the degrees of freedom."""
        return self._goodness.rsquared_adj.value

    @property
    def scale(self) -> float:
        """Return the residual variance, the square of the residual standard error.

        Of a logit and of counts it is 1, as in statsmodels, whose dispersion is not estimated.
        """
        of_link = isinstance(self.release.basis.evidence, LinkEvidence)
        return 1.0 if of_link else self._goodness.scale.value

    @property
    def df_resid(self) -> float:
        """Return the number of rows less that of coefficients."""
        return self._goodness.df_resid.value

    @property
    def reasons(self) -> dict[str, str]:
        """Explain by attribute why a quantity is NaN or infinite."""
        reasons, figures = super().reasons, self._goodness
        why = {name: figures.reason for name in ("rsquared", "rsquared_adj")}
        why["scale"] = figures.scale_reason or figures.reason
        missing = {name: text for name, text in why.items() if np.isnan(getattr(self, name))}
        evidence = self.release.basis.evidence
        if isinstance(evidence, LogisticEvidence) and np.isnan(evidence.pseudo_rsquared.value):
            reasons = {**reasons, "prsquared": _NO_PSEUDO}
        return {**reasons, **missing}

    @cached_property
    def _goodness(self) -> GoodnessOfFit:
        """Compute the figures once."""
        if np.isnan(self.release.params).all():
            reason = self.release.reasons.get("params", "")
            return GoodnessOfFit(self._rows(), columns=len(self.names), reason=reason)
        evidence = self.release.basis.evidence
        if self.parsed_formula.absorbed is not None:
            rows = evidence.goodness(len(self.names), None, self._rows()).rows
            return GoodnessOfFit(rows, columns=math.nan, reason=_ABSORBED)
        figures = evidence.goodness(len(self.names), self._constant(), self._public_rows())
        if evidence.tells_clipping or not self.estimated:
            return figures
        return figures.without_errors(self._rows())

    def _rows(self) -> Estimate:
        """Return the number of rows where it is known apart from the rows' sums.

        Rows that are clipped to estimated ranges weigh less in the sums.
        """
        if self.public_rows is not None or self.rows_seen is None:
            return self._public_rows()
        rows, error = self.rows_seen
        return Estimate(max(rows, 1.0), error)

    def _public_rows(self) -> Estimate:
        """Return the number of rows where it is public."""
        return Estimate() if self.public_rows is None else Estimate(float(self.public_rows), 0.0)

    def _constant(self) -> np.ndarray | None:
        """Return the coefficients (S,) of the constant 1, None where no columns add up to it."""
        constant = np.zeros(len(self.names))
        if self.parsed_formula.has_intercept:
            constant[0] = 1.0
            return constant
        for block in self.design().layout.blocks:
            part, *_ = np.linalg.lstsq(block.coding, np.ones(len(block.coding)), rcond=None)
            if np.allclose(block.coding @ part, 1.0):
                constant[block.columns] = part
                return constant
        return None
