// SPDX-License-Identifier: MIT
//
// The ways in which a program can be compiled: without passes, with those that its shape selects,
// with all. The runtime times them in turn and keeps the fastest; so does the bench.
#ifndef VYRE_BENCH_WAYS_H
#define VYRE_BENCH_WAYS_H

#include <vyre/vyre.h>

typedef double (*ways_timer)(void *context, vyre_executable *executable); // ns of one run

// The fastest for the CPU; the caller releases it. NULL: `error` says why. With `label` the time of
// each is told on stderr.
vyre_executable *ways_fastest(vyre_program *program, uint32_t threads, ways_timer time,
                              void *context, const char *label, vyre_error *error);

#endif
