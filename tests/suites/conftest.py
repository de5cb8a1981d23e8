"""Code broken for the length of one test."""

import sys
from dataclasses import replace
from functools import partial

import pytest

from dpstats.estimators import METHODS


def _afresh(function):
    """Look up what a function's module holds under its name by now."""
    if isinstance(function, partial):
        return partial(*map(_afresh, (function.func, *function.args)))
    return getattr(sys.modules[function.__module__], function.__name__)


@pytest.fixture
def broken(monkeypatch):
    """Break the code for one test; a method's own functions are looked up afresh."""

    def apply(mutant):
        mutant.setup(monkeypatch)
        mutant.mutate(monkeypatch)
        for name, method in METHODS.items():
            monkeypatch.setitem(METHODS, name, replace(method, release=_afresh(method.release)))

    return apply
