// SPDX-License-Identifier: MIT
#include "conform/generate_state.h"

// ---- tables -------------------------------------------------------------------------------------

static bool gives_type(vyre_op op, vyre_type t) {
  switch ((op_rule)op_table[op].rule) {
  case RULE_ARITH: return type_is_numeric(t);
  case RULE_INT: return type_is_int(t);
  case RULE_BITS: return type_is_int(t) || t == VYRE_BOOL;
  case RULE_FLOAT: return type_is_float(t);
  case RULE_EQUALITY:
  case RULE_ORDER: return t == VYRE_BOOL;
  case RULE_BITCAST: return t != VYRE_BOOL;
  case RULE_SELECT:
  case RULE_CONVERT:
  case RULE_COPY: return true;
  case RULE_NONE: // no values that are computed
  case RULES_LAUNCH:
  case RULE_LOAD:
  case RULE_ATOMIC:
  case RULE_GET:
  case RULES_STATEMENT:
  case RULES_LOWERED: break;
  }
  return false;
}

static bool is_allowed_type(const generate_options *o, vyre_type t) {
  if (t == VYRE_F64) return !o->without_f64;
  if (t == VYRE_I64 || t == VYRE_U64) return !o->without_i64;
  return true;
}

void generator_fill_tables(generator *g) {
  for (int t = VYRE_BOOL; t < VYRE_TYPE_COUNT; t++) {
    if (!is_allowed_type(g->options, (vyre_type)t)) continue;
    g->types[g->type_count++] = (vyre_type)t;
    for (int op = 1; op < VYRE_OP_COUNT; op++) {
      if (op_is((vyre_op)op, OPF_MATH) && !g->options->with_math) continue;
      if (gives_type((vyre_op)op, (vyre_type)t) && g->op_counts[t] < MAX_OPS)
        g->ops[t][g->op_counts[t]++] = (uint8_t)op;
    }
  }
}

vyre_type generator_type(generator *g) {
  return g->types[random_below(&g->random, g->type_count)];
}

vyre_type generator_index_type(generator *g) {
  uint32_t count = g->options->without_i64 ? 2 : 4;
  return (vyre_type)(VYRE_I32 + random_below(&g->random, count));
}

static vyre_value generator_const(generator *g, vyre_type type) {
  return vyre_build_const(g->b, type, generate_bits(&g->random, type));
}

static vyre_value generator_as_type(generator *g, vyre_value value, vyre_type type) {
  if (vyre_build_type_of(g->b, value) == type) return value;
  return vyre_build_convert(g->b, type, value);
}

void generator_know(generator *g, vyre_value value, vyre_type type, bool is_uniform) {
  generator_keep(g, &g->values, (known_value){value, type, is_uniform});
}

// ---- indices ------------------------------------------------------------------------------------

static vyre_value far_index(generator *g, vyre_type type) {
  static const uint64_t far[] = {~0ull,        1ull << 63,  0x80000000u, 0xffffffff80000000u,
                                 0x100000000u, 0x7fffffffu, 0xffffffffu};
  uint64_t bits = far[random_below(&g->random, sizeof far / sizeof *far)];
  if (type_bits(type) == 32 && !(uint32_t)bits) bits = ~0ull;
  return vyre_build_const(g->b, type, bits);
}

vyre_value generator_index(generator *g, uint64_t length, bool uniform, int depth) {
  vyre_type type = generator_index_type(g);
  uint32_t way = random_below(&g->random, 100);
  if (way < 40 && !uniform) {
    vyre_value at = generator_as_type(g, g->linear, type);
    if (way < 20) return at;
    uint64_t shift = random_below(&g->random, 5);
    return vyre_build_binary(g->b, way < 30 ? VYRE_OP_ADD : VYRE_OP_SUB, at,
                             vyre_build_const(g->b, type, shift));
  }
  if (way < 75) {
    vyre_value any = generator_expr(g, VYRE_U32, uniform, depth - 1);
    vyre_value modulus = vyre_build_u32(g->b, length ? (uint32_t)length : 1);
    return generator_as_type(g, vyre_build_binary(g->b, VYRE_OP_REM, any, modulus), type);
  }
  if (way < 82) return far_index(g, type);
  if (way < 90) return vyre_build_const(g->b, type, random_below(&g->random, (uint32_t)length + 2));
  return generator_expr(g, type, uniform, depth - 1);
}

// Past every length, and another for each invocation.
static vyre_value far_own_index(generator *g, vyre_type type) {
  vyre_value base = far_index(g, type);
  if (type_bits(type) == 32) return base;
  base = vyre_build_const(g->b, type, 1ull << 32);
  vyre_value own = generator_as_type(g, g->linear, type);
  return vyre_build_binary(g->b, VYRE_OP_ADD, own, base);
}

vyre_value generator_own_index(generator *g, const memory_state *m, int depth) {
  vyre_builder *b = g->b;
  vyre_type type = generator_index_type(g);
  if (random_chance(&g->random, 8)) return far_own_index(g, type);
  vyre_value own = m->is_shared ? g->local_linear : g->linear;
  vyre_value slot = 0;
  if (m->slots > 1) {
    slot = generator_expr(g, VYRE_U32, false, depth - 1);
    slot = vyre_build_binary(b, VYRE_OP_REM, slot, vyre_build_u32(b, m->slots));
  }
  if (m->form == 2 && slot) { // spread: own + slot * total
    vyre_value far = vyre_build_binary(b, VYRE_OP_MUL, slot, g->total);
    return generator_as_type(g, vyre_build_binary(b, VYRE_OP_ADD, own, far), type);
  }
  if (m->form == 1) { // from the end
    vyre_value last = vyre_build_binary(b, VYRE_OP_SUB, g->total, vyre_build_u32(b, 1));
    own = vyre_build_binary(b, VYRE_OP_SUB, last, own);
  }
  vyre_value at = generator_as_type(g, own, type);
  if (m->slots > 1) at = vyre_build_binary(b, VYRE_OP_MUL, at, vyre_build_const(b, type, m->slots));
  if (slot) at = vyre_build_binary(b, VYRE_OP_ADD, at, generator_as_type(g, slot, type));
  return at;
}

bool generator_has_atomics(const generator *g, const memory_state *m) {
  if (type_bits(m->type) < 32) return false;
  return type_bits(m->type) == 32 || !g->options->without_i64_atomics;
}

// Sums of floats need whole numbers; the extremes of any do not depend on the order.
vyre_op generator_atomic(generator *g, const memory_state *m) {
  if (!type_is_float(m->type)) return (vyre_op)(VYRE_OP_ATOMIC_ADD + random_below(&g->random, 7));
  return m->is_whole                     ? VYRE_OP_ATOMIC_ADD
         : random_chance(&g->random, 50) ? VYRE_OP_ATOMIC_MIN
                                         : VYRE_OP_ATOMIC_MAX;
}

void generator_take_role(generator *g, memory_state *m) {
  if (m->role != ROLE_FREE) return;
  bool can_count = generator_has_atomics(g, m) && !m->is_tile;
  uint32_t way = random_below(&g->random, 100);
  m->role = way < 45 && !m->is_whole ? ROLE_OWN : way < 80 || !can_count ? ROLE_READ : ROLE_ATOMIC;
  m->atomic = generator_atomic(g, m);
}

// ---- loads --------------------------------------------------------------------------------------

static vyre_value load_phased(generator *g, memory_state *m, int depth) {
  generator_take_role(g, m);
  if (m->role == ROLE_OWN) return vyre_build_load(g->b, m->mem, generator_own_index(g, m, depth));
  if (m->role != ROLE_READ) return 0;
  if (!m->is_tile)
    return vyre_build_load(g->b, m->mem, generator_index(g, m->length, false, depth));
  // An element that this workgroup owns.
  vyre_value any = generator_expr(g, VYRE_U32, false, depth - 1);
  any = vyre_build_binary(g->b, VYRE_OP_REM, any, vyre_build_u32(g->b, g->workgroup[0]));
  any = vyre_build_binary(g->b, VYRE_OP_ADD, any, g->group_first);
  return vyre_build_load(g->b, m->mem, generator_as_type(g, any, generator_index_type(g)));
}

static vyre_value load_buffer(generator *g, bool uniform, int depth) {
  if (!g->buffers.count) return 0;
  memory_state *m = &g->buffers.at[random_below(&g->random, (uint32_t)g->buffers.count)];
  if (!(m->access & VYRE_READ)) return 0;
  if (m->is_tile) return uniform ? 0 : load_phased(g, m, depth);
  if (m->role == ROLE_READ)
    return vyre_build_load(g->b, m->mem, generator_index(g, m->length, uniform, depth));
  if (m->role == ROLE_OWN && !uniform)
    return vyre_build_load(g->b, m->mem, generator_own_index(g, m, depth));
  return 0;
}

static vyre_value load_something(generator *g, bool uniform, int depth) {
  uint32_t way = random_below(&g->random, 3);
  if (way == 1 && g->arrays.count && !uniform) {
    known_array *a = &g->arrays.at[random_below(&g->random, (uint32_t)g->arrays.count)];
    return vyre_build_load(g->b, a->mem, generator_index(g, a->length, false, depth));
  }
  if (way == 2 && g->shared.count && !uniform)
    return load_phased(g, &g->shared.at[random_below(&g->random, (uint32_t)g->shared.count)],
                       depth);
  return load_buffer(g, uniform, depth);
}

// ---- leaves -------------------------------------------------------------------------------------

static vyre_value known_of_type(generator *g, vyre_type type, bool uniform) {
  uint32_t count = (uint32_t)g->values.count, from = random_below(&g->random, count);
  for (uint32_t i = 0; i < count; i++) {
    const known_value *k = &g->values.at[(from + i) % count];
    if (k->type == type && (k->is_uniform || !uniform)) return k->value;
  }
  return 0;
}

static vyre_value var_of_type(generator *g, vyre_type type, bool uniform) {
  uint32_t count = (uint32_t)g->vars.count, from = random_below(&g->random, count);
  for (uint32_t i = 0; i < count; i++) {
    const known_var *v = &g->vars.at[(from + i) % count];
    if (v->type == type && (v->is_uniform || !uniform)) return vyre_build_get(g->b, v->var);
  }
  return 0;
}

static vyre_value launch_fact(generator *g, bool uniform) {
  uint32_t axis = random_below(&g->random, 3), way = random_below(&g->random, 8);
  if (way == 0 && g->params.count)
    return vyre_build_param_value(g->b, random_below(&g->random, (uint32_t)g->params.count));
  if (way == 1 && g->buffers.count) {
    uint32_t i = random_below(&g->random, (uint32_t)g->buffers.count);
    return vyre_build_len(g->b, g->buffers.at[i].mem);
  }
  if (way == 2) return vyre_build_id(g->b, VYRE_OP_GLOBAL_SIZE, axis);
  if (way == 3 && g->is_rigid) return vyre_build_id(g->b, VYRE_OP_GROUP_ID, axis);
  if (way == 4 && g->is_rigid) return vyre_build_id(g->b, VYRE_OP_LOCAL_SIZE, axis);
  if (way == 5 && g->is_rigid) return vyre_build_id(g->b, VYRE_OP_GROUP_COUNT, axis);
  if (uniform) return 0;
  if (way == 6 && g->is_rigid) return vyre_build_id(g->b, VYRE_OP_LOCAL_ID, axis);
  return vyre_build_id(g->b, VYRE_OP_GLOBAL_ID, axis);
}

static vyre_value leaf(generator *g, vyre_type type, bool uniform, int depth) {
  uint32_t way = random_below(&g->random, 100);
  vyre_value v = 0;
  if (way < 35)
    v = known_of_type(g, type, uniform);
  else if (way < 50)
    v = var_of_type(g, type, uniform);
  else if (way < 60)
    v = launch_fact(g, uniform);
  else if (way < 75 && depth > -3) // an index may hold loads, too: it ends here
    v = load_something(g, uniform, depth);
  if (!v) return generator_const(g, type);
  return generator_as_type(g, v, type);
}

// ---- expressions --------------------------------------------------------------------------------

static vyre_type operand_type(generator *g, vyre_op op, vyre_type type) {
  switch ((op_rule)op_table[op].rule) {
  case RULE_EQUALITY:
  case RULE_CONVERT: return generator_type(g);
  case RULE_ORDER:
    do type = generator_type(g);
    while (!type_is_numeric(type));
    return type;
  case RULE_BITCAST: {
    vyre_type from;
    do from = generator_type(g);
    while (from == VYRE_BOOL || type_bits(from) != type_bits(type));
    return from;
  }
  case RULE_NONE:
  case RULES_IN_ONE_TYPE:
  case RULE_SELECT:
  case RULE_COPY:
  case RULES_LAUNCH:
  case RULE_LOAD:
  case RULE_ATOMIC:
  case RULE_GET:
  case RULES_STATEMENT:
  case RULES_LOWERED: break;
  }
  return type;
}

// x / c, x / u, x / sqrt(y), x / (u * sqrt(y)), with 1 for x in half of the cases.
static vyre_value relaxable_quotient(generator *g, vyre_type type, bool uniform, int depth) {
  vyre_value x = random_chance(&g->random, 50) ? vyre_build_const(g->b, type, type_one_bits(type))
                                               : generator_expr(g, type, uniform, depth - 1);
  vyre_value y, u = generator_expr(g, type, true, depth - 1);
  switch (random_below(&g->random, 4)) {
  case 0: y = generator_const(g, type); break;
  case 1: y = u; break;
  default:
    y = generator_expr(g, type, uniform, depth - 1);
    y = vyre_build_unary(g->b, VYRE_OP_SQRT, y);
    if (random_chance(&g->random, 50)) y = vyre_build_binary(g->b, VYRE_OP_MUL, u, y);
  }
  return vyre_build_binary(g->b, VYRE_OP_DIV, x, y);
}

// x * y + z, x * y - z, z + x * y, z - x * y, (x * x + x * y) + z, and quotients: what a budget
// allows to be rewritten.
static vyre_value relaxable(generator *g, vyre_type type, bool uniform, int depth) {
  uint32_t way = random_below(&g->random, 7);
  if (way >= 5) return relaxable_quotient(g, type, uniform, depth);
  vyre_value x = generator_expr(g, type, uniform, depth - 1);
  vyre_value y = generator_expr(g, type, uniform, depth - 1);
  vyre_value z = generator_expr(g, type, uniform, depth - 1);
  vyre_value product = vyre_build_binary(g->b, VYRE_OP_MUL, x, y);
  if (way == 4) {
    vyre_value square = vyre_build_binary(g->b, VYRE_OP_MUL, x, x);
    product = vyre_build_binary(g->b, VYRE_OP_ADD, square, product);
  }
  vyre_op op = way % 2 ? VYRE_OP_SUB : VYRE_OP_ADD;
  return way < 2 || way == 4 ? vyre_build_binary(g->b, op, product, z)
                             : vyre_build_binary(g->b, op, z, product);
}

vyre_value generator_expr(generator *g, vyre_type type, bool uniform, int depth) {
  if (depth <= 0 || random_chance(&g->random, 25)) return leaf(g, type, uniform, depth);
  if (g->options->fast_ulp && type_is_float(type) && random_chance(&g->random, 50))
    return relaxable(g, type, uniform, depth);
  vyre_op op = (vyre_op)g->ops[type][random_below(&g->random, g->op_counts[type])];
  vyre_type of = operand_type(g, op, type);
  vyre_value args[3] = {0};
  for (uint32_t i = 0; i < op_table[op].operand_count; i++)
    args[i] =
        generator_expr(g, op == VYRE_OP_SELECT && i == 0 ? VYRE_BOOL : of, uniform, depth - 1);
  return vyre_build_op(g->b, op, type, op_table[op].operand_count, args);
}
