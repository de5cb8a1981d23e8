"""Calibrate, draw and record the noise of a release: no other module draws for one.

A mechanism states a query (exact integers and their sensitivity) and its cost; the noise is
calibrated here, drawn by OpenDP, recorded as an event, and refused when the limit given to the
mechanism would be exceeded. So no mechanism can add noise that does not match the stated
sensitivity and cost.
"""

import math
from collections.abc import Callable

import numpy as np

from dpstats.errors import BudgetError
from dpstats.noise import tukey_depth
from dpstats.noise.calibration import distribution
from dpstats.noise.exact_samplers import sample_index, sample_student
from dpstats.noise.multiprecision import Objective
from dpstats.noise.noise_grid import on_noise_grid
from dpstats.noise.noisy_values import NoisyValues
from dpstats.noise.objective_perturbation import deviation, perturbed_minimiser
from dpstats.noise.posterior import largest_shift, sample_in_ball, sample_normal
from dpstats.noise.queries import (
    BallQuery,
    DepthQuery,
    ObjectiveQuery,
    PosteriorQuery,
    Query,
    RankQuery,
    RankTable,
    ScoreQuery,
    SmoothQuery,
)
from dpstats.noise.random_sources import SOURCE
from dpstats.privacy import GDP, ApproxDP, Cost, Event, PureDP

# Fraction of epsilon for the test in Noise.deepest; the draw needs the larger part.
_TEST_FRACTION = 0.4


class Noise:
    """Draw and record the noise of one release, up to a limit.

    Parameters
    ----------
    limit : PureDP or GDP
        What all draws together may cost.
    count : callable, optional
        Called after each draw, to show progress.
    """

    def __init__(self, limit: Cost, count: Callable[[], object] | None = None):
        self.limit, self._count = limit, count
        self.events: list[Event] = []
        self._source = SOURCE.get()

    @property
    def private(self) -> bool:
        """Return False when the draws come from a seeded generator."""
        return self._source.private

    def add(self, query: Query, cost: Cost) -> NoisyValues:
        """Release the query with Gaussian (GDP) or else Laplace or spherical noise.

        Guarantee. Where the query allows for both, the one of Laplace and spherical noise with
        the smaller standard deviation is drawn, which sensitivities and cost decide
        (:func:`~dpstats.noise.calibration.distribution`). Discrete Laplace noise of scale
        l1 / epsilon on integers is epsilon-DP (Ghosh, Roughgarden and Sundararajan 2012), and so
        is spherical noise (:mod:`dpstats.noise.spherical`). Gaussian noise of standard deviation
        l2 / mu is mu-GDP (Dong, Roth and Su 2022, Theorem 2.7); the discrete Gaussian drawn here
        has a standard deviation of at least 2^40 grid units, where its probabilities equal those
        of the rounded continuous one up to a factor 1 + 2^-60 within 40 standard deviations and
        the rest has probability below e^-800; the scale is rounded up by more than that.

        Returns
        -------
        NoisyValues
            One noisy value per query value, in the query's natural units, with the event that
            records the noise. Where ``values`` are a table, (G, m), its rows are the same query
            of G groups that share no row; the sensitivity is that of one group, and the cost too
            (parallel composition).
        """
        free = query.any_noise and np.ndim(query.values) == 1
        chosen = distribution(cost, query.l1, query.l2, len(query.values) if free else 1)
        if chosen is None:
            raise TypeError(f"{query.step!r} states no sensitivity for this noise")
        name, sensitivity, scale = chosen
        scale *= 1 + 2.0**-40
        cost = PureDP(cost.epsilon) if isinstance(cost, ApproxDP) else cost
        event = Event(query.step, name, sensitivity * query.unit, scale * query.unit, cost)
        self._record(event)
        values, scale, unit = on_noise_grid(query, scale, sensitivity, name != "laplace")
        draws = np.array(self._source.draw(name, scale, values.size), dtype=object)
        noisy = (values + draws.reshape(values.shape)).astype(float) * unit
        return NoisyValues(noisy, event)

    def choose(self, query: RankQuery, cost: PureDP) -> int:
        """Release an index by the exponential mechanism (McSherry and Talwar 2007).

        Guarantee. P(i) is proportional to the larger of exp(-rate s_i) and
        exp(-700 - rate s), with s_i = |imbalance(i)|, s the smallest of them and
        rate = epsilon' / (2 sensitivity divisor). Between neighbours every s_i / divisor, and so
        that of s, moves by at most the sensitivity, hence rate s_i and rate s by at most
        epsilon' / 2, whether or not the divisors are the same. So each of these weights and their
        sum move by a factor of at most e^(epsilon'/2), and P(i) by e^epsilon'. The weights are
        divided by exp(-rate s), which cancels, and are doubles with a relative error below 2^-41
        (the exponent is at most 700, and the rate right to 2^-52); the ratio has four of them,
        hence epsilon' = epsilon - 2^-36. Sampling itself is exact integer arithmetic
        (:mod:`dpstats.noise.exact_samplers`).

        Returns
        -------
        int
            An index in 0..size-1; every index is possible whatever the data.
        """
        rate = self._rank_rate(query.step, query.sensitivity, cost) / query.divisor
        return sample_index(query.imbalance, query.size, rate, self._source.randbelow)

    def choose_each(self, query: RankTable, cost: PureDP) -> np.ndarray:
        """Release an index, as :meth:`choose` does, for each group of a table; groups share no row.

        Guarantee. That of :meth:`choose` for each group; one person is in one group, so all
        together cost what one costs (parallel composition; McSherry 2009, Theorem 4). The
        event is that of the group with the most noise.

        Returns
        -------
        numpy.ndarray of int64, shape (G,)
            Indices in 0..size-1.
        """
        from dpstats.noise.exponential_batch import draw_each

        sensitivities = query.sensitivities.tolist()
        self._rank_rate(query.step, max(sensitivities), cost)
        rates = [_rank_rate(cost, sensitivity) for sensitivity in sensitivities]
        return draw_each(query, np.array(rates) / query.divisors, self._source.bytes)

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
        (:func:`~dpstats.noise.exact_samplers.sample_student`), together less than
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

    def deepest(self, query: DepthQuery, cost: ApproxDP) -> list[int] | None:
        """Release a deep lattice point after a test, or None when the test does not pass.

        Guarantee. (epsilon, delta)-DP, 40% of epsilon for the test and 60% for the draw;
        derived from the definition of :class:`DepthQuery` alone in
        :mod:`dpstats.noise.tukey_depth`. Everything before the Laplace noise is exact integer
        arithmetic, and so is the draw: a point of depth q >= cutoff has probability exactly
        proportional to w_q. The slack in the threshold exceeds the rounding of its logarithm and of
        the noise.

        Returns
        -------
        list of int or None
            The point, shape (d,).
        """
        test = PureDP(cost.epsilon * _TEST_FRACTION)
        draw = ApproxDP(cost.epsilon - test.epsilon, cost.delta)
        boxes = tukey_depth.Boxes.of(query.lower, query.upper, draw.epsilon / 2)
        distance = boxes.distance(query.cutoff, cost.delta)
        threshold = (-math.log(2 * cost.delta) + 2.0**-24) / test.epsilon - 1
        stability = Query(f"stability of the {query.step}", [distance], l1=1)
        if self.add(stability, test).values[0] <= threshold:
            return None
        self._record(Event(query.step, "exponential", 1, 2 / draw.epsilon, draw))
        q = boxes.draw(query.cutoff, self._source.randbelow)
        sides = zip(query.lower[q], query.upper[q], strict=True)
        return [low + self._source.randbelow(high - low + 1) for low, high in sides]

    def posterior(self, query: PosteriorQuery, cost: ApproxDP) -> np.ndarray:
        """Release a sample from the posterior exp(-gamma F), F the query's objective.

        Guarantee. With gamma = A^2 / (residual^2 K), K = leverage / (1 + leverage) and A the
        largest shift that leaves (epsilon, delta - failure), the sample is private to that where
        the query's bounds hold (:mod:`dpstats.noise.posterior`). They fail with probability
        failure at most, which delta makes good. The draw is exact up to 2^-150 in total
        variation (:mod:`dpstats.noise.multiprecision`).

        Returns
        -------
        numpy.ndarray, shape (S,)
            Coefficients of v on u, multiples of 2^-40.
        """
        leverage_ratio = query.leverage / (1 + query.leverage)
        shift = largest_shift(leverage_ratio, cost.epsilon, cost.delta - query.failure)
        gamma = (shift / query.residual) ** 2 / leverage_ratio
        self._record(Event(query.step, "posterior", query.residual, 1 / gamma, cost))
        objective = Objective.least_squares(query.cross, query.unit, query.ridge)
        return sample_normal(objective, gamma, self._source.randbelow)

    def posterior_in_ball(self, query: BallQuery, cost: PureDP) -> np.ndarray:
        """Release a sample from the posterior exp(-gamma F) on a ball, F the query's objective.

        Guarantee. epsilon-DP with gamma = epsilon / spread (:mod:`dpstats.noise.posterior`), up to
        2^-150 in total variation (:mod:`dpstats.noise.multiprecision`).

        Returns
        -------
        numpy.ndarray, shape (S,)
            Coefficients of v on u, multiples of 2^-40.
        """
        gamma = cost.epsilon / query.spread * (1 - 2.0**-40)
        self._record(Event(query.step, "posterior", query.spread, 1 / gamma, cost))
        objective = Objective.least_squares(query.cross, query.unit, query.ridge)
        return sample_in_ball(objective, gamma, query.radius, self._source.randbelow)

    def minimiser(self, query: ObjectiveQuery, cost: ApproxDP) -> np.ndarray:
        """Release the minimiser over a ball after a random linear term is added.

        Guarantee. (epsilon, delta)-DP (:mod:`dpstats.noise.objective_perturbation`); the numbers
        are exact up to 2^-150 in total variation (:mod:`dpstats.noise.multiprecision`).

        Returns
        -------
        numpy.ndarray, shape (S,)
            Coefficients of v on u, multiples of 2^-40.
        """
        sigma = deviation(
            query.gradient, query.curvature, query.ridge, cost.epsilon, cost.delta
        ) * (1 + 2.0**-40)
        self._record(Event(query.step, "objective", query.gradient, sigma, cost))
        objective = Objective.least_squares(query.cross, query.unit, query.ridge)
        return perturbed_minimiser(objective, sigma, query.radius, self._source.randbelow)

    def assign(self, size: int, parts: int) -> np.ndarray:
        """Draw one of ``parts`` labels for each of ``size`` rows, independent of any data.

        The labels are independent and uniform up to a factor 1 + parts / 2^64; int64, (size,).
        """
        words = np.frombuffer(self._source.bytes(8 * size), dtype=np.uint64)
        return (words % np.uint64(parts)).astype(np.int64)

    def key(self) -> int:
        """Draw 64 uniform bits, independent of any data."""
        return int.from_bytes(self._source.bytes(8), "little")

    def sample(self, population: int, size: int) -> list[int]:
        """Draw ``size`` different integers below ``population``, independent of any data."""
        chosen: dict[int, None] = {}
        for top in range(population - size, population):
            draw = self._source.randbelow(top + 1)
            chosen[top if draw in chosen else draw] = None
        return list(chosen)

    def _rank_rate(self, step: str, sensitivity: float, cost: PureDP) -> float:
        """Record a choice by rank and return the rate at which its weights fall."""
        scale = 2 * sensitivity / cost.epsilon
        self._record(Event(step, "exponential", sensitivity, scale, cost))
        return _rank_rate(cost, sensitivity)

    def _record(self, event: Event) -> None:
        """Keep the event, unless the limit would be exceeded or its noise has no scale."""
        costs = [past.cost for past in self.events]
        if not self.limit.covers([*costs, event.cost]):
            raise BudgetError(f"{event.step!r} would exceed the limit {self.limit} of this release")
        if not (0 < event.sensitivity < math.inf and 0 < event.scale < math.inf):
            raise TypeError(f"{event.step!r} states no positive and finite sensitivity and scale")
        self.events.append(event)
        if self._count is not None:
            self._count()


def _rank_rate(cost: PureDP, sensitivity: float) -> float:
    """Return the rate of the exponential mechanism: see :meth:`Noise.choose`."""
    return max(cost.epsilon - 2.0**-36, 0.0) / (2 * sensitivity)
