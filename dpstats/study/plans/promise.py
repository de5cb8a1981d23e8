"""Say in plain words what an epsilon promises."""

import math

from dpstats.privacy import ADD_REMOVE, REPLACE_ONE

_THINGS = {
    ADD_REMOVE: "that the person is in the table or not, ",
    REPLACE_ONE: "such as two values of an income, ",
    "": "",
}
# Beyond this a factor is written as a power of ten.
_LARGE = 1e6


def promise(epsilon: float, delta: float = 0.0, neighbors: str = "") -> str:
    """Say what an epsilon promises to a person, with the numbers that it stands for.

    ``neighbors`` is the relation, "" for several. The factor is that of the definition (Dwork,
    McSherry, Nissim and Smith 2006), which by Bayes' rule bounds how far odds move. The chance to
    be right is (e^epsilon + delta) / (1 + e^epsilon), the largest that any test between two
    neighbouring tables has when each is as likely beforehand: its hits are at most e^epsilon times
    its false alarms plus delta (Kairouz, Oh and Viswanath 2015, Theorem 2.1).

    >>> print(promise(1, neighbors="add_remove"))  # doctest: +NORMALIZE_WHITESPACE
    At epsilon 1 whoever knows all other rows and finds two things about a person equally likely,
    that the person is in the table or not, is right with a chance of at most 73% after seeing all
    results, against 50% before; odds change by a factor of at most 2.7.
    """
    chance = (1 + delta * math.exp(-epsilon)) / (1 + math.exp(-epsilon))
    return (
        f"At epsilon {epsilon:g} whoever knows all other rows and finds two things about a person "
        f"equally likely, {_THINGS[neighbors]}is right with a chance of at most "
        f"{_percentage(chance)} after seeing all results, against 50% before; odds change by a "
        f"factor of at most {_factor(epsilon)}{_unless(delta)}."
    )


def _percentage(chance: float) -> str:
    """Write a chance with the digits that tell it from certainty.

    >>> _percentage(0.731), _percentage(0.99966), _percentage(1 - 1e-9)
    ('73%', '99.97%', '100%')
    """
    digits = 0 if chance < 0.99 else 2  # noqa: PLR2004
    return f"{100 * chance:.{digits}f}%".replace("100.00%", "100%")


def _factor(epsilon: float) -> str:
    """Write e^epsilon with two digits, as a power of ten where it is large."""
    if epsilon > math.log(_LARGE):
        return f"10^{epsilon / math.log(10):.0f}"
    return f"{float(f'{math.exp(epsilon):.2g}'):,g}"


def _unless(delta: float) -> str:
    return f", but for a chance of {delta:g}" if delta else ""
