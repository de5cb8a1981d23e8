"""Add an auxiliary fit, whose intervals serve a method that has none of its own."""

from dataclasses import replace

from dpstats.errors import ArgumentError
from dpstats.estimators.contract import Method, Release, released_twice
from dpstats.estimators.least_squares.dense.robust_covariance import score_share, scored

_PURE, _GAUSSIAN = ("noisy_moments",), ("adassp", "ssp")
# Methods with intervals of their own, by the guarantee of those with which they share a budget.
_SHARED = {"pure": _PURE, "approx": _PURE, "gdp": _GAUSSIAN, "zcdp": _GAUSSIAN}
COMPANIONS = (*_PURE, *_GAUSSIAN)
"""Name the methods that lend their intervals to others."""


def with_companion(main: Method, other: Method, share: float) -> Method:
    """Return ``main`` with the standard errors, tests and intervals of ``other``.

    The companion, an auxiliary fit, uses the same rows and the fraction ``share`` of the cost,
    ``main`` has the rest. Its intervals are about its own coefficients, so they hold whatever
    bias ``main`` has, and need not contain the coefficients of ``main``. Robust ones need squared
    scores of its fit, which are released after both.

    Guarantee. That of the cost: releases whose costs add up to it, each as private as its own
    docstring proves.

    Raises
    ------
    ArgumentError
        When the two do not share a relation or a way to account for a budget.
    """
    if other.name not in _SHARED[main.guarantee]:
        raise ArgumentError(
            f"companion={other.name!r} cannot share the budget of {main.name}, whose costs add up "
            f"by another rule; write companion={' or '.join(map(repr, _SHARED[main.guarantee]))}, "
            "or leave companion out"
        )

    def release(passes, problem, cost, noise, cov_type="nonrobust", **options) -> Release:
        paired = replace(problem, paired=True)

        def both(cost) -> Release:
            first = main.release(passes, paired, cost.part(1 - share), noise, **options)
            second = other.release(passes, paired, cost.part(share), noise)
            reasons = {name: why for name, why in first.reasons.items() if name != "bse"}
            known = {"bse": second.reasons["bse"]} if "bse" in second.reasons else {}
            # least squares, where a ridge has the intervals of it
            return replace(first, cov=None, reasons={**reasons, **known}, companion=second.basis)

        return released_twice(
            both,
            lambda found, cost: scored(found, passes, paired, cost, noise),
            cost,
            score_share(cov_type, problem, at_estimated=False),
        )

    def check(problem, options):
        main.check(problem, options)
        other.check(problem, {})

    assumption = (
        f"standard errors, tests and intervals are those of a fit by {other.name} from the same "
        f"rows for {share:.0%} of the budget; they are about its coefficients"
    )
    either = main.takes | other.takes
    return Method(
        name=main.name,
        paper=main.paper,
        guarantee=main.guarantee,
        neighbors=tuple(relation for relation in main.neighbors if relation in other.neighbors),
        single_regressor=main.single_regressor or other.single_regressor,
        standard_errors=other.standard_errors,
        release=release,
        fixed_size_summary=main.fixed_size_summary and other.fixed_size_summary,
        options=main.options,
        check=check,
        assumptions=(*main.assumptions, assumption),
        ranges=replace(main.ranges, needed=main.ranges.needed or other.ranges.needed),
        takes=(main.takes & other.takes | either & {"basis"}) - {"codes"},
    )
