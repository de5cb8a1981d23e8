"""The replay check: ask a release for its queries, then ask again of a neighbouring table.

A release is private when nothing but its noisy queries depends on the data, when no query
moves by more than the sensitivity it states, and when the noise fits that sensitivity and
the budget. :class:`Recorder` stands in for the noise: it writes down every query, measures
the noise that would have been drawn, and answers from a fixed generator or with answers
kept from another run. With the answers of the first table in hand, the neighbouring table
must put the same queries in the same order and publish the same release, bit by bit. Labels
drawn for the rows are kept too: rows that both tables hold get the same ones.
"""

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from unittest import mock

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr
from scipy.stats import norm

from dpstats.errors import ArgumentError
from dpstats.estimators.contract import Extremes, InMemory, Method, Problem, Reference
from dpstats.noise import (
    DepthQuery,
    Noise,
    NoisyValues,
    Objective,
    objective_perturbation,
    posterior,
    tukey_depth,
)
from dpstats.noise import noise as noise_module
from dpstats.noise.exact_samplers import sample_index, sample_student
from dpstats.noise.random_sources import SeededSource
from dpstats.numerics import Layout, Rows
from dpstats.privacy import ADD_REMOVE, GDP, Cost, Event, PureDP, gdp_epsilon
from dpstats.selection import Candidates, Selector
from tests.checks.rows import rows_of

# Noise.add multiplies every scale by 1 + 2^-40, which covers a stated sensitivity that
# is a double rounded down.
_ROUNDED_DOWN = 1 + Fraction(1, 2**40)
# How far a scale may exceed what its sensitivity and cost ask for.
_WASTE = 1e-6


class Violation(AssertionError):
    """A privacy claim that does not hold."""


@dataclass(frozen=True)
class Asked:
    """One query: what must be public about it, what it asked, and its answer.

    ``spread`` is the scale of the noise in natural units as drawn, or, of a choice, the
    rate at which log weights fall. ``law`` is the centre and scale of Student-t noise,
    both of which are private. ``boxes`` are those of a depth, whose outermost is public.
    ``objective`` is what a posterior or a minimiser is of, ``drawn`` the gamma, sigma and
    radius it is drawn with; the objective is private.
    """

    kind: str
    step: str
    size: int | tuple
    sensitivity: float = 0.0
    unit: float = 1.0
    spread: float = 0.0
    event: Event | None = None
    values: tuple[int, ...] = ()
    imbalance: Callable[[int], int] | None = None
    law: tuple[int, float] | None = None
    boxes: DepthQuery | None = None
    objective: Objective | None = None
    drawn: tuple[float, ...] = ()
    answer: object = None

    def public(self) -> tuple:
        """Everything that no row may influence."""
        fixed = self.sensitivity, self.unit, self.spread, self.drawn
        return self.kind, self.step, self.size, *fixed, self.event


@dataclass(frozen=True)
class Transcript:
    """The queries of one run and what it published."""

    asked: tuple[Asked, ...]
    released: object


class _Ruler:
    """A source whose every draw is exactly one scale, so that the scale can be read off."""

    private = True
    name = ""

    def draw(self, name: str, scale: float, size: int) -> list[int]:
        self.name = name
        return [round(scale)] * size

    def best(self, name: str, scale: float, scores: list[int]) -> int:
        self.name, self.scale = name, scale
        return 0


@contextmanager
def undrawn(sampler: str, answer) -> Iterator[list]:
    """Let a sampler of the noise answer without a draw; gives the arguments it was called with.

    It is asked so often that what mock makes would take a part of the time of the suite.
    """
    given, before = [], getattr(noise_module, sampler)

    def answered(*arguments):
        given[:] = arguments
        return answer

    setattr(noise_module, sampler, answered)
    try:
        yield given
    finally:
        setattr(noise_module, sampler, before)


class _Certain(Noise):
    """Noise that answers every query with one number."""

    def __init__(self, limit: Cost, answer: float):
        super().__init__(limit)
        self._source, self._answer = SeededSource(0), answer

    def add(self, query, cost):
        return NoisyValues(np.full(len(query.values), self._answer), None)


class Recorder(Noise):
    """Noise that keeps every query; it answers from a seed, or with the answers given.

    ``place`` is where the neighbour has one row more or less. With an odd seed every test
    of stability is answered so that it passes, which any noise might do.
    """

    def __init__(
        self,
        limit: Cost,
        seed: int = 0,
        answers: Sequence | None = None,
        place: int | None = None,
    ):
        super().__init__(limit)
        self.asked: list[Asked] = []
        self._place, self._lift, self._passes = place, 0.0, seed % 2 == 1
        self._answers = None if answers is None else list(answers)
        self._seeded = SeededSource(seed)
        self._generator = np.random.default_rng(seed)

    def add(self, query, cost):
        """Measure the noise on zeros, then answer."""
        values = tuple(int(value) for value in query.values)
        self._source = ruler = _Ruler()
        spreads = super().add(replace(query, values=[0] * len(values)), cost).values
        self._source = self._seeded
        self._check_charged(query.step)
        if np.any(spreads != spreads[0]):
            raise Violation(f"{query.step}: values of one query have different noise")
        asked = Asked(
            ruler.name,
            query.step,
            len(values),
            query.l1 if ruler.name == "laplace" else query.l2,
            query.unit,
            float(spreads[0]),
            self.events[-1],
            values,
        )
        draw = getattr(self._generator, "laplace" if ruler.name == "laplace" else "normal")
        exact = np.array([value * query.unit for value in values], dtype=float) + self._lift
        noisy = self._keep(asked, lambda: exact + draw(0.0, spreads[0], len(values)))
        return NoisyValues(noisy, asked.event)

    def choose(self, query, cost):
        """Measure the rate of the weights, then answer."""
        with undrawn("sample_index", 0) as given:
            super().choose(query, cost)
        self._check_charged(query.step)
        imbalance, size, rate, _ = given
        divisor = query.divisor  # which may be private: only the utility is compared
        asked = Asked(
            "exponential",
            query.step,
            size,
            query.sensitivity,
            spread=float(f"{rate * divisor:.12g}"),
            event=self.events[-1],
            imbalance=lambda i: Fraction(imbalance(i), divisor),
        )
        below = self._seeded.randbelow
        return self._keep(asked, lambda: sample_index(imbalance, size, rate, below))

    def smooth(self, query, cost):
        """Keep the centre and scale of the noise, then answer."""
        with undrawn("sample_student", 0) as given:
            super().smooth(query, cost)
        self._check_charged(query.step)
        center, scale, _ = given
        event = self.events[-1]
        asked = Asked(
            "student-t", query.step, query.size, unit=query.unit, event=event, law=(center, scale)
        )
        top, below = query.size - 1, self._seeded.randbelow
        return self._keep(asked, lambda: min(max(sample_student(center, scale, below), 0), top))

    def best(self, query, cost):
        """Measure the scale of the noise on the scores, then answer."""
        self._source = ruler = _Ruler()
        super().best(query, cost)
        self._check_charged(query.step)
        scores = tuple(int(score) for score in query.scores)
        asked = Asked(
            ruler.name,
            query.step,
            len(scores),
            query.spread / 2,
            query.unit,
            ruler.scale * query.unit,
            self.events[-1],
            scores,
        )
        return self._keep(asked, lambda: self._seeded.best(ruler.name, ruler.scale, list(scores)))

    def deepest(self, query, cost):
        """Measure how fast weights rise with depth, keep the boxes, then answer.

        The test of stability goes through :meth:`add`, as a query of its own.
        """
        _check_boxes(query)
        before, self._lift = len(self.events), 1e9 if self._passes else 0.0
        made, of = [], tukey_depth.Boxes.of
        with mock.patch.object(
            tukey_depth.Boxes, "of", lambda *args: made.append(of(*args)) or made[-1]
        ):
            point = super().deepest(query, cost)
            self._lift = 0.0
            self._check_test(query, cost)
        lower, upper, rate = query.lower, query.upper, math.log(made[0].growth / 2**32)
        event = self.events[-1] if len(self.events) == before + 2 else None
        public = len(lower), query.cutoff, *lower[0], *upper[0]
        asked = Asked("exponential", query.step, public, 1, 1.0, rate, event, boxes=query)
        return self._keep(asked, lambda: point)

    def posterior(self, query, cost):
        """Keep the objective and gamma, then answer."""
        return self._optimise("posterior", "sample_normal", posterior, query, cost)

    def posterior_in_ball(self, query, cost):
        """Keep the objective, gamma and the radius, then answer."""
        return self._optimise("posterior_in_ball", "sample_in_ball", posterior, query, cost)

    def minimiser(self, query, cost):
        """Keep the objective, sigma and the radius, then answer."""
        return self._optimise(
            "minimiser", "perturbed_minimiser", objective_perturbation, query, cost
        )

    def _optimise(self, kind, draw, module, query, cost):
        """Ask the door without a draw, check what would be drawn, draw."""
        with undrawn(draw, None) as given:
            getattr(super(), kind)(query, cost)
        self._check_charged(query.step)
        objective, *drawn, _ = given
        event, scale = self.events[-1], drawn[0] if kind == "minimiser" else 1 / drawn[0]
        if not math.isclose(event.scale, scale, rel_tol=1e-9):
            raise Violation(f"{query.step}: drawn with {drawn}, recorded as {event}")
        size, drawn = len(objective.linear), tuple(drawn)
        asked = Asked(kind, query.step, size, event=event, objective=objective, drawn=drawn)
        below = self._seeded.randbelow
        return self._keep(asked, lambda: getattr(module, draw)(objective, *drawn, below))

    def _check_test(self, query, cost) -> None:
        """A table at distance -1 passes the test of stability with probability delta at most."""
        quantile = self.asked[-1].spread * math.log(1 / (2 * cost.delta))
        if _Certain(cost, quantile * (1 - 1e-9) - 1).deepest(query, cost) is not None:
            raise Violation(f"{query.step}: an unstable table passes more often than delta")

    def assign(self, size, parts):
        """Labels drawn for each row on its own: rows of both tables keep theirs."""
        self._source = self._seeded
        asked = Asked("labels", f"{parts} parts", parts)
        if self._answers is None:
            return self._keep(asked, lambda: super(Recorder, self).assign(size, parts))
        labels = self._keep(asked, lambda: None)
        if size < len(labels):
            return np.delete(labels, self._place)
        if size > len(labels):
            return np.insert(labels, self._place, self._seeded.randbelow(parts))
        return labels

    def sample(self, population, size):
        """A draw that no row may influence: it is asked again with the same numbers."""
        self._source = self._seeded
        asked = Asked("sample", f"{size} of {population}", size)
        return self._keep(asked, lambda: super(Recorder, self).sample(population, size))

    def key(self):
        """Bits that no row may influence: they are the same for the other table."""
        self._source = self._seeded
        return self._keep(Asked("key", "64 bits", 1), super().key)

    def _check_charged(self, step: str) -> None:
        """One event was recorded for the query just measured."""
        if len(self.events) != 1 + sum(asked.event is not None for asked in self.asked):
            raise Violation(f"{step}: drawn and not recorded once")

    def _keep(self, asked: Asked, answer: Callable):
        """Record the query and give its answer, an old one if there are any."""
        if self._answers is None:
            given = answer()
        elif len(self.asked) < len(self._answers):
            given = self._answers[len(self.asked)]
        else:
            raise Violation(f"{asked.step}: asked of one table and not of its neighbour")
        self.asked.append(replace(asked, answer=given))
        return given


Fit = Callable[[Noise], object]


def run(
    fit: Fit,
    limit: Cost,
    seed: int = 0,
    answers: Sequence | None = None,
    place: int | None = None,
) -> Transcript:
    """Run a release under a recorder, which must have seen all that was charged."""
    recorder = Recorder(limit, seed, answers, place)
    released = fit(recorder)
    seen = [asked.event for asked in recorder.asked if asked.event is not None]
    if seen != recorder.events:
        raise Violation(f"charged {recorder.events} and recorded {seen}")
    return Transcript(tuple(recorder.asked), released)


def check_budget(transcript: Transcript, limit: Cost) -> None:
    """The costs of all queries, added up here and not by the package, stay within the limit."""
    costs = [asked.event.cost for asked in transcript.asked if asked.event]
    if any(isinstance(cost, GDP) is not isinstance(limit, GDP) for cost in costs):
        raise Violation("a query is charged in another currency than the limit")
    for charge in (_epsilon_or_mu_squared, _delta):
        spent = sum(charge(cost) for cost in costs)
        if not spent <= charge(limit) * (1 + 1e-9):
            raise Violation(f"the queries cost {spent} and the limit is {charge(limit)}")


def _epsilon_or_mu_squared(cost: Cost) -> float:
    return cost.mu**2 if isinstance(cost, GDP) else cost.epsilon


def _delta(cost: Cost) -> float:
    return getattr(cost, "delta", 0.0)


def check_scales(transcript: Transcript) -> None:
    """Every query got the noise that its sensitivity and cost ask for, and its event says so."""
    for asked in transcript.asked:
        if asked.event is not None:
            _check_scale(asked)


def _check_scale(asked: Asked) -> None:
    cost, scale = asked.event.cost, asked.spread
    kinds = ("laplace", "spherical", "exponential", "student-t", "permute-and-flip", *EPSILONS)
    if isinstance(cost, GDP):
        kinds = ("exponential",) if _is_scores(asked) else ("gaussian",)
    names = {"posterior_in_ball": "posterior", "minimiser": "objective"}
    if asked.kind not in kinds or asked.event.mechanism != names.get(asked.kind, asked.kind):
        raise Violation(f"{asked.step}: {asked.kind} noise is charged as {asked.event}")
    if asked.kind in ("student-t", *EPSILONS):
        return  # check_distances compares whole distributions
    if _is_scores(asked):
        needed = 2 * asked.sensitivity * asked.unit / _loss_range(cost)
    elif asked.kind == "exponential":
        needed, scale = 2 * asked.sensitivity / cost.epsilon, 1 / asked.spread
    elif asked.kind == "laplace":
        needed = asked.sensitivity * asked.unit / cost.epsilon
    elif asked.kind == "spherical":
        needed = math.sqrt(asked.size + 1) * asked.sensitivity * asked.unit / cost.epsilon
    else:
        needed = asked.sensitivity * asked.unit / cost.mu
    if not needed * (1 - 1e-12) <= scale <= needed * (1 + _WASTE):
        raise Violation(f"{asked.step}: noise of scale {scale} where {needed} is due")
    stated = asked.event.sensitivity, asked.event.scale
    if not np.allclose(stated, (asked.sensitivity * asked.unit, scale), rtol=_WASTE, atol=0):
        raise Violation(f"{asked.step}: {asked.event} does not describe what was drawn")


def _is_scores(asked: Asked) -> bool:
    """Whether the query chose by scores, whose spread is twice the sensitivity recorded."""
    choice = asked.kind in ("exponential", "permute-and-flip")
    return choice and asked.imbalance is None and asked.boxes is None


def _loss_range(cost: Cost) -> float:
    """Length of the interval of privacy losses that a cost allows.

    The worst choice of length r has the odds e^(r/2) and e^(-r/2) of an event on the two
    tables; mu is the difference of their probits.
    """
    if isinstance(cost, GDP):
        return 2 * float(log_ndtr(cost.mu / 2) - log_ndtr(-cost.mu / 2))
    return cost.epsilon


def check_flow(one: Transcript, other: Transcript) -> None:
    """The same queries in the same order, with the same sizes, sensitivities and scales."""
    if len(one.asked) != len(other.asked):
        raise Violation(f"{len(one.asked)} queries against {len(other.asked)}")
    for a, b in zip(one.asked, other.asked, strict=True):
        if a.public() != b.public():
            raise Violation(f"a row changed what is public: {a.public()} against {b.public()}")


def check_released(one: Transcript, other: Transcript) -> None:
    """Given the same answers, the same release: nothing else of the data got through."""
    if not _same(one.released, other.released):
        raise Violation(f"a row reached the release: {one.released} against {other.released}")


def _same(a, b) -> bool:
    """Equality bit by bit, NaN equal to NaN."""
    if is_dataclass(a):
        return type(a) is type(b) and all(
            _same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a)
        )
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and np.array_equal(a, b, equal_nan=True)
    return a == b


def check_distances(one: Transcript, other: Transcript, seed: int = 0) -> dict[str, float]:
    """No query moved by more than its sensitivity; returns distance / sensitivity by step."""
    ratios: dict[str, float] = {}
    for a, b in zip(one.asked, other.asked, strict=True):
        if a.event is not None or a.boxes is not None:
            ratios[a.step] = max(_ratio(a, b, seed), ratios.get(a.step, 0.0))
    return ratios


def _ratio(a: Asked, b: Asked, seed: int) -> float:
    """How much of its sensitivity, or of its epsilon, a query uses on this pair."""
    if a.kind == "student-t":
        ratio = exact = student_log_ratio(a.law, b.law) / a.event.cost.epsilon
        bound = 1.0
    elif a.kind in EPSILONS:
        cost = a.event.cost
        ratio = exact = EPSILONS[a.kind](a.objective, b.objective, a.drawn, cost) / cost.epsilon
        bound = 1.0
    else:
        moved, power = _distance(a, b, seed), 2 if a.kind in ("gaussian", "spherical") else 1
        exact, bound = moved, (Fraction(a.sensitivity) * _ROUNDED_DOWN) ** power
        ratio = float(moved / bound) ** (1 / power)
    if exact > bound:
        raise Violation(f"{a.step}: moved {ratio} times its sensitivity")
    return ratio


def student_log_ratio(one: tuple[int, float], other: tuple[int, float]) -> float:
    """sup |log p / p'| of densities proportional to (1 + ((x - f) / c)^2)^-2 / c.

    The derivative vanishes where (x - f') (c^2 + (x - f)^2) = (x - f) (c'^2 + (x - f')^2),
    a quadratic equation; far out the ratio tends to (c / c')^3.
    """
    (f, c), (g, e) = one, other
    gap, c, e = (g - f) / c, 1.0, e / c  # in units of the first scale, about its centre
    quadratic = [gap, e * e - c * c - gap * gap, -gap * c * c]
    far = abs(3 * math.log(c / e))
    points = np.roots(quadratic) if gap else np.array([0.0])
    points = points[np.isreal(points)].real
    logs = (
        math.log(e / c) + 2 * np.log1p(((points - gap) / e) ** 2) - 2 * np.log1p((points / c) ** 2)
    )
    return max([far, *np.abs(logs)])


def _floats(objective: Objective) -> tuple[np.ndarray, np.ndarray]:
    """H, shape (S, S), and w, shape (S,)."""
    hessian, linear = (
        np.array(part.tolist(), dtype=float) for part in (objective.hessian, objective.linear)
    )
    return hessian, linear.ravel()


def posterior_epsilon(one: Objective, other: Objective, drawn, cost) -> float:
    """The epsilon at which two normal laws are told apart with the cost's delta, by quadrature.

    Their precisions differ by a multiple of u u', so u'theta tells all.
    """
    (gamma,), laws = drawn, []
    pair = [_floats(objective) for objective in (one, other)]
    values, vectors = np.linalg.eigh(pair[1][0] - pair[0][0])
    u = vectors[:, np.argmax(np.abs(values))]
    for hessian, linear in pair:
        deviation = math.sqrt(u @ np.linalg.solve(gamma * hessian, u))
        laws.append((u @ np.linalg.solve(hessian, linear), deviation))
    ends = [center + side * 12 * deviation for center, deviation in laws for side in (-1, 1)]
    points, step = np.linspace(min(ends), max(ends), 4001, retstep=True)
    p, q = (norm.logpdf(points, *law) for law in laws)

    def excess(epsilon: float) -> float:
        parts = [-np.expm1(np.minimum(epsilon + b - a, 0)) * np.exp(a) for a, b in ((p, q), (q, p))]
        return max(part.sum() for part in parts) * step - cost.delta

    return brentq(excess, 0, 1e6, xtol=1e-4) if excess(0) > 0 else 0.0


def _in_ball(one: Objective, other: Objective, radius: float):
    """Change of H and w, and points of the ball in the plane in which it takes place, (k, S)."""
    pairs = zip(_floats(other), _floats(one), strict=True)
    change, moved = (after - before for after, before in pairs)
    plane = np.linalg.svd(np.column_stack([change, moved]))[0][:, :2].T
    angles = np.linspace(0, 2 * np.pi, 361)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])[:, : len(plane)] @ plane
    return change, moved, np.concatenate([r * radius * circle for r in np.linspace(0, 1, 21)])


def ball_epsilon(one: Objective, other: Objective, drawn, cost) -> float:
    """How far apart the log ratios of two densities on a ball are, over a grid."""
    gamma, radius = drawn
    change, moved, points = _in_ball(one, other, radius)
    return gamma * np.ptp(np.einsum("ki,ij,kj->k", points, change, points) / 2 - points @ moved)


def minimiser_epsilon(one: Objective, other: Objective, drawn, cost) -> float:
    """What the Jacobian and the gradients of this row call for, for these two tables."""
    sigma, radius = drawn
    change, moved, points = _in_ball(one, other, radius)
    gradient = np.linalg.norm(points @ change - moved, axis=1).max()
    determinants = [np.linalg.slogdet(_floats(objective)[0])[1] for objective in (one, other)]
    volume = abs(determinants[1] - determinants[0])
    return volume + gdp_epsilon(gradient / sigma, cost.delta / 2) if gradient else volume


# By how these queries are asked: the epsilon that a pair of tables needs, recomputed.
EPSILONS = {
    "posterior": posterior_epsilon,
    "posterior_in_ball": ball_epsilon,
    "minimiser": minimiser_epsilon,
}


def _distance(a: Asked, b: Asked, seed: int) -> Fraction:
    """L1 distance, squared L2 distance, or the largest change over probed points.

    Of scores it is half of how much further one rises than another.
    """
    if a.boxes is not None:
        return _depth_distance(a.boxes, b.boxes)
    if a.imbalance is not None:
        return _rank_distance(a, b, seed)
    differences = [v - w for v, w in zip(a.values, b.values, strict=True)]
    if _is_scores(a):
        return Fraction(max(differences) - min(differences), 2)
    if a.kind in ("gaussian", "spherical"):
        return sum(d * d for d in differences)
    return sum(abs(d) for d in differences)


def _check_boxes(query: DepthQuery) -> None:
    """Every box holds a point and lies within the one before."""
    low, high = (np.array(side, dtype=object) for side in (query.lower, query.upper))
    nested = np.all(low[1:] >= low[:-1]) and np.all(high[1:] <= high[:-1])
    if not (nested and np.all(low <= high) and 1 <= query.cutoff < len(low)):
        raise Violation(f"{query.step}: boxes that are empty or not nested")


def _depth_distance(one: DepthQuery, two: DepthQuery) -> int:
    """The largest change of depth over the corners of all boxes and points beside them.

    Each axis is probed at all ends, with the other coordinates in the deepest box of
    either table, and all axes together at the corners.
    """
    corners = [list(c) for query in (one, two) for c in (*query.lower, *query.upper)]
    points = list(corners)
    for axis in range(len(corners[0])):
        low, high = one.lower[0][axis], one.upper[0][axis]
        ends = {corner[axis] + by for corner in corners for by in (-1, 0, 1)}
        for base in (one.lower[-1], two.lower[-1]):
            inside = (end for end in ends if low <= end <= high)
            points += [[*base[:axis], end, *base[axis + 1 :]] for end in inside]
    depths = [_depths(query, points) for query in (one, two)]
    return max(abs(a - b) for a, b in zip(*depths, strict=True))


def _depths(query: DepthQuery, points: list[list[int]]) -> list[int]:
    """The largest q whose box holds the point, for each point of the lattice."""
    lowers = list(zip(*query.lower, strict=True))
    uppers = [[-high for high in side] for side in zip(*query.upper, strict=True)]
    return [
        min(
            min(bisect_right(low, value), bisect_right(up, -value))
            for low, up, value in zip(lowers, uppers, point, strict=True)
        )
        - 1
        for point in points
    ]


def _rank_distance(a: Asked, b: Asked, seed: int) -> int:
    """max |f - g| over random points and both functions' jumps; each must be nonincreasing."""
    generator = np.random.default_rng(seed)
    points = {0, a.size - 1, *generator.integers(0, a.size, 8).tolist()}
    for asked in (a, b):
        points |= jumps(asked.imbalance, asked.size, generator)
    heights = [[asked.imbalance(i) for i in sorted(points)] for asked in (a, b)]
    if any(x < y for f in heights for x, y in zip(f, f[1:], strict=False)):
        raise Violation(f"{a.step}: the imbalance increases somewhere")
    return max(abs(x - y) for x, y in zip(*heights, strict=True))


def jumps(imbalance: Callable[[int], int], size: int, generator, count: int = 6) -> set[int]:
    """Grid points on both sides of some jumps of a nonincreasing function."""
    first, last = imbalance(0), imbalance(size - 1)
    between = generator.uniform(float(last), float(first), count).tolist()
    found = set()
    for level in {first - 1, last, *between}:
        low, high = 0, size - 1
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if imbalance(middle) <= level else (middle + 1, high)
        found |= {max(low - 1, 0), low, min(low + 1, size - 1)}
    return found


def check_neighbours(
    fit: Fit, other: Fit, limit: Cost, seed: int = 0, place: int | None = None
) -> dict[str, float]:
    """Every check on a pair of neighbours; returns distance / sensitivity by step."""
    return compare(checked(fit, limit, seed), other, limit, seed, place)


def checked(fit: Fit, limit: Cost, seed: int) -> Transcript:
    """The run of one table, whose costs and noise are as they should be."""
    one = run(fit, limit, seed)
    check_budget(one, limit)
    check_scales(one)
    return one


def compare(
    one: Transcript, other: Fit, limit: Cost, seed: int, place: int | None
) -> dict[str, float]:
    """Replay the run of one table on a neighbour; returns distance / sensitivity by step."""
    two = run(other, limit, seed, [asked.answer for asked in one.asked], place)
    check_flow(one, two)
    check_released(one, two)
    return check_distances(one, two, seed)


def check_reached(step: str, ratio: float, level: float = 0.99) -> None:
    """A worst case of a query must come close to the sensitivity stated for it.

    A query that cannot move at all states any sensitivity truthfully, so this is what
    finds data clipped to nothing.
    """
    if ratio < level:
        raise Violation(f"{step}: moved {ratio} times its sensitivity, expected {level}")


def check_limit(fit: Fit, limit: Cost, truth: np.ndarray, rtol: float = 1e-3) -> None:
    """At a huge budget the release is the least-squares line of rows that lie on a line."""
    params = run(fit, limit).released.params
    if not np.allclose(params, truth, rtol=rtol, atol=rtol):
        raise Violation(f"released {params} where the data say {truth}")


def place_of(one, two) -> int:
    """The first row in which two tables (X, y) differ; equal rows are interchangeable."""
    rows = min(len(one[1]), len(two[1]))
    same = (one[0][:rows] == two[0][:rows]).all(axis=1) & (one[1][:rows] == two[1][:rows])
    return rows if same.all() else int(np.argmin(same))


class Pairs:
    """What can be fitted to a table can be checked on two neighbouring ones."""

    def check(self, one, two, seed: int = 0) -> dict[str, float]:
        """Every check on two tables (X, y)."""
        return self.check_each(one, [two], seed)[0]

    def check_each(self, one, others, seed: int = 0) -> list[dict[str, float]]:
        """Every check on a table, which is run once, and each of its neighbours."""
        first = checked(self.fit(*one), self.limit, seed)
        return [
            compare(first, self.fit(*two), self.limit, seed, place_of(one, two)) for two in others
        ]


@dataclass(frozen=True)
class Choice(Pairs):
    """A selector asked for k terms."""

    selector: Selector
    neighbors: str
    terms: tuple[int, ...]
    k: int
    limit: Cost = PureDP(2.0)

    def fit(self, X: np.ndarray, y: np.ndarray) -> Fit:
        """The choice from these rows, as a function of the noise."""
        candidates = Candidates(X, y, np.array(self.terms), self.neighbors)
        return lambda noise: self.selector.select(candidates, self.k, self.limit, noise)


@dataclass(frozen=True)
class Case(Pairs):
    """A method under one problem and one set of options."""

    method: Method
    problem: Problem
    options: dict
    limit: Cost

    def rows(self, X: np.ndarray, y: np.ndarray) -> Rows:
        """These rows as the method takes them."""
        layout = self.problem.layout
        coded = self.method.ranges.marginals or self.problem.coded
        if coded and not layout.blocks:
            X = X[:, [*layout.numeric, *range(len(self.problem.low), X.shape[1])]]
        return rows_of(X, y, self.problem, coded)

    def fit(self, X: np.ndarray, y: np.ndarray) -> Fit:
        """The release of these rows, as a function of the noise."""
        rows = self.rows(X, y)
        return lambda noise: self.method.release(
            InMemory(rows), self.problem, self.limit, noise, **self.options
        )

    def __str__(self) -> str:
        p = self.problem
        parts = [self.method.name, p.neighbors, f"x{p.low[-1]:g}:{p.high[-1]:g}", f"S{len(p.low)}"]
        parts += [f"intercept{p.intercept}"] + ["estimated"] * p.estimated
        parts += [] if p.row_norm is None else [f"norm{p.row_norm:g}"]
        return "-".join(parts + [f"{name}{value}" for name, value in self.options.items()])


# Bounds of the regressors and of the response; neither is ever symmetric about zero.
BOUNDS = (((0.0, 1.0), (0.0, 1.0)), ((-3.0, 1.0), (2.0, 10.0)), ((2.0, 10.0), (-3.0, 1.0)))


# For a method that needs no bounds: none, which it is told as these.
NO_BOUNDS = ((-(2.0**60), 2.0**60), (-(2.0**60), 2.0**60))

# Every method is tried under its defaults, and under each of these that it knows. A hundred
# rounds ask no more than three do.
FEWER = ({"rounds": 3}, {"steps": 3, "clip": 1.0})
OPTIONS = ({"k": 1}, {"k": 3}, {"k": 3, "theta": 0.2}, {"steps": 4, "tau": 0.2})
OPTIONS += ({"rounds": 2, "tau": 0.2}, {"m": 24}, {"steps": 3, "clip": 0.2})


def problem_of(
    d: int,
    x: tuple[float, float],
    y: tuple[float, float],
    neighbors: str,
    intercept: int | None = 0,
    row_norm: float | None = None,
    estimated: bool = False,
) -> Problem:
    """d regressors with bounds x; predictions at 25% and 75% of them.

    Released distributions are taken to be about uniform within the bounds.
    """
    low, high = np.full(d, x[0]), np.full(d, x[1])
    reference = Reference(
        (low + high) / 2, np.diag((high - low) / 4), (y[0] + y[1]) / 2, (y[1] - y[0]) / 4,
        Extremes.unknown(len(low)),
    )  # fmt: skip
    x_new = np.array([0.75 * low + 0.25 * high, 0.25 * low + 0.75 * high])
    if intercept is not None:
        low, high = np.insert(low, intercept, 1.0), np.insert(high, intercept, 1.0)
        x_new = np.insert(x_new, intercept, 1.0, axis=1)
    return Problem(
        low=low,
        high=high,
        y_low=y[0],
        y_high=y[1],
        intercept=intercept,
        neighbors=neighbors,
        row_norm=row_norm,
        estimated=estimated,
        x_new=x_new,
        layout=Layout((), np.flatnonzero(np.arange(len(low)) != intercept), intercept),
        reference=reference,
    )


def cases_of(method: Method, epsilon: float = 2.0) -> list[Case]:
    """The method under every relation it proves, every kind of problem and set of options."""
    variants = [{"intercept": 0}]
    if not method.single_regressor:
        variants += [{"intercept": None}, {"intercept": 0, "estimated": True}]
        variants += (
            []
            if method.ranges.marginals
            else [{"intercept": i, "row_norm": norm} for i, norm in ((None, 2.5), (0, 4.0))]
        )
    fewer = next((few for few in FEWER if set(few) <= set(method.options)), {})
    options = [fewer, *(more for more in OPTIONS if set(more) <= set(method.options))]
    cases = [
        Case(method, problem_of(d, x, y, neighbors, **variant), chosen, method.cost(epsilon, 1e-6))
        for neighbors in method.neighbors
        for x, y in (BOUNDS if method.ranges.needed else (*BOUNDS[1:], NO_BOUNDS))
        for d in ((1,) if method.single_regressor else (1, 3))
        for variant in [*variants, *([{"intercept": 1}] if x == BOUNDS[1][0] else [])]
        for chosen in options
    ]
    return [case for case in cases if serves(method, case.problem, case.options)]


def serves(method: Method, problem: Problem, options: Mapping = MappingProxyType({})) -> bool:
    """Whether the method takes a problem of this kind, and these options for it, at all."""
    checked = {
        name: check(options.get(name, default)) for name, (default, check) in method.options.items()
    }
    try:
        method.check(problem, checked)
    except ArgumentError:
        return False
    return True


def row(problem: Problem, regressors, response: float) -> tuple[np.ndarray, float]:
    """One row, shape (S,), with its response; regressors may be one number for all."""
    x = np.ones(len(problem.low))
    x[np.arange(len(x)) != problem.intercept] = regressors
    return x, float(response)


def table(rows: Sequence[tuple[np.ndarray, float]], problem: Problem):
    """Rows as (X, y); X has shape (n, S) also without rows."""
    X = np.array([x for x, _ in rows], dtype=float).reshape(len(rows), len(problem.low))
    return X, np.array([y for _, y in rows], dtype=float)


def with_row(X, y, new, at: int):
    """The table with one more row at a position."""
    return np.insert(X, at, new[0], axis=0), np.insert(y, at, new[1])


def strange_row(generator, problem: Problem) -> tuple[np.ndarray, float]:
    """A row of ends, quarter points, and values far out of range, each entry for itself."""

    def entry(low, high):
        width = (high - low) or 1.0
        inside = [low, high, low + width / 4, low + 3 * width / 4, generator.uniform(low, high)]
        outside = [-low, high + 1e3 * width, low - 1e3 * width, 1e300, np.inf, -np.inf, 0.0]
        return generator.choice([*inside, *inside, *outside])

    numeric = np.arange(len(problem.low)) != problem.intercept
    pairs = zip(problem.low[numeric], problem.high[numeric], strict=True)
    return row(problem, [entry(*p) for p in pairs], entry(problem.y_low, problem.y_high))


def strange_table(generator, problem: Problem, n: int):
    """n rows: all strange, all equal, tied in x, or on a line."""
    kind = generator.integers(4)
    rows = [strange_row(generator, problem) for _ in range(n)]
    if kind == 1 and n:
        rows = rows[:1] * n
    if kind == 2 and n:
        rows = [(rows[i % 2][0], y) for i, (_, y) in enumerate(rows)]
    if kind == 3:
        rows = line_rows(generator, problem, n)[0]
    return table(rows, problem)


def line_rows(generator, problem: Problem, n: int):
    """n rows on one line within all bounds, and its coefficients in design order.

    With one regressor all values are dyadic shares of the ranges, so that the line passes
    through points of any binary grid.
    """
    numeric = np.arange(len(problem.low)) != problem.intercept
    low, high = problem.low[numeric], problem.high[numeric]
    x = low + (high - low) * generator.integers(0, 65, (n, len(low))) / 64
    slopes = 0.5 * (problem.y_high - problem.y_low) / (high - low) / len(low)
    start = 0.75 * problem.y_low + 0.25 * problem.y_high
    truth = np.empty(len(problem.low))
    truth[numeric] = slopes
    if problem.intercept is not None:
        truth[problem.intercept] = start - slopes @ low
    rows = [row(problem, values, start + slopes @ (values - low)) for values in x]
    return rows, truth


def neighbour(generator, problem: Problem, X, y):
    """The table with one strange row more or less, or in the place of another."""
    new, at = strange_row(generator, problem), int(generator.integers(len(y) + 1))
    if problem.neighbors == ADD_REMOVE:
        if len(y) and generator.integers(2):
            gone = at % len(y)
            return np.delete(X, gone, axis=0), np.delete(y, gone)
        return with_row(X, y, new, at)
    if not len(y):
        return X, y
    gone = at % len(y)
    return with_row(np.delete(X, gone, axis=0), np.delete(y, gone), new, gone)
