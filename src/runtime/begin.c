// SPDX-License-Identifier: MIT
#include "runtime/begin.h"

#include "base/clock.h"
#include "base/error.h"
#include "runtime/kernel.h"
#include "runtime/runtime.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- what was decided before --------------------------------------------------------------------

typedef struct remembered { // of a route entry, copied: the table may change
  char variant[VARIANT_TEXT], code[HASH_HEX], *passes;
  bool is_of_this_build;
} remembered;

static bool has_backend(void *context, const char *backend) {
  (void)context;
  uint32_t count = 0;
  return backend_find(backend) && vyre_backend_devices(backend, NULL, 0, &count, NULL) == VYRE_OK &&
         count;
}

static void copy_entry(const route_entry *e, plan *p, remembered *r) {
  char build[BUILD_TEXT];
  build_name(build);
  snprintf(p->routed, sizeof p->routed, "%s", e->variant ? e->variant : e->backend);
  snprintf(r->variant, sizeof r->variant, "%s", e->variant ? e->variant : "");
  snprintf(r->code, sizeof r->code, "%s", e->code ? e->code : "");
  r->passes = e->passes ? strdup(e->passes) : NULL;
  r->is_of_this_build = e->build && !strcmp(e->build, build) && e->device;
}

static void ask_routes(vyre_kernel *k, plan *p, remembered *out) {
  vyre_runtime *rt = k->runtime;
  const route_entry *entry = NULL;
  p->route = ROUTE_NO_ENTRY;
  if (!rt->routes || rt->backend[0]) return;
  route_query query = {.op_id = k->program->name,
                       .fingerprint = program_fingerprint(k->program),
                       .has_size_class = true,
                       .size_class = p->size_class,
                       .work = p->work,
                       .now = clock_unix_seconds(),
                       .max_age_seconds = ROUTE_MAX_AGE_SECONDS,
                       .has_backend = has_backend};
  pthread_mutex_lock(&rt->files);
  p->route = route_resolve(rt->routes, &query, &entry);
  char adapter[128] = "";
  if (p->route == ROUTE_USABLE) runtime_adapter(entry->backend, adapter);
  // Measured on another device of the same backend: not trusted here.
  if (p->route == ROUTE_USABLE && entry->device && strcmp(entry->device, adapter))
    p->route = ROUTE_OTHER_DEVICE;
  if (p->route == ROUTE_USABLE) copy_entry(entry, p, out);
  pthread_mutex_unlock(&rt->files);
}

// A variant's name begins with its backend's; a line written by hand may have just that.
static bool is_of_backend(const char *variant, const char *backend) {
  size_t size = strlen(backend);
  return !strncmp(variant, backend, size) && (!variant[size] || variant[size] == ' ');
}

bool begin_is_routed(const plan *p, const char *backend) {
  return is_of_backend(p->routed, backend);
}

// The code is made again as it was. It runs at once only when it was proven on this machine, by the
// very hash of all that it is made from; anything else is proven first, in the background.
static bool begin_with_remembered(vyre_kernel *k, plan *p, const remembered *r) {
  char backend[VARIANT_TEXT], hex[HASH_HEX];
  variant_name name;
  code *c;
  if (!r->is_of_this_build || !variant_name_parse(r->variant, backend, &name)) return false;
  code_request request = {.backend = backend,
                          .tier = name.tier,
                          .passes = name.passes,
                          .selection = r->passes ? r->passes : "",
                          .only_cached = true};
  if (code_make(k, &request, &c, NULL) != VYRE_OK) return false;
  hash_hex(c->hash, hex);
  if (!code_is_trusted(c) || (r->code[0] && strcmp(r->code, hex))) return false;
  variant *v = plan_variant(k, p, c, name.shape);
  if (!v) return false;
  pthread_mutex_lock(&k->lock);
  plan_adopt(p, v, REASON_ROUTED, NULL);
  pthread_mutex_unlock(&k->lock);
  atomic_store(&p->state, PLAN_LEARNED);
  // Who says when to learn is obeyed; otherwise it is looked again when that is worth its cost.
  if (!k->runtime->options.learn_after) atomic_store(&p->attention, 0);
  return true;
}

// ---- what was measured before -------------------------------------------------------------------

static double median_of(const store_samples *s) {
  return s->recent_count ? (double)trial_median(s->recent_ns, s->recent_count) : 0;
}

double begin_prior_ns(const vyre_kernel *k, const plan *p, const variant *v) {
  char text[VARIANT_TEXT];
  double found = 0;
  variant_text(v, text);
  for (uint32_t i = 0; i < k->prior_count; i++) {
    const store_latency_row *r = &k->priors[i];
    if (r->size_class != p->size_class || strcmp(r->work, p->work) || strcmp(r->variant, text))
      continue;
    if (!found) found = median_of(&r->samples);
  }
  return found;
}

bool begin_has_hope(const vyre_kernel *k, const plan *p, const char *backend, double usual_ns) {
  for (uint32_t i = 0; i < k->prior_count; i++) {
    const store_latency_row *r = &k->priors[i];
    if (r->size_class != p->size_class || strcmp(r->work, p->work)) continue;
    if (backend && !is_of_backend(r->variant, backend)) continue;
    // The fastest, because the latest may be what made it be left.
    if (r->samples.count >= FIGURE_ENOUGH && (double)r->samples.min_ns < usual_ns * 0.8)
      return true;
  }
  return false;
}

// ---- what other sizes say -----------------------------------------------------------------------

typedef struct prediction_row {
  code *code;
  uint32_t shape[3];
  model_point points[MODEL_POINTS];
  uint32_t count;
  double log_ns;
} prediction_row;

enum { ROWS = 8, TURNS = 4 };

static prediction_row *row_of(prediction_row *rows, uint32_t *count, const variant *v) {
  for (uint32_t i = 0; i < *count; i++)
    if (rows[i].code == v->code && !memcmp(rows[i].shape, v->shape, sizeof v->shape))
      return &rows[i];
  if (*count == ROWS) return NULL;
  prediction_row *row = &rows[(*count)++];
  row->code = v->code;
  memcpy(row->shape, v->shape, sizeof v->shape);
  row->count = 0;
  return row;
}

static void add_plan(prediction_row *rows, uint32_t *count, const plan *q) {
  for (uint32_t i = 0; i < atomic_load(&((plan *)q)->variant_count); i++) {
    const variant *v = q->variants[i];
    double ns = plan_estimate_ns(q, v);
    if (ns <= 0 || !code_is_trusted(v->code) || v->code->constants) continue;
    prediction_row *row = row_of(rows, count, v);
    if (!row || row->count == MODEL_POINTS) continue;
    model_point *point = &row->points[row->count++];
    memcpy(point->features, q->features, sizeof point->features);
    point->log_ns = log2(ns + 1);
    point->weight = v->figure.count >= FIGURE_ENOUGH ? 1 : 0.25;
  }
}

// Sorted by what they are expected to take here, the fastest first.
static uint32_t predict(vyre_kernel *k, const plan *p, prediction_row *rows) {
  uint32_t count = 0;
  pthread_mutex_lock(&k->lock);
  for (uint32_t i = 0; i < KERNEL_PLANS; i++) {
    plan *q = atomic_load(&k->plans[i]);
    if (q) add_plan(rows, &count, q);
  }
  pthread_mutex_unlock(&k->lock);
  for (uint32_t i = 0; i < count; i++) {
    model m = model_fit(rows[i].points, rows[i].count);
    rows[i].log_ns = model_predict(&m, p->features);
  }
  for (uint32_t i = 1; i < count; i++) // few
    for (uint32_t n = i; n && rows[n].log_ns < rows[n - 1].log_ns; n--) {
      prediction_row swap = rows[n];
      rows[n] = rows[n - 1];
      rows[n - 1] = swap;
    }
  return count;
}

// Known variants take turns in the first dispatches: a few samples of each decide sooner than a
// trial in the background would.
static bool begin_with_predicted(vyre_kernel *k, plan *p) {
  prediction_row *rows = calloc(ROWS, sizeof *rows);
  uint32_t count = rows ? predict(k, p, rows) : 0, taken = 0;
  for (uint32_t i = 0; i < count && taken < TURNS; i++) {
    variant *v = plan_variant(k, p, rows[i].code, rows[i].shape);
    if (!v) break;
    pthread_mutex_lock(&k->lock);
    if (!taken++) plan_adopt(p, v, REASON_PREDICTED, NULL);
    pthread_mutex_unlock(&k->lock);
  }
  free(rows);
  p->is_known = taken > 0;
  if (taken > 1) {
    atomic_store(&p->state, PLAN_OPENING);
    atomic_store(&p->attention, ATTEND_OPENING);
  }
  return taken > 0;
}

// ---- the beginning ------------------------------------------------------------------------------

static vyre_status begin_with_first(vyre_kernel *k, plan *p, uint64_t timeout_ns,
                                    vyre_error *error) {
  code *first;
  vyre_status status = kernel_first_within(k, timeout_ns, &first, error);
  if (status != VYRE_OK) return status;
  variant *v = plan_variant(k, p, first, NULL);
  if (!v) return error_out_of_memory(error);
  pthread_mutex_lock(&k->lock);
  plan_adopt(p, v, REASON_FIRST, NULL);
  pthread_mutex_unlock(&k->lock);
  return VYRE_OK;
}

vyre_status begin_plan(vyre_kernel *k, plan *p, uint64_t timeout_ns, vyre_error *error) {
  remembered r = {.passes = NULL};
  bool has_begun = false;
  ask_routes(k, p, &r);
  if (k->runtime->worker) // without learning, the first code is all there is
    has_begun = begin_with_remembered(k, p, &r) || begin_with_predicted(k, p);
  free(r.passes);
  return has_begun ? VYRE_OK : begin_with_first(k, p, timeout_ns, error);
}
