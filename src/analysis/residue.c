// SPDX-License-Identifier: MIT
#include "analysis/residue.h"

enum { MOST_STEPS = 32 };

static uint64_t low(unsigned bits, uint64_t value) {
  return bits < 64 ? value & (((uint64_t)1 << bits) - 1) : value;
}

static residue known(unsigned bits, uint64_t value) {
  return (residue){bits, low(bits, value)};
}

static unsigned least(unsigned x, unsigned y) {
  return x < y ? x : y;
}

// Zeros that a value of this residue ends with, at least.
static unsigned zeros(residue x) {
  return x.value ? (unsigned)__builtin_ctzll(x.value) : x.bits;
}

// With x = a * 2^s and y = b * 2^t, what is not known of x is multiplied by 2^t at least.
static residue product(residue x, residue y) {
  return known(least(64, least(x.bits + zeros(y), y.bits + zeros(x))), x.value * y.value);
}

// As far as two agree.
static residue either(residue x, residue y) {
  uint64_t differs = x.value ^ y.value;
  unsigned bits = least(x.bits, y.bits);
  return known(differs ? least(bits, (unsigned)__builtin_ctzll(differs)) : bits, x.value);
}

// A zero of one side is one of both.
static residue conjunction(residue x, residue y) {
  residue shorter = x.bits < y.bits ? x : y, longer = x.bits < y.bits ? y : x;
  uint64_t rest = shorter.bits < 64 ? longer.value >> shorter.bits : 0;
  unsigned more = longer.bits - shorter.bits;
  if (rest) more = (unsigned)__builtin_ctzll(rest);
  return known(shorter.bits + more, low(shorter.bits, x.value & y.value));
}

static residue find(const vyre_program *p, ref r, unsigned *steps);

static residue of_shift(const vyre_program *p, const inst *in, unsigned *steps) {
  if (!ref_is_const(in->arg[1])) return (residue){0};
  unsigned by = (unsigned)p->consts[ref_index(in->arg[1])].bits & (type_bits(in->type) - 1);
  residue x = find(p, in->arg[0], steps);
  return known(least(64, x.bits + by), x.value << by);
}

static residue of_binary(const vyre_program *p, const inst *in, unsigned *steps) {
  residue x = find(p, in->arg[0], steps), y = find(p, in->arg[1], steps);
  unsigned both = least(x.bits, y.bits);
  switch (in->op) {
  case VYRE_OP_ADD: return known(both, x.value + y.value);
  case VYRE_OP_SUB: return known(both, x.value - y.value);
  case VYRE_OP_XOR:
  case VYRE_OP_OR: return known(both, in->op == VYRE_OP_OR ? x.value | y.value : x.value ^ y.value);
  case VYRE_OP_MUL: return product(x, y);
  case VYRE_OP_AND: return conjunction(x, y);
  default: return either(x, y); // min and max
  }
}

// lo, lo + step, ...
static residue of_counter(const vyre_program *p, const inst *in, unsigned *steps) {
  residue first = find(p, in->arg[0], steps), step = find(p, in->arg[2], steps);
  return known(least(first.bits, zeros(step)), first.value);
}

static residue of_inst(const vyre_program *p, const inst *in, unsigned *steps) {
  switch (in->op) {
  case VYRE_OP_COPY: return find(p, in->arg[0], steps);
  case VYRE_OP_NEG: {
    residue x = find(p, in->arg[0], steps);
    return known(x.bits, 0 - x.value);
  }
  case VYRE_OP_CONVERT:
    if (!type_is_int(ref_type(p, in->arg[0]))) return (residue){0};
    return find(p, in->arg[0], steps);
  case VYRE_OP_SHL: return of_shift(p, in, steps);
  case VYRE_OP_ADD:
  case VYRE_OP_SUB:
  case VYRE_OP_MUL:
  case VYRE_OP_AND:
  case VYRE_OP_OR:
  case VYRE_OP_XOR:
  case VYRE_OP_MIN:
  case VYRE_OP_MAX: return of_binary(p, in, steps);
  case VYRE_OP_SELECT: return either(find(p, in->arg[1], steps), find(p, in->arg[2], steps));
  case VYRE_OP_FOR: return of_counter(p, in, steps);
  default: return (residue){0}; // right for whatever it is
  }
}

static residue find(const vyre_program *p, ref r, unsigned *steps) {
  vyre_type type = ref_type(p, r);
  if (!type_is_int(type) || ++*steps > MOST_STEPS) return (residue){0};
  unsigned bits = type_bits(type);
  if (ref_is_const(r)) return known(bits, p->consts[ref_index(r)].bits);
  residue x = of_inst(p, &p->code[r], steps);
  return known(least(bits, x.bits), x.value);
}

residue residue_of(const vyre_program *p, ref r) {
  unsigned steps = 0;
  return find(p, r, &steps);
}
