// SPDX-License-Identifier: MIT
//
// The machine that code is made for: LLVM's target machine and the few facts that the emitter's
// choices depend on. Owned by the compile call that opened it.
#ifndef VYRE_BACKEND_CPU_CODEGEN_TARGET_H
#define VYRE_BACKEND_CPU_CODEGEN_TARGET_H

#include "backend/cpu/codegen.h"

#include <llvm-c/TargetMachine.h>

typedef struct target {
  LLVMTargetMachineRef machine;
  unsigned vector_bits;  // of the widest registers worth using
  bool has_predicates;   // masks have registers of their own (AVX-512)
  bool has_masked_moves; // loads and stores of chosen 32- and 64-bit elements (AVX)
  cpu_gathers gathers;   // when loads and stores of scattered ones are faster than one by one
  bool has_fma;
  bool has_rounding; // floor, ceil, trunc, rint are instructions
  bool converts_f16; // to and from f32
} target;

vyre_status target_open(const cpu_options *options, target *out, vyre_error *error);
void target_close(target *t);

const char *target_llvm_version(void);
void target_host(char **cpu, char **features);

#endif
