"""Summarise Spark DataFrames on the workers; only the summaries come to the driver."""

import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import methodcaller

import numpy as np

from dpstats.engines.spark.tasks import ANSWER, answers, packed, tried
from dpstats.engines.spark.units import unit_total
from dpstats.engines.streams import Described, frame_total
from dpstats.engines.tables import ROWS, Table
from dpstats.errors import ArgumentError
from dpstats.parallel_sum import Summary, added
from dpstats.schema import Batch, Schema


class SparkTable(Described):
    """Hold the names and types of a Spark DataFrame; its rows never come to this process.

    Parameters
    ----------
    data : pyspark.sql.DataFrame
        Each pass over it is one Spark job.

    Raises
    ------
    ArgumentError
        If the workers cannot run this package.
    """

    remote = True

    def __init__(self, data):
        _check_workers(data.sparkSession)
        super().__init__(Table.from_data(data.limit(0).toArrow()))
        self._data = data

    @property
    def speculates(self) -> bool:
        """Return whether Spark runs a slow task twice and keeps the faster one's answer."""
        speculation = self._data.sparkSession.conf.get("spark.speculation", "false")
        return speculation.strip().lower() != "false"

    def typed(self, types: Mapping[str, str]) -> "SparkTable":
        """Check that declared kinds are those of the columns, which Spark has types for."""
        self._types.typed(types)
        return self

    def total(self, schema: Schema, each: Callable[[Batch], Summary]) -> Summary:
        """Add up as :meth:`~dpstats.engines.Table.total` does, one summary per partition.

        Spark may run a task twice; that is harmless where nothing random happens.
        """
        work = partial(_of_partition, partial(_partition_total, schema, each), list(schema))
        parts = answers(self._chosen(schema).mapInArrow(work, ANSWER))
        return added([frame_total(schema, each, self._types), *parts])

    def batches(self, schema: Schema, size: int = ROWS) -> Iterator[Batch]:
        """Refuse, as :meth:`gathered` does."""
        return self.gathered(list(schema)).batches(schema, size)

    def gathered(self, names: Sequence[str]) -> Table:
        """Refuse, as rows stay with the workers."""
        raise ArgumentError("this needs rows that a Spark DataFrame keeps; pass data.toPandas()")

    def distinct(self, names: Sequence[str]) -> Table:
        """Return the combinations of values present in some columns, each once."""
        found = self._chosen(names).distinct().toArrow()
        return Table.from_data(found.rename_columns(list(names)))

    def of_groups(
        self, names: Sequence[str], by: Sequence[str], answer: Callable[[Table], list]
    ) -> list:
        """Return the values in ``answer(table)`` for the table of each group, in any order.

        A group is what Spark puts together by the columns ``by``; its rows are in memory on
        one worker, and its answer is computed in the last stage of the job, so that a task
        which is repeated has not answered before.
        """
        names = list(dict.fromkeys([*by, *names]))
        groups = self._chosen(names).groupBy([str(i) for i in range(len(by))])
        return answers(groups.applyInArrow(partial(_of_group, answer, names), ANSWER))

    def by_unit(self, schema: Schema, unit: str) -> "SparkUnits":
        """Have Spark put whole units together in every pass; before it nothing is read."""
        return SparkUnits(self, unit, methodcaller("unit_keys", unit))

    def by_label(self, column: str) -> "SparkUnits":
        """Have Spark put all rows of a label together in every pass, as :meth:`by_unit` does."""
        return SparkUnits(self, column, methodcaller("key_words", column))

    def _chosen(self, names: Iterable[str]):
        """Select these columns by numbers, as Spark reads some characters in a name as syntax."""
        from pyspark.sql.functions import col

        quoted = ["`" + name.replace("`", "``") + "`" for name in names]
        return self._data.select([col(name).alias(str(i)) for i, name in enumerate(quoted)])


class SparkUnits(SparkTable):
    """Add up a Spark DataFrame in whole privacy units, such as persons, or in whole groups.

    ``keys(table)`` are those of the units in a column, as :func:`.units.unit_total` says.
    """

    def __init__(self, table: SparkTable, column: str, keys: Callable[[Table], np.ndarray]):
        super(SparkTable, self).__init__(table._types)  # whose check of workers has passed
        self._data, self._column, self._keys = table._data, column, keys

    def total(self, schema: Schema, each: Callable[[Batch], Summary]) -> Summary:
        """Add up ``each(batch)`` over batches of whole units, numbered in the column ``UNIT``."""
        names = list(dict.fromkeys([*schema, self._column]))
        return unit_total(self._chosen(names), names, self._keys, self._types, schema, each)

    def of_groups(
        self, names: Sequence[str], by: Sequence[str], answer: Callable[[Table], list]
    ) -> list:
        """Refuse, as a unit may have rows in several groups."""
        raise ArgumentError(
            "unit= with by= needs rows that a Spark DataFrame keeps; pass data.toPandas()"
        )


def _check_workers(session) -> None:
    """Raise ArgumentError unless a worker can import this package under the same Python."""
    try:
        (row,) = session.range(1, numPartitions=1).mapInArrow(_python, ANSWER).collect()
        same = pickle.loads(row.answer) == sys.version_info[:2]
    except Exception:  # no rows are involved, but the message has hundreds of lines
        same = False
    if not same:
        raise ArgumentError(
            "Spark's workers cannot import dpstats under the driver's Python; before the session "
            'starts, set os.environ["PYSPARK_PYTHON"] to a Python with dpstats on every worker, '
            "on one machine to sys.executable"
        )


# What follows runs on the workers.


def _python(frames):
    list(frames)
    yield packed(sys.version_info[:2])


def _of_partition(answer: Callable, names: list[str], batches):
    import pyarrow as pa

    frames = (pa.Table.from_batches([batch]).rename_columns(names) for batch in batches)
    yield packed(tried(answer, frames))


def _of_group(answer: Callable, names: list[str], frame):
    import pyarrow as pa

    return pa.Table.from_batches(
        [packed(tried(answer, Table.from_data(frame.rename_columns(names))))]
    )


def _partition_total(schema: Schema, each: Callable[[Batch], Summary], frames) -> list:
    parts = [frame_total(schema, each, frame) for frame in frames]
    return [added(parts)] if parts else []
