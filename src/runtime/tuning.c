// SPDX-License-Identifier: MIT
#include "runtime/tuning.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/format.h"
#include "base/strbuf.h"
#include "policy/search.h"
#include "policy/space_draft.h"
#include "policy/tune_cache.h"
#include "policy/worth.h"
#include "runtime/kernel.h"
#include "runtime/runtime.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  LEAST_EVALUATIONS = 20, // a tenth of the space, but not fewer and not more
  MOST_EVALUATIONS = 200,
  SHARE = 10,
  ROUNDS = 3,      // samples of each
  DIFFERENT = 8,   // that give another answer, and none that does not: answers depend on them
  RACED = 16,      // contenders that are remembered
  FINALISTS = 3,   // that race when the search is over
  LEAST_PRIOR = 4, // times of another bucket that say something
};
#define SLICE_NS UINT64_C(1000000000) // other plans wait meanwhile

struct tuning {
  const variant *anchor; // that ran when the search began: times are told as shares of its time
  search *search;
  double *times; // of configurations, over the anchor's; NAN: failed, or not evaluated
  double *priors[SEARCH_PRIORS];
  uint32_t prior_count;
  uint32_t wanted, known, done, failed, different;
  double cost_ns; // of an evaluation, in the mean
  double gained;  // see policy/worth.h
  uint32_t raced[RACED], raced_count, finals;
  bool is_over;
  char last[160]; // what the last failure said
  char story[512];
};

void tuning_free(tuning *t) {
  if (!t) return;
  search_free(t->search);
  for (uint32_t i = 0; i < t->prior_count; i++) free(t->priors[i]);
  free(t->times);
  free(t);
}

bool tuning_has_space(const vyre_kernel *k) {
  return k->program->tunable_count || k->program->origin;
}

const char *tuning_story(const plan *p) {
  return p->tuning ? p->tuning->story : "";
}

static bool has_configurations(const vyre_kernel *k) {
  return k->space && k->space->count > 1;
}

bool tuning_is_over(const vyre_kernel *k, const plan *p) {
  bool is_wrong = atomic_load(&((vyre_kernel *)k)->configurations) == CONFIGURATIONS_WRONG;
  bool has_none = is_wrong || !tuning_has_space(k) || (k->space && !has_configurations(k));
  return has_none || (p->tuning && p->tuning->is_over);
}

// ---- the space ----------------------------------------------------------------------------------

// A configuration is kept as a text: no value may have a space in it, and the longest must fit.
static bool fits_in_names(const space *s) {
  size_t size = 0;
  for (uint32_t i = 0; i < s->param_count; i++) {
    size_t longest = 0;
    for (uint32_t n = 0; n < s->params[i].count; n++) {
      size_t length = strlen(s->params[i].values[n]);
      if (strchr(s->params[i].values[n], ' ')) return false;
      if (length > longest) longest = length;
    }
    size += strlen(s->params[i].name) + longest + 2;
  }
  return size < VARIANT_CONFIGURATION;
}

// Made once for all plans of a kernel. A kernel whose space cannot be made has an empty one.
static void find_space(vyre_kernel *k) {
  vyre_error error = {0};
  space *made = k->space ? NULL : calloc(1, sizeof *made);
  if (!made) return;
  vyre_status status = space_of_program(k->program, made, &error);
  if (status == VYRE_OK && !fits_in_names(made)) {
    space_fini(made);
    status = error_set(&error, VYRE_ERROR_LIMIT,
                       "a configuration has more than %d bytes, or values with spaces. Fix: use "
                       "shorter names and values",
                       VARIANT_CONFIGURATION - 1);
  }
  if (status != VYRE_OK)
    runtime_tell(k->runtime, "the tunables of `%s` are not tuned: %s", k->program->name,
                 error.message);
  pthread_mutex_lock(&k->lock);
  k->space = made;
  pthread_mutex_unlock(&k->lock);
}

static bool config_text(const vyre_kernel *k, uint32_t config, char out[VARIANT_CONFIGURATION]) {
  strbuf text = {0};
  space_config_print(k->space, config, &text);
  char *whole = strbuf_take(&text, NULL);
  bool ok = whole && strlen(whole) < VARIANT_CONFIGURATION;
  if (ok) snprintf(out, VARIANT_CONFIGURATION, "%s", whole);
  free(whole);
  return ok;
}

// The values that the program has itself; SPACE_NONE when that cannot be said (macros).
static int64_t declared_config(const vyre_kernel *k) {
  uint16_t row[SPACE_PARAMS];
  const vyre_program *p = k->program;
  for (uint32_t i = 0; i < p->tunable_count; i++) row[i] = (uint16_t)p->tunables[i].chosen;
  return p->tunable_count ? space_find(k->space, row) : SPACE_NONE;
}

// ---- telling ------------------------------------------------------------------------------------

static double best_time(const tuning *t) {
  uint32_t config;
  double time;
  return search_best(t->search, &config, &time) ? time : 1;
}

static void tell(tuning *t, uint32_t config, double time) {
  double before = fmin(best_time(t), 1);
  if (!search_tell(t->search, config, time)) return;
  t->times[config] = time;
  double after = fmin(best_time(t), 1);
  t->gained += log(before / after);
}

// ---- what is known ------------------------------------------------------------------------------

// The configuration of a variant like the anchor's; SPACE_NONE for any other.
static int64_t config_of_row(const vyre_kernel *k, const tuning *t, const store_latency_row *r) {
  char backend[VARIANT_TEXT];
  variant_name name;
  if (!variant_name_parse(r->variant, backend, &name) || name.constants || name.shape[0])
    return SPACE_NONE;
  const code *c = t->anchor->code;
  if (strcmp(backend, c->backend) || name.passes != c->passes || name.tier != c->tier)
    return SPACE_NONE;
  return name.configuration[0] ? space_config_read(k->space, name.configuration) : SPACE_NONE;
}

static bool is_of_plan(const store_latency_row *r, const plan *p) {
  return r->size_class == p->size_class && !strcmp(r->work, p->work);
}

static bool is_same_bucket(const store_latency_row *a, const store_latency_row *b) {
  return a->size_class == b->size_class && !strcmp(a->work, b->work);
}

// What earlier processes of this build measured in this bucket, over what the anchor took there.
static void tell_known(vyre_kernel *k, const plan *p, tuning *t) {
  char build[BUILD_TEXT];
  build_name(build);
  double anchor = t->anchor->prior_best_ns;
  for (uint32_t i = 0; i < k->prior_count && anchor > 0; i++) {
    const store_latency_row *r = &k->priors[i];
    int64_t config = config_of_row(k, t, r);
    if (config == SPACE_NONE || !is_of_plan(r, p) || strcmp(r->build, build)) continue;
    if (!isnan(t->times[config]) || !r->samples.min_ns) continue;
    tell(t, (uint32_t)config, (double)r->samples.min_ns / anchor);
    t->known++;
  }
}

// Times of other buckets, and of other builds, say where to begin.
static void add_prior(vyre_kernel *k, tuning *t, search_options *o, const store_latency_row *like) {
  uint32_t count = 0;
  double *times = malloc(k->space->count * sizeof *times);
  if (!times) return;
  for (uint32_t i = 0; i < k->space->count; i++) times[i] = (double)NAN;
  for (uint32_t i = 0; i < k->prior_count; i++) {
    const store_latency_row *r = &k->priors[i];
    int64_t config = is_same_bucket(r, like) ? config_of_row(k, t, r) : SPACE_NONE;
    if (config == SPACE_NONE || !r->samples.min_ns) continue;
    count += isnan(times[config]);
    times[config] = (double)r->samples.min_ns;
  }
  if (count < LEAST_PRIOR) {
    free(times);
    return;
  }
  o->priors[o->prior_count++] = t->priors[t->prior_count++] = times;
}

static void add_plan_prior(vyre_kernel *k, tuning *t, search_options *o, const tuning *other) {
  double *times = malloc(k->space->count * sizeof *times);
  if (!times) return;
  memcpy(times, other->times, k->space->count * sizeof *times);
  o->priors[o->prior_count++] = t->priors[t->prior_count++] = times;
}

static void find_priors(vyre_kernel *k, const plan *p, tuning *t, search_options *o) {
  for (uint32_t i = 0; i < KERNEL_PLANS && o->prior_count < SEARCH_PRIORS; i++) {
    const plan *q = atomic_load(&k->plans[i]);
    if (q && q != p && q->tuning && q->tuning->done >= LEAST_PRIOR)
      add_plan_prior(k, t, o, q->tuning);
  }
  for (uint32_t i = 0; i < k->prior_count && o->prior_count < SEARCH_PRIORS; i++) {
    const store_latency_row *r = &k->priors[i];
    bool is_seen = is_of_plan(r, p);
    for (uint32_t n = 0; n < i && !is_seen; n++) is_seen = is_same_bucket(&k->priors[n], r);
    if (!is_seen) add_prior(k, t, o, r);
  }
}

// ---- beginning ----------------------------------------------------------------------------------

static uint32_t usual_evaluations(const space *s) {
  uint32_t share = s->count / SHARE;
  uint32_t usual = share < LEAST_EVALUATIONS  ? LEAST_EVALUATIONS
                   : share > MOST_EVALUATIONS ? MOST_EVALUATIONS
                                              : share;
  return usual < s->count ? usual : s->count;
}

// Times are told beside a code without values of its own, so that the declared ones count as 1.
static const variant *find_anchor(plan *p) {
  const variant *current = atomic_load(&p->current), *found = NULL;
  if (!current->code->configuration[0]) return current;
  for (uint32_t i = 0; i < atomic_load(&p->variant_count); i++) {
    const variant *v = p->variants[i];
    bool is_like = !v->code->configuration[0] && code_is_trusted(v->code) &&
                   !strcmp(v->code->backend, current->code->backend);
    if (is_like && (!found || v->code->tier == VYRE_TIER_FULL)) found = v;
  }
  return found;
}

static tuning *begin(vyre_kernel *k, plan *p) {
  const variant *anchor = find_anchor(p);
  tuning *t = anchor ? calloc(1, sizeof *t) : NULL;
  search_options options = {.strategy = SEARCH_MODEL};
  if (!t) return NULL;
  t->anchor = anchor;
  find_priors(k, p, t, &options);
  t->search = search_new(k->space, &options);
  t->times = malloc(k->space->count * sizeof *t->times);
  if (!t->search || !t->times) {
    tuning_free(t);
    return NULL;
  }
  for (uint32_t i = 0; i < k->space->count; i++) t->times[i] = (double)NAN;
  t->wanted = usual_evaluations(k->space);
  t->is_over = !has_configurations(k);
  tell_known(k, p, t);
  int64_t declared = declared_config(k);
  if (declared != SPACE_NONE) tell(t, (uint32_t)declared, 1);
  return t;
}

// ---- one configuration --------------------------------------------------------------------------

static vyre_status make_code(vyre_kernel *k, const tuning *t, const capture *inputs,
                             const char *configuration, code **out, vyre_error *error) {
  const code *like = t->anchor->code;
  uint64_t lengths[LIMIT_BUFFERS];
  code_request request = {.configuration = configuration,
                          .backend = like->backend,
                          .tier = VYRE_TIER_FULL,
                          .passes = like->tier == VYRE_TIER_FULL ? like->passes : PASSES_RELEASE,
                          .lengths = inputs && capture_lengths(inputs, lengths) ? lengths : NULL,
                          .is_attempt = true};
  return code_make(k, &request, out, error);
}

// Whether a plain compile on this CPU of the same configuration gives the declared one's answer:
// then the code that does not is wrong. Otherwise answers depend on the configuration, which is the
// program's own affair.
static bool is_equivalent(const tuning_request *r, const code *c) {
  char text[160];
  vyre_executable *plain;
  vyre_compile_options how = {.tier = VYRE_TIER_QUICK, .optimize = VYRE_OPTIMIZE_NONE};
  if (vyre_compile(c->program, backend_usual()->id, &how, &plain, NULL) != VYRE_OK) return false;
  bool ok = capture_answer(r->inputs, plain, NULL, NULL) == VYRE_OK &&
            capture_matches(r->inputs, r->expected, text, sizeof text);
  vyre_executable_release(plain);
  return ok;
}

static bool prove(vyre_kernel *k, tuning *t, const tuning_request *r, code *c) {
  vyre_error error = {0};
  char text[160];
  if (capture_answer(r->inputs, c->executable, NULL, &error) != VYRE_OK) {
    snprintf(t->last, sizeof t->last, "%.159s", error.message);
    return false;
  }
  if (capture_matches(r->inputs, r->expected, text, sizeof text)) {
    code_passed(c);
    return true;
  }
  if (is_equivalent(r, c))
    code_condemn(k, c, text);
  else
    t->different++;
  snprintf(t->last, sizeof t->last, "another answer than as declared: %.120s", text);
  return false;
}

// What is clearly beaten gets no more samples: three times as slow as the best once, or half as
// slow again twice.
static bool take_samples(const tuning *t, const tuning_request *r, const code *c, double anchor_ns,
                         trial_candidate *out) {
  const double BEATEN_ONCE = 3, BEATEN = 1.5;
  double limit = anchor_ns * fmin(best_time(t), 1);
  for (uint32_t i = 0; i < ROUNDS; i++) {
    uint64_t spent = 0;
    if (capture_time(r->inputs, c->executable, NULL, &out->samples[i], &spent, NULL) != VYRE_OK)
      return false;
    out->sample_count++;
    if ((double)trial_best(out) > (i ? BEATEN : BEATEN_ONCE) * limit) break;
  }
  out->median_ns = trial_median(out->samples, out->sample_count);
  out->noise_ns = trial_noise(out->samples, out->sample_count);
  return true;
}

// For the store, under the name that it would have as a variant.
static void keep_samples(vyre_kernel *k, const plan *p, code *c, const trial_candidate *samples) {
  variant *v = calloc(1, sizeof *v);
  if (!v) return;
  v->code = c;
  variant_tried(v, samples, 0);
  evidence_keep_samples(k, p, v);
  free(v);
}

static double evaluate(vyre_kernel *k, const plan *p, tuning *t, const tuning_request *r,
                       uint32_t config, double anchor_ns) {
  char text[VARIANT_CONFIGURATION];
  vyre_error error = {0};
  code *c = NULL;
  double time = (double)NAN;
  trial_candidate samples = {.name = "configuration"};
  if (!config_text(k, config, text)) return time;
  if (make_code(k, t, r->inputs, text, &c, &error) != VYRE_OK) {
    snprintf(t->last, sizeof t->last, "%.159s", error.message);
    return time;
  }
  if (prove(k, t, r, c) && take_samples(t, r, c, anchor_ns, &samples)) {
    time = (double)trial_best(&samples) / anchor_ns;
    if (c->configuration[0]) keep_samples(k, p, c, &samples);
  }
  if (!c->is_listed) code_free(c);
  return time;
}

// ---- the search ---------------------------------------------------------------------------------

// A run of what is compared with, on the same inputs and at the same time; 0: it failed.
static double time_anchor(const tuning *t, const tuning_request *r) {
  trial_candidate samples = {.name = "anchor"};
  for (uint32_t i = 0; i < ROUNDS; i++) {
    uint64_t spent = 0;
    if (capture_time(r->inputs, t->anchor->code->executable, t->anchor->shape,
                     &samples.samples[samples.sample_count++], &spent, NULL) != VYRE_OK)
      return 0;
  }
  return (double)trial_best(&samples);
}

// What `vyre tune` or another bucket chose comes first.
static bool ask_chosen(vyre_kernel *k, const tuning *t, uint32_t *config) {
  vyre_runtime *rt = k->runtime;
  note_sink notes = runtime_notes(rt);
  tune_choice choice;
  bool is_found = false;
  if (rt->options.no_store || t->done) return false;
  tuner *file =
      tuner_new(evidence_device_name(rt, t->anchor->code->device), TUNE_OFF_USE_DEFAULT, &notes);
  for (uint32_t i = 0; file && !is_found && tuner_choice(file, i, &choice); i++) {
    int64_t found = strcmp(choice.op, k->program->name)
                        ? SPACE_NONE
                        : space_config_read(k->space, choice.configuration);
    is_found = found != SPACE_NONE && isnan(t->times[found]);
    if (is_found) *config = (uint32_t)found;
  }
  tuner_free(file);
  return is_found;
}

static bool step(vyre_kernel *k, const plan *p, tuning *t, const tuning_request *r,
                 double anchor_ns) {
  uint32_t config;
  uint64_t start = clock_thread_cpu_ns();
  if (!ask_chosen(k, t, &config) && !search_ask(t->search, &config)) return false;
  double time = evaluate(k, p, t, r, config, anchor_ns);
  tell(t, config, time);
  t->failed += isnan(time);
  t->done++;
  t->cost_ns += ((double)(clock_thread_cpu_ns() - start) - t->cost_ns) / t->done;
  bool are_different = t->different >= DIFFERENT && t->different == t->done;
  return t->done + t->known < t->wanted && !are_different;
}

static void write_story(vyre_kernel *k, tuning *t) {
  double importance[SPACE_PARAMS];
  char best[VARIANT_CONFIGURATION] = "", time[64] = "";
  uint32_t config;
  double least;
  strbuf s = {0};
  if (search_best(t->search, &config, &least) && least < 1 && config_text(k, config, best))
    format_text(time, sizeof time, ", %.3g of the time as declared", least);
  strbuf_printf(&s,
                "tunables: %u of %u configurations evaluated, %u known from before, %u failed; ",
                t->done, k->space->count, t->known, t->failed);
  strbuf_printf(&s, "best %s%s; what matters:", best[0] ? best : "as declared", time);
  search_importance(t->search, importance);
  for (uint32_t i = 0; i < k->space->param_count; i++)
    strbuf_printf(&s, "%s %s %d %%", i ? "," : "", k->space->params[i].name,
                  (int)floor(100 * importance[i] + 0.5));
  strbuf_puts(&s, t->is_over ? "; over" : "; goes on when that is worth its cost");
  if (t->last[0]) strbuf_printf(&s, "; last failure: %s", t->last);
  char *text = strbuf_take(&s, NULL);
  pthread_mutex_lock(&k->lock);
  snprintf(t->story, sizeof t->story, "%s", text ? text : "");
  pthread_mutex_unlock(&k->lock);
  free(text);
}

void tuning_run(vyre_kernel *k, plan *p, const tuning_request *r) {
  uint64_t start = clock_thread_cpu_ns(), begun = clock_now_ns();
  find_space(k);
  if (!has_configurations(k)) return;
  if (!p->tuning) {
    tuning *made = begin(k, p);
    pthread_mutex_lock(&k->lock);
    p->tuning = made;
    pthread_mutex_unlock(&k->lock);
  }
  tuning *t = p->tuning;
  double anchor_ns = t && !t->is_over ? time_anchor(t, r) : 0;
  bool goes_on = anchor_ns > 0;
  bool is_whole = r->budget_ns == UINT64_MAX;
  while (goes_on && !worker_is_ending(k->runtime->worker)) {
    goes_on = step(k, p, t, r, anchor_ns);
    if (!goes_on) t->is_over = true;
    bool has_time =
        clock_thread_cpu_ns() - start < r->budget_ns && clock_now_ns() - begun < SLICE_NS;
    if (!is_whole && !has_time) break;
  }
  if (t) write_story(k, t);
}

bool tuning_is_worth(const vyre_kernel *k, const plan *p, double usual_ns, double total_ns,
                     uint32_t share) {
  enum { RUNS = 2 * ROUNDS + 1 };
  const double COMPILE_NS = k->program->origin ? 8e7 : 2e7;
  const tuning *t = p->tuning;
  if (k->space && !has_configurations(k)) return false;
  worth w = {.evaluations = t ? t->done : 0,
             .gained = t ? t->gained : 0,
             .use_ns = total_ns,
             .spent_ns = (double)p->learned_ns,
             .cost_ns = t && t->done ? t->cost_ns : COMPILE_NS + RUNS * usual_ns};
  return !(t && t->is_over) && worth_evaluating(&w, share);
}

// ---- contenders ---------------------------------------------------------------------------------

static bool was_raced(const tuning *t, uint32_t config) {
  uint32_t count = t->raced_count < RACED ? t->raced_count : RACED;
  for (uint32_t i = 0; i < count; i++)
    if (t->raced[i] == config) return true;
  return false;
}

// The time of the current variant, as a share of the anchor's.
static double current_time(const vyre_kernel *k, const tuning *t, const plan *p) {
  const code *c = atomic_load(&((plan *)p)->current)->code;
  int64_t config = c->configuration[0] ? space_config_read(k->space, c->configuration) : SPACE_NONE;
  return config == SPACE_NONE || isnan(t->times[config]) ? 1 : t->times[config];
}

// One that lies a little behind may be better all the same, and is looked at in the end.
static int64_t next_contender(const vyre_kernel *k, const tuning *t, const plan *p) {
  const double NEAR = 1.05, FASTER = 0.98;
  int64_t best = SPACE_NONE;
  double limit = current_time(k, t, p) * (t->is_over ? NEAR : FASTER);
  if (limit > FASTER) limit = FASTER;
  for (uint32_t i = 0; i < k->space->count; i++) {
    if (isnan(t->times[i]) || t->times[i] > limit || was_raced(t, i)) continue;
    if (best == SPACE_NONE || t->times[i] < t->times[best]) best = i;
  }
  return best;
}

code *tuning_contender(vyre_kernel *k, plan *p) {
  tuning *t = p->tuning;
  char text[VARIANT_CONFIGURATION];
  code *c;
  if (!t || !has_configurations(k) || (t->is_over && t->finals++ >= FINALISTS)) return NULL;
  for (int64_t config; (config = next_contender(k, t, p)) != SPACE_NONE;) {
    t->raced[t->raced_count++ % RACED] = (uint32_t)config;
    if (!config_text(k, (uint32_t)config, text)) continue;
    if (make_code(k, t, NULL, text, &c, NULL) == VYRE_OK) return c;
  }
  return NULL;
}

void tuning_adopted(vyre_kernel *k, plan *p, const variant *v, char *detail, size_t size) {
  vyre_runtime *rt = k->runtime;
  const tuning *t = p->tuning;
  snprintf(detail, size, "%u of %u configurations evaluated", t->done + t->known, k->space->count);
  if (rt->options.no_store) return;
  note_sink notes = runtime_notes(rt);
  vyre_error error = {0};
  char hex[HASH_HEX], key[64];
  hash_hex(program_fingerprint(k->program), hex);
  snprintf(key, sizeof key, "c1-%.16s-%016llx", hex, (unsigned long long)p->key);
  tune_choice choice = {k->program->name, v->code->configuration, trial_reason_name(TRIAL_FASTEST)};
  tuner *file = tuner_new(evidence_device_name(rt, v->code->device), TUNE_OFF_USE_DEFAULT, &notes);
  if (!file) return;
  if (tuner_record_choice(file, key, &choice, &error) != VYRE_OK ||
      tuner_persist(file, &notes, &error) != VYRE_OK)
    runtime_notice(rt, NOTICE_STORE, "configurations are not kept: %s", error.message);
  tuner_free(file);
}
