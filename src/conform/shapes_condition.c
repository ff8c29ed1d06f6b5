// SPDX-License-Identifier: MIT
#include "conform/shapes_state.h"

static vyre_type compared_type(maker *m) {
  static const vyre_type types[] = {VYRE_U32, VYRE_U32, VYRE_U32, VYRE_I32, VYRE_I32,
                                    VYRE_I32, VYRE_I64, VYRE_I64, VYRE_I64, VYRE_U64,
                                    VYRE_U64, VYRE_U16, VYRE_I16, VYRE_U8,  VYRE_I8};
  return types[maker_below(m, sizeof types / sizeof *types)];
}

node maker_compare(maker *m, node x, node y) {
  static const vyre_op ops[] = {VYRE_OP_NE, VYRE_OP_NE, VYRE_OP_EQ, VYRE_OP_LT,
                                VYRE_OP_LE, VYRE_OP_GT, VYRE_OP_GE};
  vyre_op op = ops[maker_below(m, 7)];
  return maker_chance(m, 35) ? maker_binary(m, op, y, x) : maker_binary(m, op, x, y);
}

// Two that move, and meet at the sample or near it.
static node crossing(maker *m, node x) {
  node y = maker_moving(m, x.type);
  uint64_t gap = x.sample - y.sample + maker_below(m, 5) - 2u;
  return maker_binary(m, VYRE_OP_ADD, y, maker_uniform(m, x.type, gap));
}

node maker_relation(maker *m) {
  vyre_type type = compared_type(m);
  node x = maker_moving(m, type);
  uint32_t way = maker_below(m, 100);
  if (way < 65) return maker_compare(m, x, maker_limit(m, type, x.sample));
  if (way < 80) return maker_compare(m, x, crossing(m, x));
  if (way < 92) return maker_compare(m, x, maker_moving(m, type));
  return maker_compare(m, x, maker_as(m, maker_narrow(m), type));
}

node maker_uniform_condition(maker *m) {
  vyre_type type = compared_type(m);
  uint64_t near = maker_below(m, 100);
  node x = maker_param(m, type, near);
  if (m->is_rigid && maker_chance(m, 50)) {
    uint32_t group = m->sample[0] / m->workgroup[0];
    x = maker_fact(m, VYRE_OP_GROUP_ID, 0, group);
    x = maker_as(m, x, type);
  }
  return maker_compare(m, x, maker_limit(m, type, x.sample));
}

static node negated(maker *m, node x) {
  return (node){vyre_build_unary(m->b, VYRE_OP_NOT, x.value), VYRE_BOOL, !x.sample};
}

static node chosen(maker *m, node c, node x, node y) {
  vyre_value value = vyre_build_select(m->b, c.value, x.value, y.value);
  return (node){value, VYRE_BOOL, c.sample ? x.sample : y.sample};
}

node maker_condition(maker *m, int depth) {
  uint32_t way = maker_below(m, 100);
  if (depth <= 0 || way < 55) return maker_relation(m);
  if (way < 60) return negated(m, maker_condition(m, depth - 1));
  node x = way < 65 ? maker_uniform_condition(m) : maker_condition(m, depth - 1);
  node y = maker_condition(m, depth - 1);
  if (way < 82) return maker_binary(m, VYRE_OP_AND, x, y);
  if (way < 94) return maker_binary(m, VYRE_OP_OR, x, y);
  if (way < 97) return maker_binary(m, maker_chance(m, 50) ? VYRE_OP_XOR : VYRE_OP_NE, x, y);
  return chosen(m, maker_condition(m, depth - 1), x, y);
}
