"""Write plans as one page of HTML with a chart, sliders and tables, which needs no network."""

import json
import math
from collections.abc import Mapping
from html import escape
from importlib.resources import files

from dpstats.option_checks import positive
from dpstats.planning.grid import PlanGrid


def page(grid: PlanGrid, remaining=None) -> str:
    """Write the page of a grid of plans.

    Parameters
    ----------
    grid : PlanGrid
        What :func:`dpstats.planning.plan_grid` returns; its numbers are the page's.
    remaining : float, optional
        The epsilon that a budget has left, which becomes a line of the chart.

    Returns
    -------
    str
        HTML whose script, style and numbers are part of it. It asks for nothing from elsewhere.

    Raises
    ------
    ArgumentError
        For a remainder that is not > 0.
    """
    base = grid.plans[grid.declared_rows, 1]
    content = {
        "formula": base.formula,
        "level": f"{100 * (1 - base.alpha):.3g}%",
        "term": grid.term,
        "terms": list(base.truth),
        "remaining": None if remaining is None else positive("remaining")(remaining),
        "rows": grid.rows,
        "start": grid.rows.index(grid.declared_rows),
        "widths": grid.widths,
        "cells": [[_cell(grid, n, width) for width in grid.widths] for n in grid.rows],
        "notes": [*_notes(grid), *grid.left_out],
    }
    parts = {name: (files("dpstats.planning") / name).read_text("utf-8") for name in _PARTS}
    # A text that ends the script element may stand in a formula.
    parts["page.json"] = json.dumps(content, allow_nan=False).replace("<", "\\u003c")
    parts["title"] = escape(f"Plan of {base.formula}")
    html = parts.pop("page.html")
    for name, text in parts.items():
        html = html.replace(f"{{{{{name}}}}}", text)
    return html


_PARTS = ("page.html", "page.css", "page.js")


def _cell(grid: PlanGrid, n: int, width: float) -> dict:
    """Return the interval widths of one plan by method, term and epsilon, and its call."""
    plan, ols = grid.plans[n, width], {}
    methods: dict[str, dict[str, list]] = {}
    for each in plan.forecasts:
        if each.term not in plan.truth:
            continue  # a prediction point
        if math.isinf(each.epsilon):
            ols[each.term] = _number(each.width)
        else:
            points = methods.setdefault(each.method, {}).setdefault(each.term, [])
            points.append([each.epsilon, _number(each.width)])
    return {"methods": methods, "ols": ols, "call": _call(plan.formula, grid.calls[n, width])}


def _number(width: float) -> float | str | None:
    """Return a width as JSON has it: a text where it is infinite, null where there is none."""
    if math.isnan(width):
        return None
    return "unbounded" if math.isinf(width) else width


def _call(formula: str, arguments: Mapping) -> str:
    """Write the call of dpstats.plan that gives these numbers."""
    given = ", ".join(f"{name}={value!r}" for name, value in arguments.items() if value)
    return f"dp.plan({formula!r}, {given})"


def _notes(grid: PlanGrid) -> list[str]:
    """Explain the numbers, the assumptions, and why some are missing."""
    base = grid.plans[grid.declared_rows, 1]
    notes = [note for note in base.notes() if not note.startswith("Not shown")]
    return [note for note in notes if not note.startswith("error:")]
