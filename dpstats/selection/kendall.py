"""Choose terms by noisy rank correlations (Gillenwater et al. 2023, Algorithm 1)."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

from dpstats.noise import Noise, ScoreQuery
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE, Cost
from dpstats.selection.ranks import Ranked, association
from dpstats.selection.spec import Candidates, Selector

# Scores are rounded down to multiples of 2^-20.
_GRID = 1 << 20
# A term keeps at least the fraction 1 / _KEPT of its association with the response.
_KEPT = 20


def spreads(neighbors: str) -> tuple[float, float]:
    r"""Bound how much further one term's score can rise than another's, first and later rounds.

    Let S be the number of concordant minus discordant pairs of two columns, a pair tied in
    either counting zero, and tau = S / (n - 1), or 0 if n <= 1; without ties this is the
    paper's tau^ = (n / 2) (1 - 2 disc / C(n, 2)). Each pair counts -1, 0 or 1, so
    |tau| <= n / 2 whatever the ties. Write a = |tau(X_j, y)| and b for the mean of
    |tau(X_j, X_s)|. The score is a in the first round and max(a - b, a / 20) later.

    Add/remove. A row added to n >= 2 others brings n pairs: S' = S + c with |c| <= n, so
    |tau'| = |S + c| / n lies between |tau| - 1 - |tau| / n and |tau| + 1 - |tau| / n. (For
    n <= 1 it rises from 0 to at most 1.) With |tau| <= n / 2 the change is in [-3/2, 1];
    the paper's Lemma 3.2 bounds its magnitude. First round: spread 5/2.
    Later, a - b changes by at most 2 - (a - b) / n up and 2 + (a - b) / n <= 5/2 down, and
    a / 20 by less. The score rises by at most 2: for a >= b clearly, and for a < b it
    starts at 0 or more and a' - b' <= 2 + (a - b) (1 - 1 / n) < 2. Spread 9/2.
    (The paper's sensitivities 3/2 and 3 amount to spreads of 3 and 6.) Removing a row is
    the same, negated.

    Replace-one. n - 1 pairs change by at most 2 each, so a and b by at most 2 and the later
    score by 4: spreads 4 and 8.

    All four are attained. They hold for the maximum of |tau| over several columns, since
    |tau| (1 - 1 / n) increases with |tau|, and after rounding down to a grid that holds the
    bounds.
    """
    return (2.5, 4.5) if neighbors == ADD_REMOVE else (4.0, 8.0)


def score(response: int, chosen: int, rounds: int, n: int) -> int:
    """Compute the score of a term in units of 2^-20, rounded down.

    Parameters
    ----------
    response : int
        |S| with the response.
    chosen : int
        Sum of |S| with the terms chosen so far, of which there are ``rounds``.
    n : int
        Number of rows.
    """
    pairs = max(n - 1, 1)
    if rounds == 0:
        return _GRID * response // pairs
    net = max(_KEPT * (rounds * response - chosen), rounds * response)
    return _GRID * net // (_KEPT * rounds * pairs)


def select(candidates: Candidates, k: int, cost: Cost, noise: Noise) -> list[int]:
    """Choose one term after the other by their noisy scores.

    The first term is the one with the largest |tau| with the response; a later one has the
    largest |tau(X_j, y)| minus the mean of |tau(X_j, X_s)| over the terms s chosen before.
    A term of several columns, such as a factor, counts by its largest |tau|.

    Guarantee. The cost, under add/remove or replace-one: k choices by
    :meth:`~dpstats.noise.Noise.best` at a k-th of it each, given the choices before, with
    the spreads of :func:`spreads`.
    Ties need no random perturbation, and a row's values enter by comparisons with other
    rows only, so nothing else of them matters and floating point plays no part.

    Where it differs from Algorithm 1. Pairs tied in either column count zero; the paper
    perturbs the data instead. A later score is not less than |tau(X_j, y)| / 20:
    otherwise a constant column, which scores 0 in every round, would be preferred to a
    term that resembles the chosen ones.
    """
    table = _Associations(candidates)
    chosen: list[int] = []
    overlap = [0] * candidates.count
    for spread in (spreads(candidates.neighbors)[min(i, 1)] for i in range(k)):
        remaining = [term for term in range(candidates.count) if term not in chosen]
        if chosen:
            for term, value in zip(remaining, table.between(remaining, chosen[-1]), strict=True):
                overlap[term] += value
        scores = [score(table.response[t], overlap[t], len(chosen), table.n) for t in remaining]
        step = f"term {len(chosen) + 1} of {k} by Kendall's tau"
        query = ScoreQuery(step, scores, spread=int(spread * _GRID), unit=1 / _GRID)
        chosen.append(remaining[noise.best(query, cost.part(1 / k))])
    return chosen


class _Associations:
    """Compute |S| of terms with the response and with one another."""

    def __init__(self, candidates: Candidates):
        self.n = len(candidates.y)
        self._members = [candidates.columns(term) for term in range(candidates.count)]
        *self._ranked, response = _on_all_cores(Ranked.of, [*candidates.X.T, candidates.y])
        self.response = self._largest(range(candidates.count), [response])

    def between(self, terms: list[int], other: int) -> list[int]:
        """Return the largest |S| between columns of each of the terms and of another one."""
        return self._largest(terms, [self._ranked[s] for s in self._members[other]])

    def _largest(self, terms: Iterable[int], others: list[Ranked]) -> list[int]:
        for other in others:
            other.tied_pairs  # noqa: B018 - computed once, before the threads share it
        columns = [[self._ranked[j] for j in self._members[term]] for term in terms]
        pairs = [(one, other) for term in columns for one in term for other in others]
        values = iter(_on_all_cores(lambda pair: association(*pair), pairs))
        return [max(next(values) for _ in range(len(term) * len(others))) for term in columns]


def _on_all_cores(function: Callable, items: list) -> list:
    """Apply a function to each item in threads; its compiled code releases Python's lock."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(function, items))


KENDALL = Selector(
    name="kendall",
    paper="Gillenwater et al. 2023, Algorithm 1",
    neighbors=(ADD_REMOVE, REPLACE_ONE),
    select=select,
)
