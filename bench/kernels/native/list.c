// SPDX-License-Identifier: MIT
//
// The functions of this variant, by number.
#include "kernels/native.h"

extern const native_kernel NAME(table)[NATIVE_COUNT];
const native_kernel NAME(table)[NATIVE_COUNT] = {
#define X(name) NAME(name),
    NATIVE_KERNELS(X)
#undef X
};
