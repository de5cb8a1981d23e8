"""Fit the Lasso to many small tables in compiled loops; each depends on its own rows alone.

Sums run in a fixed order in plain loops: a library routine may round differently when its
input lies elsewhere in memory, and then a row could reach the votes of other subsets.
"""

import math

import numba
import numpy as np

# Each penalty is this multiple of the one before; at most this many penalties, and sweeps each.
_STEP, _STEPS, _SWEEPS = 0.8, 20, 30
# Sweeps stop when no coefficient moves by more than this multiple of the first penalty.
_TOLERANCE = 1e-4
# A column whose values differ by less than this, relative to the largest, is constant.
_CONSTANT = 1e-9


@numba.njit(cache=True, nogil=True)
def votes_of_subsets(X, y, edges, terms, count: int, k: int):
    """Add up each subset's votes for the k terms with the largest coefficients.

    Parameters
    ----------
    X : numpy.ndarray, shape (n, S)
    y : numpy.ndarray, shape (n,)
    edges : numpy.ndarray of int, shape (m + 1,)
        Subset i holds the rows edges[i] to edges[i + 1].
    terms : numpy.ndarray of int, shape (S,)
        Which of ``count`` terms each column belongs to.

    Returns
    -------
    numpy.ndarray of int, shape (count,)
        Whatever the rows, a subset votes for at most k different terms.
    """
    votes = np.zeros(count, np.int64)
    for subset in range(len(edges) - 1):
        start, stop = edges[subset], edges[subset + 1]
        columns = np.empty((X.shape[1], stop - start))
        for j in range(X.shape[1]):
            columns[j] = standardised(X[start:stop, j])
        weights = term_weights(columns, standardised(y[start:stop]), terms, count, k)
        for _ in range(k):
            best = np.argmax(weights)
            votes[best] += weights[best] > 0
            weights[best] = 0.0
    return votes


@numba.njit(cache=True, nogil=True)
def standardised(values):
    """Scale values (m,) to mean 0 and norm 1, or to all 0 when they are constant."""
    largest = 0.0
    for value in values:
        largest = max(largest, abs(value))
    scaled = np.zeros(len(values))
    if largest == 0:
        return scaled
    total = 0.0
    for i, value in enumerate(values):
        scaled[i] = value / largest
        total += scaled[i]
    scaled -= total / len(values)
    norm = math.sqrt(product(scaled, scaled))
    return scaled / norm if norm > _CONSTANT else np.zeros(len(values))


@numba.njit(cache=True, nogil=True)
def product(a, b):
    """Return the inner product of two vectors."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@numba.njit(cache=True, nogil=True)
def term_weights(columns, response, terms, count: int, k: int):
    """Return the largest |coefficient| of each term, at the first penalty with k active terms.

    Coordinate descent for ||response - columns' b||^2 / 2 + penalty ||b||_1 on columns
    (S, m) of norm 1 or 0, from the largest penalty with an active column downwards.
    """
    size = len(columns)
    gram = np.empty((size, size))
    residual_products = np.empty(size)  # inner products of the columns with the residual
    for j in range(size):
        residual_products[j] = product(columns[j], response)
        for l in range(j + 1):
            gram[j, l] = gram[l, j] = product(columns[j], columns[l])
    penalty = first = np.max(np.abs(residual_products)) if size else 0.0
    coefficients, weights = np.zeros(size), np.zeros(count)
    for _ in range(_STEPS):
        penalty *= _STEP
        for _ in range(_SWEEPS):
            if sweep(gram, residual_products, coefficients, penalty) <= _TOLERANCE * first:
                break
        weights[:] = 0.0
        for j in range(size):
            weights[terms[j]] = max(weights[terms[j]], abs(coefficients[j]))
        if np.sum(weights > 0) >= k:
            break
    return weights


@numba.njit(cache=True, nogil=True)
def sweep(gram, residual_products, coefficients, penalty: float):
    """Update every coefficient once, in place; return the largest change."""
    largest = 0.0
    for j in range(len(residual_products)):
        if gram[j, j] == 0:
            continue
        free = residual_products[j] + coefficients[j]
        new = math.copysign(max(abs(free) - penalty, 0.0), free)
        change = new - coefficients[j]
        if change != 0:
            coefficients[j] = new
            for l in range(len(residual_products)):
                residual_products[l] -= gram[j, l] * change
            largest = max(largest, abs(change))
    return largest
