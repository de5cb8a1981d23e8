"""Randomness for releases: queries, the source of random numbers and the one door to it."""

from dpstats.noise.noise import Noise

__all__ = ["Noise"]
