"""Repeat the releases of a method, or of a baseline, from the same public rows."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd

from dpstats.call import Request
from dpstats.errors import ArgumentError, shown
from dpstats.estimators import GENERALIZED, INSTRUMENTAL, METHODS
from dpstats.estimators.contract import InMemory, Repeated
from dpstats.estimators.lines import Line
from dpstats.evaluate.mos import draw, observe
from dpstats.evaluate.public_rows import Cells, declared_public, request_for
from dpstats.evaluate.references import mean, not_private, ols, theil_sen
from dpstats.noise import Noise
from dpstats.numerics import Rows
from dpstats.numerics.first_use import shown_if_compiling
from dpstats.option_checks import checked_progress, seeded_generator
from dpstats.privacy import validate_guarantee
from dpstats.progress_bar import progress_bar
from dpstats.results.one.error_bounds import checked_trials
from dpstats.run import TablePasses
from dpstats.run.group_batches import fit_each
from dpstats.run.groups import fit_groups
from dpstats.run.prepare import prepare
from dpstats.run.single import fit_single
from dpstats.spelling import unknown_word
from dpstats.testing import insecure_seed

# Baselines without noise, by the name under which methods= asks for them.
_ESTIMATORS = {"ols": ols, "theil_sen": theil_sen, "mean": mean}
BASELINES = (*_ESTIMATORS, "mos")

# Predictions (G, trials, p) from the rows; NaN where none was released.
Run = Callable[[Cells, int, bool | None], np.ndarray]


def predictions(
    formula: str,
    data,
    *,
    methods,
    epsilon: float,
    delta: float | None = None,
    by: str | Sequence[str] | None = None,
    bounds,
    levels=None,
    x_new=None,
    trials: int = 100,
    seed: int | None = None,
    progress: bool | None = None,
    public: bool = False,
) -> pd.DataFrame:
    """Simulate many releases of each method on public data.

    Not private, and the arguments are those of :func:`dpstats.evaluate.error_bounds`, which
    summarises this table.

    Returns
    -------
    pandas.DataFrame
        Tidy, a row per method, group, trial and point; columns: ``method``, ``group``,
        ``trial``, ``point`` and ``prediction``, NaN where none was released.

    Raises
    ------
    ArgumentError
        Without ``public=True``, and for arguments that dp_ols would refuse.

    Examples
    --------
    >>> import dpstats as dp
    >>> table = predictions("y ~ x", dp.simulate.line(50, seed=1), methods=["noisy_stats"],
    ...                     epsilon=2, bounds={"x": (0, 1), "y": (0, 1)}, trials=5, public=True)
    >>> len(table)
    10
    """
    declared_public(public, "predictions")
    cells, released = released_predictions(
        formula, data, methods=methods, epsilon=epsilon, delta=delta, by=by, bounds=bounds,
        levels=levels, x_new=x_new, trials=trials, seed=seed, progress=progress,
    )  # fmt: skip
    keys = {"method": list(released), "group": cells.labels, "trial": range(trials),
            "point": cells.points}  # fmt: skip
    index = pd.MultiIndex.from_product(list(keys.values()), names=list(keys))
    values = np.concatenate([values.ravel() for values in released.values()])
    return pd.DataFrame({"prediction": values}, index).reset_index()


def released_predictions(
    formula, data, *, methods, epsilon, delta, by, trials, seed, progress, **call
) -> tuple[Cells, dict[str, np.ndarray]]:
    """Read the rows by group and predict (G, trials, p) for each label, all with one seed."""
    trials, progress = checked_trials(trials), checked_progress(progress)
    epsilon, _ = validate_guarantee(epsilon, 0.0)
    seed = np.random.SeedSequence().entropy if seed is None else seed
    reading = request_for(formula, data, **call)
    runs = _runs(methods, formula, data, by=by, epsilon=epsilon, delta=delta, seed=seed, **call)
    with shown_if_compiling(progress):
        cells = Cells.of(reading, by)
        if not cells.points:
            raise ArgumentError(
                "predictions are compared, so there must be some; say where with x_new="
            )
        released = {}
        for label, run in runs.items():
            with insecure_seed(seed):
                released[label] = run(cells, trials, progress)
    return cells, released


def _runs(methods, formula, data, *, by, epsilon, delta, seed, **call) -> dict[str, Run]:
    """Build for each label of methods= the function that predicts, before any row is read."""
    runs = {}
    for label, entry in method_entries(methods).items():
        options = dict(entry)
        name = options.pop("method")
        if name in BASELINES:
            if options:
                raise ArgumentError(f"{name} is a baseline without options, got {options!r}")
            runs[not_private(label)] = partial(_baseline, name, epsilon, seed)
        elif name in {**GENERALIZED, **INSTRUMENTAL}:
            raise ArgumentError(
                f"evaluate compares with least squares, got method={name!r}; dp.plan_study sets "
                "logits, counts and instruments on a public stand-in beside those without privacy"
            )
        elif name not in METHODS:
            raise unknown_word("method", name, [*METHODS, *BASELINES])
        else:
            request = request_for(formula, data, method=name, epsilon=epsilon, options=options,
                                  delta=delta_of(name, delta), **call)  # fmt: skip
            released = partial(_refitted, by) if request.method.ranges.marginals else _released
            runs[label] = partial(released, label, request)
    return runs


def method_entries(methods) -> dict[str, Mapping]:
    """Write methods= as {label: {"method": name, **options}}."""
    listed = isinstance(methods, (Mapping, Sequence)) and not isinstance(methods, str)
    if not listed or not methods or not all(isinstance(name, str) for name in methods):
        raise ArgumentError(f"expected methods to be a list of names, got {shown(methods)}")
    if not isinstance(methods, Mapping):
        return {name: {"method": name} for name in methods}
    for label, entry in methods.items():
        if not isinstance(entry, Mapping) or "method" not in entry:
            raise ArgumentError(
                f'expected methods[{label!r}] {{"method": name}}, got {shown(entry)}'
            )
    return dict(methods)


def delta_of(name: str, delta: float | None) -> float | None:
    """Return delta for a method that needs one, and None for a pure one."""
    return None if METHODS[name].guarantee == "pure" else delta


def _released(label: str, request: Request, cells: Cells, trials: int, progress) -> np.ndarray:
    """Predict from releases with the whole budget in each group.

    The groups of a trial are released in one go where the method can; else the first pass over
    the rows of a group is made once for all its trials.
    """
    prepared = TablePasses.of(request)
    method, problem, cost = request.method, prepared.problem, prepared.cost
    predictions = np.empty((len(cells.labels), trials, len(cells.points)))
    if method.each is not None:
        for t in progress_bar(range(trials), label, progress):
            outcomes = fit_each(prepared, cells.grouped, cells.labels, progress=False, n_jobs=None)
            predictions[:, t] = outcomes.estimates[:, len(cells.names) :]
        return predictions
    for g, (X, y) in enumerate(progress_bar(cells.rows, label, progress)):
        rows = Rows(X, y)
        if problem.coded and problem.layout is not None:
            rows = problem.layout.compact(rows)
        repeated = Repeated(InMemory(rows))
        for t in range(trials):
            noise = Noise(cost)
            passes = repeated.under(noise)
            release = method.release(passes, problem, cost, noise, **request.options)
            predictions[g, t] = release.predictions
    return predictions


def _refitted(by, label: str, request: Request, cells: Cells, trials: int, progress) -> np.ndarray:
    """Predict from whole calls, for a method that first estimates distributions of columns."""
    predictions = np.empty((len(cells.labels), trials, len(cells.points)))
    for t in progress_bar(range(trials), label, progress):
        noise = Noise(request.cost)
        prepared = prepare(request, noise)
        if by is None:
            predictions[0, t] = fit_single(prepared, noise).release.predictions
        else:
            groups = fit_groups(prepared, noise, by, cells.labels, progress=False, n_jobs=None)
            predictions[:, t] = groups.estimates[:, len(cells.names) :]
    return predictions


def _baseline(name: str, epsilon, seed, cells: Cells, trials: int, progress) -> np.ndarray:
    """Predict by a baseline, the same in every trial but for the noise of mos."""
    if name == "mos":
        unit = draw(observe(cells, epsilon), trials, seeded_generator(seed))
        return Line.of(cells.problem).values(unit)
    fits = [_ESTIMATORS[name](X, y, cells.problem)[len(cells.names) :, 0] for X, y in cells.rows]
    return np.repeat(np.array(fits)[:, None], trials, axis=1)
