# SPDX-License-Identifier: MIT
"""The kernel whose first answer, and whose call, is measured."""
import vyre


@vyre.jit
def saxpy(a: vyre.f32, x: vyre.f32[:], y: vyre.f32[:]):
    for i in vyre.parallel(len(x)):
        y[i] = a * x[i] + y[i]


@vyre.jit
def other(a: vyre.f32, x: vyre.f32[:], y: vyre.f32[:]):
    for i in vyre.parallel(len(x)):
        y[i] = a * x[i] * x[i] - y[i]
