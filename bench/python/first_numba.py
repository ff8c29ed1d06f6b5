# SPDX-License-Identifier: MIT
"""The same with numba."""
import numba


@numba.njit
def saxpy(a, x, y):
    for i in range(len(x)):
        y[i] = a * x[i] + y[i]


@numba.njit
def other(a, x, y):
    for i in range(len(x)):
        y[i] = a * x[i] * x[i] - y[i]
