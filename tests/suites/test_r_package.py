"""The files of the R package agree with each other and with those of the Python package."""

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
R = ROOT / "r-wrapper"


def test_the_index_of_the_site_has_every_help_page_once():
    pages = {page.stem for page in (R / "man").glob("*.Rd")} - {"dpstats-package"}
    index = yaml.safe_load((R / "_pkgdown.yml").read_text(encoding="utf-8"))["reference"]
    listed = [section["contents"] for section in index]
    names = [name for part in listed for name in ([part] if isinstance(part, str) else part)]
    assert sorted(names) == sorted(pages)


def test_both_packages_need_the_same_python():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = project["requires-python"].removeprefix(">=")
    description = (R / "DESCRIPTION").read_text(encoding="utf-8")
    assert f"SystemRequirements: Python (>= {needed}) with" in description
    for page in (R / "README.md", ROOT / "docs" / "r.md"):
        assert f"Python {needed}, or later" in page.read_text(encoding="utf-8")


def test_the_readme_installs_the_version_that_is_built():
    version = re.search(r"(?m)^Version: (\S+)$", (R / "DESCRIPTION").read_text(encoding="utf-8"))
    assert version is not None
    assert f"dpstats_{version[1]}.tar.gz" in (R / "README.md").read_text(encoding="utf-8")
