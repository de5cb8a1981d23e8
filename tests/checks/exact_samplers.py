"""Compute exact probabilities of step functions, and check samplers against them."""

import itertools
import math
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from unittest import mock

import numpy as np

from dpstats.estimators import METHODS
from dpstats.estimators.contract import InMemory
from dpstats.noise import Noise, exact_samplers
from dpstats.numerics import Rows
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE, PureDP
from tests.checks.replay import Violation, problem_of, undrawn


class Rejected(Exception):
    """The script ran out: the point was not kept and another round began."""


class Script:
    """Gives the integers of a list; keeps the bounds they were asked below."""

    def __init__(self, *integers):
        self.integers, self.bounds = list(integers), []

    def __call__(self, bound):
        if not self.integers:
            raise Rejected
        self.bounds.append(bound)
        draw = self.integers.pop(0)
        assert 0 <= draw < bound
        return draw


def steps(heights):
    """A step function as the mechanism sees one: an integer for every index."""
    heights = [int(height) for height in heights]
    return lambda index: heights[index]


def one_round(f, size, rate, *draws):
    """The point kept (or None) after one round with these draws, and the bounds asked for."""
    script = Script(*draws)
    try:
        return exact_samplers.sample_index(f, size, rate, script), script.bounds
    except Rejected:
        return None, script.bounds


def check_exact(f, size, rate, points=None):
    """Point i is drawn with probability exactly proportional to the double exp(-rate score).

    A block's first draws are cut into equal runs, one a point, so the two ends of a run
    tell which point it leads to; a point is kept for second draws below its weight, so
    the draws beside the weight tell whether it is. A run of U first draws and w second
    ones out of T times U pairs of draws make a probability of w / T in each round.
    """
    base = stated_best(f, size, rate)
    blocks = exact_samplers._blocks(f, size, rate, base)
    wanted = set(range(size) if points is None else points)
    with mock.patch.object(exact_samplers, "_blocks", return_value=blocks):
        _, (total, _) = one_round(f, size, rate, 0, 0)
        start = 0
        for block in blocks:
            _, (_, upper) = one_round(f, size, rate, start, 0)
            for index in wanted & set(range(block.start, block.stop)):
                low = start + (index - block.start) * upper
                _check_kept(f, size, rate, base, index, low, upper)
                wanted.remove(index)
            start += block.size * upper
    if start != total or wanted:
        raise Violation(f"draws below {total} do not lead to points {wanted}")


def stated_weight(score, rate):
    """The double exp(-rate score), not below exp(-700), in units of 2^-1074."""
    return int(Fraction(math.exp(-min(rate * score, 700.0))) * 2**1074)


def stated_best(f, size, rate):
    """The least score where the largest is cut off, else 0."""
    if rate * max(abs(f(0)), abs(f(size - 1))) <= 700:
        return 0
    return min(abs(f(index)) for index in range(size))


def _check_kept(f, size, rate, base, index, low, upper):
    """First draws low..low + upper - 1 lead to the point, kept for ``weight`` second ones."""
    weight = stated_weight(abs(f(index)) - base, rate)
    if weight > upper:
        raise Violation(f"point {index} weighs more than its block says")
    for first in (low, low + upper - 1):
        if any(one_round(f, size, rate, first, n)[0] != index for n in (0, weight - 1)):
            raise Violation(f"point {index} is drawn less often than its weight says")
        if weight < upper and one_round(f, size, rate, first, weight)[0] is not None:
            raise Violation(f"point {index} is drawn more often than its weight says")


def check_blocks(f, size, rate):
    """Blocks partition the grid, and their least and largest scores hold for every point."""
    blocks = exact_samplers._blocks(f, size, rate, exact_samplers.best(f, size, rate))
    at = 0
    for block in sorted(blocks, key=lambda block: block.start):
        scores = [abs(f(i)) for i in range(block.start, block.stop)]
        if block.start != at or not scores:
            raise Violation(f"{blocks} is no partition of {size} points")
        if min(scores) < block.least or max(scores) > block.largest:
            raise Violation(f"{block} holds scores from {min(scores)} to {max(scores)}")
        at = block.stop
    if at != size:
        raise Violation(f"{blocks} leaves points out of {size}")


def check_rounds(f, size, rate, counts=200):
    """Few counts to find the blocks, and a round keeps its point half of the time."""
    asked = []

    def counted(index):
        asked.append(index)
        if len(asked) > counts:
            raise Violation(f"more than {counts} counts of all pairs before the first draw")
        return f(index)

    base = exact_samplers.best(counted, size, rate)
    blocks = exact_samplers._blocks(counted, size, rate, base)
    upper, lower = (
        sum(b.size * exact_samplers.integer_weight(score(b) - base, rate) for b in blocks)
        for score in (lambda b: b.least, lambda b: b.largest)
    )
    kept = float(Fraction(lower, upper))
    if kept < 0.5 * (1 - 1e-9):
        raise Violation(f"a round keeps its point with a probability of {kept} only")


def check_ratio(ratio, epsilon):
    """A ratio of probabilities is at most e^epsilon rounded up; returns its logarithm."""
    if ratio > Fraction(math.nextafter(math.exp(epsilon), math.inf)):
        raise Violation(f"log ratio {math.log(ratio)} where epsilon is {epsilon}")
    return math.log(ratio)


def largest_ratio(one, other):
    """max over outputs of P(output) / P'(output), as a Fraction."""
    logs = [math.log(p) - math.log(q) for p, q in zip(one, other, strict=True)]
    worst = int(np.argmax(logs))
    return one[worst] / other[worst]


class Chooser(Noise):
    """Noise whose choices return the index wanted, and keep the exact distribution."""

    def __init__(self, limit, rounds=()):
        super().__init__(limit)
        self.rounds, self.masses = rounds, []

    def choose(self, query, cost):
        with undrawn("sample_index", 0) as given:
            super().choose(query, cost)
        f, size, rate, _ = given
        weights = [exact_samplers.integer_weight(abs(f(i)), rate) for i in range(size)]
        total = sum(weights)
        self.masses.append([Fraction(weight, total) for weight in weights])
        return 0

    def sample(self, population, size):
        return list(self.rounds) or list(range(size))


def theil_sen_masses(rows, epsilon, options, rounds=(), x_new=(0.25, 0.75), neighbors=REPLACE_ONE):
    """Exact distribution of each prediction, given the matchings."""
    method = METHODS["exp_theil_sen"]
    problem = problem_of(1, (0.0, 1.0), (0.0, 1.0), neighbors)
    problem = replace(problem, x_new=np.array([[1.0, x] for x in x_new]))
    X = np.array([[1.0, x] for x, _ in rows]).reshape(-1, 2)
    y = np.array([y for _, y in rows])
    chooser = Chooser(PureDP(epsilon), rounds)
    method.release(InMemory(Rows(X, y)), problem, PureDP(epsilon), chooser, **options)
    return chooser.masses


def check_theil_sen(tables, epsilon, options, rounds=(), x_new=(0.25, 0.75)):
    """All neighbours among the tables: e^epsilon bounds all predictions together.

    Given the matchings the predictions are independent, so the largest ratio of all of
    them is the product of each one's largest ratio. Returns the largest log ratio.
    """
    masses = {rows: theil_sen_masses(rows, epsilon, options, rounds, x_new) for rows in tables}
    largest = 0.0
    for one, other in _neighbours(tables):
        pairs = zip(masses[one], masses[other], strict=True)
        largest = max(largest, check_ratio(math.prod(largest_ratio(*p) for p in pairs), epsilon))
    return largest


def _neighbours(tables):
    """Ordered pairs of tables that differ in one row."""
    groups = defaultdict(list)
    for rows in tables:
        for i in range(len(rows)):
            groups[i, rows[:i] + rows[i + 1 :]].append(rows)
    return {pair for group in groups.values() for pair in itertools.permutations(group, 2)}


# Three points on a line that passes between the grid points 1/4 and 3/8 at x = 1/4, and
# two at x = 1/4 itself, whose lines pass through their own y there: exchanging one for
# the other turns all their pairs at all points of NARROW, while the other pairs favour
# the lowest of these alone.
LINE = ((0.0, 0.25), (0.5, 0.375), (1.0, 0.5))
ENDS = ((0.25, 0.0), (0.25, 1.0))
NARROW = {"output_range": (0.25, 0.875)}
ONE_BELOW = (*LINE, ENDS[0])


def check_theil_sen_of_one_more(points, sizes, epsilon, options, x_new=(0.25, 0.75)):
    """All tables of these sizes, and each with one row more: e^epsilon bounds the ratios."""
    largest = 0.0
    for size in sizes:
        for rows in itertools.combinations_with_replacement(points, size):
            one = theil_sen_masses(rows, epsilon, options, (), x_new, ADD_REMOVE)
            for row in points:
                more = theil_sen_masses((*rows, row), epsilon, options, (), x_new, ADD_REMOVE)
                for pair in (one, more), (more, one):
                    ratios = [largest_ratio(*masses) for masses in zip(*pair, strict=True)]
                    largest = max(largest, check_ratio(math.prod(ratios), epsilon))
    return largest
