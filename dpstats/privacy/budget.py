"""Share a privacy budget between several calls of one process."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from threading import Lock
from typing import Any

from dpstats.errors import BudgetError
from dpstats.html_tables import html_notes, html_table
from dpstats.privacy.composition import Call, Composition, Total, check_fits, make_composition
from dpstats.privacy.costs import DEFAULT_DELTA, Cost


class Charge:
    """Represent a call that a budget has charged, until its results are released.

    ``results`` are those of an equal earlier call, to be returned in place of a new release, or
    None. This one keeps no record.
    """

    results: Any = None

    def release(self, results) -> None:
        """Record the results, before they are shown."""

    def fail(self) -> None:
        """Record that the call stopped; its charge counts as spent."""


class Chargeable(ABC):
    """Describe the interface of anything that ``budget=`` takes."""

    __slots__ = ()

    @abstractmethod
    def reserve(
        self, epsilon: float, delta: float, cost: Cost, neighbors: str, facts: Callable[[], dict]
    ) -> Charge:
        """Charge one call before a row is read, or raise BudgetError and charge nothing.

        ``facts()`` describes the call: see :func:`dpstats.call.facts.request_facts`.
        """


class Budget(Chargeable):
    """Share a privacy budget between several calls of one process.

    Each call reserves its cost before it reads any data; a call that does not fit raises
    :class:`~dpstats.errors.BudgetError` and costs nothing. Threads may share a budget. A
    forked process may not charge it and it cannot be copied or pickled, since each copy
    would spend it again; :class:`dpstats.Ledger` is for several processes.

    Guarantee. All calls together are (epsilon, delta)-DP, even when each is chosen after the
    results of the earlier ones were seen, by one rule that is fixed before the first of
    them: see :class:`~dpstats.privacy.Composition` for the proof.

    Parameters
    ----------
    epsilon, delta : float
        The guarantee all calls together must meet; epsilon > 0, 0 <= delta < 0.5. By default delta
        is 1e-6, as in a call. Calls that need none spend some of it only where their epsilons add
        up to more than epsilon; with ``delta=0`` no others are admitted.
    composition : str, optional
        ``"gdp"``: squared mu's add up, where a call with delta = 0 counts by its largest loss;
        as long as no call is Gaussian, it is enough that the epsilons add up to epsilon.
        ``"sum"``: epsilons and deltas add up. By default "gdp" with delta > 0, else "sum".
    set_aside : float, optional
        Part of delta for methods whose guarantee is "approx" in ``dpstats.METHODS``; the rest is
        for Gaussian ones. By default the first call decides: all of delta if its method is of
        that kind, else nothing. Only with "gdp".

    Attributes
    ----------
    spent, remaining : tuple of float
        (epsilon, delta) of all calls so far, and of the largest single call that still fits.
    calls_left : int or None
        How many more calls like the last fit; None before the first.
    calls : tuple
        The epsilon, delta and cost of each call.
    neighbors : str or None
        The relation of the calls, fixed by the first.

    Raises
    ------
    ArgumentError
        For an epsilon, delta, composition or set_aside out of range.

    Examples
    --------
    >>> import dpstats as dp
    >>> df = dp.simulate.line(500, seed=1)
    >>> budget = dp.Budget(epsilon=2)
    >>> fit = dict(method="noisy_stats", bounds={"x": (0, 1), "y": (0, 1)}, budget=budget)
    >>> first = dp.dp_ols("y ~ x", df, epsilon=1.5, **fit)
    >>> budget.spent, budget.remaining
    ((1.5, 0.0), (0.5, 0.0))
    >>> budget
    Budget(epsilon=2, delta=1e-06, ...), spent: ...; another call like the last: 0 more
    >>> dp.dp_ols("y ~ x", df, epsilon=1, **fit)
    Traceback (most recent call last):
    dpstats.errors.BudgetError: epsilon=1 does not fit: the budget is epsilon=2, delta=1e-06 ...
    """

    __slots__ = ("_arguments", "_calls", "_lock", "_neighbors", "_process", "_rule", "_total")

    def __init__(
        self,
        epsilon: float,
        delta: float = DEFAULT_DELTA,
        composition: str | None = None,
        set_aside: float | None = None,
    ):
        self._arguments = epsilon, delta, composition, set_aside
        self._rule = make_composition(*self._arguments)
        self._calls: tuple[Call, ...] = ()
        self._total = Total()
        self._neighbors: str | None = None
        self._lock = Lock()
        self._process = os.getpid()

    @property
    def epsilon(self) -> float:
        """Return the limit on epsilon."""
        return self._rule.epsilon

    @property
    def delta(self) -> float:
        """Return the limit on delta."""
        return self._rule.delta

    @property
    def composition(self) -> str:
        """Return the name of the rule by which calls compose."""
        return self._rule.rule

    @property
    def neighbors(self) -> str | None:
        """Return the neighbour relation of the calls; None before the first."""
        return self._neighbors

    @property
    def calls(self) -> tuple[Call, ...]:
        """List the epsilon, delta and cost of each call so far."""
        return self._calls

    @property
    def spent(self) -> tuple[float, float]:
        """Return (epsilon, delta) of all calls so far."""
        return self._rule.spent(self._total)

    @property
    def remaining(self) -> tuple[float, float]:
        """Return (epsilon, delta) of the largest single call that still fits."""
        return self._rule.remaining(self._total)

    @property
    def calls_left(self) -> int | None:
        """Return how many more calls like the last fit; None before the first."""
        return self._rule.calls_left(self._total, self._calls[-1]) if self._calls else None

    def reserve(
        self, epsilon: float, delta: float, cost: Cost, neighbors: str, facts=None
    ) -> Charge:
        """Charge one call, or raise BudgetError and leave the budget as it was."""
        if os.getpid() != self._process:  # before the lock, which a thread may have held
            raise BudgetError(
                f"this budget belongs to process {self._process}, of which process "
                f"{os.getpid()} is a fork; what it spends would not be counted there, so fit in "
                "the first process or share a dpstats.Ledger"
            )
        with self._lock:
            self._charge(Call(epsilon, delta, cost), neighbors)
        return Charge()

    def _charge(self, call: Call, neighbors: str) -> None:
        """Check and record one call, while the lock is held."""
        if self._neighbors not in (None, neighbors):
            raise BudgetError(
                f"this budget already holds releases under neighbors={self._neighbors!r}; "
                f"a release under {neighbors!r} needs a budget of its own"
            )
        rule = self._rule if self._calls else self._first_rule(call)
        total = check_fits(rule, self._total, call)
        self._rule, self._total, self._neighbors = rule, total, neighbors
        self._calls = (*self._calls, call)

    def _first_rule(self, call: Call) -> Composition:
        """Make the rule; the first call decides what is set aside where the caller did not."""
        return make_composition(*self._arguments, first=call)

    def __reduce_ex__(self, protocol):
        raise BudgetError(
            "a Budget cannot be copied or pickled, since each copy would spend it again; pass it "
            "by reference, or share a dpstats.Ledger between processes"
        )

    def __repr__(self) -> str:
        said = (
            f"Budget(epsilon={self.epsilon:g}, delta={self.delta:g}, "
            f"composition={self.composition!r}), spent: epsilon={self.spent[0]:g}, "
            f"delta={self.spent[1]:g}"
        )
        return "; ".join(filter(None, [said, another_call(self.calls_left)]))

    def _repr_html_(self) -> str:
        pairs = {
            "limit": (self.epsilon, self.delta),
            "spent": self.spent,
            "remaining in one call": self.remaining,
        }
        rows = [
            [name, f"{epsilon:.6g}", f"{delta:.3g}"] for name, (epsilon, delta) in pairs.items()
        ]
        table = html_table(rows, ["", "epsilon", "delta"], "Privacy Budget")
        relation = self.neighbors or "fixed by the first call"
        calls = f"calls: {len(self.calls)}; composition: {self.composition}; neighbours: {relation}"
        notes = filter(None, [calls, another_call(self.calls_left)])
        return f"{table}\n{html_notes([*notes])}"


def another_call(left: int | None) -> str:
    """Say how many more calls like the last fit; empty before the first.

    >>> another_call(3), another_call(None)
    ('another call like the last: 3 more', '')
    """
    return "" if left is None else f"another call like the last: {left:,} more"
