"""Run the commands of README.md and write what they print: ``python -m vignettes.validation``.

It needs R with the package dpstats and sandwich.
"""

import contextlib
import io
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from dpstats import cli

FOLDER = Path(__file__).parent
PAGE = FOLDER / "README.md"
# What somebody types follows a dollar sign, up to the end of a line that no backslash continues.
TRANSCRIPT = re.compile(r"(?<=```console\n).*?(?=```\n)", re.DOTALL)
COMMAND = re.compile(r"^\$ (?:.*\\\n)*.*$", re.MULTILINE)
# R's code, and the output below it if there is one.
R_CODE = re.compile(r"```r\n(.*?)```\n(?:\n```text\n.*?```\n)?", re.DOTALL)


def lay_out(folder: Path) -> None:
    """Copy what the steward and the analysts have written into an empty folder."""
    for pattern in ("*.py", "*.R", "*.toml"):
        for path in FOLDER.glob(pattern):
            shutil.copyfile(path, folder / path.name)


def run(command: str) -> str:
    """Run a command line in the working folder; return what it prints, errors too."""
    program, *arguments = shlex.split(command.replace("\\\n", " "))
    return PROGRAMS[program](arguments)


def _python(arguments: list[str]) -> str:
    """Run a script in this process, so that nothing is imported anew."""
    before = sys.argv
    sys.argv = arguments
    try:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            try:
                runpy.run_path(arguments[0], run_name="__main__")
            except SystemExit as error:
                print(error)
    finally:
        sys.argv = before
    return printed.getvalue()


def _dpstats(arguments: list[str]) -> str:
    """Run a command; without what it says of its progress, unless it fails."""
    printed, told = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(told):
        failed = cli.main(arguments)
    return printed.getvalue() + (told.getvalue() if failed else "")


def _rscript(arguments: list[str]) -> str:
    variables = os.environ | {"RETICULATE_PYTHON": sys.executable}
    done = subprocess.run(["Rscript", *arguments], stdout=subprocess.PIPE, env=variables,
                          stderr=subprocess.STDOUT, text=True, check=False)  # fmt: skip
    return done.stdout


PROGRAMS: dict[str, Callable[[list[str]], str]] = {
    "python": _python,
    "dpstats": _dpstats,
    "Rscript": _rscript,
    "cat": lambda names: "".join(Path(name).read_text(encoding="utf-8") for name in names),
    "ls": lambda names: "".join(f"{path.name}\n" for path in sorted(Path(names[0]).iterdir())),
}


def written_anew(text: str, folder: Path) -> str:
    """Return a page with what its commands print now, run one after the other in a folder."""

    def transcript(match: re.Match) -> str:
        commands = COMMAND.findall(match[0])
        return "".join(f"{each}\n{_shown(run(each[2:]), folder)}" for each in commands)

    def answered(match: re.Match) -> str:
        output = _shown(_rscript(["-e", match[1]]), folder)
        return f"```r\n{match[1]}```\n" + (f"\n```text\n{output}```\n" if output else "")

    with contextlib.chdir(folder):
        blocks = re.compile(f"({TRANSCRIPT.pattern})|{R_CODE.pattern}", re.DOTALL)
        return blocks.sub(lambda match: _block(match, transcript, answered), text)


def _block(match: re.Match, transcript, answered) -> str:
    """Answer a block of either kind; both are looked for together to keep their order."""
    return transcript(match) if match[1] is not None else answered(R_CODE.match(match[0]))


def _shown(printed: str, folder: Path) -> str:
    """Return output as the page has it: without trailing spaces and the folder's path."""
    lines = [line.rstrip() for line in printed.replace(f"{folder.resolve()}/", "").splitlines()]
    return "".join(f"{line}\n" for line in lines).strip("\n") + "\n" if any(lines) else ""


def main() -> None:
    """Write the page, where R and its packages are there."""
    packages = ["Rscript", "-e", "library(dpstats); library(sandwich)"]
    if shutil.which("Rscript") is None or subprocess.run(packages, check=False).returncode:
        sys.exit("the page needs R with the packages dpstats and sandwich; nothing was written")
    with tempfile.TemporaryDirectory() as name:
        lay_out(Path(name))
        PAGE.write_text(written_anew(PAGE.read_text("utf-8"), Path(name)), encoding="utf-8")


if __name__ == "__main__":
    main()
