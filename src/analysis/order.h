// SPDX-License-Identifier: MIT
//
// Whether what a program leaves may depend on the order in which invocations run: somebody looks at
// what an atomic operation found, exchanges, adds floats, or two kinds of atomics meet.
// Two right answers of such a program may differ. Reads the program only: any thread.
#ifndef VYRE_ANALYSIS_ORDER_H
#define VYRE_ANALYSIS_ORDER_H

#include "ir/program.h"

bool order_matters(const vyre_program *program);

#endif
