"""Check guessed sizes of groups, and forecast one regression for each of a few sizes."""

from collections.abc import Callable, Collection

import numpy as np

from dpstats.errors import ArgumentError
from dpstats.option_checks import whole
from dpstats.planning.assumptions import checked_rows
from dpstats.planning.group_result import GroupPlan
from dpstats.planning.result import Plan
from dpstats.rows.group_labels import check_names, columns_of

# More sizes than this are put into so many classes.
_MOST = 8


def plan_groups(
    forecast: Callable[[int, int], Plan], by, n, groups, unit=None, max_groups: int = 1
) -> GroupPlan:
    """Forecast a fit of every size of group; ``forecast`` takes a size and the rows of all groups.

    Each group has the whole budget, or that of ``max_groups``, so it is forecast as one fit.
    """
    counts = group_sizes(n, groups)
    total = sum(size * count for size, count in counts.items())
    classes = size_classes(counts)
    plans = {size: forecast(size, total) for size in classes}
    by = by if isinstance(by, str) else tuple(by)
    return GroupPlan(by, plans, classes, total, len(counts), unit, max_groups)


def check_outside(by, variables: Collection[str]) -> None:
    """Raise ArgumentError unless by names columns that are not in the formula."""
    check_names(by)
    for name in columns_of(by):
        if name in variables:
            raise ArgumentError(f"by={name!r} is in the formula; name another column")


def group_sizes(n, groups) -> dict[int, int]:
    """Count the groups of each size, in the order of sizes.

    >>> group_sizes(100, 3), group_sizes([40, 9, 40], None)
    ({100: 3}, {9: 1, 40: 2})
    """
    if isinstance(n, Collection) and not isinstance(n, str):
        if groups is not None:
            raise ArgumentError("n lists the rows of each group, so leave groups out")
        if not len(n):
            raise ArgumentError("expected n to list the rows of each group, got none")
        sizes, counts = np.unique([checked_rows(size) for size in n], return_counts=True)
        return dict(zip(sizes.tolist(), counts.tolist(), strict=True))
    size = checked_rows(n)
    if groups is None:
        raise ArgumentError(
            f"expected groups=, how many groups of n={size} rows each there are, or n=[...] with "
            "the rows of each group"
        )
    return {size: whole("groups", 1, 1_000_000)(groups)}


def size_classes(counts: dict[int, int]) -> dict[int, int]:
    """Put groups of more than eight sizes into classes of about as many groups each.

    A class stands at the median of its sizes.

    >>> size_classes({5: 1, 7: 2}), size_classes({size: 1 for size in range(1, 17)})
    ({5: 1, 7: 2}, {1: 2, 3: 2, 5: 2, 7: 2, 9: 2, 11: 2, 13: 2, 15: 2})
    """
    if len(counts) <= _MOST:
        return counts
    sizes = np.repeat(list(counts), list(counts.values()))
    classes: dict[int, int] = {}
    for part in np.array_split(sizes, _MOST):
        middle = int(part[(len(part) - 1) // 2])
        classes[middle] = classes.get(middle, 0) + len(part)
    return classes
