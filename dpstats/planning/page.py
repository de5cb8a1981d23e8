"""Write plans as one page of HTML with a chart, sliders and tables, which needs no network."""

import json
import math
import re
from collections.abc import Mapping
from html import escape
from importlib.resources import files

import pandas as pd

from dpstats.option_checks import positive
from dpstats.planning.grid import PlanGrid
from dpstats.planning.result import Plan


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
        "notes": [*base.grounds(), *grid.left_out],
    }
    return filled("page", content, f"Plan of {base.formula}")


def filled(name: str, content: Mapping, title: str) -> str:
    """Fill the page ``NAME.html`` with its script, the style, the title and its numbers."""
    found = {part: (files("dpstats.planning") / part).read_text("utf-8")
             for part in (f"{name}.html", f"{name}.js", *_SHARED)}  # fmt: skip
    # A text that ends the script element may stand in a formula.
    found["page.json"] = json.dumps(content, allow_nan=False).replace("<", "\\u003c")
    found["title"] = escape(title)
    return re.sub(r"\{\{([\w.]+)\}\}", lambda part: found[part[1]], found[f"{name}.html"])


_SHARED = ("page.css", "drawing.js")


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
    call = _call(plan.formula, grid.calls[n, width])
    return {"methods": methods, "ols": ols, "call": call, "accuracy": f"{_counted(plan)}."}


def _counted(plan: Plan) -> str:
    """Say of how many tables the medians of a plan are, and how unsure that leaves them."""
    fewest = "" if plan.fewest == plan.repetitions else f"{plan.fewest} to "
    tables = f"{fewest}{plan.repetitions} synthetic tables"
    if not math.isfinite(plan.width_error):
        return f"Here the medians are of {tables}, and some are not known"
    return f"Here the medians are of {tables}; {plan.accuracy.removeprefix('median ')}"


def _number(width: float) -> float | str | None:
    """Return a width as JSON has it: a text where it is infinite, null where there is none."""
    if math.isnan(width):
        return None
    return "unbounded" if math.isinf(width) else width


def _call(formula: str, arguments: Mapping) -> str:
    """Write the call of dpstats.plan that gives these numbers."""
    shown = {name: _code(value) for name, value in arguments.items() if value is not None}
    return f"dp.plan({formula!r}, {', '.join(f'{name}={text}' for name, text in shown.items())})"


def _code(value) -> str:
    """Write a value as Python; the index of a frame labels its points."""
    if not isinstance(value, pd.DataFrame):
        return repr(_plain(value))
    return f"pd.DataFrame({value.to_dict('list')!r}, index={value.index.tolist()!r})"


def _plain(value):
    """Convert arrays and their elements, also within containers, to Python's lists and numbers."""
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value.tolist() if hasattr(value, "tolist") else value
