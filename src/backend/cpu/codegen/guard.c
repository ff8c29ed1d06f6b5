// SPDX-License-Identifier: MIT
//
// Two laws hold for a form, and every case below keeps both. It is congruent to the value modulo
// the width of its type, as analysis/stretch.h says. And as a number of 64 bits it is what
// guard_index.c computes for the value, so that an index found inside by its form is used as it was
// found.
#include "backend/cpu/codegen/guard.h"

#include "backend/cpu/codegen/guard_machine.h"
#include "ir/limits.h"

static uint32_t at(const guards *g, uint32_t op) {
  return op - g->k->region->body.first;
}

static bool is_dry(const guards *g) {
  return !g->scalar;
}

bool guards_is_fixed(const guards *g, ref r) {
  return ref_is_const(r) || g->is_fixed[at(g, r)];
}

static int_type int_type_of(vyre_type type) {
  return (int_type){type_bits(type), type_is_signed(type)};
}

// ---- the row ------------------------------------------------------------------------------------

void guards_begin(guards *g, emitter *scalar, llval x0, llval x1) {
  const region *r = g->k->region;
  uint32_t count = r->body.end - r->body.first;
  for (uint32_t i = 0; i < count; i++) g->is_known[i] = false;
  g->scalar = scalar;
  if (scalar) scalar->round++;
  g->m = scalar ? machine_emitting(scalar) : machine_planning(64);
  int64_t most = r->is_elastic ? (int64_t)LIMIT_EXTENT : (int64_t)r->workgroup[0];
  g->c = (calculus){.m = &g->m, .wants = WANTS_MUST};
  g->c.first = word_of(&g->m, x0, 0, most);
  g->c.end = word_of(&g->m, x1, 0, most);
}

// ---- what is the same along the row -------------------------------------------------------------

llval guards_fixed(guards *g, ref r) {
  if (!ref_is_const(r)) emit_tree(g->scalar, r, g->is_common);
  return value_scalar(g->scalar, r, 0);
}

int64_t guards_constant(const guards *g, ref r) {
  unsigned unused = 64 - type_bits(ref_type(g->k->p, r));
  return (int64_t)(g->k->p->consts[ref_index(r)].bits << unused) >> unused;
}

// All that the static ranges say.
static value_range known_range(const guards *g, ref r) {
  value_range k = range_of(&g->k->known, r);
  return range_is_known(k) ? k : range_of_type(ref_type(g->k->p, r));
}

static word fixed_word(guards *g, ref r) {
  if (ref_is_const(r)) return word_number(&g->m, (uint64_t)guards_constant(g, r));
  value_range k = known_range(g, r);
  llval v = is_dry(g) ? NULL : build_extend(g->scalar, ref_type(g->k->p, r), guards_fixed(g, r));
  return word_of(&g->m, v, k.lo, k.hi);
}

// ---- forms --------------------------------------------------------------------------------------

static bool form_of_range(guards *g, ref r, form *out) {
  value_range k = range_of(&g->k->known, r), t = range_of_type(ref_type(g->k->p, r));
  bool says_nothing = k.lo == t.lo && k.hi == t.hi && type_bits(ref_type(g->k->p, r)) > 16;
  if (!range_is_known(k) || says_nothing) return false;
  *out = form_range(&g->c, word_number(&g->m, (uint64_t)k.lo), word_number(&g->m, (uint64_t)k.hi));
  return true;
}

// The same for all x, and one number.
static bool is_factor(form f) {
  return !form_moves(f) && word_is_known(f.spread) && !f.spread.lo;
}

// A hopeless form is no better after it was multiplied by a number that only the launch knows.
static bool form_product(guards *g, form x, form y, form *out) {
  if (!is_factor(x) && !is_factor(y)) return false;
  form factor = is_factor(y) ? y : x, other = is_factor(y) ? x : y;
  if (is_dry(g) && form_is_hopeless(other) && !word_is_known(factor.base)) return false;
  *out = form_mul(&g->c, other, factor.base);
  out->valid = must_and(&g->c, out->valid, factor.valid);
  return true;
}

static bool form_shifted(guards *g, const inst *in, form x, form *out) {
  value_range count = range_of(&g->k->known, in->arg[1]);
  if (!range_is_known(count) || count.lo != count.hi) return false;
  unsigned by = (unsigned)count.lo & (type_bits(in->type) - 1);
  *out = form_mul(&g->c, x, word_number(&g->m, (uint64_t)1 << by));
  return true;
}

static bool form_arithmetic(guards *g, const inst *in, form *out) {
  form x, y;
  if (!guards_form(g, in->arg[0], &x)) return false;
  if (in->op == VYRE_OP_SHL) return form_shifted(g, in, x, out);
  if (in->op == VYRE_OP_NEG) {
    *out = form_neg(&g->c, x);
    return true;
  }
  if (!guards_form(g, in->arg[1], &y)) return false;
  if (in->op == VYRE_OP_MUL) return form_product(g, x, y, out);
  *out = in->op == VYRE_OP_ADD ? form_add(&g->c, x, y) : form_sub(&g->c, x, y);
  return true;
}

// Integers only. The index of what is widened is that of its operand and a number that is the same
// along the row, where steps of the narrow type are steps of the operand's index too.
static bool form_converted(guards *g, uint32_t op, form *out) {
  const inst *in = &g->k->p->code[op];
  vyre_type from = ref_type(g->k->p, in->arg[0]);
  form x;
  if (!type_is_int(from) || !type_is_int(in->type) || !guards_form(g, in->arg[0], &x)) return false;
  *out = form_convert(&g->c, x, int_type_of(from), int_type_of((vyre_type)in->type));
  if (type_bits(in->type) <= type_bits(from)) return true;
  g->shift[at(g, op)] = word_minus(&g->m, out->base, x.base);
  if (is_dry(g))
    g->is_followed[at(g, op)] = form_is_line(&g->c, x, int_type_of(from)) ||
                                (word_is_known(x.stride) && word_is_same(x.stride, out->stride));
  return true;
}

// A clamp that does nothing: the operand that moves along the row is the result. That is decided by
// the plan: of a row that is emitted more may be known, such as that a stride is 0.
static bool form_clamped(guards *g, uint32_t op, form *out) {
  const inst *in = &g->k->p->code[op];
  form x, y;
  if (!guards_form(g, in->arg[0], &x) || !guards_form(g, in->arg[1], &y)) return false;
  bool *is_second = &g->is_second[at(g, op)];
  if (is_dry(g)) {
    if (form_moves(x) == form_moves(y)) return false;
    *is_second = form_moves(y);
  }
  form kept = *is_second ? y : x, other = *is_second ? x : y;
  int_type t = int_type_of((vyre_type)in->type);
  *out = in->op == VYRE_OP_MIN ? form_min(&g->c, kept, other, t) : form_max(&g->c, kept, other, t);
  return true;
}

static bool form_counted(guards *g, const inst *in, form *out) {
  form from, end;
  if (!guards_form(g, in->arg[0], &from) || !guards_form(g, in->arg[1], &end)) return false;
  if (form_moves(from) || form_moves(end)) return false;
  *out = form_counter(&g->c, from, end, int_type_of((vyre_type)in->type));
  return true;
}

// Ids along x, and along y of the rows that are jammed; the others are fixed.
static void form_of_id(guards *g, const inst *in, form *out) {
  int64_t most = (int64_t)LIMIT_EXTENT - 1;
  *out = form_id(&g->c);
  if (in->arg[0] == 1) {
    word first = word_of(&g->m, is_dry(g) ? NULL : g->scalar->y[0], 0, most);
    *out = form_uniform(&g->c, first);
    out->spread =
        is_dry(g) ? word_within(&g->m, 0, MOST_ROWS - 1, NULL) : word_number(&g->m, g->rows - 1);
  } else if (in->op == VYRE_OP_GLOBAL_ID && !g->k->region->is_elastic) {
    out->base = word_of(&g->m, is_dry(g) ? NULL : g->scalar->x, 0, most);
  }
}

// From the forms of its operands.
static bool form_made(guards *g, uint32_t op, form *out) {
  const inst *in = &g->k->p->code[op];
  if (g->is_fixed[at(g, op)]) {
    *out = form_uniform(&g->c, fixed_word(g, op));
    return true;
  }
  switch (in->op) {
  case VYRE_OP_GLOBAL_ID:
  case VYRE_OP_LOCAL_ID: form_of_id(g, in, out); return true;
  case VYRE_OP_COPY: return guards_form(g, in->arg[0], out);
  case VYRE_OP_GET:
    return !g->is_set[at(g, in->arg[0])] && guards_form(g, g->k->p->code[in->arg[0]].arg[0], out);
  case VYRE_OP_CONVERT: return form_converted(g, op, out);
  case VYRE_OP_FOR: return form_counted(g, in, out);
  case VYRE_OP_MIN:
  case VYRE_OP_MAX: return form_clamped(g, op, out);
  case VYRE_OP_ADD:
  case VYRE_OP_SUB:
  case VYRE_OP_MUL:
  case VYRE_OP_NEG:
  case VYRE_OP_SHL: return form_arithmetic(g, in, out);
  default: return false; // no form that is known
  }
}

// A form that allows every value is none: an assumption on it would never hold.
static bool says_something(form f) {
  return !word_is_known(f.spread) || f.spread.lo != UINT64_MAX;
}

// Forms are followed operand by operand, again for each use: values that are used twice at every
// step would take for ever. Indices that people write take about ten.
enum { MOST_STEPS = 64 };

static bool is_short(guards *g, uint32_t op) {
  const inst *in = &g->k->p->code[op];
  const char *operands = op_table[in->op].operands;
  unsigned steps = 1;
  for (int k = 0; operands[k] && !g->is_fixed[at(g, op)]; k++)
    if (operands[k] == 'v' && !ref_is_const(in->arg[k])) steps += g->steps[at(g, in->arg[k])];
  ref first = in->op == VYRE_OP_GET ? g->k->p->code[in->arg[0]].arg[0] : 0;
  if (first && !ref_is_const(first)) steps += g->steps[at(g, first)];
  g->steps[at(g, op)] = (uint8_t)(steps > MOST_STEPS ? MOST_STEPS : steps);
  return steps < MOST_STEPS;
}

static uint8_t form_make(guards *g, uint32_t op, form *out) {
  if (!type_is_int(g->k->p->code[op].type)) return NO_FORM;
  if (form_made(g, op, out) && says_something(*out) && is_short(g, op)) return HAS_FORM;
  return form_of_range(g, op, out) ? HAS_RANGE : NO_FORM;
}

bool guards_form(guards *g, ref r, form *out) {
  if (ref_is_const(r)) {
    *out = form_uniform(&g->c, fixed_word(g, r));
    return type_is_int(ref_type(g->k->p, r));
  }
  uint32_t slot = at(g, r);
  if (g->state[slot] == UNKNOWN && is_dry(g)) {
    g->state[slot] = form_make(g, r, &g->forms[slot]);
    g->is_known[slot] = true;
  }
  if (g->state[slot] == UNKNOWN || g->state[slot] == NO_FORM) return false;
  if (!g->is_known[slot]) {
    form *made = &g->forms[slot];
    bool is_made = g->state[slot] == HAS_FORM ? form_made(g, r, made) : form_of_range(g, r, made);
    if (!is_made) return false;
    g->is_known[slot] = true;
  }
  *out = g->forms[slot];
  return true;
}
