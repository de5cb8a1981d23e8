"""Describe a call by public facts, such that equal calls have equal descriptions."""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from dpstats.call.prepared import point_names
from dpstats.call.request import Request, Selection
from dpstats.engines import AnyTable
from dpstats.rows.group_labels import columns_of
from dpstats.schema import Kind

# A longer list of group labels is described by its length and a checksum.
_LISTED = 50
# Kinds of NumPy's scalars that have an equal in Python: the others carry a unit.
_PLAIN = "biufU"


def request_facts(requests: Mapping[str | None, Request], by, groups) -> dict:
    """Describe the formulas of one call and its groups, without reading the rows.

    Returns
    -------
    dict
        ``formula`` and ``method`` as texts for a table, ``source`` as the data's
        :class:`~dpstats.engines.Source`, ``terms`` as the coefficients and predictions that there
        may be, and ``call``: strings, numbers, lists and dicts that hold
        every argument which the release depends on, and what the columns are that it reads.
    """
    first = next(iter(requests.values()))
    formulas = [[name, _of_formula(request)] for name, request in requests.items()]
    grouped = () if by is None else columns_of(by)
    return {
        "formula": "; ".join(text for request in requests.values() for text in request.texts),
        "method": first.method.name,
        "source": first.table.source,
        "terms": [term for request in requests.values() for term in _terms(request)],
        "call": {
            "formulas": formulas,
            "by": plain(by),
            "groups": _labels(groups),
            "group_columns": {name: _type(first.table, name) for name in grouped},
        },
    }


def _terms(request: Request) -> tuple[str, ...]:
    """Name the coefficients and predictions that there may be, before terms are selected."""
    points = ("p25", "p75") if request.x_new is None else point_names(request.x_new)
    return (*request.released_design.names, *points)


def _type(table: AnyTable, column: str) -> dict:
    """Describe a column: its kind, with ``types=``, and the levels that its type declares."""
    levels = {"levels": _labels(table.levels(column)), "ordered": table.ordered(column)}
    return {"kind": table.kind(column), **levels}


def _columns(request: Request) -> dict:
    """Describe the columns that a formula's fit reads, in the formula and beside it."""
    beside = (request.weights, request.unit)
    names = {*request.schema, *(chosen.column for chosen in beside if chosen)}
    names |= {*request.subset.schema} if request.subset else set()
    names |= {*request.offset.schema} if request.offset else set()
    names |= {request.cluster} if request.cluster is not None else set()
    return {name: _type(request.table, name) for name in sorted(names)}


def kinds(schema: Mapping[str, Kind | None]) -> dict:
    """Describe what each variable of a schema may be, None of a number without bounds."""
    return {
        name: {"is": type(kind).__name__, **plain({} if kind is None else vars(kind))}
        for name, kind in schema.items()
    }


def _of_formula(request: Request) -> dict:
    same = ("epsilon", "delta", "neighbors", "unbounded", "row_norm", "column_notes")
    return (
        {name: plain(getattr(request, name)) for name in same}
        | {
            "formula": request.formula.text,
            "dialect": type(request.formula.text).__name__,
            "method": request.method.name,
            "assumptions": list(request.method.assumptions),
            "options": plain(request.options),
            "cost": asdict(request.cost),
            "schema": kinds(request.schema),
            "columns": _columns(request),
            "term_bounds": plain(request.term_bounds),
            "x_new": _points(request.x_new),
            "selection": _selection(request.selection),
        }
        | _rows(request)
    )


def _rows(request: Request) -> dict:
    """Describe how rows are chosen and weighted, where they are; else there are no entries."""
    facts: dict = {}
    if request.weights is not None:
        facts["weights"] = plain(asdict(request.weights))
    if request.unit is not None:
        facts["unit"] = plain(asdict(request.unit))
    if request.cluster is not None:
        facts["cluster"] = request.cluster
    if request.offset is not None:
        facts["offset"] = plain(asdict(request.offset))
    if request.first_stage is not None:
        facts["instruments"] = request.first_stage.formula.text
    if request.outcomes is not None:
        named = zip(request.outcomes.names, request.texts, strict=True)
        facts["outcomes"] = [[plain(name), text] for name, text in named]
    if request.subset is not None:
        text = request.subset.condition.text
        facts["subset"] = {
            "text": str(text),
            "dialect": type(text).__name__,
            "schema": kinds(request.subset.schema),
            "listed": sorted(request.subset.listed),
        }
    return facts


def _points(frame: pd.DataFrame | None) -> dict | None:
    if frame is None:
        return None
    columns = {str(name): plain(list(frame[name])) for name in frame}
    return {"index": plain(list(frame.index)), "columns": columns}


def _selection(selection: Selection | None) -> dict | None:
    if selection is None:
        return None
    return {"by": selection.selector.name, "k": selection.k, "share": selection.share}


def _labels(groups) -> object:
    if groups is None or isinstance(groups, str) or len(groups) <= _LISTED:
        return plain(groups)
    text = json.dumps(plain(groups))
    return {"count": len(groups), "sha256": hashlib.sha256(text.encode()).hexdigest()}


def plain(value) -> Any:
    """Convert the value to JSON types; describe anything else by its type and its text.

    Different values have different descriptions, such as a date and the text that names it.

    >>> from datetime import date
    >>> plain([1, "a", float("nan"), date(2020, 1, 1)])[2:]
    [{'float': 'nan'}, {'date': 'datetime.date(2020, 1, 1)'}]
    """
    if isinstance(value, np.generic) and value.dtype.kind in _PLAIN:
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, np.ndarray):
        value = list(np.atleast_1d(value))
    if isinstance(value, list | tuple | pd.Index | pd.Series):
        return [plain(part) for part in value]
    return {type(value).__name__: repr(value)}
