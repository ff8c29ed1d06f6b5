// SPDX-License-Identifier: MIT
#include "ir/text_names.h"

#include "ir/limits.h"

#include <stdio.h>
#include <string.h>

static const char lane_letters[] = "xyzw";

// ---- for editors --------------------------------------------------------------------------------

static const char *describe(const symbol *s) {
  switch ((name_kind)s->kind) {
  case NAME_VALUE: return ref_is_const(s->at) && !s->frame ? "const" : "let";
  case NAME_VAR: return "var";
  case NAME_PARAM: return "parameter";
  case NAME_MEMORY: return mem_space(s->at) == MEM_BUFFER ? "buffer" : "array";
  case NAME_TUNABLE: return "tunable";
  case NAME_LITERAL: return "const";
  case NAME_VECTOR: return "vector";
  case NAME_BROKEN:
  case NAME_NONE: break;
  }
  return "name";
}

static bool is_told(const parser *p) {
  return p->options->mark && p->source == 0 && !p->is_read_again;
}

static void tell(const parser *p, const symbol *s, uint32_t offset, bool is_declaration) {
  text_mark m = {.offset = offset,
                 .size = s->size,
                 .declared = s->declared,
                 .declared_file = s->source ? p->sources.at[s->source].file : NULL,
                 .what = describe(s),
                 .type = s->named_type,
                 .lanes = s->named_lanes,
                 .is_declaration = is_declaration,
                 .is_global = s->frame == 0};
  p->options->mark(p->options->data, &m);
}

void mark_use(const parser *p, uint32_t number, uint32_t offset) {
  const symbol *s = &p->symbols.list.at[number];
  if (is_told(p) && parser_named(p, s) > NAME_NONE) tell(p, s, offset, false);
}

static void tell_function(const parser *p, const text_function *f, uint32_t offset, bool is_first) {
  const symbol *s = &p->symbols.list.at[f->symbol];
  text_mark m = {.offset = offset,
                 .size = s->size,
                 .declared = f->offset,
                 .declared_file = f->source ? p->sources.at[f->source].file : NULL,
                 .what = "fn",
                 .type = f->type,
                 .lanes = f->lanes,
                 .is_declaration = is_first,
                 .is_global = true};
  p->options->mark(p->options->data, &m);
}

void mark_call(const parser *p, uint32_t function, uint32_t offset) {
  if (is_told(p)) tell_function(p, &p->functions.at[function], offset, false);
}

void mark_function(const parser *p, uint32_t function) {
  const text_function *f = &p->functions.at[function];
  if (is_told(p)) tell_function(p, f, f->offset, true);
}

void mark_title(const parser *p, const char *what) {
  text_mark m = {.offset = p->token.offset,
                 .size = p->token.size,
                 .declared = p->token.offset,
                 .what = what,
                 .is_declaration = true,
                 .is_global = true};
  if (is_told(p)) p->options->mark(p->options->data, &m);
}

// ---- declaring ----------------------------------------------------------------------------------

bool parser_new_name(parser *p, uint32_t *number, uint32_t *offset) {
  *number = *offset = 0;
  if (p->token.kind != TOKEN_WORD)
    return parser_fail_expected(p, "a name", "write one; names begin with a letter");
  *number = p->token.symbol;
  *offset = p->token.offset;
  const symbol *s = parser_symbol(p);
  int shown = s->size < 40 ? (int)s->size : 40;
  name_kind named = parser_named(p, s);
  if (word_is_reserved(s->word))
    return parser_fail(p, TEXT_P036, *offset,
                       "`%.*s` is a word of the language. Fix: choose another name", shown,
                       s->text);
  if (named != NAME_NONE && named != NAME_BROKEN)
    return parser_fail(p, TEXT_P031, *offset,
                       "`%.*s` is already declared. Fix: choose another name%s", shown, s->text,
                       named == NAME_VAR ? ", or assign without `let` or `var`" : "");
  p->declaring = *number + 1;
  parser_next(p);
  return true;
}

bool parser_declared_name(parser *p, uint32_t *number, char *name) {
  uint32_t offset;
  if (!parser_new_name(p, number, &offset)) return false;
  if (!p->symbols.list.at[*number].base)
    return parser_fail(p, TEXT_P003, offset,
                       "parameters, buffers and tunables need a name. Fix: begin it with a letter");
  parser_name_text(p, *number, name);
  return true;
}

static void bind(parser *p, uint32_t number, name_kind kind, vyre_type type, uint8_t lanes,
                 uint32_t at, uint32_t offset) {
  symbol *s = &p->symbols.list.at[number];
  scope_entry old = {number,    s->at,   s->frame,      s->order,      s->declared,
                     s->source, s->kind, s->named_type, s->named_lanes};
  s->kind = (uint8_t)kind;
  s->named_type = (uint8_t)type;
  s->named_lanes = lanes;
  s->at = at;
  s->frame = p->frame;
  s->order = p->frame ? 0 : p->order++;
  s->declared = offset;
  s->source = p->source;
  p->declaring = 0;
  if (!vec_push(&p->scope, old)) parser_fail_memory(p);
  if (is_told(p) && kind != NAME_BROKEN) tell(p, s, offset, true);
}

void parser_bind(parser *p, uint32_t number, name_kind kind, vyre_type type, uint32_t at,
                 uint32_t offset) {
  bind(p, number, kind, type, 1, at, offset);
}

void parser_bind_memory(parser *p, uint32_t number, vyre_type type, uint8_t lanes, uint32_t at,
                        uint32_t offset) {
  bind(p, number, NAME_MEMORY, type, lanes, at, offset);
}

void parser_bind_vector(parser *p, uint32_t number, name_kind kind, vyre_type type,
                        const uint32_t *at, uint8_t lanes, uint32_t offset) {
  vector_parts parts = {.kind = (uint8_t)kind};
  memcpy(parts.at, at, lanes * sizeof *at);
  if (!vec_push(&p->parts, parts)) {
    parser_fail_memory(p);
    return;
  }
  bind(p, number, NAME_VECTOR, type, lanes, (uint32_t)p->parts.count - 1, offset);
}

void parser_end_scope(parser *p, size_t count) {
  while (p->scope.count > count) {
    const scope_entry *old = &p->scope.at[--p->scope.count];
    symbol *s = &p->symbols.list.at[old->number];
    if (p->frame <= 1) s->past = p->blocks.count > 0 ? PAST_BLOCK : PAST_REGION;
    s->kind = old->kind;
    s->named_type = old->type;
    s->named_lanes = old->lanes;
    s->at = old->at;
    s->frame = old->frame;
    s->order = old->order;
    s->declared = old->declared;
    s->source = old->source;
  }
}

// ---- texts of names -----------------------------------------------------------------------------

const char *parser_name_text(const parser *p, uint32_t number, char *buffer) {
  const symbol *s = &p->symbols.list.at[number];
  memcpy(buffer, s->text, s->base);
  buffer[s->base] = 0;
  return buffer;
}

bool parser_lane_name(const parser *p, uint32_t number, uint32_t lane, char *buffer) {
  const symbol *s = &p->symbols.list.at[number];
  if (s->base + 2 > LIMIT_NAME) return false;
  memcpy(buffer, s->text, s->base);
  buffer[s->base] = '.';
  buffer[s->base + 1] = lane_letters[lane];
  buffer[s->base + 2] = 0;
  return true;
}

void parser_name_value(parser *p, ref value, uint32_t number, int lane) {
  const symbol *s = &p->symbols.list.at[number];
  char name[LIMIT_NAME + 1];
  if (!s->base) return;
  if (lane < 0)
    builder_name(p->builder, value, s->text, s->base);
  else if (parser_lane_name(p, number, (uint32_t)lane, name))
    builder_name(p->builder, value, name, s->base + 2);
}

// ---- types --------------------------------------------------------------------------------------

bool parser_short_type(parser *p, vyre_type *type, uint8_t *lanes) {
  *type = VYRE_VOID;
  *lanes = 1;
  if (p->token.kind != TOKEN_WORD) return parser_fail_expected(p, "a type", "write one, as in f32");
  if (!parser_symbol(p)->is_type)
    return parser_fail_unknown(p, TEXT_P033, p->token.symbol, p->token.offset);
  *type = (vyre_type)parser_symbol(p)->type;
  *lanes = parser_symbol(p)->lanes;
  parser_next(p);
  return true;
}

bool parser_type(parser *p, vyre_type *type) {
  uint32_t offset = p->token.offset;
  uint8_t lanes;
  if (!parser_short_type(p, type, &lanes)) return false;
  return lanes == 1 ||
         parser_fail(p, TEXT_P057, offset, "a type of single numbers is needed here. Fix: write %s",
                     vyre_type_name(*type));
}

// ---- parts of vectors ---------------------------------------------------------------------------

unsigned call_swizzle(const char *word, uint32_t size, unsigned lanes, uint8_t *out) {
  static const char *const sets[] = {"xyzw", "rgba"};
  if (!size || size > MOST_LANES || lanes < 2) return 0;
  for (int set = 0; set < 2; set++) {
    unsigned count = 0;
    for (; count < size; count++) {
      const char *found = memchr(sets[set], word[count], lanes);
      if (!found) break;
      out[count] = (uint8_t)(found - sets[set]);
    }
    if (count == size) return count;
  }
  return 0;
}

bool name_swizzle(parser *p, uint32_t number, name_split *out) {
  const symbol *s = &p->symbols.list.at[number];
  const char *text = s->text;
  uint32_t dot = s->size;
  if (s->base != s->size) return false;
  while (dot && text[dot - 1] != '.') dot--;
  if (dot < 2) return false;
  uint32_t size = s->size;
  out->symbol = symbols_intern(&p->symbols, text, dot - 1, dot - 1);
  if (out->symbol == UINT32_MAX) return parser_fail_memory(p);
  const symbol *vector = &p->symbols.list.at[out->symbol];
  if (parser_named(p, vector) != NAME_VECTOR) return false;
  out->count = call_swizzle(text + dot, size - dot, vector->named_lanes, out->lanes);
  return out->count != 0;
}
