"""Charge a ledger for a call, and record whether the call was released or failed."""

from contextlib import suppress

from dpstats.errors import LedgerError
from dpstats.ledger.records import insert, update
from dpstats.ledger.store import Store
from dpstats.privacy import Charge
from dpstats.results.store.calls import to_text


class LedgerCharge(Charge):
    """Hold a reserved request, or an equal one released before, whose results are in ``results``.

    Parameters
    ----------
    store : Store
    request : int
        The request's number.
    actor : str
        Who is named in the audit.
    results : DPResults, DPGroupResults or dict, optional
        The stored results of an equal request.
    """

    def __init__(self, store: Store, request: int, actor: str, results=None):
        self.store, self.request, self.actor, self.results = store, request, actor, results

    def release(self, results) -> None:
        """Store the results; on LedgerError, where that fails, they must not be shown."""
        text = to_text(results)
        try:
            with self.store.writing(settled=False) as connection:
                who = self.actor, "released"
                insert(connection, "releases", *who, id=self.request, result=text)
                update(connection, "requests", self.request, *who, state="released")
        except LedgerError as error:
            raise LedgerError(
                f"the result of request {self.request} could not be stored, so it is not shown and "
                f"its budget counts as spent: {error}"
            ) from None

    def fail(self) -> None:
        """Record the failure; where that fails the call remains reserved, which costs as much."""
        with suppress(LedgerError), self.store.writing(settled=False) as connection:
            update(connection, "requests", self.request, self.actor, "failed", state="failed")
