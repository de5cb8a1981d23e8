"""Choose terms by the votes of many small Lasso fits (Kifer, Smith and Thakurta 2012)."""

import math

import numpy as np

from dpstats.noise import Noise, Query, ScoreQuery
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE, Cost
from dpstats.selection.spec import Candidates, Selector

# Fraction of the cost that buys the number of rows where it is private.
_COUNT_FRACTION = 0.1
# Rows per voter; any number from 5 to 30 does about as well, with 10 to 100 columns.
_ROWS = 15
# More voters than this many scales of the noise do not help; fewer voters with more rows do.
_ENOUGH = 50
# One row changes one voter, and so every count by at most one, up or down.
_SPREAD = 2


def voters(rows: float, k: int, cost: Cost) -> int:
    """Return how many subsets to make of about ``rows`` rows; a function of public values."""
    scale = _SPREAD / cost.part(1 / k).loss_range
    return max(1, math.floor(min(rows / _ROWS, _ENOUGH * scale)))


def select(candidates: Candidates, k: int, cost: Cost, noise: Noise) -> list[int]:
    """Let disjoint random subsets of the rows vote for k terms each, and choose by noisy votes.

    A subset's Lasso path is followed from the largest penalty until k terms are active; its
    votes are for the active terms with the k largest standardised coefficients. A term of
    several columns, such as a factor, is active with any of them and counts by the largest.

    Guarantee. The cost, under add/remove or replace-one. A row's subset is drawn
    independently of its values and of the other rows' subsets, and a subset's votes depend
    on its own rows alone. So between neighbours one subset changes its votes, from one set
    of at most k terms to another: each count moves by -1, 0 or 1 (sensitivity 1, spread 2) in
    each of k choices by :meth:`~dpstats.noise.Noise.best`. Under add/remove the number of subsets
    comes from a noisy number of rows (L1 = L2 = 1) for 10% of the cost; under replace-one
    that number is public.

    With privacy units a unit draws a subset, for all of its rows, and units are counted: one unit
    changes one subset, so that the bounds hold for units.

    Where it differs from the paper. The number of subsets follows the noise and the number
    of rows, and the penalty the number of terms asked for; neither has to be given.
    """
    n, rest = candidates.members, cost
    rows = float(n)
    if candidates.neighbors == ADD_REMOVE:
        query = Query("number of rows for the votes", [n], l1=1.0, l2=1.0)
        rows = noise.add(query, cost.part(_COUNT_FRACTION)).values[0]
        rest = cost.part(1 - _COUNT_FRACTION)
    subsets = voters(rows, k, rest)
    labels = noise.assign(n, subsets)
    if candidates.units is not None:
        labels = labels[candidates.units]
    votes = count_votes(candidates, labels, k)
    chosen: list[int] = []
    for number in range(1, k + 1):
        remaining = [term for term in range(candidates.count) if term not in chosen]
        query = ScoreQuery(
            f"term {number} of {k} by Lasso votes", votes[remaining].tolist(), _SPREAD
        )
        chosen.append(remaining[noise.best(query, rest.part(1 / k))])
    return chosen


def count_votes(candidates: Candidates, labels: np.ndarray, k: int) -> np.ndarray:
    """Count votes for each of the T terms, shape (T,); ``labels`` (n,) assign rows to subsets."""
    from dpstats.selection.path import votes_of_subsets  # compiled, so slow to import

    order = np.argsort(labels, kind="stable")
    edges = np.flatnonzero(np.diff(labels[order], prepend=-1, append=-1))
    rows = candidates.X[order], candidates.y[order]
    return votes_of_subsets(*rows, edges, candidates.terms, candidates.count, k)


LASSO = Selector(
    name="lasso",
    paper="Kifer, Smith and Thakurta 2012; Gillenwater et al. 2023, Algorithm 2",
    neighbors=(ADD_REMOVE, REPLACE_ONE),
    select=select,
    takes_units=True,
)
