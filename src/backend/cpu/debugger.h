// SPDX-License-Identifier: MIT
//
// Tells debuggers and profilers about generated code: gdb through its JIT interface, perf through
// /tmp/perf-<pid>.map when VYRE_PERF_MAP is set. Any thread.
#ifndef VYRE_BACKEND_CPU_DEBUGGER_H
#define VYRE_BACKEND_CPU_DEBUGGER_H

#include <stddef.h>

// `image` is an ELF object whose section headers hold load addresses; it must live until the
// registration is removed. NULL when out of memory, which is harmless.
void *debugger_add(const unsigned char *image, size_t size);
void debugger_remove(void *registration);

#endif
