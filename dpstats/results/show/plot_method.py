"""Bind a method that draws, so that its name alone says how to call it."""

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

Method = TypeVar("Method", bound=Callable)


class PlotMethod:
    """Bind a function as a method whose repr is one line on how to call it.

    A user who forgets the parentheses, as in ``res.plot``, reads that line in place of an address
    in memory. Called, documented and inspected it is the method.
    """

    def __init__(self, function: Callable):
        self._function = function

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance, owner: type | None = None):
        if instance is None:
            return self._function
        return BoundPlot(self._function.__get__(instance, owner), self._name)


class BoundPlot:
    """Call a bound method; see :class:`PlotMethod`."""

    def __init__(self, method: Callable, name: str):
        self._name = name
        functools.update_wrapper(self, method)

    def __call__(self, *arguments, **named) -> Any:
        return self.__wrapped__(*arguments, **named)  # pyright: ignore[reportAttributeAccessIssue]

    def __repr__(self) -> str:
        does = (self.__doc__ or "").partition("\n")[0].removesuffix(".")
        return f"call .{self._name}{inspect.signature(self)}: {does[:1].lower()}{does[1:]}"


def plot_method(function: Method) -> Method:
    """Decorate a method that draws; type checkers see the method itself."""
    if TYPE_CHECKING:
        return function
    return PlotMethod(function)  # pyright: ignore[reportReturnType]
