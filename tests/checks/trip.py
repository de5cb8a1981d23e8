"""Follow one call through the package: which files it enters, how often it returns to a folder."""

import sys
import threading
from collections.abc import Callable
from itertools import groupby
from types import CodeType, FrameType
from typing import NamedTuple

import numpy as np
import pandas as pd

import dpstats as dp
from tests.checks.structure import Structure


class Entry(NamedTuple):
    """A call of a function: names of its module and of the one that called, None from outside."""

    caller: tuple[str, str] | None
    called: tuple[str, str]


class Trip:
    """The calls of the package's functions during ``run()``, in order, in threads it starts too.

    What loads a module is no call. A first run loads modules and fills caches, so run something
    like it before.
    """

    def __init__(self, structure: Structure, run: Callable[[], object]):
        self._modules = {str(path): name for name, path in structure.files.items()}
        self.structure, self.entries = structure, list[Entry]()
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        try:
            run()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def _note(self, frame: FrameType, event: str, _argument) -> None:
        """Record the call of a function of the package."""
        if event != "call" or (called := self._name(frame.f_code)) is None:
            return
        before = frame.f_back
        while before is not None and self._name(before.f_code) is None:
            before = before.f_back
        self.entries.append(Entry(before and self._name(before.f_code), called))

    def _name(self, code: CodeType) -> tuple[str, str] | None:
        """Module and function of a piece of code; None outside the package and for a module."""
        module = self._modules.get(code.co_filename)
        return None if module is None or code.co_name == "<module>" else (module, code.co_qualname)

    def files(self) -> set[str]:
        """Modules in which something was called."""
        return {entry.called[0] for entry in self.entries}

    def stays(self, folder: str) -> list[Entry]:
        """Calls into a folder from elsewhere; one that repeats itself, as in a loop, is one."""
        within = {name for name in self.files() if f"{name}.".startswith(f"{folder}.")}
        came = (
            entry
            for entry in self.entries
            if entry.called[0] in within and (entry.caller is None or entry.caller[0] not in within)
        )
        return [entry for entry, _ in groupby(came)]


def fit(x: str, y: str, g: str) -> Callable[[], float]:
    """A call that fits a quadratic and a factor without bounds, and reads one parameter."""
    random, levels = np.random.default_rng(1), ["a", "b", "c"]
    table = pd.DataFrame(
        {x: random.normal(size=2000), y: random.normal(size=2000), g: random.choice(levels, 2000)}
    )
    formula = f"{y} ~ {x} + I({x}**2) + C({g})"
    return lambda: dp.dp_ols(formula, table, levels={g: levels}, epsilon=1).params[x]


def trip_of_one_parameter(structure: Structure) -> Trip:
    """The trip of such a call; a first one, of other columns, loads modules and compiles loops."""
    fit("u", "v", "h")()
    return Trip(structure, fit("x", "y", "g"))
