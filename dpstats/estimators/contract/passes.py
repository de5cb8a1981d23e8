"""See rows through sums over them alone, pass by pass, and release in two passes."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeVar, runtime_checkable

from dpstats.estimators.contract.release import Release
from dpstats.noise import Noise
from dpstats.numerics import Rows
from dpstats.parallel_sum import total
from dpstats.privacy import GDP, ApproxDP, PureDP

_Cost = TypeVar("_Cost", PureDP, GDP, ApproxDP)


class Passes(Protocol):
    """Show the rows of a fit to a method, which sees nothing but sums over all of them."""

    def sum(self, summary: Callable[[Rows], Any]) -> Any:
        """Pass over the rows and add up ``summary(rows)``, whose values for disjoint rows add up.

        Rows that are held in memory are given in one piece, others batch by batch.
        """
        ...


@runtime_checkable
class Holding(Passes, Protocol):
    """Hold in memory what a function makes of rows, where it fits."""

    def mapped(self, to: Callable[[Rows], Rows]) -> Passes:
        """Return passes over ``to(rows)``."""
        ...


@runtime_checkable
class Keyed(Passes, Protocol):
    """Give rows in pieces, of which each may have all rows of its keys."""

    whole_keys: bool


def in_whole_keys(passes: Passes) -> Passes:
    """Return passes of which each piece has all rows of its keys: the same, or one in memory."""
    if isinstance(passes, Keyed) and passes.whole_keys:
        return passes
    return InMemory(Rows.joined(passes.sum(_listed)))


def _listed(rows: Rows) -> list[Rows]:
    return [rows]


def mapped(passes: Passes, to: Callable[[Rows], Rows]) -> Passes:
    """Return passes over ``to(rows)``, which are held where rows may be.

    It is a function of each row, or of all rows of a unit or a key where these come together.
    """
    return passes.mapped(to) if isinstance(passes, Holding) else Mapped(passes, to)


@dataclass(frozen=True)
class Mapped:
    """Pass over what a function makes of rows, anew in each pass."""

    passes: Passes
    to: Callable[[Rows], Rows]

    def sum(self, summary: Callable[[Rows], Any]) -> Any:
        """Add up ``summary(to(rows))``."""
        return self.passes.sum(partial(_composed, self.to, summary))


def _composed(to: Callable[[Rows], Rows], summary: Callable[[Rows], Any], rows: Rows) -> Any:
    return summary(to(rows))


def of_outcome(total: Callable, place: int) -> Callable:
    """Add functions up over the same rows with the response at a place."""
    return lambda work: total(partial(_on_outcome, work, place))


def _on_outcome(work: Callable, place: int, rows: Rows):
    return work(rows.of_outcome(place))


@dataclass(frozen=True)
class InMemory:
    """Pass over rows that are held in memory."""

    rows: Rows

    def sum(self, summary: Callable[[Rows], Any]) -> Any:
        """Return ``summary(rows)``."""
        return summary(self.rows)

    def mapped(self, to: Callable[[Rows], Rows]) -> "InMemory":
        """Return passes over ``to(rows)``, which is in memory too."""
        return InMemory(to(self.rows))


@dataclass(frozen=True)
class InBatches:
    """Pass over batches of rows that are held in memory, on all cores."""

    batches: tuple[Rows, ...]

    def sum(self, summary: Callable[[Rows], Any]) -> Any:
        """Add up ``summary(rows)`` over the batches."""
        return total(summary, self.batches)


@dataclass
class Repeated:
    """Share the first pass over rows among many releases from them.

    Before it has drawn noise a release depends on public facts alone, so each asks for the same.

    Parameters
    ----------
    passes : Passes
    known : list
        The sum of the first pass, once it is made.
    """

    passes: Passes
    known: list[Any] = field(default_factory=list)

    def under(self, noise: Noise) -> Passes:
        """Return the passes of one release, which draws this noise."""
        return _Repeat(self, noise)


@dataclass
class _Repeat:
    of: Repeated
    noise: Noise
    begun: bool = False

    def sum(self, summary: Callable[[Rows], Any]) -> Any:
        if self.begun or self.noise.events:
            return self.of.passes.sum(summary)
        self.begun = True
        if not self.of.known:
            self.of.known.append(self.of.passes.sum(summary))
        return self.of.known[0]


def released_twice(
    first: Callable[[_Cost], Release],
    second: Callable[[Release, _Cost], Release],
    cost: _Cost,
    fraction: float,
) -> Release:
    """Release ``first(cost)``, and what ``second`` adds to it for a fraction of the cost.

    With a fraction of 0 the first is all. A first release without standard errors remains the only
    one, and the fraction that was kept is not spent.

    Guarantee. The cost: the second release is private for any value of the first, and their costs
    add up to it.
    """
    if not fraction:
        return first(cost)
    found = first(cost.part(1 - fraction))
    return found if "bse" in found.reasons else second(found, cost.part(fraction))
