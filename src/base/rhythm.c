// SPDX-License-Identifier: MIT
#include "base/rhythm.h"

// Measured on virtual CPUs: a sleeper is up to 60 us late for its timer.
enum { LATE_NS = 60000, MARGIN_NS = 20000, OFFS = 3, SHARE = 8, ENOUGH = 3, MOST = 8 };

static uint64_t distance(uint64_t a, uint64_t b) {
  return a < b ? b - a : a - b;
}

// A mean of the last few.
static void approach(uint64_t *mean, uint64_t value) {
  *mean = value > *mean ? *mean + (value - *mean) / 4 : *mean - (*mean - value) / 4;
}

void rhythm_event(rhythm *r, uint64_t now_ns) {
  bool is_close = r->last_ns && now_ns - r->last_ns < RHYTHM_CLOSE_NS;
  uint64_t gap = now_ns - r->first_ns, off = distance(gap, r->gap_ns);
  r->last_ns = now_ns;
  if (is_close) return;
  bool is_first = !r->first_ns;
  r->first_ns = now_ns;
  if (is_first) return;
  if (off <= r->gap_ns / SHARE) {
    approach(&r->gap_ns, gap);
    approach(&r->off_ns, off);
    if (r->regular < MOST) r->regular++;
  } else if (r->regular > ENOUGH) {
    r->regular -= 2; // one that came late does not end a rhythm
  } else {
    *r = (rhythm){.first_ns = now_ns, .last_ns = now_ns, .gap_ns = gap};
  }
}

bool rhythm_next(const rhythm *r, rhythm_span *out) {
  if (r->regular < ENOUGH) return false;
  uint64_t off = OFFS * r->off_ns, span = 2 * off + LATE_NS + MARGIN_NS;
  if (span > r->gap_ns / SHARE) return false;
  uint64_t expected = r->first_ns + r->gap_ns;
  *out = (rhythm_span){expected - off - LATE_NS, expected + off + MARGIN_NS};
  return true;
}
