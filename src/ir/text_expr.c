// SPDX-License-Identifier: MIT
//
// Expressions are read by operator precedence with an explicit stack (`opens`) into nodes in the
// order of evaluation, which is the order of operations in the program. A statement adds itself as
// the last node.
#include "ir/text_parser.h"

#include "ir/limits.h"
#include "ir/text_names.h"

#include <string.h>

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

// ---- operands that were read
// ---------------------------------------------------------------------

static bool push_operand(parser *p, const operand *o) {
  return vec_push(&p->expr.operands, *o) || parser_fail_memory(p);
}

static bool push_single(parser *p, uint32_t node, uint32_t offset) {
  return node != UINT32_MAX &&
         push_operand(p, &(operand){.node = {node}, .lanes = 1, .offset = offset});
}

static bool add_operation(parser *p, vyre_op op, uint32_t arg, vyre_type type, uint32_t offset) {
  inst in = {.op = (uint8_t)op, .arg = {arg}};
  return push_single(p, expression_node(p, &in, type, offset), offset);
}

static bool add_value(parser *p, ref value, vyre_type type, uint32_t offset) {
  return push_single(p, node_value(p, value, type, offset), offset);
}

static bool add_number(parser *p, const literal *l, bool is_negative, uint32_t offset) {
  node n = {.kind = NODE_LITERAL, .type = l->suffix, .offset = offset, .literal = *l};
  n.literal.is_negative = is_negative;
  return push_single(p, node_add(p, &n), offset);
}

static bool add_literal(parser *p, bool is_negative, uint32_t offset) {
  literal l = p->token.literal;
  parser_next(p);
  return add_number(p, &l, is_negative, offset);
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

static uint32_t lane_of(const operand *o, uint32_t lane) {
  return o->node[o->lanes == 1 ? 0 : lane];
}

static bool expression_no_value(parser *p, uint32_t offset) {
  return parser_fail(p, TEXT_P012, offset,
                     "this function has no value. Fix: call it as a statement, or let it return "
                     "one");
}

bool expression_each(parser *p, vyre_op op, const operand *args, uint32_t count, uint8_t sign,
                     uint32_t offset, operand *out) {
  uint8_t lanes = 1;
  for (uint32_t k = 0; k < count; k++) {
    if (!args[k].lanes) return expression_no_value(p, args[k].offset);
    if (args[k].lanes > 1 && lanes > 1 && args[k].lanes != lanes)
      return parser_fail(
          p, TEXT_P057, offset,
          "a vector of %u and one of %u meet. Fix: name the parts that are meant, as "
          "in v.xy",
          lanes, args[k].lanes);
    if (args[k].lanes > 1) lanes = args[k].lanes;
  }
  *out = (operand){.lanes = lanes, .offset = offset};
  for (uint32_t lane = 0; lane < lanes; lane++) {
    inst in = {.op = (uint8_t)op};
    for (uint32_t k = 0; k < count; k++) in.arg[k] = lane_of(&args[k], lane);
    out->node[lane] = expression_node(p, &in, VYRE_VOID, offset);
    if (out->node[lane] == UINT32_MAX) return false;
    p->expr.nodes.at[out->node[lane]].sign = sign;
  }
  return true;
}

bool expression_place(parser *p, uint8_t lanes, uint32_t index, uint32_t offset,
                      const uint8_t *wanted, uint32_t count, uint32_t *places) {
  places[0] = index;
  if (lanes == 1) return true;
  expression_demand(p, index, VYRE_U32);
  uint32_t base = node_op2(p, VYRE_OP_MUL, index, node_number(p, lanes, offset), offset);
  if (base == UINT32_MAX) return false;
  for (uint32_t k = 0; k < count; k++) {
    places[k] = base;
    if (wanted[k])
      places[k] = node_op2(p, VYRE_OP_ADD, base, node_number(p, wanted[k], offset), offset);
    if (places[k] == UINT32_MAX) return false;
  }
  return true;
}

static bool expression_load(parser *p, uint32_t mem, vyre_type type, uint8_t lanes, uint32_t index,
                            uint32_t offset, operand *out) {
  static const uint8_t all[MOST_LANES] = {0, 1, 2, 3};
  uint32_t places[MOST_LANES];
  *out = (operand){.lanes = lanes, .offset = offset};
  if (!expression_place(p, lanes, index, offset, all, lanes, places)) return false;
  for (uint32_t k = 0; k < lanes; k++) {
    inst in = {.op = VYRE_OP_LOAD, .arg = {mem, places[k]}};
    out->node[k] = expression_node(p, &in, type, offset);
    if (out->node[k] == UINT32_MAX) return false;
  }
  return true;
}

// ---- operators ----------------------------------------------------------------------------------

static bool push_open(parser *p, open o) {
  if (o.kind != OPEN_BINARY && ++p->expr.nesting > LIMIT_EXPRESSION)
    return parser_fail(p, TEXT_P018, o.offset,
                       "an expression is nested more than %d deep. Fix: name a part of it with "
                       "`let`",
                       LIMIT_EXPRESSION);
  p->expr.brackets += o.kind >= OPEN_PAREN;
  return vec_push(&p->expr.opens, o) || parser_fail_memory(p);
}

static open *top_open(parser *p) {
  return p->expr.opens.count ? &p->expr.opens.at[p->expr.opens.count - 1] : NULL;
}

static open pop_open(parser *p) {
  open o = p->expr.opens.at[--p->expr.opens.count];
  p->expr.nesting -= o.kind != OPEN_BINARY;
  p->expr.brackets -= o.kind >= OPEN_PAREN;
  return o;
}

// Builds the innermost operator from the operands read last.
static bool reduce(parser *p) {
  open o = pop_open(p);
  uint32_t count = o.kind == OPEN_UNARY ? 1 : o.kind == OPEN_BINARY ? 2 : 3;
  operand made, args[3];
  p->expr.operands.count -= count;
  memcpy(args, p->expr.operands.at + p->expr.operands.count, count * sizeof *args);
  return expression_each(p, (vyre_op)o.op, args, count, o.sign, o.offset, &made) &&
         push_operand(p, &made);
}

// Builds all operators that bind at least as tightly; a bracket stops them.
static bool reduce_down_to(parser *p, int binding) {
  for (open *o; (o = top_open(p)) && o->kind <= OPEN_OTHERWISE && o->binding >= binding;) {
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

// `c ? a : b` binds less than all else and goes from right to left.
static bool read_question(parser *p) {
  if (!reduce_down_to(p, 1)) return false;
  open o = {.kind = OPEN_CONDITION, .op = VYRE_OP_SELECT, .offset = p->token.offset};
  parser_next(p);
  return push_open(p, o);
}

static bool read_colon(parser *p) {
  top_open(p)->kind = OPEN_OTHERWISE;
  parser_next(p);
  return true;
}

// ---- operands -----------------------------------------------------------------------------------

static bool wrong_kind(parser *p, const symbol *s, uint32_t offset, const char *what,
                       const char *fix) {
  return parser_fail(p, TEXT_P032, offset, "`%.*s` is %s. Fix: %s",
                     s->size < 40 ? (int)s->size : 40, s->text, what, fix);
}

static bool add_vector(parser *p, const symbol *s, uint32_t offset) {
  vector_parts parts = p->parts.at[s->at];
  vyre_type type = (vyre_type)s->named_type;
  operand made = {.lanes = s->named_lanes, .offset = offset};
  for (uint32_t k = 0; k < made.lanes; k++) {
    vyre_op op = parts.kind == NAME_VAR ? VYRE_OP_GET : VYRE_OP_PARAM;
    inst in = {.op = (uint8_t)op, .arg = {parts.at[k]}};
    made.node[k] = parts.kind == NAME_VALUE ? node_value(p, parts.at[k], type, offset)
                                            : expression_node(p, &in, type, offset);
    if (made.node[k] == UINT32_MAX) return false;
  }
  return push_operand(p, &made);
}

// `v.xz` where `v` is a vector: the lanes that it names.
static bool add_swizzle(parser *p, uint32_t number, uint32_t offset) {
  name_split split;
  if (!name_swizzle(p, number, &split)) return parser_fail_unknown(p, TEXT_P030, number, offset);
  const symbol *s = &p->symbols.list.at[split.symbol];
  mark_use(p, split.symbol, offset);
  vector_parts parts = p->parts.at[s->at];
  vyre_type type = (vyre_type)s->named_type;
  operand made = {.lanes = (uint8_t)split.count, .offset = offset};
  for (uint32_t k = 0; k < split.count; k++) {
    uint32_t at = parts.at[split.lanes[k]];
    vyre_op op = parts.kind == NAME_VAR ? VYRE_OP_GET : VYRE_OP_PARAM;
    inst in = {.op = (uint8_t)op, .arg = {at}};
    made.node[k] = parts.kind == NAME_VALUE ? node_value(p, at, type, offset)
                                            : expression_node(p, &in, type, offset);
    if (made.node[k] == UINT32_MAX) return false;
  }
  return push_operand(p, &made);
}

static bool add_name(parser *p, uint32_t number, uint32_t offset) {
  const symbol *s = &p->symbols.list.at[number];
  vyre_type type = (vyre_type)s->named_type;
  mark_use(p, number, offset);
  switch (parser_named(p, s)) {
  case NAME_VALUE:
  case NAME_TUNABLE: return add_value(p, s->at, type, offset);
  case NAME_VAR: return add_operation(p, VYRE_OP_GET, s->at, type, offset);
  case NAME_PARAM: return add_operation(p, VYRE_OP_PARAM, s->at, type, offset);
  case NAME_LITERAL: {
    literal l = p->literals.at[s->at];
    return add_number(p, &l, l.is_negative, offset);
  }
  case NAME_VECTOR: return add_vector(p, s, offset);
  case NAME_MEMORY:
    return wrong_kind(p, s, offset, "a buffer or array, not a value",
                      "name an element, as in x[i]");
  case NAME_BROKEN: return parser_fail_quietly(p);
  case NAME_NONE: break;
  }
  return add_swizzle(p, number, offset);
}

// `x[` of a load, and of an atomic's element.
static bool open_element(parser *p, uint32_t number, uint32_t offset, open_kind kind) {
  const symbol *s = &p->symbols.list.at[number];
  name_kind named = parser_named(p, s);
  mark_use(p, number, offset);
  if (named == NAME_NONE) return parser_fail_unknown(p, TEXT_P030, number, offset);
  if (named == NAME_BROKEN) return parser_fail_quietly(p);
  if (named != NAME_MEMORY)
    return wrong_kind(p, s, offset, "not a buffer or array",
                      named == NAME_VECTOR ? "name a part, as in v.x" : "remove the index");
  if (kind == OPEN_ELEMENT && s->named_lanes > 1)
    return wrong_kind(p, s, offset, "made of vectors, and atomics work on single numbers",
                      "declare it with single numbers");
  open o = {.kind = (uint8_t)kind,
            .type = s->named_type,
            .lanes = s->named_lanes,
            .offset = offset,
            .mem = s->at};
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
    if (p->token.kind != TOKEN_WORD) continue;
    uint32_t found = p->token.symbol;
    p->symbols.list.at[found].buffer = ++number;
    parser_next(p);
    if (p->token.kind == TOKEN_COLON) parser_next(p);
    if (p->token.kind == TOKEN_WORD)
      p->symbols.list.at[found].buffer_lanes = parser_symbol(p)->lanes;
  }
  p->at = at;
  p->read_end = read_end;
  p->token = kept;
  p->comments.count = comments;
  return p->status == VYRE_OK;
}

// A buffer of vectors has a third, say, of the numbers that it is made of.
static bool add_length(parser *p, uint32_t buffer, uint8_t lanes, uint32_t offset) {
  if (lanes <= 1) return add_operation(p, VYRE_OP_LEN, mem_index(buffer), VYRE_U32, offset);
  inst in = {.op = VYRE_OP_LEN, .arg = {mem_index(buffer)}};
  uint32_t length = expression_node(p, &in, VYRE_U32, offset);
  uint32_t count = node_number(p, lanes, offset);
  return push_single(p, node_op2(p, VYRE_OP_DIV, length, count, offset), offset);
}

static bool read_len(parser *p, uint32_t offset) {
  parser_skip_newlines(p);
  if (p->token.kind != TOKEN_WORD)
    return parser_fail_expected(p, "the name of a buffer", "write one, as in len(x)");
  uint32_t number = p->token.symbol, at = p->token.offset;
  const symbol *s = &p->symbols.list.at[number];
  mark_use(p, number, at);
  bool is_header = p->in_header && parser_named(p, s) == NAME_NONE;
  if (is_header && !scan_buffers(p)) return false;
  s = &p->symbols.list.at[number];
  name_kind named = parser_named(p, s);
  uint8_t lanes = named == NAME_MEMORY ? s->named_lanes : s->buffer_lanes;
  uint32_t buffer = named == NAME_MEMORY ? s->at : MEM_REF(MEM_BUFFER, s->buffer - 1);
  if (named == NAME_BROKEN) return parser_fail_quietly(p);
  if (named == NAME_NONE && !(is_header && s->buffer))
    return parser_fail_unknown(p, TEXT_P030, number, at);
  if ((named != NAME_MEMORY && named != NAME_NONE) || mem_space(buffer) != MEM_BUFFER)
    return wrong_kind(p, s, at, "not a buffer", "write the number; an array's length is known");
  parser_next(p);
  parser_skip_newlines(p);
  return parser_expect(p, TOKEN_RPAREN, "`)`") && add_length(p, buffer, lanes, offset);
}

// At the first argument, or behind a comma: one that is a buffer or array is read here.
static bool read_memory_argument(parser *p, bool *needs_operand) {
  const open *o = top_open(p);
  bool is_taken = false;
  if (!o || o->kind != OPEN_FUNCTION) return true;
  if (!function_memory_argument(p, o->mem, o->arguments, &is_taken)) return false;
  if (is_taken) *needs_operand = false;
  return true;
}

// After `name(`. *needs_operand says what is to be read next.
static bool open_call(parser *p, uint32_t number, uint32_t offset, bool *needs_operand) {
  parser_next(p);
  uint32_t function = 0;
  const symbol *s = &p->symbols.list.at[number];
  vyre_op op = (vyre_op)s->function;
  bool is_function = function_find(p, number, &function);
  if (op == VYRE_OP_NONE && !s->sugar && !is_function)
    return parser_fail_unknown(p, TEXT_P034, number, offset);
  *needs_operand = is_function || op != VYRE_OP_LEN;
  if (!*needs_operand) return read_len(p, offset);
  open o = {.kind = OPEN_CALL,
            .op = (uint8_t)op,
            .type = s->type,
            .lanes = s->lanes,
            .offset = offset,
            .mem = function};
  if (is_function) {
    o.kind = OPEN_FUNCTION;
  } else if (op == VYRE_OP_NONE) {
    o.kind = OPEN_SUGAR;
    o.op = s->sugar;
  }
  if (!push_open(p, o)) return false;
  if (is_function) {
    mark_call(p, function, offset);
    parser_skip_newlines(p);
    return read_memory_argument(p, needs_operand);
  }
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
    if (o && o->kind >= OPEN_CALL && o->kind <= OPEN_FUNCTION && !o->arguments) {
      if (o->kind == OPEN_FUNCTION) parser_next(p);
      return call_close(p);
    }
    break;
  default: break;
  }
  return parser_fail(p, TEXT_P011, offset,
                     "a value was expected here, not %s. Fix: write an "
                     "expression",
                     parser_describe_token(p, buffer));
}

// ---- brackets -----------------------------------------------------------------------------------

bool expression_single(parser *p, const operand *o) {
  if (!o->lanes) return expression_no_value(p, o->offset);
  return o->lanes == 1 ||
         parser_fail(p, TEXT_P057, o->offset,
                     "a vector stands where a single number is needed. Fix: name a part of it, as "
                     "in v.x");
}

// `]`: a load, or the element of an atomic, whose other arguments follow.
static bool close_element(parser *p, bool *needs_operand) {
  open o = pop_open(p);
  const operand *index = &p->expr.operands.at[p->expr.operands.count - 1];
  if (!expression_single(p, index)) return false;
  uint32_t at = index->node[0];
  parser_next(p);
  if (o.kind == OPEN_INDEX) {
    operand made;
    p->expr.operands.count--;
    return expression_load(p, o.mem, (vyre_type)o.type, o.lanes, at, o.offset, &made) &&
           push_operand(p, &made);
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
  bool is_call = o->kind >= OPEN_CALL && o->kind <= OPEN_FUNCTION;
  if (o->kind == OPEN_CONDITION) {
    if (kind != TOKEN_COLON)
      return parser_fail_expected(p, "`:`", "write both values, as in c ? a : b");
    *needs_operand = true;
    return read_colon(p);
  }
  if (kind == TOKEN_RBRACKET && o->kind >= OPEN_INDEX) return close_element(p, needs_operand);
  if (kind == TOKEN_RPAREN && o->kind == OPEN_PAREN) {
    pop_open(p);
    parser_next(p);
    return true;
  }
  if (is_call && kind == TOKEN_COMMA) {
    o->arguments++;
    *needs_operand = true;
    parser_next(p);
    parser_skip_newlines(p);
    return read_memory_argument(p, needs_operand);
  }
  if (is_call && kind == TOKEN_RPAREN) {
    o->arguments++;
    parser_next(p);
    return call_close(p);
  }
  return parser_fail_expected(p, o->kind >= OPEN_INDEX ? "`]`" : "`)`",
                              "close what is open in this expression");
}

// `.xy` behind a bracket.
static bool read_member(parser *p) {
  uint8_t lanes[MOST_LANES];
  parser_next(p);
  operand *o = &p->expr.operands.at[p->expr.operands.count - 1];
  unsigned count = p->token.kind == TOKEN_WORD
                       ? call_swizzle(p->text + p->token.offset, p->token.size, o->lanes, lanes)
                       : 0;
  if (!count)
    return parser_fail(p, TEXT_P057, p->token.offset,
                       "this names no parts of %s. Fix: write up to four of %s behind the point",
                       o->lanes == 1 ? "a single number" : "the vector",
                       o->lanes == 1   ? "x, of a vector"
                       : o->lanes == 2 ? "x and y"
                       : o->lanes == 3 ? "x, y and z"
                                       : "x, y, z and w");
  operand made = {.lanes = (uint8_t)count, .offset = o->offset};
  for (unsigned k = 0; k < count; k++) made.node[k] = o->node[lanes[k]];
  *o = made;
  parser_next(p);
  return true;
}

bool expression_read_value(parser *p, bool is_bracketed, operand *out) {
  bool needs_operand = true;
  *out = (operand){0};
  for (;;) {
    if (needs_operand) {
      if (!read_operand(p, &needs_operand)) return false;
      continue;
    }
    bool is_open = p->expr.brackets > 0;
    if (is_open || is_bracketed) parser_skip_newlines(p);
    if (p->token.kind == TOKEN_DOT) {
      if (!read_member(p)) return false;
      continue;
    }
    bool is_operator = p->token.kind >= TOKEN_PLUS, is_question = p->token.kind == TOKEN_QUESTION;
    if (is_operator || is_question) {
      if (!(is_operator ? read_operator(p) : read_question(p))) return false;
      needs_operand = true;
      continue;
    }
    if (!reduce_down_to(p, 0)) return false;
    bool is_conditional = p->expr.opens.count && top_open(p)->kind == OPEN_CONDITION;
    if (!is_open && !is_conditional) break;
    if (!close_bracket(p, &needs_operand)) return false;
  }
  *out = p->expr.operands.at[p->expr.operands.count - 1];
  return p->status == VYRE_OK;
}

bool expression_read(parser *p, bool is_bracketed, uint32_t *root) {
  operand made;
  *root = 0;
  if (!expression_read_value(p, is_bracketed, &made)) return false;
  *root = made.node[0];
  return expression_single(p, &made);
}
