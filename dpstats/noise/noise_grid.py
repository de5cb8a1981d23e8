"""Put exact values on a grid that is fine beside their noise, so that integers can be drawn."""

import math

import numpy as np

from dpstats.noise.queries import Query

# Noise is drawn with a scale of about 2^40 grid units: fine enough that a discrete
# Gaussian is a continuous one to within double precision, coarse enough for int64.
_SCALE_BITS = 40
# Converts any integers to Python integers, which cannot overflow.
_integers = np.frompyfunc(int, 1, 1)


def on_noise_grid(
    query: Query, scale: float, sensitivity: float, gaussian: bool
) -> tuple[np.ndarray, float, float]:
    """Return values, noise scale and unit on a grid where the scale is about 2^40 units.

    A finer grid is exact. On a coarser one each value is rounded down to a multiple of
    g, which moves the difference of neighbours by less than one new unit per value: the
    sensitivity grows by m in L1 and sqrt(m) in L2, and the scale with it.
    """
    shift = _SCALE_BITS - math.frexp(scale)[1] + 1
    values = np.asarray(_integers(np.array(query.values, dtype=object)))
    if shift >= 0:
        return values << shift, math.ldexp(scale, shift), query.unit / 2**shift
    rounded = values.shape[-1]
    rounding = math.sqrt(rounded) if gaussian else rounded
    inflation = 1 + math.ldexp(rounding, -shift) / sensitivity
    return (
        values >> -shift,
        math.ldexp(scale, shift) * inflation,
        math.ldexp(query.unit, -shift),
    )
