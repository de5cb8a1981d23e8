"""Standardise and whiten rows, given as columns, in compiled loops: each row by itself.

A row's result is the same to the last bit whatever rows stand beside it, which a matrix product
of a whole batch does not promise: the operations on a row and their order are written out, and
several rows at a time go through them. What multiplies and adds is rounded once, by name, so that
no compiler has a choice.
"""

from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

# Rows that go through all operations while their numbers are in the nearest cache.
_TILE = 256


def _multiply_add(typing_context, a, b, c):
    """Return a b + c, rounded once (the fusedMultiplyAdd of IEEE 754)."""

    def generate(context, builder, signature, arguments):
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), generate


_fused: Any = intrinsic(_multiply_add)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def times_inverse(map_, root):
    """Multiply a map (p, d) by the inverse of ``root`` (d, d).

    ``root`` is lower triangular with a positive diagonal. The order of operations is fixed here
    too, so that all rows meet one map, wherever it is computed.
    """
    out = map_.copy()
    for k in range(len(out)):
        for j in range(len(root) - 1, -1, -1):
            value = out[k, j]
            for l in range(j + 1, len(root)):
                value = _fused(-out[k, l], root[l, j], value)
            out[k, j] = value / root[j, j]
    return out


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _standardised(given, center, scale, far, out):
    """Write (given - center) / scale into the first of ``out``, cut to [-far, far]; NaN is -far."""
    units = 1 / scale
    for i in range(len(given)):
        value = (given[i] - center) * units
        value = value if value > -far else -far
        out[i] = value if value < far else far


@numba.njit(cache=True, nogil=True)
def _add_products(target, numbers, factors):
    """Add to ``target`` the sum of ``numbers`` (d, T) times ``factors`` (d,), one after another.

    Four at a time, which saves reading and writing the target.
    """
    fours = len(factors) // 4 * 4
    for j in range(0, fours, 4):
        a, b, c, d = numbers[j], numbers[j + 1], numbers[j + 2], numbers[j + 3]
        u, v, w, x = factors[j], factors[j + 1], factors[j + 2], factors[j + 3]
        for i in range(len(target)):
            value = _fused(b[i], v, _fused(a[i], u, target[i]))
            target[i] = _fused(d[i], x, _fused(c[i], w, value))
    for j in range(fours, len(factors)):
        number, factor = numbers[j], factors[j]
        for i in range(len(target)):
            target[i] = _fused(number[i], factor, target[i])


@numba.njit(cache=True, nogil=True, error_model="numpy")
def whitened(codes, given, start, to, far, out):
    """Write whitened rows into ``out`` (p, m) and return their squared norms (m,).

    The rows are m from ``start`` on of ``codes`` (K, n) and of the numbers ``given`` (d, n), which
    are taken about ``center`` (d,), in units of ``scale`` (d,), and cut to [-far, far]; NaN counts
    as -far. A row is the sum of the columns of ``codes_to`` (p, L) that its codes name, block b
    from ``offsets[b]`` on, and of ``numbers_to`` (p, d) times its numbers. Without codes it starts
    from the only column of ``codes_to``. ``to`` is these five in a plain tuple: numba's files on
    disk would name a class by its module, and stop every fit once it moves.
    """
    offsets, center, scale, codes_to, numbers_to = to
    blocks, squares = len(offsets), np.zeros(out.shape[1])
    numbers, places = np.empty((len(center), _TILE)), np.empty((blocks, _TILE), np.int64)
    for first in range(0, out.shape[1], _TILE):
        rows = slice(start + first, start + min(first + _TILE, out.shape[1]))
        square = squares[first : first + _TILE]
        for b in range(blocks):
            code, place = codes[b, rows], places[b]
            for i in range(len(code)):
                place[i] = offsets[b] + int(code[i])
        for j in range(len(center)):
            _standardised(given[j, rows], center[j], scale[j], far, numbers[j])
        for k in range(len(out)):
            target = out[k, first : first + _TILE]
            target[:] = 0.0 if blocks else codes_to[k, 0]
            for b in range(blocks):
                place, values = places[b], codes_to[k]
                for i in range(len(target)):
                    target[i] += values[place[i]]
            _add_products(target, numbers, numbers_to[k])
            for i in range(len(target)):
                square[i] = _fused(target[i], target[i], square[i])
    return squares


@numba.njit(cache=True, nogil=True)
def residuals(response, center, scale, far, columns, theta):
    """Return (response - center) / scale less the fit ``theta`` (p,) of ``columns`` (p, m).

    The response in these units is cut to [-far, far] first, and NaN counts as -far.
    """
    out = np.empty(len(response))
    _standardised(response, center, scale, far, out)
    for k in range(len(columns)):
        column, factor = columns[k], -theta[k]
        for i in range(len(out)):
            out[i] = _fused(column[i], factor, out[i])
    return out
