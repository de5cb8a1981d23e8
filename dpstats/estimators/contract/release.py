"""Define the problem a mechanism is given and the release it returns."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from dpstats.estimators.contract.reference import Reference
from dpstats.evidence import Evidence, Stack
from dpstats.numerics import ColumnBasis, Layout

_Made = TypeVar("_Made")
# What releases with absorbed effects say, and those with effects of privacy units.
NO_PREDICTIONS = (
    "a prediction needs the effect of its group, which is absorbed and not released; differences "
    "between predictions of one group are differences of the regressors times params"
)
UNIT_EFFECTS = (
    "the effects of the absorbed column are not released; what has one row in use adds nothing to "
    "the fit"
)
UNIT_ABSORBED = (
    "the absorbed column is the one whose rows are protected together; a row that has no value in "
    "it is left out"
)
# The reason why a release from privately estimated ranges has no standard errors.
CLIPPED = (
    "the privately estimated ranges clip an unknown part of the rows, which biases any "
    "interval; declare bounds= for standard errors"
)


@dataclass(frozen=True)
class Instruments:
    """Hold how a regression with instruments follows from those of y and d on x and z.

    Parameters
    ----------
    columns : tuple of int
        The columns of the design that are instruments z.
    structural : tuple of int
        For each coefficient of the regression on x and d the column of the design that it is of, -1
        for that of d.
    reference : Reference or None
        As that of the problem, with d as the response.
    bounds : tuple of float
        Between which values d is declared to lie.
    """

    columns: tuple[int, ...]
    structural: tuple[int, ...]
    reference: Reference | None
    bounds: tuple[float, float] = (-math.inf, math.inf)


@dataclass(frozen=True)
class Problem:
    """Hold the public facts a mechanism works under.

    Parameters
    ----------
    low, high : numpy.ndarray, shape (S,)
        Bounds of the design columns.
    y_low, y_high : float
        Bounds of the response.
    intercept : int or None
        Index of the constant column.
    neighbors : str
        The relation the release must be private for.
    row_norm : float or None
        Declared bound on the Euclidean norm of a design row, in place of the column bounds.
    estimated : bool
        Whether any bound was itself released, so that ranges may be generous.
    x_new : numpy.ndarray, shape (q, S)
        Design rows at which predictions are wanted.
    layout : Layout or None
        How the columns follow from codes of factors and numeric columns.
    reference : Reference or None
        For methods that work from the distributions of the columns.
    coded : bool
        Whether rows are codes of the layout's blocks and numbers, rather than design rows.
    weighted : bool
        Whether rows have weights, so that each counts for a part in [0, 1].
    by_unit : bool
        Whether rows have numbers of privacy units, and parts. The rows of a unit are beside one
        another, and their parts add up to at most 1.
    basis : ColumnBasis or None
        Public combinations of the columns, for methods whose noise depends on how they are
        written.
    unsure : tuple of str
        Variables of which rows may lie far beyond the range that was released for them.
    paired : bool
        Whether a companion is fitted too, so that intervals are about its coefficients.
    clustered : bool
        Whether rows have keys of the clusters that standard errors are to allow for.
    instruments : Instruments or None
        Where an endogenous regressor has instruments; the design is then that of x and z.
    others : tuple of Reference
        As that of the problem, for each response beside the first, in the order of the rows'.
    grouped : bool
        Whether rows are of one group each time, and the reference is that of all groups.
    """

    low: np.ndarray
    high: np.ndarray
    y_low: float
    y_high: float
    intercept: int | None
    neighbors: str
    row_norm: float | None
    estimated: bool
    x_new: np.ndarray
    layout: Layout | None = None
    reference: Reference | None = None
    coded: bool = False
    weighted: bool = False
    by_unit: bool = False
    basis: ColumnBasis | None = None
    unsure: tuple[str, ...] = ()
    paired: bool = False
    clustered: bool = False
    instruments: Instruments | None = None
    others: tuple[Reference, ...] = ()
    grouped: bool = False

    @cached_property
    def _shared(self) -> dict[Callable, Any]:
        return {}

    def shared(self, make: Callable[["Problem"], _Made]) -> _Made:
        """Return ``make(self)``, which is worked out once for all releases of this problem."""
        if make not in self._shared:
            self._shared[make] = make(self)
        return self._shared[make]

    @property
    def outcomes(self) -> int:
        """Return the number of responses."""
        return 1 + len(self.others)

    @property
    def response_bounds(self) -> list[tuple[float, float]]:
        """Return the bounds of the response, and of the endogenous regressor if there is one."""
        own = [(self.y_low, self.y_high)]
        return own if self.instruments is None else [*own, self.instruments.bounds]

    @property
    def counted(self) -> str:
        """Name what neighbours differ in one of, and what is counted."""
        return "units" if self.by_unit else "rows"

    @property
    def in_parts(self) -> bool:
        """Tell whether rows count for parts of one, by their weights or as rows of a unit."""
        return self.weighted or self.by_unit

    @property
    def constant(self) -> int:
        """Index of the constant column, for methods that fit designs with one only."""
        assert self.intercept is not None, "the request refuses other designs"
        return self.intercept


@dataclass(frozen=True)
class Release:
    """Hold what a mechanism publishes, in the design's units; every number is a release.

    ``params`` (S,) and ``predictions`` (q,) hold NaN where nothing was released, and
    ``reasons`` says why, by the name of the result's attribute. ``cov`` is the
    covariance of the coefficients (S, S), noise included, or None. ``evidence`` is what else was
    released, from which intervals and figures follow; where there is a ``companion``, an auxiliary
    fit from the same rows and budget, they follow from that one. ``note`` is a sentence on
    what was released, a function of releases. ``limited`` says that predictions are of rows
    clipped to the columns' ranges and lie in the range of the response. ``cov_type`` is
    "nonrobust", "HC1" or "cluster": what the inference assumes of errors.
    """

    params: np.ndarray
    predictions: np.ndarray
    cov: np.ndarray | None = None
    status: str = "ok"
    reasons: Mapping[str, str] = field(default_factory=dict)
    evidence: Evidence = Evidence()
    companion: "Release | None" = None
    note: str = ""
    limited: bool = False
    cov_type: str = "nonrobust"

    def __post_init__(self):
        for values in (self.params, self.predictions, self.cov):
            if values is not None:
                values.flags.writeable = False

    @property
    def basis(self) -> "Release":
        """Return the fit that intervals are about: the companion, or this one where none is."""
        return self.companion or self

    def within(self, ends: tuple[float, float]) -> "Release":
        """Return the release with predictions no farther out than public ends.

        Guarantee. Post-processing of releases by public facts, so it costs nothing.
        """
        return replace(self, predictions=np.clip(self.predictions, *ends))

    @classmethod
    def nothing(cls, problem: Problem, status: str, reason: str) -> "Release":
        """Return a release without numbers: a released failure and its reason."""
        return cls(
            params=np.full(len(problem.low), np.nan),
            predictions=np.full(len(problem.x_new), np.nan),
            status=status,
            reasons=dict.fromkeys(("params", "predictions", "bse"), reason),
        )


@dataclass(frozen=True)
class Releases:
    """Hold the releases of G groups that share no row, as columns; NaN where nothing was released.

    Parameters
    ----------
    params, predictions : numpy.ndarray, shapes (G, S) and (G, q)
    statuses : sequence of str, length G
    reasons : tuple of str
        Why something is NaN, each reason once.
    stack : Stack
        What intervals are about.
    cov_type, limited
        As in :class:`Release`, for all groups.
    """

    params: np.ndarray
    predictions: np.ndarray
    statuses: Sequence[str]
    reasons: tuple[str, ...]
    stack: Stack
    cov_type: str = "nonrobust"
    limited: bool = False
