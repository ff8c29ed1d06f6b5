// SPDX-License-Identifier: MIT
#include "conform/batch.h"

#include "backend/backend.h"
#include "conform/edit.h"

#include <stdio.h>
#include <string.h>

typedef struct batch {
  const char *backend;
  const vyre_compile_options *options;
  trial_limits limits;
} batch;

// The outcome of one part of a merged trial, borrowed from the whole.
static outcome part_of(const outcome *whole, const trial *part, uint32_t first) {
  outcome o = *whole;
  o.buffers += first;
  o.buffer_count = part->buffer_count;
  o.overrun =
      whole->overrun >= (int32_t)first && whole->overrun < (int32_t)(first + part->buffer_count)
          ? whole->overrun - (int32_t)first
          : -1;
  return o;
}

static bool compare_alone(const batch *b, const trial *t, difference *out) {
  return compare_run(t, NULL, b->backend, b->options, out);
}

// A difference found in company is looked for alone, where it can be shrunk.
static bool confirm(const batch *b, const trial *t, difference *out) {
  difference alone;
  if (!compare_alone(b, t, &alone)) return false;
  if (alone.verdict == DIFFERENT) {
    *out = alone;
  } else {
    char text[sizeof out->text];
    snprintf(text, sizeof text, "only in a larger program: %.370s", out->text);
    memcpy(out->text, text, sizeof text);
  }
  return true;
}

static bool compare_parts(const batch *b, const trial *trials, uint32_t count,
                          const outcome *expected, const outcome *found, difference *out) {
  bool ok = true;
  for (uint32_t i = 0, first = 0; i < count && ok; first += trials[i++].buffer_count) {
    outcome x = part_of(expected, &trials[i], first), y = part_of(found, &trials[i], first);
    compare_outcomes(&trials[i], &x, &y, &out[i]);
    if (out[i].verdict == DIFFERENT) ok = confirm(b, &trials[i], &out[i]);
  }
  return ok;
}

static bool compare_merged(const batch *b, const trial *trials, uint32_t count, const trial *whole,
                           difference *out) {
  outcome expected, found;
  if (!trial_run(whole, NULL, backend_oracle()->id, NULL, (trial_limits){0}, &expected))
    return false;
  bool ok = trial_run(whole, NULL, b->backend, b->options, b->limits, &found), is_split = false;
  if (ok && found.status == VYRE_OK && expected.status == VYRE_OK)
    ok = compare_parts(b, trials, count, &expected, &found, out);
  else
    is_split = true;
  if (ok) outcome_fini(&found);
  outcome_fini(&expected);
  if (!ok || !is_split) return ok;
  return batch_compare(trials, count / 2, b->backend, b->options, b->limits, out) &&
         batch_compare(trials + count / 2, count - count / 2, b->backend, b->options, b->limits,
                       out + count / 2);
}

bool batch_compare(const trial *trials, uint32_t count, const char *backend,
                   const vyre_compile_options *options, trial_limits limits, difference *out) {
  batch b = {backend, options, limits};
  for (uint32_t done = 0, n; done < count; done += n) {
    trial whole;
    if (count - done == 1) return compare_alone(&b, &trials[done], &out[done]);
    if (!edit_merge(trials + done, count - done, &whole, &n)) return false;
    bool ok;
    if (n > 1) {
      ok = compare_merged(&b, trials + done, n, &whole, out + done);
    } else {
      n = 1; // too large to be merged with anything
      ok = compare_alone(&b, &trials[done], &out[done]);
    }
    trial_fini(&whole);
    if (!ok) return false;
  }
  return true;
}
