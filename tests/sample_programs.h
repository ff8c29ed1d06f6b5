// SPDX-License-Identifier: MIT
//
// Programs for tests and for the fuzzers' seeds: small ones with a purpose, and random ones.
// Each returns a program that the caller releases, or NULL when building failed, with the error
// filled. Everything is static: a test includes this header and uses what it needs.
#ifndef VYRE_TESTS_SAMPLE_PROGRAMS_H
#define VYRE_TESTS_SAMPLE_PROGRAMS_H

#include "conform/generate.h"
#include "ir/types.h"

#include <stdio.h>

#define SAMPLE __attribute__((unused)) static

static const uint32_t sample_workgroup[3] = {4, 2, 1};

SAMPLE vyre_program *sample_finish(vyre_builder *b, vyre_error *error) {
  vyre_program *p = NULL;
  vyre_builder_finish(b, &p, error);
  vyre_builder_free(b);
  return p;
}

// y[i] = a * x[i] + y[i], with every kind of name.
SAMPLE vyre_program *sample_saxpy(vyre_error *error) {
  vyre_builder *b = vyre_builder_new("saxpy");
  uint32_t a = vyre_build_param(b, "a", VYRE_F32);
  vyre_mem x = vyre_build_buffer(b, "x", VYRE_F32, VYRE_READ, 0);
  vyre_mem y = vyre_build_buffer(b, "y", VYRE_F32, VYRE_READWRITE, vyre_build_len(b, x));
  vyre_build_region_begin(b, "main");
  vyre_build_grid(b, 1, (vyre_value[]){vyre_build_len(b, x)}, (uint32_t[]){64, 1, 1});
  vyre_value i = vyre_build_id(b, VYRE_OP_GLOBAL_ID, 0);
  vyre_build_name(b, i, "i");
  vyre_value scale = vyre_build_param_value(b, a);
  vyre_value sum = vyre_build_fma(b, scale, vyre_build_load(b, x, i), vyre_build_load(b, y, i));
  vyre_build_name(b, sum, "sum");
  vyre_build_store(b, y, i, sum);
  vyre_build_region_end(b);
  return sample_finish(b, error);
}

// Two regions, a transient buffer, shared and private arrays, extents, every structure operation.
SAMPLE vyre_program *sample_structure(vyre_error *error) {
  vyre_builder *b = vyre_builder_new("structure.v2");
  vyre_build_fast(b, 4);
  uint32_t n = vyre_build_param(b, "n", VYRE_U32), flag = vyre_build_param(b, "flag", VYRE_BOOL);
  vyre_mem x = vyre_build_buffer(b, "x", VYRE_I32, VYRE_READ, 0);
  vyre_value twice = vyre_build_binary(b, VYRE_OP_MUL, vyre_build_len(b, x), vyre_build_u32(b, 2));
  vyre_build_name(b, twice, "twice");
  vyre_mem t = vyre_build_transient(b, "t", VYRE_I32, twice);
  vyre_mem out = vyre_build_buffer(b, "out", VYRE_I32, VYRE_WRITE, vyre_build_u32(b, 1024));

  vyre_build_region_begin(b, "first");
  vyre_value rows = vyre_build_param_value(b, n);
  vyre_build_grid(b, 2, (vyre_value[]){vyre_build_u32(b, 64), rows}, sample_workgroup);
  vyre_mem s = vyre_build_shared(b, "s", VYRE_I32, 8), s2 = vyre_build_shared(b, "", VYRE_F64, 2);
  vyre_mem p = vyre_build_array(b, "p", VYRE_I32, 3);
  vyre_value l = vyre_build_id(b, VYRE_OP_LOCAL_ID, 1);
  vyre_build_store(b, s, l, vyre_build_load(b, x, l));
  vyre_build_store(b, s2, l, vyre_build_f64(b, 1e300));
  vyre_build_barrier(b);
  vyre_var best = vyre_build_var(b, "best", vyre_build_i32(b, -1));
  rows = vyre_build_param_value(b, n); // values of the grid's code are not seen in the body
  vyre_value k = vyre_build_for(b, vyre_build_u32(b, 0), rows, vyre_build_u32(b, 3));
  vyre_build_name(b, k, "k");
  vyre_value v = vyre_build_load(b, s, k);
  vyre_build_if(b, vyre_build_binary(b, VYRE_OP_GT, v, vyre_build_get(b, best)));
  vyre_build_set(b, best, v);
  vyre_build_continue(b);
  vyre_build_else(b);
  vyre_build_break(b);
  vyre_build_end(b);
  vyre_build_end(b);
  vyre_build_store(b, p, l, vyre_build_get(b, best));
  vyre_build_store(b, t, l, vyre_build_load(b, p, vyre_build_i32(b, 1)));
  vyre_build_region_end(b);

  vyre_build_region_begin(b, "second");
  vyre_build_grid(b, 1, (vyre_value[]){vyre_build_const(b, VYRE_I64, 77)}, sample_workgroup);
  vyre_var step = vyre_build_var(b, "step", vyre_build_u32(b, 128));
  vyre_build_while(b);
  vyre_value more = vyre_build_get(b, step);
  vyre_build_do(b, vyre_build_binary(b, VYRE_OP_NE, more, vyre_build_u32(b, 0)));
  vyre_build_set(b, step, vyre_build_binary(b, VYRE_OP_SHR, more, vyre_build_u32(b, 1)));
  vyre_build_end(b);
  vyre_build_if(b, vyre_build_param_value(b, flag));
  vyre_build_return(b);
  vyre_build_end(b);
  vyre_value i = vyre_build_id(b, VYRE_OP_GLOBAL_ID, 0);
  vyre_build_store(b, out, i, vyre_build_load(b, t, i));
  vyre_build_region_end(b);
  return sample_finish(b, error);
}

SAMPLE vyre_value sample_constant(vyre_builder *b, vyre_type type, uint64_t seed) {
  uint64_t bits = seed * 0x9e3779b97f4a7c15u;
  if (type == VYRE_F32) bits = 0x3f800000u + (bits >> 44);
  if (type == VYRE_F64) bits = 0x3ff0000000000000u + (bits >> 12);
  if (type == VYRE_BOOL) bits &= 1;
  return vyre_build_const(b, type, bits);
}

SAMPLE bool sample_rule_takes(unsigned rule, vyre_type t) {
  switch ((op_rule)rule) {
  case RULE_ARITH:
  case RULE_ORDER: return type_is_numeric(t);
  case RULE_INT: return type_is_int(t);
  case RULE_BITS: return type_is_int(t) || t == VYRE_BOOL;
  case RULE_FLOAT: return type_is_float(t);
  case RULE_EQUALITY:
  case RULE_CONVERT:
  case RULE_BITCAST:
  case RULE_COPY: return true;
  default: return false;
  }
}

// Builds `op` on values of type `t` where its rule takes them, in every result type it can have.
SAMPLE void sample_value_op(vyre_builder *b, vyre_op op, vyre_type t) {
  const op_info *info = &op_table[op];
  if (!sample_rule_takes(info->rule, t)) return;
  vyre_value args[3];
  for (uint32_t k = 0; k < 3; k++) args[k] = sample_constant(b, t, op * 4u + k + 1u);
  bool casts = info->rule == RULE_CONVERT || info->rule == RULE_BITCAST;
  for (int to = VYRE_BOOL; to < (casts ? VYRE_TYPE_COUNT : VYRE_I8); to++) {
    bool fits = type_bits(t) == type_bits((unsigned)to) && t != VYRE_BOOL;
    if (info->rule == RULE_BITCAST && !fits) continue;
    vyre_build_op(b, op, casts ? (vyre_type)to : VYRE_VOID, info->operand_count, args);
  }
}

// Every operation of ops.def with every type that it takes, in one region.
SAMPLE vyre_program *sample_every_op(vyre_error *error) {
  vyre_builder *b = vyre_builder_new("every_op");
  uint32_t params[VYRE_TYPE_COUNT];
  vyre_mem buffers[VYRE_TYPE_COUNT];
  char name[16];
  for (int t = VYRE_BOOL; t < VYRE_TYPE_COUNT; t++) {
    snprintf(name, sizeof name, "p%d", t);
    params[t] = vyre_build_param(b, name, (vyre_type)t);
    snprintf(name, sizeof name, "b%d", t);
    buffers[t] = vyre_build_buffer(b, name, (vyre_type)t, VYRE_READWRITE, 0);
  }
  vyre_build_region_begin(b, "all");
  vyre_build_grid(b, 1, (vyre_value[]){vyre_build_u32(b, 8)}, sample_workgroup);
  for (int op = VYRE_OP_GLOBAL_ID; op <= VYRE_OP_GROUP_COUNT; op++)
    for (uint32_t axis = 0; axis < 3; axis++) vyre_build_id(b, (vyre_op)op, axis);
  for (int t = VYRE_BOOL; t < VYRE_TYPE_COUNT; t++) {
    vyre_type type = (vyre_type)t;
    for (int op = VYRE_OP_ADD; op < VYRE_OP_PARAM; op++) sample_value_op(b, (vyre_op)op, type);
    vyre_value index = vyre_build_len(b, buffers[t]), v = vyre_build_param_value(b, params[t]);
    vyre_build_select(b, vyre_build_bool(b, true), v, v);
    vyre_var var = vyre_build_var(b, NULL, v);
    vyre_build_set(b, var, vyre_build_get(b, var));
    vyre_mem array = vyre_build_array(b, NULL, type, 1);
    vyre_mem shared = vyre_build_shared(b, NULL, type, 2);
    vyre_build_store(b, array, index, vyre_build_load(b, buffers[t], index));
    vyre_build_store(b, shared, index, vyre_build_load(b, array, index));
    vyre_build_store(b, buffers[t], index, vyre_build_load(b, shared, index));
    if (!type_is_index(type)) continue;
    for (int op = VYRE_OP_ATOMIC_ADD; op < VYRE_OP_ATOMIC_CAS; op++)
      vyre_build_atomic(b, (vyre_op)op, t & 1 ? shared : buffers[t], v, v);
    vyre_build_atomic_cas(b, buffers[t], v, v, v);
  }
  vyre_build_for(b, vyre_build_u32(b, 1), vyre_build_u32(b, 9), 0);
  vyre_build_while(b);
  vyre_build_do(b, vyre_build_bool(b, false));
  vyre_build_break(b);
  vyre_build_continue(b);
  vyre_build_end(b);
  vyre_build_end(b);
  vyre_build_if(b, vyre_build_bool(b, true));
  vyre_build_else(b);
  vyre_build_end(b);
  vyre_build_barrier(b);
  vyre_build_return(b);
  vyre_build_region_end(b);
  return sample_finish(b, error);
}

// A random valid program of about `size` statements a region; the same for the same seed.
SAMPLE vyre_program *sample_random(uint64_t seed, uint32_t size, vyre_error *error) {
  generate_options options = {.seed = seed, .size = size, .with_math = seed % 4 == 0};
  trial t;
  if (generate_trial(&options, &t, error) != VYRE_OK) return NULL;
  vyre_program *p = vyre_program_retain(t.program);
  trial_fini(&t);
  return p;
}

#endif
