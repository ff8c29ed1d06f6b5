// SPDX-License-Identifier: MIT
//
// The nodes of an expression. Numbers without a suffix get their types in two steps: while nodes
// are made, a type known in one operand becomes the type of the group; once all are there, one walk
// backwards, from users to operands, hands the types down to what is still unknown. Only then are
// the nodes built, in their order. Where a function is called in the middle of an expression, what
// is known by then is built before it; what waits are numbers and what is computed from them alone,
// for which the order makes no difference.
#include "ir/text_parser.h"

#include "ir/limits.h"
#include "ir/tunable.h"

// ---- nodes --------------------------------------------------------------------------------------

void expression_begin(parser *p) {
  expression *e = &p->expr;
  e->nodes.count = e->operands.count = e->opens.count = 0;
  e->nesting = e->brackets = 0;
}

void expression_fini(expression *e) {
  vec_free(&e->nodes);
  vec_free(&e->operands);
  vec_free(&e->opens);
}

uint32_t node_add(parser *p, const node *n) {
  if (!vec_push(&p->expr.nodes, *n)) {
    parser_fail_memory(p);
    return UINT32_MAX;
  }
  return (uint32_t)p->expr.nodes.count - 1;
}

uint32_t node_value(parser *p, ref value, vyre_type type, uint32_t offset) {
  return node_add(
      p, &(node){.kind = NODE_VALUE, .type = (uint8_t)type, .offset = offset, .result = value});
}

uint32_t node_number(parser *p, uint64_t number, uint32_t offset) {
  return node_add(p, &(node){.kind = NODE_LITERAL,
                             .offset = offset,
                             .literal = {.magnitude = number, .text = ""}});
}

// The type of the operands that share one, as far as it is known.
static vyre_type group_type(const parser *p, const inst *in) {
  const op_info *info = &op_table[in->op];
  for (int k = 0; k < info->operand_count; k++) {
    if (text_slot_demand((vyre_op)in->op, k) != DEMAND_GROUP || in->arg[k] == UINT32_MAX) continue;
    vyre_type type = (vyre_type)p->expr.nodes.at[in->arg[k]].type;
    if (type != VYRE_VOID) return type;
  }
  return VYRE_VOID;
}

static vyre_type known_type(const parser *p, const inst *in, vyre_type element) {
  if (text_result_in_group((vyre_op)in->op)) return group_type(p, in);
  switch ((op_rule)op_table[in->op].rule) {
  case RULE_EQUALITY:
  case RULE_ORDER: return VYRE_BOOL;
  case RULE_LEN:
  case RULE_AXIS: return VYRE_U32;
  case RULE_CONVERT:
  case RULE_BITCAST: return (vyre_type)in->type;
  case RULE_PARAM:
  case RULE_GET:
  case RULE_LOAD:
  case RULE_ATOMIC: return element;
  case RULE_NONE:
  case RULES_IN_ONE_TYPE:
  case RULE_SELECT:
  case RULE_COPY:
  case RULES_STATEMENT:
  case RULES_LOWERED: break;
  }
  return VYRE_VOID;
}

uint32_t expression_node(parser *p, const inst *in, vyre_type element, uint32_t offset) {
  return node_add(p, &(node){.kind = NODE_INST,
                             .type = (uint8_t)known_type(p, in, element),
                             .element = (uint8_t)element,
                             .offset = offset,
                             .in = *in});
}

bool expression_add(parser *p, const inst *in, vyre_type element, uint32_t offset) {
  return expression_node(p, in, element, offset) != UINT32_MAX;
}

uint32_t node_op1(parser *p, vyre_op op, uint32_t a, uint32_t offset) {
  return expression_node(p, &(inst){.op = (uint8_t)op, .arg = {a}}, VYRE_VOID, offset);
}

uint32_t node_op2(parser *p, vyre_op op, uint32_t a, uint32_t b, uint32_t offset) {
  return expression_node(p, &(inst){.op = (uint8_t)op, .arg = {a, b}}, VYRE_VOID, offset);
}

// ---- types of numbers ---------------------------------------------------------------------------

void expression_demand(parser *p, uint32_t root, vyre_type type) {
  node *n = &p->expr.nodes.at[root];
  if (n->type == VYRE_VOID) n->type = (uint8_t)type;
}

vyre_type expression_type(const parser *p, uint32_t number) {
  return (vyre_type)p->expr.nodes.at[number].type;
}

static void hand_down_types(parser *p, const node *n) {
  const op_info *info = &op_table[n->in.op];
  for (int k = 0; k < info->operand_count; k++) {
    if (info->operands[k] != 'v' || n->in.arg[k] == UINT32_MAX) continue;
    node *operand = &p->expr.nodes.at[n->in.arg[k]];
    if (operand->type != VYRE_VOID) continue;
    switch (text_slot_demand((vyre_op)n->in.op, k)) {
    case DEMAND_NONE: break;
    case DEMAND_GROUP:
      operand->type =
          text_result_in_group((vyre_op)n->in.op) ? n->type : (uint8_t)group_type(p, &n->in);
      break;
    case DEMAND_INDEX: operand->type = VYRE_U32; break;
    case DEMAND_BOOL: operand->type = VYRE_BOOL; break;
    case DEMAND_ELEMENT: operand->type = n->element; break;
    }
  }
}

static void infer_types(parser *p) {
  for (size_t i = p->expr.nodes.count; i > 0; i--)
    if (p->expr.nodes.at[i - 1].kind == NODE_INST) hand_down_types(p, &p->expr.nodes.at[i - 1]);
}

static bool fail_literal(parser *p, const node *n, literal_fit fit) {
  const literal *l = &n->literal;
  const char *type = vyre_type_name((vyre_type)n->type), *sign = l->is_negative ? "-" : "";
  int shown = l->size < 40 ? (int)l->size : 40;
  const char *digits = l->text;
  if (fit == LITERAL_NO_MEMORY) return parser_fail_memory(p);
  if (n->type == VYRE_VOID)
    return parser_fail(p, TEXT_P050, n->offset,
                       "nothing here tells the type of this number. Fix: write it with a suffix, "
                       "as in %s%.*s%s",
                       sign, shown, digits, l->is_float ? "f32" : "u32");
  if (fit == LITERAL_OUT_OF_RANGE)
    return parser_fail(p, TEXT_P052, n->offset,
                       "%s%.*s is out of the range of %s. Fix: use a number that fits, or another "
                       "type",
                       sign, shown, digits, type);
  if (n->type == VYRE_BOOL)
    return parser_fail(p, TEXT_P051, n->offset,
                       "a number stands where a bool is needed. Fix: write true or false, or "
                       "compare, as in x != 0");
  return parser_fail(p, TEXT_P051, n->offset, "%s stands where %s is needed. Fix: %s",
                     l->is_float ? "a float" : "an integer", type,
                     l->is_float ? "write a number without point and exponent"
                                 : "write it in decimal, with a point");
}

// ---- building -----------------------------------------------------------------------------------

static bool check_operator(parser *p, const node *n) {
  vyre_type type = (vyre_type)p->expr.nodes.at[n->in.arg[0]].type;
  bool wants_bool = n->sign != TOKEN_TILDE;
  if ((type == VYRE_BOOL) == wants_bool) return true;
  const char *name = n->sign == TOKEN_NOT       ? "!"
                     : n->sign == TOKEN_TILDE   ? "~"
                     : n->sign == TOKEN_AND_AND ? "&&"
                                                : "||";
  const char *fix = n->sign == TOKEN_NOT       ? "write `~x` for the complement, `x == 0` for zero"
                    : n->sign == TOKEN_TILDE   ? "write `!x`"
                    : n->sign == TOKEN_AND_AND ? "write `&` for the bits, or compare both sides"
                                               : "write `|` for the bits, or compare both sides";
  return parser_fail(p, TEXT_P054, n->offset, "`%s` on %s. Fix: %s", name, vyre_type_name(type),
                     fix);
}

static bool emit_inst(parser *p, node *n) {
  inst in = n->in;
  const op_info *info = &op_table[in.op];
  if (n->sign && !check_operator(p, n)) return false;
  parser_at(p, n->offset);
  for (int k = 0; k < info->operand_count; k++) {
    if (info->operands[k] != 'v') continue;
    // The step of a for that states none is 1 of the type of its bounds.
    in.arg[k] =
        in.arg[k] == UINT32_MAX
            ? vyre_build_const(p->builder, (vyre_type)p->expr.nodes.at[n->in.arg[0]].type, 1)
            : p->expr.nodes.at[in.arg[k]].result;
  }
  n->result = builder_emit(p->builder, &in);
  return n->result != 0;
}

static bool emit_literal(parser *p, node *n) {
  uint64_t bits = 0;
  literal_fit fit = literal_bits(&n->literal, (vyre_type)n->type, &bits);
  if (fit != LITERAL_FITS) return fail_literal(p, n, fit);
  parser_at(p, n->offset);
  n->result = vyre_build_const(p->builder, (vyre_type)n->type, bits);
  return n->result != 0;
}

static bool emit_node(parser *p, node *n) {
  if (n->result || n->kind == NODE_VALUE) return true;
  return n->kind == NODE_LITERAL ? emit_literal(p, n) : emit_inst(p, n);
}

bool expression_emit(parser *p) {
  infer_types(p);
  for (size_t i = 0; i < p->expr.nodes.count; i++)
    if (!emit_node(p, &p->expr.nodes.at[i])) return false;
  return true;
}

// Whether all that the node takes is built.
static bool is_ready(const parser *p, const node *n) {
  if (n->type == VYRE_VOID) return false;
  if (n->kind != NODE_INST) return true;
  const op_info *info = &op_table[n->in.op];
  for (int k = 0; k < info->operand_count; k++)
    if (info->operands[k] == 'v' && !p->expr.nodes.at[n->in.arg[k]].result) return false;
  return true;
}

bool expression_flush(parser *p) {
  infer_types(p);
  for (size_t i = 0; i < p->expr.nodes.count; i++) {
    node *n = &p->expr.nodes.at[i];
    if (is_ready(p, n) && !emit_node(p, n)) return false;
  }
  return true;
}

// What a node is in a formula: numbers, tunables and operations that can be evaluated here.
static bool make_term(parser *p, node *n, formula_term *t) {
  uint64_t bits = 0;
  *t = (formula_term){.type = n->type};
  if (n->kind == NODE_LITERAL) {
    literal_fit fit = literal_bits(&n->literal, (vyre_type)n->type, &bits);
    if (fit != LITERAL_FITS) return fail_literal(p, n, fit);
    t->bits = type_canonical_bits((vyre_type)n->type, bits);
    return true;
  }
  if (n->kind == NODE_VALUE && builder_const_bits(p->builder, n->result, &t->bits)) return true;
  if (n->kind == NODE_VALUE && builder_is_tunable(p->builder, n->result, &t->tunable)) {
    t->op = TERM_TUNABLE;
    return true;
  }
  if (n->kind == NODE_VALUE)
    return parser_fail(p, TEXT_P055, n->offset,
                       "this is not known when the text is read. Fix: use numbers and tunables");
  if (n->sign && !check_operator(p, n)) return false;
  const op_info *info = &op_table[n->in.op];
  vyre_type types[3] = {VYRE_VOID, VYRE_VOID, VYRE_VOID};
  bool takes_values = info->operand_count && info->operand_count <= 3 && !op_first_value(info);
  for (int k = 0; takes_values && k < info->operand_count; k++)
    types[k] = (vyre_type)p->expr.nodes.at[n->in.arg[k]].type;
  t->op = n->in.op;
  vyre_type type =
      takes_values ? formula_type((vyre_op)t->op, (vyre_type)n->type, types) : VYRE_VOID;
  t->type = n->type = (uint8_t)type;
  return type != VYRE_VOID ||
         parser_fail(p, TEXT_P055, n->offset,
                     "this cannot be computed when the text is read. Fix: use numbers, tunables "
                     "and arithmetic on one type");
}

bool expression_terms(parser *p, formula_term *terms, uint32_t *count) {
  *count = 0;
  infer_types(p);
  for (size_t i = 0; i < p->expr.nodes.count; i++) {
    node *n = &p->expr.nodes.at[i];
    if (*count == LIMIT_TERMS)
      return parser_fail(p, TEXT_P055, n->offset,
                         "a formula has more than %d parts. Fix: make it simpler", LIMIT_TERMS);
    if (!make_term(p, n, &terms[(*count)++])) return false;
  }
  return true;
}

ref expression_result(const parser *p, uint32_t number) {
  return p->expr.nodes.at[number].result;
}
