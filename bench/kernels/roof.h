// SPDX-License-Identifier: MIT
//
// What the machine gives at best: memory with and without streaming stores, and multiply-adds.
#ifndef VYRE_BENCH_ROOF_H
#define VYRE_BENCH_ROOF_H

#include <stdbool.h>
#include <stddef.h>

// Each on one thread, or on all with `all`; sizes are multiples of 64 floats, addresses of 64
// bytes.
void roof_read(const float *x, size_t count, bool all);
void roof_copy(const float *x, float *out, size_t count, bool streaming, bool all);
void roof_update(const float *x, float *y, size_t count, bool streaming, bool all);
void roof_triad(const float *x, const float *y, float *out, size_t count, bool streaming, bool all);

double roof_gflops(bool all); // of fused multiply-adds, measured

// Gigabytes in a second that arrays of 64 MiB give, each byte that is read or written counted once;
// the best of several.
typedef struct roof_memory {
  double read, copy, copy_streaming, update, update_streaming;
} roof_memory;

roof_memory roof_measure_memory(bool all);

#endif
