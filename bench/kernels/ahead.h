// SPDX-License-Identifier: MIT
//
// Kernels that a peer compiled ahead of time: a library that `make peers` builds from bench/peers,
// with functions of native.h's arguments under names such as peer_fast_one_saxpy. Opened at run
// time, stays open.
#ifndef VYRE_BENCH_AHEAD_H
#define VYRE_BENCH_AHEAD_H

#include "kernels/native.h"

#include <stdbool.h>

typedef struct ahead {
  void *library; // NULL: it is not there
} ahead;

ahead ahead_open(const char *folder, const char *file); // of `make peers`
// NULL: the peer has no such kernel.
native_kernel ahead_find(ahead a, native_id id, bool is_fast, bool on_all_cores);

#endif
