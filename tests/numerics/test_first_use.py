"""A process says once that it compiles, whatever was compiled before and wherever it writes to."""

import os
import pickle
import subprocess
import sys

import pytest
from numba.extending import is_jitted

import dpstats as dp
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
