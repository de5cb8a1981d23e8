"""Compute means of logistic and Poisson regressions in compiled loops, each row by itself.

They are made of sums, products and quotients alone, which are rounded alike in vector units and in
single ones: a library's exponential need not be, and a row would depend on its neighbours.
"""

import numba
import numpy as np

# Beyond so many logits a probability is 0 or 1 in doubles.
_FARTHEST = 40.0
# exp(-t) is the 2^10th power of exp(-t / 2^10), of which a short series has an error of 1e-14.
_HALVINGS = 10


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _decay(size):
    """Return exp(-size), 0 <= size <= 40."""
    size /= 2.0**_HALVINGS
    small = 1 / (1 + size * (1 + size / 2 * (1 + size / 3 * (1 + size / 4 * (1 + size / 5)))))
    for _ in range(_HALVINGS):
        small *= small
    return small


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _predictors(center, columns, eta):
    """Return center + a'eta, (m,), for rows a as columns (p, m) and eta (p,).

    The center is a number, or one for each row (m,).
    """
    out = np.empty(columns.shape[1])
    out[:] = center
    for k in range(len(columns)):
        column, factor = columns[k], eta[k]
        for i in range(len(out)):
            out[i] += column[i] * factor
    return out


@numba.njit(cache=True, nogil=True, error_model="numpy")
def probabilities(center, columns, eta):
    """Return 1 / (1 + exp(-center - a'eta)), (m,), for rows a as columns (p, m) and eta (p,)."""
    out = _predictors(center, columns, eta)
    for i in range(len(out)):
        small = _decay(min(abs(out[i]), _FARTHEST))
        larger = 1 / (1 + small)
        out[i] = larger if out[i] >= 0 else small * larger
    return out


@numba.njit(cache=True, nogil=True, error_model="numpy")
def rates(center, columns, eta, most):
    """Return exp(center + a'eta), (m,), its logarithm cut to [-40, ``most``]; ``most`` <= 40."""
    out = _predictors(center, columns, eta)
    for i in range(len(out)):
        small = _decay(min(abs(out[i]), _FARTHEST if out[i] < 0 else most))
        out[i] = small if out[i] < 0 else 1 / small
    return out
