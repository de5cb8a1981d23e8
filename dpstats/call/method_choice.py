"""Decide which method a call runs, and check its guarantee, its relation and its options."""

import math
from collections.abc import Collection, Mapping
from typing import NamedTuple

from dpstats.call.auto_method import AUTO, choose
from dpstats.call.declarations import declared_bounds
from dpstats.call.given import Given, RowColumns
from dpstats.call.outcomes import for_several
from dpstats.call.unsupported import unknown_method
from dpstats.codebook import Schema
from dpstats.engines import AnyTable
from dpstats.errors import ArgumentError, shown
from dpstats.estimators import (
    ABSORBING,
    ABSORBING_INSTRUMENTAL,
    ABSORBING_UNITS,
    GENERALIZED,
    METHODS,
)
from dpstats.estimators.companion import COMPANIONS, with_companion
from dpstats.estimators.contract import Method
from dpstats.formula import Formula
from dpstats.option_checks import is_word, number
from dpstats.privacy import DEFAULT_DELTA, RELATIONS, validate_guarantee
from dpstats.spelling import check_word

# What companions cost by default.
_COMPANION_SHARE = 0.5


class Chosen(NamedTuple):
    """Hold the method of a call, why "auto" took it, and the share of its companion."""

    method: Method
    plan: str
    companion_share: float


def chosen_method(
    given: Given,
    formula: Formula,
    table: AnyTable,
    declared: Schema,
    columns: RowColumns,
) -> Chosen:
    """Return the method of a call, adapted to its companion, absorbed column or outcomes."""
    name, plan = given.method, ""
    if is_word(name, AUTO):
        name, plan = _automatic(given, formula, table, declared, columns)
    method = find_method(name, AUTO, known=given.methods)
    share = _companion_share(method, given.companion, given.companion_share)
    if given.companion is not None:
        method = with_companion(method, METHODS[given.companion], share)
    if formula.absorbed is not None:
        method = _absorbing(method, formula, given.select, given.unit)
    if given.outcomes is not None:
        refused = ("by", "select", "companion", "row_norm")
        method = for_several(method, formula, **{name: getattr(given, name) for name in refused})
    return Chosen(method, plan, share)


def _automatic(
    given: Given,
    formula: Formula,
    table: AnyTable,
    declared: Schema,
    columns: RowColumns,
) -> tuple[str, str]:
    """Return the name of the method that "auto" takes, and the reason."""
    ranges, _ = declared_bounds(declared.bounds, formula)
    rows = getattr(table, "n_rows", math.inf)  # what is streamed is large
    return choose(
        formula,
        ranges,
        given.epsilon,
        given.delta,
        given.neighbors,
        rows,
        given.by is None and given.select is None and given.row_norm is None,
        given.options,
        weighted=columns.weights is not None,
        levels=_number_of_levels(formula, table, declared.levels),
        by_unit=columns.unit is not None,
        clustered=columns.cluster is not None,
        normed=given.row_norm is not None,
    )


def _number_of_levels(formula: Formula, table: AnyTable, levels) -> int:
    """Count the declared levels of all factors; what is declared wrongly is refused elsewhere."""
    declared = {**levels, **formula.levels}
    known = [
        declared.get(name) or (table.levels(name) if name in table.columns else None)
        for name in formula.predictors
    ]
    return sum(len(of_one) for of_one in known if isinstance(of_one, Collection))


def find_method(name, *others: str, known: Mapping[str, Method] | None = None) -> Method:
    """Return the known method of this name, by default one of METHODS; others are accepted too."""
    known = METHODS if known is None else known
    if not isinstance(name, str) or name not in known:
        raise unknown_method(name, (*others, *known))
    return known[name]


def _absorbing(method: Method, formula: Formula, select, unit) -> Method:
    """Return what the method does with an absorbed column; ArgumentError where it takes none."""
    if method.name in GENERALIZED:
        noun = "a logit" if method.binary else "a Poisson regression"
        raise ArgumentError(
            f"{noun} cannot absorb {formula.absorbed}; write C({formula.absorbed}) with levels= "
            "instead of |"
        )
    if method.instrumental:
        if formula.absorbed == unit:
            raise ArgumentError(
                f"effects of {unit} are not proven for instruments with unit={unit!r}; leave unit= "
                f"or | {unit} out"
            )
        return ABSORBING_INSTRUMENTAL[method.name]
    known = ABSORBING_UNITS if formula.absorbed == unit else ABSORBING
    if method.name not in known:
        raise ArgumentError(
            f"{method.name} cannot absorb {formula.absorbed}; use method="
            f'{" or ".join(map(repr, known))} or "auto", or write C({formula.absorbed}) with '
            "levels= instead of |"
        )
    if select is not None:
        raise ArgumentError(
            f"select={select!r} compares rows of different groups, whose effects {formula.text!r} "
            f"absorbs; leave select out, or leave | {formula.absorbed} out"
        )
    return known[method.name]


def _companion_share(method: Method, companion, share) -> float:
    """Return the fraction of the cost of a companion that the method can have, 0 for none."""
    if companion is None:
        if share is not None:
            raise ArgumentError("companion_share is for a companion; add companion=")
        return 0.0
    check_word("companion", companion, COMPANIONS)
    if method.name in COMPANIONS or method.ranges.marginals:
        raise ArgumentError(f"{method.name} has intervals of its own; leave companion out")
    return number("companion_share", 0, 1, "()")(_COMPANION_SHARE if share is None else share)


def checked_guarantee(method: Method, epsilon, delta) -> tuple[float, float]:
    """Check epsilon and delta, and return them as the method needs them."""
    if method.guarantee == "pure":
        if delta not in (None, 0):
            raise ArgumentError(
                f"{method.name} is private with delta=0, got delta={shown(delta)}; leave delta out"
            )
        return validate_guarantee(epsilon, 0.0)
    epsilon, delta = validate_guarantee(epsilon, DEFAULT_DELTA if delta is None else delta)
    if delta == 0:
        raise ArgumentError(f"{method.name} needs delta > 0, got delta=0; leave delta out for 1e-6")
    return epsilon, delta


def checked_relation(method: Method, neighbors) -> str:
    """Check the neighbour relation, by default the first that the method is proven for."""
    if neighbors is None:
        return method.neighbors[0]
    check_word("neighbors", neighbors, RELATIONS)
    if neighbors not in method.neighbors:
        raise ArgumentError(
            f"{method.name} is proven for neighbors={' or '.join(map(repr, method.neighbors))} "
            f"only, got {neighbors!r}"
        )
    return neighbors


def with_k(method: Method, options: Mapping, k) -> Mapping:
    """Add k to the options; without a selection it is an option of the method."""
    if k is not None and "k" not in method.options:
        raise ArgumentError(
            f"{method.name} has no option 'k'; to keep k={shown(k)} of the terms, add select="
        )
    return {**options, "k": k}


def checked_options(method: Method, options: Mapping) -> dict:
    """Check the method options; None stands for the default."""
    unknown = [name for name in options if name not in method.options and options[name] is not None]
    if unknown:
        known = ", ".join(method.options) or "none"
        raise ArgumentError(f"{method.name} has no option {unknown[0]!r}; it has: {known}")
    given = {name: value for name, value in options.items() if value is not None}
    return {
        name: check(given.get(name, default)) for name, (default, check) in method.options.items()
    }
