"""Fit tails to noisy histograms, and add up what limits cut off, in compiled loops."""

import math

import numba
import numpy as np


@numba.njit(cache=True, nogil=True, error_model="numpy")
def first_hidden(counts, edges, start, clear):
    """Return the first bin from ``start`` on with at most ``clear`` rows, or the last one."""
    for k in range(1, len(edges)):
        if edges[k - 1] >= start and counts[k] <= clear:
            return k
    return len(edges)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def cells(low, high, indices, number):
    """Divide a range on the log scale: typical sizes (k,), and the part of each tail, (h, k).

    A tail is Pareto from ``low`` to ``high`` with one of the ``indices`` (h,).
    """
    ends, parts = np.empty(number + 1), np.empty((len(indices), number))
    step = math.log(high / low) / number
    for k in range(number + 1):
        ends[k] = low * math.exp(k * step)
    ends[number] = high
    for h in range(len(indices)):
        total = 0.0
        for k in range(number):
            parts[h, k] = math.exp(-indices[h] * step * k) - math.exp(-indices[h] * step * (k + 1))
            total += parts[h, k]
        parts[h] /= total
    return np.sqrt(ends[1:] * ends[:-1]), parts


@numba.njit(cache=True, nogil=True, error_model="numpy")
def posterior(counts, edges, first, end, stands_out, deviation, prior, tail, numbers):
    """Weigh tails by a noisy histogram: rows of each bin and cell (h, k), and probabilities (h,).

    Bins before ``first``, and later ones with more than ``stands_out`` rows, are taken as they are.
    The others up to the size ``end`` have the rows of a tail: ``tail`` has the sizes (m,) and the
    parts (j, m) of its cells for each index, of chances ``prior`` (j,), and so many ``numbers`` of
    rows are tried.
    """
    (sizes, parts), bins = tail, len(edges) + 1
    seen, of_bins, others, hidden = np.zeros(bins), np.zeros((len(parts), bins)), 0, 0.0
    free = np.zeros(bins, np.bool_)
    for k in range(bins):
        if k < first or (counts[k] > stands_out and k > first):
            seen[k] = max(counts[k], 0.0)
        elif (edges[k - 1] if k else 0.0) < end:
            free[k], others, hidden = True, others + 1, hidden + counts[k]
    place = np.searchsorted(edges, sizes, "right")
    for m in range(len(sizes)):
        for j in range(len(parts)):
            of_bins[j, place[m]] += parts[j, m]
    most = max(hidden, 0.0) + 3 * deviation * math.sqrt(others)
    tails, h = numbers * len(parts), 0
    rows, weights, unlikely = np.empty((tails, bins + len(sizes))), np.empty(tails), np.empty(tails)
    for i in range(numbers):
        number = most * i / (numbers - 1)
        number = 0.0 if number < 0.5 else number  # there are no parts of a row
        for j in range(len(parts)):
            missed = 0.0
            for k in range(bins):
                if free[k]:
                    expected = number * of_bins[j, k]
                    missed += (counts[k] - expected) ** 2 / (deviation**2 + expected)
            unlikely[h], weights[h] = 0.5 * missed, prior[j] / (number + deviation)
            rows[h, :bins] = seen
            rows[h, bins:] = number * parts[j]
            h += 1
    weights *= np.exp(unlikely.min() - unlikely)
    return rows, weights / weights.sum()


@numba.njit(cache=True, nogil=True, error_model="numpy")
def fitted(counts, edges, deviation, limits, most, farthest, indices, prior, tried):
    """Fit a tail to noisy ``counts`` (k + 1,) in the bins between ``edges`` (k,).

    ``limits`` are the size that the tail begins at, and of how many deviations of the noise counts
    are hidden up to and stand out from. It ends at ``most``, or at ``farthest``. ``tried`` are how
    many cells it has in each octave, and how many numbers of rows are tried.

    Returns
    -------
    tuple of numpy.ndarray
        Rows by hypothesis and size (h, m), sizes (m,) and probabilities of hypotheses (h,).
    """
    (start, clear, stands_out), (points, numbers), bins = limits, tried, len(edges) + 1
    first = first_hidden(counts, edges, start, clear * deviation)
    low, last = edges[first - 1], edges[-1]
    end = min(max(most, 2 * low), farthest)
    tail = cells(low, end, indices, max(int(points * math.log2(end / low)), 2))
    found, weights = posterior(
        counts, edges, first, end, stands_out * deviation, deviation, prior, tail, numbers
    )
    sizes = np.empty(found.shape[1])
    sizes[0] = edges[0] / 2
    sizes[1 : bins - 1] = np.sqrt(edges[1:] * edges[:-1])
    sizes[bins - 1] = max(1.5 * last, math.sqrt(last * min(most, farthest)))
    sizes[bins:] = tail[0]
    return found, sizes, weights


@numba.njit(cache=True, nogil=True, error_model="numpy")
def rows_below(rows, sizes, limits):
    """Add up ``rows`` (k,) whose ``sizes`` (k,) are below each of ``limits`` (m,)."""
    found = np.zeros(len(limits))
    for k in range(len(sizes)):
        for m in range(len(limits)):
            found[m] += rows[k] if sizes[k] < limits[m] else 0.0
    return found


@numba.njit(cache=True, nogil=True, error_model="numpy")
def squares_beyond(rows, sizes, limits):
    """Add up over ``rows`` (k,) by what squares of ``sizes`` exceed those of ``limits`` (m,)."""
    found = np.zeros(len(limits))
    for k in range(len(sizes)):
        for m in range(len(limits)):
            found[m] += rows[k] * max(sizes[k] * sizes[k] - limits[m] * limits[m], 0.0)
    return found


@numba.njit(cache=True, nogil=True, error_model="numpy")
def squared_losses(counts, sizes, weights, limits, most, systematic):
    """Return the expected squared norm of what each limit cuts off, (m,).

    With the rows ``counts`` (h, k) of ``sizes`` (k,), those beyond a limit L lose the sum of
    (size - L)^2 and the square of ``systematic`` times the sum of size - L, together at most
    ``most`` (m,). Hypotheses have the probabilities ``weights`` (h,).
    """
    order, found = np.argsort(-sizes), np.empty(len(limits))
    sums = np.zeros((len(sizes) + 1, 3, len(counts)))
    for k in range(len(sizes)):
        size, before, after = sizes[order[k]], sums[k], sums[k + 1]
        for h in range(len(counts)):
            rows = counts[h, order[k]]
            after[0, h] = before[0, h] + rows
            after[1, h] = before[1, h] + rows * size
            after[2, h] = before[2, h] + rows * size * size
    for m in range(len(limits)):
        beyond = 0
        while beyond < len(sizes) and sizes[order[beyond]] > limits[m]:
            beyond += 1
        found[m] = _expected_loss(sums[beyond], weights, limits[m], most[m], systematic)
    return found


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def _expected_loss(sums, weights, limit, most, systematic):
    """Return what a limit cuts off, from the sums of rows, sizes and squares beyond it, (3, h)."""
    total = 0.0
    for h in range(len(weights)):
        excess = sums[1, h] - limit * sums[0, h]
        lost = sums[2, h] - limit * (sums[1, h] + excess) + (systematic * excess) ** 2
        total += weights[h] * (lost if lost < most else most)
    return total


@numba.njit(cache=True, nogil=True, error_model="numpy")
def least_costly(counts, sizes, weights, rows, limits, usable, noise, most, systematic):
    """Return the place of the limit with the least expected error, and what it leaves whole.

    ``rows`` (k,) are those that are expected of each size. Of the ``limits`` (m,) those are
    ``usable`` that are as long as its first number and leave at least the part of rows of its
    second whole; where none is the place is -1. The ``noise`` is that on the squared norm for a
    limit of 1; the other part of the error is what is cut off, of which at most ``most`` counts,
    both over the square of the part that is left whole.
    """
    whole = rows_below(rows, sizes, limits) / max(rows.sum(), 1.0)
    lost = squared_losses(counts, sizes, weights, limits, most * whole**2, systematic)
    best, place = np.inf, -1
    for m in range(len(limits)):
        if limits[m] >= usable[0] and whole[m] >= usable[1]:
            error = (noise * limits[m] ** 2 + lost[m]) / whole[m] ** 2
            if error < best or place < 0:
                best, place = error, m
    return place, whole[place]
