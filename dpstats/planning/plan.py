"""Forecast private regressions: check assumptions, draw synthetic tables, fit, summarise."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import product

import numpy as np

from dpstats.errors import ArgumentError
from dpstats.evaluate.predictions import delta_of, method_entries
from dpstats.evaluate.public_rows import request_for
from dpstats.evaluate.references import not_private
from dpstats.formula import Formula
from dpstats.mechanisms import METHODS
from dpstats.planning.assumptions import Guess
from dpstats.planning.epsilon_search import GRID, Target
from dpstats.planning.forecast import Forecast
from dpstats.planning.result import Plan
from dpstats.planning.simulation import Simulation
from dpstats.planning.trials import Trials
from dpstats.privacy import validate_guarantee
from dpstats.request import Request
from dpstats.request.auto_method import AUTO, choose

_OLS = not_private("ols")


def plan(
    formula: str,
    *,
    n: int,
    bounds: Mapping,
    methods=None,
    epsilon=None,
    truth: Mapping | None = None,
    sd: float | None = None,
    x_sd: Mapping | None = None,
    x_range: Mapping | None = None,
    levels: Mapping | None = None,
    delta: float | None = None,
    neighbors: str | None = None,
    x_new=None,
    method: str | None = None,
    weights: str | None = None,
    weights_mean: float | None = None,
    trim_weights: float | None = None,
    by=None,
    target_width: float | None = None,
    term: str | None = None,
    repetitions: int = 200,
    alpha: float = 0.05,
    seed: int = 0,
    progress: bool | None = None,
) -> Plan:
    """Forecast the errors of private regressions, before any budget is spent.

    Synthetic tables are drawn from public guesses, and each method is run on them as
    :func:`dpstats.dp_ols` would run it, with random numbers from a seed.

    Parameters
    ----------
    formula, levels, delta, neighbors, x_new
        As in :func:`dpstats.dp_ols`; delta is for the methods that need one.
    n : int
        Guessed number of rows, 1 to 10 million.
    bounds : mapping
        ``{column: (low, high)}`` for every numeric column.
    methods : sequence of str or mapping
        Names in ``dpstats.METHODS``, or ``{label: {"method": name, **options}}``; ``"auto"`` is
        what the default would choose for n rows.
    epsilon : float or sequence of float
        Privacy losses to try, each > 0. With ``target_width`` the grid to search, by default
        129 values from 0.01 to 100.
    truth : mapping, optional
        ``{coefficient: value}`` in units of the data. Others are 0, except that
        the intercept puts the line through the midpoint of the bounds.
    sd : float, optional
        Standard deviation of the residuals, > 0, in units of the response; by default a
        sixth of its range.
    x_sd : mapping, optional
        ``{column: s.d.}`` of numeric regressors that are normal around the midpoint of their
        bounds. The others are uniform within them; all are independent. A narrow
        regressor makes private slopes far less certain, so guess it with care.
    x_range : mapping, optional
        ``{column: (low, high)}`` within the bounds, for numeric regressors that are uniform on
        that part of them, where bounds are declared wider than the data reach.
    method : str, optional
        One name, in the place of ``methods``.
    weights, trim_weights
        As in :func:`dpstats.dp_ols`. The forecast says what the bounds of the weights cost.
    weights_mean : float, optional
        Guessed mean of the weights, lognormal within their bounds; by default the midpoint of
        these, which is far too large for most survey weights.
    by
        Groups are refused with what to forecast instead.
    target_width : float, optional
        Search for the minimum epsilon at which the median interval of ``term`` is this narrow.
    term : str, optional
        The coefficient or prediction point meant by it; by default the only slope.
    repetitions : int
        Number of synthetic tables, 20 to 100,000.
    alpha : float
        One minus the level of the intervals, in (0, 1).
    seed : int
        Of tables and noise, at least 0. The same call gives the same plan.
    progress : bool, optional
        Progress bar; by default on a terminal, for runs over a second.

    Returns
    -------
    Plan
        ``frame`` (tidy), ``summary()``, ``plot()``, ``to_csv(path)``, and with
        ``target_width`` also ``least``, the minimum epsilon by method.

    Raises
    ------
    ArgumentError
        For a guess or an argument that cannot be used.

    Notes
    -----
    Guarantee: no data are read, so there is nothing to protect and nothing is spent. This
    holds as long as the guesses do not come from the confidential data.

    Examples
    --------
    >>> import dpstats as dp
    >>> forecast = dp.plan("y ~ x", n=1000, bounds={"x": (0, 1), "y": (0, 1)}, epsilon=[0.5, 4],
    ...                    methods=["adassp", "noisy_stats"], truth={"x": 0.3}, sd=0.1,
    ...                    repetitions=50)
    >>> error = forecast.frame.query("term == 'x'").set_index(["method", "epsilon"])["error"]
    >>> bool(error["adassp", 0.5] > error["adassp", 4])
    True
    """
    methods = _methods(methods, method, by)
    _check_described(formula, bounds, levels)
    entries, epsilons = method_entries(methods), _epsilons(epsilon, target_width)
    call = {"formula": formula, "data": _no_rows(formula, levels, weights), "bounds": bounds,
            "levels": levels, "x_new": x_new, "neighbors": neighbors, "weights": weights,
            "trim_weights": trim_weights}  # fmt: skip
    build = partial(_request, _chosen(entries, n, delta, call), delta, call)
    requests = {label: build(label, epsilons[-1]) for label in entries}
    first = next(iter(requests.values()))
    guess = Guess.of(first, n, truth, sd, x_sd, x_range, weights_mean)
    simulation = Simulation.of(guess, first, alpha, repetitions, seed, progress)
    target = _target(target_width, term, simulation)
    if target is None:
        minimums, trials = (), _trials(simulation, build, entries, epsilons)
    else:
        minimums, trials = _searched(target, simulation, build, entries, epsilons)
    trials[_OLS, np.inf] = simulation.least_squares()
    return Plan(
        formula=formula,
        n=guess.n,
        repetitions=simulation.repetitions,
        alpha=simulation.alpha,
        terms=simulation.terms,
        slopes=simulation.slopes,
        guesses=guess.sentences(np.random.default_rng(simulation.seed)),
        forecasts=_forecasts(simulation.terms, trials),
        remarks=_notes(requests, trials),
        target=target.text if target else "",
        minimums=minimums,
        truth=dict(zip(guess.design.names, guess.truth.tolist(), strict=True)),
        sd=guess.sd,
    )


def _methods(methods, method, by):
    """Return the methods to forecast, from either argument."""
    if by is not None:
        raise ArgumentError(
            f"plan forecasts one fit, got by={by!r}: each group gets the whole epsilon, so give n= "
            "the rows of a small, a typical and a large group, one plan each"
        )
    if (methods is None) == (method is None):
        raise ArgumentError('expected methods=[...] or method="...", such as method="auto"')
    return [method] if methods is None else methods


def _epsilons(epsilon, target_width) -> tuple[float, ...]:
    """Check the privacy losses to try, and sort them."""
    if epsilon is None and target_width is not None:
        return GRID
    values = [epsilon]
    if isinstance(epsilon, Iterable) and not isinstance(epsilon, str):
        values = list(epsilon)
    if epsilon is None or not values:
        raise ArgumentError(
            f"expected epsilon to list numbers > 0, such as [0.5, 1], got {epsilon!r}; without it "
            "give target_width="
        )
    return tuple(sorted({validate_guarantee(value, 0.0)[0] for value in values}))


def _check_described(formula: str, bounds, levels) -> None:
    """Raise ArgumentError for a variable with neither a range nor levels, or an absorbed one."""
    parsed = Formula.parse(formula)
    if parsed.absorbed is not None:
        raise ArgumentError(
            f"a forecast draws no groups to absorb: leave | {parsed.absorbed} out of {formula!r}; "
            "the noise with it is about four times as large, whatever the number of groups"
        )
    declared = [bounds or {}, levels or {}, parsed.levels]
    if not all(isinstance(names, Mapping) for names in declared):
        return  # the request will say what is expected
    for name in parsed.variables:
        if not any(name in names for names in declared):
            raise ArgumentError(
                f'expected bounds={{"{name}": (low, high)}} for a number or '
                f'levels={{"{name}": [...]}} for a factor: without rows, {name} is unknown'
            )


def _no_rows(formula: str, levels, weights) -> dict[str, np.ndarray]:
    """Build a table without rows, whose columns with levels take labels of any type."""
    parsed = Formula.parse(formula)
    with_levels = {*parsed.levels, *(levels if isinstance(levels, Mapping) else ())}
    names = [*parsed.variables, *([weights] if isinstance(weights, str) else [])]
    return {name: np.empty(0, object if name in with_levels else float) for name in names}


def _chosen(entries: Mapping, n: int, delta, call: Mapping) -> Callable[[str, float], dict]:
    """Return the function that says which method and options a label has at an epsilon.

    For n rows "auto" is what dp_ols would choose.
    """

    def entry(label: str, epsilon: float) -> dict:
        options = dict(entries[label])
        if options["method"] == AUTO:
            others = {name: value for name, value in options.items() if name != "method"}
            options["method"], _ = choose(
                Formula.parse(call["formula"]), call["bounds"], epsilon, delta, call["neighbors"],
                n, True, others, call["weights"] is not None,
            )  # fmt: skip
        return options

    return entry


def _request(entry: Callable, delta, call: Mapping, label: str, epsilon: float) -> Request:
    """Build the request of dp_ols for a label and an epsilon."""
    options = entry(label, epsilon)
    name = options.pop("method")
    if name not in METHODS:
        raise ArgumentError(f"expected methods to name some of {', '.join(METHODS)}, got {name!r}")
    delta = delta_of(name, delta)
    request = request_for(**call, method=name, epsilon=epsilon, delta=delta, options=options)
    transformed = request.formula.response not in request.formula.variables
    if request.method.needs_marginals and transformed:
        raise ArgumentError(
            f"a forecast for {name} draws the response itself, got {request.formula.response}; "
            "name the transformed response as a column of its own, with its bounds"
        )
    return request


def _target(width, term, simulation: Simulation) -> Target | None:
    """Return the target of a search, if a width is given."""
    if width is not None:
        return Target.of(width, term, simulation.terms, simulation.slopes)
    if term is not None:
        raise ArgumentError(f"term={term!r} goes with target_width=; give both or neither")
    return None


def _trials(simulation: Simulation, build, labels, epsilons) -> dict[tuple[str, float], Trials]:
    """Run the trials of every method at every epsilon."""
    cells = list(product(labels, epsilons))
    return dict(zip(cells, simulation.trials([build(*cell) for cell in cells]), strict=True))


def _searched(target: Target, simulation: Simulation, build, labels, epsilons):
    """Search for each label; return the minimums, and the trials by label and epsilon."""
    minimums, trials = [], {}
    for label in labels:

        def trials_at(epsilon: float, label: str = label) -> Trials:
            return simulation.trials([build(label, epsilon)])[0]

        minimum, visited = target.search(label, trials_at, epsilons)
        minimums.append(minimum)
        trials |= {(label, epsilon): visited[epsilon] for epsilon in sorted(visited)}
    return tuple(minimums), trials


def _forecasts(terms: Sequence[str], trials: Mapping) -> tuple[Forecast, ...]:
    """Summarise trials in a forecast per method, epsilon and term."""
    return tuple(
        Forecast(method, epsilon, term, *values)
        for (method, epsilon), runs in trials.items()
        for term, values in zip(terms, runs.numbers().tolist(), strict=True)
    )


def _notes(requests: Mapping[str, Request], trials: Mapping) -> dict[str, tuple[str, ...]]:
    """Collect notes on each method, by label; of texts that differ in numbers only the last."""
    notes = {label: _meaning(request) for label, request in requests.items()}
    for (label, _), runs in trials.items():
        notes.setdefault(label, []).extend(runs.reasons)
    distinct = {name: {re.sub(r"\d+", "", t): t for t in texts} for name, texts in notes.items()}
    return {label: tuple(texts.values()) for label, texts in distinct.items() if texts}


def _meaning(request: Request) -> list[str]:
    """Explain the meaning of epsilon where it is not that of (epsilon, delta)."""
    if request.method.guarantee != "zcdp":
        return []
    return [
        "epsilon stands for rho = epsilon^2 / 2, a weaker promise: the largest one here is "
        f"({request.epsilon:.3g}, {request.delta:g})-DP"
    ]
