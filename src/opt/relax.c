// SPDX-License-Identifier: MIT
#include "opt/relax.h"

#include "analysis/shape.h"
#include "ir/eval.h"
#include "ir/math.h"
#include "opt/relax_sums.h"
#include "opt/rewrite.h"

enum {
  CONTRACTS_FROM = 1,
  RECIPROCALS_FROM = 2,
  EXP_FROM = 2,
  LOG_FROM = 4,
  FACTORS_FROM = 4, // a divisor is taken apart: up to 2.9 ulp
  REORDERS_FROM = 4,
  DEPTH = 4,       // of the expression that a divisor is
  LOOP_MOST = 256, // operations of a loop that are looked at for what changes in it
};

typedef struct joining {
  uint32_t *uses;  // per operation of the body
  uint32_t *block; // likewise: a number for each stretch between operations that open or close one
  uint32_t *joins; // of a product: the sum that takes it; of a sum: the product; 0: none
  ref *start;      // of a sum of two products: what is added to the second one first; 0: nothing
  ref *same;       // of a sum: the operand that it has become the same as; 0: none
  uint32_t *loop;  // the operation that opens the innermost loop around it; 0: none
  uint32_t *end;   // of an operation that opens a loop: the one that closes it
  uint32_t *under; // of a root: how many divisions have it as divisor, or as a factor of it
  uint32_t *alone; // of those, how many have it as divisor
  ref *inverse;    // of such a root: its reciprocal, in the new program
  shapes shapes;
} joining;

static bool is_structure(unsigned op) {
  return op == VYRE_OP_IF || op == VYRE_OP_ELSE || op == VYRE_OP_FOR || op == VYRE_OP_WHILE ||
         op == VYRE_OP_DO || op == VYRE_OP_END;
}

static bool opens_loop(unsigned op) {
  return op == VYRE_OP_FOR || op == VYRE_OP_WHILE;
}

static void find_loops(const rewriter *rw, joining *p) {
  uint32_t first = rw->region->body.first, loop = 0;
  for (uint32_t i = first; i < rw->region->body.end; i++) {
    const inst *in = &rw->from->code[i];
    if (in->op == VYRE_OP_END && opens_loop(rw->from->code[in->arg[1]].op)) {
      p->end[in->arg[1] - first] = i;
      loop = p->loop[in->arg[1] - first];
    }
    p->loop[i - first] = loop;
    if (opens_loop(in->op)) loop = i;
  }
}

static void count_uses(const rewriter *rw, joining *out) {
  uint32_t first = rw->region->body.first, block = 0;
  for (uint32_t i = first; i < rw->region->body.end; i++) {
    const inst *in = &rw->from->code[i];
    const char *operands = op_table[in->op].operands;
    block += is_structure(in->op);
    out->block[i - first] = block;
    for (int k = 0; operands[k]; k++)
      if (operands[k] == 'v' && !ref_is_const(in->arg[k]) && in->arg[k] >= first)
        out->uses[in->arg[k] - first]++;
  }
}

static bool can_join(const rewriter *rw, const joining *p, uint32_t sum, ref product) {
  uint32_t first = rw->region->body.first;
  return !ref_is_const(product) && product >= first && rw->from->code[product].op == VYRE_OP_MUL &&
         p->uses[product - first] == 1 && p->block[product - first] == p->block[sum - first];
}

// Of two products the first one.
static void join_products(const rewriter *rw, joining *p) {
  uint32_t first = rw->region->body.first;
  for (uint32_t i = first; i < rw->region->body.end; i++) {
    const inst *in = &rw->from->code[i];
    bool is_sum = in->op == VYRE_OP_ADD || in->op == VYRE_OP_SUB;
    if (!is_sum || !type_is_float(in->type)) continue;
    for (int k = 0; k < 2 && !p->joins[i - first]; k++) {
      if (!can_join(rw, p, i, in->arg[k])) continue;
      p->joins[i - first] = in->arg[k];
      p->joins[in->arg[k] - first] = i;
    }
  }
}

static bool is_plain_sum(const rewriter *rw, const joining *p, ref value, uint32_t block) {
  uint32_t first = rw->region->body.first;
  return !ref_is_const(value) && value >= first && rw->from->code[value].op == VYRE_OP_ADD &&
         p->uses[value - first] == 1 && p->block[value - first] == block;
}

// The sum of two products at the beginning of a chain of sums of products; 0: there is none.
static uint32_t chain_start(const rewriter *rw, const joining *p, ref value, uint32_t block) {
  uint32_t first = rw->region->body.first;
  while (is_plain_sum(rw, p, value, block) && p->joins[value - first]) {
    const inst *in = &rw->from->code[value];
    ref other = in->arg[in->arg[0] == p->joins[value - first]];
    bool is_open = !p->start[value - first] && other != p->joins[value - first];
    if (is_open && can_join(rw, p, value, other)) return value;
    value = other;
  }
  return 0;
}

// From which operation on a value can be had: a parameter anywhere.
static uint32_t last_made(const rewriter *rw, ref value) {
  return ref_is_const(value) || rw->from->code[value].op == VYRE_OP_PARAM ? 0 : value;
}
static ref mapped_early(rewriter *rw, ref value) {
  bool is_param = !ref_is_const(value) && rw->from->code[value].op == VYRE_OP_PARAM;
  return is_param ? vyre_build_param_value(rw->to, rw->from->code[value].arg[0])
                  : rewrite_ref(rw, value);
}

// ((a b + c d) + e f) + g begins with g: each product is then an fma, and one sum less is made.
static void reorder_sums(const rewriter *rw, joining *p) {
  uint32_t first = rw->region->body.first;
  for (uint32_t i = first; i < rw->region->body.end; i++) {
    const inst *in = &rw->from->code[i];
    if (in->op != VYRE_OP_ADD || !type_is_float(in->type) || p->joins[i - first]) continue;
    for (int k = 0; k < 2 && !p->same[i - first]; k++) {
      ref last = in->arg[!k];
      uint32_t start = chain_start(rw, p, in->arg[k], p->block[i - first]);
      if (!start || last_made(rw, last) >= start) continue;
      const inst *begin = &rw->from->code[start];
      uint32_t joined = p->joins[start - first];
      p->joins[begin->arg[begin->arg[0] == joined] - first] = start;
      p->start[start - first] = last;
      p->same[i - first] = in->arg[k];
    }
  }
}

// x * y + z, x * y - z, z - x * y
static ref contract(rewriter *rw, const joining *p, uint32_t sum, uint32_t product) {
  const inst *in = &rw->from->code[sum];
  inst factors = rewrite_mapped(rw, product);
  bool is_first = in->arg[0] == product, is_less = in->op == VYRE_OP_SUB;
  ref start = p->start[sum - rw->region->body.first];
  if (start) { // the other operand is a product too
    inst second = rewrite_mapped(rw, in->arg[is_first]);
    ref begun = vyre_build_fma(rw->to, second.arg[0], second.arg[1], mapped_early(rw, start));
    return vyre_build_fma(rw->to, factors.arg[0], factors.arg[1], begun);
  }
  ref x = factors.arg[0], z = rewrite_ref(rw, in->arg[is_first]);
  if (is_less && is_first) z = vyre_build_unary(rw->to, VYRE_OP_NEG, z);
  if (is_less && !is_first) x = vyre_build_unary(rw->to, VYRE_OP_NEG, x);
  return vyre_build_fma(rw->to, x, factors.arg[1], z);
}

static bool is_normal(vyre_type t, uint64_t bits) {
  uint64_t exponent = type_exponent(t, bits);
  return exponent != 0 && exponent != type_exponents(t);
}

// ---- divisors -----------------------------------------------------------------------------------
// A division costs what ten products cost, a root twelve. So a divisor that is the same for a whole
// loop, or for the whole launch, is inverted there once, by whatever moves the reciprocal out of
// the loop, and one that is a root is inverted by math_fast_rsqrt. All others stay divisions: what
// would replace them is as slow as they are. Whether a value changes is only a guess here; nothing
// but time depends on it.

static const inst *made_by(const rewriter *rw, ref value) {
  bool is_inside = !ref_is_const(value) && value >= rw->region->body.first;
  return is_inside ? &rw->from->code[value] : NULL;
}

static bool is_written(const rewriter *rw, uint32_t first, uint32_t end, const inst *read) {
  if (end - first > LOOP_MOST) return true;
  for (uint32_t i = first; i < end; i++) {
    const inst *in = &rw->from->code[i];
    bool is_same = in->arg[0] == read->arg[0];
    bool is_write = read->op == VYRE_OP_GET
                        ? in->op == VYRE_OP_SET
                        : op_is((vyre_op)in->op, OPF_WRITES) && in->op != VYRE_OP_SET;
    if (is_same && is_write) return true;
  }
  return false;
}

// Whether a value is the same in every turn of the loop, or everywhere when there is none.
static bool is_steady(const rewriter *rw, const joining *p, uint32_t loop, ref value, int depth) {
  const inst *in = made_by(rw, value);
  uint32_t first = rw->region->body.first;
  if (!in || (loop && value < loop)) return true;
  if (!loop && shape_axes(&p->shapes, value)) return false;
  if (depth == 0 || in->op == VYRE_OP_FOR) return false;
  if (in->op == VYRE_OP_PARAM || in->op == VYRE_OP_LEN) return true;
  bool is_read = in->op == VYRE_OP_GET || in->op == VYRE_OP_LOAD;
  uint32_t from = loop ? loop : first, end = loop ? p->end[loop - first] : rw->region->body.end;
  if (is_read && is_written(rw, from, end, in)) return false;
  if (!is_read && !op_is((vyre_op)in->op, OPF_PURE)) return false;
  const char *operands = op_table[in->op].operands;
  for (int k = 0; operands[k]; k++)
    if (operands[k] == 'v' && !is_steady(rw, p, loop, in->arg[k], depth - 1)) return false;
  return true;
}

static bool is_root(const inst *in) {
  return in && in->op == VYRE_OP_SQRT && in->type == VYRE_F32;
}

// The factors of the divisor, and how many there are: 1 or 2, 0 when it is best divided by.
static int factors_of(const rewriter *rw, const joining *p, uint32_t index, ref factors[2]) {
  uint32_t loop = p->loop[index - rw->region->body.first];
  factors[0] = rw->from->code[index].arg[1];
  const inst *in = made_by(rw, factors[0]);
  if (is_root(in) || is_steady(rw, p, loop, factors[0], DEPTH)) return 1;
  if (!in || in->op != VYRE_OP_MUL || rw->from->fast_ulp < FACTORS_FROM) return 0;
  for (int k = 0; k < 2; k++) {
    factors[k] = in->arg[k];
    if (!is_root(made_by(rw, factors[k])) && !is_steady(rw, p, loop, factors[k], DEPTH)) return 0;
  }
  return 2;
}

static bool is_division(const rewriter *rw, uint32_t index) {
  const inst *in = &rw->from->code[index];
  return in->op == VYRE_OP_DIV && type_is_float(in->type) && rw->from->fast_ulp >= RECIPROCALS_FROM;
}

// What is the same for many invocations is computed once for them, where time does not matter, but
// waiting does; f16 is computed in f32.
static bool is_worth(const rewriter *rw, const joining *p, uint32_t index) {
  return rw->from->code[index].type != VYRE_F16 && shape_axes(&p->shapes, index);
}

static void find_roots(const rewriter *rw, joining *p) {
  uint32_t first = rw->region->body.first;
  for (uint32_t i = first; i < rw->region->body.end; i++) {
    ref factors[2];
    if (!is_division(rw, i) || !is_worth(rw, p, i)) continue;
    int count = factors_of(rw, p, i, factors);
    for (int k = 0; k < count; k++)
      if (is_root(made_by(rw, factors[k]))) {
        p->under[factors[k] - first]++;
        p->alone[factors[k] - first] += count == 1;
      }
  }
}

static ref one_of(rewriter *rw, vyre_type t) {
  return vyre_build_const(rw->to, t, type_one_bits(t));
}

// x * (1 / c), where that is a number like any other.
static ref times_constant(rewriter *rw, const inst *in, uint64_t divisor) {
  vyre_type t = (vyre_type)in->type;
  if (!is_normal(t, divisor)) return 0;
  uint64_t reciprocal = eval_op(VYRE_OP_DIV, t, t, (uint64_t[3]){type_one_bits(t), divisor});
  if (!is_normal(t, reciprocal)) return 0;
  return vyre_build_binary(rw->to, VYRE_OP_MUL, in->arg[0],
                           vyre_build_const(rw->to, t, reciprocal));
}

static ref invert(rewriter *rw, const joining *p, vyre_type t, ref factor) {
  ref known = is_root(made_by(rw, factor)) ? p->inverse[factor - rw->region->body.first] : 0;
  if (known) return known;
  return vyre_build_binary(rw->to, VYRE_OP_DIV, one_of(rw, t), rewrite_ref(rw, factor));
}

static ref multiply(rewriter *rw, const joining *p, uint32_t index) {
  inst in = rewrite_mapped(rw, index);
  vyre_type t = (vyre_type)in.type;
  uint64_t bits;
  if (rewrite_const(rw, in.arg[1], &bits)) return times_constant(rw, &in, bits);
  ref factors[2];
  int count = is_worth(rw, p, index) ? factors_of(rw, p, index, factors) : 0;
  bool is_reciprocal = rewrite_const(rw, in.arg[0], &bits) && bits == type_one_bits(t);
  if (!count || (is_reciprocal && count == 1 && !is_root(made_by(rw, factors[0])))) return 0;
  ref inverse = invert(rw, p, t, factors[0]);
  if (count == 2)
    inverse = vyre_build_binary(rw->to, VYRE_OP_MUL, inverse, invert(rw, p, t, factors[1]));
  return is_reciprocal ? inverse : vyre_build_binary(rw->to, VYRE_OP_MUL, in.arg[0], inverse);
}

// A root that something is divided by: its reciprocal, and where else it is used x * (1 / sqrt(x)).
static ref root(rewriter *rw, const joining *p, uint32_t index) {
  ref x = rewrite_ref(rw, rw->from->code[index].arg[0]);
  ref inverse = math_fast_rsqrt(rw->to, x);
  uint32_t at = index - rw->region->body.first;
  p->inverse[at] = inverse;
  if (p->uses[at] == p->alone[at]) return inverse; // nobody else asks for it
  return vyre_build_binary(rw->to, VYRE_OP_MUL, x, inverse);
}

static ref function(rewriter *rw, const joining *p, uint32_t index) {
  const inst *in = &rw->from->code[index];
  uint32_t ulp = rw->from->fast_ulp;
  if (in->type != VYRE_F32 || !is_worth(rw, p, index)) return 0;
  if (in->op == VYRE_OP_RSQRT) return math_fast_rsqrt(rw->to, rewrite_ref(rw, in->arg[0]));
  if (in->op == VYRE_OP_EXP && ulp >= EXP_FROM)
    return math_fast_exp(rw->to, rewrite_ref(rw, in->arg[0]));
  if (in->op == VYRE_OP_LOG && ulp >= LOG_FROM)
    return math_fast_log(rw->to, rewrite_ref(rw, in->arg[0]));
  return 0;
}

static ref better_than(rewriter *rw, const joining *p, uint32_t index) {
  uint32_t at = index - rw->region->body.first;
  if (p->joins[at]) return contract(rw, p, index, p->joins[at]);
  if (p->same[at]) return rewrite_ref(rw, p->same[at]);
  if (rw->from->fast_ulp < RECIPROCALS_FROM) return 0;
  if (is_division(rw, index)) return multiply(rw, p, index);
  if (p->under[at]) return root(rw, p, index);
  return function(rw, p, index);
}

static void visit(rewriter *rw, uint32_t index) {
  const joining *p = rw->context;
  const inst *in = &rw->from->code[index];
  if (in->op == VYRE_OP_MUL && p->joins[index - rw->region->body.first]) {
    rewrite_drop(rw, index);
    return;
  }
  rewrite_choose(rw, index, better_than(rw, p, index));
}

static bool body(rewriter *rw) {
  uint32_t count = rw->region->body.end - rw->region->body.first + 1;
  joining p = {.uses = arena_alloc_array(rw->scratch, count, sizeof *p.uses),
               .block = arena_alloc_array(rw->scratch, count, sizeof *p.block),
               .joins = arena_alloc_array(rw->scratch, count, sizeof *p.joins),
               .start = arena_alloc_array(rw->scratch, count, sizeof *p.start),
               .same = arena_alloc_array(rw->scratch, count, sizeof *p.same),
               .loop = arena_alloc_array(rw->scratch, count, sizeof *p.loop),
               .end = arena_alloc_array(rw->scratch, count, sizeof *p.end),
               .under = arena_alloc_array(rw->scratch, count, sizeof *p.under),
               .alone = arena_alloc_array(rw->scratch, count, sizeof *p.alone),
               .inverse = arena_alloc_array(rw->scratch, count, sizeof *p.inverse)};
  ranges known;
  if (!p.uses || !p.block || !p.joins || !p.start || !p.same || !p.loop || !p.end || !p.under ||
      !p.alone || !p.inverse || !ranges_compute(rw->scratch, rw->from, rw->region, &known) ||
      !shapes_compute(rw->scratch, rw->from, rw->region, &known, NULL, &p.shapes))
    return false;
  count_uses(rw, &p);
  find_loops(rw, &p);
  find_roots(rw, &p);
  if (rw->from->fast_ulp >= CONTRACTS_FROM) join_products(rw, &p);
  if (rw->from->fast_ulp >= REORDERS_FROM) reorder_sums(rw, &p);
  rw->context = &p;
  vyre_build_fast(rw->to, 0);
  rw->changed = true;
  return rewrite_each(rw, visit);
}

vyre_status relax_program(vyre_program *program, vyre_program **out, vyre_error *error) {
  if (!program->fast_ulp) {
    *out = vyre_program_retain(program);
    return VYRE_OK;
  }
  vyre_program *made = NULL;
  vyre_status status = rewrite_whole(program, body, NULL, &made, error);
  if (status != VYRE_OK || program->fast_ulp < REORDERS_FROM) {
    *out = made;
    return status;
  }
  status = relax_sums(made, out, error);
  vyre_program_release(made);
  return status;
}
