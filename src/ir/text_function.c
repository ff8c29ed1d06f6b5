// SPDX-License-Identifier: MIT
#include "ir/text_function.h"

#include "ir/limits.h"
#include "ir/text_names.h"
#include "ir/text_stmt.h"

#include <string.h>

// ---- declarations -------------------------------------------------------------------------------

static bool read_param(parser *p, text_function *f) {
  function_param *made = &f->params[f->param_count];
  vyre_type type;
  if (p->token.kind != TOKEN_WORD)
    return parser_fail_expected(p, "a parameter", "write its name and type, as in x: f32");
  made->symbol = p->token.symbol;
  made->offset = p->token.offset;
  const symbol *s = parser_symbol(p);
  if (word_is_reserved(s->word))
    return parser_fail(p, TEXT_P036, made->offset,
                       "`%.*s` is a word of the language. Fix: choose another name",
                       s->size < 40 ? (int)s->size : 40, s->text);
  for (uint32_t k = 0; k < f->param_count; k++)
    if (f->params[k].symbol == made->symbol)
      return parser_fail(p, TEXT_P031, made->offset,
                         "there is another parameter of this name. Fix: choose another name");
  parser_next(p);
  if (!parser_expect(p, TOKEN_COLON, "`:`") || !parser_short_type(p, &type, &made->lanes))
    return false;
  made->type = (uint8_t)type;
  made->is_memory = p->token.kind == TOKEN_LBRACKET;
  if (made->is_memory) {
    parser_next(p);
    if (!parser_expect(p, TOKEN_RBRACKET, "`]`")) return false;
  }
  f->param_count++;
  return true;
}

static bool read_params(parser *p, text_function *f) {
  if (!parser_expect(p, TOKEN_LPAREN, "`(`")) return false;
  parser_skip_newlines(p);
  while (p->token.kind != TOKEN_RPAREN) {
    if (f->param_count == MOST_FUNCTION_PARAMS)
      return parser_fail(p, TEXT_P035, p->token.offset,
                         "a function has more than %d parameters. Fix: use fewer",
                         MOST_FUNCTION_PARAMS);
    if (!read_param(p, f)) return false;
    if (!parser_behind_param(p)) return false;
  }
  parser_next(p);
  return true;
}

// From `{` to behind the `}` that belongs to it.
static bool skip_body(parser *p, text_function *f) {
  uint32_t depth = 0, returns = 0, returns_at_top = 0, open = p->token.offset;
  if (p->token.kind != TOKEN_LBRACE)
    return parser_fail_expected(p, "`{`", "open the function's body on this line");
  f->at = p->at;
  f->source = p->source;
  for (;;) {
    if (p->token.kind == TOKEN_LBRACE) depth++;
    if (p->token.kind == TOKEN_RBRACE && !--depth) break;
    if (p->token.kind == TOKEN_WORD && parser_symbol(p)->word == WORD_RETURN) {
      returns++;
      returns_at_top += depth == 1;
    }
    if (p->token.kind == TOKEN_BAD) return false;
    if (p->token.kind == TOKEN_END)
      return parser_fail(p, TEXT_P016, open,
                         "the text ends before the function that opens here. Fix: close it with "
                         "`}`");
    parser_next(p);
  }
  f->end = p->at;
  f->has_one_return = returns == 1 && returns_at_top == 1;
  parser_drop_comments(p);
  parser_next(p);
  return true;
}

static bool check_name(parser *p) {
  if (p->token.kind != TOKEN_WORD)
    return parser_fail_expected(p, "the function's name", "write fn NAME(x: f32) -> f32 { }");
  const symbol *s = parser_symbol(p);
  int shown = s->size < 40 ? (int)s->size : 40;
  if (word_is_reserved(s->word) || s->function != VYRE_OP_NONE || s->word == WORD_PRINTF)
    return parser_fail(p, TEXT_P036, p->token.offset,
                       "`%.*s` is a word or operation of the language. Fix: choose another name",
                       shown, s->text);
  if (s->called)
    return parser_fail(p, TEXT_P031, p->token.offset,
                       "there is another function `%.*s`. Fix: choose another name", shown,
                       s->text);
  return true;
}

bool function_declare(parser *p) {
  text_function f = {.lanes = 0, .type = VYRE_VOID};
  parser_drop_comments(p);
  parser_next(p);
  if (!check_name(p)) return false;
  f.symbol = p->token.symbol;
  f.offset = p->token.offset;
  parser_next(p);
  if (!read_params(p, &f)) return false;
  if (p->token.kind == TOKEN_ARROW) {
    vyre_type type;
    parser_next(p);
    if (!parser_short_type(p, &type, &f.lanes)) return false;
    f.type = (uint8_t)type;
  }
  if (!skip_body(p, &f)) return false;
  f.order = p->order++;
  if (!vec_push(&p->functions, f)) return parser_fail_memory(p);
  p->symbols.list.at[f.symbol].called = (uint32_t)p->functions.count;
  mark_function(p, (uint32_t)p->functions.count - 1);
  return parser_end_extra(p);
}

// ---- calls --------------------------------------------------------------------------------------

bool function_find(const parser *p, uint32_t number, uint32_t *function) {
  const symbol *s = &p->symbols.list.at[number];
  // A function finds itself, so that its call can say what is wrong.
  if (!s->called || p->functions.at[s->called - 1].order > p->seen_order) return false;
  *function = s->called - 1;
  return true;
}

bool function_memory_argument(parser *p, uint32_t number, uint32_t argument, bool *is_taken) {
  const text_function *f = &p->functions.at[number];
  *is_taken = false;
  if (argument >= f->param_count || !f->params[argument].is_memory) return true;
  const symbol *s = p->token.kind == TOKEN_WORD ? parser_symbol(p) : NULL;
  name_kind named = s ? parser_named(p, s) : NAME_NONE;
  if (named == NAME_BROKEN) return parser_fail_quietly(p);
  if (named != NAME_MEMORY)
    return parser_fail_expected(p, "a buffer or array", "name one: the function takes all of it");
  mark_use(p, p->token.symbol, p->token.offset);
  operand made = {.node = {s->at},
                  .type = s->named_type,
                  .element_lanes = s->named_lanes,
                  .offset = p->token.offset};
  *is_taken = true;
  parser_next(p);
  return vec_push(&p->expr.operands, made) || parser_fail_memory(p);
}

static bool wrong_argument(parser *p, const function_param *want, uint32_t number,
                           const operand *given, vyre_type type) {
  char lanes[4] = "", has_lanes[4] = "";
  uint8_t is = given->lanes ? given->lanes : given->element_lanes;
  if (want->lanes > 1) lanes[0] = 'x', lanes[1] = (char)('0' + want->lanes);
  if (is > 1) has_lanes[0] = 'x', has_lanes[1] = (char)('0' + is);
  const char *name = vyre_type_name((vyre_type)want->type);
  return parser_fail(
      p, TEXT_P053, given->offset, "argument %u is %s%s%s, and %s%s%s is needed. Fix: %s %s%s%s",
      number + 1, vyre_type_name(type), has_lanes, given->lanes ? "" : "[]", name, lanes,
      want->is_memory ? "[]" : "", want->is_memory ? "pass one of" : "convert it, as in", name,
      lanes, want->is_memory ? "[]" : "(x)");
}

static bool check_arguments(parser *p, const text_function *f, const operand *args) {
  for (uint32_t k = 0; k < f->param_count; k++) {
    const function_param *want = &f->params[k];
    if (want->is_memory) {
      if (args[k].type != want->type || args[k].element_lanes != want->lanes)
        return wrong_argument(p, want, k, &args[k], (vyre_type)args[k].type);
      continue;
    }
    if (!args[k].lanes)
      return parser_fail(p, TEXT_P012, args[k].offset,
                         "this function has no value. Fix: let it return one");
    for (uint32_t lane = 0; lane < args[k].lanes; lane++)
      expression_demand(p, args[k].node[lane], (vyre_type)want->type);
    vyre_type type = expression_type(p, args[k].node[0]);
    if (args[k].lanes != want->lanes || type != (vyre_type)want->type)
      return wrong_argument(p, want, k, &args[k], type);
  }
  return true;
}

static bool check_limits(parser *p, const text_function *f, uint32_t offset) {
  uint32_t depth = 0;
  for (const text_call *c = p->call; c; c = c->outer) depth++;
  if (p->in_formula)
    return parser_fail(p, TEXT_P055, offset,
                       "a function cannot be called here. Fix: use numbers, constants and "
                       "tunables");
  if (f->is_open)
    return parser_fail(p, TEXT_P024, offset,
                       "the function calls itself. Fix: write a loop, with an array for what it "
                       "has to remember");
  p->inlined_calls++;
  p->inlined_bytes += f->end - f->at;
  if (depth < LIMIT_CALLS && p->inlined_calls <= LIMIT_INLINED &&
      p->inlined_bytes <= LIMIT_INLINED_BYTES)
    return true;
  return parser_fail(p, TEXT_P023, offset,
                     "functions are called too deeply or too often: at most %d in one another, %d "
                     "calls and %d bytes of bodies in all. Fix: write a loop",
                     LIMIT_CALLS, LIMIT_INLINED, LIMIT_INLINED_BYTES);
}

static void bind_params(parser *p, const text_function *f, const operand *args, const ref *values) {
  for (uint32_t k = 0; k < f->param_count; k++) {
    const function_param *want = &f->params[k];
    vyre_type type = (vyre_type)want->type;
    if (want->is_memory)
      parser_bind_memory(p, want->symbol, type, want->lanes, args[k].node[0], want->offset);
    else if (want->lanes == 1)
      parser_bind(p, want->symbol, NAME_VALUE, type, values[k * MOST_LANES], want->offset);
    else
      parser_bind_vector(p, want->symbol, NAME_VALUE, type, values + (size_t)k * MOST_LANES,
                         want->lanes, want->offset);
  }
}

// Where a function returns at several places, its value is a variable.
static bool declare_result(parser *p, const text_function *f, text_call *call) {
  if (f->type == VYRE_VOID || f->has_one_return) return true;
  for (uint32_t k = 0; k < f->lanes; k++) {
    ref zero = vyre_build_const(p->builder, (vyre_type)f->type, 0);
    call->result[k] = builder_emit(p->builder, &(inst){.op = VYRE_OP_VAR, .arg = {zero}});
    if (!call->result[k]) return false;
    parser_name_value(p, call->result[k], f->symbol, f->lanes > 1 ? (int)k : -1);
  }
  call->has_result = true;
  return true;
}

static void enter_body(parser *p, const text_function *f) {
  const text_source *s = &p->sources.at[f->source];
  p->text = s->text;
  p->file = s->file;
  p->size = s->size;
  p->source = f->source;
  p->at = f->at;
  p->token = (token){.kind = TOKEN_NEWLINE, .offset = f->at};
}

static bool read_body(parser *p, uint32_t number, const operand *args, const ref *values,
                      text_call *call) {
  const text_function f = p->functions.at[number];
  p->frame = ++p->frames;
  p->seen_order = f.order;
  p->frame_is_inlined = true;
  p->is_read_again |= f.was_called;
  enter_body(p, &f);
  size_t scope = p->scope.count, blocks = p->blocks.count;
  bind_params(p, &f, args, values);
  p->call = call;
  p->functions.at[number].is_open = p->functions.at[number].was_called = true;
  parser_next(p);
  bool ok = declare_result(p, &f, call) && parser_block(p, BLOCK_FUNCTION, f.offset);
  if (ok && f.type != VYRE_VOID && p->is_returned == false)
    ok = parser_fail(p, TEXT_P021, f.offset,
                     "the function ends without its value. Fix: end it with `return` and the "
                     "value, in each branch that comes last");
  p->functions.at[number].is_open = false;
  p->blocks.count = blocks;
  parser_end_scope(p, scope);
  return ok;
}

// What is set aside while a body is read.
typedef struct call_state {
  text_cursor cursor;
  expression expr;
  uint32_t frame, seen_order, place, declaring;
  bool frame_is_inlined, is_read_again;
  text_call *call;
} call_state;

static call_state set_aside(parser *p, uint32_t offset) {
  call_state s = {parser_cursor(p),    p->expr,          p->frame,
                  p->seen_order,       p->place,         p->declaring,
                  p->frame_is_inlined, p->is_read_again, p->call};
  p->expr = (expression){0};
  if (!p->source) p->place = offset;
  return s;
}

static void put_back(parser *p, const call_state *s) {
  expression_fini(&p->expr);
  p->expr = s->expr;
  p->frame = s->frame;
  p->seen_order = s->seen_order;
  p->place = s->place;
  p->declaring = s->declaring;
  p->frame_is_inlined = s->frame_is_inlined;
  p->is_read_again = s->is_read_again;
  p->call = s->call;
  parser_set_cursor(p, &s->cursor);
}

static bool take_result(parser *p, const text_function *f, const text_call *call, uint32_t offset,
                        operand *out) {
  *out = (operand){.lanes = f->type == VYRE_VOID ? 0 : f->lanes, .offset = offset};
  for (uint32_t k = 0; k < out->lanes; k++) {
    inst in = {.op = VYRE_OP_GET, .arg = {call->result[k]}};
    out->node[k] = f->has_one_return ? node_value(p, call->result[k], (vyre_type)f->type, offset)
                                     : expression_node(p, &in, (vyre_type)f->type, offset);
    if (out->node[k] == UINT32_MAX) return false;
  }
  return true;
}

bool function_call(parser *p, uint32_t number, const operand *args, uint32_t count, uint32_t offset,
                   operand *out) {
  ref values[MOST_FUNCTION_PARAMS * MOST_LANES] = {0};
  const text_function f = p->functions.at[number];
  if (!check_limits(p, &f, offset) || !check_arguments(p, &f, args) || !expression_flush(p))
    return false;
  for (uint32_t k = 0; k < count; k++)
    for (uint32_t lane = 0; lane < args[k].lanes; lane++)
      values[k * MOST_LANES + lane] = expression_result(p, args[k].node[lane]);
  // Comments wait where they are, for the statement that the call is in.
  size_t comments = p->comments.count;
  text_call call = {.outer = p->call, .function = number};
  call_state state = set_aside(p, offset);
  bool ok = read_body(p, number, args, values, &call);
  put_back(p, &state);
  p->comments.count = comments;
  if (!ok) return false;
  if (call.is_broken) return parser_fail_quietly(p);
  return take_result(p, &f, &call, offset, out);
}

// ---- return -------------------------------------------------------------------------------------

static bool is_in_loop(const parser *p) {
  for (size_t i = p->blocks.count; i > 0 && p->blocks.at[i - 1].kind != BLOCK_FUNCTION; i--)
    if (p->blocks.at[i - 1].kind >= BLOCK_FOR && p->blocks.at[i - 1].kind <= BLOCK_WHILE_HEAD)
      return true;
  return false;
}

static bool set_result(parser *p, const text_function *f, const operand *value, uint32_t offset) {
  for (uint32_t k = 0; k < f->lanes; k++) {
    uint32_t node = value->node[k];
    if (f->has_one_return) continue;
    inst in = {.op = VYRE_OP_SET, .arg = {p->call->result[k], node}};
    if (!expression_add(p, &in, (vyre_type)f->type, offset)) return false;
  }
  if (!expression_emit(p)) return false;
  for (uint32_t k = 0; k < f->lanes && f->has_one_return; k++)
    p->call->result[k] = expression_result(p, value->node[k]);
  p->call->has_result = true;
  return true;
}

bool function_return(parser *p) {
  const text_function f = p->functions.at[p->call->function];
  uint32_t offset = p->token.offset;
  operand value;
  parser_next(p);
  if (is_in_loop(p))
    return parser_fail(
        p, TEXT_P021, offset,
        "a function returns out of a loop. Fix: carry the value in a `var`, `break`, "
        "and return it behind the loop");
  p->blocks.at[p->blocks.count - 1].returned = true;
  if (f.type == VYRE_VOID) return true;
  expression_begin(p);
  if (!expression_read_value(p, false, &value)) return false;
  for (uint32_t k = 0; k < value.lanes; k++) expression_demand(p, value.node[k], (vyre_type)f.type);
  bool is_right = value.lanes == f.lanes;
  vyre_type type = value.lanes ? expression_type(p, value.node[0]) : VYRE_VOID;
  if (!is_right || type != (vyre_type)f.type)
    return parser_fail(p, TEXT_P053, value.offset,
                       "the function returns %s%s%.*s. Fix: convert the value, or declare the "
                       "function so",
                       vyre_type_name((vyre_type)f.type), f.lanes > 1 ? "x" : "", f.lanes > 1,
                       f.lanes == 2   ? "2"
                       : f.lanes == 3 ? "3"
                                      : "4");
  return set_result(p, &f, &value, offset);
}

bool function_end_branch(parser *p, const block *closed, bool *goes_on) {
  bool has_else = closed->kind == BLOCK_ELSE;
  bool any = closed->any_returned || closed->returned;
  *goes_on = false;
  if (!any || !p->blocks.count) return true;
  block *parent = &p->blocks.at[p->blocks.count - 1];
  bool others = closed->others_returned && (has_else || closed->returned);
  if (!others)
    return parser_fail(p, TEXT_P021, closed->offset,
                       "a branch returns, and one before it goes on behind the if. Fix: turn the "
                       "condition around, so that the branch that goes on comes last, or carry the "
                       "value in a `var`");
  if (has_else && closed->returned) { // nothing goes on
    parent->returned = true;
    return true;
  }
  if (!has_else) {
    parser_at(p, closed->offset);
    if (!builder_emit(p->builder, &(inst){.op = VYRE_OP_ELSE})) return false;
  }
  parent->owed += closed->ends;
  *goes_on = true;
  return true;
}

// ---- functions that nothing calls ---------------------------------------------------------------

static bool make_argument(parser *p, const function_param *want, operand *out) {
  *out = (operand){.lanes = want->lanes, .offset = want->offset};
  if (want->is_memory) {
    uint32_t index = p->spare + (uint32_t)want->type - VYRE_BOOL;
    *out = (operand){.node = {MEM_REF(MEM_BUFFER, index)},
                     .type = want->type,
                     .element_lanes = want->lanes,
                     .offset = want->offset};
    return true;
  }
  for (uint32_t k = 0; k < want->lanes; k++) {
    ref zero = vyre_build_const(p->builder, (vyre_type)want->type, 0);
    out->node[k] = node_value(p, zero, (vyre_type)want->type, want->offset);
    if (out->node[k] == UINT32_MAX) return false;
  }
  return true;
}

static bool check_one(parser *p, uint32_t number) {
  operand args[MOST_FUNCTION_PARAMS], made;
  const text_function f = p->functions.at[number];
  expression_begin(p);
  for (uint32_t k = 0; k < f.param_count; k++)
    if (!make_argument(p, &f.params[k], &args[k])) return false;
  return function_call(p, number, args, f.param_count, f.offset, &made);
}

bool function_check_rest(parser *p) {
  bool is_open = false;
  for (uint32_t i = (uint32_t)p->functions.count; i > 0; i--) {
    if (p->functions.at[i - 1].was_called) continue;
    if (!is_open) {
      ref one = vyre_build_u32(p->builder, 1), sizes[3] = {one, one, one};
      vyre_build_region_begin(p->builder, "");
      vyre_build_grid_of(p->builder, 1, sizes, sizes);
      p->frame = 1;
      is_open = true;
    }
    p->place = 0;
    if (!check_one(p, i - 1) && !parser_recover(p)) return false;
  }
  return true;
}
