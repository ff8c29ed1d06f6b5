// SPDX-License-Identifier: MIT
//
// Runs kernels on vyre and on its peers, in turn, on the same data, and keeps the medians. A
// process measures one phase: with all of it on one core, or with all cores.
#ifndef VYRE_BENCH_RUN_H
#define VYRE_BENCH_RUN_H

#include "kernels/table.h"

typedef enum phase { PHASE_ONE, PHASE_ALL, PHASES } phase;

// Who runs; exact ones compute what is written, fast ones may reassociate and approximate.
typedef enum peer {
  VYRE,        // with the threads of the phase
  VYRE_FAST,   // fast(4)
  VYRE_SINGLE, // one thread, among all cores
  VYRE_PAUSED, // all cores, after a pause
  C_PLAIN,     // the natural loop: gcc -O3; with OpenMP in the phase of all cores
  C_TUNED,
  C_PLAIN_FAST, // -Ofast
  C_TUNED_FAST,
  CLANG_PLAIN,
  CLANG_TUNED,
  CLANG_PLAIN_FAST,
  CLANG_TUNED_FAST,
  POCL,
  POCL_FAST, // -cl-fast-relaxed-math
  INTEL,
  INTEL_FAST,
  HALIDE, // strict floats
  HALIDE_FAST,
  OPENBLAS,
  MKL,
  STREAM,    // what the memory gives, for kernels that have a roof
  STREAM_NT, // with streaming stores
  PEERS
} peer;

typedef enum peer_class { CLASS_VYRE, CLASS_EXACT, CLASS_FAST, CLASS_ROOF } peer_class;

typedef struct peer_info {
  const char *name;
  peer_class class;
} peer_info;

extern const peer_info bench_peers[PEERS];

typedef struct result {
  double ns[PEERS];     // medians; 0: not measured
  bool is_wrong[PEERS]; // the answer was compared with that of the plain C loop, and is not it
  bool is_measured;
} result;

typedef struct run_options {
  int rounds;
  bool is_cpu_time;         // of the process, on one core: for a machine that is not ours alone
  bool is_vyre_only;        // without peers; tells what each way of compiling takes
  const char *peers_folder; // of `make peers`
} run_options;

// Once in a process, before it has other threads: pins it, or not, and opens the peers. Says on
// stderr who is missing.
void run_begin(phase at, const run_options *options);
void run_kernel(const kernel *k, result *out);
// What is there, for people.
void run_describe(void);

struct cl_driver;
struct cl_driver *run_pocl(void); // NULL: not there

#endif
