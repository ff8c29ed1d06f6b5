// SPDX-License-Identifier: MIT
//
// The functions of this variant that are tuned, by number.
#include "kernels/tuned/tuned.h"

extern const native_kernel NAME(tuned)[NATIVE_COUNT];
const native_kernel NAME(tuned)[NATIVE_COUNT] = {
#define X(name) [NATIVE_##name] = TUNED(name),
    TUNED_KERNELS(X)
#undef X
};
