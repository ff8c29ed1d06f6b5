// SPDX-License-Identifier: MIT
#include "stretch_check.h"

#include <string.h>

// ---- a machine of numbers -----------------------------------------------------------------------

typedef struct numbers {
  unsigned bits;
  uintptr_t made; // so that no two results are the same to who looks at handles
  bool is_bad;
} numbers;

static uint64_t mask_of(unsigned bits) {
  return UINT64_MAX >> (64 - bits);
}

static int64_t as_signed(unsigned bits, uint64_t x) {
  return (int64_t)(x << (64 - bits)) >> (64 - bits);
}

static void *handle(numbers *n, uint64_t value) {
  return (void *)(++n->made << 8 | (uintptr_t)(value & mask_of(n->bits)));
}

static uint64_t value_of(void *made) {
  return (uintptr_t)made & 0xff;
}

static void *make_number(void *context, uint64_t value) {
  return handle(context, value);
}

static void *make_compute(void *context, word_op op, void *p, void *q) {
  numbers *n = context;
  uint64_t x = value_of(p), y = value_of(q);
  int64_t sx = as_signed(n->bits, x), sy = as_signed(n->bits, y);
  switch (op) {
  case WORD_PLUS: return handle(n, x + y);
  case WORD_MINUS: return handle(n, x - y);
  case WORD_TIMES: return handle(n, x * y);
  case WORD_AND: return handle(n, x & y);
  case WORD_DIVIDE:
    if (!y) n->is_bad = true;
    return handle(n, y ? x / y : 0);
  case WORD_FLOOR:
    if (sy <= 0) n->is_bad = true;
    return handle(n, sy > 0 ? (uint64_t)(sx / sy - (sx % sy < 0)) : 0);
  case WORD_LEAST: return handle(n, x < y ? x : y);
  case WORD_LOWER: return handle(n, sx < sy ? x : y);
  case WORD_HIGHER: return handle(n, sx > sy ? x : y);
  }
  return NULL;
}

static void *make_compare(void *context, word_test test, void *p, void *q) {
  numbers *n = context;
  uint64_t x = value_of(p), y = value_of(q);
  switch (test) {
  case TEST_BELOW: return handle(n, x < y);
  case TEST_BEFORE: return handle(n, as_signed(n->bits, x) < as_signed(n->bits, y));
  case TEST_SAME: return handle(n, x == y);
  }
  return NULL;
}

static void *make_choose(void *context, void *condition, void *x, void *y) {
  return handle(context, value_of(value_of(condition) ? x : y));
}

static void *make_both(void *context, void *p, void *q) {
  return handle(context, value_of(p) && value_of(q));
}

static void *make_opposite(void *context, void *p) {
  return handle(context, !value_of(p));
}

// ---- cases --------------------------------------------------------------------------------------

typedef struct bench {
  const check_case *t;
  numbers n;
  machine m;
  calculus c;
  uint32_t random;
} bench;

static uint32_t next(bench *b) {
  b->random = b->random * 1664525u + 1013904223u;
  return b->random >> 16;
}

// The number with an interval around it.
static word told(bench *b, uint64_t value, uint64_t before, uint64_t behind) {
  uint64_t mask = mask_of(b->n.bits);
  value &= mask;
  if (before + behind > mask) before = value, behind = mask - value;
  word w = {(value - before) & mask, before + behind, NULL};
  if (w.size) w.made = handle(&b->n, value);
  return w;
}

static word give(bench *b, uint64_t value, bool is_stride) {
  switch (b->t->knowledge) {
  case KNOWS_ALL: return told(b, value, 0, 0);
  case KNOWS_STRIDES:
    if (is_stride) return told(b, value, 0, 0);
    break;
  case KNOWS_RANGES:
    if (is_stride && next(b) % 2) return told(b, value, 0, 0);
    return told(b, value, next(b) % 4, next(b) % 4);
  case KNOWS_NOTHING:
  case KNOWLEDGE_COUNT: break;
  }
  return told(b, value, mask_of(b->n.bits), 1);
}

// Positions are below a quarter of the ring, and said to be.
static word give_position(bench *b, uint64_t value, bool is_end) {
  uint64_t most = (mask_of(b->n.bits) >> 2);
  if (b->t->knowledge == KNOWS_ALL) return told(b, value, 0, 0);
  if (b->t->knowledge == KNOWS_RANGES && next(b) % 2) return told(b, value, is_end ? value : 0, 0);
  return told(b, value, value, most - value);
}

static void begin(bench *b, const check_case *t) {
  *b = (bench){.t = t, .n = {.bits = t->bits}, .random = t->seed};
  b->m = (machine){t->bits,      &b->n,       make_number, make_compute,
                   make_compare, make_choose, make_both,   make_opposite};
  b->c = (calculus){.m = &b->m, .wants = WANTS_MUST | WANTS_MAY};
  b->c.first = give_position(b, t->first, false);
  b->c.end = give_position(b, t->end, true);
}

static form give_form(bench *b, check_form f) {
  return (form){give(b, f.stride, true), give(b, f.base, false), give(b, f.spread, false),
                must_all(&b->c)};
}

// What a word turned out to be; outside of its interval is a fault of the rules for words.
static uint64_t look(bench *b, word w) {
  uint64_t mask = mask_of(b->n.bits), value = w.size ? value_of(w.made) : w.lo;
  if (((value - w.lo) & mask) > w.size) b->n.is_bad = true;
  return value;
}

static bool is_in(bench *b, word first, word end, unsigned x) {
  int64_t low = as_signed(b->n.bits, look(b, first)), high = as_signed(b->n.bits, look(b, end));
  return low <= (int64_t)x && (int64_t)x < high;
}

// The law of a form, as numbers of the type.
static int64_t value_at(const check_case *t, check_form f, unsigned x, unsigned extra) {
  uint64_t v = ((uint64_t)f.base + (uint64_t)f.stride * x + extra) & mask_of(t->type.bits);
  return t->type.is_signed ? as_signed(t->type.bits, v) : (int64_t)v;
}

static unsigned spread_of(const check_case *t, check_form f) {
  unsigned most = (unsigned)mask_of(t->type.bits);
  return f.spread < most ? f.spread : most;
}

typedef struct extremes {
  int64_t least, most;
} extremes;

static extremes extremes_at(const check_case *t, check_form f, unsigned x) {
  extremes e = {value_at(t, f, x, 0), value_at(t, f, x, 0)};
  for (unsigned i = 1; i <= spread_of(t, f); i++) {
    int64_t v = value_at(t, f, x, i);
    e.least = v < e.least ? v : e.least;
    e.most = v > e.most ? v : e.most;
  }
  return e;
}

// ---- relations ----------------------------------------------------------------------------------

typedef enum relation { LESS, LESS_EQUAL, EQUAL, UNEQUAL, RELATIONS } relation;

static const char *const relation_names[] = {"less", "less_equal", "equal", "unequal"};

static bool is_related(relation r, int64_t x, int64_t y) {
  switch (r) {
  case LESS: return x < y;
  case LESS_EQUAL: return x <= y;
  case EQUAL: return x == y;
  case UNEQUAL:
  case RELATIONS: break;
  }
  return x != y;
}

// Whether the form stays within its type along the row: then the answer has to be exact.
static bool is_unwrapped(const check_case *t, check_form f) {
  int64_t low = t->type.is_signed ? -((int64_t)1 << (t->type.bits - 1)) : 0;
  int64_t high = low + (int64_t)mask_of(t->type.bits);
  int64_t stride = as_signed(t->type.bits, f.stride & mask_of(t->type.bits));
  int64_t base = value_at(t, f, t->first, 0), length = t->end - t->first;
  int64_t last = base + stride * (length - 1);
  return base >= low && base + f.spread <= high && last >= low && last + f.spread <= high;
}

// Whether it is so without taking anything modulo the type's width: (un)equal things are compared
// by their order only then.
static bool is_natural(const check_case *t, check_form f) {
  int64_t low = t->type.is_signed ? -((int64_t)1 << (t->type.bits - 1)) : 0;
  int64_t high = low + (int64_t)mask_of(t->type.bits), stride = as_signed(t->bits, f.stride);
  int64_t base = t->type.is_signed ? as_signed(t->bits, f.base) : (int64_t)f.base;
  int64_t one = base + stride * t->first, other = base + stride * t->end;
  return one >= low && other >= low && one + f.spread <= high && other + f.spread <= high;
}

static bool every_pair(const check_case *t, relation r, unsigned x) {
  extremes a = extremes_at(t, t->a, x), b = extremes_at(t, t->b, x);
  if (r == LESS) return a.most < b.least;
  if (r == LESS_EQUAL) return a.most <= b.least;
  for (unsigned i = 0; i <= spread_of(t, t->a); i++)
    for (unsigned k = 0; k <= spread_of(t, t->b); k++)
      if (!is_related(r, value_at(t, t->a, x, i), value_at(t, t->b, x, k))) return false;
  return true;
}

static bool some_pair(const check_case *t, relation r, unsigned x) {
  extremes a = extremes_at(t, t->a, x), b = extremes_at(t, t->b, x);
  if (r == LESS) return a.least < b.most;
  if (r == LESS_EQUAL) return a.least <= b.most;
  for (unsigned i = 0; i <= spread_of(t, t->a); i++)
    for (unsigned k = 0; k <= spread_of(t, t->b); k++)
      if (is_related(r, value_at(t, t->a, x, i), value_at(t, t->b, x, k))) return true;
  return false;
}

static fact ask(bench *b, relation r, form x, form y) {
  switch (r) {
  case LESS: return fact_less(&b->c, x, y, b->t->type);
  case LESS_EQUAL: return fact_less_equal(&b->c, x, y, b->t->type);
  case EQUAL: return fact_equal(&b->c, x, y, b->t->type);
  case UNEQUAL:
  case RELATIONS: break;
  }
  return fact_unequal(&b->c, x, y, b->t->type);
}

// The longest run of x with `holds`, and the hull of all of them.
typedef struct runs {
  unsigned longest, first, end;
} runs;

static runs runs_of(const bool *holds, unsigned first, unsigned end) {
  runs r = {0, end, first};
  unsigned now = 0;
  for (unsigned x = first; x < end; x++) {
    now = holds[x] ? now + 1 : 0;
    r.longest = now > r.longest ? now : r.longest;
    if (!holds[x]) continue;
    if (r.first == end) r.first = x;
    r.end = x + 1;
  }
  return r;
}

static check_result check_relation(const check_case *t, relation r) {
  bench b;
  begin(&b, t);
  fact f = ask(&b, r, give_form(&b, t->a), give_form(&b, t->b));
  bool every[64] = {false}, some[64] = {false};
  unsigned certain = 0, possible = 0;
  for (unsigned x = t->first; x < t->end; x++) {
    every[x] = every_pair(t, r, x);
    some[x] = some_pair(t, r, x);
    bool in_must = is_in(&b, f.must.first, f.must.end, x);
    bool in_may = is_in(&b, f.may.first, f.may.end, x);
    certain += in_must;
    possible += in_may;
    if (in_must && !every[x]) return (check_result){relation_names[r], x};
    if (some[x] && !in_may) return (check_result){"may", x};
  }
  for (unsigned x = 0; x < 64; x++) // nothing outside of the row
    if ((x < t->first || x >= t->end) && is_in(&b, f.must.first, f.must.end, x))
      return (check_result){"outside of the row", x};
  if (b.n.is_bad) return (check_result){"a word outside of its interval", 0};
  runs e = runs_of(every, t->first, t->end), s = runs_of(some, t->first, t->end);
  bool is_exact = is_unwrapped(t, t->a) && is_unwrapped(t, t->b);
  if (r == EQUAL || r == UNEQUAL)
    is_exact &= t->knowledge == KNOWS_ALL && is_natural(t, t->a) && is_natural(t, t->b);
  if (!is_exact) return (check_result){NULL, 0};
  if (r != UNEQUAL && certain < e.longest) return (check_result){"too short", 0};
  if (r != EQUAL && s.first < s.end && possible > s.end - s.first)
    return (check_result){"may is too long", 0};
  return (check_result){NULL, 0};
}

check_result check_relations(const check_case *t) {
  for (int r = 0; r < RELATIONS; r++) {
    check_result c = check_relation(t, (relation)r);
    if (c.wrong) return c;
  }
  return (check_result){NULL, 0};
}

// ---- indices ------------------------------------------------------------------------------------

// As signed words: where it says so, every number is within 0..length-1.
check_result check_within(const check_case *t) {
  bench b;
  begin(&b, t);
  word most = word_minus(&b.m, give(&b, t->length, false), word_number(&b.m, 1));
  must in = must_within(&b.c, give_form(&b, t->a), word_number(&b.m, 0), most);
  int64_t last = as_signed(t->bits, (t->length - 1u) & mask_of(t->bits));
  for (unsigned x = t->first; x < t->end; x++) {
    if (!is_in(&b, in.first, in.end, x)) continue;
    for (unsigned i = 0; i <= t->a.spread; i++) {
      uint64_t v = ((uint64_t)t->a.base + (uint64_t)t->a.stride * x + i) & mask_of(t->bits);
      int64_t s = as_signed(t->bits, v);
      if (s < 0 || s > last) return (check_result){"within", x};
    }
  }
  return (check_result){b.n.is_bad ? "a word outside of its interval" : NULL, 0};
}

// ---- operations on forms ------------------------------------------------------------------------

// Whether a value is one of those that the form allows at x, where it says anything.
static bool obeys(bench *b, form f, unsigned bits, unsigned x, uint64_t value) {
  if (!is_in(b, f.valid.first, f.valid.end, x)) return true;
  uint64_t mask = mask_of(bits), spread = look(b, f.spread);
  uint64_t start = look(b, f.base) + look(b, f.stride) * x;
  return ((value - start) & mask) <= spread || spread >= mask;
}

typedef struct operation {
  const char *name;
  form made;
  unsigned bits; // of the result
} operation;

// The result for one pair of numbers, as bits.
static uint64_t apply(const check_case *t, int which, int64_t x, int64_t y) {
  switch (which) {
  case 0: return (uint64_t)(x + y);
  case 1: return (uint64_t)(x - y);
  case 2: return (uint64_t)-x;
  case 3: return (uint64_t)(x * as_signed(t->bits, t->length));
  case 4: return (uint64_t)x; // to a wider type
  case 5: return (uint64_t)x; // to a narrower one
  case 6: return (uint64_t)(x < y ? x : y);
  default: return (uint64_t)(x > y ? x : y);
  }
}

static check_result check_counter(bench *b, const check_case *t, form f) {
  for (unsigned x = t->first; x < t->end; x++)
    for (unsigned i = 0; i <= spread_of(t, t->a); i++)
      for (unsigned k = 0; k <= spread_of(t, t->b); k++)
        for (int64_t turn = value_at(t, t->a, x, i); turn < value_at(t, t->b, x, k); turn++)
          if (!obeys(b, f, t->type.bits, x, (uint64_t)turn)) return (check_result){"counter", x};
  return (check_result){NULL, 0};
}

check_result check_forms(const check_case *t) {
  bench b;
  begin(&b, t);
  form x = give_form(&b, t->a), y = give_form(&b, t->b);
  unsigned bits = t->type.bits, narrow = bits > 1 ? bits - 1 : 1;
  int_type wide = {t->bits, true}, small = {narrow, false};
  operation made[] = {
      {"add", form_add(&b.c, x, y), bits},
      {"sub", form_sub(&b.c, x, y), bits},
      {"neg", form_neg(&b.c, x), bits},
      {"mul", form_mul(&b.c, x, give(&b, t->length, true)), bits},
      {"convert, wider", form_convert(&b.c, x, t->type, wide), t->bits},
      {"convert, narrower", form_convert(&b.c, x, t->type, small), narrow},
      {"min", form_min(&b.c, x, y, t->type), bits},
      {"max", form_max(&b.c, x, y, t->type), bits},
  };
  for (unsigned at = t->first; at < t->end; at++)
    for (unsigned i = 0; i <= spread_of(t, t->a); i++)
      for (unsigned k = 0; k <= spread_of(t, t->b); k++)
        for (int o = 0; o < 8; o++) {
          uint64_t v = apply(t, o, value_at(t, t->a, at, i), value_at(t, t->b, at, k));
          if (!obeys(&b, made[o].made, made[o].bits, at, v))
            return (check_result){made[o].name, at};
        }
  // What has as many bits is congruent to the same: nothing is asked, and nothing lost.
  int_type other = {t->type.bits, !t->type.is_signed};
  form same = form_convert(&b.c, x, t->type, other);
  if (memcmp(&same, &x, sizeof x)) return (check_result){"convert, other sign", t->first};
  check_result c = check_counter(&b, t, form_counter(&b.c, x, y, t->type));
  if (!c.wrong && b.n.is_bad) c.wrong = "a word outside of its interval";
  return c;
}
