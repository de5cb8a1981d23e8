"""Carry the seeded noise of R's with_insecure_seed() from one call to the next."""

from contextvars import Context, copy_context
from itertools import count
from typing import Any

from dpstats.errors import ArgumentError
from dpstats.testing import insecure_seed

_numbers = count(1)
_open: dict[str, tuple[Context, Any]] = {}


def open_seed(seed: float) -> str:
    """Begin a block of seeded noise; returns its name.

    >>> block = open_seed(7.0)
    >>> close_seed(block)
    """
    context, manager = Context(), insecure_seed(int(seed))
    context.run(manager.__enter__)
    block = str(next(_numbers))
    _open[block] = context, manager
    return block


def close_seed(block: str) -> None:
    """End a block; noise outside of blocks never was seeded."""
    context, manager = _open.pop(block)
    context.run(manager.__exit__, None, None, None)


def within(block: str | None) -> Context:
    """Return the context in which a call draws its noise, that of the block or the present one."""
    if block is None:
        return copy_context()
    if block not in _open:
        raise ArgumentError("the block of with_insecure_seed() has ended; call dp_ols() inside it")
    return _open[block][0]
