"""README.md and the pages in docs run as they are printed, and their links and tables are right.

``python tests/suites/test_readme.py`` rewrites the outputs.
"""

import argparse
import contextlib
import io
import re
import shlex
import tempfile
from pathlib import Path

import numpy as np
import pytest

import dpstats as dp
from benchmarks import __main__ as benchmarks
from dpstats import cli

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
CHOOSING = ROOT / "docs" / "choosing.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]
UNEXECUTED = ("references", "trust")
PAPER = ROOT / "paper" / "paper.md"
EXECUTED = [*(page for page in PAGES if page.stem not in UNEXECUTED), PAPER]
WRITTEN = sorted({*PAGES, *ROOT.glob("[A-Z]*.md"), *ROOT.glob("vignettes/*/README.md")})
# A Python block, and the output below it if there is one.
PYTHON = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)
CONSOLE = re.compile(r"```console\n(.*?)```\n", re.DOTALL)
BENCHMARK = re.compile(r"`python\s-m\sbenchmarks\s([^`]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")

pytestmark = pytest.mark.skipif(
    not README.exists(), reason="the tests of an installed package lack it"
)


def outputs(text: str) -> list[str]:
    """What each Python block prints, run in order in one namespace."""
    namespace, printed = {}, []
    for code, _ in PYTHON.findall(text):
        with contextlib.redirect_stdout(io.StringIO()) as stream:
            exec(compile(code, "page", "exec"), namespace)
        # Trailing spaces of a table do not survive an editor.
        printed.append("".join(f"{line.rstrip()}\n" for line in stream.getvalue().splitlines()))
    return printed


def commands(text: str) -> list[list[str]]:
    """The arguments of each dpstats command."""
    lines = "".join(CONSOLE.findall(text)).replace("\\\n", " ").splitlines()
    return [shlex.split(line.removeprefix("$ dpstats ")) for line in lines]


@pytest.mark.parametrize("page", EXECUTED, ids=lambda page: page.stem)
def test_a_page_runs_as_printed(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    shown = [output for _, output in PYTHON.findall(text)]
    assert shown
    assert outputs(text) == shown


def test_the_commands_run_and_write_their_files(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    outputs(text)
    plans = ["plan"] * 3
    listed = ["methods", *plans, "fit", "by", "describe", "logit", "poisson", "logit", "iv"]
    listed += ["demo"]
    assert [command[0] for command in commands(text)] == listed
    for command in commands(text):
        assert cli.main(command) == 0, capsys.readouterr().err
    written = ("plan.csv", "plan.png", "plan.html", "fit.json", "fit.png", "cells.csv", "cells.png")
    texts = "study.html", "table1.tex", "logit.json", "poisson.json", "logits.csv", "iv.json"
    for name in (*written, *texts, "demo/cells.csv"):
        assert (tmp_path / name).stat().st_size > 0


def test_the_commands_of_the_validation_service_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "validation-service.md").read_text(encoding="utf-8")
    outputs(text)
    for command in commands(text):
        assert cli.main(command) == 0, capsys.readouterr().err
    for name in ("dry/index.html", "out/results.json", "spending.png"):
        assert (tmp_path / name).stat().st_size > 0
    assert dp.Ledger("study.ledger").spent == (3.0, 0.0)


def anchors(page: Path) -> set[str]:
    """Fragments of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def leads_nowhere(page: Path, link: str) -> bool:
    """Whether a link within the repository names a file or a heading that is not there."""
    path, _, fragment = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    return not target.exists() or bool(fragment) and fragment not in anchors(target)


def benchmark_commands() -> set[str]:
    """The parts and options of all benchmarks that pages name, and each part as it is."""
    texts = [path.read_text(encoding="utf-8") for path in WRITTEN]
    named = {" ".join(found.split()) for text in texts for found in BENCHMARK.findall(text)}
    return named | set(benchmarks.PARTS | benchmarks.ALONE)


@pytest.mark.parametrize("command", sorted(benchmark_commands()))
def test_the_benchmarks_take_the_options_that_pages_give_them(command, monkeypatch):
    class _Parsed(Exception):
        """Ends a benchmark where it has read its options."""

    parse = argparse.ArgumentParser.parse_args

    def parsed(parser, arguments):
        parse(parser, arguments)
        raise _Parsed

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", parsed)
    required = ["--data", "DIR"] if command in {"auto", "cases", "floor"} else []
    with pytest.raises(_Parsed):
        benchmarks.main([*shlex.split(command), *required])


def test_links_lead_somewhere():
    links = [(page, link) for page in WRITTEN for link in LINK.findall(page.read_text("utf-8"))]
    ours = [(page, link) for page, link in links if not link.startswith(("https://", "http://"))]
    assert len(ours) > 100
    broken = [f"{page.relative_to(ROOT)} links to {link}" for page, link in ours
              if leads_nowhere(page, link)]  # fmt: skip
    assert not broken, "\n".join(broken)


def test_readme_lists_the_pages():
    links = LINK.findall(README.read_text(encoding="utf-8"))
    assert {f"docs/{page.name}" for page in PAGES[1:]} <= set(links)


RELATIONS = {"add_remove": "add or remove", "replace_one": "replace"}
# How the table says it, and the arguments that get standard errors or intervals then.
INTERVALS = {
    "yes": {},
    "with declared bounds": {},
    "with declared bounds, where x varies enough": {},
    "`ci=True`": {"ci": True},
    "none": None,
}


def table_of_methods() -> dict[str, list[str]]:
    """The cells behind each name in the table of methods."""
    lines = CHOOSING.read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "|" in line]
    return {row[0].strip("`"): row[1:] for row in rows if row[0].startswith("`") and len(row) == 6}


def test_the_table_lists_the_methods_in_order():
    assert list(table_of_methods()) == list(dp.METHODS)


def companion_of(method: str) -> str:
    return "adassp" if dp.METHODS[method].guarantee in ("gdp", "zcdp") else "noisy_moments"


@pytest.mark.parametrize("method", dp.METHODS)
def test_the_table_says_of_a_method_what_is_so(method, fit, line, enough):
    use, regressors, bounds, intervals, neighbours = table_of_methods()[method]
    entry = dp.METHODS[method]
    assert use
    assert regressors == ("one" if entry.single_regressor else "any")
    assert bounds == ("declared or estimated" if entry.ranges.needed else "none")
    assert neighbours == ", ".join(RELATIONS[relation] for relation in entry.neighbors)
    call = {"epsilon": 1e3, **enough(method)}
    with dp.testing.insecure_seed(1):
        plain = fit(line, method, **call)
        has = bool(np.isfinite(plain.conf_int()).all(axis=None))
        assert has == (INTERVALS.get(intervals) == {})
        more = INTERVALS.get(intervals, {"companion": companion_of(method)})
        if more:
            assert np.isfinite(fit(line, method, **call, **more).conf_int()).all(axis=None)
        if intervals.startswith("with declared bounds"):
            assert np.isnan(fit(line, method, **call, bounds=None).conf_int()).all(axis=None)


def rewrite(page: Path) -> None:
    """Put what the blocks print now into a page."""
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        printed = iter(outputs(text))

    def block(match: re.Match) -> str:
        output = next(printed)
        return f"```python\n{match[1]}```\n" + (f"\n```text\n{output}```\n" if output else "")

    page.write_text(PYTHON.sub(block, text), encoding="utf-8")


if __name__ == "__main__":
    for page in EXECUTED:
        rewrite(page)
