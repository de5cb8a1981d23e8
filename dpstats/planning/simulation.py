"""Fit every method at every epsilon to the same synthetic tables."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from dpstats.call import Prepared, Request
from dpstats.engines import Table
from dpstats.estimators.contract import InMemory, Problem, Release
from dpstats.evaluate.references import ols
from dpstats.noise import Noise
from dpstats.numerics import Rows
from dpstats.numerics.first_use import shown_if_compiling
from dpstats.option_checks import checked_alpha, number, whole
from dpstats.planning.assumptions import Guess
from dpstats.planning.trials import Trials
from dpstats.progress_bar import progress_bar
from dpstats.run.prepare import prepare, with_whole_units
from dpstats.testing import insecure_seed

# Below this a 90th percentile means nothing; above it nobody waits.
_REPETITIONS = 20, 100_000
# With a precision, after how many tables widths are looked at first, and times how many again. Of 9
# the second and the eighth bound the median; of 8 only the first and the last would.
_FIRST_LOOK, _NEXT_LOOK = 9, 1.5

checked_precision = number("precision", 0, 1, "()")


@dataclass(frozen=True)
class Simulation:
    """Fit methods to synthetic tables drawn from an assumed regression.

    Parameters
    ----------
    guess : Guess
    problem : Problem
        The public facts for any method; the neighbour relation is each method's own.
    points : tuple of str
        Labels of the prediction points.
    alpha : float
        One minus the level of the intervals.
    repetitions, seed : int
        Number of tables, and the seed of their random numbers and of the noise.
    progress : bool or None
    size : int
        Rows of a fit: all of a table, or those of one group.
    precision : float or None
        Relative error of the median widths of coefficients at which trials of a fit end.
    """

    guess: Guess
    problem: Problem
    points: tuple[str, ...]
    alpha: float
    repetitions: int
    seed: int
    progress: bool | None
    size: int
    precision: float | None = None

    @classmethod
    def of(
        cls, guess: Guess, request: Request, size: int, *, alpha, repetitions, seed, progress,
        precision=None,
    ) -> "Simulation":  # fmt: skip
        """Check the settings of the simulation; the request says where to predict."""
        prepared = Prepared.of(request)
        return cls(
            guess=guess,
            problem=prepared.problem,
            points=prepared.points,
            alpha=checked_alpha(alpha),
            repetitions=whole("repetitions", *_REPETITIONS)(repetitions),
            seed=whole("seed", 0)(seed),
            progress=progress,
            size=size,
            precision=None if precision is None else checked_precision(precision),
        )

    @property
    def terms(self) -> tuple[str, ...]:
        """List the coefficients, then the prediction points."""
        return (*self.guess.design.names, *self.points)

    @property
    def slopes(self) -> tuple[str, ...]:
        """List the coefficients without the intercept, unless there is no other."""
        names, intercept = self.guess.design.names, self.guess.design.intercept
        return tuple(name for i, name in enumerate(names) if i != intercept) or names

    def trials(self, requests: Sequence[Request | None]) -> list[Trials]:
        """Run the trials of each request; None stands for least squares without privacy."""
        with shown_if_compiling(self.progress):
            return self._run([self._fit(request) for request in requests])

    def _fit(self, request: Request | None) -> tuple[Callable, Callable[[list], Trials]]:
        """Return the function that fits one table, and the one that makes trials of its results."""
        rows = np.vstack([np.eye(len(self.guess.truth)), self.problem.x_new])
        truth, panel = rows @ self.guess.truth, self.guess.panel
        if request is not None:
            collect = partial(Trials.of_releases, rows=rows, truth=truth, alpha=self.alpha)
            return partial(_release, Prepared.of(request), self.size), collect
        shape = self.size, rows.shape[1]
        freedom = shape[0] - shape[1] if panel is None else panel.freedom(*shape)
        collect = partial(Trials.of_ols, truth=truth, alpha=self.alpha, freedom=freedom)
        return partial(_least_squares, self.problem, self.guess, self.size), collect

    def _run(self, fits: Sequence[tuple[Callable, Callable]]) -> list[Trials]:
        """Apply each fit to each table.

        In one repetition all fits see the same table, and private ones the same random
        numbers, so that differences between them are seen with little error. A fit whose widths
        are known well enough sees no further tables.
        """
        results: list[list] = [[] for _ in fits]
        running, looks = list(range(len(fits))), self._looks()
        for i in progress_bar(range(self.repetitions), "tables", self.progress):
            if i in looks:
                running = [k for k in running if not self._known(fits[k][1](results[k]))]
            if not running:
                break
            table, noise = np.random.SeedSequence([self.seed, i]).spawn(2)
            columns, X, y = self.guess.table(np.random.default_rng(table))
            X, y = self.guess.clipped(X, y)
            for k in running:
                with insecure_seed(noise), np.errstate(all="ignore"):
                    results[k].append(fits[k][0](columns, X, y))
        return [collect(found) for (_, collect), found in zip(fits, results, strict=True)]

    def _looks(self) -> set[int]:
        """Return the numbers of tables after which widths are checked; none without a precision."""
        looks, after = set(), _FIRST_LOOK
        while self.precision is not None and after < self.repetitions:
            looks.add(after)
            after = math.ceil(_NEXT_LOOK * after)
        return looks

    def _known(self, trials: Trials) -> bool:
        """Tell whether the median widths of all coefficients are known well enough."""
        assert self.precision is not None, "there are no looks without it"
        return bool((trials.width_error()[: len(self.guess.truth)] <= self.precision).all())


def _least_squares(
    problem: Problem, guess: Guess, size: int, columns: Mapping, X: np.ndarray, y: np.ndarray
):
    """Fit least squares to the rows of the design, weighted where there are weights."""
    X, y = X[:size], y[:size]
    if guess.panel is not None:
        return guess.panel.least_squares(problem, X, y)
    if guess.weights is not None:
        weights = guess.weights.weights
        root = np.sqrt(weights.parts(columns[weights.column][:size]))
        X, y = X * root[:, None], y * root
    return ols(X, y, problem=problem)


def _release(
    prepared: Prepared, size: int, columns: Mapping, X: np.ndarray, y: np.ndarray
) -> Release:
    """Release one fit of the first rows with the whole budget of a call that declares all bounds.

    Methods that estimate distributions of columns take these from all rows.
    """
    request = prepared.request
    if request.unit is not None or request.method.ranges.marginals:
        response = request.formula.bare_response or request.formula.response
        return _of_rows(request, size, {**columns, response: y})
    layout, absorbed, weights = prepared.problem.layout, request.formula.absorbed, request.weights
    rows = Rows(
        X, y,
        parts=None if weights is None else weights.parts(columns[weights.column]),
        keys=None if absorbed is None else columns[absorbed],
    )[:size]  # fmt: skip
    if request.coded and layout is not None:
        rows = layout.compact(rows)
    facts = prepared.problem, prepared.cost, Noise(request.cost)
    return request.method.release(InMemory(rows), *facts, **request.options)


def _of_rows(request: Request, size: int, data: Mapping) -> Release:
    """Release one fit of the first rows, with distributions that are estimated from all.

    The rows of the design are held, since a method may read them ten times.
    """
    noise, method = Noise(request.cost), request.method
    prepared = prepare(replace(request, table=Table.from_data(data)), noise)
    first = {name: values[:size] for name, values in data.items()}
    one = with_whole_units(replace(prepared.request, table=Table.from_data(first)))
    held = Rows.joined([rows for rows, _ in replace(prepared, request=one).rows()])
    facts = prepared.problem, prepared.cost, noise
    release = method.release(InMemory(held), *facts, **request.options)
    return release.within(prepared.response_ends)
