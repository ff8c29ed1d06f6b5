// SPDX-License-Identifier: MIT
//
// What is known of one region: how often it ran, how long, how many bytes it touched. A plain value
// that its holder owns; pure functions, any thread.
#ifndef VYRE_PROFILE_RECORD_H
#define VYRE_PROFILE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

// The totals read UINT64_MAX when the sum is larger. The means are taken from the whole sum, so
// they stay right then; use them instead of dividing the totals.
typedef struct region_record {
  uint64_t dispatch_count;
  uint64_t kernel_ns_total;
  uint64_t kernel_ns_max;
  uint64_t bytes_total;
  uint64_t mean_kernel_ns; // 0 when nothing was recorded
  uint64_t mean_bytes;
} region_record;

__extension__ typedef unsigned __int128 record_wide;

// The running sums behind a record. Sums have 96 bits; when one would not fit, or the count would
// wrap, count and sums are halved together: the mean stays right and old samples weigh less.
typedef struct record_sums {
  uint64_t count;
  uint64_t max_ns;
  record_wide ns, bytes;
} record_sums;

#define RECORD_SUM_LIMIT ((record_wide)1 << 96)

static inline void record_halve(record_sums *s) {
  s->count /= 2;
  s->ns /= 2;
  s->bytes /= 2;
}

static inline bool record_fits(const record_sums *a, const record_sums *b) {
  return a->count <= UINT64_MAX - b->count && a->ns < RECORD_SUM_LIMIT - b->ns &&
         a->bytes < RECORD_SUM_LIMIT - b->bytes;
}

static inline record_sums record_add(record_sums a, record_sums b) {
  while (b.ns >= RECORD_SUM_LIMIT || b.bytes >= RECORD_SUM_LIMIT) record_halve(&b);
  while (!record_fits(&a, &b)) {
    record_halve(&a);
    record_halve(&b);
  }
  a.count += b.count;
  a.ns += b.ns;
  a.bytes += b.bytes;
  if (b.max_ns > a.max_ns) a.max_ns = b.max_ns;
  return a;
}

region_record record_from_sums(const record_sums *sums);
// The inverse, as exact as the record is: a saturated total is rebuilt from its mean.
record_sums record_to_sums(const region_record *record);

#endif
