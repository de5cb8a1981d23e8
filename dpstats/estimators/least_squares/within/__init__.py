"""Fit with absorbed effects: least squares on deviations from means of groups or persons.

Effects that are released, a coefficient a level, are in ``factors``.
"""
