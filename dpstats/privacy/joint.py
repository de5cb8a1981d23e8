"""State the joint guarantee of several releases from the same people."""

from collections.abc import Sequence

from dpstats.privacy.composition import Call, Composition, Total
from dpstats.privacy.costs import GDP


def joint_guarantee(calls: Sequence[Call]) -> tuple[float, float]:
    """Return an (epsilon, delta) that holds for all calls together.

    Without a Gaussian call epsilons and deltas add up. Else squared mu's do, and delta is the
    largest that a Gaussian call was stated at, plus the deltas of the others: the rules of
    :class:`Composition`, in which no call is refused.

    Guarantee. All calls together are (epsilon, delta)-DP if their number and costs were chosen
    without looking at releases; a :class:`~dpstats.Budget` holds for any choice.

    Parameters
    ----------
    calls : sequence of Call
        One or more, under one neighbour relation.

    Examples
    --------
    Parts of one Gaussian cost make it up again, which sums of epsilons would exceed:

    >>> part = GDP.of(2.0, 1e-6).part(0.25)
    >>> epsilon, delta = joint_guarantee([Call(*part.guarantee(1e-6), part)] * 4)
    >>> round(epsilon, 6), delta
    (2.0, 1e-06)
    """
    total = Total.of(calls)
    stated = [call.delta for call in calls if isinstance(call.cost, GDP)]
    if not stated:
        return Composition(1.0).spent(total)
    failing = float(total.failing)
    return Composition(1.0, max(stated) + failing, "gdp", failing).spent(total)
