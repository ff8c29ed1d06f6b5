// SPDX-License-Identifier: MIT
//
// What the parts of the emitter share. Private to emit*.c.
#ifndef VYRE_BACKEND_OPENCL_EMIT_STATE_H
#define VYRE_BACKEND_OPENCL_EMIT_STATE_H

#include "backend/opencl/emit.h"
#include "analysis/ranges.h"
#include "analysis/uniformity.h"
#include "backend/spell/names.h"
#include "base/strbuf.h"
#include "base/vec.h"

// ---- helper functions ---------------------------------------------------------------------------

typedef enum helper {
  HELPER_DIV, // integer division; f32 by way of f64 where the device rounds wrongly
  HELPER_REM,
  HELPER_ABS, // of signed integers
  HELPER_MIN, // of floats
  HELPER_MAX,
  HELPER_BITS, // of a float, with one NaN
  HELPER_RINT, // where the device's own functions are wrong
  HELPER_FLOOR,
  HELPER_CEIL,
  HELPER_TRUNC,
  HELPER_ROUND,
  HELPER_SQRT,     // f32 by way of f64
  HELPER_FROM_F32, // to the type
  HELPER_FROM_F64,
  HELPER_ATOMIC_MIN, // 64-bit, by compare-exchange
  HELPER_ATOMIC_MAX,
  HELPER_ATOMIC_AND,
  HELPER_ATOMIC_OR,
  HELPER_ATOMIC_XOR,
  HELPER_COUNT
} helper;

typedef struct emitter {
  const vyre_program *p;
  const opencl_target *target;
  bool is_polled;
  strbuf body;                                    // the kernels
  bool uses[HELPER_COUNT][VYRE_TYPE_COUNT];       // helpers to put in front
  bool uses_local[HELPER_COUNT][VYRE_TYPE_COUNT]; // the same for local memory
  name_set kernel_names;
  vyre_error *error;
  vyre_status status;

  // The region.
  const region *r;
  opencl_kernel *kernel;
  vec(opencl_arg) args;
  name_set names;
  const char **value_names; // per operation of the body; NULL for what is inlined
  const char *param_names[256], *buffer_names[128], *length_names[128], *grid_names[3];
  const char **shared_names; // per shared array of the region
  const char *stop_name, *tick_name;
  uint32_t *use_count; // per operation of the body
  uint8_t *is_inline;  // per operation: written where it is used
  uniformity uniform;
  ranges ranges; // of integer values, in the arena of the names
  uint32_t indent;
} emitter;

// emit_value.c
const char *emit_type(vyre_type type);         // "uint"; bool in a variable is bool
const char *emit_memory_type(vyre_type type);  // bool in memory is uchar
void emit_operand(emitter *e, ref value);      // an expression that binds tighter than any operator
void emit_whole(emitter *e, ref value);        // one that no operator stands beside
void emit_expression(emitter *e, uint32_t op); // the value of a pure operation, load or get
// An access of memory: the bound check without its result, e.g. `v_i < v_x_len`; false when the
// access is always in bounds and nothing was written.
bool emit_check(emitter *e, const inst *in);
void emit_element(emitter *e, const inst *in); // `v_x[v_i]`
void emit_atomic_call(emitter *e, const inst *in);
void emit_zero(emitter *e, vyre_type type);
void emit_const(emitter *e, vyre_type type, uint64_t bits);

// emit_plan.c: which values are written where they are used, which arguments a kernel has.
bool emit_plan(emitter *e);
void emit_plan_fini(emitter *e);

// emit_prelude.c
void emit_prelude(const emitter *e, strbuf *out);

static inline uint32_t emit_offset(const emitter *e, uint32_t op) {
  return op - e->r->body.first;
}

#endif
