"""Add an auxiliary fit, whose intervals serve a method that has none of its own."""

from dataclasses import replace

from dpstats.errors import ArgumentError
from dpstats.estimators.contract.release import Release
from dpstats.estimators.contract.spec import Method

# The guarantees of companions that can share a budget with a method of each guarantee.
_SHARED = {"pure": {"pure"}, "approx": {"pure"}, "gdp": {"gdp"}, "zcdp": {"gdp"}}


def with_companion(main: Method, other: Method, share: float) -> Method:
    """Return ``main`` with the standard errors, tests and intervals of ``other``.

    The companion, an auxiliary fit, uses the same rows and the fraction ``share`` of the cost,
    ``main`` has the rest. Its intervals are about its own coefficients, so they hold whatever
    bias ``main`` has, and need not contain the coefficients of ``main``.

    Guarantee. That of the cost: two releases whose costs add up to it, each as private as its
    own docstring proves.

    Raises
    ------
    ArgumentError
        When the two do not share a relation or a way to account for a budget.
    """
    if other.guarantee not in _SHARED[main.guarantee]:
        raise ArgumentError(
            f"companion={other.name!r} cannot share the budget of {main.name}: one is accounted as "
            f"{other.guarantee}, the other as {main.guarantee}"
        )

    def summarise(rows, problem):
        return Pair(main.summarise(rows, problem), other.summarise(rows, problem))

    def release(pair, problem, cost, noise, **options) -> Release:
        first = main.release(pair.first, problem, cost.part(1 - share), noise, **options)
        second = other.release(pair.second, problem, cost.part(share), noise)
        reasons = {name: why for name, why in first.reasons.items() if name != "bse"}
        known = {"bse": second.reasons["bse"]} if "bse" in second.reasons else {}
        # least squares, where a ridge has the intervals of it
        return replace(first, cov=None, reasons={**reasons, **known}, companion=second.basis)

    def check(problem):
        main.check(problem)
        other.check(problem)

    assumption = (
        f"standard errors, tests and intervals are those of a fit by {other.name} from the same "
        f"rows for {share:.0%} of the budget; they are about its coefficients"
    )
    return replace(
        main,
        neighbors=tuple(relation for relation in main.neighbors if relation in other.neighbors),
        single_regressor=main.single_regressor or other.single_regressor,
        needs_bounds=main.needs_bounds or other.needs_bounds,
        standard_errors=other.standard_errors,
        summarise=summarise,
        fixed_size_summary=main.fixed_size_summary and other.fixed_size_summary,
        takes_basis=main.takes_basis or other.takes_basis,
        takes_weights=main.takes_weights and other.takes_weights,
        takes_units=main.takes_units and other.takes_units,
        release=release,
        release_each=None,
        reads_codes=False,
        companion_share=share,
        check=check,
        assumptions=(*main.assumptions, assumption),
    )


class Pair:
    """Hold the summaries of two methods; those of disjoint rows add up."""

    def __init__(self, first, second):
        self.first, self.second = first, second

    def __add__(self, other: "Pair") -> "Pair":
        return Pair(self.first + other.first, self.second + other.second)
