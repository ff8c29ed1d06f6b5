// SPDX-License-Identifier: MIT
//
// What decides how a region is built and launched. Pure functions: any thread.
#ifndef VYRE_BACKEND_TRAITS_H
#define VYRE_BACKEND_TRAITS_H

#include "ir/program.h"

// Whether it has a loop that is not provably short: one that a time limit may have to end.
// Iterations of all its loops that an invocation makes at most; UINT64_MAX: nobody knows.
uint64_t traits_trips(const vyre_program *program, const region *r);
bool traits_is_long(const vyre_program *program, const region *r);
bool traits_has_barrier_in_loop(const vyre_program *program, const region *r);

#endif
