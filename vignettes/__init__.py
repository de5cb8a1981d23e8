"""Longer examples of dpstats, each with what it prints."""
