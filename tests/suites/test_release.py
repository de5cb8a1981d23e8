"""What a release is described by agrees with the package: recipe, change log, paper."""

import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml

import dpstats as dp

ROOT = Path(__file__).parents[2]
PAPER = ROOT / "paper" / "paper.md"
# A figure as it stands in the paper, and in the line of the report that it is from.
FIGURES = {
    "tables": (
        r"on (\d+) of 28 public tables", "vignettes/auto/README.md",
        r"^\| 1 \| 28 \| \d+ \| \d+ \| (\d+) \|",
    ),
    "intervals": (
        r"In (\d+ of \d+) regressions", "docs/intervals.md",
        r"tails: tables(?:.*\n)+?\| cases at 0\.90 .*? \| (\d+ of \d+) \|",
    ),
    "seconds": (
        r"take (\d\.\d) seconds on two cores", "vignettes/national/README.md",
        r"^\| nation, 73,000 tracts, 5,203,750 rows, exp_theil_sen \|.*? 2 GiB \| (\d\.\d)",
    ),
}  # fmt: skip

pytestmark = pytest.mark.skipif(
    not (ROOT / ".ci").exists(), reason="the tests of an installed package lack it"
)


def test_the_recipe_has_the_dependencies_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    recipe = yaml.safe_load((ROOT / ".ci" / "recipe.yaml").read_text("utf-8"))
    python, *run = recipe["requirements"]["run"]
    assert [name.replace(" ", "") for name in run] == project["dependencies"]
    assert python == "python >=${{ python_min }}"
    assert f">={recipe['context']['python_min']}" == project["requires-python"]
    assert recipe["build"]["python"]["entry_points"] == ["dpstats = dpstats.cli:main"]


def test_the_entry_of_r_universe_names_the_r_package():
    (entry,) = json.loads((ROOT / ".ci" / "packages.json").read_text("utf-8"))
    assert (ROOT / entry["subdir"] / "DESCRIPTION").exists()
    assert f"Package: {entry['package']}\n" in (ROOT / entry["subdir"] / "DESCRIPTION").read_text()


def test_change_logs_begin_with_this_version():
    versions = re.findall(r"^## \[([\d.]+)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert versions[0] == dp.__version__
    news = (ROOT / "r-wrapper" / "NEWS.md").read_text()
    assert news.startswith(f"# dpstats {dp.__version__}\n")


def test_the_paper_cites_what_its_references_have():
    text = PAPER.read_text("utf-8")
    held = re.findall(r"^@\w+\{(\w+),", PAPER.with_suffix(".bib").read_text("utf-8"), re.MULTILINE)
    assert sorted(held) == sorted(set(re.findall(r"@(\w+\d{4})", text)))
    for section in ("Summary", "Statement of need", "State of the field", "References"):
        assert f"\n# {section}\n" in text


@pytest.mark.parametrize("figure", FIGURES)
def test_the_figures_of_the_paper_are_those_of_the_reports(figure):
    said, report, line = FIGURES[figure]
    ours = re.findall(said, PAPER.read_text("utf-8").replace("\n  ", " "))
    assert ours == re.findall(line, (ROOT / report).read_text("utf-8"), re.MULTILINE)
    assert len(ours) == 1
