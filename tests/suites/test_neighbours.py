"""One cell is exchanged: no other row changes, no call stops, and nothing public is another.

Generated from two registries, ``SOURCES`` (what is read, tests/checks/sources.py) and ``ROLES``
(what a column is for), and from hypothesis: an engine or a role that joins them is under test.
"""

import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dpstats as dp
from dpstats.engines.columns import Column
from dpstats.engines.open_table import ENDINGS, open_table
from dpstats.request.arguments import make_request
from dpstats.request.group_labels import group_rows
from tests.checks.replay import Violation
from tests.checks.sources import ANY, CELLS, ROWS, SOURCES, TYPES, Source, hostile

UNIT = {"x": (0, 1), "y": (0, 1)}
STATUSES = {"ok", "too_few_rows", "not_identified", "clipped"}
EXAMPLES = 12


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


ROLES = {
    "response": Role(("real", "whole"), _numeric("c ~ x", "x")),
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
    "person": Role(tuple(CELLS), lambda content: {"formula": "y ~ x", "unit": "c"}),
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
    call = {"levels": None, **call}
    by, groups = call.get("by"), call.pop("groups", None)
    request = make_request(
        data=table, method="adassp", epsilon=1, delta=None, x_new=None, neighbors=None,
        missing="drop", row_norm=None, options={}, **call,
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


def check_rows(source: Source, content: str, role: str, row: int, cell, folder) -> None:
    """Raise Violation if the exchanged cell changes what is seen of another row, to the bit.

    Groups that occur are numbered in the order of their labels, which are public.
    """
    if ROLES[role].labels_shown:
        return
    call = arguments(source, content, role)
    cells = source.cells(content)
    before = columns_seen(built(source, cells, folder, role), call)
    cells[row] = cell
    after = columns_seen(built(source, cells, folder, role), call)
    others = np.arange(len(cells)) != row
    for one, other in zip(before, after, strict=True):
        if (one.dtype, one.shape) != (other.dtype, other.shape) or len(one) != len(cells):
            raise Violation("the exchanged cell changes a dtype or the number of rows")
        if one[others].tobytes() != other[others].tobytes():
            raise Violation(f"another row changed: {one} and {other}")


def form(result) -> list:
    """Everything that is public of a release: names, shapes, types, report, number of rows."""
    parts = [result.params, result.bse, result.predictions]
    if isinstance(result, dp.DPGroupResults):
        parts += [result.frame.drop(columns=["status"])]
        shown = [list(map(repr, result.labels)), list(result.status.index.map(repr))]
        dtypes = list(map(str, result.frame.dtypes))
    else:
        shown, dtypes = [sorted(result.to_dict()), result.nobs], [part.dtype for part in parts]
    axes = [(part.shape, *(list(map(repr, axis)) for axis in part.axes)) for part in parts]
    return [type(result), axes, shown, dtypes, result.privacy, result.method_report]


def statuses(result) -> set:
    """The released statuses."""
    grouped = isinstance(result, dp.DPGroupResults)
    return set(result.statuses) if grouped else {result.status}


def release(table, call: dict, **more):
    """A release whose noise is frozen."""
    with dp.testing.insecure_seed(3):
        return dp.dp_ols(
            data=table, epsilon=8, progress=False, **{"method": "adassp", **call, **more}
        )


def check_release(source: Source, content: str, role: str, row: int, cells, folder) -> None:
    """Raise Violation if some cell stops a call or changes something public of its release."""
    call = arguments(source, content, role)
    before = release(built(source, source.cells(content), folder, role), call)
    for cell in cells:
        exchanged = source.cells(content)
        exchanged[row] = cell
        table = built(source, exchanged, folder, role)
        try:
            with warnings.catch_warnings(action="error"):
                result = release(table, call)
        except Exception as error:
            raise Violation(f"{type(error).__name__} for {type(cell).__name__}") from error
        if not ROLES[role].labels_shown and form(result) != form(before):
            raise Violation("the exchanged cell changes something public")
        if not statuses(result) <= STATUSES:
            raise Violation(f"another status: {statuses(result)}")


CASES = {
    f"{source}, {content}, {role}": (source, content, role)
    for source, held in SOURCES.items()
    for content in held.holds
    for role, suited in ROLES.items()
    if content in suited.contents
}


@pytest.mark.parametrize("case", CASES)
def test_no_cell_changes_another_row(case):
    name, content, role = CASES[case]
    source = SOURCES[name]

    @settings(
        max_examples=EXAMPLES, deadline=None, derandomize=True, database=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(st.integers(0, ROWS - 1), source.holds[content])
    def check(row, cell):
        check_rows(source, content, role, row, cell, Path(folder))

    with tempfile.TemporaryDirectory() as folder:
        check()


def some(strategy, count: int) -> list:
    """A few cells of a strategy, always the same ones; every hostile one of those of any type."""
    found = []

    @settings(max_examples=count, derandomize=True, database=None, deadline=None)
    @given(strategy)
    def gather(cell):
        found.append(cell)

    gather()
    return [*found, *(hostile() if strategy is ANY else [])]


@pytest.mark.parametrize("case", CASES)
def test_no_cell_stops_a_call_or_changes_what_is_public(case, tmp_path):
    name, content, role = CASES[case]
    source = SOURCES[name]
    check_release(source, content, role, 3, some(source.holds[content], 4), tmp_path)


CROWDED = [
    case
    for case, (source, content, _) in CASES.items()
    if content == "text" and not SOURCES[source].listed and source != "arrow null"
]


def check_one_more_label(name: str, content: str, role: str, folder) -> None:
    """Raise Violation if the 129th label tells that it is there, where a row had one of 128."""
    crowded = SOURCES[name].crowded(content)
    row = len(crowded.cells(content)) - 1  # whose label another row has too
    new = b"new" if isinstance(crowded.base[content][0], bytes) else "new"
    check_rows(crowded, content, role, row, new, folder)
    check_release(crowded, content, role, row, [new], folder)


@pytest.mark.parametrize("case", CROWDED)
def test_no_label_is_one_too_many(case, tmp_path):
    """The 129th label of a dictionary of int8 stopped a call, and so told that it was there."""
    check_one_more_label(*CASES[case], tmp_path)


@pytest.mark.parametrize("name", SOURCES)
def test_what_is_in_use_is_read_at_all(name, tmp_path):
    """The suite would be empty if nothing of a table were read."""
    source = SOURCES[name]
    for content in source.holds:
        if name == "arrow null":
            continue
        call = arguments(source, content, "factor")
        *_, used = columns_seen(built(source, source.cells(content), tmp_path, "factor"), call)
        assert used.all(), content


def test_under_replace_one_the_rows_in_use_are_public_and_said_so(tmp_path):
    """Their number follows from which rows are in use alone, and under add/remove it is private."""
    source = SOURCES["list"]
    call = arguments(source, "real", "regressor") | {"formula": "y ~ c", "method": "noisy_stats"}
    call["bounds"] = {"y": (0, 1), "c": (0, 3)}
    for cell, used in ((0.5, 1), (77.0, 1), ("z", 0), (None, 0), ([1], 0), ("\ud800", 0)):
        cells = source.cells("real")
        cells[2] = cell
        table = source.build(cells, tmp_path)
        result = release(table, call, neighbors="replace_one")
        assert result.nobs == ROWS - 1 + used
        assert any("which rows are in use" in said for said in result.privacy.assumptions)
        assert release(table, call | {"method": "adassp"}, neighbors="add_remove").nobs is None


def classes(kind: type) -> set[type]:
    """A class and all below it."""
    return {kind}.union(*map(classes, kind.__subclasses__()))


def test_every_engine_is_under_test(tmp_path):
    """A class of columns, or a format, that is in no source fails here."""
    met, endings = set(), set()
    for source in SOURCES.values():
        for content in source.holds:
            data = source.build(source.cells(content), tmp_path)
            endings |= {end for end in ENDINGS if str(data).endswith(end)}
            met.add(type(open_table(data).gathered(["c"])._columns["c"]))
    not_in_a_table = {"Column", "OtherColumn"}
    assert {own.__name__ for own in classes(Column) - met} <= not_in_a_table
    assert endings == set(ENDINGS)


def test_the_release_depends_on_the_cells(tmp_path):
    """Frozen noise hides no cell, so the suite compares what the data decide."""
    source = SOURCES["pandas float64"]
    call = arguments(source, "real", "regressor")
    cells = source.cells("real")
    one = release(source.build(cells, tmp_path), call)
    other = release(source.build([*cells[:-1], 0.1], tmp_path), call)
    assert not one.params.equals(other.params)
    shuffled = Source(lambda cells, path: source.build(sorted(cells), path), source.holds)
    with pytest.raises(Violation, match="another row changed"):
        check_rows(shuffled, "real", "regressor", 0, 9.0, tmp_path)
