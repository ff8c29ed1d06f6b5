// SPDX-License-Identifier: MIT
//
// What invocations do among themselves: places that they share in turns, and barriers.
#include "conform/shapes_state.h"

#include <stdio.h>

enum { MOST_MEETINGS = 20 }; // some are few enough to be unrolled, some are not

// Several invocations share a place, through a narrow type; one of them may write it.
void maker_turns(maker *m) {
  const memory *out = &m->memories[FOR_TURNS];
  node place = maker_as(m, m->linear, m->places == 256 ? VYRE_U8 : VYRE_U16);
  place = maker_as(m, place, maker_index_type(m));
  node round = maker_binary(m, VYRE_OP_DIV, m->linear, maker_const(m, VYRE_U32, m->places));
  node whose = maker_as(m, maker_load(m, FOR_WHOSE, place), VYRE_U32);
  node c = maker_binary(m, VYRE_OP_EQ, round, whose);
  if (maker_chance(m, 30)) c = maker_binary(m, VYRE_OP_AND, c, maker_relation(m));
  vyre_build_if(m->b, c.value);
  vyre_build_store(m->b, out->mem, place.value, maker_value(m, out->type).value);
  vyre_build_end(m->b);
}

// min(i + c, n), i32(u8(i)): an index of the next phase, which this one has as a number.
static node stepped(maker *m) {
  static const vyre_type narrow[] = {VYRE_U8, VYRE_I8, VYRE_U16, VYRE_I16};
  vyre_type type = maker_index_type(m);
  node x = maker_as(m, m->ids[0], type);
  if (maker_chance(m, 50)) x = maker_binary(m, VYRE_OP_ADD, x, maker_limit(m, type, 0));
  if (maker_chance(m, 40)) return maker_as(m, maker_as(m, x, narrow[maker_below(m, 4)]), type);
  vyre_op op = maker_chance(m, 50) ? VYRE_OP_MIN : VYRE_OP_MAX;
  return maker_binary(m, op, x, maker_limit(m, type, x.sample));
}

static uint32_t group_size(const maker *m) {
  return m->workgroup[0] * m->workgroup[1] * m->workgroup[2];
}

// An element for each of the workgroup.
static vyre_mem shared_of_group(maker *m) {
  char name[16];
  snprintf(name, sizeof name, "s%u", m->name_count++);
  return vyre_build_shared(m->b, name, VYRE_U32, group_size(m));
}

// The invocation's number in its workgroup.
static node local_number(maker *m) {
  node local = maker_fact(m, VYRE_OP_LOCAL_ID, m->rank - 1, 0);
  for (uint32_t k = m->rank - 1; k-- > 0;) {
    node inner = maker_fact(m, VYRE_OP_LOCAL_ID, k, 0);
    local = maker_binary(m, VYRE_OP_MUL, local, maker_const(m, VYRE_U32, m->workgroup[k]));
    local = maker_binary(m, VYRE_OP_ADD, local, inner);
  }
  return local;
}

// s[l] = ...  barrier  if c { y[own] = s[other] }, once or twice, sometimes all of it in a uniform
// if
void maker_barrier(maker *m) {
  uint32_t size = group_size(m);
  vyre_mem s = shared_of_group(m);
  node local = local_number(m);
  bool is_inside = maker_chance(m, 25), is_again = maker_chance(m, 40);
  if (is_inside) vyre_build_if(m->b, maker_uniform_condition(m).value);
  for (int phase = 0; phase <= is_again; phase++) {
    if (phase) vyre_build_barrier(m->b);
    bool is_stepped = maker_chance(m, 40), is_gated = maker_chance(m, 40);
    node step = is_stepped ? stepped(m) : maker_value(m, VYRE_U32);
    if (is_gated) vyre_build_if(m->b, maker_relation(m).value);
    vyre_build_store(m->b, s, local.value, maker_as(m, step, VYRE_U32).value);
    if (is_gated) vyre_build_end(m->b);
    vyre_build_barrier(m->b);
    node last = maker_const(m, VYRE_U32, size - maker_below(m, 3));
    node other = maker_binary(m, VYRE_OP_SUB, last, local);
    if (maker_chance(m, 40)) other = maker_index(m, size);
    vyre_build_if(m->b, maker_condition(m, 1).value);
    node value = {vyre_build_load(m->b, s, other.value), VYRE_U32, 0};
    if (is_stepped) {
      node element = maker_as(m, maker_load(m, FOR_VALUES, step), VYRE_U32);
      value = maker_binary(m, VYRE_OP_ADD, value, element);
    }
    maker_store_own(m, maker_as(m, value, m->memories[FOR_OUTPUT].type));
    vyre_build_end(m->b);
  }
  if (is_inside) vyre_build_end(m->b);
}

// s[l * n] = ...  for k { barrier  if c { s[l * n + (k + 1) % n] = s[other * n + k % n] ... } }
// y[own] = s[l * n + c]: a table that a workgroup goes through at a stride, as alignments do. What
// is read in a turn and what is written are different columns. A short table has strays.
void maker_table(maker *m) {
  uint32_t size = group_size(m), stride = 2 + maker_below(m, 15);
  char name[16];
  snprintf(name, sizeof name, "s%u", m->name_count++);
  vyre_mem s = vyre_build_shared(m->b, name, VYRE_U32, size * stride - maker_below(m, 2));
  node local = local_number(m), columns = maker_const(m, VYRE_U32, stride);
  node one = maker_const(m, VYRE_U32, 1), zero = maker_const(m, VYRE_U32, 0);
  node own = maker_binary(m, VYRE_OP_MUL, local, columns);
  vyre_build_store(m->b, s, own.value, maker_value(m, VYRE_U32).value);
  uint32_t count = 1 + maker_below(m, MOST_MEETINGS);
  node end =
      maker_chance(m, 50) ? maker_const(m, VYRE_U32, count) : maker_uniform(m, VYRE_U32, count);
  node k = {vyre_build_for(m->b, zero.value, end.value, 0), VYRE_U32, 0};
  vyre_build_barrier(m->b);
  bool is_gated = maker_chance(m, 70);
  node c = maker_chance(m, 60) ? maker_binary(m, VYRE_OP_LE, local, k) : maker_relation(m);
  if (is_gated) vyre_build_if(m->b, c.value);
  node other = maker_binary(m, VYRE_OP_ADD, local, maker_const(m, VYRE_U32, maker_below(m, size)));
  other = maker_binary(m, VYRE_OP_REM, other, maker_const(m, VYRE_U32, size));
  node from = maker_binary(m, VYRE_OP_MUL, other, columns);
  from = maker_binary(m, VYRE_OP_ADD, from, maker_binary(m, VYRE_OP_REM, k, columns));
  node next = maker_binary(m, VYRE_OP_REM, maker_binary(m, VYRE_OP_ADD, k, one), columns);
  node found = {vyre_build_load(m->b, s, from.value), VYRE_U32, 0};
  if (maker_chance(m, 40)) found = maker_binary(m, VYRE_OP_ADD, found, maker_value(m, VYRE_U32));
  found = maker_binary(m, VYRE_OP_XOR, maker_binary(m, VYRE_OP_ADD, found, k), local);
  vyre_build_store(m->b, s, maker_binary(m, VYRE_OP_ADD, own, next).value, found.value);
  if (is_gated) vyre_build_end(m->b);
  vyre_build_end(m->b);
  node column = maker_const(m, VYRE_U32, maker_below(m, stride));
  node last = {vyre_build_load(m->b, s, maker_binary(m, VYRE_OP_ADD, own, column).value), VYRE_U32,
               0};
  maker_store_own(m, maker_as(m, last, m->memories[FOR_OUTPUT].type));
}

// ---- shifts -------------------------------------------------------------------------------------

// l + c, near where a part of the array begins: c is up to `back` before it, or `on` behind.
static node shifted(maker *m, node local, uint32_t from, uint32_t back, uint32_t on) {
  uint32_t c = from - back + maker_below(m, back + on);
  return maker_binary(m, VYRE_OP_ADD, local, maker_const(m, VYRE_U32, c));
}

// s[l] = ...  { barrier  x = s[l + c] op s[l + d]  if l >= e { x = ... }  s[2 * n + l + f] = x }
// y[own] = s[l]: two parts of an array that are read and written in turn, at other offsets each
// time, as scans and trees do whose steps are known. Some of what is between them, and before and
// behind the array, is reached, too, but nothing that another one writes in the same phase.
void maker_shifts(maker *m) {
  uint32_t size = group_size(m), phases = 1 + maker_below(m, 6);
  char name[16];
  snprintf(name, sizeof name, "s%u", m->name_count++);
  vyre_mem s = vyre_build_shared(m->b, name, VYRE_U32, 3 * size);
  node local = local_number(m);
  vyre_build_store(m->b, s, local.value, maker_value(m, VYRE_U32).value);
  for (uint32_t phase = 0; phase < phases; phase++) {
    bool is_back = phase % 2;
    uint32_t from = is_back ? 2 * size : 0, to = is_back ? 0 : 2 * size;
    uint32_t back = is_back ? size / 4 : size, on = is_back ? size : size / 4 + 1;
    vyre_build_barrier(m->b);
    node one = shifted(m, local, from, maker_chance(m, 40) ? 0 : back, on);
    node x = {vyre_build_load(m->b, s, one.value), VYRE_U32, 0};
    vyre_var v = maker_var(m, x);
    bool is_gated = maker_chance(m, 60), is_partial = maker_chance(m, 40);
    if (is_gated) {
      node gate = maker_const(m, VYRE_U32, maker_below(m, size + 1));
      vyre_op op = maker_chance(m, 50) ? VYRE_OP_LT : VYRE_OP_GE;
      vyre_build_if(m->b, maker_binary(m, op, local, gate).value);
    }
    node other = shifted(m, local, from, back, on);
    node found = {vyre_build_load(m->b, s, other.value), VYRE_U32, 0};
    vyre_build_set(m->b, v, maker_binary(m, VYRE_OP_ADD, found, local).value);
    if (is_gated && !is_partial) vyre_build_end(m->b);
    node place = shifted(m, local, to, maker_chance(m, 40) ? size / 2 : 0, size / 2 + 1);
    vyre_build_store(m->b, s, place.value, maker_get(m, v, VYRE_U32).value);
    if (is_gated && is_partial) vyre_build_end(m->b);
  }
  vyre_build_barrier(m->b);
  node at =
      maker_binary(m, VYRE_OP_ADD, local, maker_const(m, VYRE_U32, phases % 2 ? 2 * size : 0));
  node last = {vyre_build_load(m->b, s, at.value), VYRE_U32, 0};
  maker_store_own(m, maker_as(m, last, m->memories[FOR_OUTPUT].type));
}

// ---- meetings -----------------------------------------------------------------------------------

// Below `count`: in which iteration an invocation comes to the barrier.
static node turn_of_meeting(maker *m, node local, uint32_t count) {
  uint32_t way = maker_below(m, 100);
  node limit = maker_const(m, VYRE_U32, count);
  if (way < 20) return maker_uniform(m, VYRE_U32, maker_below(m, count));
  node any = way < 60 ? local : way < 80 ? m->linear : maker_as(m, maker_narrow(m), VYRE_U32);
  return maker_binary(m, VYRE_OP_REM, any, limit);
}

// The part of an iteration in which the barrier is passed; v is what was found there.
static void meet(maker *m, vyre_mem s, node local, node k, node turn, vyre_var v) {
  bool is_again = maker_chance(m, 30);
  node last = maker_const(m, VYRE_U32, group_size(m) - 1);
  vyre_build_if(m->b, maker_binary(m, VYRE_OP_EQ, k, turn).value);
  vyre_build_barrier(m->b);
  node other = maker_binary(m, VYRE_OP_SUB, last, local);
  node found = {vyre_build_load(m->b, s, other.value), VYRE_U32, 0};
  vyre_build_set(m->b, v, maker_binary(m, VYRE_OP_ADD, found, k).value);
  if (is_again) {
    vyre_build_barrier(m->b);
    vyre_build_store(m->b, s, local.value, maker_get(m, v, VYRE_U32).value);
  }
  vyre_build_end(m->b);
}

// s[l] = ...  for k in 0..n { if k == turn { barrier  v = s[other] } }  y[own] = v: a workgroup
// meets at one barrier, each of it in an iteration of its own. As a for or as a while, in another
// loop or not, in which all meet again.
void maker_meeting(maker *m) {
  uint32_t count = 1 + maker_below(m, MOST_MEETINGS);
  bool is_while = maker_chance(m, 40), is_nested = maker_chance(m, 30);
  vyre_mem s = shared_of_group(m);
  node local = local_number(m), zero = maker_const(m, VYRE_U32, 0);
  node end =
      maker_chance(m, 50) ? maker_const(m, VYRE_U32, count) : maker_uniform(m, VYRE_U32, count);
  vyre_var v = maker_var(m, zero);
  if (is_nested) {
    node often = maker_const(m, VYRE_U32, 1 + maker_below(m, 3));
    vyre_build_for(m->b, zero.value, often.value, 0);
    vyre_build_barrier(m->b);
  }
  vyre_build_store(m->b, s, local.value, maker_value(m, VYRE_U32).value);
  node turn = turn_of_meeting(m, local, count);
  if (is_while) {
    vyre_var k = maker_var(m, zero);
    vyre_build_while(m->b);
    vyre_build_do(m->b, maker_binary(m, VYRE_OP_LT, maker_get(m, k, VYRE_U32), end).value);
    node now = maker_get(m, k, VYRE_U32);
    meet(m, s, local, now, turn, v);
    node next = maker_binary(m, VYRE_OP_ADD, now, maker_const(m, VYRE_U32, 1));
    vyre_build_set(m->b, k, next.value);
  } else {
    node k = {vyre_build_for(m->b, zero.value, end.value, 0), VYRE_U32, 0};
    meet(m, s, local, k, turn, v);
  }
  vyre_build_end(m->b);
  if (is_nested) vyre_build_end(m->b);
  maker_store_own(m, maker_as(m, maker_get(m, v, VYRE_U32), m->memories[FOR_OUTPUT].type));
}
