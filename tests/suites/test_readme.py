"""README.md runs as it is printed. ``python tests/suites/test_readme.py`` rewrites its outputs."""

import contextlib
import io
import os
import re
import shlex
import tempfile
from pathlib import Path

import pytest

from dpstats import cli

README = Path(__file__).parents[2] / "README.md"
# A Python block, and the output below it if there is one.
PYTHON = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)
CONSOLE = re.compile(r"```console\n(.*?)```\n", re.DOTALL)


def outputs(text: str) -> list[str]:
    """What each Python block prints, run in order in one namespace."""
    namespace, printed = {}, []
    for code, _ in PYTHON.findall(text):
        with contextlib.redirect_stdout(io.StringIO()) as stream:
            exec(compile(code, "README.md", "exec"), namespace)
        # Trailing spaces of a table do not survive an editor.
        printed.append("".join(f"{line.rstrip()}\n" for line in stream.getvalue().splitlines()))
    return printed


def commands(text: str) -> list[list[str]]:
    """The arguments of each dpstats command."""
    lines = "".join(CONSOLE.findall(text)).replace("\\\n", " ").splitlines()
    return [shlex.split(line.removeprefix("$ dpstats ")) for line in lines]


@pytest.mark.skipif(not README.exists(), reason="the tests of an installed package lack it")
def test_readme(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = README.read_text(encoding="utf-8")
    shown = [output for _, output in PYTHON.findall(text)]
    assert len(shown) >= 8
    assert outputs(text) == shown
    names = [command[0] for command in commands(text)]
    assert names == ["methods", "plan", "fit", "by", "demo"]
    for command in commands(text):
        assert cli.main(command) == 0, capsys.readouterr().err
    written = ("plan.csv", "plan.png", "fit.json", "fit.png", "cells.csv", "cells.png")
    for name in (*written, "demo/cells.csv"):
        assert (tmp_path / name).stat().st_size > 0


def rewrite() -> None:
    """Put what the blocks print now into README.md."""
    text = README.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        printed = iter(outputs(text))

    def block(match: re.Match) -> str:
        output = next(printed)
        return f"```python\n{match[1]}```\n" + (f"\n```text\n{output}```\n" if output else "")

    README.write_text(PYTHON.sub(block, text), encoding="utf-8")


if __name__ == "__main__":
    rewrite()
