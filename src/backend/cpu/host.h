// SPDX-License-Identifier: MIT
//
// The host CPU, described without LLVM: brand and feature bits from CPUID, or from
// what the system says of other CPUs. Any thread.
#ifndef VYRE_BACKEND_CPU_HOST_H
#define VYRE_BACKEND_CPU_HOST_H

#include <stdbool.h>
#include <stdint.h>

enum { HOST_TEXT = 192 };

// "AMD EPYC 7R13 / 178bfbff-...": different for any two CPUs that want different code.
void host_describe(char out[HOST_TEXT]);
// Whether it has all instructions of the level that a name of LLVM stands for: x86-64-v2 to
// x86-64-v4. False for any other name.
bool host_runs(const char *cpu);
// The marketing name alone, trimmed.
void host_name(char out[HOST_TEXT]);
// Bytes that its last cache holds, or what is usual where nobody says; at most 64 MiB, because a
// larger one is shared by many.
uint64_t host_cache_bytes(void);

#endif
