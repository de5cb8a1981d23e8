"""Keep the ledger of a data set: charge calls, approve requests and allocate."""

import getpass
import os
from collections.abc import Sequence
from contextlib import suppress

from dpstats.engines.open_table import open_table
from dpstats.errors import ArgumentError, BudgetError
from dpstats.ledger import store
from dpstats.ledger.accounts import (
    Asked,
    Found,
    charge,
    checked_name,
    find,
    limit_texts,
    limits,
    reserve,
)
from dpstats.ledger.charges import LedgerCharge
from dpstats.ledger.reader import LedgerReader
from dpstats.ledger.records import insert, update
from dpstats.ledger.sources import bind
from dpstats.ledger.tables import STEPS
from dpstats.noise.random_sources import SOURCE
from dpstats.option_checks import file_path, flag, whole, word
from dpstats.privacy import (
    ADD_REMOVE,
    DEFAULT_DELTA,
    RELATIONS,
    Call,
    Chargeable,
    Cost,
    make_composition,
    relation_name,
    validate_guarantee,
)
from dpstats.results.record.acro import installed
from dpstats.results.restored_calls import from_text
from dpstats.tracebacks import drops_traceback


class _Checked(Exception):
    """Undo what a check has written."""


class Ledger(LedgerReader, Chargeable):
    """Keep the privacy budget of a data set in one file, shared by processes and analysts.

    A call with ``budget=ledger`` is reserved before a row is read, in a transaction that has
    reached the disk; its result is stored, likewise, before it is returned. A call that fails
    or whose process dies counts as spent. The total of the data set binds over all analysts,
    whatever was allocated to them, and calls about other data are refused: see :meth:`move`.

    Guarantee. All results that were ever released through the file are together
    (epsilon, delta)-DP for ``neighbors``, however each call was chosen: see
    :class:`~dpstats.privacy.Composition`.

    Parameters
    ----------
    path : str or path
        A file that :meth:`create` made, on a disk of this machine.
    analyst : str, optional
        Who calls; needed once the steward has allocated budgets to analysts.

    Raises
    ------
    LedgerError
        When the file cannot be opened or is no ledger.

    Examples
    --------
    >>> import tempfile, dpstats as dp
    >>> path = tempfile.mkdtemp() + "/families.ledger"
    >>> ledger = dp.Ledger.create(path, dataset="families 2024", epsilon=2,
    ...                           neighbors="replace_one", fingerprint="2024-06-30")
    >>> ledger.allocate("anna", epsilon=1)
    >>> fit = dict(method="noisy_stats", bounds={"x": (0, 1), "y": (0, 1)},
    ...            budget=dp.Ledger(path, analyst="anna"))
    >>> df = dp.simulate.line(500, seed=1)
    >>> first = dp.dp_ols("y ~ x", df, epsilon=0.75, **fit)
    >>> again = dp.dp_ols("y ~ x", df, epsilon=0.75, **fit)  # from the store
    >>> first.params.equals(again.params), ledger.spent
    (True, (0.75, 0.0))
    >>> dp.dp_ols("y ~ x", df, epsilon=0.5, **fit)
    Traceback (most recent call last):
    dpstats.errors.BudgetError: epsilon=0.5 does not fit: the allocation of 'anna' is epsilon=1, ...
    >>> ledger.verify().ok
    True
    """

    @classmethod
    @drops_traceback
    def create(
        cls,
        path,
        *,
        dataset: str,
        epsilon: float,
        delta: float = DEFAULT_DELTA,
        neighbors: str = ADD_REMOVE,
        unit: str | None = None,
        composition: str | None = None,
        set_aside: float | None = None,
        fingerprint: str | None = None,
        approval: bool = False,
        data=None,
    ) -> "Ledger":
        """Make a ledger in a new file.

        Parameters
        ----------
        path : str or path
            A file that does not exist yet.
        dataset : str
            The data set's name.
        epsilon, delta, composition : float, float, str
            The limit on everything that is ever released, and its rule, as for
            :class:`~dpstats.Budget`.
        neighbors : str
            The relation of all releases.
        unit : str, optional
            The column of persons, all of whose rows are protected together in every release; by
            default one row is.
        set_aside : float, optional
            Part of delta for methods whose guarantee is "approx"; by default half of it.
        fingerprint : str, optional
            Names the state of the data, such as a date or a checksum. With it an equal call is
            answered from the store at no cost; without it every call is a new release.
        approval : bool
            Whether the steward has to approve each call before it may run.
        data : path, data frame or query, optional
            The data, as for :func:`dpstats.dp_ols`; by default those of the first call that is
            charged. Calls with other data are refused: see :meth:`move`.

        Raises
        ------
        ArgumentError
            For an argument out of range, or a file that exists.
        LedgerError
            When the file cannot be written, or is on a network file system.
        """
        path, name = file_path("path")(path), checked_name("dataset", dataset)
        rule = make_composition(epsilon, delta, composition, set_aside)
        if rule.rule == "gdp" and set_aside is None:
            rule = make_composition(epsilon, delta, composition, rule.delta / 2)
        word("neighbors", *RELATIONS)(neighbors)
        if unit is not None:
            unit = checked_name("unit", unit)
        if fingerprint is not None:
            fingerprint = checked_name("fingerprint", fingerprint)
        approval = flag("approval")(approval)
        row = {
            "name": name,
            **limit_texts(rule),
            "composition": rule.rule,
            "neighbors": relation_name(neighbors, unit),
            "fingerprint": fingerprint,
            "approval": "yes" if approval else "no",
        }
        source = None if data is None else open_table(data).source

        def fill(connection) -> None:
            insert(connection, "dataset", "steward", "created", version=installed("dpstats"), **row)
            if source is not None:
                bind(connection, source, "steward", "bound")

        store.create(path, fill)
        return cls(path)

    def reserve(self, epsilon: float, delta: float, cost: Cost, neighbors: str, facts):
        """Charge one call; see :meth:`reserve_all`."""
        (charge,) = self.reserve_all([Asked(Call(epsilon, delta, cost), neighbors, facts())])
        return charge

    def reserve_all(self, asked: Sequence[Asked]) -> list[LedgerCharge]:
        """Charge several calls together: all of them, or none.

        Raises
        ------
        BudgetError
            When one does not fit or has to be approved first; nothing is spent.
        LedgerError
            When the file cannot be written; nothing is spent.
        """
        if not SOURCE.get().private:
            raise BudgetError("a ledger takes no release made under insecure_seed")
        actor = self._actor()
        who = self.dataset, self.analyst, actor
        with self._store.writing() as connection:
            found = self._find(connection, asked)
            waits = [each.waits for each in found if each.waits]
            if not waits:
                pairs = zip(asked, found, strict=True)
                numbers = [reserve(connection, *who, *pair) for pair in pairs]
        if waits:
            raise BudgetError(f"{'; '.join(waits)}; nothing was read and nothing was spent")
        return [
            LedgerCharge(self._store, number, actor, each.result and from_text(each.result))
            for number, each in zip(numbers, found, strict=True)
        ]

    def check_all(self, asked: Sequence[Asked]) -> None:
        """Raise what :meth:`reserve_all` would, but for a missing approval; nothing is changed."""
        with suppress(_Checked), self._store.writing() as connection:
            for each, found in zip(asked, self._find(connection, asked), strict=True):
                if found.state == "denied":
                    raise BudgetError(found.waits)
                if found.state != "released":
                    charge(connection, self.dataset, self.analyst, each)
            raise _Checked

    def _find(self, connection, asked: Sequence[Asked]) -> list[Found]:
        """Find equal calls; an analyst who is unknown or unnamed is refused.

        The steward, who names no analyst, is answered where nothing is left to charge.
        """
        who = self.dataset, self.analyst, self._actor()
        found = [find(connection, *who, each) for each in asked]
        if self.analyst is not None or any(each.state != "released" for each in found):
            limits(connection, self.dataset, self.analyst)
        return found

    @drops_traceback
    def move(self, data) -> None:
        """Say where the data are now, or that they were given other columns; no row is read.

        A ledger is for one data set: files by their paths and the names and kinds of all their
        columns, data in memory and queries by the kinds of the columns that calls have used. What
        was released before the move is still answered from the store. Data that were changed are
        other data, for which a new ledger is made.

        Parameters
        ----------
        data : path, data frame or query
            As for :func:`dpstats.dp_ols`.
        """
        source = open_table(data).source
        with self._store.writing() as connection:
            bind(connection, source, self._actor(), "moved")

    def _actor(self) -> str:
        """Name the actor for the audit: the analyst, or the user of the operating system."""
        if self.analyst is not None:
            return self.analyst
        try:
            return getpass.getuser()
        except (KeyError, OSError):
            return f"user {os.getuid()}"

    def allocate(self, analyst: str, epsilon: float, delta: float | None = None) -> None:
        """Set the limit on all calls of an analyst; it replaces an earlier allocation.

        Allocations may exceed the total of the data set together, which binds all the same.
        By default delta is that of the data set.

        Raises
        ------
        ArgumentError
            For a name, epsilon or delta that cannot be used.
        """
        name, total = checked_name("analyst", analyst), self.dataset.limit
        epsilon, delta = validate_guarantee(epsilon, total.delta if delta is None else delta)
        aside = None
        if total.rule == "gdp":
            aside = total.set_aside / total.delta * delta if delta else 0.0
        limit = make_composition(epsilon, delta, total.rule, aside)
        texts, actor = limit_texts(limit), self._actor()
        with self._store.writing() as connection:
            row = connection.execute("SELECT id FROM analysts WHERE name = ?", (name,)).fetchone()
            if row is None:
                insert(connection, "analysts", actor, "allocated", name=name, **texts)
            else:
                update(connection, "analysts", row[0], actor, "allocated", **texts)

    def approve(self, request: int) -> None:
        """Let a request run; its analyst then repeats the call."""
        self._settle(request, "approved")

    def deny(self, request: int) -> None:
        """Refuse a request, or one that was approved and has not run."""
        self._settle(request, "denied")

    def _settle(self, request: int, state: str) -> None:
        request = whole("request", 1)(request)
        with self._store.writing() as connection:
            row = connection.execute(
                "SELECT state FROM requests WHERE id = ?", (request,)
            ).fetchone()
            if row is None:
                raise ArgumentError(f"there is no request {request} in {self.path}")
            if state not in STEPS.get(row[0], ()):
                raise ArgumentError(f"request {request} is {row[0]} and cannot be {state}")
            update(connection, "requests", request, self._actor(), state, state=state)

    def __reduce__(self):
        return type(self), (self.path, self.analyst)

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r}, analyst={self.analyst!r})"
