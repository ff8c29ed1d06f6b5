// SPDX-License-Identifier: MIT
//
// Tokens, one at a time. A line's end is a token, once however many lines are blank; what comes
// before a token (comments, blank lines) is collected until the parser says where it belongs.
#include "ir/text_parser.h"

#include "base/ascii.h"
#include "ir/limits.h"

#include <string.h>

static bool is_letter(char c) {
  return ascii_is_letter(c) || c == '_';
}

// A byte of the text, 0 past its end.
static char byte_at(const parser *p, uint32_t at) {
  return at < p->size ? p->text[at] : 0;
}

// ---- what is between tokens ---------------------------------------------------------------------

static bool is_control(unsigned char c) {
  return (c < 32 && c != '\t') || c == 127;
}

static bool read_comment(parser *p) {
  const char *begin = p->text + p->at;
  const char *end = memchr(begin, '\n', p->size - p->at);
  uint32_t size = end ? (uint32_t)(end - begin) : p->size - p->at;
  p->at += size;
  while (size && (begin[size - 1] == ' ' || begin[size - 1] == '\t' || begin[size - 1] == '\r'))
    size--;
  for (uint32_t i = 0; i < size; i++)
    if (is_control((unsigned char)begin[i]))
      return parser_fail(p, TEXT_P001, (uint32_t)(begin - p->text) + i,
                         "a comment holds the control character 0x%02x. Fix: remove it",
                         (unsigned char)begin[i]);
  if (!vec_push(&p->comments, (loose_comment){(uint32_t)(begin - p->text), size}))
    return parser_fail_memory(p);
  return true;
}

static bool add_blank_line(parser *p) {
  size_t count = p->comments.count;
  if (count && !p->comments.at[count - 1].size) return true;
  return vec_push(&p->comments, (loose_comment){p->at, 0}) || parser_fail_memory(p);
}

// Skips blanks and comments; after the end of a line also the lines that follow. Stops at a token.
static bool skip_blanks(parser *p, bool is_after_newline) {
  bool is_empty_line = is_after_newline;
  for (; p->at < p->size; p->at++) {
    switch (p->text[p->at]) {
    case ' ':
    case '\t':
    case '\r': break;
    case '\n':
      if (!is_after_newline) return true;
      if (is_empty_line && !add_blank_line(p)) return false;
      is_empty_line = true;
      break;
    case '/':
      if (byte_at(p, p->at + 1) != '/') return true;
      if (!read_comment(p)) return false;
      is_empty_line = false;
      p->at--; // at the line's end, which the loop passes next
      break;
    default: return true;
    }
  }
  return true;
}

void parser_comments_before(parser *p, uint32_t kind, uint32_t anchor, bool keep_blank_lines) {
  size_t count = p->comments.count;
  // A comment at the end of this line belongs behind what is read.
  bool has_after = p->token.kind == TOKEN_NEWLINE && count && p->comments.at[count - 1].size &&
                   p->comments.at[count - 1].offset >= p->read_end;
  for (size_t i = 0; i < count - has_after; i++) {
    const loose_comment *c = &p->comments.at[i];
    if (!p->frame_is_inlined && (c->size || keep_blank_lines))
      builder_comment(p->builder, kind, anchor, p->text + c->offset, c->size);
  }
  if (has_after) p->comments.at[0] = p->comments.at[count - 1];
  p->comments.count = has_after;
}

void parser_drop_comments(parser *p) {
  p->comments.count = 0;
}

void parser_comment_after(parser *p, uint32_t kind, uint32_t anchor) {
  if (p->token.kind != TOKEN_NEWLINE || !p->comments.count) return;
  const loose_comment *c = &p->comments.at[0];
  if (!p->frame_is_inlined) builder_comment(p->builder, kind, anchor, p->text + c->offset, c->size);
  p->comments.count = 0;
}

// ---- tokens -------------------------------------------------------------------------------------

static void lex_word(parser *p) {
  token *t = &p->token;
  uint32_t at = t->offset;
  while (ascii_is_word(byte_at(p, at)) ||
         (at > t->offset && byte_at(p, at) == '.' && ascii_is_word(byte_at(p, at + 1))))
    at++;
  uint32_t base = at - t->offset;
  if (byte_at(p, at) == '$') {
    uint32_t digits = at + 1;
    while (ascii_is_digit(byte_at(p, digits))) digits++;
    if (digits == at + 1 || digits > at + 11 || ascii_is_word(byte_at(p, digits))) {
      parser_fail(p, TEXT_P003, at,
                  "`$` marks a number that makes a name unique. Fix: write at most 10 digits after "
                  "it, as in x$2");
      return;
    }
    at = digits;
  }
  if (base > LIMIT_NAME) {
    parser_fail(p, TEXT_P003, t->offset, "a name has %u bytes. Fix: use at most %d", base,
                LIMIT_NAME);
    return;
  }
  t->kind = TOKEN_WORD;
  t->size = at - t->offset;
  t->symbol = symbols_intern(&p->symbols, p->text + t->offset, t->size, base);
  if (t->symbol == UINT32_MAX) {
    parser_fail_memory(p);
    t->kind = TOKEN_BAD;
  }
}

static uint32_t skip_digits(const parser *p, uint32_t at, bool is_hex) {
  while (is_hex ? ascii_is_hex_digit(byte_at(p, at)) : ascii_is_digit(byte_at(p, at))) at++;
  return at;
}

// The digits with point and exponent; 0 when they are not a number. `1..n` is a range: its first
// point is not part of the number.
static uint32_t scan_number(parser *p, bool *is_float) {
  uint32_t begin = p->token.offset, at = begin;
  bool is_hex = byte_at(p, at) == '0' && (byte_at(p, at + 1) | 0x20) == 'x';
  if (is_hex) at += 2;
  uint32_t digits = at;
  at = skip_digits(p, at, is_hex);
  if (at == digits)
    return parser_fail(p, TEXT_P002, begin, "`0x` has no digits. Fix: write some, as in 0xff");
  bool has_point = byte_at(p, at) == '.' && byte_at(p, at + 1) != '.';
  if (has_point) {
    digits = at + 1;
    at = skip_digits(p, digits, is_hex);
    if (at == digits)
      return parser_fail(p, TEXT_P002, begin,
                         "a number ends with its point. Fix: write a digit after it, as in 1.0");
  }
  uint32_t sign = byte_at(p, at + 1) == '+' || byte_at(p, at + 1) == '-';
  bool has_exponent =
      (byte_at(p, at) | 0x20) == (is_hex ? 'p' : 'e') && ascii_is_digit(byte_at(p, at + 1 + sign));
  if (has_exponent) at = skip_digits(p, at + 1 + sign, false);
  if (is_hex && has_point && !has_exponent)
    return parser_fail(p, TEXT_P002, begin,
                       "a hexadecimal float has no exponent. Fix: write one, as in 0x1.8p0");
  *is_float = has_point || has_exponent;
  return at;
}

static void lex_number(parser *p) {
  token *t = &p->token;
  bool is_float = false;
  uint32_t end = scan_number(p, &is_float), at = end;
  if (!end) return;
  while (ascii_is_word(byte_at(p, at))) at++;
  vyre_type suffix = VYRE_VOID;
  if (at > end) {
    suffix = type_from_name(p->text + end, at - end);
    if (suffix <= VYRE_BOOL || type_is_float(suffix) != is_float) {
      int shown = at - end < 20 ? (int)(at - end) : 20;
      parser_fail(p, TEXT_P002, end, "`%.*s` is no suffix of %s number. Fix: %s", shown,
                  p->text + end, is_float ? "this" : "an integer",
                  type_is_float(suffix) ? "write the number with a point, as in 1.0f32"
                  : is_float            ? "use f16, f32 or f64"
                                        : "use i8 to i64 or u8 to u64");
      return;
    }
  }
  t->kind = TOKEN_NUMBER;
  t->size = at - t->offset;
  t->literal = (literal){.text = p->text + t->offset,
                         .size = end - t->offset,
                         .suffix = (uint8_t)suffix,
                         .is_float = is_float};
  if (!is_float) literal_read_int(&t->literal);
}

static void set_token(parser *p, token_kind kind, uint32_t size) {
  p->token.kind = kind;
  p->token.size = size;
}

// A sign of one or two bytes: `second` makes the longer one.
static void set_either(parser *p, char second, token_kind longer, token_kind shorter) {
  bool is_longer = byte_at(p, p->token.offset + 1) == second;
  set_token(p, is_longer ? longer : shorter, 1 + is_longer);
}

static void lex_bad(parser *p, char c) {
  if (is_control((unsigned char)c) || (unsigned char)c > 127)
    parser_fail(p, TEXT_P001, p->token.offset,
                "byte 0x%02x is not part of the language. Fix: remove it; other characters than "
                "ASCII may stand in comments only",
                (unsigned char)c);
  else
    parser_fail(p, TEXT_P001, p->token.offset, "`%c` means nothing here. Fix: remove it", c);
}

// A string ends on its line; a backslash takes the next byte with it.
static void lex_string(parser *p) {
  uint32_t at = p->token.offset + 1;
  for (; at < p->size && p->text[at] != '"'; at++) {
    if (p->text[at] == '\\' && byte_at(p, at + 1) >= ' ') at++;
    if (is_control((unsigned char)byte_at(p, at))) break;
  }
  if (byte_at(p, at) != '"')
    parser_fail(
        p, TEXT_P001, p->token.offset,
        "a string has no end on its line. Fix: close it with `\"`; write a new line as \\n");
  else
    set_token(p, TOKEN_STRING, at + 1 - p->token.offset);
}

static void lex_sign(parser *p, char c) {
  switch (c) {
  case '(': set_token(p, TOKEN_LPAREN, 1); break;
  case ')': set_token(p, TOKEN_RPAREN, 1); break;
  case '[': set_token(p, TOKEN_LBRACKET, 1); break;
  case ']': set_token(p, TOKEN_RBRACKET, 1); break;
  case '{': set_token(p, TOKEN_LBRACE, 1); break;
  case '}': set_token(p, TOKEN_RBRACE, 1); break;
  case ',': set_token(p, TOKEN_COMMA, 1); break;
  case ':': set_token(p, TOKEN_COLON, 1); break;
  case ';': set_token(p, TOKEN_SEMICOLON, 1); break;
  case '+': set_token(p, TOKEN_PLUS, 1); break;
  case '-': set_either(p, '>', TOKEN_ARROW, TOKEN_MINUS); break;
  case '?': set_token(p, TOKEN_QUESTION, 1); break;
  case '"': lex_string(p); break;
  case '*': set_token(p, TOKEN_STAR, 1); break;
  case '/': set_token(p, TOKEN_SLASH, 1); break;
  case '%': set_token(p, TOKEN_PERCENT, 1); break;
  case '^': set_token(p, TOKEN_XOR, 1); break;
  case '~': set_token(p, TOKEN_TILDE, 1); break;
  case '=': set_either(p, '=', TOKEN_EQ, TOKEN_ASSIGN); break;
  case '!': set_either(p, '=', TOKEN_NE, TOKEN_NOT); break;
  case '&': set_either(p, '&', TOKEN_AND_AND, TOKEN_AND); break;
  case '|': set_either(p, '|', TOKEN_OR_OR, TOKEN_OR); break;
  case '<':
    if (byte_at(p, p->token.offset + 1) == '=')
      set_token(p, TOKEN_LE, 2);
    else
      set_either(p, '<', TOKEN_SHL, TOKEN_LT);
    break;
  case '>':
    if (byte_at(p, p->token.offset + 1) == '=')
      set_token(p, TOKEN_GE, 2);
    else
      set_either(p, '>', TOKEN_SHR, TOKEN_GT);
    break;
  case '.':
    if (byte_at(p, p->token.offset + 1) == '.')
      set_token(p, TOKEN_DOTS, 2);
    else if (is_letter(byte_at(p, p->token.offset + 1)))
      set_token(p, TOKEN_DOT, 1);
    else
      lex_bad(p, c);
    break;
  default: lex_bad(p, c);
  }
}

void parser_next(parser *p) {
  bool is_after_newline = p->token.kind == TOKEN_NEWLINE;
  p->read_end = p->token.offset + p->token.size;
  p->token = (token){.kind = TOKEN_BAD, .offset = p->at};
  if (p->status != VYRE_OK || !skip_blanks(p, is_after_newline)) return;
  p->token.offset = p->at;
  if (p->at == p->size) { // the last line ends, too
    p->token.kind = is_after_newline ? TOKEN_END : TOKEN_NEWLINE;
    return;
  }
  char c = p->text[p->at];
  if (c == '\n')
    set_token(p, TOKEN_NEWLINE, 1);
  else if (is_letter(c) || c == '$')
    lex_word(p);
  else if (ascii_is_digit(c))
    lex_number(p);
  else
    lex_sign(p, c);
  p->at += p->token.size;
}

text_cursor parser_cursor(const parser *p) {
  return (text_cursor){p->text, p->file, p->size, p->at, p->read_end, p->source, p->token};
}

void parser_set_cursor(parser *p, const text_cursor *c) {
  p->text = c->text;
  p->file = c->file;
  p->size = c->size;
  p->at = c->at;
  p->read_end = c->read_end;
  p->source = c->source;
  p->token = c->token;
}

void parser_skip_newlines(parser *p) {
  while (p->token.kind == TOKEN_NEWLINE) parser_next(p);
}

bool parser_expect(parser *p, token_kind kind, const char *wanted) {
  if (p->token.kind != kind) return parser_fail_expected(p, wanted, "write it here");
  parser_next(p);
  return true;
}

bool parser_behind_param(parser *p) {
  parser_skip_newlines(p);
  if (p->token.kind != TOKEN_COMMA)
    return p->token.kind == TOKEN_RPAREN ||
           parser_fail_expected(p, "`,` or `)`", "put a comma between parameters");
  parser_next(p);
  parser_skip_newlines(p);
  return true;
}

const symbol *parser_symbol(const parser *p) {
  return &p->symbols.list.at[p->token.symbol];
}

bool parser_take_word(parser *p, word w) {
  if (p->token.kind != TOKEN_WORD || parser_symbol(p)->word != w) return false;
  parser_next(p);
  return true;
}

char parser_peek(const parser *p) {
  uint32_t at = p->at;
  while (byte_at(p, at) == ' ' || byte_at(p, at) == '\t') at++;
  return byte_at(p, at);
}
