// SPDX-License-Identifier: MIT
//
// Expressions are read by operator precedence with an explicit stack (`opens`) into nodes in the
// order of evaluation, which is the order of operations in the program. A statement adds itself as
// the last node. Numbers without a suffix then get their types: while nodes are made, a type known
// in one operand becomes the type of the group; once all are there, one walk backwards, from users
// to operands, hands the types down to what is still unknown. Only then are the nodes built.
#include "ir/text_parser.h"

#include "ir/limits.h"
#include "ir/tunable.h"

typedef struct operator_info {
  vyre_op op;
  vyre_type type; // BOOL where the sign is the one for bool
} operator_info;

static const operator_info operators[] = {
    [TOKEN_PLUS] = {VYRE_OP_ADD, VYRE_VOID},    [TOKEN_MINUS] = {VYRE_OP_SUB, VYRE_VOID},
    [TOKEN_STAR] = {VYRE_OP_MUL, VYRE_VOID},    [TOKEN_SLASH] = {VYRE_OP_DIV, VYRE_VOID},
    [TOKEN_PERCENT] = {VYRE_OP_REM, VYRE_VOID}, [TOKEN_SHL] = {VYRE_OP_SHL, VYRE_VOID},
    [TOKEN_SHR] = {VYRE_OP_SHR, VYRE_VOID},     [TOKEN_AND] = {VYRE_OP_AND, VYRE_VOID},
    [TOKEN_XOR] = {VYRE_OP_XOR, VYRE_VOID},     [TOKEN_OR] = {VYRE_OP_OR, VYRE_VOID},
    [TOKEN_EQ] = {VYRE_OP_EQ, VYRE_VOID},       [TOKEN_NE] = {VYRE_OP_NE, VYRE_VOID},
    [TOKEN_LT] = {VYRE_OP_LT, VYRE_VOID},       [TOKEN_LE] = {VYRE_OP_LE, VYRE_VOID},
    [TOKEN_GT] = {VYRE_OP_GT, VYRE_VOID},       [TOKEN_GE] = {VYRE_OP_GE, VYRE_VOID},
    [TOKEN_AND_AND] = {VYRE_OP_AND, VYRE_BOOL}, [TOKEN_OR_OR] = {VYRE_OP_OR, VYRE_BOOL},
};

// ---- nodes --------------------------------------------------------------------------------------

void expression_begin(parser *p) {
  p->nodes.count = p->operands.count = p->opens.count = 0;
  p->nesting = p->brackets = 0;
}

static bool add_node(parser *p, node n) {
  if (!vec_push(&p->nodes, n) || !vec_push(&p->operands, (uint32_t)p->nodes.count - 1))
    return parser_fail_memory(p);
  return true;
}

// The type of the operands that share one, as far as it is known.
static vyre_type group_type(const parser *p, const inst *in) {
  const op_info *info = &op_table[in->op];
  for (int k = 0; k < info->operand_count; k++) {
    if (text_slot_demand((vyre_op)in->op, k) != DEMAND_GROUP || in->arg[k] == UINT32_MAX) continue;
    vyre_type type = (vyre_type)p->nodes.at[in->arg[k]].type;
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

bool expression_add(parser *p, const inst *in, vyre_type element, uint32_t offset) {
  node n = {.kind = NODE_INST,
            .type = (uint8_t)known_type(p, in, element),
            .element = (uint8_t)element,
            .offset = offset,
            .in = *in};
  const op_info *info = &op_table[in->op];
  size_t taken = 0;
  for (int k = 0; k < info->operand_count; k++)
    taken += info->operands[k] == 'v' && in->arg[k] != UINT32_MAX;
  p->operands.count -= taken;
  return add_node(p, n);
}

static bool add_operation(parser *p, vyre_op op, uint32_t arg, vyre_type type, uint32_t offset) {
  return expression_add(p, &(inst){.op = (uint8_t)op, .arg = {arg}}, type, offset);
}

static bool add_value(parser *p, ref value, vyre_type type, uint32_t offset) {
  return add_node(
      p, (node){.kind = NODE_VALUE, .type = (uint8_t)type, .offset = offset, .result = value});
}

static bool add_literal(parser *p, bool is_negative, uint32_t offset) {
  literal l = p->token.literal;
  l.is_negative = is_negative;
  node n = {.kind = NODE_LITERAL, .type = l.suffix, .offset = offset, .literal = l};
  parser_next(p);
  return add_node(p, n);
}

// true, false, inf_f32, nan_f32
static bool add_constant(parser *p, bool is_negative, uint32_t offset) {
  const symbol *s = parser_symbol(p);
  vyre_type type = (vyre_type)s->type;
  uint64_t bits = s->bits;
  if (is_negative) bits |= (uint64_t)1 << (type_bits(type) - 1);
  parser_next(p);
  ref value = vyre_build_const(p->builder, type, bits);
  return value && add_value(p, value, type, offset);
}

// ---- operators ----------------------------------------------------------------------------------

static bool push_open(parser *p, open o) {
  if (o.kind != OPEN_BINARY && ++p->nesting > LIMIT_EXPRESSION)
    return parser_fail(p, TEXT_P018, o.offset,
                       "an expression is nested more than %d deep. Fix: name a part of it with "
                       "`let`",
                       LIMIT_EXPRESSION);
  p->brackets += o.kind >= OPEN_PAREN;
  return vec_push(&p->opens, o) || parser_fail_memory(p);
}

static open *top_open(parser *p) {
  return p->opens.count ? &p->opens.at[p->opens.count - 1] : NULL;
}

static open pop_open(parser *p) {
  open o = p->opens.at[--p->opens.count];
  p->nesting -= o.kind != OPEN_BINARY;
  p->brackets -= o.kind >= OPEN_PAREN;
  return o;
}

// Builds the innermost operator from the operands read last.
static bool reduce(parser *p) {
  open o = pop_open(p);
  const uint32_t *top = p->operands.at + p->operands.count;
  inst in = {.op = o.op};
  if (o.kind == OPEN_UNARY)
    in.arg[0] = top[-1];
  else
    in.arg[0] = top[-2], in.arg[1] = top[-1];
  if (!expression_add(p, &in, VYRE_VOID, o.offset)) return false;
  p->nodes.at[p->nodes.count - 1].sign = o.sign;
  return true;
}

// Builds all operators that bind at least as tightly; a bracket stops them.
static bool reduce_down_to(parser *p, int binding) {
  for (open *o; (o = top_open(p)) && o->kind <= OPEN_UNARY && o->binding >= binding;) {
    if (binding == BIND_COMPARISON && o->binding == BIND_COMPARISON)
      return parser_fail(p, TEXT_P017, p->token.offset,
                         "comparisons are chained. Fix: write both, as in a < b && b < c, or put "
                         "one in parentheses");
    if (!reduce(p)) return false;
  }
  return true;
}

static bool read_operator(parser *p) {
  token_kind kind = p->token.kind;
  const operator_info *info = &operators[kind];
  int binding = text_binding(info->op, info->type);
  if (!reduce_down_to(p, binding)) return false;
  bool is_choosy = kind == TOKEN_AND_AND || kind == TOKEN_OR_OR;
  open o = {.kind = OPEN_BINARY,
            .op = (uint8_t)info->op,
            .binding = (uint8_t)binding,
            .sign = is_choosy ? (uint8_t)kind : 0,
            .offset = p->token.offset};
  parser_next(p);
  return push_open(p, o);
}

// All arguments are read; for an atomic, `arguments` counts those after its element.
static bool close_call(parser *p) {
  open o = pop_open(p);
  const op_info *info = &op_table[o.op];
  bool is_atomic = op_is_atomic(o.op);
  unsigned wanted = info->operand_count - is_atomic; // the element is one argument of two operands
  if (o.arguments != wanted - is_atomic) {
    const char *name =
        o.op == VYRE_OP_CONVERT || o.op == VYRE_OP_BITCAST ? type_table[o.type].name : info->name;
    return parser_fail(p, TEXT_P035, o.offset,
                       "`%s%s` takes %u argument%s, and %u %s given. Fix: see the operation in "
                       "docs/IR.md",
                       o.op == VYRE_OP_BITCAST ? "as_" : "", name, wanted, wanted == 1 ? "" : "s",
                       o.arguments + is_atomic, o.arguments + is_atomic == 1 ? "is" : "are");
  }
  bool has_type = o.op == VYRE_OP_CONVERT || o.op == VYRE_OP_BITCAST;
  inst in = {.op = o.op, .type = has_type ? o.type : VYRE_VOID};
  const uint32_t *top = p->operands.at + p->operands.count - wanted;
  if (is_atomic) in.arg[0] = o.mem;
  for (unsigned i = 0; i < wanted; i++) in.arg[i + is_atomic] = top[i];
  return expression_add(p, &in, (vyre_type)o.type, o.offset);
}

// ---- operands -----------------------------------------------------------------------------------

static bool wrong_kind(parser *p, const symbol *s, uint32_t offset, const char *what,
                       const char *fix) {
  return parser_fail(p, TEXT_P032, offset, "`%.*s` is %s. Fix: %s",
                     s->size < 40 ? (int)s->size : 40, s->text, what, fix);
}

static bool add_name(parser *p, uint32_t number, uint32_t offset) {
  const symbol *s = &p->symbols.list.at[number];
  vyre_type type = (vyre_type)s->named_type;
  switch ((name_kind)s->kind) {
  case NAME_VALUE:
  case NAME_TUNABLE: return add_value(p, s->at, type, offset);
  case NAME_VAR: return add_operation(p, VYRE_OP_GET, s->at, type, offset);
  case NAME_PARAM: return add_operation(p, VYRE_OP_PARAM, s->at, type, offset);
  case NAME_MEMORY:
    return wrong_kind(p, s, offset, "a buffer or array, not a value",
                      "name an element, as in x[i]");
  case NAME_NONE: break;
  }
  return parser_fail_unknown(p, TEXT_P030, number, offset);
}

// `x[` of a load, and of an atomic's element.
static bool open_element(parser *p, uint32_t number, uint32_t offset, open_kind kind) {
  const symbol *s = &p->symbols.list.at[number];
  if (s->kind == NAME_NONE) return parser_fail_unknown(p, TEXT_P030, number, offset);
  if (s->kind != NAME_MEMORY)
    return wrong_kind(p, s, offset, "not a buffer or array", "remove the index");
  open o = {.kind = (uint8_t)kind, .type = s->named_type, .offset = offset, .mem = s->at};
  parser_next(p);
  return push_open(p, o);
}

// A length may be one of a buffer that is declared further down. The numbers of those are found
// once, by looking at the first two words of each line up to the first region.
static bool scan_buffers(parser *p) {
  if (p->has_scanned) return true;
  p->has_scanned = true;
  uint32_t at = p->at, read_end = p->read_end, number = p->buffers;
  token kept = p->token;
  size_t comments = p->comments.count;
  while (p->token.kind != TOKEN_END && p->token.kind != TOKEN_BAD) {
    while (p->token.kind > TOKEN_NEWLINE && p->token.kind != TOKEN_SEMICOLON) parser_next(p);
    while (p->token.kind == TOKEN_NEWLINE || p->token.kind == TOKEN_SEMICOLON) parser_next(p);
    if (p->token.kind != TOKEN_WORD) continue;
    unsigned w = parser_symbol(p)->word;
    if (w == WORD_REGION) break;
    if (w != WORD_BUFFER && w != WORD_TRANSIENT) continue;
    parser_next(p);
    if (p->token.kind == TOKEN_WORD) p->symbols.list.at[p->token.symbol].buffer = ++number;
  }
  p->at = at;
  p->read_end = read_end;
  p->token = kept;
  p->comments.count = comments;
  return p->status == VYRE_OK;
}

static bool read_len(parser *p, uint32_t offset) {
  parser_skip_newlines(p);
  if (p->token.kind != TOKEN_WORD)
    return parser_fail_expected(p, "the name of a buffer", "write one, as in len(x)");
  uint32_t number = p->token.symbol, at = p->token.offset;
  const symbol *s = &p->symbols.list.at[number];
  bool is_header = p->in_header && s->kind == NAME_NONE;
  if (is_header && !scan_buffers(p)) return false;
  s = &p->symbols.list.at[number];
  uint32_t buffer = s->kind == NAME_MEMORY ? s->at : MEM_REF(MEM_BUFFER, s->buffer - 1);
  if (s->kind == NAME_NONE && !(is_header && s->buffer))
    return parser_fail_unknown(p, TEXT_P030, number, at);
  if ((s->kind != NAME_MEMORY && s->kind != NAME_NONE) || mem_space(buffer) != MEM_BUFFER)
    return wrong_kind(p, s, at, "not a buffer", "write the number; an array's length is known");
  parser_next(p);
  parser_skip_newlines(p);
  if (!parser_expect(p, TOKEN_RPAREN, "`)`")) return false;
  return add_operation(p, VYRE_OP_LEN, mem_index(buffer), VYRE_U32, offset);
}

// After `name(`. *needs_operand says what is to be read next.
static bool open_call(parser *p, uint32_t number, uint32_t offset, bool *needs_operand) {
  parser_next(p);
  const symbol *s = &p->symbols.list.at[number];
  vyre_op op = (vyre_op)s->function;
  if (op == VYRE_OP_NONE) return parser_fail_unknown(p, TEXT_P034, number, offset);
  *needs_operand = op != VYRE_OP_LEN;
  if (op == VYRE_OP_LEN) return read_len(p, offset);
  if (!push_open(p,
                 (open){.kind = OPEN_CALL, .op = (uint8_t)op, .type = s->type, .offset = offset}))
    return false;
  if (!op_is_atomic(op)) return true;
  parser_skip_newlines(p);
  if (p->token.kind != TOKEN_WORD || parser_peek(p) != '[')
    return parser_fail_expected(p, "an element", "name one, as in atomic_add(x[i], 1)");
  uint32_t memory = p->token.symbol, at = p->token.offset;
  parser_next(p);
  return open_element(p, memory, at, OPEN_ELEMENT);
}

static bool read_word(parser *p, bool *needs_operand) {
  const symbol *s = parser_symbol(p);
  uint32_t number = p->token.symbol, offset = p->token.offset;
  if (s->word == WORD_CONSTANT) return add_constant(p, false, offset);
  if (s->word == WORD_AXIS) {
    vyre_op op = (vyre_op)s->function;
    uint32_t axis = (uint32_t)s->bits;
    parser_next(p);
    return add_operation(p, op, axis, VYRE_U32, offset);
  }
  if (word_is_reserved(s->word))
    return parser_fail(p, TEXT_P011, offset,
                       "a value was expected here, not `%.*s`. Fix: write an expression",
                       (int)s->size, s->text);
  parser_next(p);
  if (p->token.kind == TOKEN_LPAREN) return open_call(p, number, offset, needs_operand);
  if (p->token.kind != TOKEN_LBRACKET) return add_name(p, number, offset);
  *needs_operand = true;
  return open_element(p, number, offset, OPEN_INDEX);
}

// A minus right before a number makes a negative number.
static bool read_sign(parser *p, bool *needs_operand) {
  token_kind kind = p->token.kind;
  uint32_t offset = p->token.offset;
  parser_next(p);
  parser_skip_newlines(p);
  if (kind == TOKEN_MINUS && p->token.kind == TOKEN_NUMBER) return add_literal(p, true, offset);
  if (kind == TOKEN_MINUS && p->token.kind == TOKEN_WORD &&
      parser_symbol(p)->word == WORD_CONSTANT && parser_symbol(p)->type != VYRE_BOOL)
    return add_constant(p, true, offset);
  *needs_operand = true;
  vyre_op op = kind == TOKEN_MINUS ? VYRE_OP_NEG : VYRE_OP_NOT;
  return push_open(p, (open){.kind = OPEN_UNARY,
                             .op = (uint8_t)op,
                             .binding = BIND_UNARY,
                             .sign = kind == TOKEN_MINUS ? 0 : (uint8_t)kind,
                             .offset = offset});
}

// Reads an operand or opens one; *needs_operand is set when one has still to follow.
static bool read_operand(parser *p, bool *needs_operand) {
  *needs_operand = false;
  parser_skip_newlines(p);
  uint32_t offset = p->token.offset;
  open *o = top_open(p);
  char buffer[48];
  switch (p->token.kind) {
  case TOKEN_NUMBER: return add_literal(p, false, offset);
  case TOKEN_WORD: return read_word(p, needs_operand);
  case TOKEN_MINUS:
  case TOKEN_NOT:
  case TOKEN_TILDE: return read_sign(p, needs_operand);
  case TOKEN_LPAREN:
    *needs_operand = true;
    parser_next(p);
    return push_open(p, (open){.kind = OPEN_PAREN, .offset = offset});
  case TOKEN_RPAREN: // f(): the message says how many arguments are missing
    if (o && o->kind == OPEN_CALL && !o->arguments) return close_call(p);
    break;
  default: break;
  }
  return parser_fail(p, TEXT_P011, offset,
                     "a value was expected here, not %s. Fix: write an "
                     "expression",
                     parser_describe_token(p, buffer));
}

// ---- brackets -----------------------------------------------------------------------------------

// `]`: a load, or the element of an atomic, whose other arguments follow.
static bool close_element(parser *p, bool *needs_operand) {
  open o = pop_open(p);
  parser_next(p);
  if (o.kind == OPEN_INDEX) {
    inst in = {.op = VYRE_OP_LOAD, .arg = {o.mem, p->operands.at[p->operands.count - 1]}};
    return expression_add(p, &in, (vyre_type)o.type, o.offset);
  }
  open *call = top_open(p);
  call->mem = o.mem;
  call->type = o.type;
  parser_skip_newlines(p);
  if (p->token.kind != TOKEN_COMMA)
    return parser_fail_expected(p, "`,`", "write the value after the element");
  parser_next(p);
  *needs_operand = true;
  return true;
}

static bool close_bracket(parser *p, bool *needs_operand) {
  open *o = top_open(p);
  token_kind kind = p->token.kind;
  if (kind == TOKEN_RBRACKET && o->kind >= OPEN_INDEX) return close_element(p, needs_operand);
  if (kind == TOKEN_RPAREN && o->kind == OPEN_PAREN) {
    pop_open(p);
    parser_next(p);
    return true;
  }
  if (o->kind == OPEN_CALL && kind == TOKEN_COMMA) {
    o->arguments++;
    *needs_operand = true;
    parser_next(p);
    return true;
  }
  if (o->kind == OPEN_CALL && kind == TOKEN_RPAREN) {
    o->arguments++;
    parser_next(p);
    return close_call(p);
  }
  return parser_fail_expected(p, o->kind >= OPEN_INDEX ? "`]`" : "`)`",
                              "close what is open in this expression");
}

bool expression_read(parser *p, bool is_bracketed, uint32_t *root) {
  *root = 0;
  bool needs_operand = true;
  for (;;) {
    if (needs_operand) {
      if (!read_operand(p, &needs_operand)) return false;
      continue;
    }
    bool is_open = p->brackets > 0;
    if (is_open || is_bracketed) parser_skip_newlines(p);
    if (p->token.kind >= TOKEN_PLUS) {
      if (!read_operator(p)) return false;
      needs_operand = true;
      continue;
    }
    if (!reduce_down_to(p, 1)) return false;
    if (!is_open) break;
    if (!close_bracket(p, &needs_operand)) return false;
  }
  *root = p->operands.at[p->operands.count - 1];
  return p->status == VYRE_OK;
}

// ---- types of numbers ---------------------------------------------------------------------------

void expression_demand(parser *p, uint32_t root, vyre_type type) {
  node *n = &p->nodes.at[root];
  if (n->type == VYRE_VOID) n->type = (uint8_t)type;
}

static void hand_down_types(parser *p, const node *n) {
  const op_info *info = &op_table[n->in.op];
  for (int k = 0; k < info->operand_count; k++) {
    if (info->operands[k] != 'v' || n->in.arg[k] == UINT32_MAX) continue;
    node *operand = &p->nodes.at[n->in.arg[k]];
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
  for (size_t i = p->nodes.count; i > 0; i--)
    if (p->nodes.at[i - 1].kind == NODE_INST) hand_down_types(p, &p->nodes.at[i - 1]);
}

static bool fail_literal(parser *p, const node *n, literal_fit fit) {
  const literal *l = &n->literal;
  const char *type = vyre_type_name((vyre_type)n->type), *sign = l->is_negative ? "-" : "";
  int shown = l->size < 40 ? (int)l->size : 40;
  const char *digits = p->text + l->offset;
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
  bool is_decimal = l->size < 2 || (digits[1] | 0x20) != 'x';
  if (type_is_float(n->type) && is_decimal)
    return parser_fail(p, TEXT_P051, n->offset,
                       "an integer stands where %s is needed. Fix: write %s%.*s.0", type, sign,
                       shown, digits);
  return parser_fail(p, TEXT_P051, n->offset, "%s stands where %s is needed. Fix: %s",
                     l->is_float ? "a float" : "an integer", type,
                     l->is_float ? "write a number without point and exponent"
                                 : "write it in decimal, with a point");
}

// ---- building -----------------------------------------------------------------------------------

static bool check_operator(parser *p, const node *n) {
  vyre_type type = (vyre_type)p->nodes.at[n->in.arg[0]].type;
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
  builder_at(p->builder, n->offset);
  for (int k = 0; k < info->operand_count; k++) {
    if (info->operands[k] != 'v') continue;
    // The step of a for that states none is 1 of the type of its bounds.
    in.arg[k] = in.arg[k] == UINT32_MAX
                    ? vyre_build_const(p->builder, (vyre_type)p->nodes.at[n->in.arg[0]].type, 1)
                    : p->nodes.at[in.arg[k]].result;
  }
  n->result = builder_emit(p->builder, &in);
  return n->result != 0;
}

static bool emit_literal(parser *p, node *n) {
  uint64_t bits = 0;
  literal_fit fit = literal_bits(&n->literal, p->text, (vyre_type)n->type, &bits);
  if (fit != LITERAL_FITS) return fail_literal(p, n, fit);
  builder_at(p->builder, n->offset);
  n->result = vyre_build_const(p->builder, (vyre_type)n->type, bits);
  return n->result != 0;
}

bool expression_emit(parser *p) {
  infer_types(p);
  for (size_t i = 0; i < p->nodes.count; i++) {
    node *n = &p->nodes.at[i];
    if (n->kind == NODE_LITERAL && !emit_literal(p, n)) return false;
    if (n->kind == NODE_INST && !emit_inst(p, n)) return false;
  }
  return true;
}

// What a node is in a formula: numbers, tunables and operations that can be evaluated here.
static bool make_term(parser *p, node *n, formula_term *t) {
  uint64_t bits = 0;
  *t = (formula_term){.type = n->type};
  if (n->kind == NODE_LITERAL) {
    literal_fit fit = literal_bits(&n->literal, p->text, (vyre_type)n->type, &bits);
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
    types[k] = (vyre_type)p->nodes.at[n->in.arg[k]].type;
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
  for (size_t i = 0; i < p->nodes.count; i++) {
    node *n = &p->nodes.at[i];
    if (*count == LIMIT_TERMS)
      return parser_fail(p, TEXT_P055, n->offset,
                         "a formula has more than %d parts. Fix: make it simpler", LIMIT_TERMS);
    if (!make_term(p, n, &terms[(*count)++])) return false;
  }
  return true;
}

ref expression_result(const parser *p, uint32_t number) {
  return p->nodes.at[number].result;
}
