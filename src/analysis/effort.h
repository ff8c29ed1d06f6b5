// SPDX-License-Identifier: MIT
//
// How many operations an invocation of a region makes: those on floats, an fma being two, and in a
// region without floats those on integers. Loops count as often as their bounds say, which may
// depend on a launch's parameters and lengths; conditions count as taken, so that it is an upper
// bound. Loops that end by what they compute (while, break) have no such number, and it is not
// known. Mathematical functions count what they are made of. Read-only once made: any thread.
#ifndef VYRE_ANALYSIS_EFFORT_H
#define VYRE_ANALYSIS_EFFORT_H

#include "ir/program.h"

typedef struct effort effort;

effort *effort_new(const vyre_program *program); // NULL when out of memory
void effort_free(effort *w);                     // NULL is fine

// False when it is not known. `args` fit the program; nothing is allocated.
bool effort_of_invocation(const effort *w, uint32_t region, const vyre_dispatch_args *args,
                          uint64_t *operations);

#endif
