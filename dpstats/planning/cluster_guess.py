"""Describe the assumed clusters that standard errors allow for."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from dpstats.call import Request
from dpstats.errors import ArgumentError, shown
from dpstats.option_checks import positive, whole
from dpstats.planning.correlated_guess import CorrelatedGuess, checked_icc
from dpstats.planning.panel_guess import shares_within
from dpstats.schema import Numeric

# The fractional parts of its multiples are spread more evenly over [0, 1) than those of others.
_GOLDEN = (5**0.5 - 1) / 2


@dataclass(frozen=True)
class ClusterGuess(CorrelatedGuess):
    """Hold clusters with shares of the rows, and how alike the rows of a cluster are.

    Parameters
    ----------
    shares : numpy.ndarray, shape (groups,)
        Shares of the rows in each cluster, which add up to 1.
    """

    shares: np.ndarray

    @classmethod
    def of_clusters(
        cls, request: Request, column: str | None, n: int, clusters, icc, groups, within_share
    ) -> "ClusterGuess | None":
        """Check the guesses; None where no column of clusters is named that is not the unit."""
        if column is None:
            absorbed = request.formula.absorbed
            if clusters is not None and absorbed is not None:
                raise ArgumentError(
                    "clusters describes the column of cluster= beside the one after |; of "
                    f"{absorbed} groups says how many there are, so leave clusters out"
                )
            if clusters is not None:
                raise ArgumentError(
                    'clusters describes the column of cluster=; add cov_type="cluster" and '
                    "cluster=, or leave it out"
                )
            return None
        _check_alone(request, column)
        if groups is not None:
            raise ArgumentError(
                "groups describes the column after | or those of by=; with cluster= give clusters="
            )
        kinds = ((name, request.design.schema[name]) for name in request.formula.predictors)
        numeric = [name for name, kind in kinds if isinstance(kind, Numeric)]
        shares, within = _shares(clusters, column, n), shares_within(within_share, numeric)
        return cls(column, len(shares), within, checked_icc(icc), shares)

    def labels(self, n: int) -> np.ndarray:
        """Return the cluster (n,) of each row, so that any first rows are shared alike."""
        places = np.arange(n) * _GOLDEN % 1
        return np.minimum(np.searchsorted(np.cumsum(self.shares), places), self.groups - 1)

    @property
    def effective(self) -> float:
        """Return the effective number of clusters, of one size as many as there are."""
        return 1 / float(self.shares @ self.shares)

    @property
    def sentence(self) -> str:
        """Write the guess in words."""
        return (
            f"guessed {self.column}: {self.groups:,} clusters, effectively {self.effective:.3g}; "
            f"intra-class correlation of the residuals {self.icc:.3g}; shares of variance within "
            f"one of them: {self.listed_shares}"
        )


def _check_alone(request: Request, column: str) -> None:
    """Raise ArgumentError where the column is not independent of persons and regressors."""
    stand_in = "take plan_study with data=, a public stand-in"
    if request.unit is not None:
        raise ArgumentError(
            f"a plan draws the rows of persons or of clusters, got unit={request.unit.column!r} "
            f"and cluster={column!r}; leave cluster out, or {stand_in} that has both columns"
        )
    if column in request.formula.variables:
        raise ArgumentError(
            f"a plan draws clusters beside the regressors, got cluster={column!r}, which is in the "
            f"formula; {stand_in}"
        )


def _shares(clusters, column: str, n: int) -> np.ndarray:
    """Return shares of the rows: of so many clusters of one size, or by relative sizes."""
    if isinstance(clusters, Iterable) and not isinstance(clusters, str):
        sizes = [positive(f"clusters[{i}]")(size) for i, size in enumerate(clusters)]
        if 1 < len(sizes) <= n:
            return np.array(sizes) / sum(sizes)
    if clusters is None or isinstance(clusters, Iterable):
        raise ArgumentError(
            f"expected clusters= with cluster={column!r}: the guessed number of clusters, or their "
            f"relative sizes, of 2 to n={n} clusters, got {shown(clusters)}"
        )
    number = whole("clusters", 2, n)(clusters)
    return np.full(number, 1 / number)
