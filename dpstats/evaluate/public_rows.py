"""Read the rows of public data by group, as a mechanism would see them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpstats.call import Request
from dpstats.call.arguments import make_request
from dpstats.errors import ArgumentError
from dpstats.estimators.contract import Problem
from dpstats.formula.absorption import split_off
from dpstats.rows.group_labels import check_by, columns_of, group_rows, label_columns
from dpstats.run import GroupedRows, TablePasses


@dataclass(frozen=True)
class Cells:
    """Hold rows by group, not private.

    Parameters
    ----------
    labels : tuple
        The G group labels; ``("all",)`` without groups.
    grouped : GroupedRows
        The rows of each group, clipped to the bounds.
    names, points : tuple of str
        The S design columns and the q prediction points.
    problem : Problem
        Bounds, intercept and prediction points.
    """

    labels: tuple
    grouped: GroupedRows
    names: tuple[str, ...]
    points: tuple[str, ...]
    problem: Problem

    @classmethod
    def read(cls, name: str, formula, data, by, public, **call) -> "Cells":
        """Read the complete rows for the function of this name, once they are declared public."""
        declared_public(public, name)
        return cls.of(request_for(formula, data, **call), by)

    @classmethod
    def of(cls, request: Request, by: str | Sequence[str] | None) -> "Cells":
        """Read the complete rows of a request."""
        check_by(request.table, request.formula.variables, by, None)
        prepared = TablePasses.of(request).gathered(*([] if by is None else columns_of(by)))
        table = prepared.table
        codes, labels = np.zeros(table.n_rows, dtype=np.int64), ("all",)
        if by is not None:
            codes, labels, _ = group_rows(table, by, None)
        grouped = GroupedRows.of(prepared, codes, len(labels))
        return cls(labels, grouped, prepared.design.names, prepared.points, prepared.problem)

    @property
    def rows(self) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
        """Return (X, y) of each group, shapes (n, S) and (n,)."""
        rows, edges = self.grouped.rows, self.grouped.edges
        groups = (rows[span] for span in map(slice, edges[:-1], edges[1:]))
        return tuple((group.numbers, group.response) for group in groups)

    def tidy(self, by: str | Sequence[str] | None, term: str, terms: Sequence[str], columns):
        """Tabulate columns (G, t) with a row for each group and term."""
        frame = pd.DataFrame({name: np.ravel(values) for name, values in columns.items()})
        frame.insert(0, term, [*terms] * len(self.labels))
        labels = {} if by is None else label_columns(by, self.labels)
        for place, (name, values) in enumerate(labels.items()):
            frame.insert(place, name, values.repeat(len(terms)))
        return frame


def declared_public(public, name: str) -> None:
    """Raise ArgumentError unless the caller declared with public=True that the rows are public."""
    if public is not True:
        raise ArgumentError(
            f"{name} uses the rows without any protection; pass public=True if they are "
            "public or synthetic, else use dp_ols"
        )


def request_for(
    formula, data, *, bounds, x_new, levels=None, method="boosted_adassp", epsilon=1.0, delta=None,
    neighbors=None, options=None, weights=None, trim_weights=None, absorbing=False,
    unit=None, max_rows=None, cluster=None,
) -> Request:  # fmt: skip
    """Build the request of a private call: the same columns, clipping and points.

    With the default method it only serves to read the rows; its epsilon is never used.
    ``absorbing`` says that the caller can do with absorbed effects.
    """
    options = dict(options or {})
    absorbed = split_off(formula).absorbed if isinstance(formula, str) else None
    if absorbed is not None and not absorbing:
        raise ArgumentError(
            f"absorbed effects are not evaluated: leave | {absorbed} out of {formula!r}, or write "
            f"C({absorbed}) with levels="
        )
    request = make_request(
        formula, data, method=method, epsilon=epsilon, delta=delta, bounds=bounds, levels=levels,
        x_new=x_new, neighbors=neighbors, k=options.pop("k", None), options=options,
        weights=weights, trim_weights=trim_weights, unit=unit, max_rows=max_rows, cluster=cluster,
    )  # fmt: skip
    if request.unbounded:
        raise ArgumentError(
            f"expected bounds for {', '.join(request.unbounded)}, as in "
            f'bounds={{"{request.unbounded[0]}": (low, high)}}'
        )
    return request
