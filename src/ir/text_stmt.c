// SPDX-License-Identifier: MIT
//
// The statements in the body of a region or function.
#include "ir/text_stmt.h"

#include "ir/limits.h"
#include "ir/text_names.h"

#include <string.h>

static bool parser_array_type(parser *p, vyre_type *type, uint8_t *lanes, ref *length) {
  *length = 0;
  return parser_expect(p, TOKEN_COLON, "`:`") && parser_short_type(p, type, lanes) &&
         parser_expect(p, TOKEN_LBRACKET, "`[`") &&
         parser_number(p, "the number of elements", *lanes, length) &&
         parser_expect(p, TOKEN_RBRACKET, "`]`");
}

// ---- ends of lines ------------------------------------------------------------------------------

static uint32_t code_count(const parser *p) {
  return builder_code_count(p->builder);
}

// The comments inside of what ends here go before it, the one behind it after it.
static bool end_line(parser *p, uint32_t before, uint32_t first, uint32_t after, uint32_t last) {
  parser_comments_before(p, before, first, false);
  if (p->token.kind == TOKEN_SEMICOLON)
    parser_next(p);
  else if (p->token.kind != TOKEN_NEWLINE && p->token.kind != TOKEN_RBRACE) {
    char buffer[48];
    return parser_fail(p, TEXT_P013, p->token.offset,
                       "the statement should end here, before %s. Fix: put what follows on a line "
                       "of its own",
                       parser_describe_token(p, buffer));
  }
  parser_comment_after(p, after, last);
  parser_skip_newlines(p);
  return true;
}

// A statement's last operation is the last one built.
bool parser_end_statement(parser *p, uint32_t first) {
  return end_line(p, COMMENT_BEFORE_OP, first, COMMENT_AFTER_OP, code_count(p) - 1);
}

bool parser_end_item(parser *p) {
  uint32_t item = p->items++;
  return end_line(p, COMMENT_BEFORE_ITEM, item, COMMENT_AFTER_ITEM, item);
}

bool parser_end_extra(parser *p) {
  parser_drop_comments(p);
  if (p->token.kind == TOKEN_SEMICOLON)
    parser_next(p);
  else if (p->token.kind != TOKEN_NEWLINE && p->token.kind != TOKEN_END)
    return parser_fail(p, TEXT_P013, p->token.offset,
                       "the declaration should end here. Fix: put what follows on a line of its "
                       "own");
  return true;
}

static bool emit_plain(parser *p, vyre_op op, uint32_t offset) {
  parser_at(p, offset);
  return builder_emit(p->builder, &(inst){.op = (uint8_t)op}) != 0;
}

static bool emit_ends(parser *p, uint32_t count, uint32_t offset) {
  for (uint32_t i = 0; i < count; i++)
    if (!emit_plain(p, VYRE_OP_END, offset)) return false;
  return true;
}

// A header that is wrong opens nothing: what was emitted for it is closed, so that what follows can
// still be checked.
static bool fail_header(parser *p, uint32_t ends, uint32_t offset) {
  emit_ends(p, ends, offset);
  return false;
}

static bool open_block(parser *p, block_kind kind, uint32_t ends, uint32_t first, uint32_t offset) {
  if (p->token.kind != TOKEN_LBRACE) {
    parser_fail_expected(p, "`{`",
                         p->token.kind == TOKEN_ASSIGN ? "compare with `==`"
                                                       : "open the block on this line");
    return fail_header(p, ends, offset);
  }
  parser_comments_before(p, COMMENT_BEFORE_OP, first, false);
  parser_next(p);
  parser_comment_after(p, COMMENT_AFTER_OP, code_count(p) - 1);
  parser_skip_newlines(p);
  block made = {.kind = kind,
                .ends = ends,
                .scope = (uint32_t)p->scope.count,
                .offset = offset,
                .others_returned = true};
  return vec_push(&p->blocks, made) || parser_fail_memory(p);
}

// ---- statements ---------------------------------------------------------------------------------

// `: f32`, which may be left out: *type is VYRE_VOID then.
static bool read_declared_type(parser *p, vyre_type *type, uint8_t *lanes) {
  *type = VYRE_VOID;
  *lanes = 0;
  if (p->token.kind != TOKEN_COLON) return true;
  parser_next(p);
  return parser_short_type(p, type, lanes);
}

// The value of a `let` or `var`, of the declared type where there is one. A single number is as
// many as the declared vector has.
static bool read_first_value(parser *p, vyre_type *type, uint8_t lanes, operand *value) {
  if (!parser_expect(p, TOKEN_ASSIGN, "`=`")) return false;
  expression_begin(p);
  if (!expression_read_value(p, false, value)) return false;
  if (!value->lanes) return expression_single(p, value);
  for (uint32_t k = 0; k < value->lanes && *type != VYRE_VOID; k++)
    expression_demand(p, value->node[k], *type);
  if (lanes > 1 && value->lanes == 1) {
    for (uint32_t k = 1; k < lanes; k++) value->node[k] = value->node[0];
    value->lanes = lanes;
  }
  vyre_type given = expression_type(p, value->node[0]);
  bool is_known = *type != VYRE_VOID && given != VYRE_VOID;
  if (lanes && value->lanes != lanes)
    return parser_fail(p, TEXT_P057, value->offset,
                       "a vector of %u begins with one of %u. Fix: name the parts that are meant, "
                       "as in v.xy",
                       lanes, value->lanes);
  if (is_known && given != *type)
    return parser_fail(p, TEXT_P053, value->offset,
                       "a name of type %s begins with a value of type %s. Fix: convert it, as "
                       "in %s(x), or declare the name %s",
                       vyre_type_name(*type), vyre_type_name(given), vyre_type_name(*type),
                       vyre_type_name(given));
  return true;
}

static bool bind_values(parser *p, uint32_t number, name_kind kind, const operand *value,
                        const ref *at, vyre_type type, uint32_t offset) {
  for (uint32_t k = 0; k < value->lanes; k++)
    parser_name_value(p, at[k], number, value->lanes > 1 ? (int)k : -1);
  if (value->lanes == 1)
    parser_bind(p, number, kind, type, at[0], offset);
  else
    parser_bind_vector(p, number, kind, type, at, value->lanes, offset);
  return true;
}

bool parser_let(parser *p) {
  uint32_t number, offset;
  vyre_type type;
  uint8_t lanes;
  operand value;
  ref at[MOST_LANES];
  parser_next(p);
  if (!parser_new_name(p, &number, &offset) || !read_declared_type(p, &type, &lanes) ||
      !read_first_value(p, &type, lanes, &value))
    return false;
  for (uint32_t k = 0; k < value.lanes; k++) {
    // What is no operation yet becomes one, so that the name has something to stick to. So does a
    // part that stands in the vector twice.
    bool is_twice = false;
    for (uint32_t i = 0; i < k; i++) is_twice |= value.node[i] == value.node[k];
    const node *n = &p->expr.nodes.at[value.node[k]];
    if (!is_twice && (n->kind == NODE_INST && !n->result)) continue;
    value.node[k] = node_op1(p, VYRE_OP_COPY, value.node[k], offset);
    if (value.node[k] == UINT32_MAX) return false;
  }
  if (!expression_emit(p)) return false;
  for (uint32_t k = 0; k < value.lanes; k++) at[k] = expression_result(p, value.node[k]);
  return bind_values(p, number, NAME_VALUE, &value, at, vyre_build_type_of(p->builder, at[0]),
                     offset);
}

static bool fail_untyped(parser *p, uint32_t offset) {
  return parser_fail(p, TEXT_P050, offset,
                     "nothing here tells the variable's type. Fix: declare it, as in var v: f32 = "
                     "0");
}

static bool read_var(parser *p) {
  uint32_t number, offset, nodes[MOST_LANES];
  vyre_type type;
  uint8_t lanes;
  operand value;
  ref at[MOST_LANES];
  parser_next(p);
  if (!parser_new_name(p, &number, &offset) || !read_declared_type(p, &type, &lanes) ||
      !read_first_value(p, &type, lanes, &value))
    return false;
  if (type == VYRE_VOID) type = expression_type(p, value.node[0]);
  if (type == VYRE_VOID) return fail_untyped(p, value.offset);
  for (uint32_t k = 0; k < value.lanes; k++) {
    inst in = {.op = VYRE_OP_VAR, .arg = {value.node[k]}};
    nodes[k] = expression_node(p, &in, type, offset);
    if (nodes[k] == UINT32_MAX) return false;
  }
  if (!expression_emit(p)) return false;
  for (uint32_t k = 0; k < value.lanes; k++) at[k] = expression_result(p, nodes[k]);
  return bind_values(p, number, NAME_VAR, &value, at, type, offset);
}

static bool read_array(parser *p) {
  uint32_t number, offset, length;
  vyre_type type;
  uint8_t lanes;
  parser_next(p);
  if (!parser_new_name(p, &number, &offset) || !parser_array_type(p, &type, &lanes, &length))
    return false;
  parser_at(p, offset);
  uint32_t before = code_count(p);
  vyre_mem array = vyre_build_array_of(p->builder, NULL, type, length);
  if (code_count(p) == before) return false;
  parser_name_value(p, before, number, -1);
  parser_bind_memory(p, number, type, lanes, array.id, offset);
  return true;
}

static bool read_shared(parser *p) {
  uint32_t number, offset, length;
  vyre_type type;
  uint8_t lanes;
  if (p->call)
    return parser_fail(
        p, TEXT_P014, p->token.offset,
        "a shared array is declared in a function. Fix: declare it in the region, and "
        "pass it, as in fn f(s: f32[])");
  if (p->has_code)
    return parser_fail(p, TEXT_P014, p->token.offset,
                       "a shared array is declared after other statements. Fix: move it to the top "
                       "of its region");
  parser_comments_before(p, COMMENT_BEFORE_ITEM, p->items, true);
  parser_next(p);
  if (!parser_new_name(p, &number, &offset) || !parser_array_type(p, &type, &lanes, &length))
    return false;
  char name[LIMIT_NAME + 1];
  vyre_mem made = vyre_build_shared_of(p->builder, parser_name_text(p, number, name), type, length);
  parser_bind_memory(p, number, type, lanes, made.id, offset);
  return parser_end_item(p);
}

static bool fail_not_assignable(parser *p, uint32_t number, uint32_t offset) {
  const symbol *s = &p->symbols.list.at[number];
  name_kind named = parser_named(p, s);
  int shown = s->size < 40 ? (int)s->size : 40;
  if (named == NAME_NONE) return parser_fail_unknown(p, TEXT_P030, number, offset);
  if (named == NAME_BROKEN) return parser_fail_quietly(p);
  return parser_fail(p, TEXT_P032, offset, "`%.*s` cannot be assigned to. Fix: %s", shown, s->text,
                     named == NAME_MEMORY    ? "name the element, as in x[i] = v"
                     : named == NAME_PARAM   ? "copy the parameter into a `var`"
                     : named == NAME_TUNABLE ? "copy the tunable into a `var`"
                     : named == NAME_LITERAL ? "copy the constant into a `var`"
                                             : "declare it with `var` instead of `let`");
}

// `=`, or an operator with `=` right behind it: *op is VYRE_OP_NONE or the operation.
static bool expect_assign(parser *p, vyre_op *op) {
  static const struct {
    uint8_t token, op;
  } known[] = {{TOKEN_PLUS, VYRE_OP_ADD},  {TOKEN_MINUS, VYRE_OP_SUB},   {TOKEN_STAR, VYRE_OP_MUL},
               {TOKEN_SLASH, VYRE_OP_DIV}, {TOKEN_PERCENT, VYRE_OP_REM}, {TOKEN_AND, VYRE_OP_AND},
               {TOKEN_OR, VYRE_OP_OR},     {TOKEN_XOR, VYRE_OP_XOR},     {TOKEN_SHL, VYRE_OP_SHL},
               {TOKEN_SHR, VYRE_OP_SHR}};
  uint32_t offset = p->token.offset;
  token_kind kind = p->token.kind;
  char next = p->at < p->size ? p->text[p->at] : 0;
  *op = VYRE_OP_NONE;
  if (kind == TOKEN_ASSIGN) {
    parser_next(p);
    return true;
  }
  if (kind >= TOKEN_PLUS && next == '=') {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
      if (known[i].token == kind) *op = (vyre_op)known[i].op;
    if (*op == VYRE_OP_NONE)
      return parser_fail(p, TEXT_P019, offset,
                         "there is no such assignment. Fix: write it out, as in x = x && y");
    parser_next(p);
    parser_next(p);
    return true;
  }
  if ((kind == TOKEN_PLUS || kind == TOKEN_MINUS) && next == p->text[offset])
    return parser_fail(p, TEXT_P019, offset, "there is no `%c%c`. Fix: write %c= 1", next, next,
                       next);
  char buffer[48];
  return parser_fail(p, TEXT_P012, offset,
                     "this line computes something and does nothing with it; `=` was expected, not "
                     "%s. Fix: assign it, or name it with `let`",
                     parser_describe_token(p, buffer));
}

// The lanes of what is assigned to, and of the value; one number is for all.
static bool fit_value(parser *p, uint8_t lanes, operand *value) {
  if (!value->lanes) return expression_single(p, value);
  if (value->lanes == 1)
    for (uint32_t k = 1; k < lanes; k++) value->node[k] = value->node[0];
  if (value->lanes == 1 || value->lanes == lanes) return true;
  if (lanes == 1) return expression_single(p, value);
  return parser_fail(p, TEXT_P057, value->offset,
                     "a vector of %u is assigned to one of %u. Fix: name the parts that are meant, "
                     "as in v.xy",
                     value->lanes, lanes);
}

// Reads the value that follows; with an operation, `old` is its first operand.
static bool read_assigned(parser *p, vyre_op op, const operand *old, uint8_t lanes,
                          operand *value) {
  uint32_t offset = p->token.offset;
  if (!expression_read_value(p, false, value)) return false;
  if (op != VYRE_OP_NONE) {
    operand args[2] = {*old, *value};
    if (!expression_each(p, op, args, 2, 0, offset, value)) return false;
  }
  return fit_value(p, lanes, value);
}

static bool read_store(parser *p, uint32_t number, uint32_t offset) {
  uint32_t index, places[MOST_LANES];
  operand old, value;
  vyre_op op;
  const symbol *s = &p->symbols.list.at[number];
  name_kind named = parser_named(p, s);
  mark_use(p, number, offset);
  if (named == NAME_BROKEN) return parser_fail_quietly(p);
  if (named != NAME_MEMORY)
    return named == NAME_NONE ? parser_fail_unknown(p, TEXT_P030, number, offset)
                              : parser_fail(p, TEXT_P032, offset,
                                            "`%.*s` is not a buffer or array. Fix: remove "
                                            "the index",
                                            s->size < 40 ? (int)s->size : 40, s->text);
  uint32_t mem = s->at;
  uint8_t lanes = s->named_lanes, kept[MOST_LANES] = {0, 1, 2, 3};
  unsigned count = lanes;
  vyre_type element = (vyre_type)s->named_type;
  parser_next(p);
  if (!expression_read(p, true, &index) || !parser_expect(p, TOKEN_RBRACKET, "`]`")) return false;
  if (p->token.kind == TOKEN_DOT) { // p[i].xy = v
    parser_next(p);
    count = p->token.kind == TOKEN_WORD
                ? call_swizzle(p->text + p->token.offset, p->token.size, lanes, kept)
                : 0;
    if (!count)
      return parser_fail(p, TEXT_P057, p->token.offset,
                         "this names no parts of the element. Fix: write x, y, z or w behind the "
                         "point, of an element that is a vector");
    parser_next(p);
  }
  if (!expect_assign(p, &op) || !expression_place(p, lanes, index, offset, kept, count, places))
    return false;
  old = (operand){.lanes = (uint8_t)count, .offset = offset};
  for (unsigned k = 0; k < count && op != VYRE_OP_NONE; k++) {
    inst in = {.op = VYRE_OP_LOAD, .arg = {mem, places[k]}};
    old.node[k] = expression_node(p, &in, element, offset);
    if (old.node[k] == UINT32_MAX) return false;
  }
  if (!read_assigned(p, op, &old, (uint8_t)count, &value)) return false;
  for (unsigned k = 0; k < count; k++) {
    inst in = {.op = VYRE_OP_STORE, .arg = {mem, places[k], value.node[k]}};
    if (!expression_add(p, &in, element, offset)) return false;
  }
  return expression_emit(p);
}

// The variables that a name stands for: one, or those of a vector or of some of its parts.
static bool find_variables(parser *p, uint32_t number, uint32_t offset, uint32_t *at,
                           uint8_t *lanes, vyre_type *type) {
  const symbol *s = &p->symbols.list.at[number];
  name_split split = {.symbol = number, .count = 1, .lanes = {0, 1, 2, 3}};
  name_kind named = parser_named(p, s);
  if (named == NAME_NONE && name_swizzle(p, number, &split)) {
    for (unsigned i = 0; i < split.count; i++)
      for (unsigned k = 0; k < i; k++)
        if (split.lanes[i] == split.lanes[k])
          return parser_fail(p, TEXT_P057, offset,
                             "a part is assigned to twice. Fix: name each part once");
    s = &p->symbols.list.at[split.symbol];
    named = NAME_VECTOR;
  } else if (named == NAME_VECTOR) {
    split.count = s->named_lanes;
  }
  s = &p->symbols.list.at[split.symbol];
  mark_use(p, split.symbol, offset);
  *type = (vyre_type)s->named_type;
  *lanes = (uint8_t)split.count;
  at[0] = s->at;
  if (named == NAME_VAR) return true;
  if (named != NAME_VECTOR || p->parts.at[s->at].kind != NAME_VAR)
    return fail_not_assignable(p, split.symbol, offset);
  vector_parts parts = p->parts.at[s->at];
  for (unsigned k = 0; k < split.count; k++) at[k] = parts.at[split.lanes[k]];
  return true;
}

static bool read_set(parser *p, uint32_t number, uint32_t offset) {
  uint32_t at[MOST_LANES] = {0};
  uint8_t lanes = 1;
  vyre_type type = VYRE_VOID;
  vyre_op op;
  operand old, value;
  name_kind named = parser_named(p, &p->symbols.list.at[number]);
  bool is_assignment = p->token.kind == TOKEN_ASSIGN ||
                       (p->token.kind >= TOKEN_PLUS && p->at < p->size && p->text[p->at] == '=');
  // What is no assignment at all is told as that.
  if (!is_assignment && named != NAME_NONE && !expect_assign(p, &op)) return false;
  if (!find_variables(p, number, offset, at, &lanes, &type) || !expect_assign(p, &op)) return false;
  old = (operand){.lanes = lanes, .offset = offset};
  for (unsigned k = 0; k < lanes && op != VYRE_OP_NONE; k++) {
    inst in = {.op = VYRE_OP_GET, .arg = {at[k]}};
    old.node[k] = expression_node(p, &in, type, offset);
    if (old.node[k] == UINT32_MAX) return false;
  }
  if (!read_assigned(p, op, &old, lanes, &value)) return false;
  for (unsigned k = 0; k < lanes; k++) {
    inst in = {.op = VYRE_OP_SET, .arg = {at[k], value.node[k]}};
    if (!expression_add(p, &in, type, offset)) return false;
  }
  return expression_emit(p);
}

static bool read_call(parser *p, uint32_t offset) {
  operand value;
  uint32_t function;
  bool is_function = function_find(p, p->token.symbol, &function);
  if (!expression_read_value(p, false, &value)) return false;
  const node *n = value.lanes == 1 ? &p->expr.nodes.at[value.node[0]] : NULL;
  bool is_atomic = n && n->kind == NODE_INST && op_is_atomic(n->in.op);
  bool is_plain = !value.lanes;
  if (!is_atomic && !is_plain)
    return parser_fail(p, TEXT_P012, offset,
                       "this line computes something and does nothing with it. Fix: %s",
                       is_function ? "use the function's value, or let it return none"
                                   : "assign it, or name it with `let`");
  return expression_emit(p);
}

static bool read_assignment(parser *p) {
  uint32_t number = p->token.symbol, offset = p->token.offset;
  expression_begin(p);
  if (parser_peek(p) == '(') return read_call(p, offset);
  parser_next(p);
  if (p->token.kind == TOKEN_LBRACKET) return read_store(p, number, offset);
  return read_set(p, number, offset);
}

// ---- blocks -------------------------------------------------------------------------------------

// `if` was read; `ends` as in block.
static bool read_if(parser *p, uint32_t ends, uint32_t first, uint32_t offset) {
  uint32_t condition;
  expression_begin(p);
  if (!expression_read(p, false, &condition) ||
      !expression_add(p, &(inst){.op = VYRE_OP_IF, .arg = {condition}}, VYRE_VOID, offset) ||
      !expression_emit(p))
    return fail_header(p, ends - 1, offset); // the branches before it
  return open_block(p, BLOCK_IF, ends, first, offset);
}

static bool read_for(parser *p, uint32_t first, uint32_t offset) {
  uint32_t number, name_offset, lo, hi, step = UINT32_MAX;
  parser_next(p);
  if (!parser_new_name(p, &number, &name_offset)) return false;
  if (!parser_take_word(p, WORD_IN))
    return parser_fail_expected(p, "`in`", "write for k in lo..hi");
  expression_begin(p);
  if (!expression_read(p, false, &lo) || !parser_expect(p, TOKEN_DOTS, "`..`") ||
      !expression_read(p, false, &hi))
    return false;
  if (parser_take_word(p, WORD_BY) && !expression_read(p, false, &step)) return false;
  // Counters are u32 where nothing tells.
  vyre_type type = expression_type(p, lo);
  if (type == VYRE_VOID) type = expression_type(p, hi);
  if (type == VYRE_VOID && step != UINT32_MAX) type = expression_type(p, step);
  expression_demand(p, lo, type == VYRE_VOID ? VYRE_U32 : type);
  inst in = {.op = VYRE_OP_FOR, .arg = {lo, hi, step}};
  if (!expression_add(p, &in, VYRE_VOID, offset) || !expression_emit(p)) return false;
  ref counter = code_count(p) - 1;
  parser_name_value(p, counter, number, -1);
  if (!open_block(p, BLOCK_FOR, 1, first, offset)) return false;
  parser_bind(p, number, NAME_VALUE, vyre_build_type_of(p->builder, counter), counter, name_offset);
  return true;
}

static bool read_condition(parser *p, uint32_t offset) {
  uint32_t condition;
  expression_begin(p);
  return expression_read(p, false, &condition) &&
         expression_add(p, &(inst){.op = VYRE_OP_DO, .arg = {condition}}, VYRE_VOID, offset) &&
         expression_emit(p);
}

// The condition of a while that has none.
static void emit_never(parser *p) {
  inst in = {.op = VYRE_OP_DO, .arg = {vyre_build_bool(p->builder, false)}};
  builder_emit(p->builder, &in);
}

static bool read_while(parser *p, uint32_t first, uint32_t offset) {
  parser_next(p);
  if (!emit_plain(p, VYRE_OP_WHILE, offset)) return false;
  if (p->token.kind == TOKEN_LBRACE) return open_block(p, BLOCK_WHILE_HEAD, 1, first, offset);
  if (read_condition(p, offset)) return open_block(p, BLOCK_WHILE, 1, first, offset);
  emit_never(p);
  return fail_header(p, 1, offset);
}

static bool read_do(parser *p, uint32_t offset) {
  block *b = &p->blocks.at[p->blocks.count - 1];
  if (b->kind != BLOCK_WHILE_HEAD)
    return parser_fail(p, TEXT_P020, offset,
                       "`do` does not belong to a while here. Fix: use it once in the block of a "
                       "`while {`, after what its condition needs");
  b->kind = BLOCK_WHILE;
  parser_next(p);
  return read_condition(p, offset);
}

// The branch that opens now follows one that was closed.
static bool follow_branch(parser *p, const block *closed) {
  block *b = &p->blocks.at[p->blocks.count - 1];
  b->others_returned = closed->others_returned && closed->returned;
  b->any_returned = closed->any_returned || closed->returned;
  return true;
}

// `else` of an if that was wrong: what is in its block is looked at.
static bool read_broken_else(parser *p) {
  while (p->token.kind > TOKEN_NEWLINE && p->token.kind != TOKEN_LBRACE) parser_next(p);
  return open_block(p, BLOCK_BROKEN, 0, 0, p->token.offset);
}

static bool read_else(parser *p, block closed) {
  uint32_t first = code_count(p), offset = p->token.offset;
  if (closed.kind == BLOCK_BROKEN) return read_broken_else(p);
  if (closed.kind != BLOCK_IF)
    return parser_fail(p, TEXT_P015, offset,
                       "`else` does not follow an if. Fix: remove it, or put an `if` before");
  if (!emit_plain(p, VYRE_OP_ELSE, offset)) return false;
  parser_next(p);
  uint32_t if_offset = p->token.offset;
  bool ok = parser_take_word(p, WORD_IF) ? read_if(p, closed.ends + 1, first + 1, if_offset)
                                         : open_block(p, BLOCK_ELSE, closed.ends, first, offset);
  return ok && follow_branch(p, &closed);
}

// At `}`; the brace of a region or function is left to parser_block.
static bool close_block(parser *p) {
  block b = p->blocks.at[p->blocks.count - 1];
  uint32_t offset = p->token.offset;
  bool goes_on = false, is_branch = b.kind == BLOCK_IF || b.kind == BLOCK_ELSE;
  if (b.kind == BLOCK_WHILE_HEAD)
    return parser_fail(p, TEXT_P020, b.offset,
                       "this while has no condition. Fix: write it after `while`, or `do` and the "
                       "condition in its block");
  if (b.owed && !b.returned)
    return parser_fail(p, TEXT_P021, b.offset,
                       "this block returns at one place and goes on at another. Fix: end it with "
                       "`return`, or carry the value in a `var`");
  if (!emit_ends(p, b.owed, offset)) return false;
  uint32_t end = code_count(p);
  p->blocks.count--;
  parser_end_scope(p, b.scope);
  parser_comments_before(p, COMMENT_BEFORE_OP, end, true);
  parser_next(p);
  if (p->token.kind == TOKEN_WORD && parser_symbol(p)->word == WORD_ELSE) return read_else(p, b);
  if (p->call && is_branch && !function_end_branch(p, &b, &goes_on)) return false;
  if (!goes_on && b.kind != BLOCK_BROKEN && !emit_ends(p, b.ends, offset)) return false;
  // A comment behind the brace belongs to the first END, where the printer writes the brace.
  return end_line(p, COMMENT_BEFORE_OP, end, COMMENT_AFTER_OP, end);
}

static bool read_statement(parser *p) {
  uint32_t offset = p->token.offset, first = code_count(p);
  word w = (word)parser_symbol(p)->word;
  if (p->blocks.at[p->blocks.count - 1].returned)
    return parser_fail(p, TEXT_P021, offset,
                       "nothing is done behind a return. Fix: remove this, or put it before");
  if (w == WORD_SHARED) return read_shared(p);
  p->has_code |= !p->call;
  parser_comments_before(p, COMMENT_BEFORE_OP, first, true);
  bool ok;
  switch (w) {
  case WORD_LET: ok = parser_let(p); break;
  case WORD_VAR: ok = read_var(p); break;
  case WORD_ARRAY: ok = read_array(p); break;
  case WORD_IF: parser_next(p); return read_if(p, 1, first, offset);
  case WORD_FOR: return read_for(p, first, offset);
  case WORD_WHILE: return read_while(p, first, offset);
  case WORD_DO: ok = read_do(p, offset); break;
  case WORD_RETURN:
    if (p->call) {
      ok = function_return(p);
      break;
    } // fall through
  case WORD_BREAK:
  case WORD_CONTINUE:
  case WORD_BARRIER:
    ok = emit_plain(p, (vyre_op)parser_symbol(p)->function, offset);
    parser_next(p);
    break;
  case WORD_ELSE:
    return parser_fail(p, TEXT_P015, offset,
                       "`else` begins a line. Fix: write it behind the brace, as in `} else {`");
  case WORD_PROGRAM:
  case WORD_BUFFER:
  case WORD_TRANSIENT:
  case WORD_REGION:
    return parser_fail(p, TEXT_P014, offset,
                       "`%.*s` stands inside a region. Fix: close the region's brace before it",
                       (int)parser_symbol(p)->size, parser_symbol(p)->text);
  case WORD_CONSTANT:
  case WORD_AXIS:
    return parser_fail(p, TEXT_P012, offset,
                       "this line computes something and does nothing with it. Fix: assign it, or "
                       "name it with `let`");
  default: ok = w == WORD_PRINTF && parser_peek(p) == '(' ? printf_read(p) : read_assignment(p);
  }
  return ok && parser_end_statement(p, first);
}

// ---- blocks as a whole --------------------------------------------------------------------------

void parser_resync(parser *p) {
  for (;;) {
    p->status = VYRE_OK; // what cannot be read while skipping is not told, too
    switch (p->token.kind) {
    case TOKEN_NEWLINE:
    case TOKEN_END:
    case TOKEN_SEMICOLON:
    case TOKEN_LBRACE:
    case TOKEN_RBRACE: return;
    case TOKEN_BAD:
      if (p->at < p->size && p->text[p->at] != '\n') p->at++;
      break;
    default: break;
    }
    p->token.kind = TOKEN_WORD; // not behind the end of a line
    parser_next(p);
  }
}

void parser_resync_declaration(parser *p) {
  uint32_t depth = 0;
  for (;; parser_next(p)) {
    parser_resync(p);
    if (p->token.kind == TOKEN_LBRACE) depth++;
    if (p->token.kind == TOKEN_RBRACE && depth) depth--;
    if (p->token.kind == TOKEN_END || (!depth && p->token.kind == TOKEN_NEWLINE)) return;
  }
}

// A block that cannot be closed is left.
static void leave_block(parser *p) {
  block b = p->blocks.at[p->blocks.count - 1];
  if (b.kind <= BLOCK_FUNCTION) return;
  if (b.kind == BLOCK_WHILE_HEAD) emit_never(p);
  emit_ends(p, b.owed + b.ends, p->token.offset);
  p->blocks.count--;
}

// Goes on behind a wrong statement; a block that it opens is looked at, too.
static bool recover_statement(parser *p, uint32_t began) {
  uint32_t name = p->declaring;
  p->declaring = 0;
  if (!parser_recover(p)) return false;
  parser_resync(p);
  if (p->token.kind == TOKEN_RBRACE && p->at == began) {
    leave_block(p);
    parser_next(p);
  }
  if (p->token.kind == TOKEN_LBRACE && !open_block(p, BLOCK_BROKEN, 0, 0, p->token.offset))
    return false;
  if (name && parser_named(p, &p->symbols.list.at[name - 1]) == NAME_NONE)
    parser_bind(p, name - 1, NAME_BROKEN, VYRE_VOID, 0, p->token.offset);
  parser_drop_comments(p);
  return p->status == VYRE_OK;
}

static bool end_outermost(parser *p, const block *b) {
  bool ok = emit_ends(p, b->owed, p->token.offset);
  p->is_returned = b->returned;
  p->blocks.count--;
  parser_end_scope(p, b->scope);
  return ok;
}

static bool read_line(parser *p) {
  char buffer[48];
  if (p->token.kind == TOKEN_WORD) return read_statement(p);
  if (p->token.kind == TOKEN_RBRACE) return close_block(p);
  return parser_fail(p, TEXT_P012, p->token.offset,
                     "a statement was expected here, not %s. Fix: see docs/TEXT.md for the "
                     "statements",
                     parser_describe_token(p, buffer));
}

bool parser_block(parser *p, block_kind kind, uint32_t offset) {
  block made = {
      .kind = kind, .scope = (uint32_t)p->scope.count, .offset = offset, .others_returned = true};
  if (!vec_push(&p->blocks, made)) return parser_fail_memory(p);
  size_t outermost = p->blocks.count;
  for (;;) {
    const block inner = p->blocks.at[p->blocks.count - 1];
    uint32_t began = p->at;
    if (p->status != VYRE_OK) { // what follows could not be read
      if (!recover_statement(p, began)) return false;
    } else if (p->token.kind == TOKEN_SEMICOLON || p->token.kind == TOKEN_NEWLINE) {
      parser_next(p);
    } else if (p->token.kind == TOKEN_RBRACE && p->blocks.count == outermost) {
      return end_outermost(p, &inner);
    } else if (p->token.kind == TOKEN_END) {
      return parser_fail(p, TEXT_P016, inner.offset,
                         "the text ends before the block that opens here. Fix: close it with `}`");
    } else if (!read_line(p) && !recover_statement(p, began)) {
      return false;
    }
  }
}
