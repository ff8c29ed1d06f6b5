// SPDX-License-Identifier: MIT
//
// From a program to loaded kernels: the object cache first, the code generator's module when the
// cache has nothing. The result is immutable and may be used by any thread.
#ifndef VYRE_BACKEND_CPU_COMPILE_H
#define VYRE_BACKEND_CPU_COMPILE_H

#include "backend/cache.h"
#include "backend/cpu/codegen.h"
#include "backend/cpu/loader.h"

typedef struct cpu_kernels {
  loaded_object **objects;
  uint32_t object_count;
  cpu_region_code *regions; // as the generator gave them, one per region
  cpu_kernel *functions;    // one per region
  uint32_t region_count;
  char *remarks;
  bool from_cache;
} cpu_kernels;

// What the machine and its user say of the code to make: VYRE_CPU, and whether gathers are fast.
vyre_status cpu_options_here(cpu_options *options, vyre_error *error);
// `options` may leave cpu and features NULL for the host's.
vyre_status cpu_kernels_get(const vyre_program *program, const cpu_options *options,
                            cpu_kernels *out, vyre_error *error);
// The same when the cache has it; VYRE_ERROR_UNSUPPORTED otherwise. Never loads LLVM.
vyre_status cpu_kernels_cached(const vyre_program *program, const cpu_options *options,
                               cpu_kernels *out, vyre_error *error);
void cpu_kernels_fini(cpu_kernels *kernels);

// What compiled code is kept under: all that it depends on, the host's CPU (host_describe)
// included.
void cpu_cache_key(cache_key *key, const char *host, const vyre_program *program,
                   const cpu_options *options);

// Whether there is a generator, without loading it.
vyre_status cpu_codegen_check(vyre_error *error);
// What the generator makes of a program, for those who want to see it. `code` begins as zeros.
vyre_status cpu_generate(const vyre_program *program, const cpu_options *options, cpu_code *code,
                         vyre_error *error);
// The generator itself. Loads LLVM.
vyre_status cpu_codegen_get(const cpu_codegen **out, vyre_error *error);

#endif
