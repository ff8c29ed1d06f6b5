// SPDX-License-Identifier: MIT
#include "base/toml_lex.h"

#include "base/ascii.h"
#include "base/error.h"
#include "base/utf8.h"

#include <string.h>

__attribute__((format(printf, 3, 4))) bool toml_lex_fail(toml_lexer *s, const char *at,
                                                         const char *format, ...) {
  va_list args;
  va_start(args, format);
  s->status = error_setv(s->error, VYRE_ERROR_SYNTAX, format, args);
  va_end(args);
  error_place(s->error, s->file, s->text, (size_t)(s->end - s->text), (size_t)(at - s->text));
  return false;
}

bool toml_lex_no_memory(toml_lexer *s) {
  s->status = error_out_of_memory(s->error);
  return false;
}

bool toml_lex_is_bare(int c) {
  return ascii_is_word((char)c) || c == '-';
}

void toml_lex_skip_blanks(toml_lexer *s) {
  while (toml_lex_peek(s) == ' ' || toml_lex_peek(s) == '\t') s->p++;
}

bool toml_lex_at_newline(const toml_lexer *s) {
  return toml_lex_peek(s) == '\n' ||
         (toml_lex_peek(s) == '\r' && s->p + 1 < s->end && s->p[1] == '\n');
}

static void toml_lex_skip_newline(toml_lexer *s) {
  s->p += *s->p == '\r' ? 2 : 1;
  s->line++;
}

static bool is_control(int c) {
  return (c >= 0 && c < 32 && c != '\t') || c == 127;
}

bool toml_lex_skip_comment(toml_lexer *s) {
  if (toml_lex_peek(s) != '#') return true;
  while (s->p < s->end && !toml_lex_at_newline(s)) {
    if (is_control(toml_lex_peek(s)))
      return toml_lex_fail(s, s->p, "a comment holds a control character. Fix: remove it");
    s->p++;
  }
  return true;
}

bool toml_lex_skip_space(toml_lexer *s) {
  for (;;) {
    toml_lex_skip_blanks(s);
    if (!toml_lex_skip_comment(s)) return false;
    if (!toml_lex_at_newline(s)) return true;
    toml_lex_skip_newline(s);
  }
}

bool toml_lex_starts_with(const toml_lexer *s, const char *word) {
  size_t size = strlen(word);
  return (size_t)(s->end - s->p) >= size && !memcmp(s->p, word, size);
}

static bool parse_hex(toml_lexer *s, int digits, uint32_t *out) {
  *out = 0;
  for (int i = 0; i < digits; i++, s->p++) {
    int c = toml_lex_peek(s), lower = c | 32;
    int digit = c >= '0' && c <= '9'           ? c - '0'
                : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10
                                               : -1;
    if (digit < 0)
      return toml_lex_fail(s, s->p, "an escape needs %d hexadecimal digits. Fix: write them all",
                           digits);
    *out = *out << 4 | (uint32_t)digit;
  }
  return true;
}

// After the backslash.
static bool parse_escape(toml_lexer *s, strbuf *out) {
  static const char from[] = "btnfr\"\\", to[] = "\b\t\n\f\r\"\\";
  const char *at = s->p - 1;
  int c = toml_lex_peek(s);
  const char *simple = c > 0 ? strchr(from, c) : NULL;
  if (simple) {
    s->p++;
    strbuf_putc(out, to[simple - from]);
    return true;
  }
  if (c != 'u' && c != 'U')
    return toml_lex_fail(s, at,
                         "unknown escape. Fix: use one of \\b \\t \\n \\f \\r \\\" \\\\ \\uXXXX "
                         "\\UXXXXXXXX, or a 'literal string'");
  s->p++;
  uint32_t code;
  if (!parse_hex(s, c == 'u' ? 4 : 8, &code)) return false;
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
    return toml_lex_fail(s, at, "the escape is no character. Fix: use a Unicode scalar value");
  utf8_put(out, code);
  return true;
}

// A backslash at the end of a line joins it with the next text, leaving out white space.
static bool skip_line_join(toml_lexer *s) {
  const char *p = s->p;
  toml_lex_skip_blanks(s);
  if (!toml_lex_at_newline(s)) {
    s->p = p;
    return false;
  }
  while (toml_lex_at_newline(s)) {
    toml_lex_skip_newline(s);
    toml_lex_skip_blanks(s);
  }
  return true;
}

static bool parse_string_body(toml_lexer *s, char quote, bool is_long, strbuf *out) {
  const char *open = s->p;
  const char closing[] = {quote, quote, quote, 0};
  s->p += is_long ? 3 : 1;
  if (is_long && toml_lex_at_newline(s)) toml_lex_skip_newline(s);
  for (;;) {
    if (s->p >= s->end || (!is_long && toml_lex_at_newline(s)))
      return toml_lex_fail(s, open, "the string does not end. Fix: close it with %s",
                           is_long ? closing : closing + 2);
    if (*s->p == quote && (!is_long || toml_lex_starts_with(s, closing))) break;
    if (toml_lex_at_newline(s)) {
      toml_lex_skip_newline(s);
      strbuf_putc(out, '\n');
    } else if (*s->p == '\\' && quote == '"') {
      s->p++;
      if (!(is_long && skip_line_join(s)) && !parse_escape(s, out)) return false;
    } else if (is_control(toml_lex_peek(s))) {
      return toml_lex_fail(s, s->p, "a string holds a control character. Fix: write it as \\uXXXX");
    } else {
      strbuf_putc(out, *s->p++);
    }
  }
  s->p += is_long ? 3 : 1;
  // Up to two quotes may stand directly before the closing three.
  for (int i = 0; is_long && i < 2 && toml_lex_peek(s) == quote; i++, s->p++)
    strbuf_putc(out, quote);
  return true;
}

bool toml_lex_string(toml_lexer *s, bool is_key, const char **out, size_t *size) {
  char quote = *s->p;
  const char closing[] = {quote, quote, quote, 0};
  bool is_long = toml_lex_starts_with(s, closing);
  if (is_long && is_key)
    return toml_lex_fail(s, s->p, "a key is no multi-line string. Fix: use \"...\" or '...'");
  strbuf text = {0};
  bool ok = parse_string_body(s, quote, is_long, &text);
  if (ok) {
    char *copy =
        text.failed ? NULL : arena_copy_string(s->memory, text.at ? text.at : "", text.size);
    *out = copy;
    *size = text.size;
    if (!copy) ok = toml_lex_no_memory(s);
  }
  strbuf_fini(&text);
  return ok;
}
