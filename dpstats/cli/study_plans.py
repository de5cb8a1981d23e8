"""Run ``dpstats plan STUDY.toml``: forecast the tables of a study by epsilon."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from dpstats import plan_study
from dpstats.cli.outputs import checked_output, checked_outputs, draw, save_frame, write
from dpstats.errors import ArgumentError
from dpstats.study.plans.plan_study import EPSILONS

# Options that a plan of a study takes; a study file has the others' content.
_OWN = ("formula", "n", "epsilon", "data", "repetitions", "seed", "out", "plot", "html", "run")


def is_study(text: str) -> bool:
    """Tell whether the argument of ``dpstats plan`` names a study file and is no formula."""
    return text.endswith(".toml") and "~" not in text


def run(arguments, default: Callable[[str], Any], epsilon: list[float] | None) -> None:
    """Print the plan of a study, and write its table, picture and page if asked to.

    ``default`` returns the value of an option that is not given.
    """
    for name, value in vars(arguments).items():
        if name not in _OWN and value != default(name):
            option = name.replace("_", "-")
            raise ArgumentError(
                f"--{option} is for the plan of one formula; a study's declarations and guesses "
                f"stand in {Path(arguments.formula).name}"
            )
    outputs = checked_outputs(arguments, (".csv",))
    page = arguments.html and checked_output(arguments.html, "--html", (".html",))
    made = plan_study(
        arguments.formula,
        EPSILONS if epsilon is None else epsilon,
        data=arguments.data,
        n=_rows(arguments.n),
        repetitions=arguments.repetitions,
        seed=arguments.seed,
        progress=True,
    )
    if arguments.out:
        save_frame(made, outputs[0])
    if arguments.plot:
        draw(outputs[-1], lambda axes: made.plot(ax=axes))
    if page:
        write(page, lambda beside: beside.write_text(made.to_html(), encoding="utf-8"))
    print(made)


def _rows(text: str | None) -> int | None:
    try:
        return None if text is None else int(text)
    except ValueError:
        raise ArgumentError(f"expected --n to be a whole number of rows, got {text!r}") from None
