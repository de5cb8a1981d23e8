"""Neighbouring tables for the joint query of a description, with the worst rows among them."""

import math
from itertools import product

import numpy as np

from dpstats.describe.joint import Joint
from dpstats.describe.limits import Limits
from dpstats.schema import Categorical
from tests.checks.replay import Violation

NUMBER = Limits(low=-1.0, high=3.0, tails=None, is_known=True, first=-2, width=0.5, size=9)
COLUMNS = {"x": NUMBER, "g": Categorical(("a", "b")), "z": NUMBER}
VALUES = (math.nan, -math.inf, -1.0, 0.0, 0.9, 1.0, 3.0, 1e300, math.inf)
CODES = (-1, 0, 1)


def joint(groups: int = 1) -> Joint:
    """The joint query of two numbers and a factor."""
    return Joint.of(COLUMNS, groups)


def values_of(whole: Joint, rows: list[tuple]) -> np.ndarray:
    """Exact values (groups, m) of a table of rows (x, g, z, group)."""
    x, g, z, group = (np.array(column) for column in zip(*rows, strict=True))
    columns = {"x": x.astype(float), "g": g.astype(int), "z": z.astype(float)}
    return np.atleast_2d(whole.query(whole.total(columns, group.astype(int))).values)


def check_rows(groups: int = 2) -> None:
    """Raise Violation where a row moves the query further than stated, whatever it is.

    Every combination of values that are missing, infinite, at a limit, within and beyond.
    """
    whole = joint(groups)
    base = [(0.5, 0, 0.5, 0), (2.0, 1, math.nan, groups - 1)]
    before, largest = values_of(whole, base), 0.0
    for row in product(VALUES, CODES, VALUES, range(groups)):
        moved = values_of(whole, [*base, row]) - before
        length = math.sqrt(sum(int(v) ** 2 for v in moved.ravel().tolist()))
        largest = max(largest, length)
        if length > whole.query(whole.total(*_empty(groups))).l2:
            raise Violation(f"{row} moves the query by {length}")
    if largest < 0.99 * whole.l2:
        raise Violation(f"the query moves by {largest / whole.l2:.3f} of its bound at most")


def _empty(groups: int):
    none = np.zeros(0)
    return {"x": none, "g": none.astype(int), "z": none}, none.astype(int)
