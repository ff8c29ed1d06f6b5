// SPDX-License-Identifier: MIT
#include "conform/idioms.h"

#include "base/error.h"
#include "conform/generate.h"

#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 100, BUFFERS = 4, TRANSIENTS = 3 };

typedef struct maker {
  random_state random;
  vyre_builder *b;
  vyre_mem in, out, count;        // i32 read, i32 readwrite, u32 readwrite
  vyre_mem temporary[TRANSIENTS]; // i32, as long as `in`
  uint32_t n;                     // parameter: u32
  vyre_value id;
} maker;

static bool chance(maker *m, uint32_t percent) {
  return random_chance(&m->random, percent);
}

static vyre_value constant(maker *m, uint32_t below) {
  return vyre_build_i32(m->b, (int32_t)random_below(&m->random, below));
}

static vyre_value add(maker *m, vyre_value x, vyre_value y) {
  return vyre_build_binary(m->b, VYRE_OP_ADD, x, y);
}

// Some arithmetic on a value, so that results depend on it.
static vyre_value stir(maker *m, vyre_value x) {
  static const vyre_op ops[] = {VYRE_OP_ADD, VYRE_OP_MUL, VYRE_OP_XOR, VYRE_OP_SUB, VYRE_OP_MAX};
  vyre_op op = ops[random_below(&m->random, 5)];
  return vyre_build_binary(m->b, op, x, constant(m, 7));
}

// ---- statements ---------------------------------------------------------------------------------

// for k in lo..hi { if k < bound { v = v op k } }
static vyre_value guarded_loop(maker *m, vyre_value x) {
  vyre_var v = vyre_build_var(m->b, "sum", x);
  vyre_value bound =
      vyre_build_binary(m->b, VYRE_OP_REM, vyre_build_load(m->b, m->in, m->id), constant(m, 20));
  vyre_value k = vyre_build_for(m->b, constant(m, 4), vyre_build_i32(m->b, 12), 0);
  bool is_below = chance(m, 50);
  vyre_build_if(m->b, vyre_build_binary(m->b, is_below ? VYRE_OP_LT : VYRE_OP_GE, k, bound));
  vyre_build_set(m->b, v, stir(m, add(m, vyre_build_get(m->b, v), k)));
  vyre_build_end(m->b);
  vyre_build_end(m->b);
  return vyre_build_get(m->b, v);
}

// A loop around a condition that is made outside of it.
static vyre_value unswitchable_loop(maker *m, vyre_value x) {
  vyre_var v = vyre_build_var(m->b, "sum", x);
  vyre_value c =
      vyre_build_binary(m->b, VYRE_OP_GT, vyre_build_load(m->b, m->in, m->id), constant(m, 50));
  vyre_build_for(m->b, vyre_build_i32(m->b, 0), constant(m, 40), 0);
  vyre_build_if(m->b, c);
  vyre_build_set(m->b, v, stir(m, vyre_build_get(m->b, v)));
  if (chance(m, 50)) {
    vyre_build_else(m->b);
    vyre_build_set(m->b, v, stir(m, vyre_build_get(m->b, v)));
  }
  vyre_build_end(m->b);
  if (chance(m, 20)) vyre_build_break(m->b);
  vyre_build_end(m->b);
  return vyre_build_get(m->b, v);
}

static vyre_value constant_loop(maker *m, vyre_value x) {
  vyre_var v = vyre_build_var(m->b, "sum", x);
  vyre_value k = vyre_build_for(m->b, constant(m, 3), constant(m, 7), 0);
  vyre_build_set(m->b, v, stir(m, add(m, vyre_build_get(m->b, v), k)));
  vyre_build_end(m->b);
  return vyre_build_get(m->b, v);
}

// The same element loaded twice, with or without a store between, and stored twice.
static vyre_value repeated_accesses(maker *m, vyre_value x) {
  vyre_value first = vyre_build_load(m->b, m->out, m->id);
  if (chance(m, 50)) vyre_build_store(m->b, m->out, m->id, stir(m, x));
  vyre_value second = vyre_build_load(m->b, m->out, m->id);
  if (chance(m, 50)) {
    vyre_build_if(m->b, vyre_build_binary(m->b, VYRE_OP_LT, first, second));
    vyre_build_store(m->b, m->out, m->id, first);
    vyre_build_end(m->b);
  }
  vyre_build_store(m->b, m->out, m->id, stir(m, first));
  if (chance(m, 30)) first = add(m, first, vyre_build_load(m->b, m->out, m->id));
  vyre_build_store(m->b, m->out, m->id, stir(m, second));
  return add(m, first, second);
}

static vyre_value private_array(maker *m, vyre_value x) {
  vyre_mem a = vyre_build_array(m->b, "a", VYRE_I32, 4);
  vyre_value zero = vyre_build_u32(m->b, 0), one = vyre_build_u32(m->b, 1 + 4u * chance(m, 20));
  vyre_build_store(m->b, a, zero, x);
  vyre_build_store(m->b, a, one, stir(m, x));
  if (chance(m, 50)) vyre_build_store(m->b, a, zero, stir(m, x));
  return add(m, vyre_build_load(m->b, a, zero), vyre_build_load(m->b, a, one));
}

static vyre_value idle_atomics(maker *m, vyre_value x) {
  vyre_value at = vyre_build_u32(m->b, random_below(&m->random, 4));
  for (int i = 0; i < 3; i++) {
    vyre_value amount = vyre_build_u32(m->b, random_below(&m->random, 3));
    vyre_build_atomic(m->b, chance(m, 70) ? VYRE_OP_ATOMIC_ADD : VYRE_OP_ATOMIC_SUB, m->count, at,
                      amount);
  }
  return x;
}

// if global_id < extent { ... }, in the spellings that kernels have.
static vyre_value checked_id(maker *m, vyre_value x) {
  vyre_value extent = vyre_build_len(m->b, m->in), id = m->id;
  if (chance(m, 50)) {
    extent = vyre_build_convert(m->b, VYRE_I32, extent);
    id = vyre_build_convert(m->b, VYRE_I32, id);
  }
  bool is_reversed = chance(m, 30), is_exit = chance(m, 30);
  vyre_op op =
      is_exit ? (is_reversed ? VYRE_OP_LE : VYRE_OP_GE) : (is_reversed ? VYRE_OP_GT : VYRE_OP_LT);
  vyre_value c = is_reversed ? vyre_build_binary(m->b, op, extent, id)
                             : vyre_build_binary(m->b, op, id, extent);
  vyre_var v = vyre_build_var(m->b, "v", x);
  vyre_build_if(m->b, c);
  vyre_build_set(m->b, v, stir(m, x));
  vyre_build_end(m->b);
  return vyre_build_get(m->b, v);
}

// Uniform arithmetic under a condition that differs, and bounds that ranges decide.
static vyre_value uniform_under_condition(maker *m, vyre_value x) {
  vyre_var v = vyre_build_var(m->b, "v", x);
  vyre_build_if(m->b, vyre_build_binary(m->b, VYRE_OP_LT, x, constant(m, 9)));
  vyre_value n = vyre_build_convert(m->b, VYRE_I32, vyre_build_param_value(m->b, m->n));
  vyre_value low = vyre_build_binary(m->b, VYRE_OP_AND, n, vyre_build_i32(m->b, 15));
  vyre_build_if(m->b, vyre_build_binary(m->b, VYRE_OP_LT, low, vyre_build_i32(m->b, 16)));
  vyre_build_set(m->b, v, stir(m, add(m, low, x)));
  vyre_build_end(m->b);
  vyre_build_end(m->b);
  return vyre_build_get(m->b, v);
}

// if x < c { ...; out[i] = a } else { ...; out[i] = b }, sometimes out of bounds in one.
static vyre_value either_stores(maker *m, vyre_value x) {
  vyre_value outside = add(m, m->id, vyre_build_u32(m->b, ELEMENTS));
  vyre_value c = vyre_build_binary(m->b, VYRE_OP_LT, x, constant(m, 40));
  vyre_build_if(m->b, c);
  if (chance(m, 30)) vyre_build_store(m->b, m->out, m->id, x);
  vyre_build_store(m->b, m->out, m->id, stir(m, x));
  vyre_build_else(m->b);
  vyre_build_store(m->b, m->out, chance(m, 80) ? m->id : outside, stir(m, x));
  vyre_build_end(m->b);
  return stir(m, x);
}

// Atomics at neighbours and at scattered elements, all or some of the lanes. Only sums, which come
// out the same in any order.
static vyre_value counting(maker *m, vyre_value x) {
  bool is_some = chance(m, 50);
  if (is_some) vyre_build_if(m->b, vyre_build_binary(m->b, VYRE_OP_LT, x, constant(m, 40)));
  vyre_value amount = vyre_build_convert(m->b, VYRE_U32, stir(m, x));
  vyre_value at = chance(m, 60) ? m->id : vyre_build_binary(m->b, VYRE_OP_AND, m->id, amount);
  vyre_build_atomic(m->b, chance(m, 50) ? VYRE_OP_ATOMIC_ADD : VYRE_OP_ATOMIC_SUB, m->count, at,
                    amount);
  if (is_some) vyre_build_end(m->b);
  return x;
}

typedef vyre_value (*idiom)(maker *m, vyre_value x);

static vyre_value some_idioms(maker *m, vyre_value x) {
  static const idiom idioms[] = {
      guarded_loop, unswitchable_loop, constant_loop,           repeated_accesses, private_array,
      idle_atomics, checked_id,        uniform_under_condition, either_stores,     counting};
  uint32_t count = sizeof idioms / sizeof *idioms;
  for (int i = 0; i < 2; i++) x = idioms[random_below(&m->random, count)](m, x);
  return x;
}

// ---- regions ------------------------------------------------------------------------------------

static void begin(maker *m, const char *name, vyre_value (*extent)(maker *m), uint32_t group) {
  vyre_build_region_begin(m->b, name);
  vyre_value grid = extent(m);
  vyre_build_grid(m->b, 1, &grid, (uint32_t[3]){group, 1, 1});
  m->id = vyre_build_id(m->b, VYRE_OP_GLOBAL_ID, 0);
}

static vyre_value whole(maker *m) {
  return vyre_build_len(m->b, m->in);
}

static vyre_value part(maker *m) {
  return vyre_build_param_value(m->b, m->n);
}

// Stage k reads what stage k - 1 left, at its own element or at a neighbour's, and leaves its own.
static void pipeline(maker *m) {
  uint32_t stages = random_range(&m->random, 2, TRANSIENTS);
  for (uint32_t i = 0; i <= stages; i++) {
    char name[] = {'s', (char)('0' + i), 0};
    begin(m, name, chance(m, 80) ? whole : part, 64);
    vyre_value at = m->id;
    if (i && chance(m, 15)) at = vyre_build_binary(m->b, VYRE_OP_ADD, at, vyre_build_u32(m->b, 1));
    vyre_value x = vyre_build_load(m->b, i ? m->temporary[i - 1] : m->in, at);
    if (chance(m, 40)) x = some_idioms(m, x);
    if (chance(m, 30))
      x = add(m, x,
              vyre_build_convert(m->b, VYRE_I32, vyre_build_id(m->b, VYRE_OP_GLOBAL_SIZE, 0)));
    vyre_mem to = i == stages ? m->out : m->temporary[i];
    vyre_build_store(m->b, to, m->id, stir(m, x));
    vyre_build_region_end(m->b);
  }
}

static void single(maker *m) {
  begin(m, "main", chance(m, 80) ? whole : part, 32);
  vyre_value x = some_idioms(m, vyre_build_load(m->b, m->in, m->id));
  vyre_build_store(m->b, m->out, m->id, x);
  vyre_build_region_end(m->b);
}

static vyre_value hundred(maker *m) {
  return vyre_build_u32(m->b, ELEMENTS);
}

// Barriers at the start, doubled and at the end, around an exchange over shared memory.
static void barriers(maker *m) {
  begin(m, "group", hundred, 20);
  vyre_mem s = vyre_build_shared(m->b, "s", VYRE_I32, 20);
  vyre_value l = vyre_build_id(m->b, VYRE_OP_LOCAL_ID, 0);
  if (chance(m, 50)) vyre_build_barrier(m->b);
  vyre_value x = stir(m, vyre_build_load(m->b, m->in, m->id));
  vyre_build_store(m->b, s, l, x);
  vyre_build_barrier(m->b);
  if (chance(m, 50)) x = stir(m, x);
  if (chance(m, 50)) vyre_build_barrier(m->b);
  vyre_value other = vyre_build_binary(m->b, VYRE_OP_SUB, vyre_build_u32(m->b, 19), l);
  x = add(m, x, vyre_build_load(m->b, s, other));
  vyre_build_store(m->b, m->out, m->id, x);
  if (chance(m, 50)) vyre_build_barrier(m->b);
  vyre_build_region_end(m->b);
}

// if l < step { s[l] = s[l] op s[l + step] }
static void join_halves(maker *m, vyre_mem s, vyre_value l, vyre_value step) {
  vyre_build_if(m->b, vyre_build_binary(m->b, VYRE_OP_LT, l, step));
  vyre_value near = vyre_build_load(m->b, s, l), far = vyre_build_load(m->b, s, add(m, l, step));
  vyre_build_store(m->b, s, l, stir(m, add(m, near, far)));
  vyre_build_end(m->b);
}

// if l >= step { x = s[l - step] }  barrier  s[l] = s[l] op x
static void join_neighbours(maker *m, vyre_mem s, vyre_value l, vyre_value step) {
  vyre_var x = vyre_build_var(m->b, "x", constant(m, 5));
  vyre_build_if(m->b, vyre_build_binary(m->b, VYRE_OP_GE, l, step));
  vyre_value at = vyre_build_binary(m->b, VYRE_OP_SUB, l, step);
  vyre_build_set(m->b, x, vyre_build_load(m->b, s, at));
  vyre_build_end(m->b);
  vyre_build_barrier(m->b);
  vyre_value old = vyre_build_load(m->b, s, l);
  vyre_build_store(m->b, s, l, add(m, old, vyre_build_get(m->b, x)));
}

static void set_step(maker *m, vyre_var step, bool is_scan) {
  vyre_value factor = vyre_build_u32(m->b, chance(m, 80) ? 2 : 3);
  vyre_op op = is_scan ? VYRE_OP_MUL : VYRE_OP_DIV;
  vyre_build_set(m->b, step, vyre_build_binary(m->b, op, vyre_build_get(m->b, step), factor));
}

// Reductions and scans over a workgroup: a step that halves or doubles between barriers, behind the
// condition or in it. The array is as long as the group, or not, and is written by all at first, or
// by some.
static void tree(maker *m) {
  static const uint32_t sizes[] = {1, 2, 7, 16, 20, 31, 32, 33, 64, 100, 128};
  uint32_t size = sizes[random_below(&m->random, sizeof sizes / sizeof *sizes)];
  uint32_t length = chance(m, 70) ? size : 1 + random_below(&m->random, 2 * size);
  bool is_scan = chance(m, 40), is_gated = chance(m, 20), steps_first = chance(m, 20);
  begin(m, "tree", hundred, size);
  vyre_mem s = vyre_build_shared(m->b, "s", VYRE_I32, length);
  vyre_value l = vyre_build_id(m->b, VYRE_OP_LOCAL_ID, 0);
  if (is_gated)
    vyre_build_if(m->b, vyre_build_binary(m->b, VYRE_OP_LT, l, vyre_build_u32(m->b, size / 2)));
  vyre_build_store(m->b, s, l, stir(m, vyre_build_load(m->b, m->in, m->id)));
  if (is_gated) vyre_build_end(m->b);
  vyre_build_barrier(m->b);
  uint32_t first = chance(m, 70) ? size / 2 : random_below(&m->random, size + 1);
  vyre_var step = vyre_build_var(m->b, "step", vyre_build_u32(m->b, is_scan ? 1 : first));
  vyre_build_while(m->b);
  if (steps_first) set_step(m, step, is_scan);
  vyre_value now = vyre_build_get(m->b, step);
  vyre_value bound = vyre_build_u32(m->b, is_scan ? size : 0);
  vyre_build_do(m->b, vyre_build_binary(m->b, is_scan ? VYRE_OP_LT : VYRE_OP_GT, now, bound));
  (is_scan ? join_neighbours : join_halves)(m, s, l, now);
  vyre_build_barrier(m->b);
  if (!steps_first) set_step(m, step, is_scan);
  vyre_build_end(m->b);
  vyre_value from = chance(m, 50) ? l : vyre_build_u32(m->b, 0);
  vyre_build_store(m->b, m->out, m->id, vyre_build_load(m->b, s, from));
  vyre_build_region_end(m->b);
}

// for k in 0..n { if k == turn { barrier  x = s[other] } }: all meet at one barrier, in iterations
// of a loop that may differ. The turn is the workgroup's, or anybody's own.
static void meeting(maker *m) {
  begin(m, "meeting", hundred, 20);
  uint32_t count = 1 + random_below(&m->random, 18);
  vyre_mem s = vyre_build_shared(m->b, "s", VYRE_I32, 20);
  vyre_value l = vyre_build_id(m->b, VYRE_OP_LOCAL_ID, 0);
  vyre_value n = vyre_build_u32(m->b, count), x = vyre_build_load(m->b, m->in, m->id);
  uint32_t way = random_below(&m->random, 4);
  vyre_value own = way == 0   ? vyre_build_u32(m->b, random_below(&m->random, count))
                   : way == 1 ? vyre_build_param_value(m->b, m->n)
                   : way == 2 ? vyre_build_convert(m->b, VYRE_U32, x)
                              : l;
  vyre_value turn = vyre_build_binary(m->b, VYRE_OP_REM, own, n);
  vyre_build_store(m->b, s, l, stir(m, x));
  vyre_var v = vyre_build_var(m->b, "v", x);
  vyre_value k = vyre_build_for(m->b, vyre_build_u32(m->b, 0), n, 0);
  vyre_build_if(m->b, vyre_build_binary(m->b, VYRE_OP_EQ, k, turn));
  vyre_build_barrier(m->b);
  vyre_value other = vyre_build_binary(m->b, VYRE_OP_SUB, vyre_build_u32(m->b, 19), l);
  vyre_build_set(m->b, v, add(m, vyre_build_get(m->b, v), vyre_build_load(m->b, s, other)));
  vyre_build_end(m->b);
  vyre_build_end(m->b);
  vyre_build_store(m->b, m->out, m->id, vyre_build_get(m->b, v));
  vyre_build_region_end(m->b);
}

// Where a loop that invocations begin at their own numbers begins for the first one, and ends. Near
// the end of the type they wrap; those that do would run for long, unless the end is near, or the
// steps are large.
typedef struct stride_bounds {
  vyre_value base, end;
  uint32_t step;
} stride_bounds;

static stride_bounds some_bounds(maker *m, uint32_t group) {
  stride_bounds s = {.step = chance(m, 70) ? group : 1 + random_below(&m->random, 2 * group)};
  uint32_t below_top = UINT32_MAX - random_below(&m->random, 3 * group);
  s.end = chance(m, 50) ? vyre_build_param_value(m->b, m->n)
                        : vyre_build_u32(m->b, random_below(&m->random, 3 * ELEMENTS));
  switch (random_below(&m->random, 4)) {
  case 0: s.base = vyre_build_u32(m->b, 0); break;
  case 1:
    s.base = vyre_build_binary(m->b, VYRE_OP_MUL, vyre_build_id(m->b, VYRE_OP_GROUP_ID, 0),
                               vyre_build_param_value(m->b, m->n));
    break;
  case 2: s.base = vyre_build_u32(m->b, below_top); break;
  default:
    s.base = vyre_build_u32(m->b, random_below(&m->random, ELEMENTS));
    s.end = vyre_build_u32(m->b, below_top);
    s.step = (uint32_t)1 << (28 + random_below(&m->random, 4));
  }
  return s;
}

// for c in base + l * stride..end by step { v = v op in[c] }
static void strided_loop(maker *m) {
  static const uint32_t groups[] = {1, 2, 4, 5, 10, 20, 25, 50, 100};
  uint32_t group = groups[random_below(&m->random, sizeof groups / sizeof *groups)];
  bool is_wide = chance(m, 20);
  begin(m, "strides", hundred, group);
  stride_bounds s = some_bounds(m, group);
  vyre_value l = vyre_build_id(m->b, VYRE_OP_LOCAL_ID, 0);
  if (chance(m, 20)) l = vyre_build_binary(m->b, VYRE_OP_MUL, l, vyre_build_u32(m->b, 2));
  vyre_value lo = add(m, s.base, l), hi = s.end;
  if (is_wide) {
    lo = vyre_build_convert(m->b, VYRE_U64, lo);
    hi = vyre_build_convert(m->b, VYRE_U64, hi);
  }
  vyre_value step = vyre_build_const(m->b, is_wide ? VYRE_U64 : VYRE_U32, s.step);
  vyre_var v = vyre_build_var(m->b, "sum", vyre_build_load(m->b, m->in, m->id));
  vyre_value c = vyre_build_for(m->b, lo, hi, step);
  vyre_value x = add(m, vyre_build_load(m->b, m->in, c), vyre_build_get(m->b, v));
  vyre_build_set(m->b, v, stir(m, add(m, x, vyre_build_convert(m->b, VYRE_I32, c))));
  vyre_build_end(m->b);
  vyre_build_store(m->b, m->out, m->id, vyre_build_get(m->b, v));
  vyre_build_region_end(m->b);
}

static vyre_value scaled(maker *m, vyre_value x, uint32_t by) {
  bool is_shift = !(by & (by - 1)) && chance(m, 50);
  return is_shift ? vyre_build_binary(m->b, VYRE_OP_SHL, x,
                                      vyre_build_u32(m->b, (uint32_t)__builtin_ctz(by)))
                  : vyre_build_binary(m->b, VYRE_OP_MUL, x, vyre_build_u32(m->b, by));
}

// size * x + field, in a type that an index may have.
static vyre_value field_index(maker *m, vyre_value x, uint32_t size, uint32_t field, bool is_wide) {
  vyre_value at = scaled(m, x, size);
  if (is_wide) at = vyre_build_convert(m->b, VYRE_U64, at);
  return add(m, at, vyre_build_const(m->b, is_wide ? VYRE_U64 : VYRE_U32, field));
}

// Where an invocation's record of a buffer is: its own number, one that begins anew for each few
// invocations, or one that is loaded.
static vyre_value record_number(maker *m) {
  vyre_value few = vyre_build_u32(m->b, 1 + random_below(&m->random, 5));
  switch (random_below(&m->random, 4)) {
  case 0: {
    vyre_value quotient = vyre_build_binary(m->b, VYRE_OP_DIV, m->id, few);
    vyre_value rest = vyre_build_binary(m->b, VYRE_OP_REM, m->id, few);
    return add(m, scaled(m, quotient, 1 + random_below(&m->random, 7)), rest);
  }
  case 1: return vyre_build_convert(m->b, VYRE_U32, vyre_build_load(m->b, m->in, m->id));
  case 2: return vyre_build_binary(m->b, VYRE_OP_SUB, m->id, few);
  default: return m->id;
  }
}

// Records in shared memory and in buffers: every field is written, or some, and those of another
// one are read, or their sum. Most of a buffer's are out of bounds.
static void records(maker *m) {
  static const uint32_t groups[] = {4, 10, 20, 50, 100};
  uint32_t group = groups[random_below(&m->random, 5)], size = 1 + random_below(&m->random, 5);
  if (chance(m, 40)) size = 1u << random_below(&m->random, 5);
  uint32_t length = group * size - (chance(m, 30) ? random_below(&m->random, size + 3) : 0);
  bool is_wide = chance(m, 30);
  begin(m, "records", hundred, group);
  vyre_mem s = vyre_build_shared(m->b, "s", VYRE_I32, length ? length : 1);
  vyre_value l = vyre_build_id(m->b, VYRE_OP_LOCAL_ID, 0), from = record_number(m);
  vyre_value x = vyre_build_load(m->b, m->in, m->id);
  bool is_some = chance(m, 30);
  if (is_some) vyre_build_if(m->b, vyre_build_binary(m->b, VYRE_OP_LT, x, constant(m, 60)));
  for (uint32_t f = 0; f < size; f++) {
    if (size > 1 && chance(m, 5)) continue;
    vyre_value loaded = vyre_build_load(m->b, m->in, field_index(m, from, size, f, is_wide));
    vyre_build_store(m->b, s, field_index(m, l, size, f, is_wide), stir(m, add(m, loaded, x)));
  }
  if (is_some) vyre_build_end(m->b);
  vyre_build_barrier(m->b);
  vyre_value last = vyre_build_u32(m->b, group - 1);
  vyre_value other = chance(m, 50) ? vyre_build_binary(m->b, VYRE_OP_SUB, last, l) : l;
  if (chance(m, 20)) other = vyre_build_binary(m->b, VYRE_OP_XOR, l, vyre_build_u32(m->b, 1));
  vyre_var sum = vyre_build_var(m->b, "sum", x);
  for (uint32_t f = 0; f < size; f++) {
    vyre_value loaded = vyre_build_load(m->b, s, field_index(m, other, size, f, is_wide));
    vyre_build_set(m->b, sum, stir(m, add(m, vyre_build_get(m->b, sum), loaded)));
  }
  uint32_t written = 1u << random_below(&m->random, 3);
  if (is_some) vyre_build_if(m->b, vyre_build_binary(m->b, VYRE_OP_LT, x, constant(m, 60)));
  for (uint32_t f = 0; f < written; f++)
    vyre_build_store(m->b, m->out, field_index(m, m->id, written, f, is_wide),
                     stir(m, vyre_build_get(m->b, sum)));
  if (is_some) vyre_build_end(m->b);
  vyre_build_region_end(m->b);
}

// ---- the trial ----------------------------------------------------------------------------------

static void make_program(maker *m) {
  m->n = vyre_build_param(m->b, "n", VYRE_U32);
  m->in = vyre_build_buffer(m->b, "in", VYRE_I32, VYRE_READ, 0);
  m->out = vyre_build_buffer(m->b, "out", VYRE_I32, VYRE_READWRITE, 0);
  m->count = vyre_build_buffer(m->b, "count", VYRE_U32, VYRE_READWRITE, 0);
  vyre_build_buffer(m->b, "unused", VYRE_F32, VYRE_READWRITE, 0);
  vyre_value length = vyre_build_len(m->b, m->in);
  for (int i = 0; i < TRANSIENTS; i++)
    m->temporary[i] =
        vyre_build_transient(m->b, (char[]){'t', (char)('0' + i), 0}, VYRE_I32, length);
  uint32_t kind = random_below(&m->random, 8);
  if (kind < 2)
    pipeline(m);
  else if (kind == 2)
    single(m);
  else if (kind == 3)
    barriers(m);
  else if (kind == 4)
    tree(m);
  else if (kind == 5)
    meeting(m);
  else if (kind == 6)
    records(m);
  else
    strided_loop(m);
}

static bool make_inputs(maker *m, trial *t) {
  t->params = calloc(1, sizeof *t->params);
  t->buffers = calloc(BUFFERS, sizeof *t->buffers);
  if (!t->params || !t->buffers) return false;
  t->param_count = 1;
  t->params[0] = vyre_scalar_u32(random_below(&m->random, 2 * ELEMENTS));
  for (; t->buffer_count < BUFFERS; t->buffer_count++) {
    vyre_span *span = &t->buffers[t->buffer_count];
    *span = (vyre_span){malloc(4 * ELEMENTS), 4 * ELEMENTS};
    if (!span->data) return false;
    int32_t *elements = span->data;
    for (int i = 0; i < ELEMENTS; i++) elements[i] = (int32_t)random_below(&m->random, 100) - 20;
  }
  return true;
}

vyre_status idioms_trial(uint64_t seed, trial *out, vyre_error *error) {
  *out = (trial){0};
  maker m = {.random = {seed * 2654435761u + 17}, .b = vyre_builder_new("idiom")};
  if (!m.b) return error_out_of_memory(error);
  make_program(&m);
  vyre_status status = vyre_builder_finish(m.b, &out->program, error);
  vyre_builder_free(m.b);
  if (status == VYRE_OK && !make_inputs(&m, out)) status = error_out_of_memory(error);
  if (status != VYRE_OK) trial_fini(out);
  return status;
}
