// SPDX-License-Identifier: MIT
//
// Identities that hold bit for bit. Floats have few: x + 0.0 is not x (for -0.0), x * 0.0 is not 0
// (for NaN and infinity), x - x is not 0; but x * 1.0, x / 1.0, x - 0.0 and x + -0.0 are x. Expects
// constants on the right, where canonicalize puts them.
#include "opt/passes.h"

#include "opt/rewrite.h"

typedef struct expression {
  vyre_op op;
  vyre_type type;
  ref x, y;
  bool has_const; // y is one
  uint64_t bits;  // its bits
} expression;

static bool is_all_ones(const expression *e) {
  return e->bits == type_canonical_bits(e->type, UINT64_MAX);
}

static ref zero(rewriter *rw, const expression *e) {
  return vyre_build_const(rw->to, e->type, 0);
}

static ref simplify_float(const expression *e) {
  if (!e->has_const) return 0;
  bool is_one = e->bits == type_one_bits(e->type);
  switch (e->op) {
  case VYRE_OP_ADD: return e->bits == type_sign_bit(e->type) ? e->x : 0;
  case VYRE_OP_SUB: return e->bits == 0 ? e->x : 0;
  case VYRE_OP_MUL:
  case VYRE_OP_DIV: return is_one ? e->x : 0;
  default: return 0; // no rule: it stays
  }
}

static ref simplify_with_const(rewriter *rw, const expression *e) {
  bool is_zero = e->bits == 0, is_one = e->bits == 1;
  switch (e->op) {
  case VYRE_OP_ADD:
  case VYRE_OP_SUB:
  case VYRE_OP_XOR:
  case VYRE_OP_SHL:
  case VYRE_OP_SHR:
  case VYRE_OP_ROTL:
  case VYRE_OP_ROTR: return is_zero ? e->x : 0;
  case VYRE_OP_MUL: return is_zero ? zero(rw, e) : is_one ? e->x : 0;
  case VYRE_OP_DIV: return is_zero ? zero(rw, e) : is_one ? e->x : 0; // x / 0 is 0
  case VYRE_OP_REM: return is_zero ? e->x : is_one ? zero(rw, e) : 0; // x % 0 is x
  case VYRE_OP_AND: return is_zero ? zero(rw, e) : is_all_ones(e) ? e->x : 0;
  case VYRE_OP_OR: return is_zero ? e->x : is_all_ones(e) ? e->y : 0;
  case VYRE_OP_MULHI: return is_zero ? zero(rw, e) : 0;
  default: return 0; // no rule: it stays
  }
}

static ref simplify_same(rewriter *rw, const expression *e) {
  switch (e->op) {
  case VYRE_OP_SUB:
  case VYRE_OP_XOR: return zero(rw, e);
  case VYRE_OP_AND:
  case VYRE_OP_OR:
  case VYRE_OP_MIN:
  case VYRE_OP_MAX: return e->x;
  default: return 0; // no rule: it stays
  }
}

static ref simplify_comparison(rewriter *rw, const inst *in) {
  vyre_type t = vyre_build_type_of(rw->to, in->arg[0]);
  uint64_t bits;
  if (t == VYRE_BOOL && rewrite_const(rw, in->arg[1], &bits)) {
    bool keeps = (in->op == VYRE_OP_EQ) == (bits != 0); // x == true, x != false
    return keeps ? in->arg[0] : vyre_build_unary(rw->to, VYRE_OP_NOT, in->arg[0]);
  }
  if (in->arg[0] == in->arg[1] && !type_is_float(t))
    return vyre_build_bool(rw->to,
                           in->op == VYRE_OP_EQ || in->op == VYRE_OP_LE || in->op == VYRE_OP_GE);
  bool is_unsigned = type_is_int(t) && !type_is_signed(t);
  if (is_unsigned && rewrite_const(rw, in->arg[1], &bits) && bits == 0) {
    if (in->op == VYRE_OP_LT) return vyre_build_bool(rw->to, false);
    if (in->op == VYRE_OP_GE) return vyre_build_bool(rw->to, true);
  }
  return 0;
}

// x >> s << (s + t), which has no low bits, and what those are shifted as far: of one x.
static ref rejoined(rewriter *rw, ref high, ref low, vyre_type type) {
  const inst *up = rewrite_inst(rw, high), *part = rewrite_inst(rw, low);
  uint64_t all, cut, shift = 0, mask;
  if (!up || up->op != VYRE_OP_SHL || !rewrite_const(rw, up->arg[1], &all)) return 0;
  const inst *down = rewrite_inst(rw, up->arg[0]);
  if (!down || down->op != VYRE_OP_SHR || !rewrite_const(rw, down->arg[1], &cut)) return 0;
  if (part && part->op == VYRE_OP_SHL && rewrite_const(rw, part->arg[1], &shift))
    part = rewrite_inst(rw, part->arg[0]);
  bool is_rest = part && part->op == VYRE_OP_AND && part->arg[0] == down->arg[0] &&
                 rewrite_const(rw, part->arg[1], &mask);
  unsigned bits = type_bits(type);
  if (!is_rest || cut >= bits || shift >= bits || all != cut + shift || all >= bits ||
      mask != ((uint64_t)1 << cut) - 1)
    return 0;
  ref x = down->arg[0];
  return shift ? vyre_build_binary(rw->to, VYRE_OP_SHL, x, vyre_build_const(rw->to, type, shift))
               : x;
}

static ref simplify_binary(rewriter *rw, const inst *in) {
  unsigned rule = op_table[in->op].rule;
  if (rule == RULE_EQUALITY || rule == RULE_ORDER) return simplify_comparison(rw, in);
  expression e = {(vyre_op)in->op, (vyre_type)in->type, in->arg[0], in->arg[1], false, 0};
  e.has_const = rewrite_const(rw, e.y, &e.bits);
  if (e.x == e.y && (e.op == VYRE_OP_MIN || e.op == VYRE_OP_MAX)) return e.x;
  if (type_is_float(e.type)) return simplify_float(&e);
  ref better = e.has_const ? simplify_with_const(rw, &e) : 0;
  if (!better && (e.op == VYRE_OP_ADD || e.op == VYRE_OP_OR))
    better = rejoined(rw, e.x, e.y, e.type);
  if (!better && (e.op == VYRE_OP_ADD || e.op == VYRE_OP_OR))
    better = rejoined(rw, e.y, e.x, e.type);
  return !better && e.x == e.y ? simplify_same(rw, &e) : better;
}

static ref simplify_unary(rewriter *rw, const inst *in) {
  const inst *made = rewrite_inst(rw, in->arg[0]);
  if (in->op == VYRE_OP_CONVERT && vyre_build_type_of(rw->to, in->arg[0]) == in->type)
    return in->arg[0];
  if (!made) return 0;
  bool is_twice = made->op == in->op && made->type == in->type;
  if (is_twice && (in->op == VYRE_OP_NEG || in->op == VYRE_OP_NOT)) return made->arg[0];
  if (is_twice && in->op >= VYRE_OP_FLOOR && in->op <= VYRE_OP_RINT) return in->arg[0];
  if (is_twice && in->op == VYRE_OP_ABS) return in->arg[0];
  // A round trip through a wider integer type changes nothing.
  if (in->op == VYRE_OP_CONVERT && made->op == VYRE_OP_CONVERT && type_is_int(made->type)) {
    vyre_type first = vyre_build_type_of(rw->to, made->arg[0]);
    if (first == in->type && type_is_int(first) && type_bits(made->type) >= type_bits(first))
      return made->arg[0];
  }
  return 0;
}

static ref simplify_select(rewriter *rw, const inst *in) {
  uint64_t bits;
  if (rewrite_const(rw, in->arg[0], &bits)) return in->arg[bits ? 1 : 2];
  if (in->arg[1] == in->arg[2]) return in->arg[1];
  if (in->type != VYRE_BOOL) return 0;
  uint64_t x, y;
  if (!rewrite_const(rw, in->arg[1], &x) || !rewrite_const(rw, in->arg[2], &y)) return 0;
  return x ? in->arg[0] : vyre_build_unary(rw->to, VYRE_OP_NOT, in->arg[0]);
}

static void visit(rewriter *rw, uint32_t index) {
  ref better = 0;
  if (op_is((vyre_op)rw->from->code[index].op, OPF_PURE)) {
    inst in = rewrite_mapped(rw, index);
    if (in.op == VYRE_OP_SELECT)
      better = simplify_select(rw, &in);
    else if (op_table[in.op].operands[0] == 'v' && op_table[in.op].operand_count == 2)
      better = simplify_binary(rw, &in);
    else if (op_table[in.op].operands[0] == 'v' && op_table[in.op].operand_count == 1)
      better = simplify_unary(rw, &in);
  }
  rewrite_choose(rw, index, better);
}

static bool body(rewriter *rw) {
  return rewrite_each(rw, visit);
}

static vyre_status run(const pass_run *r, vyre_program **out, vyre_error *error) {
  return rewrite_program(r, body, NULL, out, error);
}

const pass pass_algebraic_simplify = {
    .info = {.name = "algebraic_simplify",
             .requires = (const char *const[]){"canonicalize", NULL},
             .invalidates = (const char *const[]){"const_fold", "canonicalize", NULL},
             .family = PASS_FAMILY_SCALAR},
    .summary = "identities that hold bit for bit, such as x * 1",
    .never = "use a float identity that NaN, infinity or -0.0 breaks, such as x + 0.0",
    .run = run,
};
