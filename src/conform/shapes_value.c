// SPDX-License-Identifier: MIT
#include "conform/shapes_state.h"

#include "analysis/axis.h"
#include "ir/eval.h"

#include <stdio.h>
#include <string.h>

bool maker_chance(maker *m, uint32_t percent) {
  return random_chance(&m->random, percent);
}

uint32_t maker_below(maker *m, uint32_t count) {
  return random_below(&m->random, count);
}

vyre_type maker_index_type(maker *m) {
  static const vyre_type types[] = {VYRE_U32, VYRE_U32, VYRE_I32, VYRE_I32, VYRE_I64, VYRE_U64};
  return types[maker_below(m, 6)];
}

// ---- operations, with what they come out as -----------------------------------------------------

static node make_op(maker *m, vyre_op op, vyre_type type, uint32_t count, const node *args) {
  vyre_value values[3] = {0};
  uint64_t samples[3] = {0};
  for (uint32_t i = 0; i < count; i++) {
    values[i] = args[i].value;
    samples[i] = args[i].sample;
  }
  return (node){vyre_build_op(m->b, op, type, count, values), type,
                eval_op(op, type, args[count - 1].type, samples)};
}

node maker_const(maker *m, vyre_type type, uint64_t bits) {
  bits = type_canonical_bits(type, bits);
  return (node){vyre_build_const(m->b, type, bits), type, bits};
}

node maker_param(maker *m, vyre_type type, uint64_t bits) {
  char name[16];
  snprintf(name, sizeof name, "p%u", (unsigned)m->params.count);
  uint32_t index = vyre_build_param(m->b, name, type);
  bits = type_canonical_bits(type, bits);
  if (!vec_push(&m->params, (vyre_scalar){type, bits}))
    builder_fail(m->b, VYRE_ERROR_MEMORY, "out of memory. Fix: free some");
  return (node){vyre_build_param_value(m->b, index), type, bits};
}

node maker_fact(maker *m, vyre_op op, uint32_t axis, uint64_t sample) {
  return (node){vyre_build_id(m->b, op, axis_turned(m->turn, axis)), VYRE_U32, sample};
}

node maker_binary(maker *m, vyre_op op, node x, node y) {
  bool is_relation = op_table[op].rule == RULE_EQUALITY || op_table[op].rule == RULE_ORDER;
  return make_op(m, op, is_relation ? VYRE_BOOL : x.type, 2, (node[]){x, y});
}

node maker_as(maker *m, node x, vyre_type type) {
  return x.type == type ? x : make_op(m, VYRE_OP_CONVERT, type, 1, &x);
}

// Elements that other invocations may have written are only a guess.
node maker_load(maker *m, purpose from, node index) {
  const memory *x = &m->memories[from];
  node out = {vyre_build_load(m->b, x->mem, index.value), x->type, 0};
  size_t size = type_bytes(x->type);
  if (index.sample < x->length) memcpy(&out.sample, x->data + index.sample * size, size);
  out.sample = type_canonical_bits(x->type, out.sample);
  return out;
}

vyre_var maker_var(maker *m, node first) {
  char name[16];
  snprintf(name, sizeof name, "v%u", m->name_count++);
  return vyre_build_var(m->b, name, first.value);
}

node maker_get(maker *m, vyre_var var, vyre_type type) {
  return (node){vyre_build_get(m->b, var), type, 0};
}

// ---- the same for all ---------------------------------------------------------------------------

// A 64-bit number that is read from memory.
static node loaded_number(maker *m, vyre_type type, uint64_t bits) {
  memory *numbers = &m->memories[FOR_NUMBERS];
  if (m->numbers_used >= numbers->length) return maker_param(m, type, bits);
  uint32_t at = m->numbers_used++;
  memcpy(numbers->data + at * 8, &bits, 8);
  return maker_as(m, maker_load(m, FOR_NUMBERS, maker_const(m, VYRE_U32, at)), type);
}

node maker_hidden(maker *m, vyre_type type, uint64_t bits) {
  node opposite = maker_const(m, type, ~bits);
  return make_op(m, VYRE_OP_NOT, type, 1, &opposite);
}

node maker_uniform(maker *m, vyre_type type, uint64_t bits) {
  uint32_t way = maker_below(m, 100);
  if (way < 22) return maker_const(m, type, bits);
  if (way < 25) return maker_hidden(m, type, bits);
  if (way < 75) return maker_param(m, type, bits);
  if (way < 85 && type_bits(type) == 64) return loaded_number(m, type, bits);
  uint64_t part = maker_chance(m, 70) ? maker_below(m, 20) : random_bits(&m->random);
  if (way < 95) {
    node rest = maker_const(m, type, part);
    return maker_binary(m, VYRE_OP_ADD, maker_param(m, type, bits - part), rest);
  }
  node more = maker_param(m, type, bits + part);
  return maker_binary(m, VYRE_OP_SUB, more, maker_param(m, type, part));
}

// Just below, at or above an end: of the type, mostly, or of another.
uint64_t maker_end(maker *m, vyre_type type) {
  static const uint64_t ends[] = {0,          1ull << 31, 1ull << 32, 1ull << 63,
                                  1ull << 16, 1ull << 15, 256,        128};
  uint64_t top = 1ull << (type_bits(type) - 1);
  uint32_t way = maker_below(m, 100), pick = maker_below(m, 8), shift = maker_below(m, 7);
  uint64_t end = way < 45 ? top : way < 65 ? 0 : ends[pick];
  return end + shift - 3;
}

node maker_limit(maker *m, vyre_type type, uint64_t near) {
  uint32_t way = maker_below(m, 100);
  uint64_t bits = near + maker_below(m, 9) - 4u;
  if (way >= 52 && way < 78) bits = maker_end(m, type);
  if (way >= 78 && way < 88) bits = near + maker_below(m, 200) - 100u;
  if (way >= 88 && way < 94) bits = (m->sample[0] + m->grid[0]) / 2;
  if (way >= 94) bits = m->total + maker_below(m, 3) - 1u;
  return maker_uniform(m, type, bits);
}

// ---- another for each ---------------------------------------------------------------------------

node maker_narrow(maker *m) {
  node at = maker_chance(m, 70) ? m->linear : m->ids[0];
  return maker_load(m, FOR_NARROW, at);
}

static node some_id(maker *m) {
  uint32_t way = maker_below(m, 100);
  if (m->counter_count && way < 45) return m->counters[maker_below(m, m->counter_count)];
  if (way >= 45 && way < 60) return m->linear;
  if (way >= 60 && way < 76) return m->ids[maker_below(m, m->rank)];
  if (way >= 76 && way < 84 && m->is_rigid) {
    uint32_t local = m->sample[0] % m->workgroup[0];
    return maker_fact(m, VYRE_OP_LOCAL_ID, 0, local);
  }
  if (way >= 84 && way < 90 && m->is_rigid) {
    uint32_t group = m->sample[0] / m->workgroup[0];
    return maker_fact(m, VYRE_OP_GROUP_ID, 0, group);
  }
  if (way >= 90) return maker_narrow(m);
  return m->ids[0];
}

static node through_narrow(maker *m, node x) {
  static const vyre_type types[] = {VYRE_U8, VYRE_I8, VYRE_U16, VYRE_I16, VYRE_I32, VYRE_U32};
  return maker_as(m, x, types[maker_below(m, 6)]);
}

static node small(maker *m, vyre_type type) {
  return maker_const(m, type, 1 + maker_below(m, maker_chance(m, 70) ? 8 : 70));
}

node maker_stride(maker *m, vyre_type type) {
  static const int32_t strides[] = {2, 3, 4, 5, -1, -2, -3, 7, 100, 1};
  uint32_t way = maker_below(m, 100);
  uint64_t bits = (uint64_t)(int64_t)strides[maker_below(m, 10)];
  if (way < 35) return maker_const(m, type, bits);
  if (way >= 50 && way < 60) bits = maker_below(m, 3);
  if (way >= 60 && way < 75) bits = maker_end(m, type);
  return maker_uniform(m, type, bits);
}

// The same number by way of a variable, or one of two by a condition that is the same for all.
static node detour(maker *m, node x) {
  if (maker_chance(m, 50))
    return (node){maker_get(m, maker_var(m, x), x.type).value, x.type, x.sample};
  node c = maker_uniform_condition(m), y = maker_binary(m, VYRE_OP_ADD, x, small(m, x.type));
  vyre_value value = vyre_build_select(m->b, c.value, x.value, y.value);
  return (node){value, x.type, c.sample ? x.sample : y.sample};
}

// One step away from a plain id.
static node step(maker *m, node x) {
  vyre_type type = x.type;
  uint32_t way = maker_below(m, 100);
  if (way < 11) return maker_binary(m, VYRE_OP_ADD, x, small(m, type));
  if (way < 22) return maker_binary(m, VYRE_OP_SUB, x, small(m, type));
  if (way < 38) return maker_binary(m, VYRE_OP_MUL, x, maker_stride(m, type));
  if (way < 48) return maker_binary(m, VYRE_OP_SUB, maker_limit(m, type, x.sample), x);
  if (way < 55) return maker_binary(m, VYRE_OP_SUB, x, maker_limit(m, type, x.sample));
  if (way < 60) return maker_binary(m, VYRE_OP_DIV, x, small(m, type));
  if (way < 65) return maker_binary(m, VYRE_OP_REM, x, small(m, type));
  if (way < 70) return maker_binary(m, VYRE_OP_AND, x, small(m, type));
  if (way < 73) return maker_binary(m, VYRE_OP_SHR, x, maker_const(m, type, 1 + maker_below(m, 4)));
  if (way < 76) return maker_binary(m, VYRE_OP_SHL, x, maker_const(m, type, 1 + maker_below(m, 4)));
  if (way < 88) {
    vyre_op op = maker_chance(m, 50) ? VYRE_OP_MIN : VYRE_OP_MAX;
    return maker_binary(m, op, x, maker_limit(m, type, x.sample));
  }
  if (way < 93) return maker_as(m, through_narrow(m, x), type);
  if (way < 95) return maker_binary(m, VYRE_OP_ADD, x, maker_as(m, some_id(m), type));
  if (way < 97) return detour(m, x);
  if (way < 98) return maker_binary(m, VYRE_OP_MUL, x, maker_as(m, some_id(m), type));
  if (way < 99) return make_op(m, VYRE_OP_NEG, type, 1, &x);
  return maker_binary(m, VYRE_OP_XOR, x, small(m, type));
}

// Which part of a workgroup it is in, or where in there: l / 32, l & 31.
static node id_in_part(maker *m) {
  static const vyre_op ops[] = {VYRE_OP_DIV, VYRE_OP_REM, VYRE_OP_SHR, VYRE_OP_AND};
  uint32_t way = maker_below(m, 4), power = maker_below(m, 7), by = 1u << power;
  bool is_id = maker_chance(m, 30);
  node x = is_id ? maker_fact(m, VYRE_OP_GLOBAL_ID, 0, m->sample[0])
                 : maker_fact(m, VYRE_OP_LOCAL_ID, 0, m->sample[0] % m->workgroup[0]);
  if (maker_chance(m, 30)) x = maker_as(m, x, VYRE_I32);
  if (way < 2 && maker_chance(m, 20)) by *= 3;
  uint64_t bits = way == 2 ? power : way == 3 ? (maker_chance(m, 80) ? by - 1 : 0 - by) : by;
  return maker_binary(m, ops[way], x, maker_const(m, x.type, type_canonical_bits(x.type, bits)));
}

node maker_moving(maker *m, vyre_type type) {
  node x = m->is_rigid && maker_chance(m, 20) ? id_in_part(m) : some_id(m);
  if (maker_chance(m, 8)) x = through_narrow(m, x);
  x = maker_as(m, x, type);
  uint32_t way = maker_below(m, 100), steps = way < 35 ? 0 : way < 75 ? 1 : way < 92 ? 2 : 3;
  while (steps-- > 0) x = step(m, x);
  return x;
}

// ---- indices ------------------------------------------------------------------------------------

node maker_index(maker *m, uint64_t length) {
  vyre_type type = maker_index_type(m);
  uint32_t way = maker_below(m, 100);
  if (way < 20) return maker_as(m, m->linear, type);
  node x = maker_moving(m, type);
  if (way < 45) return x;
  // Move it so that the sample is near an end of the buffer, or of the type.
  uint64_t target = way < 60 ? 0 : way < 75 ? length : way < 85 ? maker_end(m, type) : length / 2;
  target += maker_below(m, 9) - 4u;
  return maker_binary(m, VYRE_OP_ADD, x, maker_uniform(m, type, target - x.sample));
}

static node plane_place(maker *m, const memory *out) {
  bool is_turned = out->form == OWN_TURNED;
  node inner = maker_as(m, m->ids[is_turned], out->stride.type);
  node outer = maker_as(m, m->ids[!is_turned], out->stride.type);
  return maker_binary(m, VYRE_OP_ADD, maker_binary(m, VYRE_OP_MUL, outer, out->stride), inner);
}

node maker_piece(maker *m, vyre_type type) {
  return maker_uniform(m, type, (1ull << maker_below(m, 11)) - 1);
}

static node staged_place(maker *m, const memory *out, node id) {
  node inner = maker_binary(m, VYRE_OP_AND, id, out->stride);
  node outer = maker_binary(m, VYRE_OP_SUB, id, inner);
  outer = maker_binary(m, VYRE_OP_SHL, outer, maker_const(m, id.type, 1));
  return maker_binary(m, VYRE_OP_ADD, outer, inner);
}

static node own_place(maker *m, const memory *out) {
  node id = out->base.type ? maker_as(m, m->linear, out->base.type) : m->linear;
  switch (out->form) {
  case OWN_PLAIN: return maker_as(m, id, maker_index_type(m));
  case OWN_REVERSED: return maker_binary(m, VYRE_OP_SUB, out->base, id);
  case OWN_STRIDED: id = maker_binary(m, VYRE_OP_MUL, id, out->stride); break;
  case OWN_STAGED: id = staged_place(m, out, id); break;
  case OWN_NARROWED: {
    id = maker_as(m, id, m->total <= 256 ? VYRE_U8 : VYRE_U16);
    return maker_as(m, id, maker_index_type(m));
  }
  case OWN_PLANE:
  case OWN_TURNED: return plane_place(m, out);
  case OWN_SHIFTED:
  case OWN_BASED:
  case OWN_FORMS: break;
  }
  return maker_binary(m, VYRE_OP_ADD, id, out->base);
}

node maker_own(maker *m, const memory *out, uint32_t slot) {
  node at = own_place(m, out);
  if (out->slots == 1) return at;
  at = maker_binary(m, VYRE_OP_MUL, at, maker_const(m, at.type, out->slots));
  return maker_binary(m, VYRE_OP_ADD, at, maker_const(m, at.type, slot));
}

// A base that puts the sample's place into the buffer, or just outside of it.
static node own_base(maker *m, const memory *out, vyre_type type, uint64_t place) {
  uint64_t target = maker_below(m, (uint32_t)out->length + 3);
  if (maker_chance(m, 20)) target = maker_end(m, type);
  if (maker_chance(m, 25)) target = place;
  return maker_uniform(m, type, target / out->slots - place);
}

void maker_choose_own(maker *m, memory *out) {
  vyre_type type = maker_index_type(m);
  uint64_t place = m->linear.sample;
  out->form = maker_chance(m, 45) ? OWN_PLAIN : (own_form)maker_below(m, OWN_FORMS);
  if (maker_chance(m, 12)) out->form = OWN_STAGED;
  if (m->rank == 1 && out->form >= OWN_PLANE) out->form = OWN_SHIFTED;
  if (m->rank != 2 && out->form >= OWN_PLANE) out->form = OWN_REVERSED;
  if (m->total > 65536 && out->form == OWN_NARROWED) out->form = OWN_PLAIN;
  out->slots = maker_chance(m, 70) ? 1 : 2 + maker_below(m, 3);
  out->base = out->stride = (node){0};
  switch (out->form) {
  case OWN_PLAIN:
  case OWN_NARROWED: break;
  case OWN_REVERSED: out->base = maker_uniform(m, type, m->total - maker_below(m, 3)); break;
  case OWN_SHIFTED: out->base = own_base(m, out, type, place); break;
  case OWN_BASED: {
    type = maker_chance(m, 50) ? VYRE_I64 : VYRE_U64;
    out->base = own_base(m, out, type, place);
    break;
  }
  case OWN_STAGED: {
    if (maker_chance(m, 80)) out->slots = maker_chance(m, 60) ? 2 : 4;
    out->stride = maker_piece(m, type);
    out->base = own_base(m, out, type, maker_chance(m, 50) ? 0 : 2 * place);
    break;
  }
  case OWN_STRIDED: { // odd strides differ modulo any power of two, small ones do not get there
    uint64_t by = maker_chance(m, 70) ? 1 + maker_below(m, 9) : random_bits(&m->random) | 1;
    if (maker_chance(m, 30)) by = 0 - by;
    out->slots = 1;
    out->stride = maker_uniform(m, type, by);
    out->base = own_base(m, out, type, place * by);
    break;
  }
  case OWN_PLANE:
  case OWN_TURNED: {
    uint64_t inner = m->grid[out->form == OWN_TURNED];
    out->stride = maker_uniform(m, type, inner + (maker_chance(m, 70) ? 0 : maker_below(m, 9)));
    break;
  }
  case OWN_FORMS: break;
  }
}
