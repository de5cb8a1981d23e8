"""Carry the result of adding noise: the noisy values and the record of their noise."""

from dataclasses import dataclass

import numpy as np

from dpstats.privacy import Event


@dataclass(frozen=True)
class NoisyValues:
    """Hold released values together with the event that records the noise on them.

    Parameters
    ----------
    values : numpy.ndarray of float64
        One noisy number per number of the query, in the query's natural units.
    event : Event
        The recorded draw: mechanism, sensitivity, scale and cost.
    """

    values: np.ndarray
    event: Event

    @property
    def scale(self) -> float:
        """Return the Laplace scale or the Gaussian standard deviation, in natural units."""
        return self.event.scale

    @property
    def deviation(self) -> float:
        """Return the standard deviation of the noise, in natural units."""
        return self.event.deviation
