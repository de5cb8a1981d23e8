"""Neighbouring tables for the joint query of a description, with the worst rows among them."""

import math
from itertools import product

import numpy as np

import dpstats as dp
from dpstats.codebook import Schema
from dpstats.describe.call import make_request
from dpstats.describe.counting import Counting
from dpstats.describe.joint import Joint
from dpstats.describe.limits import Limits
from dpstats.describe.release import describe
from dpstats.engines.units import PARTS, UNIT
from dpstats.range_estimation.bins import Linear, counts
from dpstats.rows import PrivacyUnit, Weights
from dpstats.schema import Categorical
from tests.checks.recording import Recording
from tests.checks.replay import Violation

NUMBER = Limits(low=-1.0, high=3.0, tails=None, is_known=True, first=-2, width=0.5, size=9)
COLUMNS = {"x": NUMBER, "g": Categorical(("a", "b")), "z": NUMBER}
VALUES = (math.nan, -math.inf, -1.0, 0.0, 0.9, 1.0, 3.0, 1e300, math.inf)
CODES = (-1, 0, 1)
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)


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


COUNTED = {
    "persons": Counting(PrivacyUnit("id", 1), by="group"),
    "persons of two rows": Counting(PrivacyUnit("id", 2), by="group"),
    "persons in two groups": Counting(PrivacyUnit("id", 1, 2), by="group"),
    "persons without groups": Counting(PrivacyUnit("id", 2)),
    "weights": Counting(weights=Weights("w", 0.0, 8.0, 5.0), by="group"),
    "persons and weights": Counting(PrivacyUnit("id", 1, 2), Weights("w", 0.5, 3.0), "group"),
}
WEIGHED = (1e-9, 2.0, math.inf)
# What rows are: (x, g, z, group, weight). The first is the one that moves the query farthest.
WORST = (-math.inf, 0, -1.0, 0, math.inf)
OF_PERSONS = [
    WORST,
    (-1.0, 1, -1.0, 1, 9.0),
    (math.nan, -1, 0.9, 1, 0.01),
    (3.0, 0, math.nan, 0, 7),
]
BINS = {"x": Linear(-1.0, 3.0), "z": Linear(-1.0, 3.0)}


def persons() -> list[list[tuple]]:
    """Persons of up to four rows of several kinds, in all groups."""
    alike = [[WORST] * m for m in (1, 2, 3, 7)]
    across = [[(*WORST[:3], i % 2, math.inf) for i in range(m)] for m in (2, 3, 4)]
    mixed = [list(rows) for rows in product(OF_PERSONS, repeat=3)]
    weighed = [[(*WORST[:4], w) for w in each] for each in product(WEIGHED, repeat=2)]
    return [*alike, *across, *mixed, *weighed]


def counted_batch(counting: Counting, rows: list[tuple]) -> dict[str, np.ndarray]:
    """What counts of the rows of one person, or without a unit of one row each."""
    columns = dict(zip(("x", "g", "z", "group", "w"), zip(*rows, strict=True), strict=True))
    batch = {name: np.array(column, float) for name, column in columns.items()}
    batch |= {name: batch[name].astype(int) for name in ("g", "group")}
    batch[UNIT] = np.zeros(len(rows), int)
    return counting.of(batch)


def check_counted(name: str) -> None:
    """Raise Violation where a person, or a row with a weight, moves a query further than stated.

    The queries are the joint one and the histograms of the columns.
    """
    counting = COUNTED[name]
    groups = 1 if counting.by is None else 2
    whole = Joint.of(COLUMNS, groups, counting.one, counting.in_groups)
    largest = 0.0
    each = [[row] for row in OF_PERSONS] if counting.unit is None else persons()
    for rows in [*each, *([] if counting.unit else [[(*WORST[:4], w)] for w in WEIGHED])]:
        moved, held = _counted_values(counting, whole, rows)
        length = math.sqrt(sum(v**2 for v in moved))
        largest = max(largest, length)
        if length > whole.l2:
            raise Violation(f"{name}: {rows} moves the query by {length / whole.l2}")
        if held > counting.one * counting.in_groups:
            raise Violation(f"{name}: {rows} adds {held} to a histogram")
    if largest < 0.99 * whole.l2:
        raise Violation(f"{name}: the query moves by {largest / whole.l2:.3f} of its bound at most")


def _counted_values(counting: Counting, whole: Joint, rows: list[tuple]):
    """What rows add to the joint query, and to a histogram in all."""
    batch = counted_batch(counting, rows)
    codes = batch["group"] if counting.by else np.zeros(len(batch["x"]), int)
    moved = whole.query(whole.total(batch, codes, batch[PARTS])).values
    return np.ravel(moved).tolist(), counts(BINS, batch).sum(axis=1).max()


def request_of(data, columns, epsilon, **more):
    arguments = {"by": None, "groups": None, "subset": None, "quantiles": QUANTILES}
    arguments |= {"histogram": False, "statistics": None} | more
    rows = ("unit", "max_rows", "max_groups", "weights", "trim_weights")
    arguments = dict.fromkeys(rows) | arguments
    declared = Schema().updated(arguments.pop("bounds", None), arguments.pop("levels", None), None)
    return make_request(
        data, columns, declared=declared, epsilon=epsilon, delta=1e-6,
        alpha=0.05, neighbors=None, missing="drop", **arguments,
    )  # fmt: skip


def released(data, columns, epsilon, seed=1, outputs=None, **more):
    """(figures by (group, column, statistic, level), recording noise)."""
    request = request_of(data, columns, epsilon, **more)
    with dp.testing.insecure_seed(seed), np.errstate(all="ignore"):
        noise = Recording(request.cost, outputs)
        found = describe(request, noise)
    return {(g, c, f.statistic, f.level): f for g, c, f in found.figures}, noise
