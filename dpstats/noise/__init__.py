"""Draw the noise of releases: queries, the random source and the one class that draws.

What is asked, and how far one person moves it, is stated by who asks.
"""

from dpstats.noise.calibration import noise_deviation
from dpstats.noise.drawn_ahead import drawn_ahead
from dpstats.noise.multiprecision import Objective
from dpstats.noise.noise import Noise
from dpstats.noise.noisy_values import NoisyValues
from dpstats.noise.queries import (
    BallQuery,
    DepthQuery,
    ObjectiveQuery,
    PosteriorQuery,
    Query,
    RankQuery,
    RankTable,
    ScoreQuery,
    SmoothQuery,
)

__all__ = [
    "BallQuery",
    "DepthQuery",
    "Noise",
    "NoisyValues",
    "Objective",
    "ObjectiveQuery",
    "PosteriorQuery",
    "Query",
    "RankQuery",
    "RankTable",
    "ScoreQuery",
    "SmoothQuery",
    "drawn_ahead",
    "noise_deviation",
]
