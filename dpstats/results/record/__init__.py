"""Write a release as a folder that output checkers, archives and registries read.

What JSON a result itself becomes is in ``store``.
"""
