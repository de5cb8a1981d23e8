"""Draw for all groups of a table: compiled where double precision decides, else exact."""

from collections.abc import Callable

import numpy as np

from dpstats.noise import exponential_compiled
from dpstats.noise.exact_samplers import Block, below_beginning_with, best, draw_from, magnitudes
from dpstats.noise.queries import RankTable


def draw_each(query: RankTable, rates: np.ndarray, more: Callable[[int], bytes]) -> np.ndarray:
    """Draw an index per group by the exponential mechanism at the given rates, shape (G,)."""
    groups = len(rates)
    words = np.frombuffer(more(8 * exponential_compiled.WORDS * groups), "<u8").reshape(groups, -1)
    grid = query.first, query.size, query.reach
    drawn = exponential_compiled.draw_each(query.doubled, query.edges, *grid, rates, words)
    for g in np.flatnonzero(drawn == exponential_compiled.UNDECIDED).tolist():
        below = below_beginning_with(iter(words[g].tolist()), more)
        drawn[g] = _draw_exactly(query, g, float(rates[g]), below)
    return drawn


def _draw_exactly(query: RankTable, g: int, rate: float, below: Callable[[int], int]) -> int:
    """Draw the index of group g in exact arithmetic, with the same blocks as before."""
    entries = query.doubled[query.edges[g] : query.edges[g + 1]]

    def imbalance(index: int) -> int:
        return int(exponential_compiled.imbalance(entries, query.first + index, query.reach))

    base = best(imbalance, query.size, rate)
    cut, _ = exponential_compiled.partition(
        entries, query.first, query.size, query.reach, rate, base
    )
    blocks = [Block(a, b, *magnitudes(high, low, base)) for a, b, high, low in cut.tolist()]
    return draw_from(blocks, imbalance, rate, base, below)
