"""Define ``dpstats logit``, ``poisson``, ``iv`` and ``describe``, and what fits have in common."""

from functools import partial
from pathlib import Path
from typing import Any

from dpstats import dp_describe, dp_iv, dp_logit, dp_poisson
from dpstats.call.unsupported import check_order
from dpstats.cli import data_options
from dpstats.cli.outputs import (
    check_documents,
    checked_outputs,
    draw,
    draw_figure,
    save_frame,
    write,
)
from dpstats.cli.values import group_columns, groups, listed_numbers, options, points
from dpstats.errors import ArgumentError

# How a description is written, by the ending of its file: as a file or as a text.
_WRITERS = {".csv": "to_csv", ".docx": "to_word", ".xlsx": "to_excel"}
_FORMS = {
    ".json": "to_json", ".txt": "summary", ".tex": "to_latex", ".html": "to_html",
    ".md": "to_markdown",
}  # fmt: skip


# What rows count for, of every verb.
_COUNTING = ("weights", "trim_weights", "unit", "max_rows")


def add_rows(add) -> None:
    """Add the options on rows, points and the method that fits have."""
    lists = data_options.LISTS
    add("--x-new", **lists, metavar="[COL=]V,V", help="public points to predict at")
    add_errors(add)


def add_errors(add) -> None:
    """Add what rows count for, and the options of the method, such as that of standard errors."""
    _add_counting(add)
    add("--cluster", metavar="COL", help="clusters of errors, with --option cov_type=cluster")
    add("--option", **data_options.LISTS, metavar="NAME=VALUE", help="option of the method")


def _add_counting(add) -> None:
    add("--weights", metavar="COL", help="column of weights, which needs public --bounds")
    add("--trim-weights", type=float, metavar="W", help="count larger weights as this")
    add("--unit", metavar="COL", help="persons, protected with all of their rows")
    add("--max-rows", type=int, metavar="N", help="rows that a person counts for in all: 1")


def of_rows(arguments, table, factors) -> dict:
    """Build the keyword arguments of :func:`add_rows`."""
    at = points(arguments.x_new, arguments.formula, table, factors)
    return of_errors(arguments) | {"x_new": at}


def of_errors(arguments) -> dict:
    """Build the keyword arguments of :func:`add_errors`."""
    call = {name: getattr(arguments, name) for name in (*_COUNTING, "cluster")}
    return call | options(arguments.option)


def add_groups(parser, required: bool = False) -> None:
    """Add the options on groups, each with a fit of its own."""
    columns = "column of group labels, or several"
    parser.add_argument("--by", required=required, action="append", metavar="COL,...", help=columns)
    listed = parser.add_mutually_exclusive_group()
    listed.add_argument("--groups", metavar="A,B,...", help="public list of one column's labels")
    lines = "public list of groups, one per line, its labels separated by commas"
    listed.add_argument("--groups-file", metavar="FILE", help=lines)
    most = "groups in which a person's rows are used (default: 1)"
    parser.add_argument("--max-groups", type=int, metavar="N", help=most)
    parser.add_argument(
        "--n-jobs",
        type=int,
        metavar="N",
        help="threads, or processes of methods that fit groups one by one",
    )


def of_groups(arguments, table) -> dict:
    """Build the keyword arguments of :func:`add_groups`."""
    by = None if arguments.by is None else group_columns(arguments.by, table)
    if by is None and arguments.groups_file is not None:
        raise ArgumentError("--groups-file lists the labels of a group column; name it with --by")
    listed = arguments.groups if by is None else groups(arguments, by, table)
    return {"by": by, "groups": listed} | {
        name: getattr(arguments, name) for name in ("max_groups", "n_jobs")
    }


def add_outputs(add, forms: str = ".json or .txt") -> None:
    """Add the files of one fit."""
    add("-o", dest="out", metavar="OUT", help=f"result file: {forms}")
    drawn = "picture of the line, else of the coefficients: .png, .pdf or .svg"
    add("--plot", metavar="OUT", help=drawn)


def show_fit(arguments, outputs: list[Path], result) -> None:
    """Write the files asked for, and print the summary."""
    summary = str(result.summary())
    try:
        if arguments.out and outputs[0].suffix.lower() == ".csv":
            save_frame(result, outputs[0])
        elif arguments.out:
            text = summary if outputs[0].suffix.lower() == ".txt" else result.to_json()
            write(outputs[0], lambda path: path.write_text(text + "\n", encoding="utf-8"))
        if arguments.plot:
            draw(outputs[-1], result.plot)
    finally:  # the budget is spent, so the summary is shown even when a disk is full
        print(summary)


def add_logit(add) -> None:
    """Add the options of ``dpstats logit``."""
    _add_generalized(add, "such as 'smoker ~ age + C(region)'")
    add("--offset", metavar="COL", help="column that is added to the log odds")


def add_poisson(add) -> None:
    """Add the options of ``dpstats poisson``."""
    _add_generalized(add, "such as 'visits ~ age + C(region)'")
    add("--offset", metavar="COL", help="column that is added to the logarithm of the mean")
    add("--exposure", metavar="COL", help="column whose logarithm is, such as person-years")


def _add_generalized(add, example: str) -> None:
    data_options.add_data(add)
    add("formula", metavar="FORMULA", help=example)
    data_options.add_guarantee(add)
    data_options.add_declarations(add)
    add_rows(add)
    add_outputs(add, ".json, .txt or, of groups, .csv")


def logit(arguments) -> None:
    """Fit a logistic regression, or one a group, write the files asked for and print a summary."""
    _fit_generalized(arguments, dp_logit, ["offset"])


def poisson(arguments) -> None:
    """Fit a Poisson regression, or one a group, write the files asked for and print a summary."""
    _fit_generalized(arguments, dp_poisson, ["offset", "exposure"])


def _fit_generalized(arguments, verb: Any, offsets: list[str]) -> None:
    outputs, table, call = _grouped_call(arguments)
    call |= of_rows(arguments, table, call["levels"]) | of_groups(arguments, table)
    call |= {name: getattr(arguments, name) for name in offsets}
    show_fit(arguments, outputs, verb(arguments.formula, table, **call))


def _grouped_call(arguments) -> tuple[list[Path], Any, dict]:
    """Check the files of one fit or one a group; return them, the table and shared arguments."""
    check_order(arguments.formula, arguments.data)
    outputs = checked_outputs(arguments, (".json", ".txt", *[".csv"] * bool(arguments.by)))
    if arguments.by and arguments.plot:
        raise ArgumentError("--plot draws one fit; leave it out with --by")
    return outputs, *data_options.shared_call(arguments)


def add_iv(add) -> None:
    """Add the options of ``dpstats iv``."""
    data_options.add_data(add)
    add("formula", metavar="FORMULA", help="such as 'y ~ x + [d ~ z]', z instruments of d")
    data_options.add_guarantee(add)
    data_options.add_declarations(add)
    add_errors(add)
    add_outputs(add, ".json, .txt or, of groups, .csv")


def iv(arguments) -> None:
    """Fit a regression with instruments, or one a group, write files and print a summary."""
    outputs, table, call = _grouped_call(arguments)
    call |= of_errors(arguments) | of_groups(arguments, table)
    show_fit(arguments, outputs, dp_iv(arguments.formula, table, **call))


def add_describe(add) -> None:
    """Add the options of ``dpstats describe``."""
    data_options.add_data(add)
    add("columns", metavar="COL", nargs="+", help="columns to describe")
    data_options.add_guarantee(add)
    data_options.add_declarations(add)
    add("--by", metavar="COL", help="column of group labels")
    add("--groups", metavar="A,B,...", help="public list of its labels")
    _add_counting(add)
    add("--max-groups", type=int, metavar="N", help="groups in which a person counts: 1")
    add("--quantiles", default="0.25,0.5,0.75", metavar="Q,Q", help="default: quartiles")
    only = "what is needed; n,missing releases these two alone, with all of epsilon"
    add("--statistics", metavar="NAME,...", help=only)
    add("--alpha", type=float, default=0.05, metavar="A", help="one minus the level of intervals")
    add("--histogram", action="store_true", help="add histograms, at no cost")
    add("-o", dest="out", metavar="OUT", help=f"file: {', '.join((*_WRITERS, *_FORMS))}")
    add("--plot", metavar="OUT", help="picture of the histograms: .png, .pdf or .svg")


def describe(arguments) -> None:
    """Describe columns, write the file asked for and print the table."""
    outputs = checked_outputs(arguments, (*_WRITERS, *_FORMS))
    check_documents(outputs)
    table, call = data_options.shared_call(arguments)
    for name in arguments.columns:
        if "," in name and name not in table.columns:
            raise ArgumentError(
                f"expected columns with blanks between them, got {name!r}; write "
                f"{' '.join(name.split(','))}"
            )
    by = arguments.by
    call |= {"by": by, "groups": None, "alpha": arguments.alpha}
    call |= {name: getattr(arguments, name) for name in (*_COUNTING, "max_groups")}
    call["histogram"] = arguments.histogram or arguments.plot is not None
    if arguments.groups is not None:
        call["groups"] = groups(arguments, by, table) if by in table.columns else []
    if arguments.statistics is not None:
        call["statistics"] = [name.strip() for name in arguments.statistics.split(",")]
    call["quantiles"] = listed_numbers(arguments.quantiles, "--quantiles")
    result = dp_describe(table, arguments.columns, **call)
    try:
        if arguments.out:
            write(outputs[0], partial(_write, result, outputs[0].suffix.lower()))
        if arguments.plot:
            draw_figure(outputs[-1], result.plot)
    finally:  # the budget is spent, so the table is shown even when a disk is full
        print(result)


def _write(result, ending: str, path: Path) -> None:
    """Write a description in the form of an ending."""
    if ending in _WRITERS:
        getattr(result, _WRITERS[ending])(path)
    else:
        path.write_text(getattr(result, _FORMS[ending])() + "\n", encoding="utf-8")
