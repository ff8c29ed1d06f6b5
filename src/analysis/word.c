// SPDX-License-Identifier: MIT
#include "analysis/word.h"

// ---- intervals of the ring ----------------------------------------------------------------------

static uint64_t wrap(const machine *m, uint64_t x) {
  return x & machine_mask(m);
}

// Sums of sizes, all of the ring when they are more.
static uint64_t size_sum(const machine *m, uint64_t x, uint64_t y) {
  return y > machine_mask(m) - x ? machine_mask(m) : x + y;
}

bool word_wraps(const machine *m, word x) {
  return x.size == machine_mask(m) || x.size > machine_mask(m) - x.lo;
}

void word_bounds(const machine *m, word x, uint64_t *least, uint64_t *most) {
  bool wraps = word_wraps(m, x);
  *least = wraps ? 0 : x.lo;
  *most = wraps ? machine_mask(m) : x.lo + x.size;
}

void word_signed_bounds(const machine *m, word x, int64_t *least, int64_t *most) {
  // Moved by half of the ring, signed order is unsigned order.
  uint64_t half = (uint64_t)1 << (m->bits - 1), lo, hi;
  word_bounds(m, (word){.lo = wrap(m, x.lo + half), .size = x.size}, &lo, &hi);
  *least = (int64_t)(lo - half);
  *most = (int64_t)(hi - half);
}

// The smaller of the two intervals that hold both.
static word hull(const machine *m, word x, word y, void *made) {
  uint64_t all = machine_mask(m), ahead = wrap(m, y.lo - x.lo), behind = wrap(m, x.lo - y.lo);
  uint64_t from_x = size_sum(m, ahead, y.size), from_y = size_sum(m, behind, x.size);
  if (from_x < x.size) from_x = x.size;
  if (from_y < y.size) from_y = y.size;
  if (from_x == all && from_y == all) return (word){.size = all, .made = made};
  return from_x <= from_y ? (word){x.lo, from_x, made} : (word){y.lo, from_y, made};
}

// ---- what is made -------------------------------------------------------------------------------

static void *plan_number(void *context, uint64_t value) {
  (void)context, (void)value;
  return NULL;
}
static void *plan_compute(void *context, word_op op, void *x, void *y) {
  (void)context, (void)op, (void)x, (void)y;
  return NULL;
}
static void *plan_compare(void *context, word_test test, void *x, void *y) {
  (void)context, (void)test, (void)x, (void)y;
  return NULL;
}
static void *plan_choose(void *context, void *condition, void *x, void *y) {
  (void)context, (void)condition, (void)x, (void)y;
  return NULL;
}
static void *plan_both(void *context, void *p, void *q) {
  (void)context, (void)p, (void)q;
  return NULL;
}
static void *plan_opposite(void *context, void *p) {
  (void)context, (void)p;
  return NULL;
}

machine machine_planning(unsigned bits) {
  return (machine){.bits = bits,
                   .number = plan_number,
                   .compute = plan_compute,
                   .compare = plan_compare,
                   .choose = plan_choose,
                   .both = plan_both,
                   .opposite = plan_opposite};
}

word word_number(const machine *m, uint64_t value) {
  return (word){.lo = wrap(m, value)};
}

word word_within(const machine *m, uint64_t lo, uint64_t hi, void *made) {
  return (word){wrap(m, lo), wrap(m, hi - lo), made};
}

word word_narrowed(const machine *m, word x, uint64_t lo, uint64_t hi) {
  return x.size <= hi - lo ? x : word_within(m, lo, hi, x.made);
}

void *word_made(const machine *m, word x) {
  return word_is_known(x) ? m->number(m->context, x.lo) : x.made;
}

bool word_is_same(word x, word y) {
  if (word_is_known(x) || word_is_known(y)) return !x.size && !y.size && x.lo == y.lo;
  return x.made && x.made == y.made;
}

bool word_is(const machine *m, word x, uint64_t value) {
  return word_is_known(x) && x.lo == wrap(m, value);
}

static void *compute(const machine *m, word_op op, word x, word y) {
  return m->compute(m->context, op, word_made(m, x), word_made(m, y));
}

// ---- the ring -----------------------------------------------------------------------------------

word word_plus(const machine *m, word x, word y) {
  if (word_is(m, x, 0)) return y;
  if (word_is(m, y, 0)) return x;
  word r = {wrap(m, x.lo + y.lo), size_sum(m, x.size, y.size), NULL};
  if (!word_is_known(r)) r.made = compute(m, WORD_PLUS, x, y);
  return r;
}

word word_minus(const machine *m, word x, word y) {
  if (word_is(m, y, 0)) return x;
  if (word_is_same(x, y)) return word_number(m, 0);
  word r = {wrap(m, x.lo - y.lo - y.size), size_sum(m, x.size, y.size), NULL};
  if (!word_is_known(r)) r.made = compute(m, WORD_MINUS, x, y);
  return r;
}

word word_negative(const machine *m, word x) {
  return word_minus(m, word_number(m, 0), x);
}

__extension__ typedef __int128 integer;

// The integers of an interval, in the place that is closest to 0.
static integer nearest(const machine *m, word x) {
  uint64_t half = (uint64_t)1 << (m->bits - 1);
  return x.lo & half ? (integer)x.lo - machine_mask(m) - 1 : (integer)x.lo;
}

// Products of integers that are congruent to the factors are congruent to the product. Factors in
// an interval wider than a quarter of the ring could pass what is computed with here.
static word product_interval(const machine *m, word x, word y) {
  uint64_t all = machine_mask(m), quarter = all >> 2;
  if (x.size > quarter || y.size > quarter) return (word){.size = all};
  integer a = nearest(m, x), b = nearest(m, y), c = a + x.size, d = b + y.size;
  integer ends[4] = {a * b, a * d, c * b, c * d}, lo = ends[0], hi = ends[0];
  for (int i = 1; i < 4; i++) {
    lo = ends[i] < lo ? ends[i] : lo;
    hi = ends[i] > hi ? ends[i] : hi;
  }
  if (hi - lo > all) return (word){.size = all};
  return (word){.lo = wrap(m, (uint64_t)lo), .size = (uint64_t)(hi - lo)};
}

word word_times(const machine *m, word x, word y) {
  if (word_is(m, x, 1)) return y;
  if (word_is(m, y, 1)) return x;
  if (word_is(m, x, 0) || word_is(m, y, 0)) return word_number(m, 0);
  if (word_is(m, x, UINT64_MAX)) return word_negative(m, y);
  if (word_is(m, y, UINT64_MAX)) return word_negative(m, x);
  word r = product_interval(m, x, y);
  if (!word_is_known(r)) r.made = compute(m, WORD_TIMES, x, y);
  return r;
}

word word_low_bits(const machine *m, word x, unsigned count) {
  uint64_t mask = UINT64_MAX >> (64 - count), least, most;
  word_bounds(m, x, &least, &most);
  if (most <= mask) return x;
  if (word_is_known(x)) return word_number(m, x.lo & mask);
  word r = {.size = mask};
  r.made = compute(m, WORD_AND, x, word_number(m, mask));
  return r;
}

// x + 2^(count-1) wraps where the low bits of x pass their signed end.
word word_low_signed(const machine *m, word x, unsigned count) {
  if (count >= m->bits) return x;
  int64_t least, most, half = (int64_t)1 << (count - 1);
  word_signed_bounds(m, x, &least, &most);
  if (least >= -half && most < half) return x;
  word top = word_number(m, (uint64_t)half);
  return word_minus(m, word_low_bits(m, word_plus(m, x, top), count), top);
}

word word_divide(const machine *m, word x, word y) {
  if (word_is(m, y, 1)) return x;
  uint64_t x0, x1, y0, y1;
  word_bounds(m, x, &x0, &x1);
  word_bounds(m, y, &y0, &y1);
  if (!y0) y0 = 1;
  if (!y1) y1 = 1;
  word r = {.lo = x0 / y1, .size = x1 / y0 - x0 / y1};
  if (!word_is_known(r)) r.made = compute(m, WORD_DIVIDE, x, y);
  return r;
}

static int64_t floor_of(int64_t x, int64_t y) {
  return x / y - (x % y < 0);
}

word word_floor(const machine *m, word x, uint64_t y) {
  if (y == 1) return x;
  int64_t least, most;
  word_signed_bounds(m, x, &least, &most);
  uint64_t lo = (uint64_t)floor_of(least, (int64_t)y), hi = (uint64_t)floor_of(most, (int64_t)y);
  word r = {wrap(m, lo), hi - lo, NULL};
  if (!word_is_known(r)) r.made = compute(m, WORD_FLOOR, x, word_number(m, y));
  return r;
}

// ---- tests --------------------------------------------------------------------------------------

truth truth_known(bool value) {
  return (truth){value ? ANSWER_YES : ANSWER_NO, NULL};
}

static truth ask(const machine *m, word_test test, word x, word y) {
  return (truth){ANSWER_OPEN, m->compare(m->context, test, word_made(m, x), word_made(m, y))};
}

truth word_is_below(const machine *m, word x, word y) {
  uint64_t x0, x1, y0, y1;
  word_bounds(m, x, &x0, &x1);
  word_bounds(m, y, &y0, &y1);
  if (x1 < y0) return truth_known(true);
  if (x0 >= y1 || word_is_same(x, y)) return truth_known(false);
  return ask(m, TEST_BELOW, x, y);
}

truth word_is_before(const machine *m, word x, word y) {
  int64_t x0, x1, y0, y1;
  word_signed_bounds(m, x, &x0, &x1);
  word_signed_bounds(m, y, &y0, &y1);
  if (x1 < y0) return truth_known(true);
  if (x0 >= y1 || word_is_same(x, y)) return truth_known(false);
  return ask(m, TEST_BEFORE, x, y);
}

// Apart: y is not in x's interval, nor x in y's.
truth word_is_equal(const machine *m, word x, word y) {
  if (word_is_same(x, y)) return truth_known(true);
  if (wrap(m, y.lo - x.lo) > x.size && wrap(m, x.lo - y.lo) > y.size) return truth_known(false);
  return ask(m, TEST_SAME, x, y);
}

truth truth_both(const machine *m, truth p, truth q) {
  if (truth_is(p, ANSWER_NO) || truth_is(q, ANSWER_YES)) return p;
  if (truth_is(q, ANSWER_NO) || truth_is(p, ANSWER_YES)) return q;
  return (truth){ANSWER_OPEN, m->both(m->context, p.made, q.made)};
}

truth truth_opposite(const machine *m, truth p) {
  if (!truth_is(p, ANSWER_OPEN)) return truth_known(truth_is(p, ANSWER_NO));
  return (truth){ANSWER_OPEN, m->opposite(m->context, p.made)};
}

truth truth_either(const machine *m, truth p, truth q) {
  return truth_opposite(m, truth_both(m, truth_opposite(m, p), truth_opposite(m, q)));
}

// ---- choices ------------------------------------------------------------------------------------

word word_choose(const machine *m, truth c, word x, word y) {
  if (truth_is(c, ANSWER_YES) || word_is_same(x, y)) return x;
  if (truth_is(c, ANSWER_NO)) return y;
  return hull(m, x, y, m->choose(m->context, c.made, word_made(m, x), word_made(m, y)));
}

word word_least(const machine *m, word x, word y) {
  uint64_t x0, x1, y0, y1;
  word_bounds(m, x, &x0, &x1);
  word_bounds(m, y, &y0, &y1);
  if (x1 <= y0 || word_is_same(x, y)) return x;
  if (y1 <= x0) return y;
  uint64_t lo = x0 < y0 ? x0 : y0, hi = x1 < y1 ? x1 : y1;
  return (word){lo, hi - lo, compute(m, WORD_LEAST, x, y)};
}

word word_lower(const machine *m, word x, word y) {
  int64_t x0, x1, y0, y1;
  word_signed_bounds(m, x, &x0, &x1);
  word_signed_bounds(m, y, &y0, &y1);
  if (x1 <= y0 || word_is_same(x, y)) return x;
  if (y1 <= x0) return y;
  uint64_t lo = (uint64_t)(x0 < y0 ? x0 : y0), hi = (uint64_t)(x1 < y1 ? x1 : y1);
  return (word){wrap(m, lo), hi - lo, compute(m, WORD_LOWER, x, y)};
}

word word_higher(const machine *m, word x, word y) {
  int64_t x0, x1, y0, y1;
  word_signed_bounds(m, x, &x0, &x1);
  word_signed_bounds(m, y, &y0, &y1);
  if (x0 >= y1 || word_is_same(x, y)) return x;
  if (y0 >= x1) return y;
  uint64_t lo = (uint64_t)(x0 > y0 ? x0 : y0), hi = (uint64_t)(x1 > y1 ? x1 : y1);
  return (word){wrap(m, lo), hi - lo, compute(m, WORD_HIGHER, x, y)};
}

// ---- numbers ------------------------------------------------------------------------------------

word word_plus_or_most(const machine *m, word x, word y) {
  uint64_t all = machine_mask(m), x0, x1, y0, y1;
  word_bounds(m, x, &x0, &x1);
  word_bounds(m, y, &y0, &y1);
  word sum = word_plus(m, x, y), most = word_number(m, all);
  if (y1 <= all - x1) return sum;
  if (y0 > all - x0) return most;
  return word_choose(m, word_is_below(m, word_minus(m, most, x), y), most, sum);
}

bool word_product_fits(const machine *m, word x, word y) {
  uint64_t x0, x1, y0, y1;
  word_bounds(m, x, &x0, &x1);
  word_bounds(m, y, &y0, &y1);
  return !x1 || y1 <= machine_mask(m) / x1;
}

word word_times_or_most(const machine *m, word x, word y) {
  if (word_product_fits(m, x, y)) return word_times(m, x, y);
  word most = word_number(m, machine_mask(m));
  if (!word_is_known(x) && !word_is_known(y)) return most;
  word factor = word_is_known(x) ? x : y, other = word_is_known(x) ? y : x;
  word limit = word_number(m, machine_mask(m) / factor.lo); // not 0: a product with 0 fits
  return word_choose(m, word_is_below(m, limit, other), most, word_times(m, x, y));
}
