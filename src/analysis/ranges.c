// SPDX-License-Identifier: MIT
//
// One walk in program order per round. A variable's range is the union of what it is set to; as
// that may depend on the variable itself, a range that still grows after a few rounds becomes that
// of its type.
#include "analysis/ranges.h"

#include "ir/limits.h"

enum { PATIENCE = 3 };

static const value_range unknown = {INT64_MIN, INT64_MAX};

value_range range_of_type(vyre_type type) {
  unsigned bits = type_bits(type);
  if (type_is_float(type) || bits == 64 || bits == 0) return unknown;
  if (!type_is_signed(type)) return (value_range){0, (int64_t)(((uint64_t)1 << bits) - 1)};
  return (value_range){-((int64_t)1 << (bits - 1)), ((int64_t)1 << (bits - 1)) - 1};
}

static value_range clip(vyre_type type, value_range r) {
  value_range t = range_of_type(type);
  if (!range_is_known(t)) {
    bool is_natural = type != VYRE_U64 || (range_is_known(r) && r.lo >= 0);
    return is_natural ? r : unknown;
  }
  return range_is_known(r) && r.lo >= t.lo && r.hi <= t.hi ? r : t;
}

value_range range_of(const ranges *r, ref value) {
  if (!ref_is_const(value)) return r->at[value - r->first];
  const constant *c = &r->p->consts[ref_index(value)];
  int64_t bits = (int64_t)c->bits;
  if (type_is_float(c->type) || (c->type == VYRE_U64 && bits < 0)) return unknown;
  return (value_range){bits, bits};
}

static value_range join(value_range a, value_range b) {
  return (value_range){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

static value_range add(value_range a, value_range b) {
  value_range r;
  if (!range_is_known(a) || !range_is_known(b) || __builtin_add_overflow(a.lo, b.lo, &r.lo) ||
      __builtin_add_overflow(a.hi, b.hi, &r.hi))
    return unknown;
  return r;
}

static value_range negate(value_range a) {
  if (a.lo == INT64_MIN) return unknown;
  return (value_range){-a.hi, -a.lo};
}

static value_range multiply(value_range a, value_range b) {
  if (!range_is_known(a) || !range_is_known(b)) return unknown;
  int64_t ends[4];
  if (__builtin_mul_overflow(a.lo, b.lo, &ends[0]) ||
      __builtin_mul_overflow(a.lo, b.hi, &ends[1]) ||
      __builtin_mul_overflow(a.hi, b.lo, &ends[2]) || __builtin_mul_overflow(a.hi, b.hi, &ends[3]))
    return unknown;
  value_range r = {ends[0], ends[0]};
  for (int i = 1; i < 4; i++) r = join(r, (value_range){ends[i], ends[i]});
  return r;
}

static bool is_one(value_range r) {
  return r.lo == r.hi && range_is_known(r);
}

static value_range divide(value_range a, value_range b) {
  if (!is_one(b) || b.lo <= 0 || !range_is_known(a)) return unknown;
  return (value_range){a.lo / b.lo, a.hi / b.lo};
}

// The sign of the result is that of x.
static value_range remainder_of(value_range a, value_range b) {
  if (!is_one(b) || b.lo <= 0) return unknown;
  int64_t most = b.lo - 1;
  if (a.lo < 0) return (value_range){-most, most};
  return (value_range){0, a.hi < most ? a.hi : most};
}

static value_range bit_and(value_range a, value_range b) {
  if (a.lo >= 0 && b.lo >= 0) return (value_range){0, a.hi < b.hi ? a.hi : b.hi};
  if (a.lo >= 0) return (value_range){0, a.hi};
  if (b.lo >= 0) return (value_range){0, b.hi};
  return unknown;
}

// or, xor: no bit above the highest one of the operands.
static value_range bit_or(value_range a, value_range b) {
  if (a.lo < 0 || b.lo < 0 || !range_is_known(a) || !range_is_known(b)) return unknown;
  uint64_t most = (uint64_t)(a.hi > b.hi ? a.hi : b.hi);
  while (most & (most + 1)) most |= most >> 1;
  return (value_range){0, (int64_t)most};
}

static value_range shift(vyre_op op, vyre_type type, value_range a, value_range b) {
  if (!is_one(b) || !range_is_known(a)) return unknown;
  unsigned count = (unsigned)b.lo & (type_bits(type) - 1);
  if (op == VYRE_OP_SHR) return (value_range){a.lo >> count, a.hi >> count};
  if (count >= 62) return unknown;
  int64_t factor = (int64_t)1 << count;
  return multiply(a, (value_range){factor, factor});
}

static value_range binary(const ranges *r, const inst *in) {
  value_range a = range_of(r, in->arg[0]), b = range_of(r, in->arg[1]);
  switch (in->op) {
  case VYRE_OP_ADD: return add(a, b);
  case VYRE_OP_SUB: return add(a, negate(b));
  case VYRE_OP_MUL: return multiply(a, b);
  case VYRE_OP_DIV: return divide(a, b);
  case VYRE_OP_REM: return remainder_of(a, b);
  case VYRE_OP_AND: return bit_and(a, b);
  case VYRE_OP_OR:
  case VYRE_OP_XOR: return bit_or(a, b);
  case VYRE_OP_SHL:
  case VYRE_OP_SHR: return shift((vyre_op)in->op, (vyre_type)in->type, a, b);
  case VYRE_OP_MIN:
    if (!range_is_known(a) || !range_is_known(b)) return unknown;
    return (value_range){a.lo < b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi};
  case VYRE_OP_MAX:
    if (!range_is_known(a) || !range_is_known(b)) return unknown;
    return (value_range){a.lo > b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
  default: return unknown; // right for whatever it is
  }
}

static value_range axis_fact(const region *region, const inst *in) {
  uint32_t axis = in->arg[0];
  bool is_flat = axis >= region->rank;
  int64_t group = region->workgroup[axis];
  switch (in->op) {
  case VYRE_OP_GLOBAL_ID: return (value_range){0, is_flat ? 0 : (int64_t)LIMIT_EXTENT - 1};
  case VYRE_OP_LOCAL_ID: return (value_range){0, group - 1};
  case VYRE_OP_GROUP_ID: return (value_range){0, is_flat ? 0 : (int64_t)LIMIT_EXTENT / group};
  case VYRE_OP_LOCAL_SIZE: return (value_range){group, group};
  default: return (value_range){0, is_flat ? 1 : (int64_t)LIMIT_EXTENT}; // sizes of the grid
  }
}

static value_range length_of(const vyre_program *p, uint32_t index) {
  ref length = p->buffers[index].length;
  if (ref_is_const(length)) {
    int64_t bits = (int64_t)p->consts[ref_index(length)].bits;
    return (value_range){bits, bits};
  }
  return (value_range){0, (int64_t)LIMIT_LENGTH};
}

static value_range convert(const ranges *r, const inst *in) {
  vyre_type from = ref_type(r->p, in->arg[0]);
  if (type_is_float(from) || type_is_float(in->type)) return unknown;
  return in->type == VYRE_BOOL ? (value_range){0, 1} : range_of(r, in->arg[0]);
}

static value_range counter(const ranges *r, const inst *in) {
  value_range lo = range_of(r, in->arg[0]), hi = range_of(r, in->arg[1]);
  if (!range_is_known(lo) || !range_is_known(hi)) return unknown;
  return (value_range){lo.lo, hi.hi > lo.lo ? hi.hi - 1 : lo.lo};
}

static value_range evaluate(const ranges *r, const region *region, uint32_t i) {
  const inst *in = &r->p->code[i];
  switch (in->op) {
  case VYRE_OP_COPY:
  case VYRE_OP_VAR: return range_of(r, in->arg[0]);
  case VYRE_OP_NEG: return negate(range_of(r, in->arg[0]));
  case VYRE_OP_SELECT: return join(range_of(r, in->arg[1]), range_of(r, in->arg[2]));
  case VYRE_OP_CONVERT: return convert(r, in);
  case VYRE_OP_GET: return r->at[in->arg[0] - r->first];
  case VYRE_OP_FOR: return counter(r, in);
  case VYRE_OP_LEN: return length_of(r->p, in->arg[0]);
  case VYRE_OP_POPCOUNT:
  case VYRE_OP_CLZ:
  case VYRE_OP_CTZ: return (value_range){0, type_bits(in->type)};
  case VYRE_OP_GLOBAL_ID:
  case VYRE_OP_LOCAL_ID:
  case VYRE_OP_GROUP_ID:
  case VYRE_OP_GLOBAL_SIZE:
  case VYRE_OP_LOCAL_SIZE:
  case VYRE_OP_GROUP_COUNT: return axis_fact(region, in);
  default: // unknown is right for whatever comes
    if (op_table[in->op].operand_count == 2 && op_is((vyre_op)in->op, OPF_PURE) &&
        !op_is((vyre_op)in->op, OPF_MATH) && type_is_int(in->type))
      return binary(r, in);
    return unknown;
  }
}

static bool walk(ranges *r, const region *region, int round) {
  bool changed = false;
  for (uint32_t i = region->body.first; i < region->body.end; i++) {
    const inst *in = &r->p->code[i];
    value_range *slot = &r->at[i - r->first], now = unknown;
    if (in->op == VYRE_OP_SET) {
      slot = &r->at[in->arg[0] - r->first];
      now = range_of(r, in->arg[1]);
    } else if (!type_is_int(in->type) && in->type != VYRE_BOOL) {
      *slot = unknown;
      continue;
    } else {
      now = clip((vyre_type)in->type, evaluate(r, region, i));
    }
    bool is_variable = in->op == VYRE_OP_SET || in->op == VYRE_OP_VAR;
    if (is_variable && round > 0) now = join(*slot, now);
    if (now.lo == slot->lo && now.hi == slot->hi) continue;
    if (is_variable && round >= PATIENCE)
      now = range_of_type((vyre_type)r->p->code[in->op == VYRE_OP_SET ? in->arg[0] : i].type);
    changed |= now.lo != slot->lo || now.hi != slot->hi;
    *slot = now;
  }
  return changed;
}

bool ranges_compute(arena *a, const vyre_program *p, const region *region, ranges *out) {
  *out = (ranges){p, region->body.first, NULL};
  uint32_t count = region->body.end - region->body.first;
  out->at = arena_alloc_array(a, count + 1u, sizeof *out->at);
  if (!out->at) return false;
  for (int round = 0; walk(out, region, round); round++) {
  }
  return true;
}
