"""Check how far rows and labels move the sums over pairs that noisy Newton steps are made of."""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import combinations_with_replacement, product
from unittest import mock

import numpy as np

from dpstats.estimators import ABSORBING, ABSORBING_INSTRUMENTAL
from dpstats.estimators.contract import Extremes, InMemory, Instruments, Problem, Reference
from dpstats.estimators.newton.row_sums.indicator_basis import IndicatorBasis
from dpstats.estimators.newton.row_sums.pair_rows import in_batches
from dpstats.estimators.newton.row_sums.sums import (
    leverage_counts,
    rough_products,
    whitened_products,
)
from dpstats.estimators.newton.steps.squared_loss import SquaredLoss
from dpstats.estimators.newton.within import clusters_of_pairs, group_parts
from dpstats.estimators.newton.within.clusters_of_pairs import GroupScores, Limited, moved
from dpstats.estimators.newton.within.differences import release_sizes
from dpstats.estimators.newton.within.group_sizes import GroupSizes
from dpstats.estimators.newton.within.largest_group import Unequal
from dpstats.estimators.newton.within.pair_queries import PairQueries
from dpstats.noise import Noise
from dpstats.numerics import Layout, Rows
from dpstats.privacy import ADD_REMOVE, GDP, REPLACE_ONE, Cost, PureDP
from tests.checks.replay import Pairs, check_reached, problem_of
from tests.checks.rows import keyed_rows
from tests.checks.within_groups import WEIGHTS, Absorbed, keyed, neighbour_of

COST, PURE = GDP(1.0), PureDP(1.0)
# So small an epsilon has Laplace noise alone, for sensitivities in L1.
LAPLACE = PureDP(2.0**-13)
# Far beyond every limit, and far below.
HUGE, TINY = 1e6, 1e-4
MANY = 400


def case_of(
    neighbors, d=2, cov_type=None, x=(-3.0, 1.0), y=(2.0, 10.0), epsilon=2.0, weighted=False,
    name="noisy_newton",
) -> Absorbed:  # fmt: skip
    """The method with an absorbed column, within bounds or without."""
    method = ABSORBING[name]
    problem = problem_of(d, x, y, neighbors, intercept=None)
    problem = replace(
        problem, reference=None, layout=Layout((), np.arange(d), None), weighted=weighted
    )
    method = replace(method, release=partial(method.release, cov_type=cov_type))
    return Absorbed(method, problem, method.cost(epsilon, 1e-6))


def check_random(neighbors, cov_type, tables=8, case_of=case_of, **more):
    """Strange tables with labels in common, and neighbours, some with labels moved."""
    case, generator = case_of(neighbors, cov_type=cov_type, **more), np.random.default_rng(2)
    for seed in range(tables):
        n = int(generator.choice([0, 1, 2, 30, 200]))
        X, y = generator.normal(size=(n, 2)), generator.normal(size=n)
        far = generator.random(n) < 0.05
        X[far], y[far] = 1e300, -1e300
        if case.problem.weighted:
            X = np.column_stack([X, generator.choice(WEIGHTS, n)])
        one = keyed(generator, X, y, groups=int(generator.choice([1, 3, 40])))
        case.check(one, neighbour_of(generator, case.problem, *one), seed)


class AbsorbedInstruments(Absorbed):
    """The method for instruments; the columns before weights and keys are x and z, d follows y."""

    def fit(self, X, y):
        """The release of these rows, of which y is d of the next one but for its sign."""
        rows = keyed_rows(X, y, len(self.problem.low), self.problem.weighted)
        rows = replace(rows, others=(rows.numbers[:, :1] - 2 * rows.response[:, None]))
        return lambda noise: self.method.release(InMemory(rows), self.problem, self.limit, noise)


def instrument_case(neighbors, cov_type=None, epsilon=2.0, weighted=False) -> AbsorbedInstruments:
    """One exogenous regressor and one instrument; d is a function of each row."""
    plain = case_of(neighbors, weighted=weighted, epsilon=epsilon)
    method = ABSORBING_INSTRUMENTAL["noisy_instruments"]
    problem = replace(plain.problem, instruments=Instruments((1,), (0, -1), None))
    method = replace(method, release=partial(method.release, cov_type=cov_type))
    return AbsorbedInstruments(method, problem, method.cost(epsilon, 1e-6))


@dataclass(frozen=True)
class Asking(Pairs):
    """One release of sums over pairs; a table's last columns are its groups and their parts."""

    neighbors: str
    ask: Callable[[PairQueries, Cost], object]
    weighted: bool = False
    limit: Cost = COST

    def fit(self, X, y):
        """The release of these rows, as a function of the noise."""

        def released(noise):
            queries = queries_of(X, y, self.neighbors, noise, self.weighted)
            return repr(self.ask(queries, self.limit))

        return released


def queries_of(X, y, neighbors, noise=None, weighted=False) -> PairQueries:
    """The releases of these rows, whose columns have the unit 1; with weights those come first."""
    parts = X[:, 0] if weighted else None
    X = X[:, weighted:]
    d = X.shape[1] - 2
    order = np.lexsort((X[:, -1], X[:, -2]))
    own = X[order, -2] * 1000 + X[order, -1]
    none = np.empty((len(y), 0))
    parts = None if parts is None else parts[order]
    y, units = y[order], X[order, -2]
    rows = Rows(X[order, :d], y, none, parts, keys=own, units=units, others=y[:, None])
    basis = IndicatorBasis((), np.zeros(d), np.eye(d), np.eye(d), False)
    total, problem = in_batches(rows).sum, _problem(d, neighbors)
    return PairQueries(basis, total, problem, noise or Noise(COST), SquaredLoss())


@cache
def _problem(d, neighbors) -> Problem:
    """What is public of these rows, which thousands of small tables have in common."""
    reference = Reference(np.zeros(d), np.eye(d), 0.0, 1.0, Extremes.unknown(d))
    return replace(problem_of(d, (-9, 9), (-9, 9), neighbors, None), reference=reference)


def line(number, group, along=(HUGE, 0.0), rise=TINY, part=0):
    """Rows on a line, any two of them so far ``along`` and with responses by ``rise`` apart."""
    places = np.arange(number)[:, None] - number / 2
    labels = np.tile([float(group), float(part)], (number, 1))
    return np.hstack([places * along, labels]), places[:, 0] * rise


def at(x, y, group, part=0):
    """One row."""
    return np.array([[*x, float(group), float(part)]]), np.array([float(y)])


def stacked(*tables):
    """These tables below one another."""
    return tuple(np.concatenate(parts) for parts in zip(*tables, strict=True))


def scores(limit, cut):
    """Ask for the scores at zero."""
    return lambda q, cost: q.scores("scores", q.at(np.eye(2), np.zeros(2)), limit, cut, cost)


def products(work, bound):
    """Ask for products of differences."""
    free = np.ones((2, 2), dtype=bool)
    return lambda q, cost: q.products("products", partial(work, q.basis), bound, free, cost)


ROUGH = products(lambda basis, rows: rough_products(basis, 2.0, rows), 2.0)
WHITENED = products(lambda basis, rows: whitened_products(basis, np.eye(2), 2.0, rows), 2.0)


def leverage(q, cost):
    return q.counts("leverages", partial(leverage_counts, q.basis, np.eye(q.basis.size), 1.0), cost)


def sizes(q, cost):
    return release_sizes(q, "y", lambda rows: rows.response, 8.0, cost)


def mean_square(q, cost):
    return q.mean_square(1.0, 100.0, cost)


def numbers(q, cost):
    return q.numbers(q.total(of_groups), cost)


def norm(q, cost):
    return q.norms_of_sizes(q.total(of_groups), cost)


def largest(q, cost):
    return Unequal.released(q, cost)


def of_groups(rows):
    """The sizes of groups, whatever parts they are in."""
    return GroupSizes.of(replace(rows, keys=rows.units.astype(np.int64)))


# A row that is as far from all others of a group as they are from each other, the other way.
FALLS = at((-MANY * HUGE, 0), 5.0, 1)
RISES = at((MANY * HUGE, 0), 5.0, 1)
ACROSS = at((0, MANY**2 * HUGE), 0.0, 1)


def weighing(table, weights=1.0):
    """These rows with weights."""
    X, y = table
    return np.column_stack([np.broadcast_to(weights, len(y)), X]), y


def in_group(row, group, part=0):
    """The row in another group."""
    X = row[0].copy()
    X[:, -2:] = group, part
    return X, row[1]


def worst(neighbors):
    """(release, table, neighbour): rows that move each release most.

    Any two rows of a line have a score of full length, and the row that joins it has one of the
    other sign with each; differences along one axis and along another have no product in common.
    """
    up, other = line(MANY, 1), line(MANY, 2, (0.0, HUGE))
    same = line(MANY, 1, (0, 0), 0.0)
    if neighbors == ADD_REMOVE:
        yield "scores", scores(1.0, 1.0), up, stacked(up, FALLS)
        for ask in (ROUGH, WHITENED):
            yield "products", ask, up, stacked(up, ACROSS)
        for ask in (leverage, sizes):
            yield "counts", ask, same, stacked(same, RISES)
        yield "mean square of y", mean_square, same, stacked(same, RISES)
        yield "norm of group sizes", norm, same, stacked(same, RISES)
        yield "degrees of freedom", numbers, same, stacked(same, RISES)
        yield "largest group", largest, RISES, stacked(RISES, RISES)
        return
    # scores of the second line are below zero, those of the row that joins it above
    falls = line(MANY, 2, (-HUGE, 0.0))
    joins = at((MANY * HUGE, 0.0), MANY * TINY, 2)
    yield "scores", scores(1.0, 1.0), stacked(up, falls, FALLS), stacked(up, falls, joins)
    for ask in (ROUGH, WHITENED):
        far = in_group(at((MANY**2 * HUGE, 0), 0.0, 2), 2)
        yield "products", ask, stacked(up, other, ACROSS), stacked(up, other, far)
    yield "counts", leverage, *simplices()
    yield "norm of group sizes", norm, stacked(same, at((0, 0), 0, 2)), stacked(same, RISES)
    yield "degrees of freedom", numbers, stacked(same, at((0, 0), 0, 2)), stacked(same, RISES)
    yield "largest group", largest, stacked(RISES, at((0, 0), 0, 2)), stacked(RISES, RISES)


def simplices():
    """Two groups of rows that are equally far from each other, and a row that changes group.

    It is as far from those of the first as those of the second are from each other, and as far from
    these as those of the first are.
    """
    corners = np.eye(MANY, MANY + 1)

    def of(rows, group):
        return np.hstack([rows, np.tile([float(group), 0.0], (len(rows), 1))]), np.zeros(len(rows))

    groups = stacked(of(math.sqrt(0.6) * corners, 1), of(math.sqrt(1.2) * corners, 2))
    beside = math.sqrt(1.8) * np.eye(1, MANY + 1, MANY)
    return stacked(groups, of(beside, 1)), stacked(groups, of(0 * beside, 2))


def clusters(length, by=moved, units=(1.0,)):
    """Ask for products of scores of groups, cut to a length, of responses in these units."""

    def ask(q, cost):
        at_zero = q.at(np.eye(2), np.zeros(2))
        of_groups = GroupScores(tuple(Limited(at_zero, 1.0, unit) for unit in units))
        far, longest = 1.5 * of_groups.limit + 1e-3, length * math.hypot(*(1 / u for u in units))
        moves = by(far, longest) * q.groups_changed / longest**2
        work = partial(clusters_of_pairs._products, of_groups, longest)
        return q.cluster_products(work, longest**2, moves, of_groups.p, cost)

    return ask


def lengths(q, cost):
    """Ask for the sum of the lengths of the scores of groups, of two responses."""
    at_zero = q.at(np.eye(2), np.zeros(2))
    both = GroupScores((Limited(at_zero, 1.0, 2.0), Limited(at_zero, 1.0, 0.5)))
    return clusters_of_pairs._total_length(q, both, cost)


# What another part of a group adds to its score.
LIFT = (MANY // 2 - 1) / 2
LENGTH = (MANY - 1) / 2 + LIFT


def check_worst_clusters(neighbors, by=moved, limit=COST, units=(1.0,)):
    """A row that turns the score of a group, or as it moves those of two, reaches what is stated.

    In a part of the second group scores are below zero, and those of the row that joins it above,
    so that they rise by as much as those of the first as it leaves.
    """
    one = first = stacked(line(MANY, 1), line(MANY // 2, 1, part=1))
    if neighbors == REPLACE_ONE:
        above = round(2 * ((MANY - 1) + LIFT - 1.5)) + 1
        second = line(above, 2, part=1), line(MANY, 2, (-HUGE, 0.0), part=2)
        one = stacked(first, *second)
    last = FALLS if neighbors == ADD_REMOVE else at((MANY * HUGE, 0), MANY * TINY, 2, 2)
    other = one if neighbors == ADD_REMOVE else stacked(one, FALLS)
    asking = Asking(neighbors, clusters(LENGTH, by, units), limit=limit)
    (ratio,) = asking.check(other, stacked(one, last)).values()
    check_reached(f"clusters ({neighbors})", ratio)


def check_worst_lengths(neighbors):
    """A row that turns the score of a group moves the sum of lengths by what is stated.

    Where it leaves that group for one without a score, to which it gives one, it is 5/6 of that.
    """
    up, flat = line(MANY, 1), line(MANY, 2, (0.0, 0.0), 0.0)
    one, two = up, stacked(up, FALLS)
    if neighbors == REPLACE_ONE:
        joins = at((MANY * HUGE, 0.0), MANY * TINY, 2)
        one, two = stacked(up, flat, FALLS), stacked(up, flat, joins)
    (ratio,) = Asking(neighbors, lengths).check(one, two).values()
    check_reached(f"lengths ({neighbors})", ratio, 0.82 if neighbors == REPLACE_ONE else 0.99)


def check_far_clusters():
    """Scores of groups far longer than what they are cut to move products by nothing."""
    up = line(MANY, 1)
    asking = Asking(ADD_REMOVE, clusters(LENGTH / 10))
    (ratio,) = asking.check(up, stacked(up, FALLS)).values()
    assert ratio < 1e-6


def check_labels():
    """Rows of groups with many pairs draw labels, whose number is public; so do neighbours."""
    with mock.patch.multiple(group_parts, _MOST_PAIRS=8, _MET=1):
        check_random(ADD_REMOVE, None, tables=6)
        check_random(REPLACE_ONE, "cluster", tables=6)
        check_random(ADD_REMOVE, "HC1", tables=6)


def labelled(values, key):
    """The rows, (response, number, weight, label of the group), each with the label it draws."""
    y, x, parts, groups = values.T
    rows = Rows(x[:, None], y, parts=parts, clusters=groups)
    return Counter(zip(map(tuple, values), group_parts.labels_of(rows, 8, key), strict=True))


def check_labels_of_neighbours():
    """Rows that two tables have in common draw the same labels, in any order, equal ones too."""
    generator = np.random.default_rng(4)
    for key in generator.integers(2**63, size=20).tolist():
        values = generator.integers(2, size=(60, 4)).astype(float)
        more, fewer = labelled(values, key), labelled(generator.permutation(values[1:]), key)
        assert fewer <= more and more.total() == fewer.total() + 1


def check_order():
    """The order of rows changes no sum."""
    generator = np.random.default_rng(3)
    X = np.column_stack([generator.normal(size=(50, 2)), np.ones(50), np.zeros(50)])
    y, order = generator.normal(size=50), generator.permutation(50)
    whitened = [
        queries_of(X[rows], y[rows], ADD_REMOVE).total(
            lambda r: whitened_products(queries_of(X, y, ADD_REMOVE).basis, np.eye(2), 2.0, r)
        )
        for rows in (slice(None), order)
    ]
    assert (whitened[0] == whitened[1]).all()


def check_tiny(neighbors, limit=COST):
    """All tables of up to four rows of two values, in two groups, and all neighbours of each.

    A row that is exchanged takes its label with it or another one.
    """
    kinds = [at((x, 0), y, group) for x, y, group in product((-1.0, 2.0), (-1.0, 1.0), (1, 2))]
    for ask in (scores(1.0, 1.0), WHITENED, leverage, sizes, mean_square, numbers, norm, largest):
        asking = Asking(neighbors, ask, limit=limit)
        for size in range(1, 4):
            for chosen in combinations_with_replacement(kinds, size):
                others = [stacked(*chosen[1:], row) for row in kinds]
                if neighbors == ADD_REMOVE:
                    others = [stacked(*chosen, row) for row in kinds]
                asking.check_each(stacked(*chosen), others)


def check_worst(neighbors, limit=COST):
    """The worst rows reach what is stated to 99%."""
    for name, ask, one, two in worst(neighbors):
        (ratio,) = Asking(neighbors, ask, limit=limit).check(one, two).values()
        check_reached(f"{name} ({neighbors})", ratio)


def check_worst_laplace(neighbors):
    """So they do in L1; scores along a diagonal are longest there.

    Under replace-one their squares, of differences of numbers, do not fall by as much as is stated
    where others rise. The bound of products in L1 follows from that in L2.
    """
    along = (HUGE, HUGE)
    up, far = line(MANY, 1, along), MANY * HUGE
    one, two = up, stacked(up, at((-far, -far), 5.0, 1))
    if neighbors == REPLACE_ONE:
        falls = line(MANY, 2, (-HUGE, -HUGE))
        one = stacked(up, falls, at((-far, -far), 5.0, 1))
        two = stacked(up, falls, at((far, far), MANY * TINY, 2))
    asked = "scores", scores(1.0, 1.0), one, two
    for name, ask, one, two in (asked, *worst(neighbors)):
        (ratio,) = Asking(neighbors, ask, limit=LAPLACE).check(one, two).values()
        if name != "products" and (name != "scores" or ask is asked[1]):
            check_reached(f"{name} in L1 ({neighbors})", ratio, 0.96)


def check_worst_weights(neighbors, limit=COST):
    """So do those of the largest weight; what rows count for moves most where it is exchanged."""
    for name, ask, one, two in worst(neighbors):
        if name == "degrees of freedom" and neighbors == REPLACE_ONE:
            continue
        asking = Asking(neighbors, ask, True, limit)
        (ratio,) = asking.check(weighing(one), weighing(two)).values()
        check_reached(f"{name} with weights ({neighbors})", ratio)
    same, weights = line(MANY, 1), np.ones(MANY)
    less = np.append(weights[1:], 0.0)
    if neighbors == REPLACE_ONE:
        (ratio,) = Asking(neighbors, numbers, True, limit).check(
            weighing(same, weights), weighing(same, less)
        ).values()  # fmt: skip
        check_reached("degrees of freedom of another weight", ratio)


def check_tiny_weights(neighbors):
    """All tables of two rows, and some of more, that may weigh a quarter, and their neighbours."""
    places, parts = ((-1.0, -1.0), (2.0, 1.0), (2.0, -1.0)), product((1, 2), (1.0, 0.25))
    kinds = [weighing(at((x, 0), y, g), w) for (x, y), (g, w) in product(places, parts)]
    few = [weighing(at((x, 0), y, 1), w) for (x, y), w in product(places, (1.0, 0.01))]
    tables = [*combinations_with_replacement(kinds, 1), *combinations_with_replacement(kinds, 2)]
    tables += combinations_with_replacement(few, 4)
    for ask in (scores(1.0, 1.0), WHITENED, leverage, mean_square, numbers, norm, largest):
        asking = Asking(neighbors, ask, True)
        for chosen in tables:
            kept = chosen if neighbors == ADD_REMOVE else chosen[1:]
            asking.check_each(stacked(*chosen), [stacked(*kept, row) for row in kinds])
