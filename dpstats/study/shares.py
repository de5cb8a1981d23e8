"""Divide the budget of a study between its entries."""

import math
from collections.abc import Mapping

from dpstats.errors import ArgumentError
from dpstats.estimators import METHODS
from dpstats.ledger import Asked
from dpstats.option_checks import number
from dpstats.privacy import DEFAULT_DELTA, GDP, Composition, Total, validate_guarantee
from dpstats.privacy.costs import ROUNDING

_OWN = ("epsilon", "delta")
# What a ledger of the usual delta has for Gaussian noise, so that a study may have all its epsilon.
_DELTA = DEFAULT_DELTA / 2


def limit_of(content: Mapping, place: str) -> Composition | None:
    """Read the budget of a whole study, None where each entry has its own epsilon."""
    if "epsilon" not in content:
        if "delta" in content:
            raise ArgumentError(f"{place} has delta without epsilon; give both, or none of them")
        return None
    epsilon, delta = validate_guarantee(content["epsilon"], content.get("delta", _DELTA))
    if delta == 0:
        raise ArgumentError(f"{place} divides epsilon by Gaussian noise, which needs delta > 0; "
                            f"leave delta out for {_DELTA:g}")  # fmt: skip
    return Composition(epsilon, delta, "gdp")


def divided(limit: Composition | None, entries: Mapping[str, Mapping]) -> dict[str, dict]:
    """Give each entry, by place, its epsilon and delta."""
    if limit is None:
        return {place: _alone(place, own) for place, own in entries.items()}
    shares = shares_of(limit, entries)
    for place, own in entries.items():
        method = own.get("method")
        if method in [each.name for each in METHODS.values() if each.guarantee == "pure"]:
            raise not_gaussian(f"{method} in {place}")
    return {
        place: _without_share(own) | part_of(limit, shares[place]) for place, own in entries.items()
    }


def not_gaussian(what: str) -> ArgumentError:
    """Build the error for an entry that can have no share of squared mu."""
    return ArgumentError(
        f"the noise of {what} is not Gaussian, so it can take no share of the study's epsilon; "
        "take another method, or leave epsilon out at the top and give each entry its own"
    )


def part_of(limit: Composition, share: float) -> dict[str, float]:
    """Return the epsilon and delta of an entry's share, which is a squared part of mu.

    Where the study's epsilon and delta are those of mu-GDP, an entry of share s is one of
    (sqrt(s) mu)-GDP. Squares of mu add up (:class:`~dpstats.privacy.Composition`, rule "gdp"), so
    entries whose shares add up to 1 or less are together (epsilon, delta)-DP.
    """
    return dict(zip(_OWN, GDP(limit.mu).part(share).guarantee(limit.delta), strict=True))


def shares_of(limit: Composition | None, entries: Mapping[str, Mapping]) -> dict[str, float]:
    """Return the shares by place: of the study's squared mu, or else of the sum of epsilons."""
    if limit is not None:
        return _shares(entries)
    own = {place: _alone(place, content)["epsilon"] for place, content in entries.items()}
    return {place: epsilon / math.fsum(own.values()) for place, epsilon in own.items()}


def _alone(place: str, own: Mapping) -> dict:
    """Return an entry that has an epsilon of its own."""
    if "share" in own:
        raise ArgumentError(
            f"{place} has a share, but the study has no epsilon to take it of; write epsilon = ... "
            "at the top of the file"
        )
    if "epsilon" not in own:
        raise ArgumentError(
            f"{place} needs epsilon; or write epsilon = ... at the top of the file, which all "
            "entries share"
        )
    validate_guarantee(own["epsilon"], 0.0)
    return dict(own)


def _shares(entries: Mapping[str, Mapping]) -> dict[str, float]:
    """Return the shares by place; entries without one have equal parts of what others leave."""
    for place, own in entries.items():
        if twice := [name for name in _OWN if name in own]:
            raise ArgumentError(
                f"{place} has its own {twice[0]}, but the study's is for all entries; give it "
                f"share = ... in place of {twice[0]}"
            )
    asked = {place: _share(place, own["share"]) for place, own in entries.items() if "share" in own}
    left, others = 1 - math.fsum(asked.values()), len(entries) - len(asked)
    if left < 1 - ROUNDING or (others and left <= 0):
        raise ArgumentError(
            f"the shares of the study add up to {math.fsum(asked.values()):g}"
            + (f", and {others} entries without share would have none" if others else "")
            + "; make them add up to 1 or less"
        )
    return {place: asked.get(place, left / max(others, 1)) for place in entries}


def _share(place: str, value) -> float:
    return number(f"share of {place}", 0, 1, "(]")(value)


def _without_share(own: Mapping) -> dict:
    return {name: value for name, value in own.items() if name != "share"}


def check_together(
    limit: Composition | None, asked: Mapping[str, Asked], rule: str | None = None
) -> None:
    """Raise ArgumentError unless calls, by entry, stay within a study's limit, before any is made.

    ``rule`` is that of the ledger, if there is one.
    """
    if limit is None:
        return
    if len(relations := {each.neighbors for each in asked.values()}) > 1:
        raise ArgumentError(
            f"the study's epsilon is for one neighbour relation, and its entries have "
            f"{' and '.join(sorted(relations))}; give them the same neighbors"
        )
    if other := [name for name, each in asked.items() if not isinstance(each.call.cost, GDP)]:
        raise not_gaussian(repr(other[0]))
    if rule == "sum":
        raise ArgumentError(
            "the ledger adds up epsilons, while shares of a study are of squared mu; give each "
            'entry an epsilon of its own, or make a ledger with composition="gdp"'
        )
    if not limit.admits(Total.of([each.call for each in asked.values()])):
        raise ArgumentError("the entries of the study do not fit into its epsilon; lower a share")
