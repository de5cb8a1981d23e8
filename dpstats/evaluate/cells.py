"""The rows of public data, group by group, as a mechanism would see them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpstats.arguments import make_request
from dpstats.errors import ArgumentError
from dpstats.mechanisms.spec import Problem
from dpstats.request import Request


@dataclass(frozen=True)
class Cells:
    """Rows by group, not private.

    Parameters
    ----------
    labels : tuple
        Group labels, G of them; ``("all",)`` without groups.
    rows : tuple
        (X, y) of each group, shapes (n, S) and (n,), clipped to the bounds.
    names, points : tuple of str
        The S design columns and the q prediction points.
    problem : Problem
        Bounds, intercept and prediction points.
    """

    labels: tuple
    rows: tuple[tuple[np.ndarray, np.ndarray], ...]
    names: tuple[str, ...]
    points: tuple[str, ...]
    problem: Problem

    @classmethod
    def of(cls, request: Request, by: str | None) -> "Cells":
        """Read the complete rows of a request."""
        request = request.gathered(*([] if by is None else [by]))
        design = request.design()
        codes, labels = _groups(request.table, by)
        rows = tuple(_by_group(request, design, codes, len(labels)))
        return cls(labels, rows, design.names, request.point_labels(), request.problem(design))


def declared_public(public, name: str) -> None:
    """Raise ArgumentError unless the caller said in so many words that the rows are public."""
    if public is not True:
        raise ArgumentError(
            f"{name} uses the rows without any protection; pass public=True if they are "
            "public or made up, else use dp_ols"
        )


def request_for(formula, data, *, bounds, levels, x_new, method="adassp", epsilon=1.0, delta=None,
                neighbors=None, options=None) -> Request:  # fmt: skip
    """The request of a private call: it gives the same columns, clipping and points.

    With the default method it only serves to read the rows; its epsilon is never used.
    """
    options = dict(options or {})
    request = make_request(
        formula, data, method=method, epsilon=epsilon, delta=delta, bounds=bounds, levels=levels,
        x_new=x_new, neighbors=neighbors, missing="drop", row_norm=None, k=options.pop("k", None),
        options=options,
    )  # fmt: skip
    if request.unbounded:
        raise ArgumentError(f"expected bounds for {', '.join(request.unbounded)}")
    return request


def _groups(table, by: str | None) -> tuple[np.ndarray, tuple]:
    """Group codes (n,) and labels; a single group without ``by``."""
    if by is None:
        return np.zeros(table.n_rows, dtype=np.int64), ("all",)
    levels = table.levels(by)
    return table.labels(by) if levels is None else (table.codes(by, levels), levels)


def _by_group(request: Request, design, codes: np.ndarray, count: int) -> Iterator:
    """(X, y) of the complete rows, group by group."""
    X, y, group = (np.concatenate(part) for part in zip(*request.rows(design, codes), strict=True))
    order = np.argsort(group, kind="stable")
    edges = np.searchsorted(group[order], np.arange(count + 1))
    for start, stop in zip(edges[:-1], edges[1:], strict=True):
        rows = order[start:stop]
        yield X[rows], y[rows]
