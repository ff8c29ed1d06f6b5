// SPDX-License-Identifier: MIT
#include "runtime/plan.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "ir/limits.h"
#include "profile/size_class.h"
#include "runtime/begin.h"
#include "runtime/kernel.h"
#include "runtime/runtime.h"
#include "runtime/tuning.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- buckets ------------------------------------------------------------------------------------

static uint64_t work_value(const vyre_kernel *k, uint32_t i, const vyre_dispatch_args *args) {
  const kernel_input *in = &k->inputs[i];
  if (!in->is_length)
    return in->index < args->param_count && args->params ? args->params[in->index].bits & in->mask
                                                         : 0;
  return in->index < args->buffer_count ? args->buffers[in->index].size_bytes : 0;
}

static uint64_t bytes_of(const vyre_dispatch_args *args) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < args->buffer_count; i++) bytes += args->buffers[i].size_bytes;
  return bytes;
}

uint64_t plan_key(const vyre_kernel *k, const vyre_dispatch_args *args) {
  uint64_t key = size_class_of(bytes_of(args));
  for (uint32_t i = 0; i < k->input_count; i++)
    key = key << 7 | size_class_of(work_value(k, i, args));
  return key;
}

// Of all regions; 0 when the arguments do not fit the program.
static double invocations_of(const vyre_kernel *k, const vyre_dispatch_args *args) {
  const vyre_program *p = k->program;
  uint64_t lengths[LIMIT_BUFFERS] = {0};
  uint64_t(*grids)[3] = calloc(p->region_count + 1u, sizeof *grids);
  double sum = 0;
  for (uint32_t i = 0, next = 0; i < p->buffer_count && next < args->buffer_count; i++)
    if (!p->buffers[i].is_transient)
      lengths[i] = args->buffers[next++].size_bytes / type_bytes(p->buffers[i].type);
  bool has_params = args->param_count == p->param_count && (args->params || !p->param_count);
  if (grids && has_params && vyre_program_extents(p, args->params, lengths, grids, NULL) == VYRE_OK)
    for (uint32_t i = 0; i < p->region_count; i++)
      sum += (double)grids[i][0] * (double)grids[i][1] * (double)grids[i][2];
  free(grids);
  return sum;
}

static void describe_bucket(plan *p, const vyre_kernel *k, const vyre_dispatch_args *args) {
  uint64_t bytes = bytes_of(args);
  strbuf text = {0};
  p->size_class = size_class_of(bytes);
  p->features[0] = log2((double)bytes + 1);
  p->features[1] = log2(invocations_of(k, args) + 1);
  for (uint32_t i = 0; i < k->input_count; i++) {
    uint64_t value = work_value(k, i, args);
    strbuf_printf(&text, "%s%s:%u", i ? "," : "", k->inputs[i].name, size_class_of(value));
    if (i + 2 < MODEL_FEATURES) p->features[i + 2] = log2((double)value + 1);
  }
  if (text.at && !text.failed) snprintf(p->work, sizeof p->work, "%s", text.at);
  strbuf_fini(&text);
}

// ---- variants -----------------------------------------------------------------------------------

static variant *find_variant(const plan *p, const code *c, const uint32_t shape[3]) {
  for (uint32_t i = 0; i < atomic_load(&((plan *)p)->variant_count); i++)
    if (p->variants[i]->code == c && !memcmp(p->variants[i]->shape, shape, sizeof(uint32_t[3])))
      return p->variants[i];
  return NULL;
}

variant *plan_variant(vyre_kernel *k, plan *p, code *c, const uint32_t shape[3]) {
  static const uint32_t declared[3] = {0, 0, 0};
  if (!shape) shape = declared;
  pthread_mutex_lock(&k->lock);
  variant *v = find_variant(p, c, shape);
  uint32_t count = atomic_load(&p->variant_count);
  if (!v && count < PLAN_VARIANTS && (v = calloc(1, sizeof *v))) {
    v->code = c;
    memcpy(v->shape, shape, sizeof v->shape);
    // The first code is what others are compared with.
    if (c == atomic_load(&k->first)) atomic_init(&v->next_check, UINT64_MAX);
    begin_set_prior(k, p, v);
    p->variants[count] = v;
    atomic_store_explicit(&p->variant_count, count + 1, memory_order_release);
  }
  pthread_mutex_unlock(&k->lock);
  return v;
}

uint64_t plan_dispatches(const plan *p) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < atomic_load(&((plan *)p)->variant_count); i++)
    sum += atomic_load_explicit(&p->variants[i]->count, memory_order_relaxed);
  return sum;
}

uint64_t plan_total_ns(const plan *p) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < atomic_load(&((plan *)p)->variant_count); i++)
    sum += atomic_load_explicit(&p->variants[i]->total_ns, memory_order_relaxed);
  return sum;
}

// What was measured in dispatches counts; otherwise what a trial says of the proportion to one that
// was; otherwise what earlier processes measured.
double plan_estimate_ns(const plan *p, const variant *v) {
  if (v->figure.count >= FIGURE_ENOUGH) return figure_expected_ns(&v->figure);
  for (uint32_t i = 0; v->trial_ns && i < atomic_load(&((plan *)p)->variant_count); i++) {
    const variant *other = p->variants[i];
    if (other->trial_ns && other->figure.best_ns > 0)
      return other->figure.best_ns * (double)v->trial_ns / (double)other->trial_ns;
  }
  return v->trial_ns ? (double)v->trial_ns : v->prior_ns;
}

// ---- decisions ----------------------------------------------------------------------------------

void plan_adopt(plan *p, variant *v, variant_reason reason, const char *detail) {
  // What ran up to now ran because of the decision before.
  for (uint32_t i = 0; i < atomic_load(&p->variant_count); i++)
    (void)variant_gather(p->variants[i], NULL, NULL);
  plan_decision *d = &p->decisions[p->decision_count++ % PLAN_DECISIONS];
  *d = (plan_decision){.reason = reason, .date = clock_unix_seconds()};
  variant_text(v, d->name);
  snprintf(d->detail, sizeof d->detail, "%s", detail ? detail : "");
  if (v->figure.count >= FIGURE_ENOUGH) {
    d->samples = v->figure.count;
    d->mean_ns = (uint64_t)figure_expected_ns(&v->figure);
    d->spread_ns = (uint64_t)figure_spread_ns(&v->figure);
  } else if (v->trial_ns) {
    d->samples = v->trial_samples;
    d->mean_ns = v->trial_ns;
    d->spread_ns = v->trial_noise_ns;
  }
  const variant *before = atomic_load(&p->current);
  if (before && before != v) atomic_store(&p->before_ns, (uint64_t)plan_estimate_ns(p, before));
  v->reason = reason;
  p->changed_ns = clock_now_ns();
  atomic_store_explicit(&p->current, v, memory_order_release);
}

const plan_decision *plan_last_decision(const plan *p) {
  return p->decision_count ? &p->decisions[(p->decision_count - 1) % PLAN_DECISIONS] : NULL;
}

void plan_note_candidate(vyre_kernel *k, plan *p, const char *name, variant_reason reason,
                         const char *detail) {
  pthread_mutex_lock(&k->lock);
  uint32_t at = 0;
  while (at < p->note_count && strcmp(p->notes[at].name, name)) at++;
  if (at < PLAN_NOTES) {
    plan_note *n = &p->notes[at];
    snprintf(n->name, sizeof n->name, "%s", name);
    snprintf(n->detail, sizeof n->detail, "%.159s", detail);
    n->reason = reason;
    if (at == p->note_count) p->note_count++;
  }
  pthread_mutex_unlock(&k->lock);
}

// ---- making one ---------------------------------------------------------------------------------

void plan_free(plan *p) {
  if (!p) return;
  for (uint32_t i = 0; i < atomic_load(&p->variant_count); i++) free(p->variants[i]);
  tuning_free(p->tuning);
  free(p);
}

vyre_status plan_make(vyre_kernel *k, uint64_t key, const vyre_dispatch_args *args, plan **out,
                      vyre_error *error) {
  plan *made = calloc(1, sizeof *made);
  if (!made) return error_out_of_memory(error);
  made->key = key;
  made->begun_ns = clock_now_ns();
  if (!tuning_has_space(k)) made->stages = STAGE_TUNABLES; // nothing is left to do there
  atomic_init(&made->attention, ATTEND_COLD);
  describe_bucket(made, k, args);
  vyre_status status = begin_plan(k, made, args->timeout_ns, error);
  if (status == VYRE_OK) {
    *out = kernel_add_plan(k, made);
    if (*out == made) return VYRE_OK;
  }
  plan_free(made); // an error, or another thread was first
  return status;
}
