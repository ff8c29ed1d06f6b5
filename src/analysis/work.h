// SPDX-License-Identifier: MIT
//
// What the amount of work depends on besides the bytes that are bound: the parameters and lengths
// of buffers that the bounds of loops and the grids are computed from. It is for telling dispatches
// apart by what they cost; a dependence that is missed costs time, nothing else. Reads the program
// only: any thread.
#ifndef VYRE_ANALYSIS_WORK_H
#define VYRE_ANALYSIS_WORK_H

#include "ir/program.h"

enum { WORK_INPUTS = 6 };

typedef struct work_input {
  bool is_length; // of a buffer that is bound; otherwise a parameter
  uint32_t index; // of the parameter, or of the buffer
} work_input;

// Fills up to WORK_INPUTS, parameters first, and returns how many. Lengths count only where more
// than one of them is free, because one alone is what the bytes say.
uint32_t work_inputs(const vyre_program *program, work_input out[WORK_INPUTS]);

#endif
