"""Put rows in an order in which those of a privacy unit are beside one another."""

from collections import deque
from itertools import pairwise

import numpy as np
import pandas as pd

from dpstats.engines.label_keys import NO_UNIT
from dpstats.engines.parallel_sum import on_all_cores
from dpstats.schema import Batch

# The column of a batch that numbers its units; no column of a table has this name.
UNIT = "\0unit"
# More rows are first put into partitions, each of which is then ordered in a core's cache.
_MANY = 1 << 20
_BITS = 8


def ordered_by_unit(columns: Batch, keys: np.ndarray) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Order columns (n,) by unit and number the units; return them and the order.

    Rows of a unit stay in the order they have. A row without a key is a unit of its own. Rows that
    are in order already are not copied.

    Parameters
    ----------
    columns : mapping of str to numpy.ndarray, shape (n,)
    keys : numpy.ndarray of uint64, shape (n,)
        The unit of each row, :data:`~dpstats.engines.label_keys.NO_UNIT` for none.

    Returns
    -------
    columns : dict of str to numpy.ndarray, shape (n,)
        With the numbers of units in the column :data:`UNIT`, from 0.
    order : numpy.ndarray of int64, shape (n,)

    Examples
    --------
    >>> keys = np.array([7, 3, NO_UNIT, 7, NO_UNIT], np.uint64)
    >>> columns, order = ordered_by_unit({"x": np.arange(5.0)}, keys)
    >>> columns["x"], columns[UNIT]
    (array([0., 3., 1., 2., 4.]), array([0, 0, 1, 2, 3]))
    """
    names, rows = list(columns), np.arange(len(keys))
    arrays = [*columns.values(), keys, rows]
    arrays = _by_partition(arrays, keys) if len(keys) > _MANY else _ordered(arrays, keys)
    *arrays, keys, order = arrays
    begins = np.ones(len(keys), dtype=bool)
    begins[1:] = (keys[1:] != keys[:-1]) | (keys[1:] == NO_UNIT)
    return {**dict(zip(names, arrays, strict=True)), UNIT: np.cumsum(begins) - 1}, order


def _ordered(arrays: list[np.ndarray], keys: np.ndarray) -> list[np.ndarray]:
    """Order arrays by unit, the units by their first rows."""
    from dpstats.engines.group_sort import by_group

    codes, distinct = pd.factorize(keys)
    order, _ = by_group(codes, len(distinct))
    return [array[order] for array in arrays]


def _by_partition(arrays: list[np.ndarray], keys: np.ndarray) -> list[np.ndarray]:
    """Order arrays by a partition of keys, and by unit within each, on all cores."""
    from dpstats.engines.group_sort import partitions, positions

    places, edges = positions(partitions(keys, NO_UNIT, _BITS), 1 << _BITS)

    def moved(array):
        found = np.empty(len(array), array.dtype)
        found[places] = array
        return found

    arrays = list(on_all_cores(moved, arrays))

    def arrange(edge):
        part = [array[slice(*edge)] for array in arrays]
        for array, ordered in zip(part, _ordered(part, part[-2]), strict=True):
            array[:] = ordered

    deque(on_all_cores(arrange, pairwise(edges)), maxlen=0)
    return arrays
