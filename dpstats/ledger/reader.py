"""Read the ledger of a data set: what is spent, asked for and released, and whether it is whole."""

import os
from pathlib import Path

import pandas as pd

from dpstats.errors import ArgumentError, LedgerError
from dpstats.ledger import listing, store
from dpstats.ledger.accounts import Dataset, checked_name, last_call, limits
from dpstats.ledger.records import read_total
from dpstats.ledger.verification import Verification, verify
from dpstats.option_checks import file_path, whole
from dpstats.privacy import Composition, Total
from dpstats.results.restored_calls import from_text
from dpstats.results.show.plot_method import plot_method


class LedgerReader:
    """Read a file that :meth:`~dpstats.ledger.ledger.Ledger.create` made; nothing in it changes."""

    path: Path

    def __init__(self, path, analyst: str | None = None):
        self.path = file_path("path")(path)
        if os.path.isdir(self.path):
            raise LedgerError(f"{self.path} is a folder; name the ledger's file in it")
        self.analyst = None if analyst is None else checked_name("analyst", analyst)
        self._store = store.Store(self.path)
        with self._store.reading() as connection:
            self.dataset = Dataset.read(connection)

    @property
    def spent(self) -> tuple[float, float]:
        """Return (epsilon, delta) of all calls of all analysts so far."""
        with self._store.reading() as connection:
            return self.dataset.limit.spent(read_total(connection, ""))

    @property
    def remaining(self) -> tuple[float, float]:
        """Return (epsilon, delta) of the largest call that fits: the analyst's, or of all."""
        return min(limit.remaining(total) for limit, total in self._limits())

    @property
    def calls_left(self) -> int | None:
        """Return how many more calls like the last, of the analyst or of all, fit.

        None before the first.
        """
        with self._store.reading() as connection:
            last = last_call(connection, self.analyst)
        if last is None:
            return None
        return min(limit.calls_left(total, last) for limit, total in self._limits())

    def _limits(self) -> list[tuple[Composition, Total]]:
        """Return the limits on this analyst's calls, or the data set's, with what is spent."""
        with self._store.reading() as connection:
            if self.analyst is None:
                return [(self.dataset.limit, read_total(connection, ""))]
            found = limits(connection, self.dataset, self.analyst)
            return [(limit, read_total(connection, scope)) for scope, (_, limit) in found.items()]

    def result(self, request: int):
        """Return the stored result of a released request."""
        request = whole("request", 1)(request)
        with self._store.reading() as connection:
            row = connection.execute(
                "SELECT result FROM releases WHERE id = ?", (request,)
            ).fetchone()
        if row is None:
            raise ArgumentError(f"request {request} has no stored result in {self.path}")
        return from_text(row[0])

    def requests(self, state: str | None = None) -> pd.DataFrame:
        """List the requests, all or those of one state.

        Columns: ``id``, ``analyst``, ``state``, ``epsilon``, ``delta``, ``method``, ``formula``,
        ``data`` and ``created``.
        """
        with self._store.reading() as connection:
            return listing.requests(connection, state)

    def request(self, request: int) -> dict:
        """Return what a request asks for in full, as its steward reads it before an approval.

        Beside the columns of :meth:`requests` the entries are the arguments of the call by name:
        ``weights``, ``cluster``, ``by``, ``subset``, ``schema`` and so on, where they were given.

        Raises
        ------
        ArgumentError
            When there is no such request.
        """
        number = whole("request", 1)(request)
        with self._store.reading() as connection:
            found = listing.request(connection, number)
        if found is None:
            raise ArgumentError(f"there is no request {number} in {self.path}")
        return found

    def analysts(self) -> pd.DataFrame:
        """List the analysts with what is allocated to them, spent and remaining."""
        with self._store.reading() as connection:
            return listing.analysts(connection, self.dataset.limit.rule)

    def summary(self) -> str:
        """Describe the data set, what is spent and remains, and the analysts."""
        return listing.summary(self.dataset, self._facts(), self.analysts())

    def _repr_html_(self) -> str:
        return listing.html(self.dataset, self._facts(), self.analysts())

    def _facts(self) -> list[tuple[str, str]]:
        with self._store.reading() as connection:
            return listing.facts(connection, self.dataset)

    @plot_method
    def plot(self, ax=None):
        """Plot the spending over time; needs matplotlib."""
        with self._store.reading() as connection:
            return listing.plot(connection, self.dataset, ax)

    def export(self, path) -> None:
        """Write everything in the ledger as one JSON file, which appears whole or not at all.

        It replaces an export of the same name.

        Raises
        ------
        ArgumentError
            For the path of the ledger, or of a file that SQLite keeps beside it, for one that does
            not end in ``.json``, and for a folder, or one that is not there.
        """
        target, own = file_path("path")(path), self.path.resolve()
        if target.resolve() in (own, *store.beside(own)):
            raise ArgumentError(
                f"expected different files for the ledger and its export, got {target}"
            )
        if target.suffix != ".json" or target.is_dir():
            raise ArgumentError(f"expected an export to be a file that ends in .json, got {target}")
        if not target.parent.is_dir():
            raise ArgumentError(f"there is no folder {target.parent} for the export {target.name}")
        with self._store.reading() as connection:
            listing.export(connection, target)

    def verify(self, head: str | None = None) -> Verification:
        """Recompute the audit's hashes, compare every row with it, and add up the totals anew.

        The triggers by which SQLite refuses to rewrite history must be as they were made, too.

        Parameters
        ----------
        head : str, optional
            The hash of an entry of the audit, as :meth:`summary` showed it at an earlier time. It
            must still be in the chain: who can write to the file could otherwise replace all of it.
        """
        head = None if head is None else checked_name("head", head)
        try:
            store.refuse_without_log(self.path)
            with self._store.reading() as connection:
                return verify(connection, head)
        except LedgerError as error:
            return Verification(0, "", (str(error),))
