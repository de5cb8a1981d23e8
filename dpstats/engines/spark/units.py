"""Sum rows of Spark in whole privacy units, or whole groups, which a shuffle puts together."""

import pickle
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from dpstats.engines.labels.label_keys import NO_UNIT
from dpstats.engines.spark.tasks import ANSWER, answers, packed, tried
from dpstats.engines.streams import partition_of
from dpstats.engines.tables import Table
from dpstats.engines.units import UNIT, ordered_by_unit, part_total, parts_in_memory
from dpstats.parallel_sum import Summary, added
from dpstats.schema import Batch, Schema

# A row that is sent has its group, the key of its unit and its values, numbered in this order, or
# instead of these two an answer.
_GROUP, _ANSWER = "group", ANSWER.split()[0]
_TYPES = {"float64": "double", "int64": "long"}


def unit_total(
    rows,
    names: list[str],
    keys: Callable[[Table], np.ndarray],
    types: Table,
    schema: Schema,
    each: Callable[[Batch], Summary],
) -> Summary:
    """Add up ``each(batch)`` over batches of whole units of a Spark DataFrame.

    A worker works out the key of each row's unit as is done in memory, so that 0.0 and -0.0 are one
    unit, and Spark groups rows by a partition of keys. All rows of a group are on one worker by the
    meaning of ``groupBy``, however Spark splits or joins the partitions of its shuffle. A row
    without a unit is a unit of its own and is summarised where it is read. What is sent follows
    from the rows and not from their order, so a task may run twice.

    Parameters
    ----------
    rows : pyspark.sql.DataFrame
        The columns ``names``, in order, whatever they are called in it.
    keys : callable
        ``keys(table)`` are the keys of the units of rows, uint64 (words, n), such as
        :func:`~dpstats.engines.labels.label_keys.unit_keys` writes.
    types : Table
        The columns without rows.
    schema : mapping of str to Numeric, Categorical or Labels
    each : callable
        ``each(batch)`` is a summary; the sum of two is the summary of both batches.
    """
    (none,) = types.batches(schema)
    words = len(keys(types))
    dtypes = [np.dtype(np.int64)] * words + [column.dtype for column in none.values()]
    values = [f"`{i}` {_TYPES[str(dtype)]}" for i, dtype in enumerate(dtypes)]
    sent = ", ".join([f"`{_GROUP}` long", *values, ANSWER])
    keyed = rows.mapInArrow(partial(_sent, dtypes, schema, keys, each, names), sent)
    sums = keyed.groupBy(_GROUP).applyInArrow(partial(_of_group, list(schema), words, each), ANSWER)
    parts = answers(sums.mapInArrow(_of_task, ANSWER))
    return added([each({**none, UNIT: np.empty(0, np.int64)}), *parts])


# What follows runs on the workers.


def _sent(dtypes: list, schema: Schema, keys: Callable, each: Callable, names: list[str], batches):
    """Yield the rows that have a unit, and one answer for the rows that have none."""
    import pyarrow as pa

    found = []
    for batch in batches:
        frame = pa.Table.from_batches([batch]).rename_columns(names)
        error, split = tried(partial(_split, schema, keys, each), frame)
        found.append((error, [alone for _, alone in split]))
        yield from (kept for kept, _ in split)
    if found:
        yield _carried(dtypes, _one(found))


def _split(schema: Schema, keys: Callable, each: Callable, frame) -> list:
    """Return the rows that have a unit, as they are sent, and the summary of those without."""
    table = Table.from_data(frame)
    words = keys(table)
    (columns,) = table.batches(schema, max(table.n_rows, 1))
    alone = words[0] == NO_UNIT
    own = {name: column[alone] for name, column in columns.items()}
    summary = each({**own, UNIT: np.arange(alone.sum())})
    sent = [partition_of(words), *words.view(np.int64), *columns.values()]
    return [(_batch([column[~alone] for column in sent]), summary)]


def _batch(columns: list[np.ndarray]):
    """Return rows of Arrow that have values and no answer."""
    import pyarrow as pa

    arrays = [pa.array(column) for column in columns]
    names = [_GROUP, *map(str, range(len(columns) - 1)), _ANSWER]
    return pa.RecordBatch.from_arrays([*arrays, pa.nulls(len(columns[0]), pa.binary())], names)


def _carried(dtypes: list, answer: tuple):
    """Return a row of Arrow that has an answer instead of a unit and its values."""
    row = _batch([np.zeros(1, dtype) for dtype in (np.int64, *dtypes)])
    return row.set_column(row.num_columns - 1, _ANSWER, packed(answer)[0])


def _of_group(names: list[str], words: int, each: Callable, rows):
    """Return the sum over whole units of a group, and the answers that were sent to it."""
    import pyarrow as pa

    found = [pickle.loads(answer) for answer in rows[_ANSWER].drop_null().to_pylist()]
    values = rows.filter(rows[_ANSWER].is_null())
    if values.num_rows:
        found.append(tried(partial(_sum_of_units, names, words, each), values))
    return pa.Table.from_batches([packed(_one(found))])


def _sum_of_units(names: list[str], words: int, each: Callable, rows) -> list:
    numbered = [rows[str(i)].to_numpy() for i in range(words + len(names))]
    columns = dict(zip(names, numbered[words:], strict=True))
    ordered, _ = ordered_by_unit(columns, np.stack(numbered[:words]).view(np.uint64))
    parts = parts_in_memory(ordered, names)
    return [added(part_total(each, part) for part in parts)]


def _of_task(batches) -> Iterator:
    """Add up the answers of a task, so that as few come to the driver."""
    found = [pickle.loads(answer) for batch in batches for answer in batch[_ANSWER].to_pylist()]
    yield packed(_one(found))


def _one(found: list[tuple]) -> tuple:
    """Return several answers as one: their sum, or the first error."""
    errors = [error for error, _ in found if error]
    values = [value for _, values in found for value in values]
    if errors or not values:
        return next(iter(errors), None), []
    return tried(lambda values: [added(values)], values)
