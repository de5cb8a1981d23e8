"""Put rows in an order in which those of a privacy unit are beside one another."""

from collections.abc import Callable
from itertools import pairwise
from operator import itemgetter

import numpy as np
import pandas as pd

from dpstats.engines.labels.label_keys import NO_UNIT
from dpstats.parallel_sum import on_all_cores
from dpstats.schema import Batch

# The column of a batch that numbers its units; no column of a table has this name.
UNIT = "\0unit"
# More rows are first put into partitions, each of which is then ordered in a core's cache.
_MANY = 1 << 20
_BITS = 8
Move = Callable[[np.ndarray], np.ndarray]


def ordered_by_unit(columns: Batch, keys: np.ndarray) -> tuple[dict[str, np.ndarray], Move]:
    """Order columns (n,) by unit and number the units; return them and what orders others.

    Rows of a unit stay in the order they have. A row without a key is a unit of its own.

    Parameters
    ----------
    columns : mapping of str to numpy.ndarray, shape (n,)
    keys : numpy.ndarray of uint64, shape (words, n)
        The unit of each row as :func:`~dpstats.engines.labels.label_keys.unit_keys` writes it.

    Returns
    -------
    columns : dict of str to numpy.ndarray, shape (n,)
        With the numbers of units in the column :data:`UNIT`, from 0.
    move : callable
        Returns another column, (n,) of 64 bits each, in the same order.

    Examples
    --------
    >>> keys = np.array([[7, 3, NO_UNIT, 7, NO_UNIT]], np.uint64)
    >>> columns, move = ordered_by_unit({"x": np.arange(5.0)}, keys)
    >>> columns["x"], columns[UNIT], move(np.arange(5))
    (array([0., 3., 1., 2., 4.]), array([0, 0, 1, 2, 3]), array([0, 3, 1, 2, 4]))
    """
    if keys.shape[1] <= _MANY:
        order, numbers = _of_units(keys)
        move = itemgetter(order)
        return {**{name: move(column) for name, column in columns.items()}, UNIT: numbers}, move
    move, numbers = _by_partition(keys)
    found = dict(zip(columns, on_all_cores(move, columns.values()), strict=True))
    return {**found, UNIT: numbers}, move


def _of_units(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rows in an order by unit, the units by their first rows, and numbers of the units."""
    from dpstats.numerics.group_sort import by_group

    codes, distinct = pd.factorize(keys[0])
    for word in keys[1:]:
        numbers, values = pd.factorize(word)
        codes, distinct = pd.factorize(codes * len(values) + numbers)
    order, _ = by_group(codes, len(distinct))
    codes, missing = codes[order], keys[0][order] == NO_UNIT
    begins = np.ones(len(codes), dtype=bool)
    begins[1:] = (codes[1:] != codes[:-1]) | missing[1:]
    return order, np.cumsum(begins) - 1


def _by_partition(keys: np.ndarray) -> tuple[Move, np.ndarray]:
    """Return what orders a column by a partition of keys, and by unit in it, and units' numbers."""
    from dpstats.numerics.group_sort import arranged, partitions, placed, positions

    rows = keys.shape[1]
    places = np.empty(rows, np.min_scalar_type(rows))
    edges = positions(partitions(keys[0], NO_UNIT, _BITS), 1 << _BITS, places)
    words, order = [placed(word, places) for word in keys], np.empty_like(places)
    numbers = words[0].view(np.int64)  # written over the keys, partition by partition

    def arrange(edge):
        part = slice(*edge)
        order[part], numbers[part] = _of_units(np.stack([word[part] for word in words]))
        return numbers[part][-1:] + 1

    units = 0
    for edge, count in zip(pairwise(edges), on_all_cores(arrange, pairwise(edges)), strict=True):
        numbers[slice(*edge)] += units
        units += count.sum()

    def move(column):
        return arranged(column.view(np.uint64), places, edges, order).view(column.dtype)

    return move, numbers
