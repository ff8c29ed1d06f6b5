// SPDX-License-Identifier: MIT
//
// A program with other values of what is declared to be tunable: its own tunables, or macros of the
// source that it was made from, which is kept for that. Any thread.
#ifndef VYRE_FRONT_ORIGIN_H
#define VYRE_FRONT_ORIGIN_H

#include "front/front.h"
#include "ir/program.h"

// Keeps what a program was made from, when that declares tunables; before others see the program.
// Without memory nothing is kept.
void origin_keep(vyre_program *program, const char *language, const front_source *source,
                 const vyre_source_options *options);

// The program with a configuration such as "TILE=8 UNROLL=2", which says a value for each (no value
// has a space in it).
vyre_status origin_configure(const vyre_program *program, const char *configuration,
                             vyre_program **out, vyre_error *error);

#endif
