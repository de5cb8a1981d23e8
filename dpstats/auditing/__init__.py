"""Try to refute privacy guarantees by experiment, on synthetic tables."""

from dpstats.auditing.audit import Audit, audit

__all__ = ["Audit", "audit"]
