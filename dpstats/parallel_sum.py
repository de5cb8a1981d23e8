"""Summarise batches on all cores, and add the summaries up."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import reduce
from itertools import chain, islice
from operator import add
from typing import Any, TypeVar

Item = TypeVar("Item")
Summary = TypeVar("Summary")


def total(each: Callable[[Item], Summary], items: Iterable[Item]) -> Summary:
    """Add up ``each(item)`` over at least one item; few items are in memory at a time.

    Examples
    --------
    >>> total(len, ["ab", "c", "def"])
    6
    """
    return added(on_all_cores(each, items))


def added(parts: Iterable[Summary]) -> Summary:
    """Add up at least one part, in order, equal numbers of parts first.

    So a summary that holds its rows is copied log2(parts) times, not once for each part.

    Examples
    --------
    >>> added(["a", "b", "c"])
    'abc'
    """
    sums: list[Any] = []  # a summary can be added to another
    for number, part in enumerate(parts, start=1):
        while number % 2 == 0:
            part, number = sums.pop() + part, number // 2
        sums.append(part)
    return reduce(add, sums)


def on_all_cores(each: Callable[[Item], Summary], items: Iterable[Item]) -> Iterator[Summary]:
    """Yield ``each(item)`` in order; an item is taken when a core will soon be free for it.

    Examples
    --------
    >>> list(on_all_cores(len, ["ab", "c", "def"]))
    [2, 1, 3]
    """
    items = iter(items)
    first = list(islice(items, 2))
    if len(first) == 1:  # threads take longer to start than few rows to add up
        yield each(first[0])
        return
    workers = os.cpu_count() or 1
    waiting: deque = deque()
    with ThreadPoolExecutor(workers) as pool:
        for item in chain(first, items):
            # a thread starts without the settings of its caller, such as numpy's errstate
            waiting.append(pool.submit(copy_context().run, each, item))
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
