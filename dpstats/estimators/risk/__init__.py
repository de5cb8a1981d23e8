"""Minimise a penalised empirical risk, or sample near its minimum.

Steps whose limits are released from the rows are in ``newton``.
"""
