"""Reporting private regressions: a wage equation from the plan to the published table."""
