"""Keep the privacy budget of a data set in one file, over years, analysts and processes.

A call goes through the states requested -> approved (where the data set wants it) -> reserved
-> released or failed. It is reserved before a row is read and its result is stored before it is
shown, each in a transaction of its own, so that a crash leaves "reserved", which counts as spent.
What calls cost together is worked out in ``privacy``.
"""

from dpstats.ledger.accounts import Asked
from dpstats.ledger.ledger import Ledger
from dpstats.ledger.verification import Verification

__all__ = [
    "Asked",
    "Ledger",
    "Verification",
]
