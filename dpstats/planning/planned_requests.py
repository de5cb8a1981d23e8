"""Build the requests of dp_ols that a plan forecasts, from declarations without rows."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

import numpy as np

from dpstats.call import Request
from dpstats.call.auto_method import AUTO, choose, relation
from dpstats.call.unsupported import unknown_method
from dpstats.codebook import Schema
from dpstats.errors import ArgumentError, shown
from dpstats.estimators import GENERALIZED, INSTRUMENTAL, METHODS
from dpstats.evaluate.predictions import delta_of, method_entries
from dpstats.evaluate.public_rows import request_for
from dpstats.formula import Formula
from dpstats.option_checks import is_word
from dpstats.privacy import checked_delta
from dpstats.spelling import nearest

# Arguments of other verbs, and what these fit.
_OF_OTHERS = ("family", "link", "offset", "exposure", "instruments")
_LINEAR = (
    "plan forecasts linear regressions; dp.plan_study forecasts a logit, counts or instruments, as "
    "the [[logit]], [[poisson]] or [[iv]] of a study file, from guesses or a stand-in"
)


def check_one(formula, others: Collection[str]) -> None:
    """Raise ArgumentError for several formulas, and for arguments that plan does not have."""
    if "missing" in others or isinstance(formula, list | tuple | Mapping):
        raise ArgumentError(
            "plan forecasts one regression; dp.plan_study forecasts several, as an [[ols]] of a "
            'study file with a list of formulas, and missing = "listwise" for one release'
        )
    for name in others:
        if name in _OF_OTHERS:
            raise ArgumentError(f"plan has no argument {name}=: {_LINEAR}")
        raise ArgumentError(f"plan has no argument {name}=; help(dpstats.plan) lists what it takes")


def planned_entries(methods, method, cov_type, cluster) -> dict[str, dict]:
    """Write what to forecast as {label: {"method": name, **options}}; by default that of dp_ols.

    Methods that name no ``cov_type`` have the plan's, and what is clustered has its ``cluster``.
    """
    if methods is not None and method is not None:
        raise ArgumentError(
            f"expected methods= or method=, got {shown(methods)} and {shown(method)}; leave one out"
        )
    methods = next(each for each in (methods, method, AUTO) if each is not None)
    given = method_entries([methods] if isinstance(methods, str) else methods)
    asked = {} if cov_type is None else {"cov_type": cov_type}
    entries = {label: {**asked, **entry} for label, entry in given.items()}
    clustered = [entry for entry in entries.values() if is_word(entry.get("cov_type"), "cluster")]
    if cluster is not None and not clustered:
        raise ArgumentError(
            f"cluster={shown(cluster)} is for standard errors that allow for clusters; add "
            'cov_type="cluster"'
        )
    for entry in clustered if cluster is not None else []:
        entry.setdefault("cluster", cluster)
    return entries


def planned_cluster(requests: Collection[Request]) -> str | None:
    """Return the one column of clusters that rows are drawn with, if any."""
    names = list(dict.fromkeys(each.cluster for each in requests if each.cluster is not None))
    if len(names) > 1:
        raise ArgumentError(f"a plan draws the clusters of one column, got {', '.join(names)}")
    return names[0] if names else None


def check_described(formula: str, bounds, levels, x_new) -> None:
    """Raise ArgumentError for a variable with neither a range nor levels."""
    parsed = Formula.parse(formula)
    if parsed.absorbed is not None and x_new is not None:
        raise ArgumentError(
            f"a prediction needs the effect of its group, which | {parsed.absorbed} absorbs and "
            "nothing releases; leave x_new out"
        )
    declared = {*bounds, *levels, *parsed.levels}
    for name in [name for name in parsed.variables if name != parsed.absorbed]:
        if name not in declared:
            near = nearest(name, sorted(declared))
            raise ArgumentError(
                f'expected bounds={{"{name}": (low, high)}} for a number or '
                f'levels={{"{name}": [...]}} for a factor: without rows, {name} is unknown'
                + (f"; did you mean {near!r}?" if near else "")
            )


def no_rows(formula: str, declared: Schema, *others) -> dict[str, np.ndarray]:
    """Build a table without rows, whose columns with levels take labels of any type.

    All that is declared counts as a column: there are no data to tell otherwise.
    """
    parsed = Formula.parse(formula)
    names = [*parsed.variables, *(name for name in others if isinstance(name, str))]
    return {
        name: np.empty(0, object if name in {*parsed.levels, *declared.levels} else float)
        for name in [*names, *declared.bounds, *declared.levels]
    }


def chosen_methods(
    entries: Mapping, n: int, alone: bool, delta, call: Mapping
) -> Callable[[str, float], dict]:
    """Return the function that says which method and options a label has at an epsilon.

    For n rows "auto" is what dp_ols would choose, ``alone`` or in groups.
    """
    formula, delta = Formula.parse(call["formula"]), checked_delta(delta)
    levels = {**(call["levels"] if isinstance(call["levels"], Mapping) else {}), **formula.levels}
    number = sum(len(levels[name]) for name in formula.predictors if name in levels)

    def entry(label: str, epsilon: float) -> dict:
        options = dict(entries[label])
        if options["method"] == AUTO:
            others = {name: value for name, value in options.items() if name != "method"}
            options["method"], _ = choose(
                formula, call["bounds"], epsilon, delta, call["neighbors"], n, alone, others,
                weighted=call["weights"] is not None, levels=number,
                by_unit=call["unit"] is not None,
                clustered=others.get("cluster") not in (None, call["unit"]),
            )  # fmt: skip
            proven = METHODS[options["method"]].neighbors
            options["neighbors"] = relation(call["neighbors"], proven)
        return options

    return entry


def note_on_auto(entry: Callable, label: str, epsilons) -> str:
    """Name the methods that "auto" stands for at these epsilons."""
    names = list(dict.fromkeys(entry(label, epsilon)["method"] for epsilon in epsilons))
    by_epsilon = ", by epsilon" if len(names) > 1 else ""
    return f"{' or '.join(names)}{by_epsilon}, as dp_ols would take for this call"


def planned_request(entry: Callable, delta, call: Mapping, label: str, epsilon: float) -> Request:
    """Build the request of dp_ols for a label and an epsilon."""
    options = entry(label, epsilon)
    name = options.pop("method")
    if isinstance(name, str) and name in {**GENERALIZED, **INSTRUMENTAL}:
        raise ArgumentError(f"no plan for method={name!r}: {_LINEAR}")
    if name not in METHODS:
        raise unknown_method(name, METHODS)
    delta = delta_of(name, delta)
    call = {**call, "neighbors": options.pop("neighbors", call["neighbors"])}
    max_groups = call.pop("max_groups", 1)
    request = request_for(
        **call, method=name, epsilon=epsilon, delta=delta, cluster=options.pop("cluster", None),
        options=options, absorbing=True,
    )  # fmt: skip
    if request.unit is not None:
        request = replace(request, unit=replace(request.unit, max_groups=max_groups))
    transformed = request.formula.bare_response is None
    if request.method.ranges.marginals and transformed:
        raise ArgumentError(
            f"a forecast for {name} draws the response itself, got {request.formula.response}; "
            "name the transformed response as a column of its own, with its bounds"
        )
    return request
