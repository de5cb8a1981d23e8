"""A process says once that it compiles, whatever was compiled before and wherever it writes to."""

import importlib
import os
import pickle
import pkgutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from numba import typeof
from numba.extending import is_jitted

import dpstats as dp
from dpstats import numerics
from dpstats.numerics.first_use import SENTENCE

FIT = """
import dpstats as dp
data = dp.simulate.line(50, seed=1)
bounds = {{"x": (0, 1), "y": (0, 1)}}
for method in {methods}:
    dp.dp_ols("y ~ x", data, epsilon=1, method=method, bounds=bounds, progress={progress})
"""
PLAN = """
import dpstats as dp
dp.plan("y ~ x", n=50, epsilon=1, method="adassp", bounds={{"x": (0, 1), "y": (0, 1)}},
        repetitions=20, progress={progress})
"""

AUDIT = """
import dpstats as dp
dp.audit("adassp", epsilon=4, trials=40, progress={progress})
"""
EVALUATION = """
import dpstats as dp
dp.evaluate.error_bounds("y ~ x", dp.simulate.line(50, seed=1), methods=["gd_pure"], epsilon=1,
                         bounds={{"x": (0, 1), "y": (0, 1)}}, trials=2, progress={progress},
                         public=True)
"""


def said(cache, progress, code=FIT, methods=("gd_pure",) * 2) -> str:
    """What a new process with this cache of compiled code writes on standard error."""
    done = subprocess.run(
        [sys.executable, "-c", code.format(progress=progress, methods=methods)],
        env=os.environ | {"NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stderr


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A cache that a first fit filled, and what was said then."""
    cache = tmp_path_factory.mktemp("compiled")
    return cache, said(cache, None)


def test_the_first_fit_alone_says_that_it_compiles(compiled, tmp_path):
    # on a busy machine a fit may take long enough to show a bar beside the sentence
    cache, first = compiled
    assert first.count(SENTENCE) == 1 and SENTENCE not in said(cache, None)
    assert said(tmp_path, False) == ""


def test_loops_of_another_method_are_compiled_aloud_too(compiled):
    both = ("gd_pure", "adassp")
    assert said(compiled[0], None, methods=both).count(SENTENCE) == 1
    assert SENTENCE not in said(compiled[0], None, methods=both)


@pytest.mark.parametrize("code", [PLAN, AUDIT, EVALUATION], ids=["plan", "audit", "evaluation"])
def test_others_that_fit_say_it(tmp_path, code):
    assert said(tmp_path, None, code).count(SENTENCE) == 1
    assert said(tmp_path / "other", False, code) == ""


def test_files_of_compiled_loops_name_no_class():
    # a class that has moved since would stop fits, after the charge, where numba reads its index
    dp.dp_ols("y ~ x", dp.simulate.line(200, seed=1), epsilon=1)
    modules = [module for name, module in sys.modules.items() if name.startswith("dpstats.")]
    loops = {loop for module in modules for loop in vars(module).values() if is_jitted(loop)}
    signatures = [signature for loop in loops for signature in loop.signatures]
    assert len(signatures) > 3
    for signature in signatures:
        assert b"dpstats" not in pickle.dumps(signature), signature


def columns(rows: int, **arrays) -> pd.DataFrame:
    """Complete rows, two of a person, in arrays of one piece or as they are given."""
    spread = np.random.default_rng(1).random((4, rows))
    frame = pd.DataFrame(dict(zip("xyzm", spread, strict=True)) | arrays)
    return frame.assign(g=pd.array((["a", "b"] * rows)[:rows], "string"), id=np.arange(rows) // 2)


UNIT = {"x": (0, 1), "y": (0, 1)}
CALLS = {
    "description": lambda data: dp.dp_describe(
        data, ["x", "y"], epsilon=1, by="g", groups=["a", "b"], bounds=UNIT
    ),
    "description of columns without bounds": lambda data: dp.dp_describe(
        data, ["x", "y"], epsilon=1, subset="m > 0"
    ),
    "newton": lambda data: dp.dp_ols("y ~ x + m", data, epsilon=1),
    "newton, bounds": lambda data: dp.dp_ols("y ~ x + C(g)", data, epsilon=1, bounds=UNIT,
                                             levels={"g": ["a", "b"]}),
    "weights": lambda data: dp.dp_ols("y ~ x", data, epsilon=1, weights="m", bounds={"m": (0, 1)}),
    "pairs": lambda data: dp.dp_ols("y ~ x | g", data, epsilon=1),
    "clusters": lambda data: dp.dp_ols("y ~ x", data, epsilon=9, cluster="g", cov_type="cluster"),
    "persons": lambda data: dp.dp_ols("y ~ x", data, epsilon=1, unit="id", max_rows=2),
    "sums": lambda data: dp.dp_ols("y ~ x + m", data, epsilon=1, method="adassp"),
    "sums in bounds": lambda data: dp.dp_ols("y ~ x", data, epsilon=1, method="adassp",
                                             bounds=UNIT, cov_type="HC1"),
    "sums about persons": lambda data: dp.dp_ols("y ~ x | id", data, epsilon=1, method="adassp",
                                                 bounds=UNIT, unit="id"),
    "counts": lambda data: dp.dp_poisson("y ~ x", data, epsilon=1, exposure="m"),
}  # fmt: skip
STORED = {
    "pieces": lambda rows: columns(rows),
    "backwards": lambda rows: columns(rows).iloc[::-1],
    "rows after rows": lambda rows: columns(rows, x=np.ones((rows, 3)).cumsum(0)[:, 1] / rows),
    "no multiples of 8 bytes": lambda rows: columns(rows, x=np.zeros(rows, "i1, f8")["f1"]),
}


def met(data, call, monkeypatch) -> dict[str, set]:
    """The types that each loop over rows is called with."""
    found: dict[str, set] = {}

    def watched(name, loop):
        def called(*arguments):
            found.setdefault(name, set()).add(tuple(map(typeof, arguments)))
            return loop(*arguments)

        return called

    with monkeypatch.context() as patch, dp.testing.insecure_seed(1):
        for info in pkgutil.iter_modules(numerics.__path__):
            module = importlib.import_module(f"dpstats.numerics.{info.name}")
            for name, loop in vars(module).copy().items():
                if is_jitted(loop):
                    patch.setattr(module, name, watched(f"{info.name}.{name}", loop))
        call(data)
    assert found
    return found


def different(one: dict[str, set], other: dict[str, set]) -> dict[str, set]:
    """The types that differ, of loops that both tables are asked for, as releases say."""
    shared = one.keys() & other.keys()
    assert len(shared) > 1
    return {name: one[name] ^ other[name] for name in shared if one[name] != other[name]}


@pytest.mark.parametrize("stored", STORED)
@pytest.mark.parametrize("name", CALLS)
def test_no_missing_value_decides_what_is_compiled(name, stored, monkeypatch):
    """A copy without its row may be written to, and a table's own memory may not."""
    data = STORED[stored](60)
    other = data.copy(deep=False)
    gone = np.arange(60) == 7
    other["m"], other["g"] = data["m"].mask(gone), data["g"].mask(gone)
    one, two = (met(table, CALLS[name], monkeypatch) for table in (data, other))
    assert different(one, two) == {}


@pytest.mark.parametrize("name", ["clusters", "persons"])
def test_no_number_of_rows_decides_what_is_compiled(name, monkeypatch):
    """Scores of 4,096 persons are one block, and with one more they are slices of an array."""
    few, block, more = (met(columns(2 * n), CALLS[name], monkeypatch) for n in (3, 4096, 4097))
    assert different(few, block) == different(block, more) == {}


def in_use(rows: int) -> pd.DataFrame:
    """Sixty rows, of which so many have no missing value."""
    data = columns(60)
    gone = np.arange(60) >= rows
    return data.assign(x=data["x"].mask(gone), y=data["y"].mask(gone))


@pytest.mark.parametrize("name", CALLS)
def test_loops_are_compiled_whatever_number_of_rows_is_in_use(name, monkeypatch):
    """Tables without a row in use called fewer loops, and those of two some in another layout."""
    none, one, two = (met(in_use(n), CALLS[name], monkeypatch) for n in (0, 1, 2))
    assert none.keys() == one.keys() == two.keys()
    assert different(none, one) == different(one, two) == {}


def test_no_person_of_two_rows_decides_what_is_compiled(monkeypatch):
    """Deviations of persons of one row each are no rows at all."""
    data = columns(60)
    single, two = (data.assign(id=ids) for ids in (np.arange(60), np.maximum(np.arange(60), 1)))

    def call(data):
        return dp.dp_ols("y ~ x | id", data, epsilon=1, unit="id")

    one, other = (met(table, call, monkeypatch) for table in (single, two))
    assert one.keys() == other.keys() and different(one, other) == {}
