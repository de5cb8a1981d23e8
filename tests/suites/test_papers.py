"""The papers for people who join name what exists: rooms, tests, files, versions and workflows."""

import re
from pathlib import Path

import pytest

import dpstats as dp
from tests.checks.rooms import ROOMS

ROOT = Path(__file__).parents[2]
ARCHITECTURE, CONTRIBUTING = ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"
NAMED = re.compile(r"`((?:dpstats|tests|docs|r-wrapper|\.github)/[\w./-]+)(?:::(\w+))?`")

pytestmark = pytest.mark.skipif(
    not ARCHITECTURE.exists(), reason="the tests of an installed package lack it"
)


def test_architecture_lists_the_rooms_in_their_order():
    rows = re.findall(r"^\| `([\w.]+)` \|", ARCHITECTURE.read_text(), re.MULTILINE)
    assert rows == [room or "__init__" for line in ROOMS for room in line]


def is_there(path: str, test: str) -> bool:
    """Whether a file exists and has the test; one in capitals is yet to be written."""
    if re.search("[A-Z]{4}", Path(path).stem + path.split("/")[1]):
        return True
    there = (ROOT / path).exists()
    return there and (not test or f"def {test}(" in (ROOT / path).read_text())


def test_named_files_and_tests_exist():
    lacking = []
    for page in (ARCHITECTURE, CONTRIBUTING):
        named = NAMED.findall(page.read_text())
        assert len(named) > 10
        lacking += [
            f"{page.name} names {'::'.join(filter(None, name))}"
            for name in named
            if not is_there(*name)
        ]
    assert not lacking, "\n".join(lacking)


def test_each_rule_names_a_test_that_guards_it():
    text = ARCHITECTURE.read_text().partition("## Five rules")[2].partition("\n## ")[0]
    rules = re.split(r"^\d\. ", text, flags=re.MULTILINE)[1:]
    assert len(rules) == 5
    assert all(any(test for _, test in NAMED.findall(rule)) for rule in rules)


def test_the_versions_agree():
    versions = {
        "pyproject.toml": r'^version = "(.*)"',
        "CITATION.cff": r"^version: (.*)",
        "r-wrapper/DESCRIPTION": r"^Version: (.*)",
    }
    for name, pattern in versions.items():
        assert re.search(pattern, (ROOT / name).read_text(), re.MULTILINE)[1] == dp.__version__


@pytest.mark.parametrize("workflow", ["tests.yml", "release.yml"])
def test_workflows_pin_actions_and_ask_for_little(workflow):
    text = (ROOT / ".github" / "workflows" / workflow).read_text()
    uses = re.findall(r"uses: (.*)", text)
    assert uses and all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", use) for use in uses)
    assert "\npermissions:\n  contents: read\n" in text
    assert re.findall(r"(\S+): write", text) == (["id-token"] if workflow == "release.yml" else [])
    for target in re.findall(r"(?:run: |^ +)make ([\w-]+)", text, re.MULTILINE):
        assert f"\n{target}:" in (ROOT / "Makefile").read_text()
