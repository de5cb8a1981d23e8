"""The only module that draws randomness for a release.

A mechanism states a query (exact integers and their sensitivity) and what it may
cost; the noise is calibrated here, drawn by OpenDP, recorded as an event, and refused
when the limit given to the mechanism would be exceeded. So an amount of noise that
does not match the stated sensitivity and cost cannot be written in a mechanism.
"""

import math
import secrets
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dpstats.errors import BudgetError
from dpstats.privacy import GDP, ApproxDP, Cost, Event, PureDP
from dpstats.sampling import sample_index, sample_student

# Noise is drawn with a scale of about 2^40 grid units: fine enough that a discrete
# Gaussian is a continuous one to within double precision, coarse enough for int64.
_SCALE_BITS = 40


@dataclass(frozen=True)
class Query:
    """Exact integers to release, and how far one person can move them.

    ``values`` are Python integers in multiples of ``unit``; ``l1`` and ``l2`` bound the
    L1 and L2 norm of the change of ``values`` between neighbours, in the same units
    (None where the mechanism has derived no bound).
    """

    step: str
    values: Sequence[int]
    l1: float | None = None
    l2: float | None = None
    unit: float = 1.0


@dataclass(frozen=True)
class RankQuery:
    """A choice among ``size`` public points with utility -|imbalance(i)|.

    ``imbalance`` is an integer function, nonincreasing in i; ``sensitivity`` bounds its
    change between neighbours at every i.
    """

    step: str
    imbalance: Callable[[int], int]
    size: int
    sensitivity: int


@dataclass(frozen=True)
class SmoothQuery:
    """A point of a public grid whose sensitivity is smoothed over nearby data.

    ``index`` is the exact value, 0..size-1, at most 2^30, in grid steps of ``unit``.
    ``bound(t)`` is a t-smooth upper bound on its local sensitivity in grid steps (Nissim,
    Raskhodnikova and Smith 2007, Definition 2.1): between neighbours the index moves by
    at most bound(t), and bound(t) by a factor of at most e^t. It lies in [1, size).
    """

    step: str
    index: int
    size: int
    bound: Callable[[float], float]
    unit: float = 1.0


@dataclass(frozen=True)
class ScoreQuery:
    """A choice of the item with the largest of some integer scores.

    ``scores`` are Python integers in multiples of ``unit``. ``spread`` bounds, between
    neighbours, by how much more one score can rise than another, in the same units: twice
    the sensitivity when scores may move either way, less when they tend to move together.
    """

    step: str
    scores: Sequence[int]
    spread: int
    unit: float = 1.0


class Noise:
    """Draws and records the noise of one release, up to a limit.

    Parameters
    ----------
    limit : PureDP or GDP
        What all draws together may cost.
    """

    def __init__(self, limit: Cost):
        self.limit = limit
        self.events: list[Event] = []
        self._source = _SOURCE.get()

    @property
    def private(self) -> bool:
        """False when the draws come from a seeded generator."""
        return self._source.private

    def add(self, query: Query, cost: Cost) -> np.ndarray:
        """Release the query with Gaussian (GDP) or else Laplace noise.

        Guarantee. Discrete Laplace noise of scale l1 / epsilon on integers is
        epsilon-DP (Ghosh, Roughgarden and Sundararajan 2012). Gaussian noise of
        standard deviation l2 / mu is mu-GDP (Dong, Roth and Su 2022, Theorem 2.7); the
        discrete Gaussian drawn here has a standard deviation of at least 2^40 grid
        units, where its probabilities equal those of the rounded continuous one up to
        a factor 1 + 2^-60 within 40 standard deviations and the rest has
        probability below e^-800; the scale is rounded up by more than that.

        Returns
        -------
        numpy.ndarray
            float64, one noisy value per query value, in the query's natural units.
        """
        gaussian = isinstance(cost, GDP)
        sensitivity = query.l2 if gaussian else query.l1
        scale = sensitivity / (cost.mu if gaussian else cost.epsilon) * (1 + 2.0**-40)
        name = "gaussian" if gaussian else "laplace"
        cost = PureDP(cost.epsilon) if isinstance(cost, ApproxDP) else cost
        self._record(Event(query.step, name, sensitivity * query.unit, scale * query.unit, cost))
        values, scale, unit = _on_noise_grid(query, scale, sensitivity, gaussian)
        draws = self._source.draw(name, scale, len(values))
        return np.array([(v + z) * unit for v, z in zip(values, draws, strict=True)], dtype=float)

    def choose(self, query: RankQuery, cost: PureDP) -> int:
        """Release an index by the exponential mechanism (McSherry and Talwar 2007).

        Guarantee. P(i) is proportional to the larger of exp(-rate s_i) and
        exp(-700 - rate s), with s_i = |imbalance(i)|, s the least of them and
        rate = epsilon' / (2 sensitivity). Between neighbours every s_i, and so s, moves by
        at most the sensitivity, so each of these weights and their sum move by a factor
        of at most e^(epsilon'/2), and P(i) by e^epsilon'. The weights are divided by
        exp(-rate s), which cancels, and are doubles with a relative error below 2^-42
        (the exponent is at most 700); the ratio has four of them, hence
        epsilon' = epsilon - 2^-36. Sampling itself is exact integer arithmetic
        (:mod:`dpstats.sampling`).

        Returns
        -------
        int
            An index in 0..size-1; every index is possible whatever the data.
        """
        scale = 2 * query.sensitivity / cost.epsilon
        self._record(Event(query.step, "exponential", query.sensitivity, scale, cost))
        rate = max(cost.epsilon - 2.0**-36, 0.0) / (2 * query.sensitivity)
        return sample_index(query.imbalance, query.size, rate, self._source.randbelow)

    def smooth(self, query: SmoothQuery, cost: PureDP) -> int:
        """Release a grid point with Student-t noise on the scale of its smooth sensitivity.

        Guarantee. The noise is c q with q of density h(q) proportional to (1 + q^2)^-2 and
        c = 4 S / epsilon', S = bound(epsilon' / 6). Let neighbours have (f, c), (f', c').
        - Shift: |h'/h| = |4 q / (1 + q^2)| <= 2, so moving f by at most S costs
          2 S / c = epsilon' / 2.
        - Scale: the density h(q / c) / c has d log / d log c = 4 q^2 / (1 + q^2) - 1 at
          q / c, in [-1, 3], so moving log c by at most epsilon' / 6 costs epsilon' / 2.
        Together epsilon' (Bun and Steinke 2019, Theorem 31, which has 4 for the 3). The
        larger of c and one grid step moves no faster than c. Rounding to the grid and
        clamping to 0..size-1 are post-processing. S and c are doubles with a relative
        error below 2^-45 and the draw is right to a factor 1 + 2^-65
        (:func:`~dpstats.sampling.sample_student`), together less than
        epsilon - epsilon' = 2^-40 epsilon + 2^-36.

        The event holds the range and the scale that belongs to it: the sensitivity and
        the scale in use are private.

        Returns
        -------
        int
            An index in 0..size-1; every index is possible whatever the data.
        """
        largest = (query.size - 1) * query.unit
        scale = 4 * largest / (math.sqrt(3) * cost.epsilon)
        self._record(Event(query.step, "student-t", largest, scale, cost))
        epsilon = cost.epsilon * (1 - 2.0**-40) - 2.0**-36
        if epsilon < 2.0**-36:
            return self._source.randbelow(query.size)
        scale = max(4 * query.bound(epsilon / 6) / epsilon, 1.0)
        draw = sample_student(query.index, scale, self._source.randbelow)
        return min(max(draw, 0), query.size - 1)

    def best(self, query: ScoreQuery, cost: Cost) -> int:
        """Release the index of a large score: the largest one after noise (report noisy max).

        Guarantee. Let between neighbours each score move by d_j, max d - min d <= spread,
        and s = spread / cost.loss_range be the scale of the noise.
        - GDP: Gumbel noise makes P(j) proportional to e^(u_j / s), the exponential mechanism
          (McSherry and Talwar 2007). The loss is (d_j - c) / s with c the same for all j, so
          it lies in an interval of length spread / s: :attr:`GDP.loss_range`.
        - Pure: exponential noise is permute-and-flip (McKenna and Sheldon 2020; Ding
          et al. 2021), epsilon-DP for scores that move by at most s epsilon / 2.
          Adding a constant to all scores changes no probability, so only the part of d
          beyond its centre counts, and that is at most spread / 2.
        OpenDP draws both with integer scores and arbitrary precision. Every index is
        possible whatever the data, and equal scores are equally likely.

        Returns
        -------
        int
            An index in 0..len(scores)-1.
        """
        scale = query.spread / cost.loss_range * (1 + 2.0**-40)
        name = "exponential" if isinstance(cost, GDP) else "permute-and-flip"
        cost = PureDP(cost.epsilon) if isinstance(cost, ApproxDP) else cost
        sensitivity = query.spread / 2 * query.unit
        self._record(Event(query.step, name, sensitivity, scale * query.unit, cost))
        return self._source.best(name, scale, [int(score) for score in query.scores])

    def labels(self, rows: int, parts: int) -> np.ndarray:
        """A label below ``parts`` for each row, drawn independently of it and of the others.

        So the labels of all other rows have the same distribution whether a row is there or
        not. They are uniform up to parts / 2^32, which no guarantee rests on.
        """
        words = np.frombuffer(self._source.bytes(4 * rows), dtype=np.uint32)
        return (words % parts).astype(np.int64)

    def sample(self, population: int, size: int) -> list[int]:
        """Draw ``size`` different integers below ``population``, independent of any data."""
        chosen: dict[int, None] = {}
        for top in range(population - size, population):
            draw = self._source.randbelow(top + 1)
            chosen[top if draw in chosen else draw] = None
        return list(chosen)

    def _record(self, event: Event) -> None:
        """Keep the event, unless the limit would be exceeded."""
        costs = [past.cost for past in self.events]
        if not self.limit.covers([*costs, event.cost]):
            raise BudgetError(f"{event.step!r} would exceed the limit {self.limit} of this release")
        self.events.append(event)


def _on_noise_grid(query: Query, scale: float, sensitivity: float, gaussian: bool):
    """Values, noise scale and unit on a grid where the scale is about 2^40 units.

    A finer grid is exact. On a coarser one each value is rounded down to a multiple of
    g, which moves the difference of neighbours by less than one new unit a value: the
    sensitivity grows by m in L1 and sqrt(m) in L2, and the scale with it.
    """
    shift = _SCALE_BITS - math.frexp(scale)[1] + 1
    values = [int(value) for value in query.values]
    if shift >= 0:
        return [value << shift for value in values], math.ldexp(scale, shift), query.unit / 2**shift
    rounding = math.sqrt(len(values)) if gaussian else len(values)
    inflation = 1 + math.ldexp(rounding, -shift) / sensitivity
    return (
        [value >> -shift for value in values],
        math.ldexp(scale, shift) * inflation,
        math.ldexp(query.unit, -shift),
    )


@lru_cache(maxsize=256)
def _measurement(name: str, scale: float):
    """OpenDP's integer mechanism for one scale."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    if name == "gaussian":
        return dp.m.make_gaussian(domain, dp.l2_distance(T="f64"), scale=scale)
    return dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale=scale)


@lru_cache(maxsize=256)
def _selection(name: str, scale: float):
    """OpenDP's report noisy max for one scale: Gumbel or exponential noise."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    gumbel = name == "exponential"
    measure = dp.zero_concentrated_divergence() if gumbel else dp.max_divergence()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    return dp.m.make_noisy_max(*space, measure, scale=scale)


class SystemSource:
    """Noise by OpenDP and integers by the operating system."""

    private = True
    randbelow = staticmethod(secrets.randbelow)
    bytes = staticmethod(secrets.token_bytes)

    @staticmethod
    def draw(name: str, scale: float, size: int) -> list[int]:
        """Integer noise of the named distribution.

        OpenDP adds it to zeros, and the caller adds it to exact Python integers, so
        that no sum is ever cut off at the ends of int64.
        """
        return _measurement(name, scale)([0] * size)

    @staticmethod
    def best(name: str, scale: float, scores: list[int]) -> int:
        """Index of the largest score after the noise of the named mechanism."""
        return _selection(name, scale)(scores)


class SeededSource:
    """Reproducible noise for tests and demonstrations; it protects nobody."""

    private = False

    def __init__(self, seed: int):
        self._generator = np.random.default_rng(seed)
        self.bytes = self._generator.bytes

    def randbelow(self, bound: int) -> int:
        """A uniform integer in 0..bound-1, by rejection."""
        bits = (bound - 1).bit_length()
        while True:
            words = self.bytes((bits + 7) // 8)
            value = int.from_bytes(words, "little") & ((1 << bits) - 1)
            if value < bound:
                return value

    def draw(self, name: str, scale: float, size: int) -> list[int]:
        """Rounded continuous noise of the named distribution."""
        distribution = {"gaussian": self._generator.normal, "laplace": self._generator.laplace}
        return [round(draw) for draw in distribution[name](0.0, scale, size)]

    def best(self, name: str, scale: float, scores: list[int]) -> int:
        """Index of the largest score after the noise of the named mechanism."""
        generator = self._generator
        draw = generator.gumbel if name == "exponential" else generator.exponential
        return int(np.argmax(np.array(scores) / scale + draw(size=len(scores))))


_SYSTEM = SystemSource()
_SOURCE: ContextVar[SystemSource | SeededSource] = ContextVar("source", default=_SYSTEM)  # noqa: B039
