"""Make tables of every kind, and check that only numbers of a result depend on rows."""

import contextlib
import warnings

import numpy as np
import pandas as pd
import polars as pl

import dpstats as dp
from dpstats.numerics.first_use import SENTENCE


def check_whole_or_nothing(result) -> None:
    """All coefficients are numbers, or none is and the status says so."""
    finite = np.isfinite(result.params).all()
    assert finite or (result.status != "ok" and np.isnan(result.params).all())


# Released outcomes: a result, or a failure whose budget is spent.
STATUSES = {
    "ok",
    "failed",
    "no_range",
    "too_few_rows",
    "ptr_failed",
    "not_identified",
    "constant",
    "imprecise",
    "clipped",
}
GROUPS = ["a", "b", "c"]


def table(x, y, groups=None) -> pd.DataFrame:
    """A table; z is x backwards, and the groups alternate between a and b unless given."""
    groups = [GROUPS[i % 2] for i in range(len(x))] if groups is None else groups
    group = pd.array(groups, dtype="string")
    x = np.asarray(x)
    return pd.DataFrame({"x": x, "y": np.asarray(y), "group": group, "z": x[::-1].copy()})


EVEN, BIG = np.linspace(0, 1, 12), 2**53 + 1 + np.arange(12)
TABLES = {
    "plain": table(EVEN, 1 - EVEN),
    "all missing": table(np.full(12, np.nan), np.full(12, np.nan)),
    "x missing": table(np.full(12, np.nan), EVEN),
    "infinite": table(np.full(12, np.inf), np.tile([-np.inf, np.inf], 6)),
    "one row": table([0.5], [0.5]),
    "two equal rows": table([0.5, 0.5], [0.5, 0.5]),
    "no rows": table(np.zeros(0), np.zeros(0)),
    "constant x": table(np.full(12, 0.5), EVEN),
    "constant y": table(EVEN, np.zeros(12)),
    "huge": table(np.tile([1e300, -1e300], 6), np.tile([1e308, 5e-324], 6)),
    "integers beyond 2^53": table(BIG, -BIG),
    "unsigned integers": table(BIG.astype(np.uint64), EVEN),
    "integers with nulls": table(pd.array([2**60 + 1, None] * 6, dtype="Int64"), EVEN),
    "bool response": table(EVEN, EVEN < 0.5),
    "group of one": table(EVEN, EVEN, ["a"] * 11 + ["b"]),
    "no listed group": table(EVEN, EVEN, ["z"] * 12),
    "groups missing": table(EVEN, EVEN, [None] * 12),
}
SETTINGS = {
    "declared": {},
    "estimated": {"bounds": None},
    "grouped": {"by": "group", "groups": GROUPS},
    "grouped, estimated": {"by": "group", "groups": GROUPS, "bounds": None},
}


@contextlib.contextmanager
def watched(caplog, capfd):
    """Warnings as errors; nothing may be logged or written."""
    caplog.set_level(0)
    # what is compiled depends on types, and on what was compiled before
    caplog.set_level("WARNING", "numba")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield
    assert not caplog.records
    out, err = capfd.readouterr()
    assert (out, err.replace(f"{SENTENCE}\n", "")) == ("", "")


def form(result) -> list:
    """Everything about a result that no row may influence."""
    if isinstance(result, dp.DPGroupResults):
        frames = [result.frame, result.params, result.bse, result.predictions]
        labels = [result.labels, list(result.frame[result.by]), list(result.frame["term"])]
        shapes = [(frame.shape, list(frame.columns)) for frame in frames]
        return [type(result), shapes, labels, list(result.status.index)]
    series = [result.params, result.predictions, result.bse, result.pvalues, result.cov_params()]
    return [type(result), [list(values.index) for values in series], set(result.to_dict())]


def statuses(result) -> set:
    grouped = isinstance(result, dp.DPGroupResults)
    return set(result.statuses) if grouped else {result.status}


# Statuses after which the rest of the budget stays unspent.
EARLY = {"no_range", "too_few_rows", "ptr_failed", "failed"}


def check_numbers_alone(first, second) -> None:
    """Two outcomes differ in numbers, or in a released status and what follows from it."""
    assert first[0] == second[0]
    if first[1] == second[1] or not (first[1] | second[1]) & EARLY:
        assert first[2:] == second[2:]


class Read(BaseException):
    """A value was read; not an Exception, so that no handler turns it into something else."""


class Closed(pd.arrays.FloatingArray):
    """A column of numbers that shows its type and length and refuses to be read."""

    def refuse(self, *arguments, **keywords):
        raise Read

    __getitem__ = __iter__ = __array__ = to_numpy = factorize = astype = refuse
    _reduce = _values_for_factorize = _values_for_argsort = isna = refuse


def closed() -> dict:
    """A table whose numbers cannot be read."""
    numbers = np.linspace(0, 1, 8), np.zeros(8, dtype=bool)
    strings = pd.array(["a", "b"] * 4, dtype="string")
    known = pd.Categorical(["a", "b"] * 4, categories=["a", "b"])
    drawn = pl.Series(["a", "b"] * 4, dtype=pl.Categorical)
    named = {"x": Closed(*numbers), "y": Closed(*numbers), "z": Closed(*numbers)}
    return named | {"s": strings, "known": known, "drawn": drawn}
