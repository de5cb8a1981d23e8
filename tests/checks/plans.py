"""Make guesses for plans, and read the cells of a plan."""

import numpy as np

from dpstats.evaluate.public_rows import request_for
from dpstats.planning.assumptions import Guess

UNIT = {"x": (0, 1), "y": (0, 1)}
CALL = {"n": 400, "bounds": UNIT, "truth": {"x": 0.5}, "sd": 0.05, "repetitions": 60}


def cells(plan, term="x"):
    """The frame of one term by method and epsilon."""
    frame = plan.frame
    return frame[frame["term"] == term].set_index(["method", "epsilon"])


def guess_of(n=20_000, truth=None, sd=None, x_sd=None):
    """A guess of y ~ x on the unit square."""
    no_rows = {"x": np.empty(0), "y": np.empty(0)}
    request = request_for("y ~ x", no_rows, bounds=UNIT, levels=None, x_new=None)
    return Guess.of(request, n, truth=truth, sd=sd, x_sd=x_sd)
