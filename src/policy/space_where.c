// SPDX-License-Identifier: MIT
#include "policy/space_where.h"

#include "base/ascii.h"
#include "base/decimal.h"
#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum where_op {
  WHERE_NUMBER,
  WHERE_PARAM,
  WHERE_NOT,
  WHERE_NEGATE,
  WHERE_ADD,
  WHERE_SUBTRACT,
  WHERE_MULTIPLY,
  WHERE_DIVIDE,
  WHERE_FLOOR_DIVIDE,
  WHERE_MODULO,
  WHERE_POWER,
  WHERE_LESS,
  WHERE_LESS_EQUAL,
  WHERE_GREATER,
  WHERE_GREATER_EQUAL,
  WHERE_EQUAL,
  WHERE_NOT_EQUAL,
  WHERE_AND,
  WHERE_OR,
  WHERE_MIN,
  WHERE_MAX,
  WHERE_NONE,
} where_op;

typedef struct where_node {
  where_op op;
  int left, right; // nodes; of a parameter, its number
  double number;
} where_node;

enum { DEEPEST = 64, FAILED = -1 };

// Reading functions give the number of a node, or FAILED.
typedef struct parser {
  const char *at, *end, *begin;
  where_find find;
  const void *context;
  space_where *out;
  uint32_t depth;
  vyre_error *error;
} parser;

void space_where_fini(space_where *w) {
  free(w->nodes);
  *w = (space_where){0};
}

// ---- reading ------------------------------------------------------------------------------------

static int fail(parser *p, const char *what) {
  error_set(p->error, VYRE_ERROR_SYNTAX,
            "constraint `%.*s`: %s at `%.*s`. Fix: write it as in `TILE * TILE <= 1024 and N %% "
            "TILE == 0`",
            (int)(p->end - p->begin), p->begin, what, (int)(p->end - p->at), p->at);
  return FAILED;
}

static int add(parser *p, where_op op, int left, int right, double number) {
  if (left == FAILED || right == FAILED) return FAILED;
  if (p->out->count == WHERE_NODES) return fail(p, "it is too long");
  p->out->nodes[p->out->count] = (where_node){op, left, right, number};
  return (int)p->out->count++;
}

static void skip_space(parser *p) {
  while (p->at < p->end && ascii_is_space(*p->at)) p->at++;
}

// Takes a sign, or a word that does not go on.
static bool take(parser *p, const char *word) {
  size_t size = strlen(word);
  skip_space(p);
  if ((size_t)(p->end - p->at) < size || memcmp(p->at, word, size) != 0) return false;
  bool goes_on = p->at + size < p->end && ascii_is_word(p->at[size]);
  if (ascii_is_word(word[0]) && goes_on) return false;
  p->at += size;
  return true;
}

static int read_or(parser *p);

static int read_number(parser *p) {
  char text[64], *stop;
  size_t size = 0;
  while (p->at + size < p->end && size < sizeof text - 1 &&
         (ascii_is_word(p->at[size]) || p->at[size] == '.'))
    size++;
  memcpy(text, p->at, size);
  text[size] = 0;
  double number = decimal_read_f64(text, &stop);
  if (stop == text || *stop) return fail(p, "there is no number");
  p->at += size;
  return add(p, WHERE_NUMBER, 0, 0, number);
}

static int end_with(parser *p, const char *sign, int node) {
  return node == FAILED || take(p, sign) ? node : fail(p, "a parenthesis does not end");
}

static int read_call(parser *p, where_op op) {
  if (!take(p, "(")) return fail(p, "arguments are missing");
  int all = read_or(p);
  while (all != FAILED && take(p, ",")) all = add(p, op, all, read_or(p), 0);
  return end_with(p, ")", all);
}

static int read_named(parser *p) {
  if (take(p, "min")) return read_call(p, WHERE_MIN);
  if (take(p, "max")) return read_call(p, WHERE_MAX);
  if (take(p, "True") || take(p, "true")) return add(p, WHERE_NUMBER, 0, 0, 1);
  if (take(p, "False") || take(p, "false")) return add(p, WHERE_NUMBER, 0, 0, 0);
  size_t size = 0;
  while (p->at + size < p->end && ascii_is_word(p->at[size])) size++;
  int param = p->find(p->context, p->at, size);
  if (param < 0) return fail(p, "there is no such parameter");
  p->at += size;
  return add(p, WHERE_PARAM, param, 0, 0);
}

static int read_primary(parser *p) {
  skip_space(p);
  if (p->at == p->end) return fail(p, "it ends too soon");
  if (take(p, "(")) return end_with(p, ")", read_or(p));
  if (ascii_is_digit(*p->at) || *p->at == '.') return read_number(p);
  return ascii_is_word(*p->at) ? read_named(p) : fail(p, "nothing can be made of it");
}

static int read_signed(parser *p) {
  if (++p->depth > DEEPEST) return fail(p, "it is nested too deeply");
  int node;
  if (take(p, "-")) {
    node = add(p, WHERE_NEGATE, read_signed(p), 0, 0);
  } else if (take(p, "+")) {
    node = read_signed(p);
  } else {
    node = read_primary(p);
    if (node != FAILED && take(p, "**")) node = add(p, WHERE_POWER, node, read_signed(p), 0);
  }
  p->depth--;
  return node;
}

static where_op take_product(parser *p) {
  return take(p, "//")  ? WHERE_FLOOR_DIVIDE
         : take(p, "*") ? WHERE_MULTIPLY
         : take(p, "/") ? WHERE_DIVIDE
         : take(p, "%") ? WHERE_MODULO
                        : WHERE_NONE;
}

static int read_product(parser *p) {
  int node = read_signed(p);
  for (where_op op; node != FAILED && (op = take_product(p)) != WHERE_NONE;)
    node = add(p, op, node, read_signed(p), 0);
  return node;
}

static where_op take_sum(parser *p) {
  return take(p, "+") ? WHERE_ADD : take(p, "-") ? WHERE_SUBTRACT : WHERE_NONE;
}

static int read_sum(parser *p) {
  int node = read_product(p);
  for (where_op op; node != FAILED && (op = take_sum(p)) != WHERE_NONE;)
    node = add(p, op, node, read_product(p), 0);
  return node;
}

static where_op take_comparison(parser *p) {
  return take(p, "<=")   ? WHERE_LESS_EQUAL
         : take(p, ">=") ? WHERE_GREATER_EQUAL
         : take(p, "==") ? WHERE_EQUAL
         : take(p, "!=") ? WHERE_NOT_EQUAL
         : take(p, "<")  ? WHERE_LESS
         : take(p, ">")  ? WHERE_GREATER
                         : WHERE_NONE;
}

// `a in [1, 2]` is `a == 1 or a == 2`.
static int read_list(parser *p, int value) {
  const char *end = take(p, "[") ? "]" : take(p, "(") ? ")" : NULL;
  if (!end) return fail(p, "a list is missing");
  int any = add(p, WHERE_EQUAL, value, read_sum(p), 0);
  while (any != FAILED && take(p, ","))
    any = add(p, WHERE_OR, any, add(p, WHERE_EQUAL, value, read_sum(p), 0), 0);
  return end_with(p, end, any);
}

// `a <= b < c` is `a <= b and b < c`.
static int read_relation(parser *p) {
  int left = read_sum(p), all = left;
  if (left == FAILED) return FAILED;
  if (take(p, "in")) return read_list(p, left);
  bool is_first = true;
  for (where_op op; all != FAILED && (op = take_comparison(p)) != WHERE_NONE; is_first = false) {
    int right = read_sum(p), holds = add(p, op, left, right, 0);
    all = is_first ? holds : add(p, WHERE_AND, all, holds, 0);
    left = right;
  }
  return all;
}

static int read_not(parser *p) {
  if (++p->depth > DEEPEST) return fail(p, "it is nested too deeply");
  skip_space(p);
  bool is_unequal = p->end - p->at > 1 && p->at[0] == '!' && p->at[1] == '=';
  bool is_not = take(p, "not") || (!is_unequal && take(p, "!"));
  int node = is_not ? add(p, WHERE_NOT, read_not(p), 0, 0) : read_relation(p);
  p->depth--;
  return node;
}

static int read_and(parser *p) {
  int node = read_not(p);
  while (node != FAILED && (take(p, "and") || take(p, "&&")))
    node = add(p, WHERE_AND, node, read_not(p), 0);
  return node;
}

static int read_or(parser *p) {
  if (++p->depth > DEEPEST) return fail(p, "it is nested too deeply");
  int node = read_and(p);
  while (node != FAILED && (take(p, "or") || take(p, "||")))
    node = add(p, WHERE_OR, node, read_and(p), 0);
  p->depth--;
  return node;
}

vyre_status space_where_parse(const char *text, size_t size, where_find find, const void *context,
                              space_where *out, vyre_error *error) {
  *out = (space_where){calloc(WHERE_NODES, sizeof *out->nodes), 0};
  if (!out->nodes) return error_out_of_memory(error);
  parser p = {.at = text,
              .begin = text,
              .end = text + size,
              .find = find,
              .context = context,
              .out = out,
              .error = error};
  int node = read_or(&p);
  skip_space(&p);
  if (node != FAILED && p.at != p.end) node = fail(&p, "it does not end");
  if (node != FAILED) return VYRE_OK;
  space_where_fini(out);
  return VYRE_ERROR_SYNTAX;
}

// ---- using --------------------------------------------------------------------------------------

static double floor_modulo(double a, double b) {
  return b == 0 ? (double)NAN : a - b * floor(a / b);
}

static bool is_true(double x) {
  return x != 0 && !isnan(x);
}

static double apply(where_op op, double a, double b) {
  switch (op) {
  case WHERE_NOT: return !is_true(a);
  case WHERE_NEGATE: return -a;
  case WHERE_ADD: return a + b;
  case WHERE_SUBTRACT: return a - b;
  case WHERE_MULTIPLY: return a * b;
  case WHERE_DIVIDE: return b == 0 ? (double)NAN : a / b;
  case WHERE_FLOOR_DIVIDE: return b == 0 ? (double)NAN : floor(a / b);
  case WHERE_MODULO: return floor_modulo(a, b);
  case WHERE_POWER: return pow(a, b);
  case WHERE_LESS: return a < b;
  case WHERE_LESS_EQUAL: return a <= b;
  case WHERE_GREATER: return a > b;
  case WHERE_GREATER_EQUAL: return a >= b;
  case WHERE_EQUAL: return a == b;
  case WHERE_NOT_EQUAL: return a != b;
  case WHERE_AND: return is_true(a) && is_true(b);
  case WHERE_OR: return is_true(a) || is_true(b);
  case WHERE_MIN: return a < b ? a : b;
  case WHERE_MAX: return a > b ? a : b;
  default: return 0;
  }
}

double space_where_value(const space_where *w, const double *values) {
  double found[WHERE_NODES] = {0};
  for (uint32_t i = 0; i < w->count; i++) {
    const where_node *n = &w->nodes[i];
    found[i] = n->op == WHERE_NUMBER  ? n->number
               : n->op == WHERE_PARAM ? values[n->left]
                                      : apply(n->op, found[n->left], found[n->right]);
  }
  return found[w->count - 1];
}

bool space_where_holds(const space_where *w, const double *values) {
  return is_true(space_where_value(w, values));
}
