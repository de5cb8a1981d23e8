"""Try to refute privacy guarantees by experiment, on synthetic tables.

It proves nothing, and what a release reports does not depend on it.
"""

from dpstats.auditing.audit import Audit, audit

__all__ = ["Audit", "audit"]
