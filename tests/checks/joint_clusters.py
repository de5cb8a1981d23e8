"""Replay what clusters release of logits, Poisson regressions and instruments on neighbours."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from dpstats.estimators.contract import InMemory
from dpstats.estimators.newton.generalized.logistic_queries import LogisticQueries
from dpstats.estimators.newton.generalized.poisson_queries import PoissonQueries
from dpstats.estimators.newton.instruments.joint_scores import JointScores
from dpstats.estimators.newton.row_sums.indicator_basis import IndicatorBasis
from dpstats.estimators.newton.steps.clusters import Clipped, ClusterQueries
from dpstats.estimators.newton.steps.queries import Counted, Queries, RowQueries
from dpstats.estimators.newton.steps.squared_loss import SquaredLoss
from dpstats.numerics import Rows
from dpstats.privacy import ADD_REMOVE, GDP
from tests.checks import noisy_instruments, noisy_logit, noisy_poisson
from tests.checks.newton_clusters import STEPS
from tests.checks.noisy_newton import ENDS
from tests.checks.replay import Pairs, check_neighbours, check_reached

# The length that scores have at most; rows are mapped to the two numbers alone.
LIMIT, NONE = 2.0, np.zeros(2)
COST = GDP(20.0)


def of_logit(queries: RowQueries, map_: np.ndarray) -> tuple[RowQueries, Clipped]:
    """Scores of a logit where all log odds are -60."""
    q = LogisticQueries(
        queries.basis, queries.total, queries.problem, queries.noise, map_, LIMIT, -60.0
    )
    return q, q.at(NONE).of_units


def of_poisson(queries: RowQueries, map_: np.ndarray) -> tuple[RowQueries, Clipped]:
    """Scores of a Poisson regression where all means are 1."""
    q = PoissonQueries(queries.basis, queries.total, queries.problem, queries.noise, map_, 0.0, 1.0)
    return q, partial(q.at(NONE).clipped, LIMIT)


def of_instruments(queries: RowQueries, map_: np.ndarray) -> tuple[RowQueries, Clipped]:
    """Joint scores of two responses."""
    q = Queries(queries.basis, queries.total, queries.problem, queries.noise, SquaredLoss())
    joint = JointScores(q.at(map_, NONE), q.at(map_, NONE), (1.0, 3.0))
    return q, partial(joint.clipped, LIMIT)


class Model(NamedTuple):
    """What a model asks, its case and rows, a long response, and how many entries scores have."""

    of: Callable
    case: Callable
    rows: Callable
    y: float
    entries: int
    has_treatment: bool = False


MODELS = {
    "logit": Model(of_logit, noisy_logit.logit_case, noisy_logit.rows, 1.0, 2),
    "poisson": Model(of_poisson, noisy_poisson.poisson_case, noisy_poisson.rows, 1e300, 2),
    "instruments": Model(
        of_instruments, noisy_instruments.instrument_case, noisy_instruments.rows, 1e300, 4, True
    ),
}  # fmt: skip


class Table(NamedTuple):
    """Rows with labels of clusters, what they count for, and numbers of their units."""

    X: np.ndarray
    y: np.ndarray
    labels: np.ndarray
    parts: np.ndarray
    units: np.ndarray

    def rows(self, model: Model, problem) -> Rows:
        """Rows as a method sees them; without weights and units they have no parts."""
        X = self.X[:, :-1] if model.has_treatment else self.X
        return Rows(
            X[:, 2:], self.y, X[:, :2], self.parts if problem.in_parts else None,
            self.units if problem.by_unit else None, clusters=self.labels,
            others=self.X[:, -1:] if model.has_treatment else None,
        )  # fmt: skip

    def joined(self, other: "Table") -> "Table":
        """Both tables after one another; units stay apart."""
        units = other.units + self.units.max(initial=-1) + 1
        both = zip(self, other._replace(units=units), strict=True)
        return Table(*(np.concatenate(parts) for parts in both))


@dataclass(frozen=True)
class Asking(Pairs):
    """The releases of clusters alone, of rows of one length of leverage."""

    model: Model
    problem: object
    limit: GDP = COST

    def fit(self, *table):
        """The release of these rows, as a function of the noise."""
        rows = Table(*table).rows(self.model, self.problem)

        def released(noise):
            basis = IndicatorBasis.of(self.problem)
            rough = RowQueries(basis, InMemory(rows).sum, self.problem, noise)
            queries, clipped = self.model.of(rough, np.eye(basis.size)[:, -2:])
            own = ClusterQueries(queries, self.model.entries, self.limit)
            clusters = own.number(Counted(1200.0))
            return repr(own.products(clusters, clipped, LIMIT**2)), repr(clusters)

        return released


def problem_of(name: str, neighbors: str, **kind: bool):
    """The problem of a model's case, of rows with clusters and of a kind."""
    return replace(MODELS[name].case(neighbors).problem, clustered=True, **kind)


def check_random(name: str, neighbors: str, pairs: int = 8, **kind: bool) -> None:
    """No row or unit of a random table moves a query of a whole fit further than stated."""
    model, problem = MODELS[name], problem_of(name, neighbors, **kind)
    case = model.case(neighbors, 50.0)

    def fit(table):
        passes = InMemory(table.rows(model, problem))
        options = {"cov_type": "cluster"}
        return lambda noise: case.method.release(passes, problem, case.limit, noise, **options)

    def drawn(generator, n, one=False):
        X, y = model.rows(generator, n, ENDS)
        labels = generator.integers(0, 3, n).astype(float)
        if one:
            return Table(X, y, labels, np.full(n, 2.0**-20 * (2**20 // n)), np.zeros(n, int))
        return Table(X, y, labels, generator.choice([0.0, 2.0**-21, 0.3, 1.0], n), np.arange(n))

    for seed in range(pairs):
        generator = np.random.default_rng(seed)
        table = drawn(generator, int(generator.choice([0, 1, 3, 60])))
        row, old = (drawn(generator, 1 + 4 * problem.by_unit, one=True) for _ in range(2))
        one = table if neighbors == ADD_REMOVE else table.joined(old)
        check_neighbours(fit(one), fit(table.joined(row)), case.limit, seed)


def check_worst(name: str, neighbors: str, **kind: bool) -> None:
    """No row moves what clusters release further than stated, and some by 99% of it."""
    model, problem = MODELS[name], problem_of(name, neighbors, **kind)
    asking, best = Asking(model, problem), dict.fromkeys(STEPS, 0.0)
    for one, two in _worst_pairs(model, neighbors, 1 + problem.by_unit):
        first, second = (asking.fit(*table) for table in (one, two))
        for step, ratio in check_neighbours(first, second, asking.limit, 0).items():
            best[step] = max(best[step], ratio)
    for step, ratio in best.items():
        check_reached(f"{name}: {step}", ratio, 0.99)


def _worst_pairs(model: Model, neighbors: str, rows: int):
    """Yield tables in which a unit of rows stretches the sum of its cluster to where it is clipped.

    Two clusters have the longest scores, that point against one another, and four have none.
    """
    above, below, beside = (
        _unit(_equal(model, rows, sign, label)) for sign, label in ((1, 0), (-1, 0), (1, 1))
    )
    for near in (138, 142, 144, 146, 148, 300):
        table = _equal(model, 200, 1, 0).joined(_equal(model, 200, -1, 1))
        for label in range(2, 6):
            table = table.joined(_equal(model, near, 0, label))
        if neighbors == ADD_REMOVE:
            yield table, table.joined(above)
        else:
            yield table.joined(beside), table.joined(above)
            yield table.joined(below), table.joined(above)
    alone = _equal(model, 50, 1, 0)
    other = alone if neighbors == ADD_REMOVE else alone.joined(_unit(_equal(model, rows, 1, 5)))
    yield other, alone.joined(above)


def _unit(table: Table) -> Table:
    """The rows as those of one unit."""
    n = len(table.y)
    return table._replace(parts=np.full(n, 1 / n), units=np.zeros(n, int))


def _equal(model: Model, n: int, sign: float, label: float) -> Table:
    """Equal rows of a cluster, whose whitened numbers are (sign LIMIT, 0)."""
    row = [0.0, 0.0, 1 + 2 * sign * LIMIT, 1 + sign * LIMIT, *[model.y] * model.has_treatment]
    X = np.tile(row, (n, 1))
    return Table(X, np.full(n, model.y), np.full(n, float(label)), np.ones(n), np.arange(n))
