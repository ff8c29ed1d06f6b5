// SPDX-License-Identifier: MIT
#include "opt/relax_sums.h"

#include "analysis/shape.h"
#include "opt/effects.h"
#include "opt/rewrite.h"

enum {
  SUMS = 16,
  SUMS_BITS = 4,
  FEW_TRIPS = 64, // a loop with fewer of them, known, is left alone
  MOST_BODY = 24, // operations that are repeated
  DEPTH = 8,      // of an index
};

typedef struct sum_loop {
  uint32_t variable, get, set;
  uint32_t end;
} sum_loop;

// ---- whether ------------------------------------------------------------------------------------

// How much more a value is in the next turn: 0 or 1, or something else.
enum { OTHER_STEP = 2 };

static int step_of(const rewriter *rw, uint32_t loop, ref value, unsigned depth) {
  const inst *code = rw->from->code;
  if (value == loop && !ref_is_const(value)) return 1;
  if (ref_is_const(value) || value < loop) return 0;
  const inst *in = &code[value];
  if (!depth || in->op == VYRE_OP_LOAD) return OTHER_STEP;
  int steps[3] = {0}, count = op_table[in->op].operand_count;
  if (in->op == VYRE_OP_GET) return 0; // of what the loop does not set
  for (int k = 0; k < count && k < 3; k++)
    if (op_table[in->op].operands[k] == 'v') steps[k] = step_of(rw, loop, in->arg[k], depth - 1);
  if (in->op == VYRE_OP_ADD && steps[0] + steps[1] <= 1) return steps[0] + steps[1];
  if (in->op == VYRE_OP_CONVERT || in->op == VYRE_OP_COPY) return steps[0];
  return steps[0] || steps[1] || steps[2] ? OTHER_STEP : 0;
}

static bool is_neighbour_along_x(const shape *s) {
  return !(s->axes & AXIS_X) || (s->is_linear && (s->stride == 1 || s->stride == -1));
}

static bool can_repeat(const inst *in) {
  if (in->op == VYRE_OP_LOAD) return mem_space(in->arg[0]) != MEM_PRIVATE;
  return in->op == VYRE_OP_GET || in->op == VYRE_OP_SET || op_is((vyre_op)in->op, OPF_PURE);
}

// The one variable that the body sets; what it is set to is a sum with what it was.
static bool find_sum(const rewriter *rw, uint32_t loop, sum_loop *out) {
  const inst *code = rw->from->code;
  *out = (sum_loop){.end = code[loop].arg[3]};
  for (uint32_t i = loop + 1; i < out->end; i++) {
    if (!can_repeat(&code[i]) || (code[i].op == VYRE_OP_SET && out->set)) return false;
    if (code[i].op == VYRE_OP_SET) out->set = i;
  }
  if (!out->set || ref_is_const(code[out->set].arg[1])) return false;
  out->variable = code[out->set].arg[0];
  ref made = code[out->set].arg[1];
  const inst *sum = &code[made];
  unsigned uses = 0;
  for (uint32_t i = loop + 1; i < out->end; i++) {
    if (code[i].op == VYRE_OP_GET && code[i].arg[0] == out->variable) {
      if (out->get) return false;
      out->get = i;
    }
    const char *operands = op_table[code[i].op].operands;
    for (int k = 0; operands[k]; k++)
      if (operands[k] == 'v')
        uses += code[i].arg[k] == made || (out->get && code[i].arg[k] == out->get);
  }
  bool is_sum =
      made > loop && type_is_float(sum->type) && sum->type != VYRE_F16 &&
      ((sum->op == VYRE_OP_ADD && (sum->arg[0] == out->get) != (sum->arg[1] == out->get)) ||
       (sum->op == VYRE_OP_FMA && sum->arg[2] == out->get));
  return is_sum && out->get && out->get < made && uses == 2; // the sum's and the set's
}

static bool reads_along(const rewriter *rw, const shapes *s, uint32_t loop) {
  for (uint32_t i = loop + 1; i < rw->from->code[loop].arg[3]; i++) {
    const inst *in = &rw->from->code[i];
    if (in->op == VYRE_OP_LOAD && !ref_is_const(in->arg[1]) &&
        !is_neighbour_along_x(shape_at(s, in->arg[1])) && step_of(rw, loop, in->arg[1], DEPTH) == 1)
      return true;
  }
  return false;
}

static bool is_taken(const rewriter *rw, const shapes *s, uint32_t loop, sum_loop *out) {
  const inst *in = &rw->from->code[loop];
  if (in->op != VYRE_OP_FOR || in->arg[3] - loop > MOST_BODY || !ref_is_const(in->arg[2]) ||
      type_bits(in->type) < 32 || rw->from->consts[ref_index(in->arg[2])].bits != 1)
    return false;
  if ((shape_axes(s, in->arg[0]) | shape_axes(s, in->arg[1])) & AXIS_X) return false;
  bool is_known = ref_is_const(in->arg[0]) && ref_is_const(in->arg[1]);
  if (is_known &&
      rw->from->consts[ref_index(in->arg[1])].bits - rw->from->consts[ref_index(in->arg[0])].bits <
          FEW_TRIPS)
    return false;
  return find_sum(rw, loop, out) && reads_along(rw, s, loop);
}

// ---- rewriting ----------------------------------------------------------------------------------

static ref in_words(rewriter *rw, vyre_type t, ref x) {
  return type_is_signed(t) ? vyre_build_bitcast(rw->to, t == VYRE_I32 ? VYRE_U32 : VYRE_U64, x) : x;
}

// How many turns there are, in the unsigned type of the counter.
static ref count_turns(rewriter *rw, vyre_type t, ref lo, ref hi) {
  vyre_type u = type_bits(t) == 32 ? VYRE_U32 : VYRE_U64;
  ref trips = vyre_build_binary(rw->to, VYRE_OP_SUB, in_words(rw, t, hi), in_words(rw, t, lo));
  ref is_some = vyre_build_binary(rw->to, VYRE_OP_LT, lo, hi);
  return vyre_build_select(rw->to, is_some, trips, vyre_build_const(rw->to, u, 0));
}

// lo + more, which does not pass hi.
static ref counted(rewriter *rw, vyre_type t, ref lo, ref more) {
  if (type_is_signed(t)) more = vyre_build_bitcast(rw->to, t, more);
  uint64_t bits;
  bool is_zero = rewrite_const(rw, lo, &bits) && !bits;
  return is_zero ? more : vyre_build_binary(rw->to, VYRE_OP_ADD, lo, more);
}

static void repeat_body(rewriter *rw, uint32_t loop, const sum_loop *l, vyre_var sum) {
  for (uint32_t i = loop + 1; i < l->end; i++) {
    if (i == l->get)
      rw->map[i] = vyre_build_get(rw->to, sum);
    else if (i == l->set)
      vyre_build_set(rw->to, sum, rewrite_ref(rw, rw->from->code[i].arg[1]));
    else
      rewrite_keep(rw, i);
  }
}

static void rewrite_loop(rewriter *rw, uint32_t loop, const sum_loop *l) {
  const inst *in = &rw->from->code[loop];
  vyre_type t = (vyre_type)in->type, u = type_bits(t) == 32 ? VYRE_U32 : VYRE_U64;
  vyre_type kind = (vyre_type)rw->from->code[l->variable].type;
  ref lo = rewrite_ref(rw, in->arg[0]), hi = rewrite_ref(rw, in->arg[1]);
  ref trips = count_turns(rw, t, lo, hi);
  ref bits = vyre_build_const(rw->to, u, SUMS_BITS), few = vyre_build_const(rw->to, u, SUMS - 1);
  ref turns = vyre_build_binary(rw->to, VYRE_OP_SHR, trips, bits);
  ref from = counted(rw, t, lo, vyre_build_binary(rw->to, VYRE_OP_AND, trips, few));
  vyre_var total = (vyre_var)rw->map[l->variable], sums[SUMS];
  // What does not fill sixteen comes first: where there is nothing of it, its first turn would read
  // what others read, too, and whoever asks before whether all is inside is told so.
  rw->map[loop] = vyre_build_for(rw->to, lo, from, vyre_build_const(rw->to, t, 1));
  repeat_body(rw, loop, l, total);
  vyre_build_end(rw->to);
  ref zero = vyre_build_const(rw->to, kind, 0);
  for (unsigned j = 0; j < SUMS; j++)
    sums[j] = vyre_build_var(rw->to, NULL, j ? zero : vyre_build_get(rw->to, total));
  ref turn =
      vyre_build_for(rw->to, vyre_build_const(rw->to, u, 0), turns, vyre_build_const(rw->to, u, 1));
  ref at = counted(rw, t, from, vyre_build_binary(rw->to, VYRE_OP_SHL, turn, bits));
  for (unsigned j = 0; j < SUMS; j++) {
    ref more = vyre_build_const(rw->to, t, j);
    rw->map[loop] = j ? vyre_build_binary(rw->to, VYRE_OP_ADD, at, more) : at;
    repeat_body(rw, loop, l, sums[j]);
  }
  vyre_build_end(rw->to);
  ref made[SUMS];
  for (unsigned j = 0; j < SUMS; j++) made[j] = vyre_build_get(rw->to, sums[j]);
  for (unsigned half = SUMS / 2; half; half /= 2)
    for (unsigned j = 0; j < half; j++)
      made[j] = vyre_build_binary(rw->to, VYRE_OP_ADD, made[j], made[j + half]);
  vyre_build_set(rw->to, total, made[0]);
  rw->changed = true;
}

static bool body(rewriter *rw) {
  ranges known;
  shapes s;
  if (!ranges_compute(rw->scratch, rw->from, rw->region, &known) ||
      !shapes_compute(rw->scratch, rw->from, rw->region, &known, NULL, &s))
    return false;
  for (uint32_t i = rw->region->body.first; i < rw->region->body.end; i++) {
    sum_loop l;
    if (is_taken(rw, &s, i, &l)) {
      rewrite_loop(rw, i, &l);
      i = l.end;
    } else {
      rewrite_keep(rw, i);
    }
  }
  return true;
}

vyre_status relax_sums(vyre_program *program, vyre_program **out, vyre_error *error) {
  return rewrite_whole(program, body, NULL, out, error);
}
