// SPDX-License-Identifier: MIT
//
// Kernels as a good C programmer tunes them, without intrinsics: restrict, loops that are told to
// be parallel, tiles that stay in caches and registers, several accumulators, private counters.
// Under OpenMP the outermost loop is shared among threads.
#ifndef VYRE_BENCH_TUNED_H
#define VYRE_BENCH_TUNED_H

#include "kernels/native.h"

#define TUNED_KERNELS(X) X(matmul)

#define TUNED(kernel) NATIVE_NAME(VARIANT, tuned_##kernel)
#define SIMD          _Pragma("omp simd")

#define X(name) void TUNED(name)(ARGUMENTS);
TUNED_KERNELS(X)
#undef X

#endif
