// SPDX-License-Identifier: MIT
#include "runtime/variant.h"

#include "base/clock.h"

#include <string.h>

const char *variant_reason_name(variant_reason reason) {
  static const char *const names[REASON_COUNT] = {
      [REASON_NONE] = "none",
      [REASON_FIRST] = "nothing-known",
      [REASON_FASTER] = "faster",
      [REASON_ROUTED] = "routed",
      [REASON_PREDICTED] = "predicted",
      [REASON_OPTIMIZED] = "optimized",
      [REASON_CHANGED] = "changed",
      [REASON_NOT_FASTER] = "not-faster",
      [REASON_WRONG_RESULT] = "wrong-result",
      [REASON_FAILED] = "failed",
      [REASON_UNSUPPORTED] = "unsupported",
      [REASON_INPUTS_TOO_LARGE] = "inputs-too-large",
      [REASON_NO_MEMORY] = "no-memory",
      [REASON_ONLY_ONE] = "nothing-to-choose",
  };
  return names[reason];
}

static void keep_fresh(variant *v, uint64_t ns) {
  if (v->fresh_count == VARIANT_FRESH) {
    memmove(v->fresh, v->fresh + 1, (VARIANT_FRESH - 1) * sizeof *v->fresh);
    v->fresh_count--;
  }
  v->fresh[v->fresh_count++] = ns;
}

bool variant_gather(variant *v, void (*visit)(void *context, uint64_t ns), void *context) {
  uint64_t end = atomic_load(&v->count);
  uint64_t first =
      end > VARIANT_RING && end - VARIANT_RING > v->gathered ? end - VARIANT_RING : v->gathered;
  bool has_changed = false;
  for (uint64_t i = first; i < end; i++) {
    uint64_t ns = atomic_load_explicit(&v->ring[i % VARIANT_RING], memory_order_relaxed);
    if (!ns) continue; // counted, and not yet left
    bool is_disturbed = ns & VARIANT_DISTURBED;
    ns &= ~VARIANT_DISTURBED;
    if (visit) visit(context, ns);
    if (!is_disturbed) has_changed |= figure_add(&v->figure, ns);
    keep_fresh(v, ns);
  }
  if (end != v->gathered) v->last_ns = clock_now_ns();
  v->gathered = end;
  return has_changed;
}

void variant_tried(variant *v, const trial_candidate *trial, uint32_t number) {
  for (uint32_t i = 0; i < trial->sample_count; i++) keep_fresh(v, trial->samples[i]);
  v->trial_ns = trial->median_ns;
  v->trial_noise_ns = trial->noise_ns;
  v->trial_best_ns = trial_best(trial);
  v->trial_samples = trial->sample_count;
  v->trial_number = number;
  v->last_ns = clock_now_ns();
}

void variant_text(const variant *v, char out[VARIANT_TEXT]) {
  code_name(v->code, v->shape, out);
}
