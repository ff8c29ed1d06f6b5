// SPDX-License-Identifier: MIT
#include "conform/shapes_state.h"

// ---- effects ------------------------------------------------------------------------------------

node maker_value(maker *m, vyre_type type) {
  uint32_t way = maker_below(m, 100);
  if (way < 25) return maker_as(m, maker_const(m, VYRE_I32, 1 + maker_below(m, 9)), type);
  if (way < 45) return maker_as(m, m->linear, type);
  if (way < 55) return maker_as(m, maker_narrow(m), type);
  const memory *x = &m->memories[FOR_VALUES];
  node loaded = maker_as(m, maker_load(m, FOR_VALUES, maker_index(m, x->length)), type);
  if (way < 85) return loaded;
  node more = maker_as(m, maker_load(m, FOR_VALUES, maker_index(m, x->length)), type);
  return maker_binary(m, VYRE_OP_ADD, loaded, more);
}

void maker_store_own(maker *m, node value) {
  const memory *out = &m->memories[FOR_OUTPUT];
  node at = maker_own(m, out, maker_below(m, out->slots));
  if (maker_chance(m, 15)) {
    node old = {vyre_build_load(m->b, out->mem, at.value), out->type, 0};
    value = maker_binary(m, type_is_int(out->type) ? VYRE_OP_XOR : VYRE_OP_MAX, value, old);
  }
  vyre_build_store(m->b, out->mem, at.value, value.value);
}

static void count(maker *m) {
  const memory *out = &m->memories[FOR_COUNTS];
  node at = maker_index(m, out->length), value = maker_value(m, out->type);
  vyre_build_atomic(m->b, out->atomic, out->mem, at.value, value.value);
}

static void effect(maker *m) {
  if (maker_chance(m, 12))
    count(m);
  else
    maker_store_own(m, maker_value(m, m->memories[FOR_OUTPUT].type));
}

static void effects(maker *m) {
  effect(m);
  if (maker_chance(m, 20)) effect(m);
}

// ---- conditions ---------------------------------------------------------------------------------

static void gated(maker *m, node condition) {
  vyre_build_if(m->b, condition.value);
  effects(m);
  vyre_build_end(m->b);
}

static void make_gate(maker *m) {
  gated(m, maker_condition(m, 0));
}

static void make_logic(maker *m) {
  gated(m, maker_condition(m, 2));
}

static void make_exit(maker *m) {
  do {
    vyre_build_if(m->b, maker_condition(m, 1).value);
    vyre_build_return(m->b);
    vyre_build_end(m->b);
  } while (maker_chance(m, 30));
  effects(m);
}

static void make_either(maker *m) {
  vyre_build_if(m->b, maker_condition(m, 1).value);
  effect(m);
  vyre_build_else(m->b);
  effect(m);
  vyre_build_end(m->b);
}

static void make_nest(maker *m) {
  vyre_build_if(m->b, maker_condition(m, 1).value);
  if (maker_chance(m, 40)) effect(m);
  gated(m, maker_condition(m, 1));
  if (maker_chance(m, 30)) {
    vyre_build_else(m->b);
    gated(m, maker_condition(m, 0));
  }
  vyre_build_end(m->b);
}

// y[own] = c ? x[i] : x[k]
static void make_select(maker *m) {
  vyre_type type = m->memories[FOR_OUTPUT].type;
  node c = maker_condition(m, 1), x = maker_value(m, type), y = maker_value(m, type);
  maker_store_own(m, (node){vyre_build_select(m->b, c.value, x.value, y.value), type, 0});
}

// u32(bytes[i]) < i, and what else has a small range: i / 3, i % 4, i & 7, u8(i)
static void make_range(maker *m) {
  vyre_type type = maker_index_type(m);
  node moving = maker_as(m, maker_chance(m, 70) ? m->ids[0] : m->linear, type);
  node small = moving, by = maker_const(m, type, 1 + maker_below(m, 9));
  uint32_t way = maker_below(m, 100);
  if (way < 45)
    small = maker_as(m, maker_narrow(m), type);
  else if (way < 60)
    small = maker_binary(m, VYRE_OP_DIV, moving, by);
  else if (way < 75)
    small = maker_binary(m, VYRE_OP_REM, moving, by);
  else if (way < 85)
    small = maker_binary(m, VYRE_OP_AND, moving, by);
  else
    small = maker_as(m, maker_as(m, moving, maker_chance(m, 50) ? VYRE_U8 : VYRE_I8), type);
  if (maker_chance(m, 30)) small = maker_binary(m, VYRE_OP_MUL, small, maker_stride(m, type));
  if (maker_chance(m, 30))
    small = maker_binary(m, VYRE_OP_ADD, small, maker_limit(m, type, moving.sample / 2));
  if (maker_chance(m, 25)) { // as an index, too: i * 4 + (i & 3)
    node at = maker_binary(m, VYRE_OP_MUL, moving, maker_stride(m, type));
    at = maker_binary(m, maker_chance(m, 50) ? VYRE_OP_ADD : VYRE_OP_SUB, at, small);
    node value = maker_load(m, FOR_VALUES, at);
    maker_store_own(m, maker_as(m, value, m->memories[FOR_OUTPUT].type));
    return;
  }
  gated(m, maker_compare(m, small, moving));
}

// max(i - c, 0) < n and the like, the clamp as an index too
static void make_clamp(maker *m) {
  vyre_type type = maker_index_type(m);
  node x = maker_moving(m, type);
  if (maker_chance(m, 20)) x = maker_binary(m, VYRE_OP_MUL, x, maker_hidden(m, type, 0));
  for (int i = 0; i < 2; i++) {
    vyre_op op = maker_chance(m, 50) ? VYRE_OP_MIN : VYRE_OP_MAX;
    x = maker_binary(m, op, x, maker_limit(m, type, x.sample));
    if (maker_chance(m, 50)) break;
  }
  bool is_gated = maker_chance(m, 70);
  if (is_gated) vyre_build_if(m->b, maker_compare(m, x, maker_limit(m, type, x.sample)).value);
  maker_store_own(m, maker_as(m, maker_load(m, FOR_VALUES, x), m->memories[FOR_OUTPUT].type));
  if (is_gated) vyre_build_end(m->b);
}

// i * n != i * k + c
static void make_stride(maker *m) {
  vyre_type type = maker_index_type(m);
  node sides[2];
  for (int i = 0; i < 2; i++) {
    node id = maker_as(m, maker_chance(m, 80) ? m->ids[0] : m->linear, type);
    uint64_t by = maker_below(m, 5) - 1u;
    if (maker_chance(m, 75)) id = maker_binary(m, VYRE_OP_MUL, id, maker_uniform(m, type, by));
    sides[i] = id;
  }
  if (maker_chance(m, 70)) {
    node gap = maker_limit(m, type, sides[0].sample - sides[1].sample);
    sides[1] = maker_binary(m, VYRE_OP_ADD, sides[1], gap);
  }
  gated(m, maker_compare(m, sides[0], sides[1]));
}

// i64(i) + n < m, i64(i) * s <= n: all of it at an end of the type, where it wraps near the sample
static void make_ends(maker *m) {
  static const vyre_type types[] = {VYRE_I64, VYRE_I64, VYRE_U64, VYRE_I32, VYRE_U32};
  vyre_type type = types[maker_below(m, 5)];
  node x = maker_as(m, maker_chance(m, 70) ? m->ids[0] : m->linear, type);
  uint32_t way = maker_below(m, 100);
  if (way < 30) x = maker_binary(m, VYRE_OP_MUL, x, maker_stride(m, type));
  if (way >= 15 && way < 75) {
    uint64_t end = maker_end(m, type);
    x = maker_binary(m, VYRE_OP_ADD, x, maker_uniform(m, type, end - x.sample));
  }
  uint64_t limit = maker_chance(m, 50) ? maker_end(m, type) : x.sample + maker_below(m, 9) - 4u;
  node c = maker_compare(m, x, maker_uniform(m, type, limit));
  if (maker_chance(m, 70)) {
    gated(m, c);
    return;
  }
  vyre_build_if(m->b, c.value);
  vyre_build_return(m->b);
  vyre_build_end(m->b);
  effects(m);
}

// ---- indices ------------------------------------------------------------------------------------

static void make_index(maker *m) {
  effect(m);
  if (maker_chance(m, 50)) effect(m);
}

// x[b + i64(i)], b loaded, near an end of the type
static void make_base(maker *m) {
  const memory *x = &m->memories[FOR_VALUES], *out = &m->memories[FOR_COUNTS];
  bool is_count = maker_chance(m, 30);
  uint64_t length = is_count ? out->length : x->length;
  vyre_type type = maker_chance(m, 50) ? VYRE_I64 : VYRE_U64;
  node id = maker_as(m, maker_chance(m, 70) ? m->linear : m->ids[0], type);
  if (maker_chance(m, 20)) id = maker_binary(m, VYRE_OP_SUB, maker_limit(m, type, id.sample), id);
  if (maker_chance(m, 20)) id = maker_binary(m, VYRE_OP_MUL, id, maker_uniform(m, type, 2));
  uint64_t target = maker_below(m, 9) - 4u;
  if (maker_chance(m, 30)) target += length;
  if (maker_chance(m, 50)) target += 1ull << 63;
  node at = maker_binary(m, VYRE_OP_ADD, maker_uniform(m, type, target - id.sample), id);
  if (is_count) {
    vyre_build_atomic(m->b, out->atomic, out->mem, at.value, maker_value(m, out->type).value);
    return;
  }
  bool is_gated = maker_chance(m, 30);
  if (is_gated) vyre_build_if(m->b, maker_compare(m, at, maker_limit(m, type, length)).value);
  maker_store_own(m, maker_as(m, maker_load(m, FOR_VALUES, at), m->memories[FOR_OUTPUT].type));
  if (is_gated) vyre_build_end(m->b);
}

// i > 0 && i < n - 1 with x[i - 1] and x[i + 1]
static void make_stencil(maker *m) {
  const memory *x = &m->memories[FOR_VALUES];
  vyre_type type = maker_index_type(m), result = m->memories[FOR_OUTPUT].type;
  node id = maker_as(m, maker_chance(m, 70) ? m->linear : m->ids[0], type);
  node reach = maker_const(m, type, 1 + maker_below(m, 3)), zero = maker_const(m, type, 0);
  node n = maker_uniform(m, type, maker_chance(m, 50) ? m->total : x->length);
  node last = maker_binary(m, VYRE_OP_SUB, n, reach);
  vyre_op above = maker_chance(m, 50) ? VYRE_OP_GT : VYRE_OP_GE;
  vyre_op below = maker_chance(m, 50) ? VYRE_OP_LT : VYRE_OP_LE;
  node low = maker_binary(m, above, id, maker_chance(m, 50) ? zero : reach);
  node high = maker_binary(m, below, id, last);
  vyre_build_if(m->b, maker_binary(m, VYRE_OP_AND, low, high).value);
  node before = maker_load(m, FOR_VALUES, maker_binary(m, VYRE_OP_SUB, id, reach));
  node after = maker_load(m, FOR_VALUES, maker_binary(m, VYRE_OP_ADD, id, reach));
  maker_store_own(m, maker_as(m, maker_binary(m, VYRE_OP_ADD, before, after), result));
  if (maker_chance(m, 30)) {
    vyre_build_else(m->b);
    maker_store_own(m, maker_as(m, maker_const(m, VYRE_I32, 1), result));
  }
  vyre_build_end(m->b);
}

// So many records, a whole number of vectors where that is possible, that the last one ends behind
// the buffer: by an element, mostly.
static node last_record(maker *m, vyre_type type, uint32_t fields, uint64_t length) {
  uint64_t most = length / fields < m->total ? length / fields : m->total;
  uint64_t records = most < 64 ? m->total : 64 * (1 + maker_below(m, (uint32_t)(most / 64)));
  uint64_t behind = maker_chance(m, 85) ? 1 : maker_below(m, fields + 1);
  return maker_uniform(m, type, length - records * fields + behind);
}

enum { MOST_FIELDS = 4 };

// The first numbers, each once: one after the other from any of them, mostly, else in any order.
static void some_order(maker *m, uint32_t count, uint32_t order[MOST_FIELDS]) {
  uint32_t first = maker_below(m, count);
  bool is_mixed = maker_chance(m, 40);
  for (uint32_t i = 0; i < count; i++) order[i] = (i + first) % count;
  for (uint32_t i = count; is_mixed && i > 1; i--) {
    uint32_t k = maker_below(m, i), last = order[i - 1];
    order[i - 1] = order[k];
    order[k] = last;
  }
}

// Elements of a record, read and written in any order: all of them, or some.
static void make_record(maker *m) {
  memory *out = &m->memories[FOR_OUTPUT];
  uint32_t fields = 2 + maker_below(m, MOST_FIELDS - 1), from[MOST_FIELDS], to[MOST_FIELDS];
  uint32_t used = maker_chance(m, 50) ? 1 : 1 + maker_below(m, fields), way;
  if (out->form == OWN_STAGED && out->slots > 1) fields = used = out->slots;
  some_order(m, fields, from);
  some_order(m, out->slots, to);
  if (maker_chance(m, 30) && used > 2) used--;
  bool is_gated = maker_chance(m, 10);
  vyre_type type = maker_index_type(m);
  node at = maker_as(m, m->linear, type);
  if (maker_chance(m, 25)) {
    at = maker_binary(m, VYRE_OP_AND, at, maker_piece(m, type));
    at = maker_binary(m, VYRE_OP_MUL, at, maker_uniform(m, type, 1 + maker_below(m, 3)));
  }
  at = maker_binary(m, VYRE_OP_MUL, at, maker_const(m, type, fields));
  way = maker_below(m, 100);
  if (way < 10) at = maker_binary(m, VYRE_OP_ADD, at, maker_limit(m, type, 0));
  if (way >= 10 && way < 90) {
    node base = last_record(m, type, fields, m->memories[FOR_VALUES].length);
    at = maker_binary(m, VYRE_OP_ADD, at, base);
  }
  if (is_gated) vyre_build_if(m->b, maker_relation(m).value);
  for (uint32_t i = 0; i < used; i++) {
    node field = maker_const(m, type, from[i % fields]);
    node x = maker_load(m, FOR_VALUES, maker_binary(m, VYRE_OP_ADD, at, field));
    node at_own = maker_own(m, out, to[i % out->slots]);
    vyre_build_store(m->b, out->mem, at_own.value, maker_as(m, x, out->type).value);
  }
  if (is_gated) vyre_build_end(m->b);
}

// ---- loops --------------------------------------------------------------------------------------

enum { MOST_TURNS = 24 };

// 0 to MOST_TURNS for every invocation.
static node small_number(maker *m, vyre_type type) {
  uint32_t way = maker_below(m, 100), most = 1 + maker_below(m, MOST_TURNS);
  if (way < 20) return maker_const(m, type, maker_below(m, most));
  if (way < 40) return maker_uniform(m, type, maker_below(m, most));
  node id = maker_chance(m, 75) ? m->ids[0] : m->linear;
  if (way < 50) id = maker_as(m, maker_narrow(m), VYRE_U32);
  node limit = maker_const(m, VYRE_U32, most);
  vyre_op op = way < 60 ? VYRE_OP_MIN : way < 80 ? VYRE_OP_REM : VYRE_OP_AND;
  return maker_as(m, maker_binary(m, op, id, limit), type);
}

typedef struct turns {
  vyre_type type;
  node first, end;
  uint64_t step;
} turns;

// At most MOST_TURNS turns, mostly near 0, sometimes at an end of the type.
static turns some_turns(maker *m) {
  static const vyre_type types[] = {VYRE_I32, VYRE_I32, VYRE_U32, VYRE_U32, VYRE_I64,
                                    VYRE_U64, VYRE_U8,  VYRE_I8,  VYRE_I16, VYRE_U16};
  turns t = {.type = types[maker_below(m, sizeof types / sizeof *types)]};
  t.first = small_number(m, t.type);
  t.end = maker_chance(m, 50) ? maker_uniform(m, t.type, MOST_TURNS - maker_below(m, 6))
                              : small_number(m, t.type);
  t.step = maker_chance(m, 50) ? 1 : 1 + maker_below(m, 5);
  if (maker_chance(m, 20)) {
    uint64_t top = type_is_signed(t.type) ? (1ull << (type_bits(t.type) - 1)) - 1
                                          : type_canonical_bits(t.type, ~0ull);
    node far = maker_uniform(m, t.type, top - MOST_TURNS);
    t.first = maker_binary(m, VYRE_OP_ADD, t.first, far);
    t.end = maker_binary(m, VYRE_OP_ADD, t.end, far);
  }
  return t;
}

static void enter(maker *m, vyre_value counter, const turns *t) {
  m->counters[m->counter_count++] = (node){counter, t->type, t->first.sample};
}

// if c { break }
static void leave(maker *m) {
  vyre_build_if(m->b, maker_relation(m).value);
  uint32_t way = maker_below(m, 100);
  if (way < 50)
    vyre_build_break(m->b);
  else if (way < 85)
    vyre_build_continue(m->b);
  else
    vyre_build_return(m->b);
  vyre_build_end(m->b);
}

// What a turn does: it adds an element to the sum, under a condition or not, and may leave before
// or after that.
static void turn(maker *m, vyre_var sum) {
  const memory *x = &m->memories[FOR_VALUES];
  bool is_gated = maker_chance(m, 40);
  if (maker_chance(m, 25)) leave(m);
  if (is_gated) vyre_build_if(m->b, maker_relation(m).value);
  node at = m->counters[m->counter_count - 1];
  if (type_bits(at.type) < 32) at = maker_as(m, at, VYRE_I32);
  if (maker_chance(m, 25)) {
    node by = maker_chance(m, 50) ? maker_stride(m, at.type) : maker_const(m, at.type, 1);
    at = maker_binary(m, VYRE_OP_ADD, maker_binary(m, VYRE_OP_MUL, at, by),
                      maker_limit(m, at.type, maker_below(m, 40)));
  } else if (maker_chance(m, 60)) {
    at = maker_index(m, x->length);
  }
  node element = maker_as(m, maker_load(m, FOR_VALUES, at), VYRE_U32);
  node old = maker_get(m, sum, VYRE_U32);
  vyre_build_set(m->b, sum, maker_binary(m, VYRE_OP_ADD, old, element).value);
  if (maker_chance(m, 15)) leave(m);
  if (is_gated) vyre_build_end(m->b);
}

static void store_sum(maker *m, vyre_var sum) {
  maker_store_own(m, maker_as(m, maker_get(m, sum, VYRE_U32), m->memories[FOR_OUTPUT].type));
}

// for j in k..k + 3
static void inner_turns(maker *m, vyre_var sum) {
  node first = m->counters[m->counter_count - 1];
  turns t = {.type = first.type, .first = first};
  t.end = maker_binary(m, VYRE_OP_ADD, first, maker_const(m, t.type, 1 + maker_below(m, 3)));
  enter(m, vyre_build_for(m->b, first.value, t.end.value, 0), &t);
  turn(m, sum);
  vyre_build_end(m->b);
  m->counter_count--;
}

static void make_counter(maker *m) {
  bool is_gated = maker_chance(m, 40);
  if (is_gated) vyre_build_if(m->b, maker_condition(m, 1).value);
  vyre_var sum = maker_var(m, maker_const(m, VYRE_U32, 0));
  turns t = some_turns(m);
  vyre_value step = t.step == 1 ? 0 : maker_const(m, t.type, t.step).value;
  enter(m, vyre_build_for(m->b, t.first.value, t.end.value, step), &t);
  if (maker_chance(m, 20))
    inner_turns(m, sum);
  else
    turn(m, sum);
  if (maker_chance(m, 15)) count(m);
  vyre_build_end(m->b);
  m->counter_count--;
  store_sum(m, sum);
  if (is_gated) vyre_build_end(m->b);
}

// sum = sum * 3 + k: which turns there were, and in which order.
static void add_turn(maker *m, vyre_var sum) {
  node old = maker_get(m, sum, VYRE_U32), three = maker_const(m, VYRE_U32, 3);
  node k = maker_as(m, m->counters[m->counter_count - 1], VYRE_U32);
  node more = maker_binary(m, VYRE_OP_ADD, maker_binary(m, VYRE_OP_MUL, old, three), k);
  vyre_build_set(m->b, sum, more.value);
}

// for k in 0..n { if i + c + k >= m { .. } }: the last invocation of a row is so near the end of
// the type that only the counter passes it.
static void make_reach(maker *m) {
  static const vyre_type types[] = {VYRE_U32, VYRE_I32, VYRE_I64, VYRE_U64, VYRE_U16, VYRE_I16};
  vyre_type type = types[maker_below(m, 6)];
  uint64_t often = 2 + maker_below(m, MOST_TURNS - 2);
  uint64_t end = type_is_signed(type) ? 1ull << (type_bits(type) - 1) : 0;
  bool is_down = maker_chance(m, 30);
  vyre_var sum = maker_var(m, maker_const(m, VYRE_U32, 0));
  turns t = {.type = type, .first = maker_const(m, type, 0)};
  t.end = maker_uniform(m, type, often);
  uint64_t last = end - 1 - maker_below(m, (uint32_t)often);
  node base = maker_uniform(m, type, is_down ? last : last + 1 - m->grid[0]);
  node id = maker_as(m, m->ids[0], type);
  enter(m, vyre_build_for(m->b, t.first.value, t.end.value, 0), &t);
  node at = maker_binary(m, is_down ? VYRE_OP_SUB : VYRE_OP_ADD, base, id);
  at = maker_binary(m, VYRE_OP_ADD, at, m->counters[m->counter_count - 1]);
  node limit = maker_uniform(m, type, at.sample - maker_below(m, 60));
  vyre_build_if(m->b, maker_compare(m, at, limit).value);
  add_turn(m, sum);
  vyre_build_end(m->b);
  vyre_build_end(m->b);
  m->counter_count--;
  store_sum(m, sum);
}

// var k = first  while k < end && turns < MOST_TURNS { k = k + step ... }
static void make_while(maker *m) {
  turns t = some_turns(m);
  vyre_var sum = maker_var(m, maker_const(m, VYRE_U32, 0)), k = maker_var(m, t.first);
  vyre_var left = maker_var(m, maker_const(m, VYRE_U32, MOST_TURNS));
  static const vyre_op ops[] = {VYRE_OP_LT, VYRE_OP_LT, VYRE_OP_LE, VYRE_OP_NE};
  vyre_op op = ops[maker_below(m, 4)];
  vyre_build_while(m->b);
  node goes_on = maker_binary(m, op, maker_get(m, k, t.type), t.end);
  node turns_left = maker_get(m, left, VYRE_U32);
  node has_left = maker_binary(m, VYRE_OP_GT, turns_left, maker_const(m, VYRE_U32, 0));
  vyre_build_do(m->b, maker_binary(m, VYRE_OP_AND, goes_on, has_left).value);
  node one = maker_const(m, VYRE_U32, 1), now = maker_get(m, k, t.type);
  node fewer = maker_binary(m, VYRE_OP_SUB, maker_get(m, left, VYRE_U32), one);
  vyre_build_set(m->b, left, fewer.value);
  vyre_build_set(m->b, k, maker_binary(m, VYRE_OP_ADD, now, maker_const(m, t.type, t.step)).value);
  enter(m, now.value, &t);
  turn(m, sum);
  vyre_build_end(m->b);
  m->counter_count--;
  store_sum(m, sum);
}

// for a in 0..3 { for k in first..end { v = v + x[..]  y[own] = v } }: what an inner loop left
// behind in v is what it finds when it runs again, and nobody looks at v but the inner loop.
static void make_again(maker *m) {
  vyre_var v = maker_var(m, maker_const(m, VYRE_U32, maker_below(m, 9)));
  turns t = some_turns(m);
  vyre_value often = maker_const(m, VYRE_U32, 2 + maker_below(m, 3)).value;
  vyre_build_for(m->b, maker_const(m, VYRE_U32, 0).value, often, 0);
  bool is_gated = maker_chance(m, 30);
  if (is_gated) vyre_build_if(m->b, maker_relation(m).value);
  enter(m, vyre_build_for(m->b, t.first.value, t.end.value, 0), &t);
  if (maker_chance(m, 30)) leave(m);
  add_turn(m, v);
  store_sum(m, v);
  if (maker_chance(m, 30)) leave(m);
  vyre_build_end(m->b);
  m->counter_count--;
  if (is_gated) vyre_build_end(m->b);
  vyre_build_end(m->b);
}

// sum of a[i * n + k] for k from a low number to about n: each invocation has a row of its own
static void make_rows(maker *m) {
  vyre_type type = maker_index_type(m);
  uint32_t inner = 1 + maker_below(m, 40);
  node id = maker_as(m, maker_chance(m, 70) ? m->ids[0] : m->linear, type);
  node n = maker_uniform(m, type, inner),
       end = maker_uniform(m, type, inner + maker_below(m, 3) - 1);
  node first =
      maker_chance(m, 70) ? maker_const(m, type, 0) : maker_uniform(m, type, maker_below(m, 5));
  bool is_gated = maker_chance(m, 30), is_inner = maker_chance(m, 25),
       has_other = maker_chance(m, 40);
  if (is_gated) vyre_build_if(m->b, maker_condition(m, 1).value);
  vyre_var sum = maker_var(m, maker_const(m, VYRE_U32, 0));
  node k = {vyre_build_for(m->b, first.value, end.value, 0), type, 0};
  m->counters[m->counter_count++] = k;
  node at = maker_binary(m, VYRE_OP_ADD, maker_binary(m, VYRE_OP_MUL, id, n), k);
  if (maker_chance(m, 20))
    at = maker_binary(m, VYRE_OP_SUB, at, maker_const(m, type, maker_below(m, 3)));
  node value =
      maker_as(m, maker_load(m, maker_chance(m, 70) ? FOR_VALUES : FOR_NUMBERS, at), VYRE_U32);
  if (is_inner) vyre_build_if(m->b, maker_relation(m).value);
  if (has_other) {
    node other = maker_as(m, maker_load(m, FOR_VALUES, maker_chance(m, 50) ? k : at), VYRE_U32);
    value = maker_binary(m, VYRE_OP_MUL, value, other);
  }
  node old = maker_get(m, sum, VYRE_U32);
  old = maker_binary(m, VYRE_OP_MUL, old, maker_const(m, VYRE_U32, 3));
  vyre_build_set(m->b, sum, maker_binary(m, VYRE_OP_ADD, old, value).value);
  if (is_inner) vyre_build_end(m->b);
  vyre_build_end(m->b);
  m->counter_count--;
  store_sum(m, sum);
  if (is_gated) vyre_build_end(m->b);
}

// sum of a[y * n + k] * b[k * w + x], under a condition or not
static void make_matrix(maker *m) {
  vyre_type type = maker_index_type(m);
  uint32_t rows = (uint32_t)m->grid[1], inner = 1 + maker_below(m, rows < 12 ? rows : 12);
  node x = maker_as(m, m->ids[0], type), y = maker_as(m, m->ids[1], type);
  node n = maker_uniform(m, type, inner), w = maker_uniform(m, type, m->grid[0]);
  bool is_gated = maker_chance(m, 20);
  if (is_gated) {
    node c = maker_chance(m, 40) ? maker_compare(m, x, y) : maker_condition(m, 1);
    vyre_build_if(m->b, c.value);
  }
  vyre_var sum = maker_var(m, maker_const(m, VYRE_U32, 0));
  vyre_value counter = vyre_build_for(m->b, maker_const(m, type, 0).value, n.value, 0);
  node k = {counter, type, 0};
  m->counters[m->counter_count++] = k;
  node row = maker_binary(m, VYRE_OP_ADD, maker_binary(m, VYRE_OP_MUL, y, n), k);
  if (maker_chance(m, 80)) { // rows from some on are outside
    uint64_t inside = inner * maker_below(m, rows + 1);
    uint64_t length = m->memories[FOR_VALUES].length;
    row = maker_binary(m, VYRE_OP_ADD, row, maker_uniform(m, type, length - inside));
  }
  node column = maker_binary(m, VYRE_OP_ADD, maker_binary(m, VYRE_OP_MUL, k, w), x);
  bool is_inner = maker_chance(m, 8);
  if (is_inner) vyre_build_if(m->b, maker_relation(m).value);
  node left = maker_as(m, maker_load(m, FOR_VALUES, row), VYRE_U32);
  node right = maker_as(m, maker_load(m, FOR_NARROW, column), VYRE_U32);
  node product = maker_binary(m, VYRE_OP_MUL, left, right);
  node old = maker_get(m, sum, VYRE_U32);
  vyre_build_set(m->b, sum, maker_binary(m, VYRE_OP_ADD, old, product).value);
  if (is_inner) vyre_build_end(m->b);
  vyre_build_end(m->b);
  m->counter_count--;
  store_sum(m, sum);
  if (is_gated) vyre_build_end(m->b);
}

// x != y, x + y < n and the like around one store
static void make_plane(maker *m) {
  vyre_type type = maker_index_type(m);
  node x = maker_as(m, m->ids[0], type), y = maker_as(m, m->ids[1], type);
  if (maker_chance(m, 25)) y = maker_binary(m, VYRE_OP_MUL, y, maker_limit(m, type, 2));
  if (maker_chance(m, 25)) y = maker_binary(m, VYRE_OP_ADD, y, maker_limit(m, type, x.sample));
  if (maker_chance(m, 20)) x = maker_binary(m, VYRE_OP_SUB, maker_limit(m, type, x.sample), x);
  node c = maker_compare(m, x, y);
  if (maker_chance(m, 25)) c = maker_binary(m, VYRE_OP_AND, c, maker_relation(m));
  gated(m, c);
}

const body_kind body_kinds[] = {
    {"gate", 0, make_gate},
    {"logic", 0, make_logic},
    {"exit", 0, make_exit},
    {"either", 0, make_either},
    {"nest", 0, make_nest},
    {"select", 0, make_select},
    {"range", 0, make_range},
    {"clamp", 0, make_clamp},
    {"stride", 0, make_stride},
    {"ends", 0, make_ends},
    {"index", 0, make_index},
    {"base", 0, make_base},
    {"stencil", 0, make_stencil},
    {"record", 0, make_record},
    {"counter", NEEDS_LOOPS, make_counter},
    {"while", NEEDS_LOOPS, make_while},
    {"again", NEEDS_LOOPS, make_again},
    {"reach", NEEDS_LOOPS, make_reach},
    {"rows", NEEDS_LOOPS, make_rows},
    {"matrix", NEEDS_LOOPS | NEEDS_PLANE, make_matrix},
    {"plane", NEEDS_PLANE, make_plane},
    {"turns", NEEDS_ROW | NEEDS_MANY, maker_turns},
    {"barrier", NEEDS_BARRIERS, maker_barrier},
    {"table", NEEDS_BARRIERS | NEEDS_LOOPS, maker_table},
    {"meeting", NEEDS_BARRIERS | NEEDS_LOOPS, maker_meeting},
    {"shifts", NEEDS_BARRIERS, maker_shifts},
};
const uint32_t body_kind_count = sizeof body_kinds / sizeof *body_kinds;
