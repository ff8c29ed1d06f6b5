// SPDX-License-Identifier: MIT
#include "base/ascii.h"
#include "front/clang/pp.h"

#include <string.h>

static bool starts_word(char c) {
  return ascii_is_letter(c) || c == '_' || c == '$';
}

static bool is_in_word(char c) {
  return ascii_is_word(c) || c == '$';
}

bool pp_is(const pp_token *t, const char *text) {
  return t->size == strlen(text) && !memcmp(t->text, text, t->size);
}

// Where the line goes on behind a backslash at `at`; NULL when it does not.
static const char *splice_end(const char *at, const char *end) {
  const char *p = at + 1;
  while (p < end && *p != '\n' && ascii_is_space(*p)) p++;
  return p < end && *p == '\n' ? p + 1 : NULL;
}

// A line that ends with a carriage return alone, as clang reads it.
static bool has_bare_return(const char *text, size_t size) {
  const char *end = text + size;
  for (const char *at = text; (at = memchr(at, '\r', (size_t)(end - at))); at++)
    if (at + 1 == end || at[1] != '\n') return true;
  return false;
}

const char *pp_unspliced(pp *p, const char *text, size_t *size) {
  if (memchr(text, 0, *size) || memmem(text, *size, "\?\?", 2) || memmem(text, *size, "%:", 2) ||
      has_bare_return(text, *size))
    pp_give_up(p);
  if (!memchr(text, '\\', *size)) return text;
  char *made = unit_alloc(p->u, *size + 1, 1), *out = made;
  const char *end = text + *size;
  size_t owed = 0;
  for (const char *at = text; at < end; at++) {
    const char *next = *at == '\\' ? splice_end(at, end) : NULL;
    if (next) {
      owed++;
      at = next - 1;
      continue;
    }
    *out++ = *at;
    for (; *at == '\n' && owed; owed--) *out++ = '\n';
  }
  for (; owed; owed--) *out++ = '\n';
  *size = (size_t)(out - made);
  return made;
}

const char *pp_skip_space(pp *p, const char *at, const char *end, uint32_t *lines) {
  while (at < end) {
    if (*at != '\n' && ascii_is_space(*at)) {
      at++;
    } else if (*at == '/' && at + 1 < end && at[1] == '/') {
      const char *stop = memchr(at, '\n', (size_t)(end - at));
      at = stop ? stop : end;
    } else if (*at == '/' && at + 1 < end && at[1] == '*') {
      const char *stop = memmem(at + 2, (size_t)(end - at - 2), "*/", 2);
      if (!stop) pp_give_up(p);
      for (const char *c = at; c < stop; c++) *lines += *c == '\n';
      at = stop + 2;
    } else {
      break;
    }
  }
  return at;
}

static const char *number_end(const char *at, const char *end) {
  for (at++; at < end; at++) {
    bool is_sign = (*at == '+' || *at == '-') && strchr("eEpP", at[-1]);
    if (!is_in_word(*at) && *at != '.' && !is_sign) break;
  }
  return at;
}

// NULL when the quote is not closed on the line.
static const char *quoted_end(const char *at, const char *end) {
  char quote = *at++;
  while (at < end && *at != quote && *at != '\n') at += *at == '\\' && at + 1 < end ? 2 : 1;
  return at < end && *at == quote ? at + 1 : NULL;
}

static size_t punct_size(const char *at, const char *end) {
  static const char *const all[] = {
      "<<=", ">>=", "...", "##", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&",
      "||",  "*=",  "/=",  "%=", "+=", "-=", "&=", "^=", "|=", "::", "<:", ":>", "<%", "%>"};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    size_t size = strlen(all[i]);
    if ((size_t)(end - at) >= size && !memcmp(at, all[i], size)) return size;
  }
  return 1;
}

pp_token pp_lex(pp *p, const char **at, const char *end) {
  uint32_t lines = 0;
  const char *start = pp_skip_space(p, *at, end, &lines), *stop;
  pp_token t = {.text = start, .kind = PP_END, .has_space = start > *at};
  *at = start;
  if (start == end || *start == '\n') return t;
  char next = start + 1 < end ? start[1] : 0;
  if (starts_word(*start)) {
    t.kind = PP_WORD;
    for (stop = start + 1; stop < end && is_in_word(*stop);) stop++;
    // A prefix of a literal, which OpenCL C does not have and clang may read.
    if (stop < end && (*stop == '"' || *stop == '\'') && stop - start <= 3) pp_give_up(p);
  } else if (ascii_is_digit(*start) || (*start == '.' && ascii_is_digit(next))) {
    t.kind = PP_NUMBER;
    stop = number_end(start, end);
  } else if (*start == '"' || *start == '\'') {
    t.kind = *start == '"' ? PP_STRING : PP_CHAR;
    stop = quoted_end(start, end);
    if (!stop) pp_give_up(p);
  } else if ((unsigned char)*start < ' ' || (unsigned char)*start >= 127 || *start == '\\' ||
             *start == '@' || *start == '`') {
    pp_give_up(p);
  } else {
    t.kind = PP_PUNCT;
    stop = start + punct_size(start, end);
  }
  t.size = (uint32_t)(stop - start);
  *at = stop;
  return t;
}
