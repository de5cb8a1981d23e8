"""Exchange one cell in any source and role, and check that nothing else changes."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

import dpstats as dp
from dpstats.call.arguments import make_request
from dpstats.engines.open_table import open_table
from dpstats.estimators import GENERALIZED
from dpstats.rows.group_labels import group_rows
from tests.checks.replay import Violation
from tests.checks.sources import CELLS, SOURCES, TYPES, Source

UNIT = {"x": (0, 1), "y": (0, 1)}
STATUSES = {"ok", "imprecise", "too_few_rows", "not_identified", "clipped"}


@dataclass(frozen=True)
class Role:
    """What the column c is for: the contents that suit it, and the arguments of the call."""

    contents: tuple[str, ...]
    arguments: Callable[[str], dict]
    labels_shown: bool = False  # which are then public, and named in the report


def _public(content: str) -> list:
    """Levels or groups that are declared; one of them is in no row."""
    labels = {"real": 99.5, "whole": 99, "text": "w"}
    return [*CELLS[content], *([labels[content]] if content in labels else [])]


def _numeric(formula: str, *others: str) -> Callable[[str], dict]:
    bounds = {name: (0, 3) for name in ("c", *others)}
    return lambda content: {"formula": formula, "bounds": bounds}


VERBS = {"noisy_logit": dp.dp_logit, "noisy_poisson": dp.dp_poisson}
ROLES = {
    "response": Role(("real", "whole"), _numeric("c ~ x", "x")),
    "outcome": Role(
        ("real", "whole", "flag"),
        lambda content: {"formula": "c ~ x", "bounds": {"x": (0, 1)}, "method": "noisy_logit"},
    ),
    "outcome of two levels": Role(
        ("text",),
        lambda content: {
            "formula": "c ~ x",
            "bounds": {"x": (0, 1)},
            "method": "noisy_logit",
            "levels": {"c": CELLS["text"]},
        },
    ),
    "count": Role(
        ("real", "whole", "flag"),
        lambda content: {"formula": "c ~ x", "bounds": {"x": (0, 1)}, "method": "noisy_poisson"},
    ),
    "regressor": Role(("real", "whole"), _numeric("y ~ x + c", "x", "y")),
    "transformed": Role(("real", "whole"), _numeric("y ~ x + np.exp(c)", "x", "y")),
    "factor": Role(
        tuple(CELLS),
        lambda content: {"formula": "y ~ x + C(c)", "levels": {"c": _public(content)}},
    ),
    "absorbed": Role(tuple(CELLS), lambda content: {"formula": "y ~ x | c"}),
    "weight": Role(
        ("real", "whole"), lambda content: {**_numeric("y ~ x", "x", "y")(content), "weights": "c"}
    ),
    "offset": Role(
        ("real", "whole"),
        lambda content: {
            "formula": "I((y > 0.5) * 1) ~ x",
            "bounds": {"x": (0, 1), "y": (0, 1), "I((y > 0.5) * 1)": (0, 1)},
            "offset": "c",
            "method": "noisy_logit",
        },
    ),
    "exposure": Role(
        ("real", "whole"),
        lambda content: {"formula": "y ~ x", "exposure": "c", "method": "noisy_poisson"},
    ),
    "person": Role(tuple(CELLS), lambda content: {"formula": "y ~ x", "unit": "c"}),
    "cluster": Role(
        tuple(CELLS),
        lambda content: {
            "formula": "y ~ x",
            "cluster": "c",
            "cov_type": "cluster",
            "method": "noisy_newton",
        },
    ),
    "cluster of outcomes": Role(
        tuple(CELLS),
        lambda content: {
            "formula": "I((y > 0.5) * 1) ~ x",
            "bounds": {"x": (0, 1), "y": (0, 1), "I((y > 0.5) * 1)": (0, 1)},
            "cluster": "c",
            "cov_type": "cluster",
            "method": "noisy_logit",
        },
    ),
    "subset of numbers": Role(
        ("real", "whole"),
        lambda content: {"formula": "y ~ x", "subset": "c > 0.4 | ~(np.log(c) < x)"},
    ),
    "subset of texts": Role(
        ("text",),
        lambda content: {
            "formula": "y ~ x",
            "subset": "c in ['u', 'w'] | y > .5",
            "levels": {"c": _public(content)},
        },
    ),
    "group": Role(
        tuple(CELLS), lambda content: {"formula": "y ~ x", "by": "c", "groups": _public(content)}
    ),
    "group of outcomes": Role(
        ("text",),
        lambda content: {
            "formula": "I((y > 0.5) * 1) ~ x",
            "bounds": {**UNIT, "I((y > 0.5) * 1)": (0, 1)},
            "by": "c",
            "groups": _public(content),
            "method": "noisy_logit",
        },
    ),
    "group of counts": Role(
        ("flag",),
        lambda content: {
            "formula": "y ~ x",
            "by": "c",
            "groups": _public(content),
            "method": "noisy_poisson",
        },
    ),
    "group that occurs": Role(
        tuple(content for content in CELLS if content != "real"),
        lambda content: {"formula": "y ~ x", "by": "c", "groups": "present"},
        labels_shown=True,
    ),
    "two groups": Role(
        tuple(CELLS),
        lambda content: {
            "formula": "y ~ x",
            "by": ["c", "k"],
            "groups": [(label, k) for label in _public(content) for k in (1, 2)],
        },
    ),
}


def arguments(source: Source, content: str, role: str) -> dict:
    """What a call on a source says of its columns."""
    types = {"c": TYPES[content]} if source.untyped else None
    return {"bounds": UNIT, "types": types, **ROLES[role].arguments(content)}


def built(source: Source, cells: list, folder, role: str):
    """A table with these cells; where two columns group, the second is y in whole numbers."""
    table = source.build(cells, folder)
    if role != "two groups":
        return table
    opened = open_table(table).gathered(["x", "y", "c"])
    k = dp.engines.Table.from_data({"k": np.arange(len(cells)) % 2 + 1})
    return dp.engines.Table({**opened._columns, **k._columns}, len(cells))


def columns_seen(table, call: dict) -> list[np.ndarray]:
    """What a mechanism may see of every row: its numbers, its codes, and its group."""
    call = {"levels": None, "method": "adassp", **call}
    call |= {"methods": GENERALIZED} if call["method"] in GENERALIZED else {}
    options = {"cov_type": call.pop("cov_type")} if "cov_type" in call else {}
    by, groups = call.get("by"), call.pop("groups", None)
    request = make_request(
        data=table, epsilon=1, delta=None, x_new=None, neighbors=None, missing="drop",
        row_norm=None, options=options, **call,
    )  # fmt: skip
    columns = request.rows_in_use.columns
    unit = [] if request.unit is None else [request.unit.column]
    names = [*columns, *unit, *([] if by is None else [by] if isinstance(by, str) else by)]
    rows = request.table.gathered(names)
    batches = list(rows.batches(columns))
    whole = {name: np.concatenate([b[name] for b in batches]) for name in columns}
    streamed = list(request.table.batches(columns))
    for name, column in whole.items():
        again = np.concatenate([b[name] for b in streamed])
        if again.tobytes() != column.tobytes():
            raise Violation(f"{name} is read in another way when it is gathered")
    seen = [*whole.values(), request.rows_in_use.mask(whole)]
    seen += [word for name in unit for word in rows.unit_keys(name)]
    return seen if by is None else [*seen, group_rows(rows, by, groups).codes]


def seen(source: Source, content: str, role: str, folder, exchanged: dict) -> list[np.ndarray]:
    """What a mechanism may see of a table in which some cells, by row, are exchanged."""
    cells = source.cells(content)
    for row, cell in exchanged.items():
        cells[row] = cell
    return columns_seen(built(source, cells, folder, role), arguments(source, content, role))


def check_rows(
    source: Source, content: str, role: str, row: int, cell, folder, before: list | None = None
) -> None:
    """Raise Violation if the exchanged cell changes what is seen of another row, to the bit.

    ``before`` is what is seen without it. Groups that occur are numbered in the order of their
    labels, which are public.
    """
    if ROLES[role].labels_shown:
        return
    cells = source.cells(content)
    before = seen(source, content, role, folder, {}) if before is None else before
    after = seen(source, content, role, folder, {row: cell})
    others = np.arange(len(cells)) != row
    for one, other in zip(before, after, strict=True):
        if (one.dtype, one.shape) != (other.dtype, other.shape) or len(one) != len(cells):
            raise Violation("the exchanged cell changes a dtype or the number of rows")
        if one[others].tobytes() != other[others].tobytes():
            raise Violation(f"another row changed: {one} and {other}")


def form(result) -> list:
    """Everything that is public of a release: names, shapes, types, report, number of rows.

    The noise of Newton's steps depends on what they released, so steps alone are compared there.
    """
    parts = [result.params, result.bse, result.predictions]
    if isinstance(result, dp.DPGroupResults):
        parts += [result.frame.drop(columns=["status"])]
        shown = [list(map(repr, result.labels)), list(result.status.index.map(repr))]
        dtypes = list(map(str, result.frame.dtypes))
    else:
        shown = [sorted(result.to_dict()), result.public_rows]
        dtypes = [part.dtype for part in parts]
    axes = [(part.shape, *(list(map(repr, axis)) for axis in part.axes)) for part in parts]
    report, steps = result.privacy, [event.step for event in result.privacy.events]
    if (dp.METHODS | GENERALIZED)[result.method].ranges.marginals:
        report = replace(report, events=())
    return [type(result), axes, shown, dtypes, report, steps, result.method_report]


def statuses(result) -> set:
    """The released statuses."""
    grouped = isinstance(result, dp.DPGroupResults)
    return set(result.statuses) if grouped else {result.status}


def release(table, call: dict, **more):
    """A release whose noise is frozen."""
    call = {"method": "adassp", **call, **more}
    fit = VERBS.get(call["method"], dp.dp_ols)
    if fit is not dp.dp_ols:
        del call["method"]
    with dp.testing.insecure_seed(3):
        return fit(data=table, epsilon=8, progress=False, **call)


def check_release(source: Source, content: str, role: str, row: int, cells, folder) -> None:
    """Raise Violation if some cell stops a call or changes something public of its release."""
    call = arguments(source, content, role)
    before = form(release(built(source, source.cells(content), folder, role), call))
    for cell in cells:
        exchanged = source.cells(content)
        exchanged[row] = cell
        table = built(source, exchanged, folder, role)
        try:
            with warnings.catch_warnings(action="error"):
                result = release(table, call)
        except Exception as error:
            raise Violation(f"{type(error).__name__} for {type(cell).__name__}") from error
        if not ROLES[role].labels_shown and form(result) != before:
            raise Violation("the exchanged cell changes something public")
        if not statuses(result) <= STATUSES:
            raise Violation(f"another status: {statuses(result)}")


def check_one_more_label(name: str, content: str, role: str, folder) -> None:
    """Raise Violation if the 129th label tells that it is there, where a row had one of 128."""
    crowded = SOURCES[name].crowded(content)
    row = len(crowded.cells(content)) - 1  # whose label another row has too
    new = b"new" if isinstance(crowded.base[content][0], bytes) else "new"
    check_rows(crowded, content, role, row, new, folder)
    check_release(crowded, content, role, row, [new], folder)
