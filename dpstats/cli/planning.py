"""Run ``dpstats plan``: forecast a fit from options alone, or the tables of a study."""

import argparse
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from dpstats import plan
from dpstats.cli import study_plans
from dpstats.cli.ledgers import opened
from dpstats.cli.outputs import checked_output, checked_outputs, draw, save_frame, write
from dpstats.cli.values import bounds, levels, numbers, options, points
from dpstats.codebook import Schema
from dpstats.engines import Table
from dpstats.errors import ArgumentError
from dpstats.formula import Formula
from dpstats.planning import GroupPlan, Plan, page, plan_grid

PURPOSE = "forecast errors and intervals from guesses, before any budget is spent"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``dpstats plan``."""
    add, lists = parser.add_argument, {"action": "append", "default": []}
    add("formula", metavar="FORMULA", help="such as 'y ~ x1 + C(region)', or a study file: .toml")
    add("--n", metavar="N,...", help="guessed rows; with --by those of each group")
    add("--data", metavar="DATA", help="public stand-in of a study's data, read without privacy")
    add("--by", **lists, metavar="COL,...", help="group columns of one regression per group")
    add("--groups", type=int, metavar="G", help="guessed number of groups of --by, or after |")
    add("--within-share", **lists, metavar="[COL=]W", help="share of variance within groups")
    add("--unit", metavar="COL", help="persons, protected with all of their rows")
    add("--rows-per-person", metavar="M,...", help="guessed mean, or equally common numbers")
    add("--icc", type=float, metavar="R", help="guessed correlation of residuals in one: 0.5")
    add("--cluster", metavar="COL", help="clusters of errors, with --option cov_type=cluster")
    add("--clusters", metavar="C,...", help="guessed number of clusters, or relative sizes")
    add("--max-rows", type=int, metavar="N", help="rows that a person counts for in all: 1")
    add("--max-groups", type=int, metavar="N", help="groups of --by in which a person is used: 1")
    add("--weights", metavar="COL", help="column of weights, which needs public --bounds")
    add("--weights-mean", type=float, metavar="W", help="guessed mean of the weights")
    add("--trim-weights", type=float, metavar="W", help="count larger weights as this")
    add("--option", **lists, metavar="NAME=VALUE", help="of all methods: cov_type=HC1 or cluster")
    add("--methods", metavar="A,B,...", help="names that `dpstats methods` lists (default: auto)")
    add("--epsilon", metavar="E,E,...", help="privacy losses to try")
    add("--target-width", type=float, metavar="W", help="search for the minimum epsilon instead")
    add("--term", metavar="T", help="the term with this interval")
    add("--delta", type=float, metavar="D", help="default: 0, or 1e-6 where a method needs one")
    add("--bounds", **lists, metavar="COL=LOW,HIGH", help="public range; repeat for each column")
    add("--levels", **lists, metavar="COL=A,B,...", help="public levels of a categorical column")
    add("--schema", metavar="FILE", help="bounds and levels of all columns: .toml")
    add("--truth", **lists, metavar="COEF=VALUE", help="guessed coefficient (default: 0)")
    add("--sd", type=float, metavar="S", help="guessed s.d. of the residuals")
    add("--x-sd", **lists, metavar="COL=S", help="guessed s.d. of a normal regressor")
    add("--x-range", **lists, metavar="COL=LOW,HIGH", help="guessed range, within the bounds")
    add("--x-new", **lists, metavar="[COL=]V,V", help="public points to predict at")
    add("--neighbors", metavar="REL", help="add_remove or replace_one")
    runs = "synthetic tables (default: 200), or runs of a study (default: 3 to 9)"
    add("--repetitions", type=int, metavar="N", help=runs)
    add("--alpha", type=float, default=0.05, metavar="A", help="one minus the level of intervals")
    add("--seed", type=int, default=0, metavar="N", help="of the synthetic tables (default: 0)")
    add("-o", dest="out", metavar="OUT", help="tidy table: .csv")
    add("--plot", metavar="OUT", help="picture of the errors: .png, .pdf or .svg")
    add("--html", metavar="OUT", help="page with sliders for rows and bounds: .html")
    add("--n-jobs", type=int, metavar="N", help="processes for that page (default: one a core)")
    add("--ledger", metavar="FILE", help="ledger whose remainder is a line of that page")
    add("--analyst", metavar="NAME", help="whose allocation of the ledger remains")
    parser.set_defaults(run=partial(run, parser))


def run(parser: argparse.ArgumentParser, arguments) -> None:
    """Print the plan, and write its table and its picture if asked to."""
    if study_plans.is_study(arguments.formula):
        epsilon = None if arguments.epsilon is None else _epsilons(arguments.epsilon)
        return study_plans.run(arguments, parser.get_default, epsilon)
    if arguments.n is None:
        raise ArgumentError("the following arguments are required: --n")
    if arguments.data is not None:
        raise ArgumentError("--data is a stand-in for plans of study files: dpstats plan X.toml")
    _plan(arguments)


def _plan(arguments) -> None:
    """Plan one regression."""
    outputs = checked_outputs(arguments, (".csv",))
    if arguments.html:
        forecast = _write_page(arguments)
    elif arguments.ledger or arguments.analyst or arguments.n_jobs is not None:
        raise ArgumentError("--ledger, --analyst and --n-jobs are for the page of --html")
    else:
        forecast = plan(arguments.formula, **_call(arguments))
    if arguments.out:
        save_frame(forecast, outputs[0])
    if arguments.plot:
        draw(outputs[-1], lambda axes: forecast.plot(term=arguments.term, ax=axes))
    print(forecast)


def _write_page(arguments) -> Plan | GroupPlan:
    """Write the page of --html; return the plan at its start."""
    path, call = checked_output(arguments.html, "--html", (".html",)), _call(arguments)
    if arguments.ledger and path.resolve() == Path(arguments.ledger).resolve():
        raise ArgumentError("expected different files for --html and --ledger")
    ledger = opened(arguments)
    remaining = None if ledger is None else ledger.remaining[0]
    if remaining == 0:
        raise ArgumentError("nothing is left in the ledger; plan without --ledger")
    grid = plan_grid(arguments.formula, **call, n_jobs=arguments.n_jobs)
    write(path, lambda beside: beside.write_text(page(grid, remaining), encoding="utf-8"))
    return grid.plans[grid.declared_rows, 1]


def _call(arguments) -> dict:
    """Build the keyword arguments of plan."""
    unchanged = (
        "target_width", "term", "delta", "sd", "neighbors", "alpha", "seed",
        "weights", "weights_mean", "trim_weights", "groups", "unit", "max_rows", "max_groups",
        "icc", "cluster",
    )  # fmt: skip
    by = _columns(arguments.by)
    declared = Schema.of(arguments.schema).updated(
        bounds(arguments.bounds), levels(arguments.levels)
    )
    return (
        {name: getattr(arguments, name) for name in unchanged}
        | options(arguments.option)
        | {
            "repetitions": 200 if arguments.repetitions is None else arguments.repetitions,
            "n": _rows(arguments.n, by),
            "by": by,
            "within_share": _shares(arguments.within_share),
            "rows_per_person": _one_or_more(arguments.rows_per_person, "--rows-per-person", float),
            "clusters": _one_or_more(arguments.clusters, "--clusters", int),
            "methods": _names(arguments.methods),
            "epsilon": None if arguments.epsilon is None else _epsilons(arguments.epsilon),
            "progress": True,
            "bounds": declared.bounds,
            "levels": declared.levels,
            "truth": _values(arguments.truth, "--truth", "coefficient=value"),
            "x_sd": _values(arguments.x_sd, "--x-sd", "column=value"),
            "x_range": numbers(arguments.x_range, "--x-range", "column=low,high", 2),
            "x_new": points(
                arguments.x_new, arguments.formula, _no_rows(arguments.formula, declared.levels)
            ),
        }
    )


def _names(text: str | None) -> list[str] | None:
    """List the methods; without any the plan takes what the fit would."""
    return None if text is None else [name.strip() for name in text.split(",")]


def _rows(text: str, by) -> int | list[int]:
    """Parse a number of rows, or with groups the rows of each."""
    try:
        sizes = [int(part) for part in text.split(",")]
    except ValueError:
        raise ArgumentError(f"expected --n to be a whole number of rows, got {text!r}") from None
    if len(sizes) > 1 and by is None:
        raise ArgumentError(f"--n {text} lists the rows of groups; name their column with --by")
    return sizes[0] if len(sizes) == 1 else sizes


def _one_or_more(text: str | None, option: str, one: type) -> float | list[int] | None:
    """Parse one number of a type, or a list of whole numbers."""
    if text is None:
        return None
    try:
        return one(text) if "," not in text else [int(part) for part in text.split(",")]
    except ValueError:
        kind = "a mean" if one is float else "one number"
        raise ArgumentError(
            f"expected {option} to be {kind} or to list whole numbers, got {text!r}"
        ) from None


def _columns(texts: list[str]) -> str | list[str] | None:
    """List the columns of --by."""
    names = [name.strip() for text in texts for name in text.split(",")]
    return names[0] if len(names) == 1 else names or None


def _shares(texts: list[str]) -> float | dict[str, float] | None:
    """Parse one share for all regressors, or one by column."""
    if len(texts) == 1 and "=" not in texts[0]:
        return _values([f"all={texts[0]}"], "--within-share", "[column=]share")["all"]
    return _values(texts, "--within-share", "column=share") or None


def _epsilons(text: str) -> list[float]:
    """Parse a list of numbers."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ArgumentError(f"expected --epsilon to list numbers, got {text!r}") from None


def _values(texts: list[str], option: str, form: str) -> dict[str, float]:
    """Parse ``name=value``."""
    return {name: value for name, (value,) in numbers(texts, option, form, 1).items()}


def _no_rows(formula: str, declared: Mapping) -> Table:
    """Build a table without rows that has the types of the variables."""
    parsed = Formula.parse(formula)
    levels = {**parsed.levels, **declared}
    return Table.from_data(
        {
            name: pd.Categorical([], levels[name]) if name in levels else np.empty(0)
            for name in parsed.variables
        }
    )
