"""Attempts to refute privacy guarantees by experiment, on made-up tables."""

from dpstats.auditing.audit import Audit, audit

__all__ = ["Audit", "audit"]
