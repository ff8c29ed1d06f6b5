// SPDX-License-Identifier: MIT
//
// Between the CPU backend and its code generator. The generator lives in a module of its own
// (libvyre-llvm.so), which is the only part that links LLVM: it is loaded when something has to be
// compiled, and never when the object cache has the answer. It turns a program into relocatable ELF
// objects with one function per region; loading, caching, threads and timeouts are the
// backend's.
#ifndef VYRE_BACKEND_CPU_CODEGEN_H
#define VYRE_BACKEND_CPU_CODEGEN_H

#include "backend/launch.h"
#include "base/pool.h"
#include "base/strbuf.h"

// What a kernel sees of a dispatch. The layout is known to generated code: see cpu_abi_version.
typedef struct cpu_args {
  const uint64_t *params;      // canonical bits
  const bound_buffer *buffers; // {data, length}; transient ones are allocated by now
  uint64_t grid[3];
  uint32_t workgroup[3];
  volatile uint32_t *stop; // not 0: give up soon. Polled at back edges of loops that are not
                           // provably short.
  uint32_t is_alone;       // not 0: one thread runs the whole region, so atomics need no lock
  uint32_t streams;        // not 0: what the region touches is more than the caches hold
} cpu_args;

enum { CPU_ABI_VERSION = 8 };

enum { CPU_RAN = 0, CPU_STOPPED = 1, CPU_DIVERGED = 2 };

// Runs part of a region. Elastic regions: invocations lo <= id < hi along each axis, any box inside
// the grid. Rigid regions: whole workgroups, lo <= group id < hi. `scratch` is private to the
// calling thread, 64-byte aligned, of the size that the generator asked for, with any content.
// Returns CPU_RAN, CPU_STOPPED or CPU_DIVERGED.
typedef int (*cpu_kernel)(const cpu_args *args, const uint32_t lo[3], const uint32_t hi[3],
                          void *scratch);

// What was measured of a machine (gathers.h): its gathers are slower than one load after the other,
// they are faster where lanes are chosen by a mask, or always.
typedef enum cpu_gathers { GATHERS_NEVER, GATHERS_CHOSEN, GATHERS_ALWAYS } cpu_gathers;

typedef struct cpu_options {
  const char *cpu;      // LLVM's name; NULL: the host's
  const char *features; // LLVM's feature string; NULL: the host's
  uint32_t width;       // lanes; 0: chosen per region
  cpu_gathers gathers;  // when its gathers are faster than one load after the other
  vyre_tier tier;
  const volatile uint32_t *stop; // not 0: give up soon; may be NULL
  bool want_llvm, want_asm;      // the text, for `vyre compile --emit`, and no object
  bool debug_lines;              // DWARF lines into `source_name`
  const char *source_name;
  // pool_run, for programs of many regions: the module has none of its own. NULL: one thread.
  _Bool (*run)(uint32_t threads, uint64_t count, uint64_t batch, pool_work work, void *context);
  uint32_t threads; // for it
} cpu_options;

typedef struct cpu_region_code {
  char symbol[64];        // the function's name in the object: "vyre_<n>_<region>", cut to fit
  uint32_t width;         // lanes used
  uint32_t rows;          // that are run at once; 1: each for itself
  bool packs;             // each box copies what its rows share: high ones copy less
  uint32_t lanes;         // the axis of the program that is this code's x, and the other way round
  bool is_merged;         // an invocation is a workgroup of the program: its grid counts these
  uint32_t tile_hint[3];  // for elastic regions: a good box, e.g. rows that are jammed; 0: no wish
  uint64_t scratch_bytes; // shared arrays, values kept over barriers, private arrays
  uint32_t part;          // the object that has it
} cpu_region_code;

typedef struct cpu_code {
  void *object; // ELF relocatables, one behind the other, malloc'ed
  size_t object_size;
  uint64_t *part_bytes; // of each, malloc'ed
  uint32_t part_count;
  cpu_region_code *regions; // one per region, malloc'ed
  uint32_t region_count;
  char *remarks; // what was vectorised, versioned, jammed, and what was declined and why; one line
                 // each: "region: note". malloc'ed
  char *llvm, *assembly; // when asked for; malloc'ed
} cpu_code;

// The module's table, found under this name with dlsym.
#define CPU_CODEGEN_SYMBOL "vyre_cpu_codegen"

typedef struct cpu_codegen {
  uint32_t abi_version;
  // "19.1.7": part of the cache key.
  const char *(*llvm_version)(void);
  // The host's CPU name and features as LLVM spells them; malloc'ed strings.
  void (*host)(char **cpu, char **features);
  // Any thread, also at once. The program is lowered here (lower/lower.h).
  vyre_status (*compile)(const vyre_program *program, const cpu_options *options, cpu_code *out,
                         vyre_error *error);
} cpu_codegen;

void cpu_code_free(cpu_code *code); // in the backend, not the module

#endif
