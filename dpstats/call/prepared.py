"""Hold the inputs of a fit: the request with its final design, and the problem."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd

from dpstats.call.request import Request
from dpstats.estimators.contract import Problem
from dpstats.formula import Design
from dpstats.formula.orthogonal import orthogonal_basis
from dpstats.numerics import ColumnBasis
from dpstats.privacy import Cost
from dpstats.schema import UNLIMITED, Numeric


@dataclass(frozen=True)
class Prepared:
    """Hold a request, its design, its mechanism's problem and the cost the mechanism may spend.

    Once terms are selected and ranges estimated nothing public is left to be worked out.
    ``points`` name the rows of ``problem.x_new``.
    """

    request: Request
    design: Design
    problem: Problem
    cost: Cost
    points: tuple[str, ...]

    @classmethod
    def of(cls, request: Request) -> Self:
        """Work out the problem under the request's schema."""
        (frame, points), design, first = _points(request), request.design, request.first_stage
        # at quarters of an estimated range a term may have no value, which must not stop the call
        x_new = (
            np.empty((0, len(design.names)))
            if frame is None
            else design.predictors(frame, may_lack_values=request.x_new is None)
        )
        y_low, y_high = design.response_bounds
        problem = Problem(
            low=design.low,
            high=design.high,
            y_low=y_low,
            y_high=y_high,
            intercept=design.intercept,
            neighbors=request.neighbors,
            row_norm=request.row_norm,
            estimated=bool(request.estimated),
            x_new=x_new,
            layout=design.layout,
            reference=request.reference,
            coded=request.coded,
            weighted=request.weights is not None,
            by_unit=request.unit is not None,
            basis=_basis(request),
            unsure=request.unsure,
            clustered=request.cluster is not None,
            instruments=first and first.instruments(request.released_design),
            others=() if request.outcomes is None else request.outcomes.references,
            grouped=request.grouped,
        )
        return cls(request, design, problem, request.fit_cost, points)

    @property
    def x_new(self) -> np.ndarray:
        """Return where to predict, by released coefficients (q, S); nowhere with instruments."""
        points = self.problem.x_new
        return points.reshape(len(points), len(self.request.released_design.names))

    @property
    def response_ends(self) -> tuple[float, float]:
        """Return the declared bounds of the response, which predictions keep to."""
        return self.design.response_ends(self.request.estimated)


def _basis(request: Request) -> ColumnBasis | None:
    """Return the orthogonal basis of the columns, for a method that takes one."""
    takes = "basis" in request.method.takes and request.row_norm is None
    return orthogonal_basis(request.design) if takes else None


def _points(request: Request) -> tuple[pd.DataFrame | Mapping | None, tuple[str, ...]]:
    """Return where to predict, if anywhere, and its names; else at quarters of one range."""
    given = request.x_new
    if given is not None:
        return (given, point_names(given)) if len(given) else (None, ())
    predictors = request.formula.predictors
    kind = request.schema.get(predictors[0]) if len(predictors) == 1 else None
    if request.formula.absorbed is not None or request.first_stage is not None:
        kind = None  # predictions need the effects of groups, or are of another regression
    if not isinstance(kind, Numeric) or kind == UNLIMITED or request.row_norm is not None:
        return None, ()
    quarters = [kind.low + q * (kind.high - kind.low) for q in (0.25, 0.75)]
    return {predictors[0]: quarters}, ("p25", "p75")


def point_names(frame: pd.DataFrame) -> tuple[str, ...]:
    """Name the prediction points by the frame's index, or 0, 1, ... when it repeats."""
    labels = tuple(str(label) for label in frame.index)
    return labels if len(set(labels)) == len(labels) else tuple(map(str, range(len(frame))))
