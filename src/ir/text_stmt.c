// SPDX-License-Identifier: MIT
//
// Names, and the statements in the body of a region.
#include "ir/text_parser.h"

#include "ir/limits.h"

#include <string.h>

// ---- names --------------------------------------------------------------------------------------

bool parser_new_name(parser *p, uint32_t *number, uint32_t *offset) {
  *number = *offset = 0;
  if (p->token.kind != TOKEN_WORD)
    return parser_fail_expected(p, "a name", "write one; names begin with a letter");
  *number = p->token.symbol;
  *offset = p->token.offset;
  const symbol *s = parser_symbol(p);
  int shown = s->size < 40 ? (int)s->size : 40;
  if (word_is_reserved(s->word))
    return parser_fail(p, TEXT_P036, *offset,
                       "`%.*s` is a word of the language. Fix: choose another name", shown,
                       s->text);
  if (s->kind != NAME_NONE)
    return parser_fail(p, TEXT_P031, *offset,
                       "`%.*s` is already declared. Fix: choose another name%s", shown, s->text,
                       s->kind == NAME_VAR ? ", or assign without `let` or `var`" : "");
  parser_next(p);
  return true;
}

void parser_bind(parser *p, uint32_t number, name_kind kind, vyre_type type, uint32_t at) {
  symbol *s = &p->symbols.list.at[number];
  s->kind = (uint8_t)kind;
  s->named_type = (uint8_t)type;
  s->at = at;
  if (!vec_push(&p->scope, number)) parser_fail_memory(p);
}

void parser_end_scope(parser *p, size_t count) {
  while (p->scope.count > count) {
    symbol *s = &p->symbols.list.at[p->scope.at[--p->scope.count]];
    s->kind = NAME_NONE;
    s->was_named = true;
  }
}

static void parser_name_value(parser *p, ref value, uint32_t number) {
  const symbol *s = &p->symbols.list.at[number];
  if (s->base) builder_name(p->builder, value, s->text, s->base);
}

const char *parser_name_text(const parser *p, uint32_t number, char *buffer) {
  const symbol *s = &p->symbols.list.at[number];
  memcpy(buffer, s->text, s->base);
  buffer[s->base] = 0;
  return buffer;
}

bool parser_type(parser *p, vyre_type *type) {
  *type = VYRE_VOID;
  if (p->token.kind != TOKEN_WORD) return parser_fail_expected(p, "a type", "write one, as in f32");
  if (!parser_symbol(p)->is_type)
    return parser_fail_unknown(p, TEXT_P033, p->token.symbol, p->token.offset);
  *type = (vyre_type)parser_symbol(p)->type;
  parser_next(p);
  return true;
}

static bool parser_array_type(parser *p, vyre_type *type, ref *length) {
  *length = 0;
  return parser_expect(p, TOKEN_COLON, "`:`") && parser_type(p, type) &&
         parser_expect(p, TOKEN_LBRACKET, "`[`") &&
         parser_number(p, "the number of elements", length) &&
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

static bool open_block(parser *p, block_kind kind, uint32_t ends, uint32_t first, uint32_t offset) {
  if (p->token.kind != TOKEN_LBRACE)
    return parser_fail_expected(p, "`{`",
                                p->token.kind == TOKEN_ASSIGN ? "compare with `==`"
                                                              : "open the block on this line");
  parser_comments_before(p, COMMENT_BEFORE_OP, first, false);
  parser_next(p);
  parser_comment_after(p, COMMENT_AFTER_OP, code_count(p) - 1);
  parser_skip_newlines(p);
  block made = {kind, ends, (uint32_t)p->scope.count, offset};
  return vec_push(&p->blocks, made) || parser_fail_memory(p);
}

static bool emit_plain(parser *p, vyre_op op, uint32_t offset) {
  builder_at(p->builder, offset);
  return builder_emit(p->builder, &(inst){.op = (uint8_t)op}) != 0;
}

// ---- statements ---------------------------------------------------------------------------------

bool parser_let(parser *p) {
  uint32_t number, offset, root;
  parser_next(p);
  if (!parser_new_name(p, &number, &offset) || !parser_expect(p, TOKEN_ASSIGN, "`=`")) return false;
  expression_begin(p);
  if (!expression_read(p, false, &root)) return false;
  // What is no operation yet becomes one, so that the name has something to stick to.
  if (p->nodes.at[root].kind != NODE_INST) {
    inst copy = {.op = VYRE_OP_COPY, .arg = {root}};
    if (!expression_add(p, &copy, VYRE_VOID, offset)) return false;
    root = (uint32_t)p->nodes.count - 1;
  }
  if (!expression_emit(p)) return false;
  ref value = expression_result(p, root);
  parser_name_value(p, value, number);
  parser_bind(p, number, NAME_VALUE, vyre_build_type_of(p->builder, value), value);
  return true;
}

static bool read_var(parser *p) {
  uint32_t number, offset, root;
  vyre_type type;
  parser_next(p);
  if (!parser_new_name(p, &number, &offset) || !parser_expect(p, TOKEN_COLON, "`:`") ||
      !parser_type(p, &type) || !parser_expect(p, TOKEN_ASSIGN, "`=`"))
    return false;
  expression_begin(p);
  if (!expression_read(p, false, &root)) return false;
  if (!expression_add(p, &(inst){.op = VYRE_OP_VAR, .arg = {root}}, type, offset) ||
      !expression_emit(p))
    return false;
  vyre_type given = vyre_build_type_of(p->builder, expression_result(p, root));
  if (given != type)
    return parser_fail(p, TEXT_P053, p->nodes.at[root].offset,
                       "a variable of type %s begins with a value of type %s. Fix: convert it, as "
                       "in %s(x), or declare the variable %s",
                       vyre_type_name(type), vyre_type_name(given), vyre_type_name(type),
                       vyre_type_name(given));
  ref var = code_count(p) - 1;
  parser_name_value(p, var, number);
  parser_bind(p, number, NAME_VAR, type, var);
  return true;
}

static bool read_array(parser *p) {
  uint32_t number, offset, length;
  vyre_type type;
  parser_next(p);
  if (!parser_new_name(p, &number, &offset) || !parser_array_type(p, &type, &length)) return false;
  builder_at(p->builder, offset);
  uint32_t before = code_count(p);
  vyre_mem array = vyre_build_array_of(p->builder, NULL, type, length);
  if (code_count(p) == before) return false;
  parser_name_value(p, before, number);
  parser_bind(p, number, NAME_MEMORY, type, array.id);
  return true;
}

static bool read_shared(parser *p) {
  uint32_t number, offset, length;
  vyre_type type;
  if (p->has_code)
    return parser_fail(p, TEXT_P014, p->token.offset,
                       "a shared array is declared after other statements. Fix: move it to the top "
                       "of its region");
  parser_comments_before(p, COMMENT_BEFORE_ITEM, p->items, true);
  parser_next(p);
  if (!parser_new_name(p, &number, &offset) || !parser_array_type(p, &type, &length)) return false;
  char name[LIMIT_NAME + 1];
  vyre_mem made = vyre_build_shared_of(p->builder, parser_name_text(p, number, name), type, length);
  parser_bind(p, number, NAME_MEMORY, type, made.id);
  return parser_end_item(p);
}

static bool fail_not_assignable(parser *p, uint32_t number, uint32_t offset) {
  const symbol *s = &p->symbols.list.at[number];
  int shown = s->size < 40 ? (int)s->size : 40;
  if (s->kind == NAME_NONE) return parser_fail_unknown(p, TEXT_P030, number, offset);
  return parser_fail(p, TEXT_P032, offset, "`%.*s` cannot be assigned to. Fix: %s", shown, s->text,
                     s->kind == NAME_MEMORY    ? "name the element, as in x[i] = v"
                     : s->kind == NAME_PARAM   ? "copy the parameter into a `var`"
                     : s->kind == NAME_TUNABLE ? "copy the tunable into a `var`"
                                               : "declare it with `var` instead of `let`");
}

// After what is assigned to.
static bool expect_assign(parser *p) {
  if (p->token.kind == TOKEN_ASSIGN) {
    parser_next(p);
    return true;
  }
  if (p->token.kind >= TOKEN_PLUS && p->at < p->size && p->text[p->at] == '=')
    return parser_fail(p, TEXT_P019, p->token.offset,
                       "there is no assignment that computes. Fix: write it out, as in x = x + 1");
  char buffer[48];
  return parser_fail(p, TEXT_P012, p->token.offset,
                     "this line computes something and does nothing with it; `=` was expected, not "
                     "%s. Fix: assign it, or name it with `let`",
                     parser_describe_token(p, buffer));
}

static bool read_store(parser *p, uint32_t number, uint32_t offset) {
  uint32_t index, value;
  const symbol *s = &p->symbols.list.at[number];
  if (s->kind != NAME_MEMORY)
    return s->kind == NAME_NONE ? parser_fail_unknown(p, TEXT_P030, number, offset)
                                : parser_fail(p, TEXT_P032, offset,
                                              "`%.*s` is not a buffer or array. Fix: remove "
                                              "the index",
                                              s->size < 40 ? (int)s->size : 40, s->text);
  uint32_t mem = s->at;
  vyre_type element = (vyre_type)s->named_type;
  parser_next(p);
  if (!expression_read(p, true, &index) || !parser_expect(p, TOKEN_RBRACKET, "`]`") ||
      !expect_assign(p) || !expression_read(p, false, &value))
    return false;
  inst in = {.op = VYRE_OP_STORE, .arg = {mem, index, value}};
  return expression_add(p, &in, element, offset) && expression_emit(p);
}

static bool read_set(parser *p, uint32_t number, uint32_t offset) {
  uint32_t value;
  const symbol *s = &p->symbols.list.at[number];
  if (p->token.kind == TOKEN_ASSIGN && s->kind != NAME_VAR)
    return fail_not_assignable(p, number, offset);
  if (s->kind == NAME_NONE) return parser_fail_unknown(p, TEXT_P030, number, offset);
  inst in = {.op = VYRE_OP_SET, .arg = {s->at}};
  vyre_type type = (vyre_type)s->named_type;
  if (!expect_assign(p) || !expression_read(p, false, &value)) return false;
  in.arg[1] = value;
  return expression_add(p, &in, type, offset) && expression_emit(p);
}

static bool read_call(parser *p, uint32_t offset) {
  uint32_t root;
  if (!expression_read(p, false, &root)) return false;
  const node *n = &p->nodes.at[root];
  if (n->kind != NODE_INST || !op_is_atomic(n->in.op))
    return parser_fail(p, TEXT_P012, offset,
                       "this line computes something and does nothing with it. Fix: assign it, or "
                       "name it with `let`");
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
  return expression_read(p, false, &condition) &&
         expression_add(p, &(inst){.op = VYRE_OP_IF, .arg = {condition}}, VYRE_VOID, offset) &&
         expression_emit(p) && open_block(p, BLOCK_IF, ends, first, offset);
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
  inst in = {.op = VYRE_OP_FOR, .arg = {lo, hi, step}};
  if (!expression_add(p, &in, VYRE_VOID, offset) || !expression_emit(p)) return false;
  ref counter = code_count(p) - 1;
  parser_name_value(p, counter, number);
  if (!open_block(p, BLOCK_FOR, 1, first, offset)) return false;
  parser_bind(p, number, NAME_VALUE, vyre_build_type_of(p->builder, counter), counter);
  return true;
}

static bool read_condition(parser *p, uint32_t offset) {
  uint32_t condition;
  expression_begin(p);
  return expression_read(p, false, &condition) &&
         expression_add(p, &(inst){.op = VYRE_OP_DO, .arg = {condition}}, VYRE_VOID, offset) &&
         expression_emit(p);
}

static bool read_while(parser *p, uint32_t first, uint32_t offset) {
  parser_next(p);
  if (!emit_plain(p, VYRE_OP_WHILE, offset)) return false;
  if (p->token.kind == TOKEN_LBRACE) return open_block(p, BLOCK_WHILE_HEAD, 1, first, offset);
  return read_condition(p, offset) && open_block(p, BLOCK_WHILE, 1, first, offset);
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

static bool read_else(parser *p, block closed) {
  uint32_t first = code_count(p), offset = p->token.offset;
  if (closed.kind != BLOCK_IF)
    return parser_fail(p, TEXT_P015, offset,
                       "`else` does not follow an if. Fix: remove it, or put an `if` before");
  if (!emit_plain(p, VYRE_OP_ELSE, offset)) return false;
  parser_next(p);
  uint32_t if_offset = p->token.offset;
  if (parser_take_word(p, WORD_IF)) return read_if(p, closed.ends + 1, first + 1, if_offset);
  return open_block(p, BLOCK_ELSE, closed.ends, first, offset);
}

// At `}`; the region's own brace is left to parser_body.
static bool close_block(parser *p) {
  block b = p->blocks.at[p->blocks.count - 1];
  uint32_t end = code_count(p), offset = p->token.offset;
  if (b.kind == BLOCK_WHILE_HEAD)
    return parser_fail(p, TEXT_P020, b.offset,
                       "this while has no condition. Fix: write it after `while`, or `do` and the "
                       "condition in its block");
  p->blocks.count--;
  parser_end_scope(p, b.scope);
  parser_comments_before(p, COMMENT_BEFORE_OP, end, true);
  parser_next(p);
  if (p->token.kind == TOKEN_WORD && parser_symbol(p)->word == WORD_ELSE) return read_else(p, b);
  for (uint32_t i = 0; i < b.ends; i++)
    if (!emit_plain(p, VYRE_OP_END, offset)) return false;
  // A comment behind the brace belongs to the first END, where the printer writes the brace.
  return end_line(p, COMMENT_BEFORE_OP, end, COMMENT_AFTER_OP, end);
}

static bool read_statement(parser *p) {
  uint32_t offset = p->token.offset, first = code_count(p);
  word w = (word)parser_symbol(p)->word;
  if (w == WORD_SHARED) return read_shared(p);
  p->has_code = true;
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
  case WORD_BREAK:
  case WORD_CONTINUE:
  case WORD_RETURN:
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
  default: ok = read_assignment(p);
  }
  return ok && parser_end_statement(p, first);
}

bool parser_body(parser *p, uint32_t region_offset) {
  block made = {BLOCK_REGION, 0, (uint32_t)p->scope.count, region_offset};
  if (!vec_push(&p->blocks, made)) return parser_fail_memory(p);
  p->has_code = false;
  while (p->status == VYRE_OK) {
    const block *inner = &p->blocks.at[p->blocks.count - 1];
    char buffer[48];
    switch (p->token.kind) {
    case TOKEN_WORD:
      if (!read_statement(p)) return false;
      break;
    case TOKEN_SEMICOLON:
    case TOKEN_NEWLINE: parser_next(p); break;
    case TOKEN_RBRACE:
      if (inner->kind == BLOCK_REGION) {
        parser_end_scope(p, inner->scope);
        p->blocks.count--;
        return true;
      }
      if (!close_block(p)) return false;
      break;
    case TOKEN_END:
      return parser_fail(p, TEXT_P016, inner->offset,
                         "the text ends before the block that opens here. Fix: close it with `}`");
    default:
      return parser_fail(p, TEXT_P012, p->token.offset,
                         "a statement was expected here, not %s. Fix: see docs/TEXT.md for the "
                         "statements",
                         parser_describe_token(p, buffer));
    }
  }
  return false;
}
