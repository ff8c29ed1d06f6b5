// SPDX-License-Identifier: MIT
//
// Calls whose arguments are read: operations, conversions, vectors that are made of parts, and what
// the parser takes apart (clamp, dot, ...).
#include "ir/text_parser.h"

#include <string.h>

static bool push(parser *p, const operand *o) {
  return vec_push(&p->expr.operands, *o) || parser_fail_memory(p);
}

static open pop_call(parser *p) {
  p->expr.nesting--;
  p->expr.brackets--;
  return p->expr.opens.at[--p->expr.opens.count];
}

// Takes the arguments off the stack; they stay readable until the next is pushed.
static void take_arguments(parser *p, uint32_t count, operand *args) {
  p->expr.operands.count -= count;
  if (count) memcpy(args, p->expr.operands.at + p->expr.operands.count, count * sizeof *args);
}

static bool wrong_count(parser *p, const char *prefix, const char *name, unsigned wanted,
                        unsigned given, uint32_t offset) {
  return parser_fail(p, TEXT_P035, offset,
                     "`%s%s` takes %u argument%s, and %u %s given. Fix: see the operation in "
                     "docs/IR.md",
                     prefix, name, wanted, wanted == 1 ? "" : "s", given,
                     given == 1 ? "is" : "are");
}

// ---- operations ---------------------------------------------------------------------------------

// A number is of the type that it is converted to.
static uint32_t convert(parser *p, vyre_op op, vyre_type type, uint32_t from, uint32_t offset) {
  const node *n = &p->expr.nodes.at[from];
  bool is_number = n->kind == NODE_LITERAL && n->type == VYRE_VOID && type != VYRE_BOOL;
  if (op == VYRE_OP_CONVERT && is_number) {
    expression_demand(p, from, type);
    return from;
  }
  return expression_node(p, &(inst){.op = (uint8_t)op, .type = (uint8_t)type, .arg = {from}},
                         VYRE_VOID, offset);
}

static bool close_convert(parser *p, const open *o) {
  operand from, made = {.offset = o->offset};
  if (o->arguments != 1)
    return wrong_count(p, o->op == VYRE_OP_BITCAST ? "as_" : "", type_table[o->type].name, 1,
                       o->arguments, o->offset);
  take_arguments(p, 1, &from);
  made.lanes = from.lanes;
  for (uint32_t k = 0; k < from.lanes; k++) {
    made.node[k] = convert(p, (vyre_op)o->op, (vyre_type)o->type, from.node[k], o->offset);
    if (made.node[k] == UINT32_MAX) return false;
  }
  return push(p, &made);
}

// f32x3(a, b, c), f32x4(v, 1), f32x2(0): parts in their order, or one for all.
static bool close_vector(parser *p, const open *o) {
  operand args[MOST_LANES], made = {.lanes = o->lanes, .offset = o->offset};
  uint32_t count = 0;
  bool is_fitting = o->arguments >= 1 && o->arguments <= MOST_LANES;
  uint32_t parts[MOST_LANES * MOST_LANES];
  if (is_fitting) take_arguments(p, o->arguments, args);
  for (uint32_t k = 0; is_fitting && k < o->arguments; k++)
    for (uint32_t lane = 0; lane < args[k].lanes; lane++) parts[count++] = args[k].node[lane];
  if (!is_fitting || (count != o->lanes && count != 1))
    return parser_fail(p, TEXT_P035, o->offset,
                       "a vector of %u is made of %u numbers, and %u %s given. Fix: give as many "
                       "as it has, or one for all",
                       o->lanes, o->lanes, is_fitting ? count : o->arguments,
                       (is_fitting ? count : o->arguments) == 1 ? "is" : "are");
  for (uint32_t k = 0; k < o->lanes; k++) {
    uint32_t from = parts[count == 1 ? 0 : k];
    expression_demand(p, from, (vyre_type)o->type);
    bool is_same = expression_type(p, from) == (vyre_type)o->type;
    made.node[k] =
        is_same ? from : convert(p, VYRE_OP_CONVERT, (vyre_type)o->type, from, o->offset);
    if (count == 1 && k) made.node[k] = made.node[0];
    if (made.node[k] == UINT32_MAX) return false;
  }
  return push(p, &made);
}

// `arguments` of an atomic counts those after its element.
static bool close_atomic(parser *p, const open *o) {
  const op_info *info = &op_table[o->op];
  unsigned wanted = info->operand_count - 1u; // the element is one argument of two operands
  operand args[4];
  if (o->arguments != wanted - 1)
    return wrong_count(p, "", info->name, wanted, o->arguments + 1, o->offset);
  take_arguments(p, wanted, args);
  inst in = {.op = o->op, .arg = {o->mem}};
  for (unsigned i = 0; i < wanted; i++) {
    if (!expression_single(p, &args[i])) return false;
    in.arg[i + 1] = args[i].node[0];
  }
  operand made = {.lanes = 1, .offset = o->offset};
  made.node[0] = expression_node(p, &in, (vyre_type)o->type, o->offset);
  return made.node[0] != UINT32_MAX && push(p, &made);
}

static bool close_operation(parser *p, const open *o) {
  const op_info *info = &op_table[o->op];
  operand args[4], made;
  if (o->arguments != info->operand_count)
    return wrong_count(p, "", info->name, info->operand_count, o->arguments, o->offset);
  take_arguments(p, o->arguments, args);
  return expression_each(p, (vyre_op)o->op, args, o->arguments, 0, o->offset, &made) &&
         push(p, &made);
}

// ---- what is taken apart ------------------------------------------------------------------------

static bool each2(parser *p, vyre_op op, const operand *a, const operand *b, operand *out) {
  operand args[2] = {*a, *b};
  return expression_each(p, op, args, 2, 0, a->offset, out);
}

// The lanes of a vector combined from left to right.
static bool combine(parser *p, vyre_op op, const operand *v, operand *out) {
  *out = (operand){.node = {v->node[0]}, .lanes = 1, .offset = v->offset};
  for (uint32_t k = 1; k < v->lanes; k++) {
    out->node[0] = node_op2(p, op, out->node[0], v->node[k], v->offset);
    if (out->node[0] == UINT32_MAX) return false;
  }
  return true;
}

static bool make_dot(parser *p, const operand *a, const operand *b, operand *out) {
  operand products;
  return each2(p, VYRE_OP_MUL, a, b, &products) && combine(p, VYRE_OP_ADD, &products, out);
}

static bool make_length(parser *p, const operand *v, operand *out) {
  operand square;
  return make_dot(p, v, v, &square) &&
         expression_each(p, VYRE_OP_SQRT, &square, 1, 0, v->offset, out);
}

static bool make_cross(parser *p, const operand *a, const operand *b, operand *out) {
  if (a->lanes != 3 || b->lanes != 3)
    return parser_fail(p, TEXT_P057, a->lanes != 3 ? a->offset : b->offset,
                       "`cross` is of two vectors of three. Fix: make them so, as in f32x3(v, 0)");
  *out = (operand){.lanes = 3, .offset = a->offset};
  for (uint32_t k = 0; k < 3; k++) {
    uint32_t i = (k + 1) % 3, j = (k + 2) % 3;
    uint32_t plus = node_op2(p, VYRE_OP_MUL, a->node[i], b->node[j], a->offset);
    uint32_t minus = node_op2(p, VYRE_OP_MUL, a->node[j], b->node[i], a->offset);
    if (plus == UINT32_MAX || minus == UINT32_MAX) return false;
    out->node[k] = node_op2(p, VYRE_OP_SUB, plus, minus, a->offset);
    if (out->node[k] == UINT32_MAX) return false;
  }
  return true;
}

static bool make_mix(parser *p, const operand *a, operand *out) {
  operand span, part;
  return each2(p, VYRE_OP_SUB, &a[1], &a[0], &span) && each2(p, VYRE_OP_MUL, &span, &a[2], &part) &&
         each2(p, VYRE_OP_ADD, &a[0], &part, out);
}

static bool make_sugar(parser *p, sugar s, const operand *a, operand *out) {
  operand made;
  switch (s) {
  case SUGAR_CLAMP:
    return each2(p, VYRE_OP_MAX, &a[0], &a[1], &made) && each2(p, VYRE_OP_MIN, &made, &a[2], out);
  case SUGAR_MIX: return make_mix(p, a, out);
  case SUGAR_DOT: return make_dot(p, &a[0], &a[1], out);
  case SUGAR_CROSS: return make_cross(p, &a[0], &a[1], out);
  case SUGAR_LENGTH: return make_length(p, a, out);
  case SUGAR_NORMALIZE: return make_length(p, a, &made) && each2(p, VYRE_OP_DIV, a, &made, out);
  case SUGAR_ANY: return combine(p, VYRE_OP_OR, a, out);
  case SUGAR_ALL: return combine(p, VYRE_OP_AND, a, out);
  case SUGAR_NONE: break;
  }
  return false;
}

static bool close_sugar(parser *p, const open *o) {
  static const struct {
    const char *name;
    unsigned count;
  } known[] = {
      [SUGAR_CLAMP] = {"clamp", 3},   [SUGAR_MIX] = {"mix", 3},
      [SUGAR_DOT] = {"dot", 2},       [SUGAR_CROSS] = {"cross", 2},
      [SUGAR_LENGTH] = {"length", 1}, [SUGAR_NORMALIZE] = {"normalize", 1},
      [SUGAR_ANY] = {"any", 1},       [SUGAR_ALL] = {"all", 1},
  };
  operand args[3], made;
  if (o->arguments != known[o->op].count)
    return wrong_count(p, "", known[o->op].name, known[o->op].count, o->arguments, o->offset);
  take_arguments(p, o->arguments, args);
  for (uint32_t k = 0; k < o->arguments; k++)
    if (!args[k].lanes)
      return parser_fail(p, TEXT_P012, args[k].offset,
                         "this function has no value. Fix: let it return one");
  return make_sugar(p, (sugar)o->op, args, &made) && push(p, &made);
}

static bool close_function(parser *p, const open *o) {
  operand args[MOST_FUNCTION_PARAMS], made;
  const text_function *f = &p->functions.at[o->mem];
  const symbol *s = &p->symbols.list.at[f->symbol];
  if (o->arguments != f->param_count)
    return parser_fail(p, TEXT_P035, o->offset,
                       "`%.*s` takes %u argument%s, and %u %s given. Fix: see its declaration",
                       s->size < 40 ? (int)s->size : 40, s->text, f->param_count,
                       f->param_count == 1 ? "" : "s", o->arguments,
                       o->arguments == 1 ? "is" : "are");
  take_arguments(p, o->arguments, args);
  return function_call(p, o->mem, args, o->arguments, o->offset, &made) && push(p, &made);
}

bool call_close(parser *p) {
  open o = pop_call(p);
  if (o.kind == OPEN_FUNCTION) return close_function(p, &o);
  if (o.kind == OPEN_SUGAR) return close_sugar(p, &o);
  bool is_convert = o.op == VYRE_OP_CONVERT || o.op == VYRE_OP_BITCAST;
  if (is_convert && o.lanes > 1) return close_vector(p, &o);
  if (is_convert) return close_convert(p, &o);
  return op_is_atomic(o.op) ? close_atomic(p, &o) : close_operation(p, &o);
}
