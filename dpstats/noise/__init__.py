"""Randomness for releases: queries, the source of random numbers and the one door to it."""

from dpstats.noise.door import Noise

__all__ = ["Noise"]
