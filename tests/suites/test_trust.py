"""docs/trust.md says of each method what its proof is and what tried to break it."""

import ast
from dataclasses import replace

import pytest

import dpstats as dp
from dpstats.estimators import GENERALIZED, INSTRUMENTAL, SEVERAL
from tests.checks.trust_hazards import HAZARDS
from tests.suites import trust_table

pytestmark = pytest.mark.skipif(
    not trust_table.PAGE.exists(), reason="the tests of an installed package lack it"
)


@pytest.fixture(scope="module")
def rows():
    return {row[0].replace("`", ""): row[1:] for row in trust_table.rows()[0]}


@pytest.mark.parametrize("column", trust_table.COLUMNS[1:])
def test_no_method_lacks_a_cell(rows, column):
    place = trust_table.COLUMNS.index(column) - 1
    several = [f"{name}, several outcomes" for name in SEVERAL]
    assert list(rows) == [*dp.METHODS, *GENERALIZED, *INSTRUMENTAL, *several]
    assert [name for name, row in rows.items() if not row[place].strip()] == []


def test_the_page_is_what_would_be_written():
    written = trust_table.PAGE.read_text(encoding="utf-8")
    assert written == trust_table.page(), "run make trust"


def unproven(passes, problem, cost, noise):
    """Release without a word on privacy."""


def test_a_method_without_proof_replay_or_mutants_shows_empty_cells(monkeypatch):
    """The cells are found and not taken for granted."""
    method = dp.METHODS["noisy_intercept"]
    made = replace(method, name="made_up", release=unproven)
    monkeypatch.setattr(trust_table, "assumptions", lambda method: {"replace_one": ["something"]})
    ((_, *cells),), _ = trust_table.rows({"made_up": made})
    assert cells[:4] == ["", "", "", ""]


def is_test(name: str) -> bool:
    """Whether a test, or a file of tests, of this name exists."""
    file, _, function = name.partition("::")
    path = trust_table.ROOT / "tests" / file
    tree = ast.parse(path.read_text() if path.exists() else "")
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    return function in defined if function else any(each.startswith("test_") for each in defined)


def test_hazards_have_an_answer_and_name_tests_that_exist():
    wrong = [one.hazard for one in HAZARDS if one.section not in ("2", "3", "4")]
    wrong += [one.hazard for one in HAZARDS if not (one.answer and one.left and one.tests)]
    named = [name for one in HAZARDS for name in one.tests if not name.startswith("docs/")]
    wrong += [name for name in named if not is_test(name)]
    assert not wrong, "\n".join(wrong)
