// SPDX-License-Identifier: MIT
//
// When this machine's gathers are faster than one load after the other. CPUs that have the
// instruction differ in that by their make, and by microcode against leaks, which no name and no
// feature bit tells: it is measured, once for each machine and kept with the compiled code, so that
// every process makes the same code. Any thread.
#ifndef VYRE_BACKEND_CPU_GATHERS_H
#define VYRE_BACKEND_CPU_GATHERS_H

#include "backend/cpu/codegen.h"

// VYRE_CPU_GATHERS says it without looking: never, chosen or always.
cpu_gathers host_gathers(void);

#endif
