// SPDX-License-Identifier: MIT
#include "analysis/reach.h"

#include <string.h>

__extension__ typedef __int128 integer;

static const int64_t MOST = (int64_t)1 << 61; // that a sum may be, by its amount

// An index whose elements are more intervals than this is taken with the holes between the closest
// of them.
enum { MOST_INTERVALS = 1 << 15 };

reach reach_any(void) {
  return (reach){.is_any = true};
}

reach reach_number(int64_t value) {
  return reach_interval(value, value);
}

reach reach_interval(int64_t lo, int64_t hi) {
  if (lo < -MOST || hi > MOST) return reach_any();
  return (reach){.lo = lo, .hi = hi};
}

bool reach_type_range(vyre_type type, int64_t *lo, int64_t *hi) {
  if (type == VYRE_BOOL) {
    *lo = 0, *hi = 1;
    return true;
  }
  if (!type_is_int(type) || type_bits(type) > 32) return false;
  int64_t period = (int64_t)1 << type_bits(type);
  *lo = type_is_signed(type) ? -period / 2 : 0;
  *hi = *lo + period - 1;
  return true;
}

static int64_t amount(int64_t x) {
  return x < 0 ? -x : x;
}

// Any where a sum could pass what is computed with.
static reach checked(const reach_space *s, const reach *r) {
  if (r->is_any) return reach_any();
  integer sum = amount(r->lo) > amount(r->hi) ? amount(r->lo) : amount(r->hi);
  for (uint32_t k = 0; k < r->count; k++) {
    int64_t first = amount(s->first[r->terms[k].dim]), last = amount(s->last[r->terms[k].dim]);
    sum += (integer)amount(r->terms[k].factor) * (first > last ? first : last);
  }
  return sum > MOST ? reach_any() : *r;
}

reach reach_dimension(const reach_space *s, uint32_t dim) {
  if (s->first[dim] == s->last[dim]) return reach_number(s->first[dim]);
  return (reach){.count = 1, .terms = {{dim, 1}}};
}

reach reach_along(reach_space *s, uint32_t dim, int64_t lo, int64_t hi) {
  if (lo == hi || lo < -MOST || hi > MOST) return reach_interval(lo, hi);
  s->first[dim] = 0;
  s->last[dim] = hi - lo;
  reach r = {.lo = lo, .hi = lo, .count = 1, .terms = {{dim, 1}}};
  return checked(s, &r);
}

void reach_hull(const reach_space *s, const reach *r, int64_t *lo, int64_t *hi) {
  *lo = r->lo;
  *hi = r->hi;
  for (uint32_t k = 0; k < r->count; k++) {
    int64_t a = r->terms[k].factor * s->first[r->terms[k].dim];
    int64_t b = r->terms[k].factor * s->last[r->terms[k].dim];
    *lo += a < b ? a : b;
    *hi += a < b ? b : a;
  }
}

reach_certainty reach_bounds(const reach_space *s, const reach *r, vyre_type type, int64_t *lo,
                             int64_t *hi) {
  int64_t least, most;
  bool has_range = reach_type_range(type, &least, &most);
  if (!r->is_any) {
    reach_hull(s, r, lo, hi);
    bool is_exact = has_range ? *lo >= least && *hi <= most : type_is_signed(type) || *lo >= 0;
    if (is_exact) return REACH_EXACT;
  }
  if (!has_range) return REACH_NOTHING;
  *lo = least;
  *hi = most;
  return REACH_RANGE;
}

bool reach_is_same(const reach *a, const reach *b) {
  if (a->is_any || b->is_any) return a->is_any == b->is_any;
  if (a->lo != b->lo || a->hi != b->hi || a->count != b->count) return false;
  for (uint32_t k = 0; k < a->count; k++)
    if (a->terms[k].dim != b->terms[k].dim || a->terms[k].factor != b->terms[k].factor)
      return false;
  return true;
}

int64_t reach_floor(int64_t x, int64_t by) {
  return x / by - (x % by < 0);
}

reach reach_settled(const reach_space *s, reach r, vyre_type type) {
  int64_t least, most, lo, hi;
  if (!reach_type_range(type, &least, &most)) return r;
  if (r.is_any) return reach_interval(least, most);
  int64_t period = most - least + 1;
  reach_hull(s, &r, &lo, &hi);
  if (hi - lo >= period) return reach_interval(least, most);
  int64_t turns = reach_floor(lo - least, period);
  if (turns != reach_floor(hi - least, period)) return r;
  r.lo -= turns * period;
  r.hi -= turns * period;
  return checked(s, &r);
}

// ---- sums ---------------------------------------------------------------------------------------

// What a term reaches goes to lo..hi.
static void flatten(const reach_space *s, reach_term t, int64_t *lo, int64_t *hi) {
  int64_t a = t.factor * s->first[t.dim], b = t.factor * s->last[t.dim];
  *lo += a < b ? a : b;
  *hi += a < b ? b : a;
}

reach reach_sum(const reach_space *s, reach a, reach b) {
  if (a.is_any || b.is_any) return reach_any();
  reach_term terms[2 * REACH_TERMS];
  uint32_t count = 0, i = 0, k = 0;
  integer factors;
  while (i < a.count || k < b.count) {
    bool has_a = i < a.count && (k >= b.count || a.terms[i].dim <= b.terms[k].dim);
    bool has_b = k < b.count && (i >= a.count || b.terms[k].dim <= a.terms[i].dim);
    uint32_t dim = has_a ? a.terms[i].dim : b.terms[k].dim;
    factors = 0;
    if (has_a) factors += a.terms[i++].factor;
    if (has_b) factors += b.terms[k++].factor;
    if (factors > MOST || factors < -MOST) return reach_any();
    if (factors) terms[count++] = (reach_term){dim, (int64_t)factors};
  }
  reach out = {.lo = a.lo + b.lo, .hi = a.hi + b.hi};
  while (count > REACH_TERMS) { // the shortest stride goes
    uint32_t least = 0;
    for (uint32_t n = 1; n < count; n++)
      if (amount(terms[n].factor) < amount(terms[least].factor)) least = n;
    flatten(s, terms[least], &out.lo, &out.hi);
    memmove(&terms[least], &terms[least + 1], (count - least - 1) * sizeof *terms);
    count--;
  }
  out.count = count;
  memcpy(out.terms, terms, count * sizeof *terms);
  return checked(s, &out);
}

reach reach_scaled(const reach_space *s, reach a, int64_t factor) {
  if (!factor) return reach_number(0);
  if (a.is_any || factor < -MOST || factor > MOST) return reach_any();
  integer lo = (integer)(factor > 0 ? a.lo : a.hi) * factor;
  integer hi = (integer)(factor > 0 ? a.hi : a.lo) * factor;
  if (lo < -MOST || hi > MOST) return reach_any();
  a.lo = (int64_t)lo;
  a.hi = (int64_t)hi;
  for (uint32_t k = 0; k < a.count; k++) {
    integer scaled = (integer)a.terms[k].factor * factor;
    if (scaled > MOST || scaled < -MOST) return reach_any();
    a.terms[k].factor = (int64_t)scaled;
  }
  return checked(s, &a);
}

reach reach_flattened(const reach_space *s, reach r, uint32_t from) {
  uint32_t kept = 0;
  for (uint32_t k = 0; k < r.count; k++) {
    if (r.terms[k].dim < from)
      r.terms[kept++] = r.terms[k];
    else
      flatten(s, r.terms[k], &r.lo, &r.hi);
  }
  r.count = kept;
  return r;
}

reach reach_joined(const reach_space *s, reach a, reach b) {
  if (a.is_any || b.is_any) return reach_any();
  bool is_parallel = a.count == b.count;
  for (uint32_t k = 0; k < a.count && is_parallel; k++)
    is_parallel = a.terms[k].dim == b.terms[k].dim && a.terms[k].factor == b.terms[k].factor;
  if (!is_parallel) {
    a = reach_flattened(s, a, 0);
    b = reach_flattened(s, b, 0);
  }
  if (b.lo < a.lo) a.lo = b.lo;
  if (b.hi > a.hi) a.hi = b.hi;
  return a;
}

// ---- operations ---------------------------------------------------------------------------------

static bool is_number(const reach *r) {
  return !r->is_any && !r->count && r->lo == r->hi;
}

// The same number modulo 2^w, by the smaller amount.
static reach nearest(reach r, vyre_type type) {
  if (!is_number(&r) || type_bits(type) > 32) return r;
  int64_t period = (int64_t)1 << type_bits(type);
  if (r.lo >= period / 2 && r.lo < period) return reach_number(r.lo - period);
  return r;
}

// r as a part whose strides are multiples of `by` (returned divided) and the rest.
static reach divisible_part(const reach_space *s, const reach *r, int64_t by, reach *rest) {
  reach part = {0};
  *rest = (reach){.lo = r->lo, .hi = r->hi};
  for (uint32_t k = 0; k < r->count; k++) {
    reach_term t = r->terms[k];
    if (t.factor % by)
      rest->terms[rest->count++] = t;
    else
      part.terms[part.count++] = (reach_term){t.dim, t.factor / by};
  }
  return checked(s, &part);
}

// The sum divided by `by` > 0, towards minus infinity.
static reach floor_divided(reach_space *s, const reach *r, int64_t by, uint32_t dim) {
  reach rest, part = divisible_part(s, r, by, &rest);
  int64_t lo, hi;
  reach_hull(s, &rest, &lo, &hi);
  return reach_sum(s, part, reach_along(s, dim, reach_floor(lo, by), reach_floor(hi, by)));
}

// What the sum leaves over, 0..by - 1.
static reach floor_remainder(reach_space *s, const reach *r, int64_t by, uint32_t dim) {
  reach rest;
  divisible_part(s, r, by, &rest);
  int64_t lo, hi;
  reach_hull(s, &rest, &lo, &hi);
  int64_t turns = reach_floor(lo, by);
  if (turns != reach_floor(hi, by)) return reach_along(s, dim, 0, by - 1);
  return reach_sum(s, rest, reach_number(-turns * by));
}

static reach type_along(reach_space *s, vyre_type type, uint32_t dim) {
  int64_t lo, hi;
  return reach_type_range(type, &lo, &hi) ? reach_along(s, dim, lo, hi) : reach_any();
}

static reach product(reach_space *s, vyre_type type, reach a, reach b, uint32_t dim) {
  a = nearest(a, type);
  b = nearest(b, type);
  if (is_number(&a)) return reach_scaled(s, b, a.lo);
  if (is_number(&b)) return reach_scaled(s, a, b.lo);
  if (a.is_any || b.is_any) return reach_any();
  int64_t a0, a1, b0, b1;
  reach_hull(s, &a, &a0, &a1);
  reach_hull(s, &b, &b0, &b1);
  integer ends[4] = {(integer)a0 * b0, (integer)a0 * b1, (integer)a1 * b0, (integer)a1 * b1};
  integer lo = ends[0], hi = ends[0];
  for (int k = 1; k < 4; k++) {
    lo = ends[k] < lo ? ends[k] : lo;
    hi = ends[k] > hi ? ends[k] : hi;
  }
  if (lo < -MOST || hi > MOST) return reach_any();
  return reach_along(s, dim, (int64_t)lo, (int64_t)hi);
}

static reach quotient(reach_space *s, vyre_type type, reach a, reach b, uint32_t dim) {
  int64_t a0, a1, b0, b1;
  reach_certainty a_is = reach_bounds(s, &a, type, &a0, &a1);
  if (reach_bounds(s, &b, type, &b0, &b1) == REACH_NOTHING || a_is == REACH_NOTHING || b0 < 1)
    return type_along(s, type, dim);
  if (b0 == b1 && a_is == REACH_EXACT && a0 >= 0) return floor_divided(s, &a, b0, dim);
  // Towards zero: each of the ends of b makes the amount largest, or smallest.
  int64_t lo = a0 < 0 ? a0 / b0 : a0 / b1, hi = a1 < 0 ? a1 / b1 : a1 / b0;
  return reach_along(s, dim, lo, hi);
}

static reach remainder_of(reach_space *s, vyre_type type, reach a, reach b, uint32_t dim) {
  int64_t a0 = 0, a1 = 0, b0, b1;
  reach_certainty a_is = reach_bounds(s, &a, type, &a0, &a1);
  if (reach_bounds(s, &b, type, &b0, &b1) == REACH_NOTHING || b0 < 1)
    return type_along(s, type, dim);
  bool is_negative = type_is_signed(type) && (a_is == REACH_NOTHING || a0 < 0);
  if (b0 == b1 && a_is == REACH_EXACT && !is_negative) return floor_remainder(s, &a, b0, dim);
  int64_t most = b1 - 1;
  if (a_is != REACH_NOTHING && a1 >= 0 && a1 < most) most = a1;
  if (a_is != REACH_NOTHING && a1 < 0) most = 0;
  return reach_along(s, dim, is_negative ? 1 - b1 : 0, most);
}

static reach extreme(reach_space *s, vyre_op op, vyre_type type, reach a, reach b, uint32_t dim) {
  int64_t a0, a1, b0, b1;
  reach_certainty a_is = reach_bounds(s, &a, type, &a0, &a1);
  reach_certainty b_is = reach_bounds(s, &b, type, &b0, &b1);
  if (a_is == REACH_NOTHING || b_is == REACH_NOTHING) return reach_any();
  bool is_min = op == VYRE_OP_MIN;
  if (a_is == REACH_EXACT && (is_min ? a1 <= b0 : a0 >= b1)) return a;
  if (b_is == REACH_EXACT && (is_min ? b1 <= a0 : b0 >= a1)) return b;
  bool takes_a = is_min ? a0 < b0 : a0 > b0, takes_a_end = is_min ? a1 < b1 : a1 > b1;
  return reach_along(s, dim, takes_a ? a0 : b0, takes_a_end ? a1 : b1);
}

static bool is_power(int64_t x) {
  return x > 0 && !(x & (x - 1));
}

// With 2^k - 1: what is left over by 2^k. With its opposite: the rest. Both divide 2^w.
static reach masked(reach_space *s, vyre_type type, reach a, reach b, uint32_t dim) {
  if (is_number(&a)) {
    reach t = a;
    a = b, b = t;
  }
  reach mask = nearest(b, type);
  if (is_number(&b) && b.lo >= 0 && is_power(b.lo + 1) && !a.is_any)
    return floor_remainder(s, &a, b.lo + 1, dim);
  if (is_number(&mask) && mask.lo < 0 && is_power(-mask.lo) && !a.is_any)
    return reach_scaled(s, floor_divided(s, &a, -mask.lo, dim), -mask.lo);
  int64_t a0, a1, b0, b1, most = INT64_MAX;
  if (reach_bounds(s, &a, type, &a0, &a1) != REACH_NOTHING && a0 >= 0) most = a1;
  if (reach_bounds(s, &b, type, &b0, &b1) != REACH_NOTHING && b0 >= 0 && b1 < most) most = b1;
  return most == INT64_MAX ? type_along(s, type, dim) : reach_along(s, dim, 0, most);
}

// Whether b fits below the lowest bit that a can have.
static bool is_below(const reach_space *s, const reach *a, const reach *b) {
  int64_t lo, hi, unit = 1;
  reach_hull(s, b, &lo, &hi);
  while (unit <= hi) unit <<= 1;
  if (lo < 0 || a->lo != a->hi || a->lo % unit) return false;
  for (uint32_t k = 0; k < a->count; k++)
    if (a->terms[k].factor % unit) return false;
  return true;
}

static reach united(reach_space *s, vyre_type type, reach a, reach b, uint32_t dim) {
  int64_t a0, a1, b0, b1, most = 1;
  if (reach_bounds(s, &a, type, &a0, &a1) != REACH_EXACT || a0 < 0 ||
      reach_bounds(s, &b, type, &b0, &b1) != REACH_EXACT || b0 < 0)
    return type_along(s, type, dim);
  if (is_below(s, &a, &b) || is_below(s, &b, &a)) return reach_sum(s, a, b);
  while (most <= a1 || most <= b1) most <<= 1;
  return reach_along(s, dim, 0, most - 1);
}

static reach shifted(reach_space *s, vyre_op op, vyre_type type, reach a, reach b, uint32_t dim) {
  int64_t lo, hi;
  if (!is_number(&b)) return type_along(s, type, dim);
  unsigned count = (unsigned)((uint64_t)b.lo & (type_bits(type) - 1));
  if (count > 60) return type_along(s, type, dim);
  if (op == VYRE_OP_SHL) return reach_scaled(s, a, (int64_t)1 << count);
  if (reach_bounds(s, &a, type, &lo, &hi) == REACH_EXACT)
    return floor_divided(s, &a, (int64_t)1 << count, dim);
  if (!reach_type_range(type, &lo, &hi)) return reach_any();
  return reach_along(s, dim, lo >> count, hi >> count);
}

static reach of_bools(reach_space *s, vyre_op op, reach a, reach b, uint32_t dim) {
  int64_t a0, a1, b0, b1;
  reach_bounds(s, &a, VYRE_BOOL, &a0, &a1);
  reach_bounds(s, &b, VYRE_BOOL, &b0, &b1);
  if (op == VYRE_OP_AND && (!a1 || !b1)) return reach_number(0);
  if (op == VYRE_OP_AND && a0 && b0) return reach_number(1);
  if (op == VYRE_OP_OR && (a0 || b0)) return reach_number(1);
  if (op == VYRE_OP_OR && !a1 && !b1) return reach_number(0);
  return reach_along(s, dim, 0, 1);
}

reach reach_binary(reach_space *s, vyre_op op, vyre_type type, reach a, reach b, uint32_t dim) {
  if (type == VYRE_BOOL) return of_bools(s, op, a, b, dim);
  switch (op) {
  case VYRE_OP_ADD: return reach_sum(s, nearest(a, type), nearest(b, type));
  case VYRE_OP_SUB: return reach_sum(s, nearest(a, type), reach_scaled(s, nearest(b, type), -1));
  case VYRE_OP_MUL: return product(s, type, a, b, dim);
  case VYRE_OP_DIV: return quotient(s, type, a, b, dim);
  case VYRE_OP_REM: return remainder_of(s, type, a, b, dim);
  case VYRE_OP_MIN:
  case VYRE_OP_MAX: return extreme(s, op, type, a, b, dim);
  case VYRE_OP_AND: return masked(s, type, a, b, dim);
  case VYRE_OP_OR:
  case VYRE_OP_XOR: return united(s, type, a, b, dim);
  case VYRE_OP_SHL:
  case VYRE_OP_SHR: return shifted(s, op, type, a, b, dim);
  default: return type_along(s, type, dim); // nothing is known of the others
  }
}

// ---- elements -----------------------------------------------------------------------------------

typedef struct strides { // base + sum of stride * 0..count - 1 + 0..width - 1
  int64_t base, width;
  uint32_t count;
  int64_t stride[REACH_TERMS], turns[REACH_TERMS];
} strides;

// By rising stride.
static void add_stride(strides *d, int64_t stride, int64_t turns) {
  uint32_t k = d->count++;
  for (; k && d->stride[k - 1] > stride; k--) {
    d->stride[k] = d->stride[k - 1];
    d->turns[k] = d->turns[k - 1];
  }
  d->stride[k] = stride;
  d->turns[k] = turns;
}

static void take_first(strides *d) {
  d->width += d->stride[0] * (d->turns[0] - 1);
  d->count--;
  memmove(d->stride, d->stride + 1, d->count * sizeof *d->stride);
  memmove(d->turns, d->turns + 1, d->count * sizeof *d->turns);
}

static bool is_many(const strides *d) {
  integer total = 1;
  for (uint32_t k = 0; k < d->count; k++) {
    total *= d->turns[k];
    if (total > MOST_INTERVALS) return true;
  }
  return false;
}

static strides strides_of(const reach_space *s, const reach *r) {
  strides d = {.base = r->lo, .width = r->hi - r->lo + 1};
  for (uint32_t k = 0; k < r->count; k++) {
    int64_t f = r->terms[k].factor, first = s->first[r->terms[k].dim];
    int64_t last = s->last[r->terms[k].dim];
    d.base += f > 0 ? f * first : f * last;
    if (last > first) add_stride(&d, amount(f), last - first + 1);
  }
  while (d.count && (d.stride[0] <= d.width || is_many(&d))) take_first(&d);
  return d;
}

static bool push_clipped(intervals *out, int64_t lo, int64_t hi, uint64_t length) {
  if (lo < 0) lo = 0;
  if (hi > (int64_t)length) hi = (int64_t)length;
  return lo >= hi || intervals_push(out, (uint64_t)lo, (uint64_t)hi);
}

static bool push_all(const strides *d, int64_t shift, uint64_t length, intervals *out) {
  int64_t at[REACH_TERMS] = {0};
  for (;;) {
    int64_t lo = d->base + shift;
    for (uint32_t k = 0; k < d->count; k++) lo += at[k] * d->stride[k];
    if (!push_clipped(out, lo, lo + d->width, length)) return false;
    uint32_t k = 0;
    while (k < d->count && ++at[k] == d->turns[k]) at[k++] = 0;
    if (k == d->count) return true;
  }
}

bool reach_elements(const reach_space *s, const reach *index, vyre_type type, uint64_t length,
                    intervals *out) {
  if (!length) return true;
  if (index->is_any) return intervals_push(out, 0, length);
  int64_t lo, hi;
  strides d = strides_of(s, index);
  // The index is any of the numbers that the sum is congruent to; at most two of them are elements.
  if (type_bits(type) > 32) return push_all(&d, 0, length, out);
  int64_t period = (int64_t)1 << type_bits(type);
  reach_hull(s, index, &lo, &hi);
  int64_t first = -reach_floor(hi, period), last = reach_floor((int64_t)length - 1 - lo, period);
  if (last - first > 3) return intervals_push(out, 0, length);
  for (int64_t k = first; k <= last; k++)
    if (!push_all(&d, k * period, length, out)) return false;
  return true;
}
