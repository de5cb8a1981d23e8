"""Break the code on purpose: mutants, the two tests that each list of them has, and their reach."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import ModuleType

import pytest

from tests.checks.replay import Violation


@dataclass(frozen=True)
class Mutant:
    """How the code is broken, the check that must notice, and what else the check needs."""

    mutate: Callable
    check: Callable[[], None]
    error: type[Exception] = Violation
    setup: Callable = lambda monkeypatch: None


def patched(target, name, make):
    """Replace ``target.name`` by ``make(original)``."""

    def mutate(monkeypatch):
        monkeypatch.setattr(target, name, make(getattr(target, name)))

    return mutate


def over(check, cases) -> Callable[[], None]:
    """Make one check of a check of each case."""

    def run():
        for case in cases:
            check(case)

    return run


def both_tests(mutants: Mapping[str, Mutant], checked_elsewhere: Iterable = ()) -> tuple:
    """Make two tests: a check fails under each mutant, and the same checks pass without any.

    The second leaves out the checks that other tests run on unbroken code.
    """

    @pytest.mark.parametrize("name", mutants)
    def is_caught(name, broken):
        mutant = mutants[name]
        broken(mutant)
        with pytest.raises(mutant.error):
            mutant.check()

    elsewhere = set(checked_elsewhere)
    once = {(m.check, m.setup): name for name, m in mutants.items() if m.check not in elsewhere}

    @pytest.mark.parametrize("name", once.values())
    def passes_unbroken(name, monkeypatch):
        mutants[name].setup(monkeypatch)
        assert mutants[name].check() is None

    return is_caught, passes_unbroken


class Watch:
    """Stand in for monkeypatch and keep the modules of what would be replaced."""

    def __init__(self):
        self.modules = set()

    def setitem(self, target, name, value):
        """Take an entry of a mapping for none of a module."""

    def setattr(self, target, name, value, raising=True):
        old = getattr(target, name, None)
        owner = target.__name__ if isinstance(target, ModuleType) else target.__module__
        self.modules |= {owner, getattr(getattr(old, "py_func", old), "__module__", None)}


def broken_modules(mutant: Mutant) -> frozenset[str]:
    """Name the modules, without the package, in which a mutant replaces something."""
    watch = Watch()
    mutant.mutate(watch)
    return frozenset(name.removeprefix("dpstats.") for name in watch.modules if name)
