// SPDX-License-Identifier: MIT
//
// printf("x[%u] = %f\n", i, x[i]): a record in the buffer `printf`, as print_layout.h says, for
// which an atomic counter makes room. A record that finds none is left out as a whole. The buffer
// is declared with the others when a printf is in the text.
#include "ir/limits.h"
#include "ir/print_layout.h"
#include "ir/text_stmt.h"

#include <string.h>

enum { MOST_WORDS = 1024, MOST_ARGUMENTS = 32 };

typedef struct print_record {
  uint32_t words[MOST_WORDS]; // nodes
  uint32_t count;
} print_record;

// ---- the format ---------------------------------------------------------------------------------

typedef struct print_format {
  char bytes[4 * MOST_WORDS];
  uint32_t size;
  char letters[MOST_ARGUMENTS]; // of its conversions
  uint32_t count;
} print_format;

static bool add_byte(parser *p, print_format *f, char c) {
  if (f->size == sizeof f->bytes / 2)
    return parser_fail(p, TEXT_P025, p->token.offset,
                       "a format has more than %zu bytes. Fix: print less at once",
                       sizeof f->bytes / 2);
  f->bytes[f->size++] = c;
  return true;
}

// The string with its escapes taken off.
static bool read_bytes(parser *p, print_format *f) {
  const char *at = p->text + p->token.offset + 1, *end = at + p->token.size - 2;
  for (; at < end; at++) {
    char c = *at;
    if (c == '\\' && at + 1 < end) {
      const char *escapes = "ntr\\\"'0", *means = "\n\t\r\\\"'\0";
      const char *found = strchr(escapes, *++at);
      if (!found || !*at || *at == '0')
        return parser_fail(p, TEXT_P025, (uint32_t)(at - 1 - p->text),
                           "`\\%c` means nothing. Fix: use \\n, \\t, \\r, \\\\ or \\\"", *at);
      c = means[found - escapes];
    }
    if (!add_byte(p, f, c)) return false;
  }
  return true;
}

// A number has all of its 64 bits printed: what an `l` asks for in C is put there.
static bool widen_conversions(parser *p, print_format *f) {
  print_format made = {.size = 0};
  for (uint32_t at = 0; at < f->size; at++) {
    if (!add_byte(p, &made, f->bytes[at])) return false;
    if (f->bytes[at] != '%') continue;
    if (at + 1 < f->size && f->bytes[at + 1] == '%') {
      if (!add_byte(p, &made, f->bytes[++at])) return false;
      continue;
    }
    while (at + 1 < f->size && strchr("-+ #0123456789.", f->bytes[at + 1]) && f->bytes[at + 1])
      if (!add_byte(p, &made, f->bytes[++at])) return false;
    while (at + 1 < f->size && (f->bytes[at + 1] == 'l' || f->bytes[at + 1] == 'h')) at++;
    char letter = at + 1 < f->size ? f->bytes[++at] : 0;
    if (!letter || !strchr("diouxXcfFeEgGaA", letter))
      return parser_fail(
          p, TEXT_P025, p->token.offset,
          "a conversion of the format is none of %%d %%i %%u %%x %%X %%o %%c %%f %%e "
          "%%g %%a. Fix: use one of these, or %%%% for a percent sign");
    if (made.count == MOST_ARGUMENTS)
      return parser_fail(p, TEXT_P025, p->token.offset,
                         "a format has more than %d conversions. Fix: print less at once",
                         MOST_ARGUMENTS);
    made.letters[made.count++] = letter;
    if (strchr("diouxX", letter) && !add_byte(p, &made, 'l')) return false;
    if (!add_byte(p, &made, letter)) return false;
  }
  *f = made;
  return true;
}

// ---- the record ---------------------------------------------------------------------------------

static uint32_t word_node(parser *p, uint64_t word, uint32_t offset) {
  uint32_t made = node_number(p, word, offset);
  if (made != UINT32_MAX) expression_demand(p, made, VYRE_U32);
  return made;
}

static bool add_word(parser *p, print_record *r, uint32_t node) {
  if (node == UINT32_MAX) return false;
  if (r->count == MOST_WORDS)
    return parser_fail(p, TEXT_P025, p->token.offset,
                       "a printf of more than %d bytes. Fix: print less at once", 4 * MOST_WORDS);
  r->words[r->count++] = node;
  return true;
}

static bool add_string(parser *p, print_record *r, const char *text, uint32_t size,
                       uint32_t offset) {
  if (!add_word(p, r, word_node(p, PRINT_STRING | (uint64_t)size << PRINT_COUNT_SHIFT, offset)))
    return false;
  for (uint32_t at = 0; at < size; at += 4) {
    uint32_t word = 0;
    memcpy(&word, text + at, size - at < 4 ? size - at : 4);
    if (!add_word(p, r, word_node(p, word, offset))) return false;
  }
  return true;
}

static uint32_t convert(parser *p, vyre_op op, vyre_type type, uint32_t from, uint32_t offset) {
  inst in = {.op = (uint8_t)op, .type = (uint8_t)type, .arg = {from}};
  return expression_type(p, from) == type ? from : expression_node(p, &in, VYRE_VOID, offset);
}

// Floats as f64, integers and bool as 64 bits, low word first.
static bool add_number(parser *p, print_record *r, uint32_t node, uint32_t offset) {
  vyre_type type = expression_type(p, node);
  bool is_float = type_is_float(type);
  vyre_type wide = is_float ? VYRE_F64 : type_is_signed(type) ? VYRE_I64 : VYRE_U64;
  uint32_t bits = convert(p, VYRE_OP_CONVERT, wide, node, offset);
  if (bits != UINT32_MAX) bits = convert(p, VYRE_OP_BITCAST, VYRE_U64, bits, offset);
  if (bits == UINT32_MAX) return false;
  uint32_t high = node_op2(p, VYRE_OP_SHR, bits, node_number(p, 32, offset), offset);
  if (high == UINT32_MAX) return false;
  uint32_t tag = (is_float ? PRINT_FLOAT : PRINT_INTEGER) | 1u << PRINT_COUNT_SHIFT;
  return add_word(p, r, word_node(p, tag, offset)) &&
         add_word(p, r, convert(p, VYRE_OP_CONVERT, VYRE_U32, bits, offset)) &&
         add_word(p, r, convert(p, VYRE_OP_CONVERT, VYRE_U32, high, offset));
}

static bool fail_arguments(parser *p, uint32_t wanted, uint32_t given, uint32_t offset) {
  return parser_fail(p, TEXT_P025, offset,
                     "the format has %u conversion%s, and %u number%s given. Fix: give as many",
                     wanted, wanted == 1 ? "" : "s", given, given == 1 ? " is" : "s are");
}

// A vector is as many numbers as it has parts.
static bool add_argument(parser *p, print_record *r, const print_format *f, uint32_t *at,
                         const operand *value) {
  for (uint32_t k = 0; k < value->lanes; k++, ++*at) {
    if (*at >= f->count) return fail_arguments(p, f->count, *at + 1, value->offset);
    bool wants_float = strchr("fFeEgGaA", f->letters[*at]) != NULL;
    expression_demand(p, value->node[k], wants_float ? VYRE_F64 : VYRE_I64);
    vyre_type type = expression_type(p, value->node[k]);
    if (type_is_float(type) != wants_float)
      return parser_fail(p, TEXT_P025, value->offset,
                         "%%%c prints %s, and this is %s. Fix: write %s", f->letters[*at],
                         wants_float ? "floats" : "integers", vyre_type_name(type),
                         wants_float ? "%d or %u, or convert the value" : "%f, or convert it");
    if (!add_number(p, r, value->node[k], value->offset)) return false;
  }
  return true;
}

static bool read_arguments(parser *p, print_record *r, const print_format *f, uint32_t offset) {
  uint32_t at = 0;
  parser_skip_newlines(p);
  while (p->token.kind == TOKEN_COMMA) {
    operand value;
    parser_next(p);
    if (!expression_read_value(p, true, &value)) return false;
    if (!value.lanes) return expression_single(p, &value);
    if (!add_argument(p, r, f, &at, &value)) return false;
    parser_skip_newlines(p);
  }
  return at == f->count || fail_arguments(p, f->count, at, offset);
}

// ---- building -----------------------------------------------------------------------------------

// Room for the record, then its words.
static bool write_record(parser *p, const print_record *r) {
  vyre_builder *b = p->builder;
  vyre_mem mem = {MEM_REF(MEM_BUFFER, p->print)};
  ref size = vyre_build_u32(b, r->count), length = vyre_build_len(b, mem);
  ref old = vyre_build_atomic(b, VYRE_OP_ATOMIC_ADD, mem, vyre_build_u32(b, 0), size);
  ref room = vyre_build_binary(b, VYRE_OP_SUB, length, old);
  ref is_before = vyre_build_binary(b, VYRE_OP_LT, old, length);
  ref is_enough = vyre_build_binary(b, VYRE_OP_LT, size, room);
  vyre_build_if(b, vyre_build_binary(b, VYRE_OP_AND, is_before, is_enough));
  for (uint32_t i = 0; i < r->count; i++) {
    ref at = vyre_build_binary(b, VYRE_OP_ADD, old, vyre_build_u32(b, i + 1));
    vyre_build_store(b, mem, at, expression_result(p, r->words[i]));
  }
  vyre_build_end(b);
  return builder_status(b) == VYRE_OK;
}

static bool add_ids(parser *p, print_record *r, uint32_t offset) {
  for (uint32_t axis = 0; axis < 3; axis++) {
    inst in = {.op = VYRE_OP_GLOBAL_ID, .arg = {axis}};
    if (!add_word(p, r, expression_node(p, &in, VYRE_U32, offset))) return false;
  }
  return true;
}

bool printf_read(parser *p) {
  uint32_t offset = p->token.offset;
  print_record r = {.count = 0};
  print_format f = {.size = 0};
  parser_next(p);
  if (!parser_expect(p, TOKEN_LPAREN, "`(`")) return false;
  parser_skip_newlines(p);
  if (p->token.kind != TOKEN_STRING)
    return parser_fail_expected(p, "the format in quotes", "write printf(\"%f\\n\", x)");
  expression_begin(p);
  if (!read_bytes(p, &f) || !widen_conversions(p, &f)) return false;
  parser_next(p);
  if (!p->has_print)
    return parser_fail(p, TEXT_P025, offset,
                       "a printf stands where none can. Fix: print in a region");
  uint32_t head = node_number(p, 0, offset);
  if (!add_word(p, &r, head) || !add_ids(p, &r, offset) ||
      !add_string(p, &r, f.bytes, f.size, offset) || !read_arguments(p, &r, &f, offset) ||
      !parser_expect(p, TOKEN_RPAREN, "`)`"))
    return false;
  p->expr.nodes.at[head].literal.magnitude = r.count;
  expression_demand(p, head, VYRE_U32);
  return expression_emit(p) && write_record(p, &r);
}

// ---- the buffer ---------------------------------------------------------------------------------

static bool is_printf(const char *text, uint32_t size, uint32_t at) {
  return at + 6 < size && !memcmp(text + at, "printf", 6);
}

bool printf_is_ahead(parser *p) {
  bool is_somewhere = false;
  for (size_t i = 0; i < p->sources.count && !is_somewhere; i++) {
    const text_source *s = &p->sources.at[i];
    for (uint32_t at = 0; at + 6 < s->size && !is_somewhere; at++)
      is_somewhere = s->text[at] == 'p' && is_printf(s->text, s->size, at);
  }
  if (!is_somewhere) return false;
  bool found = false;
  for (size_t i = 0; i < p->sources.count && !found; i++) {
    const text_source s = p->sources.at[i];
    text_cursor kept = parser_cursor(p);
    size_t comments = p->comments.count;
    p->text = s.text;
    p->size = s.size;
    p->at = 0;
    p->token = (token){.kind = TOKEN_NEWLINE};
    for (parser_next(p); p->token.kind > TOKEN_BAD && !found; parser_next(p))
      found = p->token.kind == TOKEN_WORD && parser_symbol(p)->word == WORD_PRINTF &&
              parser_peek(p) == '(';
    p->status = VYRE_OK; // what cannot be read is told when it is reached
    parser_set_cursor(p, &kept);
    p->comments.count = comments;
  }
  return found;
}
