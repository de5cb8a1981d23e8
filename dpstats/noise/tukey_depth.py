"""Choose a deep point of nested boxes exactly, and test how stable the choice is.

The setting is that of :class:`~dpstats.noise.queries.DepthQuery`: boxes B_0, B_1, ..., B_Q
of lattice points, each within the one before; T(g), the depth of g, is the largest q with g in B_q;
between neighbours Y and Y' the depth of every point differs by at most 1, and B_0 is the
same. Weights are integers 0 < w_0 <= w_1 <= ... <= w_Q with w_{q+1} <= b w_q and
1 <= b <= e^c. With t the cutoff, write

    V(i) = number of points with T >= i,    W(i) = sum of w_{T(g)} over points with T >= i,
    R(k) = b^k w_t V(t-1-k) / W(t+k).

The mechanism finds the distance, the largest k in 0..min(t-1, Q-t) with R(k) <= delta, or -1
when there is none; it stops unless distance + Lap(1/e1) > log(1/(2 delta))/e1 - 1, and
otherwise draws a point g of depth T(g) >= t with probability w_{T(g)} / W(t).

It is (e1 + 2c, delta)-DP. Primes mark the quantities of the neighbour Y'.

1. The distance moves by at most 1. A point of depth >= i under Y' has depth >= i-1 under
   Y, so V'(t-k) <= V(t-1-k). A point of depth >= i under Y has depth >= i-1 under Y' and
   weighs at least 1/b as much there, so W'(t+k-1) >= W(t+k)/b. Hence R'(k-1) <= R(k) for
   k >= 1: if Y has distance k >= 1, then Y' has distance at least k-1. (R is nondecreasing
   in k, so the largest k is found by bisection.) The test is thus e1-DP.
2. Passing at distance -1 has probability P(Lap(1/e1) > log(1/(2 delta))/e1) = delta.
3. If R(0) <= delta, the draw M(Y) has P(M(Y) in S) <= e^(2c) P(M(Y') in S) + delta. Points
   of S with T >= t and T' >= t: each weighs at most b times as much under Y as under Y',
   and W'(t) <= b W(t-1) = b (W(t) + (V(t-1) - V(t)) w_{t-1}), so their probability is at
   most b^2 (1 + r) P(M(Y') in S) with r = (V(t-1) - V(t)) w_{t-1} / W(t). Where
   b^2 P(M(Y') in S) >= 1 the claim is trivial; elsewhere this adds at most r. Points with
   T >= t and T' < t have T = t: their probability is at most s = (V(t) - V(t+1)) w_t / W(t).
   And r + s <= V(t-1) w_t / W(t) = R(0).
4. Let A(Y) be the whole mechanism, S a set of outputs and p(Y) the probability of passing.
   If Y has distance >= 0, then R(0) <= delta and by 1 and 3
   P(A(Y) in S) <= e^(e1 + 2c) P(A(Y') in S) + p(Y) delta. If Y has distance -1, then
   p(Y) <= delta by 2, and stopping has at most e^e1 times its probability under Y':
   P(A(Y) in S) <= e^e1 P(A(Y') in S) + delta. Only Y's own distance is used, so no
   neighbour's neighbour enters and the two deltas are not added up.

Where it differs from Amin et al. (2023) and Gillenwater et al. (2023, Lemma 8.5). There
neighbours add or remove one *model*, depth is monotone and the draw costs c rather than 2c.
But adding or removing a *record* replaces a model by another, which raises the depth of some
points and lowers that of others, and the factor 2 cannot be dropped: a point whose depth
falls while that of most others rises loses a factor e^(2c).
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

# b is a multiple of 2^-32 and the smallest weight is 2^64.
_GROWTH_BITS = 32
_FIRST_WEIGHT = 1 << 64
# Beyond a factor e^16 per step the draw is at the greatest depth anyway; integers stay short.
_MAX_RATE = 16.0


@dataclass(frozen=True)
class Boxes:
    """Hold counts and weights of nested boxes, all exact.

    Parameters
    ----------
    volumes : list of int, length Q + 1
        V(q), the number of lattice points of depth at least q.
    weights : list of int, length Q + 1
        w_q; ``growth`` / 2^32 is b.
    """

    volumes: list[int]
    weights: list[int]
    growth: int

    @classmethod
    def of(cls, lower: Sequence[Sequence[int]], upper, rate: float) -> "Boxes":
        """Build boxes between the rows of ``lower`` and ``upper``, weights about e^(rate q)."""
        growth = math.floor(math.exp(min(rate, _MAX_RATE)) * 2.0**_GROWTH_BITS * (1 - 2.0**-40))
        growth = max(growth, 1 << _GROWTH_BITS)
        weights = [_FIRST_WEIGHT]
        for _ in range(len(lower) - 1):
            weights.append(weights[-1] * growth >> _GROWTH_BITS)
        volumes = [
            math.prod(high - low + 1 for low, high in zip(*corners, strict=True))
            for corners in zip(lower, upper, strict=True)
        ]
        return cls(volumes, weights, growth)

    def masses(self, cutoff: int) -> list[int]:
        """Return the weights of a mixture of uniform draws from the boxes q = cutoff, ..., Q.

        The boxes holding a point g are those with q <= T(g), so drawing box q with weight
        V(q) (w_q - w_{q-1}), the cutoff with V(t) w_t, and then a uniform point of it gives
        g the weight w_t + (w_{t+1} - w_t) + ... = w_{T(g)}. The sum is W(cutoff).
        """
        steps = zip(self.weights[cutoff + 1 :], self.weights[cutoff:], strict=False)
        gains = [self.weights[cutoff], *(after - before for after, before in steps)]
        return [v * gain for v, gain in zip(self.volumes[cutoff:], gains, strict=True)]

    def distance(self, cutoff: int, delta: float) -> int:
        """Return the largest k with R(k) <= delta, or -1."""
        numerator, denominator = delta.as_integer_ratio()

        def exceeds(k: int) -> bool:
            """Return whether R(k) > delta."""
            left = self.growth**k * self.weights[cutoff] * self.volumes[cutoff - 1 - k]
            right = sum(self.masses(cutoff + k)) << (_GROWTH_BITS * k)
            return left * denominator > right * numerator

        candidates = range(min(cutoff - 1, len(self.volumes) - 1 - cutoff) + 1)
        return bisect_left(candidates, True, key=exceeds) - 1

    def draw(self, cutoff: int, randbelow: Callable[[int], int]) -> int:
        """Draw the box from which the point is then drawn uniformly."""
        masses = self.masses(cutoff)
        draw, q = randbelow(sum(masses)), 0
        while draw >= masses[q]:
            draw -= masses[q]
            q += 1
        return cutoff + q
