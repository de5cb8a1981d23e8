"""Write a release as a folder that output checkers, archives and registries read.

What results do to be stored and recorded is in ``published``, and what JSON they become in
``store``.
"""

from dpstats.results.record.published import Published

__all__ = ["Published"]
