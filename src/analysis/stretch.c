// SPDX-License-Identifier: MIT
#include "analysis/stretch.h"

static word number(const calculus *c, uint64_t value) {
  return word_number(c->m, value);
}

// ---- stretches ----------------------------------------------------------------------------------

static truth is_empty(const calculus *c, word first, word end) {
  return truth_opposite(c->m, word_is_before(c->m, first, end));
}

static word length_of(const calculus *c, must a) {
  return word_higher(c->m, word_minus(c->m, a.end, a.first), number(c, 0));
}

must must_none(const calculus *c) {
  return (must){c->first, c->first};
}

must must_all(const calculus *c) {
  return (must){c->first, c->end};
}

must must_and(const calculus *c, must a, must b) {
  return (must){word_higher(c->m, a.first, b.first), word_lower(c->m, a.end, b.end)};
}

static must must_choose(const calculus *c, truth p, must a, must b) {
  return (must){word_choose(c->m, p, a.first, b.first), word_choose(c->m, p, a.end, b.end)};
}

must must_or(const calculus *c, must a, must b) {
  const machine *m = c->m;
  truth apart =
      truth_either(m, word_is_before(m, a.end, b.first), word_is_before(m, b.end, a.first));
  truth empty = truth_either(m, is_empty(c, a.first, a.end), is_empty(c, b.first, b.end));
  truth shorter = word_is_before(m, length_of(c, a), length_of(c, b));
  must all = {word_lower(m, a.first, b.first), word_higher(m, a.end, b.end)};
  return must_choose(c, truth_either(m, apart, empty), must_choose(c, shorter, b, a), all);
}

may may_all(const calculus *c) {
  return (may){c->first, c->end};
}

may may_and(const calculus *c, may a, may b) {
  return (may){word_higher(c->m, a.first, b.first), word_lower(c->m, a.end, b.end)};
}

static may may_choose(const calculus *c, truth p, may a, may b) {
  return (may){word_choose(c->m, p, a.first, b.first), word_choose(c->m, p, a.end, b.end)};
}

may may_or(const calculus *c, may a, may b) {
  may all = {word_lower(c->m, a.first, b.first), word_higher(c->m, a.end, b.end)};
  may rest = may_choose(c, is_empty(c, b.first, b.end), a, all);
  return may_choose(c, is_empty(c, a.first, a.end), b, rest);
}

// Both ends of the row may be certain; a hole inside stays.
may may_of_not(const calculus *c, must a) {
  const machine *m = c->m;
  truth some = word_is_before(m, a.first, a.end);
  truth at_first = truth_both(m, some, truth_opposite(m, word_is_before(m, c->first, a.first)));
  truth at_end = truth_both(m, some, truth_opposite(m, word_is_before(m, a.end, c->end)));
  return (may){word_choose(m, at_first, a.end, c->first), word_choose(m, at_end, a.first, c->end)};
}

fact fact_unknown(const calculus *c) {
  return (fact){must_none(c), may_all(c)};
}

fact fact_uniform(const calculus *c, truth holds) {
  word end = word_choose(c->m, holds, c->end, c->first);
  return (fact){{c->first, end}, {c->first, end}};
}

fact fact_and(const calculus *c, fact a, fact b) {
  fact f = fact_unknown(c);
  if (c->wants & WANTS_MUST) f.must = must_and(c, a.must, b.must);
  if (c->wants & WANTS_MAY) f.may = may_and(c, a.may, b.may);
  return f;
}

fact fact_or(const calculus *c, fact a, fact b) {
  fact f = fact_unknown(c);
  if (c->wants & WANTS_MUST) f.must = must_or(c, a.must, b.must);
  if (c->wants & WANTS_MAY) f.may = may_or(c, a.may, b.may);
  return f;
}

// ---- forms: a ring, in which nothing overflows --------------------------------------------------

form form_uniform(const calculus *c, word value) {
  return (form){number(c, 0), value, number(c, 0), must_all(c)};
}

form form_id(const calculus *c) {
  return (form){number(c, 1), number(c, 0), number(c, 0), must_all(c)};
}

form form_range(const calculus *c, word least, word most) {
  return (form){number(c, 0), least, word_minus(c->m, most, least), must_all(c)};
}

bool form_moves(form a) {
  return !word_is_known(a.stride) || a.stride.lo;
}

form form_add(const calculus *c, form a, form b) {
  return (form){word_plus(c->m, a.stride, b.stride), word_plus(c->m, a.base, b.base),
                word_plus_or_most(c->m, a.spread, b.spread), must_and(c, a.valid, b.valid)};
}

form form_neg(const calculus *c, form a) {
  a.stride = word_negative(c->m, a.stride);
  a.base = word_negative(c->m, word_plus(c->m, a.base, a.spread));
  return a;
}

form form_sub(const calculus *c, form a, form b) {
  return form_add(c, a, form_neg(c, b));
}

static form scaled(const calculus *c, form a, word factor) {
  a.stride = word_times(c->m, a.stride, factor);
  a.base = word_times(c->m, a.base, factor);
  a.spread = word_times_or_most(c->m, a.spread, factor);
  return a;
}

// A point may be multiplied by anything. What spreads is multiplied by a number that is not
// negative, and turned around when the factor is.
form form_mul(const calculus *c, form a, word factor) {
  const machine *m = c->m;
  if (word_is(m, a.spread, 0)) return scaled(c, a, factor);
  truth is_negative = word_is_before(m, factor, number(c, 0));
  form up = scaled(c, a, word_choose(m, is_negative, word_negative(m, factor), factor));
  form down = form_neg(c, up);
  up.stride = word_choose(m, is_negative, down.stride, up.stride);
  up.base = word_choose(m, is_negative, down.base, up.base);
  return up;
}

// ---- lines: where nothing wraps -----------------------------------------------------------------

static word mask_of(const calculus *c, int_type t) {
  return number(c, UINT64_MAX >> (64 - t.bits));
}

static word bias_of(const calculus *c, int_type t) {
  return number(c, t.is_signed ? (uint64_t)1 << (t.bits - 1) : 0);
}

// Every position of the row and its end.
static word anywhere(const calculus *c) {
  uint64_t least, most, unused;
  word_bounds(c->m, c->first, &least, &unused);
  word_bounds(c->m, c->end, &unused, &most);
  return word_within(c->m, least, most, NULL);
}

// The interval of base + stride * x for every x of the row: nothing is made.
static word interval_along(const calculus *c, word base, word stride) {
  machine plan = machine_planning(c->m->bits);
  return word_plus(&plan, base, word_times(&plan, stride, anywhere(c)));
}

static uint64_t largest(const calculus *c, word x) {
  uint64_t least, most;
  word_bounds(c->m, x, &least, &most);
  return most;
}

// The ranks are base + stride * x as they stand, whatever the dispatch brings.
static bool is_plain(const calculus *c, word base, word stride, word spread, word mask) {
  word along = interval_along(c, base, stride);
  uint64_t most = largest(c, along);
  return !word_wraps(c->m, along) && most <= mask.lo && largest(c, spread) <= mask.lo - most;
}

bool form_is_line(const calculus *c, form a, int_type t) {
  machine plan = machine_planning(c->m->bits);
  return is_plain(c, word_plus(&plan, a.base, bias_of(c, t)), a.stride, a.spread, mask_of(c, t));
}

// An unsigned value wraps at 0 far more often than at the top, and what is of use is above: so look
// from the end at which it is largest, down to where it would pass 0. That takes one division, and
// whatever is chosen is right, because at one x the value is known without doubt.
line form_line(const calculus *c, form a, int_type t) {
  const machine *m = c->m;
  word mask = mask_of(c, t), base = word_plus(m, a.base, bias_of(c, t)), one = number(c, 1);
  if (is_plain(c, base, a.stride, a.spread, mask)) return (line){base, a.stride, a.spread, a.valid};
  word slope = word_low_signed(m, a.stride, t.bits), first = a.valid.first, end = a.valid.end;
  truth is_down = word_is_before(m, slope, number(c, 0));
  truth is_flat = word_is_equal(m, slope, number(c, 0));
  word top = word_choose(m, is_down, first, word_minus(m, end, one));
  word way = word_times(m, a.stride, top);
  word rank = word_low_bits(m, word_plus(m, base, way), t.bits);
  truth fits = truth_opposite(m, word_is_below(m, word_minus(m, mask, rank), a.spread));
  line l = {word_minus(m, rank, word_times(m, slope, top)), slope, a.spread, a.valid};
  if (!truth_is(is_flat, ANSWER_YES)) {
    word steep = word_choose(m, is_down, word_negative(m, slope), slope);
    word last = word_minus(m, word_minus(m, end, first), one);
    word steps = word_divide(m, rank, word_choose(m, is_flat, one, steep));
    steps = word_choose(m, is_flat, last, word_least(m, steps, last));
    l.valid.first = word_choose(m, is_down, first, word_minus(m, top, steps));
    l.valid.end = word_choose(m, is_down, word_plus(m, word_plus(m, top, steps), one), end);
    fits = truth_both(m, fits, word_is_before(m, first, end));
  }
  l.valid = must_choose(c, fits, l.valid, (must){first, first});
  return l;
}

static word line_at(const calculus *c, line l, word x) {
  return word_plus(c->m, l.base, word_times(c->m, l.slope, x));
}

// To a wider type the value itself counts, not what it is congruent to.
form form_convert(const calculus *c, form a, int_type from, int_type to) {
  if (to.bits <= from.bits || form_is_line(c, a, from)) return a;
  line l = form_line(c, a, from);
  return (form){l.slope, word_minus(c->m, l.base, bias_of(c, from)), l.spread, l.valid};
}

// ---- relations ----------------------------------------------------------------------------------

// How fast b runs away from a: its size, and whether it runs towards a. Slopes are signed words, so
// that the size is a word.
static word speed_between(const calculus *c, line a, line b, truth *is_closing) {
  *is_closing = word_is_before(c->m, b.slope, a.slope);
  return word_choose(c->m, *is_closing, word_minus(c->m, a.slope, b.slope),
                     word_minus(c->m, b.slope, a.slope));
}

// Numbers whose sums and differences are far from the ends of a signed word.
static bool is_small(const calculus *c, word x) {
  int64_t least, most, quarter = (int64_t)1 << (c->m->bits - 2);
  word_signed_bounds(c->m, x, &least, &most);
  return least > -quarter && most < quarter;
}

// Whether ranks of the two lines are closer to one another than a quarter of the ring.
static bool is_close(const calculus *c, line a, line b, int_type t) {
  if (t.bits <= c->m->bits - 2) return true;
  uint64_t x0, x1, y0, y1, spread = largest(c, a.spread);
  word_bounds(c->m, interval_along(c, a.base, a.slope), &x0, &x1);
  word_bounds(c->m, interval_along(c, b.base, b.slope), &y0, &y1);
  if (spread > machine_mask(c->m) - x1) return false;
  x1 += spread;
  return (x1 > y1 ? x1 : y1) - (x0 < y0 ? x0 : y0) < (uint64_t)1 << (c->m->bits - 2);
}

// The gap between two lines at x = 0: b's least rank less a's greatest, and one less where they
// must not be equal.
static word gap_between(const machine *m, line a, line b, bool or_equal) {
  word gap = word_minus(m, word_minus(m, b.base, a.base), a.spread);
  return or_equal ? gap : word_minus(m, gap, word_number(m, 1));
}

// gap + slope * x >= 0, where nothing comes near the ends of a signed word.
static must where_not_negative(const calculus *c, must in, word gap, int64_t slope) {
  const machine *m = c->m;
  if (!slope) {
    word end = word_choose(m, word_is_before(m, gap, number(c, 0)), in.first, in.end);
    return (must){in.first, end};
  }
  word q = word_floor(m, gap, (uint64_t)(slope < 0 ? -slope : slope));
  if (slope > 0) return (must){word_higher(m, in.first, word_negative(m, q)), in.end};
  return (must){in.first, word_lower(m, in.end, word_plus(m, q, number(c, 1)))};
}

// Any numbers: look at the first x, and count the steps until the answer changes.
static must where_any(const calculus *c, must in, line a, line b, bool or_equal) {
  const machine *m = c->m;
  word one = number(c, 1), zero = number(c, 0), strict = or_equal ? zero : one;
  word x = word_plus(m, line_at(c, a, in.first), a.spread), y = line_at(c, b, in.first);
  truth holds = or_equal ? truth_opposite(m, word_is_below(m, y, x)) : word_is_below(m, x, y);
  truth is_closing;
  word speed = speed_between(c, a, b, &is_closing);
  truth is_flat = word_is_equal(m, speed, zero);
  word room = word_minus(m, word_minus(m, y, x), strict);
  word lack = word_minus(m, word_minus(m, x, y), word_minus(m, one, strict));
  word slack = word_choose(m, holds, room, lack);
  word last = word_minus(m, word_minus(m, in.end, in.first), one);
  word steps = word_divide(m, slack, word_choose(m, is_flat, one, speed));
  word turn = word_plus(m, word_plus(m, in.first, word_least(m, steps, last)), one);
  truth is_opening = truth_both(m, truth_opposite(m, is_closing), truth_opposite(m, is_flat));
  must early = {in.first, word_choose(m, is_closing, turn, in.end)};
  must late = {word_choose(m, is_opening, turn, in.first),
               word_choose(m, is_opening, in.end, in.first)};
  must found = must_choose(c, holds, early, late);
  return must_choose(c, word_is_before(m, in.first, in.end), found, (must){in.first, in.first});
}

// Whether gap and slope are such that where_not_negative can be asked: slope * x is a number less
// than a quarter of the ring, not only congruent to one.
static bool is_easy(const calculus *c, line a, line b, int_type t) {
  machine plan = machine_planning(c->m->bits);
  word slope = word_minus(&plan, b.slope, a.slope);
  if (!word_is_known(slope) || !is_small(c, slope) || !is_close(c, a, b, t)) return false;
  word steep = slope.lo > machine_mask(c->m) >> 1 ? word_negative(&plan, slope) : slope;
  word farthest = word_number(&plan, largest(c, anywhere(c)));
  return word_product_fits(&plan, steep, farthest) &&
         word_times(&plan, steep, farthest).lo < (uint64_t)1 << (c->m->bits - 2) &&
         is_small(c, gap_between(&plan, a, b, false)) &&
         is_small(c, gap_between(&plan, a, b, true));
}

// Where every a < every b, or every a <= every b.
static must where_before(const calculus *c, line a, line b, bool or_equal, int_type t) {
  must in = must_and(c, a.valid, b.valid);
  if (!is_easy(c, a, b, t)) return where_any(c, in, a, b, or_equal);
  int64_t slope, same;
  word_signed_bounds(c->m, word_minus(c->m, b.slope, a.slope), &slope, &same);
  return where_not_negative(c, in, gap_between(c->m, a, b, or_equal), slope);
}

static fact related(const calculus *c, form a, form b, int_type t, bool or_equal) {
  line x = form_line(c, a, t), y = form_line(c, b, t);
  fact f = fact_unknown(c);
  if (c->wants & WANTS_MUST) f.must = where_before(c, x, y, or_equal, t);
  if (c->wants & WANTS_MAY) f.may = may_of_not(c, where_before(c, y, x, !or_equal, t));
  return f;
}

fact fact_less(const calculus *c, form a, form b, int_type t) {
  return related(c, a, b, t, false);
}

fact fact_less_equal(const calculus *c, form a, form b, int_type t) {
  return related(c, a, b, t, true);
}

// Where two values are certain to be in one order, in the other, and the same.
typedef struct meeting {
  must less, more, same;
} meeting;

// Equal modulo 2^w is equal, so that neither has to be a line of its own when their difference is
// one.
static meeting meet(const calculus *c, form a, form b, int_type t) {
  if (!form_is_line(c, a, t) || !form_is_line(c, b, t)) {
    a = form_sub(c, a, b);
    b = form_uniform(c, number(c, 0));
    t.is_signed = true;
  }
  line x = form_line(c, a, t), y = form_line(c, b, t);
  return (meeting){.less = where_before(c, x, y, false, t),
                   .more = where_before(c, y, x, false, t),
                   .same =
                       must_and(c, where_before(c, x, y, true, t), where_before(c, y, x, true, t))};
}

fact fact_equal(const calculus *c, form a, form b, int_type t) {
  meeting e = meet(c, a, b, t);
  fact f = fact_unknown(c);
  if (c->wants & WANTS_MUST) f.must = e.same;
  if (c->wants & WANTS_MAY) f.may = may_and(c, may_of_not(c, e.less), may_of_not(c, e.more));
  return f;
}

fact fact_unequal(const calculus *c, form a, form b, int_type t) {
  meeting e = meet(c, a, b, t);
  fact f = fact_unknown(c);
  if (c->wants & WANTS_MUST) f.must = must_or(c, e.less, e.more);
  if (c->wants & WANTS_MAY) f.may = may_of_not(c, e.same);
  return f;
}

must must_within(const calculus *c, form a, word least, word most) {
  int_type t = {c->m->bits, true};
  line l = form_line(c, a, t);
  line low = form_line(c, form_uniform(c, least), t), high = form_line(c, form_uniform(c, most), t);
  return must_and(c, where_before(c, low, l, true, t), where_before(c, l, high, true, t));
}

// A clamp that does nothing is its operand.
form form_min(const calculus *c, form kept, form other, int_type t) {
  kept.valid = where_before(c, form_line(c, kept, t), form_line(c, other, t), true, t);
  return kept;
}

form form_max(const calculus *c, form kept, form other, int_type t) {
  kept.valid = where_before(c, form_line(c, other, t), form_line(c, kept, t), true, t);
  return kept;
}

// Every value from the least start to the last before the greatest end. When there is none the body
// never runs, and any form is right. Bounds that move are not known.
form form_counter(const calculus *c, form from, form end, int_type t) {
  const machine *m = c->m;
  line lo = form_line(c, from, t), hi = form_line(c, end, t);
  word stop = word_plus(m, hi.base, hi.spread), zero = number(c, 0), one = number(c, 1);
  truth some = word_is_below(m, lo.base, stop);
  word reach = word_choose(m, some, word_minus(m, word_minus(m, stop, lo.base), one), zero);
  uint64_t least, unused, most = largest(c, stop);
  word_bounds(m, lo.base, &least, &unused);
  form f = {zero, word_minus(m, lo.base, bias_of(c, t)),
            word_narrowed(m, reach, 0, most > least ? most - least - 1 : 0),
            must_and(c, lo.valid, hi.valid)};
  if (form_moves(from) || form_moves(end)) f.valid = must_none(c);
  return f;
}
