// SPDX-License-Identifier: MIT
//
// Line by line: the blanks between the tokens of a line follow from what stands on both sides, its
// indentation from the braces before it and from whether the line before goes on.
#include "ir/text_format.h"

#include "base/ascii.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { INDENT = 2, CONTINUATION = 4, MOST_BRACKETS = 512 };

typedef enum piece_kind {
  PIECE_NONE, // the beginning of a line
  PIECE_WORD,
  PIECE_NUMBER,
  PIECE_STRING,
  PIECE_SIGN,
  PIECE_UNARY, // - ! ~ before an operand
  PIECE_COMMENT,
} piece_kind;

typedef struct piece {
  piece_kind kind;
  const char *text;
  size_t size;
} piece;

typedef struct formatter {
  const char *at, *end; // of the text
  strbuf *out;
  uint32_t braces;
  uint32_t brackets;                // ( and [ that are open
  uint8_t questions[MOST_BRACKETS]; // `?` that wait for their `:`, per open bracket
  bool goes_on;                     // the line before ends with an operator
  bool wants_blank, is_after_open;  // between lines
  piece last;                       // on this line
} formatter;

static bool is(const piece *p, const char *sign) {
  return p->kind >= PIECE_SIGN && strlen(sign) == p->size && !memcmp(p->text, sign, p->size);
}

static bool is_one_of(const piece *p, const char *const *list) {
  for (; *list; list++)
    if (strlen(*list) == p->size && !memcmp(p->text, *list, p->size)) return true;
  return false;
}

// ---- pieces of a line ---------------------------------------------------------------------------

static size_t number_size(const char *at, const char *end) {
  const char *p = at;
  bool is_hex = end - p > 1 && *p == '0' && (p[1] | 0x20) == 'x';
  for (; p < end; p++) {
    bool is_point = *p == '.' && p + 1 < end && p[1] != '.' && ascii_is_word(p[1]);
    bool is_sign = (*p == '+' || *p == '-') && p > at && (p[-1] | 0x20) == (is_hex ? 'p' : 'e') &&
                   p + 1 < end && ascii_is_digit(p[1]);
    if (!ascii_is_word(*p) && !is_point && !is_sign) break;
  }
  return (size_t)(p - at);
}

static size_t word_size(const char *at, const char *end) {
  const char *p = at;
  while (p < end && (ascii_is_word(*p) || *p == '$' ||
                     (*p == '.' && p > at && p + 1 < end && ascii_is_word(p[1]))))
    p++;
  return (size_t)(p - at);
}

static size_t string_size(const char *at, const char *end) {
  const char *p = at + 1;
  while (p < end && *p != '"' && *p != '\n') p += *p == '\\' && p + 1 < end && p[1] != '\n' ? 2 : 1;
  return (size_t)(p - at) + (p < end && *p == '"');
}

static size_t sign_size(const char *at, const char *end) {
  static const char *const signs[] = {
      "<<=", ">>=", "->", "..", "==", "!=", "<=", ">=", "&&", "||", "<<",
      ">>",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "^=", NULL};
  for (const char *const *s = signs; *s; s++)
    if ((size_t)(end - at) >= strlen(*s) && !memcmp(at, *s, strlen(*s))) return strlen(*s);
  return 1;
}

static const char *const leading_words[] = {"if",  "while", "in",     "by",    "do",
                                            "for", "else",  "return", "where", NULL};

// Whether a sign at this place has an operand to its left.
static bool has_left(const piece *last) {
  switch (last->kind) {
  case PIECE_NUMBER:
  case PIECE_STRING: return true;
  case PIECE_WORD: return !is_one_of(last, leading_words);
  case PIECE_SIGN: return is(last, ")") || is(last, "]");
  case PIECE_NONE:
  case PIECE_UNARY:
  case PIECE_COMMENT: break;
  }
  return false;
}

// The next piece of the line; false at its end.
static bool next_piece(formatter *f, piece *out) {
  while (f->at < f->end && (*f->at == ' ' || *f->at == '\t' || *f->at == '\r')) f->at++;
  if (f->at == f->end || *f->at == '\n') return false;
  const char *at = f->at;
  piece p = {PIECE_SIGN, at, 1};
  if (ascii_is_digit(*at)) {
    p.kind = PIECE_NUMBER;
    p.size = number_size(at, f->end);
  } else if (ascii_is_word(*at) || *at == '$') {
    p.kind = PIECE_WORD;
    p.size = word_size(at, f->end);
  } else if (*at == '"') {
    p.kind = PIECE_STRING;
    p.size = string_size(at, f->end);
  } else if (*at == '/' && at + 1 < f->end && at[1] == '/') {
    p.kind = PIECE_COMMENT;
    const char *newline = memchr(at, '\n', (size_t)(f->end - at));
    p.size = (size_t)((newline ? newline : f->end) - at);
  } else {
    p.size = sign_size(at, f->end);
    bool is_unary = p.size == 1 && strchr("-!~", *at) && *at;
    if (is_unary && !has_left(&f->last)) p.kind = PIECE_UNARY;
  }
  f->at += p.size;
  while (p.kind == PIECE_COMMENT && p.size && strchr(" \t\r", p.text[p.size - 1])) p.size--;
  *out = p;
  return true;
}

// ---- blanks -------------------------------------------------------------------------------------

static uint8_t *question(formatter *f) {
  return &f->questions[f->brackets < MOST_BRACKETS ? f->brackets : MOST_BRACKETS - 1];
}

// `name(` and `name[`, and a bracket behind another; a keyword stands apart.
static bool is_called(const piece *last) {
  return (last->kind == PIECE_WORD && !is_one_of(last, leading_words)) ||
         (last->kind == PIECE_SIGN && (is(last, ")") || is(last, "]")));
}

static bool has_blank(formatter *f, const piece *p) {
  const piece *last = &f->last;
  if (last->kind == PIECE_NONE || last->kind == PIECE_UNARY) return false;
  if (p->kind == PIECE_COMMENT) return true;
  if (is(last, "(") || is(last, "[") || is(last, "..") || is(last, ".")) return false;
  if (p->kind != PIECE_SIGN) return true;
  if (is(p, ")") || is(p, "]") || is(p, ",") || is(p, ";") || is(p, "..") || is(p, "."))
    return false;
  if (is(p, ":")) return *question(f) > 0;
  if (is(p, "[") && last->kind == PIECE_WORD) return false;
  if (is(p, "(") || is(p, "[")) return !is_called(last);
  return true;
}

// ---- lines --------------------------------------------------------------------------------------

static void note_sign(formatter *f, const piece *p) {
  if (p->kind != PIECE_SIGN || p->size != 1) return;
  switch (p->text[0]) {
  case '(':
  case '[':
    f->brackets++;
    *question(f) = 0;
    break;
  case ')':
  case ']':
    if (f->brackets) f->brackets--;
    break;
  case '{': f->braces++; break;
  case '}':
    if (f->braces) f->braces--;
    break;
  case '?':
    if (*question(f) < UINT8_MAX) ++*question(f);
    break;
  case ':':
    if (*question(f)) --*question(f);
    break;
  default: break;
  }
}

static bool leaves_open(const piece *last) {
  bool is_end = is(last, ")") || is(last, "]") || is(last, "{") || is(last, "}") || is(last, ";");
  return last->kind == PIECE_UNARY || (last->kind == PIECE_SIGN && !is_end);
}

static void begin_line(formatter *f, const piece *first) {
  bool closes = is(first, "}"), ends_list = is(first, ")") || is(first, "]");
  bool blank = f->wants_blank && !f->is_after_open && !closes && f->out->size;
  if (blank) strbuf_putc(f->out, '\n');
  f->wants_blank = f->is_after_open = false;
  uint32_t depth = f->braces - (closes && f->braces);
  uint32_t column = depth * INDENT;
  bool continues = f->goes_on || f->brackets;
  if (continues && !ends_list) column += CONTINUATION;
  for (uint32_t i = 0; i < column; i++) strbuf_putc(f->out, ' ');
}

static void format_line(formatter *f) {
  piece p, before = {PIECE_NONE, NULL, 0}; // the last one that is no comment
  f->last = (piece){PIECE_NONE, NULL, 0};
  bool is_empty = true, has_code = false;
  if (!f->brackets) *question(f) = f->goes_on ? *question(f) : 0;
  while (next_piece(f, &p)) {
    if (is_empty) begin_line(f, &p);
    is_empty = false;
    if (has_blank(f, &p)) strbuf_putc(f->out, ' ');
    strbuf_add(f->out, p.text, p.size);
    note_sign(f, &p);
    f->last = p;
    if (p.kind != PIECE_COMMENT) before = p, has_code = true;
  }
  if (f->at < f->end) f->at++; // the line's end
  if (is_empty) {
    f->wants_blank = true;
    return;
  }
  strbuf_putc(f->out, '\n');
  if (!has_code) return; // a comment is no part of what goes on
  f->goes_on = leaves_open(&before);
  f->is_after_open = is(&before, "{");
}

void text_format(const char *text, size_t size, strbuf *out) {
  formatter f = {.at = text, .end = text + size, .out = out};
  if (size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) f.at += 3;
  while (f.at < f.end) format_line(&f);
}
