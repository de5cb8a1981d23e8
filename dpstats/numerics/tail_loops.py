"""Add up over the hypotheses of a tail what limits cut off, in a compiled loop."""

import numba
import numpy as np


@numba.njit(cache=True, nogil=True, error_model="numpy")
def squared_losses(counts, sizes, weights, limits, most, systematic):
    """Return the expected squared norm of what each limit cuts off, (m,).

    With the rows ``counts`` (h, k) of ``sizes`` (k,), largest first, those beyond a limit L lose
    the sum of (size - L)^2 and the square of ``systematic`` times the sum of size - L, together at
    most ``most`` (m,). Hypotheses have the probabilities ``weights`` (h,).
    """
    beyond, found = np.zeros(len(limits), np.int64), np.zeros(len(limits))
    for m in range(len(limits)):
        while beyond[m] < len(sizes) and sizes[beyond[m]] > limits[m]:
            beyond[m] += 1
    rows, sums = np.zeros(len(sizes) + 1), np.zeros(len(sizes) + 1)
    squares = np.zeros(len(sizes) + 1)
    for h in range(len(counts)):
        if weights[h] == 0.0:
            continue
        for k in range(len(sizes)):
            moved = counts[h, k] * sizes[k]
            rows[k + 1] = rows[k] + counts[h, k]
            sums[k + 1] = sums[k] + moved
            squares[k + 1] = squares[k] + moved * sizes[k]
        for m in range(len(limits)):
            k, limit = beyond[m], limits[m]
            excess = sums[k] - limit * rows[k]
            lost = squares[k] - limit * (sums[k] + excess)
            found[m] += weights[h] * min(lost + (systematic * excess) ** 2, most[m])
    return found
