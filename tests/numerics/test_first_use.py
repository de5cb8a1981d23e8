"""A first fit says once that it compiles, before it reads a row."""

import os
import subprocess
import sys

from dpstats.numerics.first_use import SENTENCE

FIT = """
import dpstats as dp
data = dp.simulate.line(50, seed=1)
for _ in range(2):
    dp.dp_ols("y ~ x", data, epsilon=1, method="gd_pure", bounds={{"x": (0, 1), "y": (0, 1)}},
              progress={progress})
"""


def said(cache, progress) -> str:
    """What a new process with this cache of compiled code writes on standard error."""
    done = subprocess.run(
        [sys.executable, "-c", FIT.format(progress=progress)],
        env=os.environ | {"NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stderr


def test_the_first_fit_alone_says_that_it_compiles(tmp_path):
    assert said(tmp_path / "silent", None) == ""  # this is no terminal
    # on a busy machine a fit may take long enough to show a bar beside the sentence
    first, second = said(tmp_path / "cache", True), said(tmp_path / "cache", True)
    assert SENTENCE in first
    assert SENTENCE not in second
    assert said(tmp_path / "other", False) == ""
