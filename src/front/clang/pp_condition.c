// SPDX-License-Identifier: MIT
//
// The expressions of #if: integers of 128 bits, which are the widest that clang has for OpenCL C,
// signed unless a u says otherwise.
#include "base/ascii.h"
#include "front/clang/pp.h"

#include <string.h>

__extension__ typedef unsigned __int128 wide;
__extension__ typedef __int128 signed_wide;

typedef struct number {
  wide bits;
  bool is_unsigned;
} number;

typedef struct reader {
  pp *p;
  const pp_token *at, *end;
  uint32_t depth;
} reader;

enum { MOST_DEPTH = 200 };

static bool take(reader *r, const char *text) {
  if (r->at == r->end || r->at->kind != PP_PUNCT || !pp_is(r->at, text)) return false;
  r->at++;
  return true;
}

// None, or a u before or behind l or ll, which is not of two cases.
static bool is_unsigned_suffix(reader *r, const char *at, const char *end) {
  bool is_first = at < end && ascii_lower(*at) == 'u';
  at += is_first;
  if (at < end && ascii_lower(*at) == 'l') at += at + 1 < end && at[1] == at[0] ? 2 : 1;
  bool is_last = !is_first && at < end && ascii_lower(*at) == 'u';
  if (at + is_last != end) pp_give_up(r->p);
  return is_first || is_last;
}

static number literal(reader *r, const pp_token *t) {
  const char *at = t->text, *end = t->text + t->size;
  unsigned base = 10;
  if (*at == '0' && t->size > 1) {
    char next = ascii_lower(at[1]);
    base = next == 'x' ? 16 : next == 'b' ? 2 : 8;
    at += base == 8 ? 1 : 2;
    if (at == end) pp_give_up(r->p);
  }
  number n = {0};
  for (; at < end && ascii_is_hex_digit(*at); at++) {
    unsigned digit =
        ascii_is_digit(*at) ? (unsigned)(*at - '0') : (unsigned)(ascii_lower(*at) - 'a' + 10);
    if (digit >= base || n.bits > (UINT64_MAX - digit) / base) pp_give_up(r->p);
    n.bits = n.bits * base + digit;
  }
  n.is_unsigned = is_unsigned_suffix(r, at, end);
  return n;
}

static number choice(reader *r, bool is_used);

static number unary(reader *r, bool is_used) {
  if (++r->depth > MOST_DEPTH || r->at == r->end) pp_give_up(r->p);
  number n;
  if (take(r, "(")) {
    n = choice(r, is_used);
    if (!take(r, ")")) pp_give_up(r->p);
  } else if (take(r, "!")) {
    n = (number){!unary(r, is_used).bits, false};
  } else if (take(r, "~")) {
    n = unary(r, is_used);
    n.bits = ~n.bits;
  } else if (take(r, "-")) {
    n = unary(r, is_used);
    n.bits = -n.bits;
  } else if (take(r, "+")) {
    n = unary(r, is_used);
  } else if (r->at->kind == PP_NUMBER) {
    n = literal(r, r->at++);
  } else if (r->at->kind == PP_CHAR && r->at->size == 3 && r->at->text[1] > 0) {
    n = (number){(wide)r->at++->text[1], false};
  } else if (r->at->kind == PP_WORD && !pp_is(r->at, "defined") && !pp_is(r->at, "true") &&
             !pp_is(r->at, "false")) {
    r->at++;
    n = (number){0};
  } else {
    pp_give_up(r->p);
  }
  r->depth--;
  return n;
}

static const struct operation {
  const char *text;
  int level;
} operations[] = {{"*", 10}, {"/", 10}, {"%", 10}, {"+", 9}, {"-", 9},  {"<<", 8},
                  {">>", 8}, {"<", 7},  {"<=", 7}, {">", 7}, {">=", 7}, {"==", 6},
                  {"!=", 6}, {"&", 5},  {"^", 4},  {"|", 3}, {"&&", 2}, {"||", 1}};

static const struct operation *operation_at(const reader *r) {
  for (size_t i = 0; r->at < r->end && i < sizeof operations / sizeof *operations; i++)
    if (r->at->kind == PP_PUNCT && pp_is(r->at, operations[i].text)) return &operations[i];
  return NULL;
}

static bool less(number a, number b, bool is_unsigned) {
  return is_unsigned ? a.bits < b.bits : (signed_wide)a.bits < (signed_wide)b.bits;
}

static number divide(reader *r, number a, number b, bool is_rest, bool is_unsigned, bool is_used) {
  if (!b.bits || (!is_unsigned && b.bits == ~(wide)0)) {
    if (is_used || b.bits) pp_give_up(r->p);
    return (number){0, is_unsigned};
  }
  if (is_unsigned) return (number){is_rest ? a.bits % b.bits : a.bits / b.bits, true};
  signed_wide x = (signed_wide)a.bits, y = (signed_wide)b.bits;
  return (number){(wide)(is_rest ? x % y : x / y), false};
}

static number shift(reader *r, number a, number b, bool is_left) {
  if (b.bits > 127) pp_give_up(r->p);
  if (is_left) return (number){a.bits << b.bits, a.is_unsigned};
  if (a.is_unsigned || (signed_wide)a.bits >= 0) return (number){a.bits >> b.bits, a.is_unsigned};
  return (number){~(~a.bits >> b.bits), false};
}

static number apply(reader *r, const char *text, number a, number b, bool is_used) {
  bool u = a.is_unsigned || b.is_unsigned;
  switch (text[0]) {
  case '*': return (number){a.bits * b.bits, u};
  case '/':
  case '%': return divide(r, a, b, text[0] == '%', u, is_used);
  case '+': return (number){a.bits + b.bits, u};
  case '-': return (number){a.bits - b.bits, u};
  case '^': return (number){a.bits ^ b.bits, u};
  case '=': return (number){a.bits == b.bits, false};
  case '!': return (number){a.bits != b.bits, false};
  case '&': return text[1] ? (number){a.bits && b.bits, false} : (number){a.bits & b.bits, u};
  case '|': return text[1] ? (number){a.bits || b.bits, false} : (number){a.bits | b.bits, u};
  case '<':
    if (text[1] == '<') return shift(r, a, b, true);
    return (number){text[1] ? !less(b, a, u) : less(a, b, u), false};
  case '>':
    if (text[1] == '>') return shift(r, a, b, false);
    return (number){text[1] ? !less(a, b, u) : less(b, a, u), false};
  }
  pp_give_up(r->p);
}

static number binary(reader *r, int level, bool is_used) {
  number a = unary(r, is_used);
  for (const struct operation *o; (o = operation_at(r)) && o->level >= level;) {
    r->at++;
    bool is_decided = (!strcmp(o->text, "&&") && !a.bits) || (!strcmp(o->text, "||") && a.bits);
    number b = binary(r, o->level + 1, is_used && !is_decided);
    a = apply(r, o->text, a, b, is_used);
  }
  return a;
}

static number choice(reader *r, bool is_used) {
  number condition = binary(r, 1, is_used);
  if (!take(r, "?")) return condition;
  if (++r->depth > MOST_DEPTH) pp_give_up(r->p);
  number a = choice(r, is_used && condition.bits);
  if (!take(r, ":")) pp_give_up(r->p);
  number b = choice(r, is_used && !condition.bits);
  r->depth--;
  return (number){condition.bits ? a.bits : b.bits, a.is_unsigned || b.is_unsigned};
}

// `defined NAME` and `defined(NAME)` are answered before anything is expanded.
static pp_list read_words(pp *p, const char *at, const char *end) {
  pp_list words = {0};
  for (pp_token t; (t = pp_lex(p, &at, end)).kind != PP_END;) {
    if (t.kind != PP_WORD || !pp_is(&t, "defined")) {
      pp_push(p, &words, t);
      continue;
    }
    pp_token name = pp_lex(p, &at, end);
    bool is_open = pp_is(&name, "(");
    if (is_open) name = pp_lex(p, &at, end);
    const pp_macro *m = name.kind == PP_WORD ? pp_find(p, name.text, name.size) : NULL;
    if (name.kind != PP_WORD || (m && m->meaning == PP_FOREIGN)) pp_give_up(p);
    pp_token close = is_open ? pp_lex(p, &at, end) : name;
    if (is_open && !pp_is(&close, ")")) pp_give_up(p);
    pp_push(p, &words, (pp_token){.text = m ? "1" : "0", .size = 1, .kind = PP_NUMBER});
  }
  return words;
}

bool pp_condition(pp *p, const char *at, const char *end) {
  pp_list words = read_words(p, at, end);
  pp_list made = pp_expand(p, &words);
  reader r = {p, made.at, made.at + made.count, 0};
  number n = choice(&r, true);
  if (r.at != r.end) pp_give_up(p);
  return n.bits != 0;
}
