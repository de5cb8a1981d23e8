"""Name the columns of tables that are built flat, so that neighbours are made in one array."""

import numpy as np

from dpstats.numerics import Rows


def rows_of(X, y, problem, coded=None) -> Rows:
    """Rows of a table (X, y): codes, numbers, parts, units and offsets, as a problem says.

    ``coded`` is what the problem says of codes unless given.
    """
    coded = problem.coded if coded is None else coded
    blocks, roles = len(problem.layout.blocks) if coded else 0, {}
    if problem.reference is not None and problem.reference.offsets is not None:
        X, roles["offsets"] = X[:, :-1], X[:, -1]
    codes, numbers, *more = np.split(
        X, [blocks, *range(X.shape[1] - problem.in_parts - problem.by_unit, X.shape[1])], axis=1
    )
    roles |= dict(zip(("parts", "units"), (column.ravel() for column in more), strict=False))
    return Rows(numbers, y, codes if coded else None, **roles)


def keyed_rows(X, y, columns, weighted=False) -> Rows:
    """Rows of a table whose last column has keys; without rows it may have none.

    With weights the column before it has them.
    """
    parts, keys = X[:, columns:][:, :weighted], X[:, columns + weighted :]
    return Rows(X[:, :columns], y, parts=parts.ravel() if weighted else None, keys=keys.ravel())
