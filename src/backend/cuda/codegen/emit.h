// SPDX-License-Identifier: MIT
//
// The emitter's own: one LLVM function per region, one invocation per thread, every operation of
// the lowered program a few instructions. Variables are stack slots, which LLVM's passes turn into
// registers. Private to the folder. One thread.
#ifndef VYRE_BACKEND_CUDA_CODEGEN_EMIT_H
#define VYRE_BACKEND_CUDA_CODEGEN_EMIT_H

#include "backend/cuda/codegen.h"
#include "backend/llvm/lanewise.h"

#include "ir/limits.h"

// Address spaces of NVPTX.
enum { SPACE_GENERIC = 0, SPACE_GLOBAL = 1, SPACE_SHARED = 3 };

// What a launch may use of shared memory without asking for more, on every device.
enum { STATIC_SHARED_BYTES = 48 << 10 };

typedef struct emit_block {
  llblock next;   // of an if: its else; of a loop: where it goes on
  llblock behind; // the end of it
  llblock header; // of a loop
  llval counter;  // the slot of a for's counter
} emit_block;

typedef struct emitter {
  lanewise l;
  lltype scalars[VYRE_TYPE_COUNT];
  const vyre_program *p; // lowered
  const region *r;
  const cuda_options *options;
  llval function;
  llblock entry; // where slots are made
  llval *values; // per operation
  llval *shared; // per shared array of the program
  uint8_t *uses; // per buffer, of the region: OPF_READS, OPF_WRITES
  cuda_argument arguments[CUDA_MOST_ARGUMENTS];
  uint32_t argument_count;
  emit_block blocks[LIMIT_OPEN + 2];
  uint32_t depth;
} emitter;

// value.c
lltype emit_memory_type(const emitter *e,
                        vyre_type type); // of an element in memory: bool is a byte
llval emit_ref(emitter *e, ref value);
llval emit_slot(emitter *e, lltype type); // in the entry block
llval emit_fact(emitter *e, cuda_fact kind, uint32_t index);
void emit_operation(emitter *e, uint32_t op);

// flow.c
void emit_flow(emitter *e, uint32_t op);
void emit_barrier(emitter *e);
llval emit_loop_counter(emitter *e, uint32_t op); // opens a for

// choices.c: behind all passes.
void emit_hide_choices(LLVMContextRef context, LLVMModuleRef module);

#endif
