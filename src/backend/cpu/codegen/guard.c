// SPDX-License-Identifier: MIT
//
// Planning and emitting walk the same functions: a plan is a dry run without a builder, in which
// only the strides and bounds of forms are computed.
#include "backend/cpu/codegen/guard.h"

#include <math.h>
#include <stdlib.h>

// Larger strides make products that overflow; nobody walks memory in such steps.
enum { MOST_STRIDE = 1 << 20 };

static const double SAFE = 4611686018427387904.0; // 2^62: sums of two do not overflow

static bool is_dry(const guards *g) {
  return !g->scalar;
}

static uint32_t at(const guards *g, uint32_t op) {
  return op - g->k->region->body.first;
}

// ---- arithmetic in i64, watched for overflow ----------------------------------------------------

static void fail_if(guards *g, llval condition) {
  g->bad = g->bad ? LLVMBuildOr(g->scalar->b, g->bad, condition, "") : condition;
}

static llval number(const guards *g, int64_t value) {
  return is_dry(g) ? NULL : const_i64(g->k->u, (uint64_t)value);
}

static llval watched(guards *g, const char *name, llval x, llval y, double bound) {
  if (is_dry(g)) return NULL;
  emitter *e = g->scalar;
  if (bound <= SAFE) {
    if (name[6] == 'a') return LLVMBuildNSWAdd(e->b, x, y, "");
    return name[6] == 's' ? LLVMBuildNSWSub(e->b, x, y, "") : LLVMBuildNSWMul(e->b, x, y, "");
  }
  llval args[2] = {x, y};
  llval pair = build_intrinsic(e, name, &e->u->i64, 1, args, 2);
  fail_if(g, LLVMBuildExtractValue(e->b, pair, 1, ""));
  return LLVMBuildExtractValue(e->b, pair, 0, "");
}

static llval sum(guards *g, llval x, llval y, double bound) {
  return watched(g, "llvm.sadd.with.overflow", x, y, bound);
}

static llval difference_of(guards *g, llval x, llval y, double bound) {
  return watched(g, "llvm.ssub.with.overflow", x, y, bound);
}

static llval product(guards *g, llval x, llval y, double bound) {
  return watched(g, "llvm.smul.with.overflow", x, y, bound);
}

static llval pick(guards *g, LLVMIntPredicate p, llval x, llval y) {
  if (is_dry(g) || x == y) return x;
  return LLVMBuildSelect(g->scalar->b, LLVMBuildICmp(g->scalar->b, p, x, y, ""), x, y, "");
}

// ---- conditions ---------------------------------------------------------------------------------

// Floor of x / y for y > 0.
static llval floor_div(guards *g, llval x, int64_t y) {
  if (y == 1) return x;
  LLVMBuilderRef b = g->scalar->b;
  llval d = number(g, y), q = LLVMBuildSDiv(b, x, d, "");
  llval rest = LLVMBuildSub(b, x, LLVMBuildMul(b, q, d, ""), "");
  llval is_negative = LLVMBuildICmp(b, LLVMIntSLT, rest, number(g, 0), "");
  return LLVMBuildAdd(b, q, LLVMBuildSExt(b, is_negative, g->k->u->i64, ""), "");
}

static void raise_low(guards *g, llval x) {
  g->low = pick(g, LLVMIntSGT, x, g->low);
}

static void lower_high(guards *g, llval x) {
  g->high = pick(g, LLVMIntSLT, x, g->high);
}

static void keep_negatable(guards *g, llval x) {
  llval least = number(g, -((int64_t)1 << 62));
  fail_if(g, LLVMBuildICmp(g->scalar->b, LLVMIntSLT, x, least, ""));
}

// step * x + lo >= 0 for all x of the stretch, where the step may have any sign.
static void require_positive_steps(guards *g, llval step, llval lo) {
  LLVMBuilderRef b = g->scalar->b;
  llval zero = number(g, 0), one = number(g, 1);
  llval is_up = LLVMBuildICmp(b, LLVMIntSGT, step, zero, "");
  llval is_down = LLVMBuildICmp(b, LLVMIntSLT, step, zero, "");
  llval is_still = LLVMBuildICmp(b, LLVMIntEQ, step, zero, "");
  llval size = LLVMBuildSelect(b, is_down, LLVMBuildNeg(b, step, ""), step, "");
  size = LLVMBuildSelect(b, is_still, one, size, "");
  llval q = LLVMBuildSDiv(b, lo, size, "");
  llval rest = LLVMBuildSub(b, lo, LLVMBuildMul(b, q, size, ""), "");
  llval is_below = LLVMBuildICmp(b, LLVMIntSLT, rest, zero, "");
  q = LLVMBuildAdd(b, q, LLVMBuildSExt(b, is_below, g->k->u->i64, ""), "");
  raise_low(g, LLVMBuildSelect(b, is_up, LLVMBuildNeg(b, q, ""), g->x0, ""));
  lower_high(g, LLVMBuildSelect(b, is_down, LLVMBuildAdd(b, q, one, ""), g->x1, ""));
  llval is_out = LLVMBuildICmp(b, LLVMIntSLT, lo, zero, "");
  fail_if(g, LLVMBuildAnd(b, is_still, is_out, ""));
}

// stride * x + lo >= 0 for all x of the stretch.
static void require_positive(guards *g, int64_t stride, llval lo, double bound) {
  if (is_dry(g)) return;
  LLVMBuilderRef b = g->scalar->b;
  if (bound > SAFE) keep_negatable(g, lo);
  if (stride == 0) {
    fail_if(g, LLVMBuildICmp(b, LLVMIntSLT, lo, number(g, 0), ""));
  } else if (stride > 0) {
    // x >= ceil(-lo / stride) = -floor(lo / stride)
    raise_low(g, LLVMBuildNeg(b, floor_div(g, lo, stride), ""));
  } else {
    // x <= floor(lo / -stride)
    lower_high(g, LLVMBuildAdd(b, floor_div(g, lo, -stride), number(g, 1), ""));
  }
}

// sign * (stride of f) * x + lo >= 0
static void require_sign(guards *g, const form *f, int sign, llval lo, double bound) {
  if (!f->is_runtime) {
    require_positive(g, sign * f->stride, lo, bound);
  } else if (!is_dry(g)) {
    if (bound > SAFE) keep_negatable(g, lo);
    llval step = sign < 0 ? LLVMBuildNeg(g->scalar->b, f->step, "") : f->step;
    require_positive_steps(g, step, lo);
  }
}

static void require_at_least(guards *g, const form *f, llval least, double bound) {
  bound += f->bound;
  require_sign(g, f, 1, difference_of(g, f->lo, least, bound), bound);
}

static void require_at_most(guards *g, const form *f, llval most, double bound) {
  bound += f->bound;
  require_sign(g, f, -1, difference_of(g, most, f->hi, bound), bound);
}

static void require_limits(guards *g, const form *f, vyre_type type) {
  value_range t = range_of_type(type);
  if (!range_is_known(t)) {
    if (type == VYRE_U64) require_at_least(g, f, number(g, 0), 0);
    return;
  }
  if (!form_moves(f) && f->bound <= (double)t.hi && t.lo < 0) return;
  require_at_least(g, f, number(g, t.lo), fabs((double)t.lo));
  require_at_most(g, f, number(g, t.hi), (double)t.hi);
}

void guards_require_type(guards *g, const form *f, vyre_type type) {
  if (!g->is_gating) {
    require_limits(g, f, type);
    return;
  }
  llval low = g->low, high = g->high;
  g->low = g->type_low;
  g->high = g->type_high;
  require_limits(g, f, type);
  g->type_low = g->low;
  g->type_high = g->high;
  g->low = low;
  g->high = high;
}

// ---- forms --------------------------------------------------------------------------------------

static bool point(const guards *g, llval value, double bound, form *out) {
  (void)g;
  *out = (form){.lo = value, .hi = value, .bound = bound, .is_point = true};
  return true;
}

// A step that is too long for any grid to walk is refused, so that it can be negated and added.
static const double LONGEST_STEP = 4294967296.0;

static llval step_of(const guards *g, const form *f) {
  return f->is_runtime ? f->step : number(g, f->stride);
}

static double magnitude(value_range r) {
  if (!range_is_known(r)) return 9.3e18;
  return fmax(fabs((double)r.lo), fabs((double)r.hi));
}

static bool form_range(guards *g, ref r, form *out) {
  value_range k = range_of(&g->k->known, r);
  value_range t = range_of_type(ref_type(g->k->p, r));
  bool says_nothing = k.lo == t.lo && k.hi == t.hi && type_bits(ref_type(g->k->p, r)) > 16;
  if (!range_is_known(k) || says_nothing) return false;
  *out = (form){.lo = number(g, k.lo),
                .hi = number(g, k.hi),
                .bound = magnitude(k),
                .is_point = k.lo == k.hi};
  return true;
}

static void compute(guards *g, uint32_t op) {
  emitter *e = g->scalar;
  if (e->made[op - e->first] == e->round) return;
  e->made[op - e->first] = e->round;
  const inst *in = &e->p->code[op];
  const char *operands = op_table[in->op].operands;
  if (g->is_common && g->is_common[op - e->first]) return; // it is there
  for (int k = 0; operands[k]; k++)
    if (operands[k] == 'v' && !ref_is_const(in->arg[k])) compute(g, in->arg[k]);
  if (in->op == VYRE_OP_GET) { // of a variable that is never set
    uint32_t variable = in->arg[0];
    ref first = e->p->code[variable].arg[0];
    if (!ref_is_const(first)) compute(g, first);
    value_set(e, op, 0, value_scalar(e, first, 0));
    return;
  }
  emit_value(e, op);
}

llval guards_fixed(guards *g, ref r) {
  if (!ref_is_const(r)) compute(g, r);
  return value_scalar(g->scalar, r, 0);
}

static bool form_fixed(guards *g, ref r, form *out) {
  vyre_type type = ref_type(g->k->p, r);
  llval v = is_dry(g) ? NULL : build_extend(g->scalar, type, guards_fixed(g, r));
  return point(g, v, magnitude(range_of(&g->k->known, r)), out);
}

static bool form_sum(guards *g, const form *x, const form *y, form *out) {
  double bound = x->bound + y->bound;
  llval lo = sum(g, x->lo, y->lo, bound);
  llval hi = x->is_point && y->is_point ? lo : sum(g, x->hi, y->hi, bound);
  *out = (form){.lo = lo, .hi = hi, .bound = bound, .is_point = x->is_point && y->is_point};
  out->is_runtime = x->is_runtime || y->is_runtime;
  if (!out->is_runtime) out->stride = x->stride + y->stride;
  if (out->is_runtime && !is_dry(g))
    out->step = LLVMBuildNSWAdd(g->scalar->b, step_of(g, x), step_of(g, y), "");
  return llabs(out->stride) <= MOST_STRIDE;
}

static form negated(guards *g, const form *x) {
  llval zero = number(g, 0);
  llval lo = difference_of(g, zero, x->hi, x->bound);
  llval hi = x->is_point ? lo : difference_of(g, zero, x->lo, x->bound);
  form out = {.stride = -x->stride, .is_runtime = x->is_runtime, .lo = lo, .hi = hi};
  if (x->is_runtime && !is_dry(g)) out.step = LLVMBuildNeg(g->scalar->b, x->step, "");
  out.bound = x->bound;
  out.is_point = x->is_point;
  return out;
}

static llval limited(guards *g, llval step) {
  LLVMBuilderRef b = g->scalar->b;
  llval most = number(g, (int64_t)LONGEST_STEP), least = number(g, -(int64_t)LONGEST_STEP);
  fail_if(g, LLVMBuildICmp(b, LLVMIntSGT, step, most, ""));
  fail_if(g, LLVMBuildICmp(b, LLVMIntSLT, step, least, ""));
  return step;
}

// By a constant: scales the stride too.
static bool form_scaled(guards *g, const form *x, int64_t factor, form *out) {
  double bound = x->bound * fabs((double)factor);
  if (llabs(factor) > MOST_STRIDE && form_moves(x)) return false;
  llval c = number(g, factor);
  llval a = product(g, x->lo, c, bound), b = x->is_point ? a : product(g, x->hi, c, bound);
  *out = (form){.stride = x->stride ? x->stride * factor : 0,
                .is_runtime = x->is_runtime,
                .lo = factor < 0 ? b : a,
                .hi = factor < 0 ? a : b,
                .bound = bound,
                .is_point = x->is_point};
  if (x->is_runtime && !is_dry(g)) out->step = limited(g, product(g, x->step, c, 2 * SAFE));
  return llabs(out->stride) <= MOST_STRIDE;
}

// Of two numbers of which one is the same along the row, and known.
static bool form_product(guards *g, const form *x, const form *y, form *out) {
  if (form_moves(x) && form_moves(y)) return false;
  const form *moving = form_moves(x) ? x : form_moves(y) ? y : NULL, *other = moving == x ? y : x;
  if (moving && !other->is_point) return false;
  double bound = x->bound * y->bound;
  llval ends[4], lo, hi;
  bool is_point = x->is_point && y->is_point;
  lo = hi = ends[0] = product(g, x->lo, y->lo, bound);
  if (!is_point) {
    ends[1] = product(g, x->lo, y->hi, bound);
    ends[2] = product(g, x->hi, y->lo, bound);
    ends[3] = product(g, x->hi, y->hi, bound);
    for (int i = 1; i < 4; i++) {
      lo = pick(g, LLVMIntSLT, lo, ends[i]);
      hi = pick(g, LLVMIntSGT, hi, ends[i]);
    }
  }
  *out = (form){.is_runtime = moving, .lo = lo, .hi = hi, .bound = bound, .is_point = is_point};
  if (moving && !is_dry(g))
    out->step = limited(g, product(g, step_of(g, moving), other->lo, 2 * SAFE));
  return true;
}

static bool constant_of(const guards *g, ref r, int64_t *value) {
  value_range k = range_of(&g->k->known, r);
  *value = k.lo;
  return range_is_known(k) && k.lo == k.hi;
}

// x + 4294967295 is x - 1, which stays in its type where the other does not.
bool guards_negative_term(const guards *g, ref r, int64_t *value) {
  if (!ref_is_const(r)) return false;
  vyre_type type = ref_type(g->k->p, r);
  uint64_t bits = g->k->p->consts[ref_index(r)].bits;
  bool is_negative = (type == VYRE_U32 && bits >> 31) || (type == VYRE_U64 && bits >> 63);
  *value = type == VYRE_U32 ? (int32_t)bits : (int64_t)bits;
  return is_negative;
}

static bool form_term(guards *g, ref r, form *out) {
  int64_t c;
  if (!guards_negative_term(g, r, &c)) return guards_form(g, r, out);
  return point(g, number(g, c), fabs((double)c), out);
}

static bool form_arithmetic(guards *g, const inst *in, form *out) {
  form x, y;
  int64_t c;
  if (in->op == VYRE_OP_ADD)
    return form_term(g, in->arg[0], &x) && form_term(g, in->arg[1], &y) && form_sum(g, &x, &y, out);
  if (!guards_form(g, in->arg[0], &x)) return false;
  if (in->op == VYRE_OP_NEG) {
    *out = negated(g, &x);
    return true;
  }
  if (in->op == VYRE_OP_SHL) {
    if (!constant_of(g, in->arg[1], &c)) return false;
    unsigned count = (unsigned)c & (type_bits(in->type) - 1);
    return count < 31 && form_scaled(g, &x, (int64_t)1 << count, out);
  }
  if (!guards_form(g, in->arg[1], &y)) return false;
  if (in->op == VYRE_OP_SUB) {
    form minus = negated(g, &y);
    return form_sum(g, &x, &minus, out);
  }
  if (constant_of(g, in->arg[1], &c)) return form_scaled(g, &x, c, out);
  if (constant_of(g, in->arg[0], &c)) return form_scaled(g, &y, c, out);
  return form_product(g, &x, &y, out);
}

// Integers only. To a wider type the value must be what the form says.
static bool form_convert(guards *g, uint32_t op, form *out) {
  const inst *in = &g->k->p->code[op];
  vyre_type from = ref_type(g->k->p, in->arg[0]);
  if (!type_is_int(from) || !type_is_int(in->type) || !guards_form(g, in->arg[0], out))
    return false;
  if (type_bits(in->type) > type_bits(from)) guards_require_type(g, out, from);
  return true;
}

// A clamp that does nothing: the operand that moves along the row is the result.
static bool form_min_max(guards *g, uint32_t op, form *out) {
  const inst *in = &g->k->p->code[op];
  form x, y, gap;
  if (!guards_form(g, in->arg[0], &x) || !guards_form(g, in->arg[1], &y)) return false;
  if (form_moves(&x) == form_moves(&y)) return false;
  vyre_type type = (vyre_type)in->type;
  guards_require_type(g, &x, type);
  guards_require_type(g, &y, type);
  bool is_first = form_moves(&x);
  *out = is_first ? x : y;
  form smaller = (in->op == VYRE_OP_MIN) == is_first ? x : y;
  form larger = (in->op == VYRE_OP_MIN) == is_first ? y : x;
  smaller = negated(g, &smaller);
  if (!form_sum(g, &larger, &smaller, &gap)) return false;
  require_at_least(g, &gap, number(g, 0), 0);
  return true;
}

static bool form_counter(guards *g, uint32_t op, form *out) {
  const inst *in = &g->k->p->code[op];
  form lo, hi;
  if (!guards_form(g, in->arg[0], &lo) || !guards_form(g, in->arg[1], &hi)) return false;
  if (form_moves(&lo) || form_moves(&hi)) return false;
  guards_require_type(g, &lo, (vyre_type)in->type);
  guards_require_type(g, &hi, (vyre_type)in->type);
  double bound = fmax(lo.bound, hi.bound) + 1;
  *out = (form){.lo = lo.lo, .hi = difference_of(g, hi.hi, number(g, 1), bound), .bound = bound};
  return true;
}

static bool form_id(guards *g, const inst *in, form *out) {
  llval first = number(g, 0);
  if (in->arg[0] == 1) { // of the rows that are jammed
    if (!is_dry(g)) first = g->scalar->y[0];
    *out =
        (form){.lo = first, .hi = sum(g, first, number(g, g->rows - 1), 0), .bound = 4294967296.0};
    return true;
  }
  double bound = 0;
  if (in->op == VYRE_OP_GLOBAL_ID && !g->k->region->is_elastic) {
    if (!is_dry(g)) first = g->scalar->x;
    bound = 2147483647.0;
  }
  *out = (form){.stride = 1, .lo = first, .hi = first, .bound = bound, .is_point = true};
  return true;
}

// From the forms of its operands.
static bool form_made(guards *g, uint32_t op, form *out) {
  const inst *in = &g->k->p->code[op];
  if (g->is_fixed[at(g, op)]) return form_fixed(g, op, out);
  switch (in->op) {
  case VYRE_OP_GLOBAL_ID:
  case VYRE_OP_LOCAL_ID: return form_id(g, in, out);
  case VYRE_OP_COPY: return guards_form(g, in->arg[0], out);
  case VYRE_OP_GET:
    return !g->is_set[at(g, in->arg[0])] && guards_form(g, g->k->p->code[in->arg[0]].arg[0], out);
  case VYRE_OP_CONVERT: return form_convert(g, op, out);
  case VYRE_OP_FOR: return form_counter(g, op, out);
  case VYRE_OP_MIN:
  case VYRE_OP_MAX: return form_min_max(g, op, out);
  case VYRE_OP_ADD:
  case VYRE_OP_SUB:
  case VYRE_OP_MUL:
  case VYRE_OP_NEG:
  case VYRE_OP_SHL: return form_arithmetic(g, in, out);
  default: return false;
  }
}

static uint8_t form_make(guards *g, uint32_t op, form *out) {
  if (!type_is_int(g->k->p->code[op].type)) return NO_FORM;
  if (form_made(g, op, out)) return HAS_FORM;
  return form_range(g, op, out) ? HAS_RANGE : NO_FORM;
}

bool guards_form(guards *g, ref r, form *out) {
  if (ref_is_const(r)) {
    value_range k = range_of(&g->k->known, r);
    return range_is_known(k) && point(g, number(g, k.lo), magnitude(k), out);
  }
  uint32_t slot = at(g, r);
  if (is_dry(g)) {
    if (g->state[slot] == UNKNOWN) g->state[slot] = form_make(g, r, &g->forms[slot]);
    *out = g->forms[slot];
    return g->state[slot] != NO_FORM;
  }
  if (g->state[slot] == UNKNOWN || g->state[slot] == NO_FORM) return false;
  if (!g->is_known[slot]) {
    if (g->state[slot] == HAS_FORM)
      form_made(g, r, &g->forms[slot]);
    else
      form_range(g, r, &g->forms[slot]);
    g->is_known[slot] = true;
  }
  *out = g->forms[slot];
  return true;
}

// ---- conditions on forms ------------------------------------------------------------------------

void guards_require_range(guards *g, const form *f, llval least, llval most) {
  require_at_least(g, f, least, 4294967296.0);
  require_at_most(g, f, most, 4294967296.0);
}

void guards_require_order(guards *g, const form *x, const form *y, bool or_equal) {
  form minus = negated(g, x), gap;
  form_sum(g, y, &minus, &gap);
  require_at_least(g, &gap, number(g, !or_equal), 1);
}

// x and y meet in at most one place: keep to the side of it that is larger.
void guards_require_unequal(guards *g, const form *x, const form *y) {
  form minus = negated(g, x), gap;
  form_sum(g, y, &minus, &gap);
  if (is_dry(g)) return;
  LLVMBuilderRef b = g->scalar->b;
  if (gap.stride < 0) gap = negated(g, &gap);
  // stride * x + lo = 0
  llval meet = floor_div(g, LLVMBuildNeg(b, gap.lo, ""), gap.stride);
  llval is_before = LLVMBuildICmp(b, LLVMIntSLT, meet, g->x0, "");
  llval is_after = LLVMBuildICmp(b, LLVMIntSGE, meet, g->x1, "");
  llval is_away = LLVMBuildOr(b, is_before, is_after, "");
  llval left = LLVMBuildSub(b, meet, g->x0, ""), right = LLVMBuildSub(b, g->x1, meet, "");
  llval is_early = LLVMBuildICmp(b, LLVMIntSLT, left, right, "");
  llval low = LLVMBuildSelect(b, is_early, LLVMBuildAdd(b, meet, number(g, 1), ""), g->x0, "");
  llval high = LLVMBuildSelect(b, is_early, g->x1, meet, "");
  raise_low(g, LLVMBuildSelect(b, is_away, g->x0, low, ""));
  lower_high(g, LLVMBuildSelect(b, is_away, g->x1, high, ""));
}

void guards_require(guards *g, llval condition) {
  if (is_dry(g)) return;
  llval fails = LLVMBuildNot(g->scalar->b, condition, "");
  if (g->is_gating)
    g->never = g->never ? LLVMBuildOr(g->scalar->b, g->never, fails, "") : fails;
  else
    fail_if(g, fails);
}
