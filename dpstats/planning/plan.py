"""Forecast private regressions: check assumptions, draw synthetic tables, fit, summarise."""

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import product

import numpy as np

from dpstats.call.auto_method import AUTO
from dpstats.codebook import Schema
from dpstats.errors import ArgumentError, shown
from dpstats.formula import Formula
from dpstats.option_checks import checked_progress, whole
from dpstats.planning.assumptions import Guess, checked_rows
from dpstats.planning.epsilon_search import GRID, asked_target, search_each
from dpstats.planning.forecast import forecasts_of, remarks
from dpstats.planning.group_result import GroupPlan
from dpstats.planning.group_sizes import check_outside, plan_groups
from dpstats.planning.planned_requests import (
    check_described,
    check_one,
    chosen_methods,
    no_rows,
    note_on_auto,
    planned_cluster,
    planned_entries,
    planned_request,
)
from dpstats.planning.result import Plan
from dpstats.planning.simulation import Simulation
from dpstats.planning.trials import OLS, Trials
from dpstats.privacy import validate_guarantee


def plan(
    formula: str,
    *,
    n,
    bounds: Mapping | None = None,
    methods=None,
    epsilon=None,
    truth: Mapping | None = None,
    sd: float | None = None,
    x_sd: Mapping | None = None,
    x_range: Mapping | None = None,
    levels: Mapping | None = None,
    schema=None,
    delta: float | None = None,
    neighbors: str | None = None,
    x_new=None,
    method: str | None = None,
    weights: str | None = None,
    weights_mean: float | None = None,
    trim_weights: float | None = None,
    by=None,
    groups: int | None = None,
    within_share=None,
    unit: str | None = None,
    max_rows: int | None = None,
    max_groups: int | None = None,
    rows_per_person=None,
    icc: float | None = None,
    cov_type: str | None = None,
    cluster: str | None = None,
    clusters=None,
    target_width: float | None = None,
    term: str | None = None,
    repetitions: int = 200,
    precision: float | None = None,
    alpha: float = 0.05,
    seed: int = 0,
    progress: bool | None = None,
    **others,
) -> Plan | GroupPlan:
    """Forecast the errors of private regressions, before any budget is spent.

    Synthetic tables are drawn from public guesses, and each method is run on them as
    :func:`dpstats.dp_ols` would run it, with random numbers from a seed.

    Parameters
    ----------
    formula, levels, schema, delta, neighbors, x_new
        As in :func:`dpstats.dp_ols`; delta is for the methods that need one.
    n : int or sequence of int
        Guessed number of rows, 1 to 10 million; with ``by`` those of each group: one number,
        with ``groups``, or a list with one number per group.
    bounds : mapping
        ``{column: (low, high)}`` for every numeric column.
    methods : str, sequence of str or mapping
        Names in ``dpstats.METHODS``, or ``{label: {"method": name, **options}}``; ``"auto"``, the
        default, is what :func:`dpstats.dp_ols` would choose, which the notes name.
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
    by : str or sequence of str, optional
        Group columns of one regression per group, as in :func:`dpstats.dp_ols`. Each group has
        the whole epsilon, with ``unit`` that of ``max_groups``, and all are alike but for their
        size.
    groups : int, optional
        Guessed number of groups: of the column that the formula absorbs (``y ~ x | column``), from
        1 to n - 1, all of about the same size, or of ``by``, with one n for all.
    within_share : float or mapping, optional
        With an absorbed column: the share of the variance of each numeric regressor that is
        within groups, in (0, 1], or ``{column: share}``; by default 0.5. The mapping may name the
        response too, for the share of its variance about the regression; else groups have no
        effect of their own on it. ``sd`` is that of the residuals within groups. With ``unit`` or
        ``cluster``: the share within persons or clusters, in [0, 1], 0 for what does not change
        within one.
    unit, max_rows, max_groups
        As in :func:`dpstats.dp_ols`: all rows of a person are protected together. ``n`` still is
        the number of rows, with ``by`` of those in use, and least squares beside it has standard
        errors clustered by person.
    rows_per_person : float or sequence of int, optional
        With ``unit``: the mean number of rows of a person, all about alike, or a list of numbers
        that are equally common, such as [1, 1, 2, 12]; with ``by`` in one group.
    icc : float, optional
        With ``unit`` or ``cluster``: the correlation of the residuals of two rows of a person or a
        cluster, in [0, 1]; by default 0.5. ``sd`` is that of all residuals.
    cov_type, cluster : str, optional
        As in :func:`dpstats.dp_ols`, for methods without a ``cov_type`` of their own. With clusters
        rows are drawn in them, and least squares beside it has clustered standard errors.
    clusters : int or sequence of float, optional
        With ``cluster``: the guessed number of clusters, all of about one size, or their relative
        sizes, such as [30, 10, 10]; with ``by`` of those in one group.
    target_width : float, optional
        Search for the minimum epsilon at which the median interval of ``term`` is this narrow.
    term : str, optional
        The coefficient or prediction point meant by it; by default the only slope.
    repetitions : int
        Number of synthetic tables, 20 to 100,000.
    precision : float, optional
        Stop a method at an epsilon, from 9 tables on, when the median widths of its coefficients
        are known to this relative error, in (0, 1), with about 95% confidence; errors and coverage
        are then of few tables. By default all tables are fitted.
    alpha : float
        One minus the level of the intervals, in (0, 1).
    seed : int
        Of tables and noise, at least 0. The same call gives the same plan.
    progress : bool, optional
        Progress bar; by default on a terminal, for runs over a second.
    **others
        None; those of other models are refused with what forecasts these.

    Returns
    -------
    Plan or GroupPlan
        ``frame`` (tidy), ``summary()``, ``plot()``, ``to_csv(path)``, and with
        ``target_width`` also ``least``, the minimum epsilon by method. With ``by`` there are rows
        for each size of a group, of at most eight, and ``plans`` by size.

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

    Effects of 50 states that are absorbed, and a regression in each of two groups:

    >>> call = {"bounds": {"x": (0, 1), "y": (0, 1)}, "epsilon": 1, "method": "adassp",
    ...         "repetitions": 20}
    >>> dp.plan("y ~ x | state", n=1000, groups=50, within_share=0.3, **call).slopes
    ('x',)
    >>> dp.plan("y ~ x", by="town", n=[200, 5000], **call).frame["rows"].unique().tolist()
    [200, 5000]
    """
    check_one(formula, others)
    entries = planned_entries(methods, method, cov_type, cluster)
    call = {
        "bounds": bounds, "levels": levels, "x_new": x_new, "neighbors": neighbors,
        "weights": weights, "trim_weights": trim_weights, "unit": unit, "max_rows": max_rows,
        "max_groups": _groups_of_persons(max_groups, unit, by),
    }  # fmt: skip
    guesses = {
        "truth": truth, "sd": sd, "x_sd": x_sd, "x_range": x_range, "weights_mean": weights_mean,
        "within_share": within_share, "rows_per_person": rows_per_person, "icc": icc,
        "clusters": clusters,
    }  # fmt: skip
    settings = {
        "alpha": alpha, "repetitions": repetitions, "seed": seed, "precision": precision,
        "progress": checked_progress(progress),
    }  # fmt: skip
    forecast = partial(
        _forecast, formula, schema=schema, call=call, entries=entries, epsilon=epsilon, delta=delta,
        settings=settings, target_width=target_width, term=term,
    )  # fmt: skip
    if by is None:
        n = checked_rows(n)
        return forecast(n=n, total=n, grouped=False, guesses={**guesses, "groups": groups})
    parsed = Formula.parse(formula)
    if parsed.absorbed is not None:
        raise ArgumentError(
            f"plan forecasts | {parsed.absorbed} in one table, got by={shown(by)} too; leave by "
            "out, with n= and groups= of a typical group"
        )
    check_outside(by, parsed.variables)

    def of_size(size: int, total: int) -> Plan:
        return forecast(n=size, total=total, grouped=True, guesses=guesses)

    return plan_groups(of_size, by, n, groups, unit, call["max_groups"])


def _forecast(
    formula: str, *, n: int, total: int, grouped: bool, schema, call: Mapping, entries: Mapping,
    epsilon, delta, guesses: Mapping, settings: Mapping, target_width, term,
) -> Plan:  # fmt: skip
    """Forecast one fit to n rows of a table that has ``total``.

    ``call`` are arguments of the fit, ``guesses`` those of :meth:`Guess.of` and ``settings`` those
    of :meth:`Simulation.of`.
    """
    declared = Schema.of(schema).updated(call["bounds"], call["levels"])
    check_described(formula, declared.bounds, declared.levels, call["x_new"])
    searched = epsilon is None and target_width is not None
    epsilons = GRID if searched else checked_epsilons(epsilon, "; without it give target_width=")
    labelled = (entry.get("cluster") for entry in entries.values())
    table = no_rows(formula, declared, call["weights"], call["unit"], *labelled)
    known = {"bounds": declared.bounds, "levels": declared.levels}
    fit = {**call, **known, "formula": formula, "data": table}
    entry = chosen_methods(entries, total, not grouped, delta, fit)
    build = partial(planned_request, entry, delta, fit)
    requests = {label: build(label, epsilons[-1]) for label in entries}
    first = next(iter(requests.values()))
    # the rows of other groups are of use where distributions of columns are estimated from all, and
    # there a person counts once for all groups
    marginals = any(each.method.ranges.marginals for each in requests.values())
    rows = max(total // call["max_groups"], n) if marginals else n
    cluster = planned_cluster(requests.values())
    guess = Guess.of(first, rows, cluster=cluster, **guesses)
    simulation = Simulation.of(guess, first, n, **settings)
    target = asked_target(target_width, term, settings["precision"], simulation)
    if target is None:
        minimums, trials = (), _trials(simulation, build, entries, epsilons)
    else:
        minimums, trials = search_each(target, simulation, build, entries, epsilons)
    terms = len(guess.truth)  # without predictions
    auto = [label for label in entries if entries[label]["method"] == AUTO]
    chosen = {label: note_on_auto(entry, label, epsilons) for label in auto}
    return Plan(
        formula=formula,
        n=n,
        repetitions=max(len(runs.estimates) for runs in trials.values()),
        fewest=min(len(runs.estimates) for runs in trials.values()),
        width_error=max(float(runs.width_error()[:terms].max()) for runs in trials.values()),
        alpha=simulation.alpha,
        terms=simulation.terms,
        slopes=simulation.slopes,
        guesses=guess.sentences(np.random.default_rng(simulation.seed)),
        forecasts=forecasts_of(simulation.terms, trials),
        remarks=remarks(requests, trials, chosen),
        target=target.text if target else "",
        minimums=minimums,
        truth=dict(zip(guess.design.names, guess.truth.tolist(), strict=True)),
        sd=guess.sd,
    )


def _groups_of_persons(max_groups, unit, by) -> int:
    """Check in how many groups the rows of a person are used."""
    if max_groups is None:
        return 1
    if unit is None or by is None:
        raise ArgumentError("max_groups is for persons in the groups of by=; give unit= and by=")
    return whole("max_groups", 1)(max_groups)


def checked_epsilons(epsilon, instead: str = "") -> tuple[float, ...]:
    """Check the privacy losses to try, and sort them; say what is there ``instead`` of them."""
    values = [epsilon]
    if isinstance(epsilon, Mapping) or hasattr(epsilon, "columns"):
        values = []  # which are names and not numbers
    elif isinstance(epsilon, Iterable) and not isinstance(epsilon, str):
        values = list(epsilon)
    if epsilon is None or not values:
        raise ArgumentError(
            f"expected epsilon to list numbers > 0, such as [0.5, 1], got {shown(epsilon)}{instead}"
        )
    return tuple(sorted({validate_guarantee(value, 0.0)[0] for value in values}))


def _trials(simulation: Simulation, build, labels, epsilons) -> dict[tuple[str, float], Trials]:
    """Run the trials of every method at every epsilon, and of least squares without privacy."""
    cells = list(product(labels, epsilons))
    trials = simulation.trials([*(build(*cell) for cell in cells), None])
    return dict(zip([*cells, (OLS, np.inf)], trials, strict=True))
