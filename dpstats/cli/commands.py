"""Define the commands: their options and the functions they run."""

import argparse
import re
import textwrap
from collections.abc import Collection
from pathlib import Path

from dpstats import METHODS, __version__, audit, dp_ols
from dpstats.call.unsupported import (
    INSTEAD,
    INSTEAD_IV,
    INSTEAD_LOGIT,
    INSTEAD_POISSON,
    LEAST_SQUARES,
    check_order,
)
from dpstats.cli import data_options, ledgers, planning, verbs
from dpstats.cli.demo import demo
from dpstats.cli.outputs import checked_outputs, draw, save_frame
from dpstats.cli.values import options
from dpstats.engines import AnyTable
from dpstats.engines.columns import UNTYPED
from dpstats.errors import ArgumentError
from dpstats.formula import Formula
from dpstats.selection import SELECTORS
from dpstats.spelling import nearest


class _Parser(argparse.ArgumentParser):
    """Parse arguments, and raise ArgumentError where argparse would exit."""

    def parse_known_args(self, args=None, namespace=None):
        """Parse all arguments, and say what there is instead of those that a command has not."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            words = " ".join(unknown)
            instead = _instead(words, found.run, self._option_string_actions)
            if not words.startswith("-") and hasattr(found, "formula"):
                instead = "; put the formula in quotes, 'y ~ x'"
            raise ArgumentError(f"unrecognized arguments: {words}{instead}")
        return found, unknown

    def error(self, message):
        """Raise ArgumentError with argparse's message and what there is instead."""
        chosen = re.fullmatch(r"argument COMMAND: invalid choice: '(\w+)'.*", message)
        known = chosen and chosen[1].lower() in LEAST_SQUARES
        raise ArgumentError(message + "; write dpstats fit DATA 'y ~ x' --epsilon 1" * bool(known))


def _instead(words: str, run, known: Collection[str]) -> str:
    """Say what there is instead of options of other programs or misspelt ones, "" of others.

    >>> _instead("--person id", None, ())  # doctest: +ELLIPSIS
    '; --person: name their column, unit="person", which protects ...'
    >>> _instead("--epsylon 1", None, ["--epsilon"])
    '; did you mean --epsilon?'
    """
    if words.startswith("--by") and run is _fit:
        return "; `dpstats by` fits one regression a group"
    for option in re.findall(r"--([\w-]+)", words):
        name = option.replace("-", "_")
        if name == "budget" and "--ledger" in known:
            return "; a budget is kept in a ledger here, --ledger FILE"
        instead = _OTHERS.get(run, INSTEAD).get(name)
        if instead and name != "ledger":  # which is no option of commands that spend nothing
            return f"; --{option}: {instead}"
        if "--option" in known and any(name in method.options for method in METHODS.values()):
            return f"; write --option {name}=VALUE"
        if near := nearest(f"--{option}", known):
            return f"; did you mean {near}?"
    return ""


def parser() -> _Parser:
    """Build the parser of all commands."""
    parser = _Parser(
        prog="dpstats",
        description="Differentially private regressions and tables.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"dpstats {__version__}")
    parser.set_defaults(run=lambda arguments: parser.print_help())
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    _add_fit(commands)
    _add_by(commands)
    fitted = _command(commands, "logit", verbs.logit, "fit one logistic regression")
    verbs.add_logit(fitted.add_argument)
    verbs.add_groups(fitted)
    fitted = _command(commands, "poisson", verbs.poisson, "fit one Poisson regression of counts")
    verbs.add_poisson(fitted.add_argument)
    verbs.add_groups(fitted)
    fitted = _command(commands, "iv", verbs.iv, "fit one regression with instruments")
    verbs.add_iv(fitted.add_argument)
    verbs.add_groups(fitted)
    described = _command(commands, "describe", verbs.describe, "describe columns: Table 1")
    described.set_defaults(groups_file=None)
    verbs.add_describe(described.add_argument)
    planning.add_options(_command(commands, "plan", None, planning.PURPOSE))
    ledgers.add_commands(_command(commands, "ledger", None, ledgers.PURPOSE))
    ledgers.add_run(_command(commands, "run", ledgers.run, ledgers.RUN).add_argument)
    checked = _command(commands, "verify", ledgers.verify, ledgers.VERIFY)
    checked.add_argument("record", metavar="DIR", help="a release record")
    _command(commands, "methods", _methods, "list the methods")
    _add_audit(commands)
    shown = _command(commands, "demo", demo, "111 small regressions on fictitious people")
    shown.add_argument("--out", metavar="DIR", default="out", help="folder for cells.csv and .png")
    shown.add_argument("--epsilon", type=float, default=16.0, help="for each cell (default: 16)")
    return parser


def _command(commands, name: str, run, text: str) -> _Parser:
    """Add a command that runs a function."""
    parser = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
    parser.set_defaults(run=run)
    return parser


def _add_fit(commands) -> None:
    """Add the command ``fit``."""
    parser = _command(commands, "fit", _fit, "fit one regression and print its summary")
    _add_model(parser)
    verbs.add_outputs(parser.add_argument)


def _add_by(commands) -> None:
    """Add the command ``by``."""
    parser = _command(commands, "by", _by, "fit one regression per group")
    _add_model(parser)
    verbs.add_groups(parser, required=True)
    parser.add_argument("-o", dest="out", metavar="OUT", required=True, help="tidy table: .csv")
    parser.add_argument("--plot", metavar="OUT", help="p25 against p75: .png, .pdf or .svg")


def _add_model(parser: _Parser) -> None:
    """Add the options that ``fit`` and ``by`` share."""
    add = parser.add_argument
    data_options.add_data(add)
    add("formula", metavar="FORMULA", help="such as 'y ~ x1 + C(region)'")
    add("--method", default="auto", metavar="M", help="a name that `dpstats methods` lists")
    data_options.add_guarantee(add)
    data_options.add_declarations(add)
    verbs.add_rows(add)
    add("--row-norm", type=float, metavar="R", help="bound on the norm of a design row")
    add("--select", metavar="S", help=f"keep the best terms only: {' or '.join(SELECTORS)}")
    add("--k", type=int, metavar="K", help="how many terms to keep")
    add("--select-share", type=float, metavar="P", help="fraction of the budget for it: 0.05")
    add("--companion", metavar="M", help="take intervals from an auxiliary fit by M")
    add("--companion-share", type=float, metavar="P", help="fraction of the budget for it: 0.5")


def _add_audit(commands) -> None:
    """Add the command ``audit``."""
    parser = _command(commands, "audit", _audit, "try to refute a method's guarantee by experiment")
    add = parser.add_argument
    add("method", metavar="M", help="a name that `dpstats methods` lists")
    add("--epsilon", type=float, default=1.0, metavar="E", help="the claim (default: 1)")
    add("--delta", type=float, metavar="D", help="default: 0, or 1e-6 where a method needs one")
    add("--trials", type=int, default=1000, metavar="N", help="releases a side (default: 1000)")
    add("--regressors", type=int, default=1, metavar="N", help="of synthetic tables (default: 1)")
    add("--neighbors", metavar="REL", help="add_remove or replace_one")
    add("--unit", metavar="NAME", help="tables that differ in all rows of a person, so called")
    add("--max-rows", type=int, metavar="N", help="rows that those of a person count for")
    add(
        "--outcomes", type=int, default=1, metavar="N", help="responses of one release (default: 1)"
    )
    add("--option", action="append", default=[], metavar="NAME=VALUE", help="option of the method")


def _fit(arguments) -> None:
    """Fit one regression, write the files asked for and print the summary."""
    outputs, table, call = _call(arguments, (".json", ".txt"))
    result = dp_ols(arguments.formula, table, **call)
    verbs.show_fit(arguments, outputs, result)


def _by(arguments) -> None:
    """Fit one regression per group, write the table and print the summary."""
    outputs, table, call = _call(arguments, (".csv",))
    call |= verbs.of_groups(arguments, table)
    if arguments.plot:
        _check_line(arguments, table, call)
    result = dp_ols(arguments.formula, table, **call)
    try:
        save_frame(result, outputs[0])
        if arguments.plot:
            draw(outputs[-1], result.plot)
    finally:
        print(result.summary())


def _audit(arguments) -> None:
    """Audit a method and print the result."""
    names = ("epsilon", "delta", "trials", "neighbors", "unit", "max_rows", "outcomes")
    call = {name: getattr(arguments, name) for name in names}
    call |= options(arguments.option)
    print(audit(arguments.method, d=arguments.regressors, **call))


def _call(arguments, endings: tuple[str, ...]) -> tuple[list[Path], AnyTable, dict]:
    """Check the outputs, open the data and build the keyword arguments of ``fit`` and ``by``."""
    check_order(arguments.formula, arguments.data)
    outputs = checked_outputs(arguments, endings)
    table, call = data_options.shared_call(arguments)
    call |= {
        "method": arguments.method,
        "row_norm": arguments.row_norm,
        "select": arguments.select,
        "k": arguments.k,
        "select_share": arguments.select_share,
        "companion": arguments.companion,
        "companion_share": arguments.companion_share,
    }
    return outputs, table, call | verbs.of_rows(arguments, table, call["levels"])


def _check_line(arguments, table: AnyTable, call) -> None:
    """Raise ArgumentError for a picture that could not be drawn from the result."""
    formula = Formula.parse(arguments.formula)
    if formula.absorbed is not None:
        raise ArgumentError(f"--plot draws predictions, which | {formula.absorbed} leaves out")
    method = METHODS.get(arguments.method)
    ranged = method is None or method.ranges.needed or {*formula.predictors} <= {*call["bounds"]}
    numeric = ranged and [
        name
        for name in formula.predictors
        if table.kind(name) in ("number", "integer", *UNTYPED)
        and name not in {*formula.categorical, *call["levels"]}
    ]
    if len(formula.predictors) != 1 or not numeric or arguments.row_norm is not None:
        raise ArgumentError("--plot needs a formula with one numeric regressor and its bounds")
    if arguments.x_new:
        raise ArgumentError("--plot draws p25 against p75; leave out --x-new")


_OTHERS = {
    verbs.logit: INSTEAD_LOGIT,
    verbs.poisson: INSTEAD_POISSON,
    verbs.iv: INSTEAD_IV,
    verbs.describe: {},
}
_GUARANTEES = {"pure": "epsilon", "zcdp": "rho = epsilon^2 / 2"}


def _methods(arguments) -> None:
    """Print the table of methods."""
    rows = [
        [
            method.name,
            _GUARANTEES.get(method.guarantee, "epsilon, delta"),
            ", ".join(method.neighbors),
            method.standard_errors,
            method.paper,
            ", ".join(map(_default, method.options.items())) or "-",
        ]
        for method in METHODS.values()
    ]
    headers = ["method", "guarantee", "neighbours", "standard errors", "paper", "--option"]
    print(_table(headers, rows, [16, 10, 12, 30, 16, 20]))


def _default(option) -> str:
    """Write an option of a method with its default."""
    name, (value, _) = option
    return f"{name}={','.join(map(str, value)) if isinstance(value, tuple) else value}"


def _table(headers: list[str], rows: list[list[str]], widths: list[int]) -> str:
    """Align cells in columns of these widths, wrapped between words; long words widen theirs."""
    columns = zip(*[headers, *rows], strict=True)
    words = [[len(word) for cell in column for word in cell.split()] for column in columns]
    widths = [max(width, *lengths) for width, lengths in zip(widths, words, strict=True)]
    lines = []
    for row in [headers, *rows]:
        cells = [textwrap.wrap(cell, width) for cell, width in zip(row, widths, strict=True)]
        for i in range(max(map(len, cells))):
            parts = [cell[i] if i < len(cell) else "" for cell in cells]
            padded = [part.ljust(width) for part, width in zip(parts, widths, strict=True)]
            lines.append("  ".join(padded).rstrip())
        lines.append("")
    return "\n".join(lines[:-1])
