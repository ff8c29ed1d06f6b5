// SPDX-License-Identifier: MIT
//
// A variant of a program for known arguments: parameters and buffer lengths become constants, which
// the passes then fold, unroll and tighten with. The interface stays, so the variant is bound as
// the original; it is right for these arguments only. Not a pass of the table, because it needs
// them.
#ifndef VYRE_OPT_SPECIALISE_H
#define VYRE_OPT_SPECIALISE_H

#include "ir/program.h"

// `lengths` has one entry per buffer, transient ones too. *out is a new reference, to the same
// program when nothing depends on the arguments.
vyre_status specialise_program(vyre_program *program, const uint64_t *params,
                               const uint64_t *lengths, vyre_program **out, vyre_error *error);

#endif
