"""Sample from exact distributions on a public grid: exponential mechanism and Student's t."""

import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

# Beyond this exponent every weight is the same: exp(-700) is still a normal double.
MAX_EXPONENT = 700.0
# Every double in [exp(-700), 1] is a whole multiple of 2^-1074.
_WEIGHT_BITS = 1074
# Lower weights count as half the upper ones when they fall short of it by a factor 1 - 2^-32.
_SLACK_BITS = 32
# The unit square is replaced by a lattice of 2^192 lines per side.
_LATTICE_BITS = 192


@dataclass(frozen=True)
class Block:
    """Hold grid points [start, stop) and the smallest and largest |imbalance| they can have."""

    start: int
    stop: int
    least: int
    largest: int

    @property
    def size(self) -> int:
        return self.stop - self.start


def weight(score: int, rate: float) -> float:
    """Return exp(-rate * score), but at least exp(-700)."""
    return math.exp(-min(rate * score, MAX_EXPONENT))


def integer_weight(score: int, rate: float) -> int:
    """Return :func:`weight` in units of 2^-1074, without any further rounding."""
    numerator, denominator = weight(score, rate).as_integer_ratio()
    return numerator << (_WEIGHT_BITS - denominator.bit_length() + 1)


def sample_index(
    imbalance: Callable[[int], int], size: int, rate: float, randbelow: Callable[[int], int]
) -> int:
    """Draw i in 0..size-1 with probability proportional to weight(|imbalance(i)| - s, rate).

    ``imbalance`` is a nonincreasing integer function of the index, such as the number
    of data points above grid point i minus the number below, and s is :func:`best` of it.
    The grid is cut into blocks until the weights are known to within a factor two on
    average; a block is drawn by its upper weights, a point uniformly within it, and kept
    with probability (true weight) / (upper weight). All weights are integers and all
    draws are uniform integers, so the output has exactly the stated distribution.
    """
    imbalance = cache(imbalance)
    base = best(imbalance, size, rate)
    return draw_from(_blocks(imbalance, size, rate, base), imbalance, rate, base, randbelow)


def draw_from(
    blocks: Sequence[Block],
    imbalance: Callable[[int], int],
    rate: float,
    base: int,
    randbelow: Callable[[int], int],
) -> int:
    """Draw as :func:`sample_index` does, once the grid is cut into blocks."""
    upper = [integer_weight(block.least - base, rate) for block in blocks]
    masses = [block.size * weight for block, weight in zip(blocks, upper, strict=True)]
    total = sum(masses)
    while True:
        draw = randbelow(total)
        chosen = 0
        while draw >= masses[chosen]:
            draw -= masses[chosen]
            chosen += 1
        index = blocks[chosen].start + draw // upper[chosen]
        score = abs(imbalance(index)) - base
        if randbelow(upper[chosen]) < integer_weight(score, rate):
            return index


def best(imbalance: Callable[[int], int], size: int, rate: float) -> int:
    """Find the smallest |imbalance|, or return 0 where no weight is cut off and it cancels.

    Without it every weight could be cut off, and the draw be uniform, when even the best
    point has a large imbalance. It is at the change of sign, which is searched at the points
    where :func:`_blocks` cuts, so that a cache spares most of the counts there.
    """
    ends = imbalance(0), imbalance(size - 1)
    if rate * max(abs(end) for end in ends) <= MAX_EXPONENT:
        return 0
    start, stop = 0, size
    while stop - start > 1:
        midpoint = (start + stop) // 2
        start, stop = (start, midpoint) if imbalance(midpoint) < 0 else (midpoint, stop)
    return min(abs(imbalance(index)) for index in (start, min(stop, size - 1)))


def _blocks(imbalance: Callable[[int], int], size: int, rate: float, base: int) -> list[Block]:
    """Cut the grid until the lower weights add up to half the upper weights, or very nearly.

    Which block is cut next and when to stop do not affect exactness. Doubles and a little slack
    make these decisions the same here as in :func:`dpstats.noise.exponential_compiled.partition`.
    """
    heap: list[tuple[float, int, int, int, int]] = []
    lower = upper = 0

    def masses(start, stop, first, last):
        """Bound the weight of [start, stop), whose imbalances lie in [last, first]."""
        least, largest = magnitudes(first, last, base)
        return (
            (stop - start) * integer_weight(largest - base, rate),
            (stop - start) * integer_weight(least - base, rate),
        )

    def push(start, stop, first, last):
        nonlocal lower, upper
        low, high = masses(start, stop, first, last)
        lower, upper = lower + low, upper + high
        least, largest = (score - base for score in magnitudes(first, last, base))
        gap = (stop - start) * weight(least, rate) - (stop - start) * weight(largest, rate)
        heapq.heappush(heap, (-gap, start, stop, first, last))

    push(0, size, imbalance(0), imbalance(size - 1))
    while (2 * lower << _SLACK_BITS) < upper * ((1 << _SLACK_BITS) - 1):
        _, start, stop, first, last = heapq.heappop(heap)
        low, high = masses(start, stop, first, last)
        lower, upper = lower - low, upper - high
        midpoint = (start + stop) // 2
        if midpoint == start:
            push(start, stop, first, first)
            continue
        at_middle = imbalance(midpoint)
        push(start, midpoint, first, at_middle if midpoint - start > 1 else first)
        push(midpoint, stop, at_middle, last)
    heap.sort(key=lambda block: block[1])
    return [Block(a, b, *magnitudes(first, last, base)) for _, a, b, first, last in heap]


def magnitudes(first: int, last: int, base: int) -> tuple[int, int]:
    """Return the smallest and largest |v| >= base over integers v with first >= v >= last."""
    least = 0 if first >= 0 >= last else min(abs(first), abs(last))
    return max(least, base), max(abs(first), abs(last), base)


def below_beginning_with(
    words: Iterator[int], more: Callable[[int], bytes]
) -> Callable[[int], int]:
    """Return a source of uniform integers 0..n-1, each floor(V n) for a uniform V in [0, 1).

    The first 64 bits of V are the next of ``words``; further ones, as many as it takes to know
    the floor, and all bits once there are no more words, come from ``more``. So the integers
    are exactly uniform when words and bytes are.

    >>> import secrets
    >>> below = below_beginning_with(iter([1 << 63, 3 << 62]), secrets.token_bytes)
    >>> below(6), below(100)
    (3, 75)
    """

    def word() -> int:
        return int.from_bytes(more(8), "little")

    def below(bound: int) -> int:
        first = next(words, None)
        digits, bits = word() if first is None else first, 64
        while True:
            low = digits * bound >> bits
            if ((digits + 1) * bound - 1) >> bits == low:
                return low
            digits, bits = digits << 64 | word(), bits + 64

    return below


def sample_student(center: int, scale: float, randbelow: Callable[[int], int]) -> int:
    """Draw center + scale q, rounded to an integer, for q of density proportional to (1 + q^2)^-2.

    sqrt(3) q has Student's t distribution with three degrees of freedom. q is the ratio
    w / u for (u, w) uniform on the disc u^2 + w^2 <= u (ratio of uniforms, Kinderman and
    Monahan 1977: the sector between the angles a and a + da has area cos(a)^2 da / 2, and
    q = tan a). Here (u, w) is uniform on the points of a square lattice of spacing 2^-192
    in the disc; the rest is integer arithmetic.

    Accuracy. An output is a sector, which is convex: line by line, the number of lattice
    points in a convex part of the unit square differs from its area times 2^384 by less
    than 4 2^192. An output within 2^30 of the centre has a sector of area at least
    2^-123 for any scale in [1, 2^80], so every such probability is right to a factor
    1 + 2^-65, and so are those of outputs lumped together.
    """
    numerator, denominator = scale.as_integer_ratio()
    while True:
        u = 2 * randbelow(1 << _LATTICE_BITS) + 1
        w = 2 * randbelow(1 << _LATTICE_BITS) + 1 - (1 << _LATTICE_BITS)
        if u * u + w * w <= u << (_LATTICE_BITS + 1):
            return center + (2 * numerator * w + denominator * u) // (2 * denominator * u)
