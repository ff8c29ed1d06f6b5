// SPDX-License-Identifier: MIT
#include "cli/tune_space.h"

#include "backend/backend.h"
#include "base/ascii.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/paths.h"
#include "cli/show.h"
#include "cli/tune_evaluate.h"
#include "policy/tune_cache.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEAST_EVALUATIONS = 20, MOST_EVALUATIONS = 200, SHARE = 10 };
#define SAVE_EVERY_NS UINT64_C(1000000000)
#define SHOW_EVERY_NS UINT64_C(100000000)

enum { FAMILY = 17 };

// What came out.
typedef struct tuned {
  bool is_there;
  uint32_t config;
  double time_ns;
  trial_reason reason;
  uint32_t raced; // configurations that were timed again
  struct finalist {
    uint32_t config;
    uint64_t median_ns, noise_ns;
  } finalists[RACE_MOST];
} tuned;

// The course of one search, on one backend.
typedef struct tuning {
  const tune_space_request *request;
  const space *space;
  const char *backend;
  evaluator evaluator;
  vyre_device device;
  search_options options;
  search *search;
  json_t *results;
  double *times;             // of configurations; NAN: failed, or not evaluated
  char *path;                // where results are kept; NULL: nowhere
  char family[FAMILY], *key; // of the source and the space; and of the words and the device, too
  const char *decided_in;    // the tuner's file; NULL: not written
  uint32_t known, done, failed, wanted;
  uint64_t compile_ns, check_ns, run_ns, search_ns;
  tuned best;
  uint64_t begin_ns, saved_ns, shown_ns;
  strbuf course;   // lines of --report
  vyre_error last; // of a configuration that failed
} tuning;

// ---- what is kept -------------------------------------------------------------------------------

static void add_text(hasher *h, const char *text) {
  if (text) hash_update(h, text, strlen(text));
  hash_update(h, "", 1);
}

// Results of one source and space have names that begin alike, so that they find one another.
static void name_family(tuning *t) {
  const tune_space_request *q = t->request;
  hasher h;
  uint8_t hash[HASH_BYTES];
  char hex[HASH_HEX];
  hash_init_for(&h, "vyre-space-family");
  hash_update(&h, q->source.text, q->source.size);
  const char *slash = strrchr(q->m->file, '/');
  const char *entry = strchr(slash ? slash : q->m->file, ':');
  add_text(&h, entry);
  for (uint32_t i = 0; i < t->space->param_count; i++) add_text(&h, t->space->params[i].name);
  hash_final(&h, hash);
  hash_hex(hash, hex);
  snprintf(t->family, sizeof t->family, "%.16s", hex);
}

// One file for the source, the space, the words and the device.
static vyre_status find_path(tuning *t, vyre_error *error) {
  const tune_space_request *q = t->request;
  const measure *m = q->m;
  hasher h;
  uint8_t hash[HASH_BYTES];
  char hex[HASH_HEX], name[HASH_HEX + 64];
  name_family(t);
  hash_init_for(&h, "vyre-space");
  add_text(&h, t->backend);
  add_text(&h, t->device.adapter);
  hash_update(&h, m->source.build.at ? m->source.build.at : "", m->source.build.size);
  hash_update(&h, m->grid, sizeof m->grid);
  add_text(&h, m->grid_text);
  add_text(&h, q->workgroup);
  for (size_t i = 0; i < m->words.count; i++) add_text(&h, m->words.at[i]);
  hash_final(&h, hash);
  hash_hex(hash, hex);
  snprintf(name, sizeof name, "tuner/space-%s-%.16s.json", t->family, hex);
  strbuf key = {0};
  strbuf_printf(&key, "c1-%s-%.16s", t->family, hex);
  t->key = strbuf_take(&key, NULL);
  if (!t->key) return error_out_of_memory(error);
  if (m->is_dry) return VYRE_OK;
  t->path = q->how->results ? strdup(q->how->results) : path_cache(name, error);
  if (!t->path) return q->how->results ? error_out_of_memory(error) : error->status;
  return VYRE_OK;
}

static void tell_known(void *context, uint32_t config, double time_ns) {
  tuning *t = context;
  if (!search_tell(t->search, config, time_ns)) return; // twice in the file
  t->times[config] = time_ns;
  t->known++;
}

static const char *op_of(const tuning *t) {
  return t->evaluator.op[0] ? t->evaluator.op : t->request->m->file;
}

static vyre_status save(tuning *t, bool is_last, vyre_error *error) {
  uint64_t now = clock_now_ns();
  if (!t->path || !t->done || (!is_last && now - t->saved_ns < SAVE_EVERY_NS)) return VYRE_OK;
  t->saved_ns = now;
  const char *op = op_of(t);
  return tuning_results_write(t->path, t->results, op, t->device.adapter, error);
}

// ---- the search ---------------------------------------------------------------------------------

static void clear_line(const tuning *t) {
  if (t->shown_ns) fputs("\r\033[K", stderr);
}

static void show_progress(tuning *t) {
  uint64_t now = clock_now_ns();
  if (t->request->m->cli->json || !isatty(STDERR_FILENO) || now - t->shown_ns < SHOW_EVERY_NS)
    return;
  char left[SHOW_TEXT], time[SHOW_TEXT];
  uint32_t best;
  double best_ns;
  strbuf what = {0};
  bool has_best = search_best(t->search, &best, &best_ns);
  if (has_best) space_config_print(t->space, best, &what);
  char *text = strbuf_take(&what, NULL);
  uint64_t left_ns = (now - t->begin_ns) / (t->done ? t->done : 1) * (t->wanted - t->done);
  fprintf(stderr, "\r\033[K%s: %u of %u, %s left, best %s %s, Ctrl-C keeps what is done",
          t->backend, t->done, t->wanted, show_time(left_ns, left),
          has_best ? show_time((uint64_t)best_ns, time) : "none", text ? text : "");
  free(text);
  t->shown_ns = now;
}

static bool goes_on(const tuning *t) {
  uint64_t budget = t->request->how->budget_ns;
  if (measure_was_stopped() || t->done >= t->wanted) return false;
  return !budget || clock_now_ns() - t->begin_ns < budget;
}

static void note_course(tuning *t, const tuning_result *r) {
  uint32_t best;
  double best_ns;
  char line[128];
  bool has_best = search_best(t->search, &best, &best_ns);
  format_text(line, sizeof line, "%u,%.6f,%.0f,%.0f\n", t->done,
              (double)(clock_now_ns() - t->begin_ns) * 1e-9, isnan(r->time_ns) ? 0 : r->time_ns,
              has_best ? best_ns : 0);
  strbuf_puts(&t->course, line);
}

// A configuration that fails is a result; only running out of memory ends the search.
static vyre_status evaluate(tuning *t, uint32_t config, tuning_result *r, vyre_error *error) {
  uint32_t best;
  double best_ns = 0;
  (void)search_best(t->search, &best, &best_ns);
  if (evaluator_run(&t->evaluator, config, best_ns, r, &t->last) != VYRE_OK) t->failed++;
  t->compile_ns += r->compile_ns;
  t->check_ns += r->check_ns;
  t->run_ns += r->run_ns;
  return t->last.status == VYRE_ERROR_MEMORY ? error_out_of_memory(error) : VYRE_OK;
}

static vyre_status run_search(tuning *t, vyre_error *error) {
  uint32_t config;
  tuning_result r;
  vyre_status status = VYRE_OK;
  t->begin_ns = clock_now_ns();
  strbuf_puts(&t->course, "evaluation,seconds,time_ns,best_ns\n");
  while (goes_on(t) && status == VYRE_OK) {
    uint64_t start = clock_now_ns();
    if (!search_ask(t->search, &config)) break;
    uint64_t search_ns = clock_now_ns() - start;
    status = evaluate(t, config, &r, error);
    if (status != VYRE_OK) return status;
    r.search_ns = search_ns;
    t->search_ns += search_ns;
    (void)search_tell(t->search, config, r.time_ns);
    t->times[config] = r.time_ns;
    if (json_array_append_new(t->results, tuning_result_json(t->space, &r)) != 0)
      return error_out_of_memory(error);
    t->done++;
    note_course(t, &r);
    show_progress(t);
    status = save(t, false, error);
  }
  return status == VYRE_OK ? save(t, true, error) : status;
}

// ---- the decision -------------------------------------------------------------------------------

// The fastest, and those that a lucky sample may have put behind it.
static uint32_t find_finalists(const tuning *t, uint32_t *configs, uint32_t *valid) {
  const double NEAR = 1.5;
  uint32_t count = 0;
  *valid = 0;
  for (uint32_t i = 0; i < t->space->count; i++) {
    if (isnan(t->times[i])) continue;
    ++*valid;
    uint32_t at = count < RACE_MOST ? count++ : RACE_MOST;
    for (; at > 0 && t->times[i] < t->times[configs[at - 1]]; at--)
      if (at < RACE_MOST) configs[at] = configs[at - 1];
    if (at < RACE_MOST) configs[at] = i;
  }
  while (count > 1 && t->times[configs[count - 1]] > NEAR * t->times[configs[0]]) count--;
  return count;
}

// The best few are timed again, in turn; without that what the search saw counts.
static void decide(tuning *t) {
  uint32_t configs[RACE_MOST], valid, count = find_finalists(t, configs, &valid);
  if (!count) return;
  trial_reason reason = valid > 1 ? TRIAL_FASTEST : TRIAL_ONLY_CANDIDATE;
  t->best = (tuned){true, configs[0], t->times[configs[0]], reason, 0, {{0}}};
  if (count == 1 || measure_was_stopped()) return;
  trial_candidate candidates[RACE_MOST];
  memset(candidates, 0, sizeof candidates);
  char names[RACE_MOST][12];
  for (uint32_t i = 0; i < count; i++) {
    snprintf(names[i], sizeof names[i], "%010u", configs[i]);
    candidates[i].name = names[i];
  }
  uint64_t start = clock_now_ns();
  trial_decision d = evaluator_race(&t->evaluator, configs, count, candidates);
  t->run_ns += clock_now_ns() - start;
  if (d.winner == TRIAL_NONE) return;
  const trial_candidate *won = &candidates[d.winner];
  t->best.config = configs[d.winner];
  t->best.time_ns = (double)trial_best(won);
  t->best.raced = count;
  t->best.reason = TRIAL_FASTEST;
  for (uint32_t i = 0; i < count; i++) {
    const trial_candidate *c = &candidates[i];
    t->best.finalists[i] = (struct finalist){configs[i], c->median_ns, c->noise_ns};
    bool is_near = (int)i != d.winner && !c->rejected &&
                   c->median_ns <= won->median_ns + won->noise_ns + c->noise_ns;
    if (is_near) t->best.reason = TRIAL_WITHIN_NOISE;
  }
}

// What was decided goes to the tuner's file of the device, for people and for `vyre explain`.
static vyre_status record(tuning *t, tuner **file, vyre_error *error) {
  if (!t->best.is_there || !t->path) return VYRE_OK;
  *file = tuner_new(t->device.adapter, TUNE_ON, &t->request->m->notes);
  strbuf text = {0};
  space_config_print(t->space, t->best.config, &text);
  char *config = strbuf_take(&text, NULL);
  vyre_status status = *file && config ? VYRE_OK : error_out_of_memory(error);
  tune_choice choice = {op_of(t), config, trial_reason_name(t->best.reason)};
  if (status == VYRE_OK) status = tuner_record_choice(*file, t->key, &choice, error);
  if (status == VYRE_OK) status = tuner_persist(*file, &t->request->m->notes, error);
  if (status == VYRE_OK) t->decided_in = tuner_path(*file);
  free(config);
  return status;
}

// ---- showing ------------------------------------------------------------------------------------

static json_t *seconds(uint64_t ns) {
  return json_real((double)ns * 1e-9);
}

// What was timed again, in turn, and what it took in the middle of its samples; 0: it failed.
static json_t *finalists_json(const tuning *t) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < t->best.raced; i++) {
    const struct finalist *f = &t->best.finalists[i];
    json_array_append_new(list,
                          json_pack("{s:o, s:I, s:I}", "configuration",
                                    tuning_configuration_json(t->space, f->config), "median_ns",
                                    (json_int_t)f->median_ns, "noise_ns", (json_int_t)f->noise_ns));
  }
  return list;
}

static json_t *tuned_json(const tuning *t) {
  double importance[SPACE_PARAMS];
  json_t *matters = json_object();
  search_importance(t->search, importance);
  for (uint32_t i = 0; i < t->space->param_count; i++)
    json_object_set_new(matters, t->space->params[i].name, json_real(importance[i]));
  json_t *spent = json_pack("{s:o, s:o, s:o, s:o}", "compiling", seconds(t->compile_ns),
                            "comparing", seconds(t->check_ns), "running", seconds(t->run_ns),
                            "searching", seconds(t->search_ns));
  return json_pack("{s:s, s:s, s:o, s:f, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:o, s:o, s:o, s:s?, "
                   "s:s?}",
                   "backend", t->backend, "adapter", t->device.adapter, "configuration",
                   tuning_configuration_json(t->space, t->best.config), "time_ns", t->best.time_ns,
                   "reason", trial_reason_name(t->best.reason), "configurations",
                   (int)t->space->count, "evaluations", (int)t->done, "known", (int)t->known,
                   "failed", (int)t->failed, "priors", (int)t->options.prior_count, "raced",
                   (int)t->best.raced, "finalists", finalists_json(t), "importance", matters,
                   "seconds", spent, "results", t->path, "file", t->decided_in);
}

static void show_spent(const tuning *t) {
  char compile[SHOW_TEXT], check[SHOW_TEXT], run[SHOW_TEXT], search[SHOW_TEXT];
  printf("  spent %s compiling, %s comparing, %s running, %s choosing\n",
         show_time(t->compile_ns, compile), show_time(t->check_ns, check),
         show_time(t->run_ns, run), show_time(t->search_ns, search));
}

static bool has_word(const char *text, const char *name) {
  size_t size = strlen(name);
  for (const char *at = text; at && (at = strstr(at, name)); at += size)
    if ((at == text || !ascii_is_word(at[-1])) && !ascii_is_word(at[size])) return true;
  return false;
}

static bool is_in_braces(const char *text, const char *name) {
  const char *brace = text ? strchr(text, '{') : NULL;
  return brace && has_word(brace, name);
}

// A macro that the source does not name, and that stands in the braces of another word.
static bool is_only_in_braces(const tuning *t, const char *name) {
  const tune_space_request *r = t->evaluator.request;
  bool is_there = is_in_braces(r->m->grid_text, name) || is_in_braces(r->workgroup, name);
  for (size_t i = 0; i < r->m->words.count; i++) is_there |= is_in_braces(r->m->words.at[i], name);
  return is_there && !strstr(r->source.text, "#include") && !has_word(r->source.text, name);
}

static void use_word(const tuning *t, const char *option, const char *word, strbuf *out) {
  char *text = NULL;
  if (!word || !strchr(word, '{')) return;
  if (tunables_substitute(t->space, t->best.config, word, &text, NULL) == VYRE_OK)
    strbuf_printf(out, "%s%s%s", out->size ? " " : "", option, text);
  free(text);
}

// What `vyre run` takes for the best configuration: macros and tunables of the source, then the
// words in whose braces the others stand, and choices that no source sees.
static char *use_words(const tuning *t) {
  const measure *m = t->evaluator.request->m;
  strbuf out = {0};
  for (uint32_t i = 0; i < t->space->param_count; i++) {
    const space_param *p = &t->space->params[i];
    bool is_choice = tunables_choice(p->name) != CHOICE_NONE;
    if (!is_choice && (!evaluator_gives(&t->evaluator, p) || is_only_in_braces(t, p->name)))
      continue;
    strbuf_printf(&out, "%s%s%s=%s", out.size ? " " : "", is_choice ? "" : "-D", p->name,
                  p->values[space_row(t->space, t->best.config)[i]]);
  }
  for (size_t i = 0; i < m->words.count; i++) use_word(t, "", m->words.at[i], &out);
  use_word(t, "--grid ", m->grid_text, &out);
  use_word(t, "--workgroup ", t->evaluator.request->workgroup, &out);
  return strbuf_take(&out, NULL);
}

static void show_tuned(const tuning *t) {
  char time[SHOW_TEXT];
  double importance[SPACE_PARAMS];
  strbuf words = {0};
  space_config_print(t->space, t->best.config, &words);
  char *text = strbuf_take(&words, NULL), *use = use_words(t);
  printf("%s: %u of %u configurations evaluated, %u known from before, %u failed\n", t->backend,
         t->done, t->space->count, t->known, t->failed);
  if (t->options.prior_count)
    printf("  began with the results of %u other devices or sizes\n", t->options.prior_count);
  printf("  best %s: %s (%s", show_time((uint64_t)t->best.time_ns, time), text ? text : "",
         trial_reason_name(t->best.reason));
  if (t->best.raced) printf(", %u timed again", t->best.raced);
  search_importance(t->search, importance);
  printf(")\n  what matters:");
  for (uint32_t i = 0; i < t->space->param_count; i++)
    printf("%s %s %d %%", i ? "," : "", t->space->params[i].name,
           (int)floor(100 * importance[i] + 0.5));
  putchar('\n');
  show_spent(t);
  printf("  use it with: %s\n", use ? use : "");
  if (t->path) printf("  results are in %s\n", t->path);
  if (t->decided_in) printf("  written to %s\n", t->decided_in);
  free(text);
  free(use);
}

static vyre_status show(const tuning *t, json_t *list, vyre_error *error) {
  if (!t->best.is_there) {
    if (measure_was_stopped() || !t->done) return VYRE_OK;
    *error = t->last;
    return t->last.status;
  }
  if (list)
    json_array_append_new(list, tuned_json(t));
  else
    show_tuned(t);
  return VYRE_OK;
}

// ---- one backend --------------------------------------------------------------------------------

static uint32_t usual_evaluations(const space *s) {
  uint32_t share = s->count / SHARE;
  uint32_t usual = share < LEAST_EVALUATIONS  ? LEAST_EVALUATIONS
                   : share > MOST_EVALUATIONS ? MOST_EVALUATIONS
                                              : share;
  return usual < s->count ? usual : s->count;
}

// The times of other devices or sizes, as files that were named, ...
static vyre_status read_priors(tuning *t, vyre_error *error) {
  const tune_search *how = t->request->how;
  vyre_status status = VYRE_OK;
  for (size_t i = 0; i < how->priors.count && status == VYRE_OK; i++) {
    double *times;
    status = tuning_prior_read(how->priors.at[i], t->space, &times, error);
    if (status == VYRE_OK) t->options.priors[t->options.prior_count++] = times;
  }
  return status;
}

// A few results say more about chance than about what is fast.
static bool is_evidence(const tuning *t, const double *times) {
  enum { LEAST = 4 };
  uint32_t count = 0;
  for (uint32_t i = 0; i < t->space->count; i++) count += !isnan(times[i]);
  return count >= LEAST;
}

// ... or what the cache has of this source and space. A file that cannot be read is no evidence.
static void find_priors(tuning *t) {
  if (!t->path || t->request->how->results || t->request->how->no_prior) return;
  size_t folder = (size_t)(strrchr(t->path, '/') - t->path);
  strbuf pattern = {0};
  strbuf_add(&pattern, t->path, folder);
  strbuf_printf(&pattern, "/space-%s-*.json", t->family);
  char *text = strbuf_take(&pattern, NULL);
  glob_t found = {0};
  bool ok = text && glob(text, 0, NULL, &found) == 0;
  for (size_t i = 0; ok && i < found.gl_pathc && t->options.prior_count < SEARCH_PRIORS; i++) {
    double *times;
    vyre_error ignored;
    if (!strcmp(found.gl_pathv[i], t->path)) continue;
    if (tuning_prior_read(found.gl_pathv[i], t->space, &times, &ignored) != VYRE_OK) continue;
    if (is_evidence(t, times))
      t->options.priors[t->options.prior_count++] = times;
    else
      free(times);
  }
  if (ok) globfree(&found);
  free(text);
}

static vyre_status begin_search(tuning *t, vyre_error *error) {
  const tune_search *how = t->request->how;
  t->evaluator = (evaluator){t->request, t->space, t->backend, ""};
  t->options = (search_options){.strategy = how->strategy, .seed = how->seed};
  vyre_status status = find_path(t, error);
  if (status == VYRE_OK) status = read_priors(t, error);
  if (status != VYRE_OK) return status;
  if (!how->priors.count) find_priors(t);
  t->search = search_new(t->space, &t->options);
  t->times = malloc((t->space->count + 1u) * sizeof *t->times);
  if (!t->search || !t->times) return error_out_of_memory(error);
  for (uint32_t i = 0; i < t->space->count; i++) t->times[i] = (double)NAN;
  t->wanted = how->evaluations ? (uint32_t)how->evaluations : usual_evaluations(t->space);
  if (how->strategy == SEARCH_EXHAUSTIVE && !how->evaluations) t->wanted = t->space->count;
  if (t->path && !t->request->again)
    return tuning_results_read(t->path, t->space, tell_known, t, &t->results, error);
  t->results = json_array();
  return t->results ? VYRE_OK : error_out_of_memory(error);
}

static vyre_status tune_backend(tuning *t, json_t *list, vyre_error *error) {
  const char *report = t->request->how->report;
  tuner *file = NULL;
  vyre_status status = begin_search(t, error);
  if (status == VYRE_OK) status = run_search(t, error);
  if (status == VYRE_OK) decide(t);
  clear_line(t);
  if (status == VYRE_OK) status = record(t, &file, error);
  if (status == VYRE_OK && report)
    status = file_replace(report, t->course.at, t->course.size, error);
  if (status == VYRE_OK) status = show(t, list, error);
  tuner_free(file);
  return status;
}

static void end_tuning(tuning *t) {
  for (uint32_t i = 0; i < t->options.prior_count; i++) free((double *)t->options.priors[i]);
  search_free(t->search);
  json_decref(t->results);
  free(t->times);
  free(t->key);
  free(t->path);
  strbuf_fini(&t->course);
}

// Backends that were not asked for and have no device are left out.
static vyre_status tune_all(const tune_space_request *r, const space *s, json_t *list,
                            uint32_t *count, vyre_error *error) {
  vyre_status status = VYRE_OK;
  const char *ids[MEASURE_BACKENDS];
  uint32_t wanted = measure_ids(r->m, false, ids);
  for (uint32_t i = 0; i < wanted && status == VYRE_OK && !measure_was_stopped(); i++) {
    tuning t = {.request = r, .space = s, .backend = ids[i]};
    uint32_t devices = 0;
    status = vyre_backend_devices(t.backend, &t.device, 1, &devices, error);
    if (status == VYRE_OK && devices > 1) backend_device(t.backend, &t.device);
    if (!r->m->backends.count && (status != VYRE_OK || !devices)) {
      status = VYRE_OK;
      continue;
    }
    if (status == VYRE_OK && !devices)
      status =
          error_set(error, VYRE_ERROR_UNSUPPORTED,
                    "backend `%s` has no device. Fix: install one, or tune another", t.backend);
    if (status == VYRE_OK) status = tune_backend(&t, list, error);
    *count += status == VYRE_OK;
    end_tuning(&t);
  }
  return status;
}

vyre_status tune_space(const tune_space_request *r, vyre_error *error) {
  space s;
  uint32_t count = 0;
  measure_catch_stop();
  vyre_status status = tunables_space(r->tunables, &r->source, &s, error);
  if (status != VYRE_OK) return status;
  json_t *list = r->m->cli->json ? json_array() : NULL;
  status = tune_all(r, &s, list, &count, error);
  if (status == VYRE_OK && !count && !measure_was_stopped())
    status = error_set(error, VYRE_ERROR_UNSUPPORTED,
                       "no backend could be tuned. Fix: see `vyre devices`");
  if (status == VYRE_OK && list)
    cli_json(json_pack("{s:s, s:O, s:b}", "file", r->m->file, "tuned", list, "stopped",
                       measure_was_stopped()));
  if (status == VYRE_OK && !list && measure_was_stopped())
    printf("stopped early: decided with what there was\n");
  json_decref(list);
  space_fini(&s);
  return status;
}
