"""Fit every method at every epsilon to the same synthetic tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from dpstats.engines import Table
from dpstats.evaluate.references import ols
from dpstats.fitting.single import fit_single
from dpstats.mechanisms.shared import Problem, Release
from dpstats.noise import Noise
from dpstats.option_checks import checked_alpha, whole
from dpstats.planning.assumptions import Guess
from dpstats.planning.trials import Trials
from dpstats.progress_bar import progress_bar
from dpstats.request import Prepared, Request
from dpstats.request.prepare import prepare, with_whole_units
from dpstats.testing import insecure_seed

# Below this a 90th percentile means nothing; above it nobody waits.
_REPETITIONS = 20, 100_000


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
    """

    guess: Guess
    problem: Problem
    points: tuple[str, ...]
    alpha: float
    repetitions: int
    seed: int
    progress: bool | None
    size: int

    @classmethod
    def of(
        cls, guess: Guess, request: Request, alpha, repetitions, seed, progress, size: int
    ) -> "Simulation":
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

    def trials(self, requests: Sequence[Request]) -> list[Trials]:
        """Run the trials of each request."""
        fits = self._run(
            [partial(_release, Prepared.of(request), self.size) for request in requests]
        )
        rows, truth = self._quantities()
        return [Trials.of_releases(releases, rows, truth, self.alpha) for releases in fits]

    def least_squares(self) -> Trials:
        """Fit least squares without privacy to the same tables."""
        (fits,) = self._run([partial(_least_squares, self.problem, self.guess, self.size)])
        rows, truth = self._quantities()
        panel, observations = self.guess.panel, self.size
        if panel is not None:
            observations = panel.observations(self.size)
        return Trials.of_ols(fits, rows, truth, self.alpha, observations)

    def _quantities(self) -> tuple[np.ndarray, np.ndarray]:
        """Write coefficients and predictions as combinations of coefficients, with true values."""
        rows = np.vstack([np.eye(len(self.guess.truth)), self.problem.x_new])
        return rows, rows @ self.guess.truth

    def _run(self, fits: Sequence[Callable]) -> list[list[Any]]:
        """Apply each fit to each table: lists of results, fits x repetitions.

        In one repetition all fits see the same table, and private ones the same random
        numbers, so that differences between them are seen with little error.
        """
        results: list[list] = [[] for _ in fits]
        for i in progress_bar(range(self.repetitions), "tables", self.progress):
            table, noise = np.random.SeedSequence([self.seed, i]).spawn(2)
            columns, X, y = self.guess.table(np.random.default_rng(table))
            X, y = self.guess.clipped(X, y)
            for fit, fitted in zip(fits, results, strict=True):
                with insecure_seed(noise), np.errstate(all="ignore"):
                    fitted.append(fit(columns, X, y))
        return results


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
    if request.unit is not None or request.method.needs_marginals:
        return _of_rows(request, size, {**columns, request.formula.response: y})
    layout = prepared.problem.layout
    X, y = X[:size], y[:size]
    if request.coded and layout is not None:
        X = layout.compact(X)
    if request.formula.absorbed is not None:
        X = np.column_stack([X, columns[request.formula.absorbed]])
    if request.weights is not None:
        weights = request.weights
        X = np.column_stack([X, weights.parts(columns[weights.column][:size])])
    facts = {"problem": prepared.problem, "cost": prepared.cost, "noise": Noise(request.cost)}
    return request.method.fit(X, y, **facts, **request.options)


def _of_rows(request: Request, size: int, data: Mapping) -> Release:
    """Release one fit of the first rows, with distributions that are estimated from all."""
    noise = Noise(request.cost)
    prepared = prepare(replace(request, table=Table.from_data(data)), noise)
    first = {name: np.asarray(values)[:size] for name, values in data.items()}
    one = with_whole_units(replace(prepared.request, table=Table.from_data(first)))
    return fit_single(replace(prepared, request=one), noise).release
