"""The files of the R package agree with each other and with those of the Python package."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
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
    for page in (R / "README.md", ROOT / "docs" / "coming-from.md"):
        assert f"Python {needed}, or later" in page.read_text(encoding="utf-8")


def test_the_readme_installs_the_version_that_is_built():
    version = re.search(r"(?m)^Version: (\S+)$", (R / "DESCRIPTION").read_text(encoding="utf-8"))
    assert version is not None
    assert f"dpstats_{version[1]}.tar.gz" in (R / "README.md").read_text(encoding="utf-8")


def _run_r(folder: Path, programs: list[str]) -> subprocess.CompletedProcess:
    """Run tests/run_r.sh where there are only these programs, each of which does nothing."""
    for name in ("bash", "dirname", "basename", "id"):
        found = shutil.which(name)
        assert found is not None
        (folder / name).symlink_to(found)
    for name in (*programs, "python"):
        (folder / name).write_text(f"#!/bin/sh\nexit {7 if name == 'python' else 0}\n")
        (folder / name).chmod(0o755)
    command = [str(folder / "bash"), str(ROOT / "tests" / "run_r.sh"), str(folder / "python")]
    return subprocess.run(
        command, env={"PATH": str(folder)}, cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("absent", ["R", "Rscript", "pandoc", "qpdf"])
def test_without_a_program_that_the_check_needs_it_is_said_to_be_skipped(tmp_path, absent):
    needed = ["R", "Rscript", "pandoc", "qpdf"]
    complete = tmp_path / "complete"
    lacking = tmp_path / "lacking"
    complete.mkdir()
    lacking.mkdir()
    done = _run_r(complete, needed)
    assert done.returncode == 7  # it went on to the first call of Python
    assert "SKIPPED" not in done.stdout
    done = _run_r(lacking, [name for name in needed if name != absent])
    assert done.returncode == 0
    assert f"SKIPPED: one of {' '.join(needed)}" in done.stdout
