"""Build the requests of dp_ols that a plan forecasts, from declarations without rows."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

import numpy as np

from dpstats.call import Request
from dpstats.call.auto_method import AUTO, choose, relation
from dpstats.call.unsupported import unknown_method
from dpstats.codebook import Schema
from dpstats.errors import ArgumentError
from dpstats.estimators import GENERALIZED, INSTRUMENTAL, METHODS
from dpstats.evaluate.predictions import delta_of
from dpstats.evaluate.public_rows import request_for
from dpstats.formula import Formula
from dpstats.spelling import nearest

# Arguments of other verbs, and what these fit.
_OF_OTHERS = ("family", "link", "offset", "exposure", "instruments")
_LINEAR = (
    "plan forecasts linear regressions; dp.plan_study forecasts a logit, counts or instruments, as "
    "the [[logit]], [[poisson]] or [[iv]] of a study file, from guesses or a stand-in"
)


def check_linear(others: Collection[str]) -> None:
    """Raise ArgumentError for arguments that plan does not have."""
    for name in others:
        if name in _OF_OTHERS:
            raise ArgumentError(f"plan has no argument {name}=: {_LINEAR}")
        raise ArgumentError(f"plan has no argument {name}=; help(dpstats.plan) lists what it takes")


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
    formula = Formula.parse(call["formula"])
    levels = {**(call["levels"] if isinstance(call["levels"], Mapping) else {}), **formula.levels}
    number = sum(len(levels[name]) for name in formula.predictors if name in levels)

    def entry(label: str, epsilon: float) -> dict:
        options = dict(entries[label])
        if options["method"] == AUTO:
            others = {name: value for name, value in options.items() if name != "method"}
            options["method"], _ = choose(
                formula, call["bounds"], epsilon, delta, call["neighbors"], n, alone, others,
                call["weights"] is not None, number, call["unit"] is not None,
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
    if "cluster" in options or options.get("cov_type") == "cluster" and call["unit"] is None:
        raise ArgumentError(
            f'a forecast from guesses does not know clusters; give {label!r} cov_type="HC1" in the '
            'place of "cluster", whose coefficients have about as much privacy noise, or take '
            "plan_study with data=, a public stand-in that has the column of clusters"
        )
    delta = delta_of(name, delta)
    call = {**call, "neighbors": options.pop("neighbors", call["neighbors"])}
    max_groups = call.pop("max_groups", 1)
    request = request_for(
        **call, method=name, epsilon=epsilon, delta=delta, options=options, absorbing=True
    )
    if request.unit is not None:
        request = replace(request, unit=replace(request.unit, max_groups=max_groups))
    transformed = request.formula.response not in request.formula.variables
    if request.method.ranges.marginals and transformed:
        raise ArgumentError(
            f"a forecast for {name} draws the response itself, got {request.formula.response}; "
            "name the transformed response as a column of its own, with its bounds"
        )
    return request
