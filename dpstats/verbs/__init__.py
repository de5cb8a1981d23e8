"""Offer what a user does to a table, a file for each function.

They check arguments through ``call`` and hand the call to ``run``, with no numbers here.
"""
