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
  const vyre_runtime *rt = context;
  uint32_t count = 0;
  return !backend_is_of(backend, rt->without) && backend_find(backend) &&
         vyre_backend_devices(backend, NULL, 0, &count, NULL) == VYRE_OK && count;
}

static void copy_figures(const route_entry *e, plan *p) {
  for (uint32_t i = 0; i < e->observation_count && p->figure_count < PLAN_FIGURES; i++) {
    plan_figure *f = &p->figures[p->figure_count++];
    snprintf(f->backend, sizeof f->backend, "%s", e->observations[i].backend);
    f->ns = (double)e->observations[i].latency_ns;
  }
}

static void copy_entry(const route_entry *e, plan *p, remembered *r) {
  char build[BUILD_TEXT];
  copy_figures(e, p);
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
                       .has_backend = has_backend,
                       .context = rt};
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

// A variant's name begins with its backend's; a line written by hand may have just that. Those of a
// driver's further devices are of the driver, too.
static bool is_of_backend(const char *variant, const char *backend) {
  size_t size = strlen(backend);
  return !strncmp(variant, backend, size) && strchr(": ", variant[size]);
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
  // Reading a source again takes too long for whoever dispatches: the background does it.
  if (name.configuration[0] && k->program->origin) return false;
  code_request request = {.backend = backend,
                          .tier = name.tier,
                          .passes = name.passes,
                          .selection = r->passes ? r->passes : "",
                          .configuration = name.configuration,
                          .only_cached = true,
                          .is_waited_for = true};
  if (code_make(k, &request, &c, NULL) != VYRE_OK) return false;
  hash_hex(c->hash, hex);
  if (!code_is_trusted(c) || (r->code[0] && strcmp(r->code, hex))) return false;
  variant *v = plan_variant(k, p, c, name.shape);
  if (!v) return false;
  if (v->prior_ns > 0) executable_expect(c->executable, (uint64_t)v->prior_ns);
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

static bool is_of_bucket(const store_latency_row *r, const plan *p) {
  return r->size_class == p->size_class && !strcmp(r->work, p->work);
}

// What was certified was the full compile after the usual passes.
static double certified_ns(const plan *p, const code *c) {
  bool is_usual = c->tier == VYRE_TIER_FULL && c->passes == PASSES_RELEASE && !c->configuration[0];
  for (uint32_t i = 0; is_usual && i < p->figure_count; i++)
    if (!strcmp(p->figures[i].backend, c->backend)) return p->figures[i].ns;
  return 0;
}

void begin_set_prior(const vyre_kernel *k, const plan *p, variant *v) {
  char text[VARIANT_TEXT];
  variant_text(v, text);
  for (uint32_t i = 0; i < k->prior_count && v->prior_ns <= 0; i++) {
    const store_latency_row *r = &k->priors[i];
    if (!is_of_bucket(r, p) || strcmp(r->variant, text)) continue;
    v->prior_ns = median_of(&r->samples);
    v->prior_best_ns = (double)r->samples.min_ns;
  }
  if (v->prior_ns <= 0 && !v->shape[0]) v->prior_ns = v->prior_best_ns = certified_ns(p, v->code);
}

static const double HOPE = 0.8; // of the usual time: what took less is tried again

// The fastest counts, because the latest may be what made it be left.
static bool is_hopeful(const store_latency_row *r, double usual_ns) {
  return r->samples.count >= FIGURE_ENOUGH && (double)r->samples.min_ns < usual_ns * HOPE;
}

bool begin_has_hope(const vyre_kernel *k, const plan *p, const char *backend, double usual_ns) {
  for (uint32_t i = 0; backend && i < p->figure_count; i++)
    if (is_of_backend(p->figures[i].backend, backend) && p->figures[i].ns < usual_ns * HOPE)
      return true;
  for (uint32_t i = 0; i < k->prior_count; i++) {
    const store_latency_row *r = &k->priors[i];
    if (!is_of_bucket(r, p) || (backend && !is_of_backend(r->variant, backend))) continue;
    if (is_hopeful(r, usual_ns)) return true;
  }
  return false;
}

// Only what was proven on this machine, by the hash of all that it is made from: it runs at once.
static bool revive(vyre_kernel *k, plan *p, const store_latency_row *r, bool only_cached) {
  char backend[VARIANT_TEXT];
  variant_name name;
  code *c;
  if (!variant_name_parse(r->variant, backend, &name) || name.constants) return false;
  if (k->runtime->backend[0] && strcmp(backend, k->runtime->backend)) return false;
  code_request request = {.configuration = name.configuration,
                          .backend = backend,
                          .tier = name.tier,
                          .passes = name.passes,
                          .only_cached = only_cached};
  return code_make(k, &request, &c, NULL) == VYRE_OK && code_is_trusted(c) &&
         plan_variant(k, p, c, name.shape);
}

void begin_revive(vyre_kernel *k, plan *p, double usual_ns, uint64_t dispatches) {
  enum { ROWS = 2 };
  double cost = (double)runtime_compile_cost_ns(k->runtime);
  for (uint32_t i = 0, made = 0; i < k->prior_count && made < ROWS; i++) {
    const store_latency_row *r = &k->priors[i];
    if (!is_of_bucket(r, p) || !is_hopeful(r, usual_ns)) continue;
    // It was used as often before, so it may be used as often again.
    double gain = (usual_ns - (double)r->samples.min_ns) * (double)(r->samples.count + dispatches);
    made += revive(k, p, r, true) || (gain > cost && revive(k, p, r, false));
  }
}

// ---- what others measured -----------------------------------------------------------------------

static bool can_be_tried(const vyre_kernel *k, const store_latency_row *r) {
  const vyre_runtime *rt = k->runtime;
  char backend[VARIANT_TEXT], adapter[128];
  variant_name name;
  if (!variant_name_parse(r->variant, backend, &name) || name.constants) return false;
  if (rt->backend[0] && strcmp(backend, rt->backend)) return false;
  if (backend_is_of(backend, rt->without) || !backend_find(backend)) return false;
  if (!backend_is_contender(backend)) return false;
  runtime_adapter(backend, adapter);
  return !strcmp(adapter, r->device);
}

const store_latency_row *begin_lead(const vyre_kernel *k, const plan *p) {
  const store_latency_row *best = NULL;
  char build[BUILD_TEXT];
  build_name(build);
  for (uint32_t i = 0; i < k->fleet_count; i++) {
    const store_latency_row *r = &k->fleet[i];
    if (!is_of_bucket(r, p) || strcmp(r->build, build) || r->samples.count < FIGURE_ENOUGH)
      continue;
    if ((!best || median_of(&r->samples) < median_of(&best->samples)) && can_be_tried(k, r))
      best = r;
  }
  return best;
}

// ---- what other sizes say -----------------------------------------------------------------------

typedef struct prediction_row {
  code *code;
  uint32_t shape[3];
  model_point points[MODEL_POINTS];
  uint32_t count;
  double log_ns;
} prediction_row;

enum { ROWS = 16, TURNS = 4 };

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

static void swap(prediction_row *a, prediction_row *b) {
  prediction_row kept = *a;
  *a = *b;
  *b = kept;
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
    for (uint32_t n = i; n && rows[n].log_ns < rows[n - 1].log_ns; n--)
      swap(&rows[n], &rows[n - 1]);
  return count;
}

// The best of each backend comes first: where the model errs, it errs by the backend.
static void best_of_each_first(prediction_row *rows, uint32_t count) {
  uint32_t best = 0;
  for (uint32_t i = 0; i < count; i++) {
    bool is_best = true;
    for (uint32_t n = 0; n < best; n++) is_best &= rows[n].code->backend != rows[i].code->backend;
    for (uint32_t n = i; is_best && n > best; n--) swap(&rows[n], &rows[n - 1]);
    best += is_best;
  }
}

// Known variants take turns in the first dispatches: a few samples of each decide sooner than a
// trial in the background would.
static bool begin_with_predicted(vyre_kernel *k, plan *p) {
  prediction_row *rows = calloc(ROWS, sizeof *rows);
  uint32_t count = rows ? predict(k, p, rows) : 0, taken = 0;
  if (rows) best_of_each_first(rows, count);
  for (uint32_t i = 0; i < count && taken < TURNS; i++) {
    variant *v = plan_variant(k, p, rows[i].code, rows[i].shape);
    if (!v) break;
    pthread_mutex_lock(&k->lock);
    v->predicted_ns = (uint64_t)exp2(fmin(fmax(rows[i].log_ns, 0), 62)) + 1;
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
