// SPDX-License-Identifier: MIT
//
// Random programs that are hard to print: values used once, twice or never and in any order, names
// that repeat and are words of the language, numbers that only other numbers stand beside,
// conditions of loops that need statements, lengths and extents that share values. The same program
// for the same seed. The caller releases it; NULL when building failed, with the error filled.
#ifndef VYRE_TESTS_TEXT_PROGRAMS_H
#define VYRE_TESTS_TEXT_PROGRAMS_H

#include "base/random.h"
#include "ir/types.h"

#include <stdint.h>

enum { MESSY_VALUES = 24, MESSY_VARS = 4, MESSY_DEPTH = 7 };

typedef struct messy {
  vyre_builder *b;
  random_state random;
  vyre_mem buffers[VYRE_TYPE_COUNT];
  vyre_mem shared, array;
  vyre_value values[MESSY_VALUES];
  uint32_t value_count;
  vyre_var vars[MESSY_VARS]; // all f32
  uint32_t var_count;
  struct {
    uint32_t values, vars;
    char kind; // i, e, f, w
  } blocks[MESSY_DEPTH];
  uint32_t depth;
} messy;

static const vyre_type messy_types[] = {VYRE_U32, VYRE_F32, VYRE_BOOL, VYRE_I64, VYRE_U8, VYRE_F64};

static void messy_name(messy *m, vyre_value v) {
  static const char *const names[] = {"a",           "x",       "x",   "if",     "min",
                                      "global_id.x", "inf_f32", "v.0", "buffer", "f32",
                                      "in",          "k",       "$"}; // the last one is no name
  uint32_t pick = random_below(&m->random, 26);
  if (pick < 12) vyre_build_name(m->b, v, names[pick]);
}

static void messy_keep(messy *m, vyre_value v) {
  if (m->value_count < MESSY_VALUES)
    m->values[m->value_count++] = v;
  else if (!m->depth)
    m->values[MESSY_VALUES - 1] = v;
  messy_name(m, v);
}

static vyre_value messy_pick(messy *m, vyre_type type) {
  for (int attempt = 0; m->value_count && attempt < 5; attempt++) {
    // Mostly what came last: that is how expressions look.
    uint32_t back = random_below(&m->random, random_chance(&m->random, 70) ? 3 : MESSY_VALUES);
    if (back >= m->value_count) continue;
    vyre_value v = m->values[m->value_count - 1 - back];
    if (vyre_build_type_of(m->b, v) == type) return v;
  }
  static const uint64_t bits[] = {0, 1, 3, 0x3f800000u, 0xbff0000000000000u, 0x7fc00000u, ~0ull};
  return vyre_build_const(m->b, type, bits[random_below(&m->random, 7)]);
}

static vyre_type messy_type(messy *m) {
  return messy_types[random_below(&m->random, 6)];
}

static vyre_value messy_op(messy *m, vyre_type type) {
  static const vyre_op ints[] = {VYRE_OP_ADD, VYRE_OP_SUB, VYRE_OP_MUL, VYRE_OP_AND,
                                 VYRE_OP_OR,  VYRE_OP_XOR, VYRE_OP_SHL, VYRE_OP_MIN};
  static const vyre_op floats[] = {VYRE_OP_ADD, VYRE_OP_SUB, VYRE_OP_MUL,  VYRE_OP_DIV,
                                   VYRE_OP_NEG, VYRE_OP_ABS, VYRE_OP_SQRT, VYRE_OP_FMA};
  static const vyre_op bools[] = {VYRE_OP_AND, VYRE_OP_OR, VYRE_OP_XOR, VYRE_OP_NOT,
                                  VYRE_OP_LT,  VYRE_OP_EQ, VYRE_OP_GE,  VYRE_OP_NE};
  uint32_t which = random_below(&m->random, 8);
  vyre_op op = type == VYRE_BOOL ? bools[which] : type_is_float(type) ? floats[which] : ints[which];
  vyre_type operand = type;
  if (op_table[op].rule == RULE_ORDER)
    operand = random_chance(&m->random, 50) ? VYRE_F32 : VYRE_U32;
  if (op_table[op].rule == RULE_EQUALITY) operand = messy_type(m);
  vyre_value args[3];
  for (int k = 0; k < op_table[op].operand_count; k++) args[k] = messy_pick(m, operand);
  return vyre_build_op(m->b, op, VYRE_VOID, op_table[op].operand_count, args);
}

static vyre_value messy_value(messy *m) {
  vyre_type type = messy_type(m);
  vyre_value args[3];
  switch (random_below(&m->random, 10)) {
  case 0: return vyre_build_convert(m->b, type, messy_pick(m, messy_type(m)));
  case 1: return vyre_build_unary(m->b, VYRE_OP_COPY, messy_pick(m, type));
  case 2:
    args[0] = messy_pick(m, VYRE_BOOL);
    args[1] = messy_pick(m, type);
    return vyre_build_select(m->b, args[0], args[1], messy_pick(m, type));
  case 3: return vyre_build_load(m->b, m->buffers[type], messy_pick(m, VYRE_U32));
  case 4: return vyre_build_load(m->b, m->shared, messy_pick(m, VYRE_I64));
  case 5: return vyre_build_id(m->b, VYRE_OP_GLOBAL_ID, 0);
  case 6:
    if (m->var_count) return vyre_build_get(m->b, m->vars[random_below(&m->random, m->var_count)]);
    return vyre_build_param_value(m->b, random_below(&m->random, 2));
  default: return messy_op(m, type);
  }
}

static void messy_open(messy *m) {
  if (m->depth == MESSY_DEPTH) return;
  uint32_t kind = random_below(&m->random, 3);
  m->blocks[m->depth].values = m->value_count;
  m->blocks[m->depth].vars = m->var_count;
  vyre_type type = random_chance(&m->random, 50) ? VYRE_U32 : VYRE_I64;
  if (kind == 0) {
    vyre_build_if(m->b, messy_pick(m, VYRE_BOOL));
  } else if (kind == 1) {
    vyre_value lo = messy_pick(m, type), hi = messy_pick(m, type);
    vyre_value step = random_chance(&m->random, 30) ? vyre_build_const(m->b, type, 3) : 0;
    messy_keep(m, vyre_build_for(m->b, lo, hi, step));
  } else {
    vyre_build_while(m->b);
    for (uint32_t i = random_below(&m->random, 4); i > 0; i--) messy_keep(m, messy_value(m));
    if (random_chance(&m->random, 20))
      vyre_build_store(m->b, m->array, messy_pick(m, VYRE_U32), messy_pick(m, VYRE_F32));
    vyre_build_do(m->b, messy_pick(m, VYRE_BOOL));
  }
  m->blocks[m->depth++].kind = "ifw"[kind];
}

static void messy_close(messy *m) {
  if (!m->depth) return;
  m->value_count = m->blocks[m->depth - 1].values;
  m->var_count = m->blocks[m->depth - 1].vars;
  if (m->blocks[m->depth - 1].kind == 'i' && random_chance(&m->random, 50)) {
    vyre_build_else(m->b);
    m->blocks[m->depth - 1].kind = 'e';
    // An if directly in an else may be an `else if`.
    if (random_chance(&m->random, 50)) messy_open(m);
    return;
  }
  vyre_build_end(m->b);
  m->depth--;
}

static void messy_statement(messy *m) {
  vyre_type type = messy_type(m);
  vyre_value index = messy_pick(m, VYRE_U32);
  switch (random_below(&m->random, 12)) {
  case 0:
  case 1: messy_open(m); break;
  case 2:
  case 3: messy_close(m); break;
  case 4: vyre_build_store(m->b, m->buffers[type], index, messy_pick(m, type)); break;
  case 5:
    if (m->var_count == MESSY_VARS) break;
    m->vars[m->var_count] = vyre_build_var(m->b, NULL, messy_pick(m, VYRE_F32));
    messy_name(m, m->vars[m->var_count++]);
    break;
  case 6:
    if (!m->var_count) break;
    vyre_build_set(m->b, m->vars[random_below(&m->random, m->var_count)], messy_pick(m, VYRE_F32));
    break;
  case 7: {
    vyre_value old = vyre_build_atomic(m->b, VYRE_OP_ATOMIC_ADD, m->buffers[VYRE_U32], index,
                                       messy_pick(m, VYRE_U32));
    if (random_chance(&m->random, 50)) messy_keep(m, old);
    break;
  }
  default: messy_keep(m, messy_value(m));
  }
}

// Lengths and extents: one value for two, in another order than they are declared.
static void messy_header(messy *m) {
  vyre_build_param(m->b, "a", VYRE_F32);
  uint32_t n = vyre_build_param(m->b, "by", VYRE_U32);
  vyre_value x = vyre_build_param_value(m->b, n), y = vyre_build_param_value(m->b, n);
  vyre_value z = vyre_build_binary(m->b, VYRE_OP_ADD, random_chance(&m->random, 50) ? x : y, y);
  messy_name(m, z);
  static const char *const names[] = {"x", "if", "in", "y", "z", "w"};
  vyre_value later = vyre_build_op(m->b, VYRE_OP_LEN, VYRE_VOID, 1, (vyre_value[]){5});
  vyre_value lengths[] = {0, x, z, y, vyre_build_const(m->b, VYRE_I64, 9), later};
  uint32_t turn = random_below(&m->random, 5);
  for (uint32_t i = 0; i < 6; i++) {
    vyre_value length = i == 5 ? 0 : i == 4 ? later : lengths[(i + turn) % 5];
    m->buffers[messy_types[i]] =
        vyre_build_buffer(m->b, names[i], messy_types[i], VYRE_READWRITE, length);
  }
}

__attribute__((unused)) static vyre_program *messy_program(uint64_t seed, uint32_t statements,
                                                           vyre_error *error) {
  messy m = {.b = vyre_builder_new("messy"), .random = {seed}};
  messy_header(&m);
  for (int region = 0; region < 2; region++) {
    vyre_build_region_begin(m.b, region ? "second" : "while");
    vyre_value x = vyre_build_param_value(m.b, 1), y = vyre_build_len(m.b, m.buffers[VYRE_F32]);
    messy_name(&m, y);
    vyre_value z = vyre_build_binary(m.b, VYRE_OP_MAX, y, random_chance(&m.random, 50) ? y : x);
    vyre_value grid[3] = {random_chance(&m.random, 50) ? x : z, z, y};
    vyre_build_grid(m.b, random_range(&m.random, 1, 3), grid,
                    (uint32_t[]){random_range(&m.random, 63, 65), 1, region + 1u});
    m.shared = vyre_build_shared(m.b, region ? "x" : NULL, VYRE_F32, 8);
    m.array = vyre_build_array(m.b, region ? NULL : "y", VYRE_F32, 8);
    m.value_count = m.var_count = 0;
    for (uint32_t i = 0; i < statements; i++) messy_statement(&m);
    for (; m.depth; m.depth--) vyre_build_end(m.b);
    vyre_build_region_end(m.b);
  }
  vyre_program *p = NULL;
  vyre_builder_finish(m.b, &p, error);
  vyre_builder_free(m.b);
  return p;
}

#endif
