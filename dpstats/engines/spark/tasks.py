"""Bring answers of Spark's workers to the driver, whatever happens in a task."""

import pickle
from collections.abc import Callable
from typing import Any

from dpstats.errors import Defect

# The column of a task's answers, in the words of Spark.
ANSWER = "answer binary"


def answers(made) -> list:
    """Return all values that the tasks of a job returned, or raise what stopped one of them."""
    found = [pickle.loads(row.answer) for row in made.collect()]
    for error, _ in found:
        if error:
            raise Defect(f"{error} on a worker")
    return [value for _, values in found for value in values]


def packed(value):
    """Return a value as one row of Arrow in the column :data:`ANSWER`."""
    import pyarrow as pa

    return pa.RecordBatch.from_pydict({"answer": pa.array([pickle.dumps(value)], pa.binary())})


def tried(answer: Callable, data) -> tuple[str | None, list[Any]]:
    """Return None and the answer, or the type of the exception and nothing.

    The exception's message may hold values, and Spark would log it; a defect is in public words. A
    worker has numpy's own settings, whose warnings would go to a log.
    """
    import numpy as np

    try:
        with np.errstate(all="ignore"):
            return None, answer(data)
    except Defect as defect:
        return str(defect), []
    except Exception as error:
        return type(error).__name__, []
