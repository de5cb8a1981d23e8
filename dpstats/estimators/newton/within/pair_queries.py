"""Release the sums over pairs of rows within groups of which noisy Newton steps are made."""

import math
from collections.abc import Callable
from functools import partial
from typing import Self

import numpy as np

from dpstats.estimators.contract import Passes, Problem
from dpstats.estimators.newton.row_sums import IndicatorBasis, PairRows
from dpstats.estimators.newton.row_sums.indicator_basis import release_products
from dpstats.estimators.newton.row_sums.pair_sums import differences, squares
from dpstats.estimators.newton.steps import Counted, Queries, SquaredLoss
from dpstats.estimators.newton.steps.queries import WEIGHT
from dpstats.estimators.newton.within.group_sizes import GroupSizes
from dpstats.noise import Noise, Query
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.privacy import Cost

_ONE = 1 << ENTRY_BITS
_BITS = 10


class PairQueries(Queries):
    r"""Release sums over groups g of n rows of (1/n) sum_{i<j in g} f(i, j), whatever the groups.

    With weights w in [0, 1] they are of (1/W) sum_{i<j in g} w_i w_j f(i, j), W the sum of the w
    of the group; without any each row has w = 1, and W = n.

    Proof of the sensitivities. A row of weight w that joins a group brings pairs at the weights
    w w_j / (W + w), and the old ones lose w_i w_j (1/W - 1/(W + w)) = w_i w_j w / (W (W + w)) each.
    So the sum moves by a - b, where a is w W / (W + w) times a mean of f over the new pairs, and b
    w (W^2 - Q) / (2 W (W + w)) times one over the old, Q the sum of the w_i^2: |a| < w sup |f| and
    |b| < w sup |f| / 2, with w at most 1. Other groups do not change, and one row alone adds
    nothing. A row that is replaced leaves a group and joins one, its own or another, with the same
    weight or another: the sum moves by (a' - b') - (a - b), each of the two as above.

    - A vector of |f| <= C: |a - b| <= 3/2 C. Replace-one: 3 C.
    - Where inner products of any two values of f are not negative, such as of matrices u u' or of
      counts in bins, and |f| <= B: |a - b|^2 <= |a|^2 + |b|^2 <= 5/4 B^2. Replace-one:
      a' + b and a + b' have norms of at most 3/2 B and such an inner product, so the square of
      their difference is at most 9/2 B^2. In L1, counts move by 3/2 or 3.
    - A share q in [0, 1]: a - b is in (-1/2, 1), and (a' - b') - (a - b) in (-3/2, 3/2).
    - Scores of |f| <= C with w C q beside them: C sqrt(9/4 + w^2). Replace-one:
      C sqrt(9 + 9/4 w^2). In L1 scores of p entries have at most sqrt p C each, so these are
      C (3/2 sqrt p + w) and C (3 sqrt p + 3/2 w).
    - Twice the weight of all pairs is the sum of W - Q / W over groups, n - 1 without weights. A
      row that joins adds w (W^2 + Q) / (W (W + w)) to it, which is between 0 and 1: with Q <= W it
      is at most w (W + 1) / (W + w), which is at most 1 for W >= 1, and with Q <= W^2 at most
      2 w W / (W + w), which is for W <= 1. So it moves by at most 1, under replace-one too. With
      weights the sum of W is beside it, which moves by at most 1 as well; under add/remove also
      the number of rows, which is public under replace-one: sqrt 1, 2 or 3 for so many.
    - The Euclidean norm of the groups' W rises by at most 1 as a row joins and falls by at most 1
      as one leaves, so it moves by at most 1 under both; with weights that of the numbers of rows,
      which moves so too, is beside it: sqrt 2.

    Rounding. Each group's sum is rounded down to a whole number, so an entry of a group that
    changes is off by less than one unit: of one group, under replace-one of two. What a pair adds
    to a sum of its group is cut toward zero first, of products the vector of which they are made:
    this is w_i w_j f for another f as short, whose products are as positive.
    """

    @classmethod
    def over(cls, passes: Passes, problem: Problem, noise: Noise) -> Self:
        """Return the releases before anything is known of the columns; rows come with keys."""
        basis = IndicatorBasis.unscaled(len(problem.low))
        return cls(basis, passes.sum, problem, noise, SquaredLoss())

    INDICATOR = 0.4 * math.sqrt(2)
    """The root mean square that differences of an indicator are taken to have."""

    TAILS_GO_ON = True
    """Tell whether tails of a column's differences count as they go on where noise hides them."""

    @property
    def groups_changed(self) -> int:
        """Return how many groups a neighbour may change."""
        return 2 if self.replaces else 1

    @property
    def score_sensitivity(self) -> float:
        """Return how far a row may move a sum of scores, over the limit on one score."""
        exact = math.hypot(3.0, 1.5 * WEIGHT) if self.replaces else math.hypot(1.5, WEIGHT)
        return exact + self.groups_changed * math.sqrt(self.basis.size + 1) / _ONE

    def score_l1(self, p: int) -> float:
        """Return how far a row may move sums of scores of p entries in L1, over the limit."""
        one, half = (3.0, 1.5) if self.replaces else (1.5, 1.0)
        exact = one * math.sqrt(p) + half * WEIGHT
        return exact + self.groups_changed * (p + 1) / _ONE

    @property
    def positive_sensitivity(self) -> float:
        """Return how far a row may move a sum of values without negative inner products."""
        return math.sqrt(4.5 if self.replaces else 1.25)

    def numbers(self, sizes: GroupSizes, cost: Cost) -> tuple[Counted, Counted]:
        """Release the weight of all pairs, and what all rows count for with their number."""
        unit, rows = sizes.unit, sizes.rows
        rounded = self.groups_changed * sizes.weighted
        values = [sizes.freedom, sizes.total, rows * unit]
        values = values[: 1 + sizes.weighted] + values[2:] * (not self.replaces)
        l1, l2 = unit * len(values) + rounded, unit * math.sqrt(len(values)) + rounded
        query = Query("degrees of freedom", values, l1=l1, l2=l2, unit=1 / unit)
        noisy = self.noise.add(query, cost)
        freedom, *others = (max(float(value), 1.0) for value in noisy.values)
        number = float(max(rows, 1)) if self.replaces else others[-1]
        weight = Counted(freedom / 2, noisy.deviation / 2)
        if not others:
            return weight, Counted(number)
        return weight, Counted(others[0], noisy.deviation, min(others[0] / number, 1.0))

    def norms_of_sizes(self, sizes: GroupSizes, cost: Cost) -> tuple[float, float, float]:
        """Release the norm of what groups count for, in steps of 2^-10, the noise, that of rows."""
        values = sizes.norms(_BITS)
        far, number = 2**_BITS + 1, len(values)  # rounded down
        l1, l2, unit = number * far, math.sqrt(number) * far, 2.0**-_BITS
        noisy = self.noise.add(Query("norm of group sizes", values, l1=l1, l2=l2, unit=unit), cost)
        norm, rows = (max(float(noisy.values[i]), 1.0) for i in (0, -1))
        return norm, noisy.deviation, rows

    def counts(self, step: str, work: Callable, cost: Cost, one: int = 1):
        """Release counts of pairs in bins, of which each is in one."""
        values = self.total(work)
        rounded, bins = self.groups_changed, len(values)
        l1 = 1.5 * self.groups_changed * _ONE + rounded * bins
        l2 = self.positive_sensitivity * _ONE + rounded * math.sqrt(bins)
        return self.noise.add(Query(step, values.tolist(), l1=l1, l2=l2, unit=1 / _ONE), cost)

    def products(
        self, step: str, work: Callable, bound: float, free: np.ndarray, cost: Cost,
        entries: int | None = None,
    ) -> tuple[np.ndarray, float]:  # fmt: skip
        """Release products of entries of pairs of squared norms of at most ``bound``."""
        return release_products(
            step, self.total(work), bound, free, cost, self.noise, self.problem.neighbors,
            self.positive_sensitivity, self.groups_changed,
        )  # fmt: skip

    def sizes(self, name: str, values: Callable, edges: np.ndarray, cost: Cost):
        """Release counts of pairs by the size of differences of ``values(rows)``."""
        return self.counts(f"differences of {name}", partial(_by_size, values, edges), cost)

    def mean_square(self, cut: float, rows: float, cost: Cost):
        """Release the mean of min(|y| / cut, 1)^2 times cut^2 over pairs, and the noise on it."""
        total = self.total(partial(squares, self.reference.y_scale, cut))
        moved = 1.5 if self.replaces else 1.0
        far = moved * _ONE + 2
        query = Query("mean square of y", [total], l1=far, l2=far, unit=1 / _ONE)
        noisy = self.noise.add(query, cost)
        return float(noisy.values[0]) * cut**2 / rows, noisy.deviation * cut**2 / rows

    def cluster_products(
        self, work: Callable, bound: float, far: float, p: int, cost: Cost
    ) -> tuple[np.ndarray, float]:
        """Release products (p, p) of groups' scores, which move by ``far`` times ``bound``."""
        free = np.ones((p, p), dtype=bool)
        return release_products(
            "products of groups' scores", self.total(work), bound, free, cost, self.noise,
            self.problem.neighbors, far,
        )  # fmt: skip


def _by_size(values: Callable, edges: np.ndarray, rows: PairRows) -> np.ndarray:
    return differences(values(rows), edges, rows)
