"""One cell is exchanged: no other row changes, no call stops, and nothing public is another.

Generated from two registries, ``SOURCES`` (what is read, tests/checks/sources.py) and ``ROLES``
(what a column is for), and from hypothesis: an engine or a role that joins them is under test.
"""

from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpstats.engines.columns import Column, PythonColumn
from dpstats.engines.open_table import ENDINGS, open_table
from tests.checks.neighbours import (
    ROLES,
    arguments,
    built,
    check_one_more_label,
    check_release,
    check_rows,
    columns_seen,
    release,
    seen,
)
from tests.checks.replay import Violation
from tests.checks.sources import ANY, ROWS, SOURCES, TYPES, Source, hostile

EXAMPLES = 12


CASES = {
    f"{source}, {content}, {role}": (source, content, role)
    for source, held in SOURCES.items()
    for content in held.holds
    for role, suited in ROLES.items()
    if content in suited.contents
}


def some(strategy, count: int) -> list:
    """A few examples of a strategy, always the same ones."""
    found = []

    @settings(
        max_examples=count, deadline=None, derandomize=True, database=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(strategy)
    def gather(example):
        found.append(example)

    gather()
    return found


@cache
def exchanges(source: str, content: str) -> list[tuple]:
    """Rows, and cells to put there, the same for each role."""
    return some(st.tuples(st.integers(0, ROWS - 1), SOURCES[source].holds[content]), EXAMPLES)


@pytest.mark.parametrize("case", CASES)
def test_no_cell_changes_another_row(case, tmp_path):
    name, content, role = CASES[case]
    source = SOURCES[name]
    before = seen(source, content, role, tmp_path, {})
    for row, cell in exchanges(name, content):
        check_rows(source, content, role, row, cell, tmp_path, before)


# What holds Python objects. They are the same column in all of these, so hostile ones are released
# from the first alone.
OBJECTS = [name for name, source in SOURCES.items() if ANY in source.holds.values()]


@pytest.mark.parametrize("name", OBJECTS)
def test_objects_are_the_same_column_whatever_holds_them(name, tmp_path):
    source = SOURCES[name]
    for content in source.holds:
        for cell in hostile():
            cells = source.cells(content)
            cells[3] = cell
            opened = open_table(source.build(cells, tmp_path)).typed({"c": TYPES[content]})
            column = opened.gathered(["c"])._columns["c"]
            assert type(column) is PythonColumn and column.kind == TYPES[content]
            assert all(one is other for one, other in zip(column._values, cells, strict=True))


@cache
def few_cells(source: str, content: str) -> list:
    """Cells that are released, the same for each role."""
    return some(SOURCES[source].holds[content], 4)


@pytest.mark.parametrize("case", CASES)
def test_no_cell_stops_a_call_or_changes_what_is_public(case, tmp_path):
    name, content, role = CASES[case]
    source = SOURCES[name]
    cells = [*few_cells(name, content), *(hostile() if name == OBJECTS[0] else [])]
    check_release(source, content, role, 3, cells, tmp_path)


CROWDED = [
    case
    for case, (source, content, _) in CASES.items()
    if content == "text" and not SOURCES[source].listed and source != "arrow null"
]


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
        assert result.nobs == result.public_rows == ROWS - 1 + used
        assert any("which rows are in use" in said for said in result.privacy.assumptions)
        private = release(table, call | {"method": "adassp"}, neighbors="add_remove")
        assert private.public_rows is None


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
