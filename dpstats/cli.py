"""The command line: ``dpstats fit | by | methods | audit | demo``.

Everything that can be wrong with a call is found before any budget is spent, and said in
one line on stderr with exit code 2.
"""

import argparse
import inspect
import os
import re
import sys
import tempfile
import textwrap
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pandas as pd

from dpstats import METHODS, __version__, audit, datasets, dp_ols
from dpstats.engines.files import READERS, read
from dpstats.engines.frames import Table
from dpstats.engines.output import replacing
from dpstats.errors import ArgumentError, DPStatsError, InternalError
from dpstats.evaluate import ols_reference
from dpstats.formula import Formula
from dpstats.plot import comparison
from dpstats.privacy import validate_guarantee
from dpstats.selection import SELECTORS

_PICTURES = (".png", ".pdf", ".svg")
# The package's messages name Python arguments; on a command line they are options.
_WORDING = (
    (r"""\bbounds=\{(['"])(.+?)\1: \(low, high\)\}""", r"--bounds '\2=low,high'"),
    (r"""\blevels=\{(['"])(.+?)\1: \[\.\.\.\]\}""", r"--levels '\2=a,b,...'"),
    (r"""\b(bounds|levels)\[(['"])(.+?)\2\]""", r"--\1 \3"),
    (r'\bmethod="(\w+)"', r"--method \1"),
    (r"\b(bounds|neighbors|levels|select|k)=", r"--\1 "),
    (r"\bselect_share\b", "--select-share"),
    (r"\bx_new\b", "--x-new"),
    (r"\brow_norm\b", "--row-norm"),
    (r" or a Categorical column", ""),
    (r"give a mapping or a data frame with it", "add it with --x-new"),
)


class _Parser(argparse.ArgumentParser):
    """argparse with this program's way of refusing."""

    def error(self, message):
        raise ArgumentError(message)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments after the program's name; by default those of the process.

    Returns
    -------
    int
        0 when it worked, 2 for a call that cannot be served, 130 after Ctrl-C and 1 for a
        defect of this package.

    Examples
    --------
    >>> main(["--version"])
    dpstats 0.1.0
    0
    """
    try:
        arguments = _parser().parse_args(_joined(sys.argv[1:] if argv is None else argv))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            arguments.run(arguments)
        sys.stdout.flush()
        return 0
    except SystemExit as stop:  # --help and --version
        return stop.code or 0
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    except BrokenPipeError:
        # As after `dpstats ... | head`: nobody reads, and closing stdout must not complain.
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except InternalError as error:
        return _fail(str(error), 1)
    except DPStatsError as error:
        return _fail(_in_options(str(error)), 2)
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}", 2)
    except Exception as error:  # a traceback could quote the data
        return _fail(f"stopped with {type(error).__name__}, a defect of dpstats", 1)


def _fail(message: str, code: int) -> int:
    print(f"dpstats: error: {' '.join(message.split())}", file=sys.stderr)
    return code


def _in_options(message: str) -> str:
    for pattern, replacement in _WORDING:
        message = re.sub(pattern, replacement, message)
    return message


def _joined(argv: Sequence[str]) -> list[str]:
    """Write ``--x-new -1,2`` as ``--x-new=-1,2``, which argparse would take for two options."""
    joined: list[str] = []
    for argument in argv:
        after_option = joined and re.fullmatch(r"--[a-z-]+", joined[-1])
        if after_option and re.match(r"-[\d.]", argument):
            joined[-1] += f"={argument}"
        else:
            joined.append(argument)
    return joined


def _parser() -> _Parser:
    parser = _Parser(
        prog="dpstats",
        description="Differentially private linear regression.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"dpstats {__version__}")
    parser.set_defaults(run=lambda arguments: parser.print_help())
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    _add_fit(commands)
    _add_by(commands)
    _command(commands, "methods", _methods, "list the methods")
    _add_audit(commands)
    demo = _command(commands, "demo", _demo, "111 small regressions on fictitious people")
    demo.add_argument("--out", metavar="DIR", default="out", help="folder for cells.csv and .png")
    demo.add_argument("--epsilon", type=float, default=16.0, help="for each cell (default: 16)")
    return parser


def _add_audit(commands) -> None:
    parser = _command(commands, "audit", _audit, "try to refute a method's guarantee by experiment")
    add = parser.add_argument
    add("method", metavar="M", help="a name that `dpstats methods` lists")
    add("--epsilon", type=float, default=1.0, metavar="E", help="the claim (default: 1)")
    add("--delta", type=float, metavar="D", help="default: 0, or 1e-6 where a method needs one")
    add("--trials", type=int, default=1000, metavar="N", help="releases a side (default: 1000)")
    add("--regressors", type=int, default=1, metavar="N", help="of the made-up tables (default: 1)")
    add("--neighbors", metavar="REL", help="add_remove or replace_one")
    add("--option", action="append", default=[], metavar="NAME=VALUE", help="option of the method")


def _audit(arguments) -> None:
    names = ("epsilon", "delta", "trials", "neighbors")
    call = {name: getattr(arguments, name) for name in names}
    options = _options(arguments.option)
    print(audit(arguments.method, d=arguments.regressors, **call, **options))


def _command(commands, name: str, run, text: str) -> _Parser:
    parser = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
    parser.set_defaults(run=run)
    return parser


def _add_fit(commands) -> None:
    parser = _command(commands, "fit", _fit, "fit one regression and print its summary")
    _add_model(parser)
    parser.add_argument("-o", dest="out", metavar="OUT", help="result file: .json or .txt")
    parser.add_argument("--plot", metavar="OUT", help="picture of the line: .png, .pdf or .svg")


def _add_by(commands) -> None:
    parser = _command(commands, "by", _by, "fit one regression a group")
    _add_model(parser)
    parser.add_argument("--by", required=True, metavar="COL", help="column of group labels")
    listed = parser.add_mutually_exclusive_group()
    listed.add_argument("--groups", metavar="A,B,...", help="public list of group labels")
    listed.add_argument("--groups-file", metavar="FILE", help="the same, one label a line")
    parser.add_argument("-o", dest="out", metavar="OUT", required=True, help="tidy table: .csv")
    parser.add_argument("--plot", metavar="OUT", help="p25 against p75: .png, .pdf or .svg")


def _add_model(parser: _Parser) -> None:
    add = parser.add_argument
    add("data", metavar="DATA", help=f"a file ending in {', '.join(READERS)}")
    add("formula", metavar="FORMULA", help="such as 'y ~ x1 + C(region)'")
    add("--method", required=True, metavar="M", help="a name that `dpstats methods` lists")
    add("--epsilon", required=True, type=float, metavar="E", help="privacy loss, > 0")
    add("--delta", type=float, metavar="D", help="default: 0, or 1e-6 where a method needs one")
    lists = {"action": "append", "default": []}
    add("--bounds", **lists, metavar="COL=LOW,HIGH", help="public range; repeat for each column")
    add("--levels", **lists, metavar="COL=A,B,...", help="public levels of a categorical column")
    add("--x-new", **lists, metavar="[COL=]V,V", help="public points to predict at")
    add("--row-norm", type=float, metavar="R", help="bound on the norm of a design row")
    add("--neighbors", metavar="REL", help="add_remove or replace_one")
    add("--select", metavar="S", help=f"keep the best terms only: {' or '.join(SELECTORS)}")
    add("--k", type=int, metavar="K", help="how many terms to keep")
    add("--select-share", type=float, metavar="P", help="share of the budget for it: 0.05")
    add("--option", **lists, metavar="NAME=VALUE", help="option of the method")


def _fit(arguments) -> None:
    outputs = _outputs(arguments, (".json", ".txt"))
    table, call = _call(arguments)
    if arguments.plot:
        _check_line(arguments, table, call)
    result = dp_ols(arguments.formula, table, **call)
    summary = str(result.summary())
    try:
        if arguments.out:
            text = summary if outputs[0].suffix.lower() == ".txt" else result.to_json()
            _write(outputs[0], lambda beside: beside.write_text(text + "\n", encoding="utf-8"))
        if arguments.plot:
            _draw(outputs[-1], result.plot)
    finally:  # what has been paid for is shown even when a disk is full
        print(summary)


def _by(arguments) -> None:
    outputs = _outputs(arguments, (".csv",))
    table, call = _call(arguments)
    groups = _groups(arguments, table)
    if arguments.plot:
        _check_line(arguments, table, call)
    result = dp_ols(arguments.formula, table, by=arguments.by, groups=groups, **call)
    try:
        _write(outputs[0], lambda beside: result.frame.to_csv(beside, index=False))
        if arguments.plot:
            _draw(outputs[-1], result.plot)
    finally:
        print(result.summary())


def _call(arguments) -> tuple[Table, dict]:
    """The data, and the keyword arguments of dp_ols that both commands share."""
    table = Table.from_data(read(arguments.data))
    levels = _pairs(arguments.levels, "--levels", "column=a,b,...")
    call = {
        "method": arguments.method,
        "epsilon": arguments.epsilon,
        "delta": arguments.delta,
        "bounds": _bounds(arguments.bounds),
        "levels": {name: _values(table, name, texts) for name, texts in levels.items()},
        "x_new": _x_new(arguments.x_new, arguments.formula, table),
        "row_norm": arguments.row_norm,
        "neighbors": arguments.neighbors,
        "select": arguments.select,
        "k": arguments.k,
        "select_share": arguments.select_share,
    }
    return table, call | _options(arguments.option)


def _pairs(texts: list[str], option: str, form: str) -> dict[str, list[str]]:
    """``name=a,b`` as name to values; the last = counts, since a term may hold others."""
    pairs: dict[str, list[str]] = {}
    for text in texts:
        name, _, values = text.rpartition("=")
        if not name or "" in (parts := [part.strip() for part in values.split(",")]):
            raise ArgumentError(f"expected {option} {form}, got {text!r}")
        if name in pairs:
            raise ArgumentError(f"{option} names {name} twice")
        pairs[name] = parts
    return pairs


def _bounds(texts: list[str]) -> dict[str, tuple[float, float]]:
    bounds = {}
    for name, values in _pairs(texts, "--bounds", "column=low,high").items():
        numbers = [_number(value) for value in values]
        if len(numbers) != 2 or None in numbers:
            given = f"{name}={','.join(values)}"
            raise ArgumentError(f"expected --bounds column=low,high, got {given!r}")
        bounds[name] = tuple(numbers)
    return bounds


def _number(text: str) -> int | float | None:
    for convert in (int, float):
        with suppress(ValueError):
            return convert(text)
    return None


def _values(table: Table, column: str, texts: list[str]) -> list:
    """Texts as values of a column: numbers where its type says so."""
    kind, declared = table.kind(column), table.levels(column)
    if kind == "bool":
        truth = {"true": True, "false": False}
        values = [truth.get(text.lower(), _number(text)) for text in texts]
    elif kind == "numeric" or (declared and not any(isinstance(d, str) for d in declared)):
        values = [_number(text) for text in texts]
    else:
        return texts
    if None in values:
        raise ArgumentError(
            f"column {column} holds {'numbers' if kind != 'bool' else 'true and false'}, "
            f"got {texts[values.index(None)]!r}"
        )
    return values


def _x_new(texts: list[str], formula: str, table: Table) -> pd.DataFrame | None:
    """Prediction points, labelled by their values as typed."""
    if not texts:
        return None
    predictors = Formula.parse(formula).predictors
    if len(texts) == 1 and "=" not in texts[0]:
        if len(predictors) != 1:
            names = ", ".join(predictors)
            raise ArgumentError(f"expected --x-new column=value for each of {names}")
        texts = [f"{predictors[0]}={texts[0]}"]
    pairs = _pairs(texts, "--x-new", "column=value,value")
    if len({len(values) for values in pairs.values()}) > 1:
        raise ArgumentError("expected --x-new to give every column as many values")
    points = zip(*pairs.values(), strict=True)
    labels = [" ".join(map("=".join, zip(pairs, point, strict=True))) for point in points]
    columns = {name: _values(table, name, values) for name, values in pairs.items()}
    return pd.DataFrame(columns, index=labels)


def _options(texts: list[str]) -> dict:
    """Options of the method, as numbers or ranges of numbers where they look like it."""
    options = {}
    for name, values in _pairs(texts, "--option", "name=value").items():
        if name != "k" and name in inspect.signature(dp_ols).parameters:
            raise ArgumentError(f"{name} is no --option of a method; see dpstats fit --help")
        numbers = [_number(value) for value in values]
        parsed = tuple(values if None in numbers else numbers)
        options[name] = parsed if len(parsed) > 1 else parsed[0]
    return options


def _groups(arguments, table: Table) -> list | None:
    """The public list of labels, typed as the column is."""
    if arguments.groups is not None:
        texts = arguments.groups.split(",")
    elif arguments.groups_file is not None:
        try:
            texts = Path(arguments.groups_file).read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError):
            raise ArgumentError(f"cannot read {arguments.groups_file}") from None
    else:
        return None
    return _values(table, arguments.by, [text.strip() for text in texts if text.strip()])


def _check_line(arguments, table: Table, call) -> None:
    """Raise ArgumentError for a picture that could not be drawn from the result."""
    formula = Formula.parse(arguments.formula)
    method = METHODS.get(arguments.method)
    ranged = method is None or method.bounded or {*formula.predictors} <= {*call["bounds"]}
    numeric = ranged and [
        name
        for name in formula.predictors
        if table.kind(name) == "numeric" and name not in {*formula.categorical, *call["levels"]}
    ]
    if len(formula.predictors) != 1 or not numeric or arguments.row_norm is not None:
        raise ArgumentError("--plot needs a formula with one numeric regressor and its bounds")
    if arguments.run is _by and arguments.x_new:
        raise ArgumentError("--plot draws p25 against p75; leave out --x-new")


def _outputs(arguments, endings: tuple[str, ...]) -> list[Path]:
    """The output paths, once each of them is known to be writable."""
    wanted = [(arguments.out, "-o", endings), (arguments.plot, "--plot", _PICTURES)]
    paths = [_output(*output) for output in wanted if output[0] is not None]
    files = [Path(arguments.data), *paths]
    if len({path.resolve() for path in files}) < len(files):
        raise ArgumentError("expected different files for DATA, -o and --plot")
    if arguments.plot:
        _check_matplotlib()
    return paths


def _output(name: str, option: str, endings: tuple[str, ...]) -> Path:
    path = Path(name)
    if path.is_dir():
        raise ArgumentError(f"{option}: {path} is a folder; name a file in it")
    if not name.lower().endswith(endings):
        raise ArgumentError(f"{option}: expected a name ending in {', '.join(endings)}, got {name}")
    if not path.parent.is_dir():
        raise ArgumentError(f"{option}: there is no folder {path.parent}")
    try:
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise ArgumentError(f"{option}: cannot write {path}: {error.strerror}") from None
    return path


def _check_matplotlib() -> None:
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise ArgumentError("pictures need matplotlib: pip install 'dpstats[plot]'") from None


def _write(path: Path, write) -> None:
    """Let ``write`` make the file, which appears whole or not at all."""
    try:
        with replacing(path) as beside:
            write(beside)
    except OSError as error:
        raise ArgumentError(f"cannot write {path}: {error.strerror}") from None


def _draw(path: Path, draw) -> None:
    """Save the picture that ``draw(axes)`` makes, without opening a window."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 6), layout="constrained", dpi=150)
    draw(figure.subplots())
    _write(path, figure.savefig)


_GUARANTEES = {"pure": "epsilon", "zcdp": "rho = epsilon^2 / 2"}


def _methods(arguments) -> None:
    rows = [
        [
            method.name,
            _GUARANTEES.get(method.guarantee, "epsilon, delta"),
            ", ".join(method.neighbors),
            method.errors,
            method.paper,
            ", ".join(map(_default, method.options.items())) or "-",
        ]
        for method in METHODS.values()
    ]
    headers = ["method", "guarantee", "neighbours", "standard errors", "paper", "--option"]
    print(_table(headers, rows, [16, 10, 12, 30, 16, 20]))


def _default(option) -> str:
    name, (value, _) = option
    return f"{name}={','.join(map(str, value)) if isinstance(value, tuple) else value}"


def _table(headers: list[str], rows: list[list[str]], widths: list[int]) -> str:
    """Text columns of the given widths, wrapped between words."""
    lines = []
    for row in [headers, *rows]:
        cells = [textwrap.wrap(cell, width) for cell, width in zip(row, widths, strict=True)]
        for i in range(max(map(len, cells))):
            parts = [cell[i] if i < len(cell) else "" for cell in cells]
            padded = [part.ljust(width) for part, width in zip(parts, widths, strict=True)]
            lines.append("  ".join(padded).rstrip())
        lines.append("")
    return "\n".join(lines[:-1])


_DEMO = "kid_rank ~ parent_rank"
_DEMO_WARNING = "comparison possible only because these people are fictitious"
_DEMO_HEAD = """\
Income rank of children given the income rank of their parents, one regression in each
of {cells} cells, {people:,} fictitious people; ranks from 0 (lowest income) to 1 (highest).
p25, p75: expected rank of a child whose parents are at rank 0.25, 0.75.
private: exp_theil_sen, epsilon {epsilon:g} for the pair. OLS: not private
({warning}).

                   ------- p25 -------    ------- p75 -------
  cell  people     private    OLS   s.e.    private    OLS   s.e."""


def _demo(arguments) -> None:
    """Private p25 and p75 of 111 cells beside OLS, which the fictitious data allow."""
    epsilon, _ = validate_guarantee(arguments.epsilon, 0.0)
    folder = Path(arguments.out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ArgumentError(f"--out: cannot make {folder}: {error.strerror}") from None
    _check_matplotlib()
    outputs = [_output(str(folder / f"cells{end}"), "--out", (end,)) for end in (".csv", ".png")]
    people = datasets.oi_microdata()
    call = {"by": "cell", "bounds": {"kid_rank": (0, 1), "parent_rank": (0, 1)}}
    result = dp_ols(_DEMO, people, method="exp_theil_sen", epsilon=epsilon, **call)
    reference = ols_reference(_DEMO, people, public=True, **call)
    _write(outputs[0], lambda beside: result.frame.to_csv(beside, index=False))
    _draw(outputs[1], lambda axes: _demo_picture(result, reference, axes))
    print(_demo_text(result, reference, people.groupby("cell").size()))
    print(f"All private estimates are in {outputs[0]}, a picture is in {outputs[1]}.")


def _demo_text(result, reference, sizes) -> str:
    """A few cells from the smallest to the largest, and how many are close to OLS."""
    points = {q: _beside(result, reference, q) for q in ("p25", "p75")}
    lines = [
        _DEMO_HEAD.format(
            cells=len(result), people=sizes.sum(), epsilon=result.privacy.epsilon,
            warning=_DEMO_WARNING,
        )
    ]  # fmt: skip
    by_size = sizes.sort_values(kind="stable").index
    for cell in by_size[[round(q * (len(by_size) - 1) / 6) for q in range(7)]]:
        rows = (frame.loc[cell] for frame in points.values())
        numbers = " ".join(f"{v:10.3f}{o:7.3f}{e:7.3f}" for v, o, e in rows)
        lines.append(f"{cell:6}{sizes[cell]:8}  {numbers}")
    lines += ["", "Private value within one OLS standard error of the OLS value:"]
    for name, chosen in (("all cells", sizes > 0), ("20 people or more", sizes >= 20)):
        near = ", ".join(f"{q} in {_near(frame[chosen])}" for q, frame in points.items())
        lines.append(f"  {name:20}{near}")
    return "\n".join([*lines, ""])


def _beside(result, reference, point: str):
    """Private value, OLS value and OLS standard error of one quantity, by cell."""
    ols = reference[reference["term"] == point].set_index("cell")[["estimate", "std_error"]]
    ols.insert(0, "private", result.predictions[point])
    return ols


def _near(frame) -> str:
    near = (frame["private"] - frame["estimate"]).abs() <= frame["std_error"]
    return f"{near.sum()} of {len(near)}"


def _demo_picture(result, reference, axes) -> None:
    comparison(result, reference, axes)
    axes.set(
        xlabel="p25: child's income rank, parents at rank 0.25 (0 lowest, 1 highest)",
        ylabel="p75: child's income rank, parents at rank 0.75",
        title=f"{len(result)} cells, {result.method}, epsilon {result.privacy.epsilon:g}\n"
        f"({_DEMO_WARNING})",
    )
