"""Release the sums over pairs of rows within groups of which noisy Newton steps are made."""

import math
from collections.abc import Callable

import numpy as np

from dpstats.estimators.newton.indicator_basis import release_products
from dpstats.estimators.newton.queries import WEIGHT, Counted, Queries
from dpstats.noise import Query
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.privacy import Cost

_ONE = 1 << ENTRY_BITS
_BITS = 10


class PairQueries(Queries):
    r"""Release sums over groups g of n rows of (1/n) sum_{i<j in g} f(i, j), whatever the groups.

    Proof of the sensitivities. A row that joins a group of n rows brings n pairs at the weight
    1/(n + 1), and the n (n - 1) / 2 old ones lose 1/n - 1/(n + 1) = 1 / (n (n + 1)) each. So the
    sum moves by a - b, where a is n / (n + 1) times a mean of f over the new pairs, and b
    (n - 1) / (2 (n + 1)) times one over the old: |a| < sup |f| and |b| < sup |f| / 2. Other groups
    do not change, and one row alone adds nothing. A row that is replaced leaves a group and joins
    one, its own or another: the sum moves by (a' - b') - (a - b), each of the two as above.

    - A vector of |f| <= C: |a - b| <= 3/2 C. Replace-one: 3 C.
    - Where inner products of any two values of f are not negative, such as of matrices u u' or of
      counts in bins, and |f| <= B: |a - b|^2 <= |a|^2 + |b|^2 <= 5/4 B^2. Replace-one:
      a' + b and a + b' have norms of at most 3/2 B and such an inner product, so the square of
      their difference is at most 9/2 B^2. In L1, counts move by 3/2 or 3.
    - A share q in [0, 1]: a - b is in (-1/2, 1), and (a' - b') - (a - b) in (-3/2, 3/2).
    - Scores of |f| <= C with w C q beside them: C sqrt(9/4 + w^2). Replace-one:
      C sqrt(9 + 9/4 w^2).
    - The sum of n - 1 over groups of n rows, which is twice that of the weights of all pairs,
      moves by 0 or 1, under replace-one by -1, 0 or 1; with the number of rows beside it by
      sqrt 2, which is public under replace-one.
    - The Euclidean norm of the groups' sizes n rises by at most 1 as a row joins and falls by at
      most 1 as one leaves, so it moves by at most 1 under both.

    Rounding. Each group's sum is rounded down to a whole number, so an entry of a group that
    changes is off by less than one unit: of one group, under replace-one of two.
    """

    @property
    def groups_changed(self) -> int:
        """Return how many groups a neighbour may change."""
        return 2 if self.replaces else 1

    @property
    def score_sensitivity(self) -> float:
        """Return how far a row may move a sum of scores, over the limit on one score."""
        exact = math.hypot(3.0, 1.5 * WEIGHT) if self.replaces else math.hypot(1.5, WEIGHT)
        return exact + self.groups_changed * math.sqrt(self.basis.size + 1) / _ONE

    @property
    def positive_sensitivity(self) -> float:
        """Return how far a row may move a sum of values without negative inner products."""
        return math.sqrt(4.5 if self.replaces else 1.25)

    def numbers(self, sizes: np.ndarray, cost: Cost) -> tuple[Counted, Counted]:
        """Release the weight of all pairs, and the number of rows, by the sizes (G,) of groups."""
        rows, degrees = int(sizes.sum()), int(sizes.sum()) - len(sizes)
        values, step = [degrees] if self.replaces else [degrees, rows], "degrees of freedom"
        l2 = math.sqrt(len(values))
        noisy = self.noise.add(Query(step, values, l1=len(values), l2=l2), cost)
        weight = Counted(max(float(noisy.values[0]), 1.0) / 2, noisy.deviation / 2)
        if self.replaces:
            return weight, Counted(float(max(rows, 1)))
        return weight, Counted(max(float(noisy.values[1]), 1.0), noisy.deviation)

    def norm_of_sizes(self, sizes: np.ndarray, cost: Cost) -> tuple[float, float]:
        """Release the norm of the sizes (G,) of groups, in steps of 2^-10; return its noise too."""
        value = math.isqrt(int((sizes.astype(object) ** 2).sum()) << 2 * _BITS)
        far = 2**_BITS + 1  # rounded down
        noisy = self.noise.add(
            Query("norm of group sizes", [value], l2=far, unit=2.0**-_BITS), cost
        )
        return max(float(noisy.values[0]), 1.0), noisy.deviation

    def counts(self, step: str, work: Callable, cost: Cost, one: int = 1):
        """Release counts of pairs in bins, of which each is in one."""
        values = self.total(work)
        rounded, bins = self.groups_changed, len(values)
        l1 = 1.5 * self.groups_changed * _ONE + rounded * bins
        l2 = self.positive_sensitivity * _ONE + rounded * math.sqrt(bins)
        return self.noise.add(Query(step, values.tolist(), l1=l1, l2=l2, unit=1 / _ONE), cost)

    def products(
        self, step: str, work: Callable, bound: float, free: np.ndarray, cost: Cost
    ) -> tuple[np.ndarray, float]:
        """Release products of entries of pairs of squared norms of at most ``bound``."""
        return release_products(
            step, self.total(work), bound, free, cost, self.noise, self.problem.neighbors,
            self.positive_sensitivity, self.groups_changed,
        )  # fmt: skip

    def mean_square(self, work: Callable, cut: float, rows: float, cost: Cost):
        """Release the mean of min(|y| / cut, 1)^2 times cut^2 over pairs, and the noise on it."""
        moved = 1.5 if self.replaces else 1.0
        query = Query("mean square of y", [self.total(work)], l2=moved * _ONE + 2, unit=1 / _ONE)
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
