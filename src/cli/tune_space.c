// SPDX-License-Identifier: MIT
#include "cli/tune_space.h"

#include "backend/backend.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/paths.h"
#include "cli/show.h"
#include "cli/tuning_results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEAST_EVALUATIONS = 20, MOST_EVALUATIONS = 200, SHARE = 10 };
#define SAVE_EVERY_NS UINT64_C(1000000000)
#define SHOW_EVERY_NS UINT64_C(100000000)

// The course of one search, on one backend.
typedef struct tuning {
  const tune_space_request *request;
  const space *space;
  const char *backend;
  vyre_device device;
  char op[128];
  search_options options;
  search *search;
  json_t *results;
  char *path; // where they are kept; NULL: nowhere
  uint32_t known, done, failed, wanted;
  uint64_t begin_ns, saved_ns, shown_ns;
  strbuf course;   // lines of --report
  vyre_error last; // of a configuration that failed
} tuning;

// ---- one configuration --------------------------------------------------------------------------

static void config_text(const space *s, uint32_t config, strbuf *out) {
  for (uint32_t i = 0; i < s->param_count; i++)
    strbuf_printf(out, "%s%s=%s", i ? " " : "", s->params[i].name,
                  s->params[i].values[space_row(s, config)[i]]);
}

// The command's words for one configuration: its values in place of braces, and as macros.
typedef struct attempt {
  measure m;
  char *file, *grid, *workgroup;
} attempt;

static vyre_status fill_words(const tuning *t, uint32_t config, attempt *a, vyre_error *error) {
  const measure *from = t->request->m;
  for (size_t i = 0; i < from->words.count; i++) {
    char *word;
    vyre_status status = tunables_substitute(t->space, config, from->words.at[i], &word, error);
    if (status != VYRE_OK) return status;
    if (!vec_push(&a->m.words, word)) {
      free(word);
      return error_out_of_memory(error);
    }
  }
  return VYRE_OK;
}

static vyre_status fill_extents(const tuning *t, uint32_t config, attempt *a, vyre_error *error) {
  const measure *from = t->request->m;
  memcpy(a->m.grid, from->grid, sizeof a->m.grid);
  a->m.grid_count = from->grid_count;
  args words = {.cli = from->cli};
  vyre_status status = VYRE_OK;
  if (from->grid_text) {
    status = tunables_substitute(t->space, config, from->grid_text, &a->grid, error);
    words.value = a->grid;
    if (status == VYRE_OK && !measure_set_grid(&a->m, &words))
      status = error_set(error, VYRE_ERROR_BINDING, "--grid is no extent. Fix: change it");
  }
  if (status != VYRE_OK || !t->request->workgroup) return status;
  uint64_t extents[3];
  status = tunables_substitute(t->space, config, t->request->workgroup, &a->workgroup, error);
  words.value = a->workgroup;
  if (status == VYRE_OK && !args_extents(&words, "--workgroup", UINT32_MAX, 1, extents))
    return error_set(error, VYRE_ERROR_BINDING, "--workgroup is no extent. Fix: change it");
  for (int i = 0; i < 3 && status == VYRE_OK; i++) a->m.source.workgroup[i] = (uint32_t)extents[i];
  return status;
}

// Whether -D gives the value to the source: as a macro, or as the value of the program's tunable.
// Others stand in braces only.
static bool is_given(const tuning *t, bool has_macros, const space_param *p) {
  return has_macros || tunables_find(t->request->source.program, p->name) != SPACE_NONE;
}

static vyre_status fill_source(const tuning *t, uint32_t config, attempt *a, vyre_error *error) {
  const measure *from = t->request->m;
  source_words *source = &a->m.source;
  source->language = from->source.language;
  strbuf_add(&source->build, from->source.build.at ? from->source.build.at : "",
             from->source.build.size);
  bool has_macros = load_language(a->file, source).has_launch;
  for (uint32_t i = 0; i < t->space->param_count; i++) {
    const space_param *p = &t->space->params[i];
    if (!is_given(t, has_macros, p)) continue;
    strbuf word = {0};
    strbuf_printf(&word, "-D%s=%s", p->name, p->values[space_row(t->space, config)[i]]);
    char *text = strbuf_take(&word, NULL);
    if (!text) return error_out_of_memory(error);
    source_add_option(source, text);
    free(text);
  }
  return VYRE_OK;
}

static vyre_status begin_attempt(const tuning *t, uint32_t config, attempt *a, vyre_error *error) {
  const measure *from = t->request->m;
  *a = (attempt){.m = {.cli = from->cli, .rounds = from->rounds, .is_dry = true}};
  a->m.file = a->file = strdup(from->file);
  if (!a->file) return error_out_of_memory(error);
  vyre_status status = fill_source(t, config, a, error);
  if (status == VYRE_OK) status = fill_words(t, config, a, error);
  if (status == VYRE_OK) status = fill_extents(t, config, a, error);
  return status == VYRE_OK ? measure_load(&a->m, error) : status;
}

static void end_attempt(attempt *a) {
  for (size_t i = 0; i < a->m.words.count; i++) free(a->m.words.at[i]);
  measure_end(&a->m);
  free(a->file);
  free(a->grid);
  free(a->workgroup);
}

// What the configuration is to give: a plain compile on this CPU says it, or the interpreter where
// there is none, which would take minutes for what is worth tuning.
static vyre_status ask_plain(attempt *a, vyre_error *error) {
  vyre_compile_options plain = {.tier = VYRE_TIER_QUICK, .optimize = VYRE_OPTIMIZE_NONE};
  vyre_executable *e;
  vyre_status status = vyre_compile(a->m.program.program, backend_usual()->id, &plain, &e, error);
  if (status == VYRE_ERROR_UNSUPPORTED)
    status = vyre_compile(a->m.program.program, backend_oracle()->id, NULL, &e, error);
  if (status != VYRE_OK) return status;
  status = capture_answer(&a->m.inputs, e, NULL, error);
  if (status == VYRE_OK && !capture_keep(&a->m.inputs, &a->m.expected))
    status = error_out_of_memory(error);
  vyre_executable_release(e);
  return status;
}

// Two samples, and as many as were asked for when they are not clearly beaten. The least counts:
// what disturbs a run makes it slower.
static vyre_status take_samples(attempt *a, vyre_executable *e, double best_ns, tuning_result *r,
                                vyre_error *error) {
  const double BEATEN = 1.5;
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < a->m.rounds && status == VYRE_OK; i++) {
    uint64_t spent = 0;
    status = capture_time(&a->m.inputs, e, NULL, &r->samples[i], &spent, error);
    r->sample_count += status == VYRE_OK;
    if (status != VYRE_OK) break;
    double ns = (double)r->samples[i];
    if (!i || ns < r->time_ns) r->time_ns = ns;
    if (i && best_ns > 0 && r->time_ns > BEATEN * best_ns) break;
  }
  if (status != VYRE_OK) r->time_ns = (double)NAN;
  return status;
}

static vyre_status prove(attempt *a, vyre_executable *e, vyre_error *error) {
  char text[160];
  vyre_status status = ask_plain(a, error);
  if (status == VYRE_OK) status = capture_answer(&a->m.inputs, e, NULL, error);
  if (status != VYRE_OK || capture_matches(&a->m.inputs, &a->m.expected, text, sizeof text))
    return status;
  return error_set(error, VYRE_ERROR_VERIFY, "%s. Fix: report this backend", text);
}

static vyre_status evaluate(tuning *t, uint32_t config, tuning_result *r, vyre_error *error) {
  attempt a;
  vyre_executable *e = NULL;
  uint32_t best;
  double best_ns = 0;
  (void)search_best(t->search, &best, &best_ns);
  *r = (tuning_result){.config = config, .time_ns = (double)NAN, .invalidity = "compile"};
  r->date = clock_unix_seconds();
  uint64_t start = clock_now_ns();
  vyre_status status = begin_attempt(t, config, &a, error);
  if (status == VYRE_OK) status = measure_compile(&a.m, t->backend, &e, error);
  uint64_t compiled = clock_now_ns();
  r->compile_ns = compiled - start;
  if (status == VYRE_OK) {
    a.m.inputs.args.timeout_ns =
        best_ns > 0 ? (uint64_t)(20 * best_ns) + UINT64_C(1000000000) : UINT64_C(60000000000);
    r->invalidity = "runtime";
    status = prove(&a, e, error);
    r->check_ns = clock_now_ns() - compiled;
  }
  if (status == VYRE_OK) status = take_samples(&a, e, best_ns, r, error);
  if (status == VYRE_OK)
    snprintf(t->op, sizeof t->op, "%s", vyre_program_name(a.m.program.program));
  vyre_executable_release(e);
  end_attempt(&a);
  if (status == VYRE_OK) r->invalidity = "correct";
  if (status == VYRE_ERROR_VERIFY) r->invalidity = "correctness";
  if (status == VYRE_ERROR_TIMEOUT) r->invalidity = "timeout";
  return status;
}

// ---- what is kept -------------------------------------------------------------------------------

// One file for the source, the words, the space and the device.
static vyre_status find_path(tuning *t, vyre_error *error) {
  const tune_space_request *q = t->request;
  const measure *m = q->m;
  if (m->is_dry) return VYRE_OK;
  hasher h;
  uint8_t hash[HASH_BYTES];
  char hex[HASH_HEX], name[HASH_HEX + 32];
  if (q->how->results) {
    t->path = strdup(q->how->results);
    return t->path ? VYRE_OK : error_out_of_memory(error);
  }
  hash_init_for(&h, "vyre-space");
  hash_update(&h, q->source.text, q->source.size);
  hash_update(&h, t->backend, strlen(t->backend) + 1);
  hash_update(&h, t->device.adapter, strlen(t->device.adapter) + 1);
  hash_update(&h, m->source.build.at ? m->source.build.at : "", m->source.build.size);
  hash_update(&h, m->file, strlen(m->file) + 1);
  hash_update(&h, m->grid, sizeof m->grid);
  const char *texts[] = {m->grid_text, q->workgroup};
  for (int i = 0; i < 2; i++)
    if (texts[i]) hash_update(&h, texts[i], strlen(texts[i]) + 1);
  for (size_t i = 0; i < m->words.count; i++)
    hash_update(&h, m->words.at[i], strlen(m->words.at[i]) + 1);
  for (uint32_t i = 0; i < t->space->param_count; i++)
    hash_update(&h, t->space->params[i].name, strlen(t->space->params[i].name) + 1);
  hash_final(&h, hash);
  hash_hex(hash, hex);
  snprintf(name, sizeof name, "tuner/space-%.32s.json", hex);
  t->path = path_cache(name, error);
  return t->path ? VYRE_OK : error->status;
}

static void tell_known(void *context, uint32_t config, double time_ns) {
  tuning *t = context;
  search_tell(t->search, config, time_ns);
  t->known++;
}

static vyre_status save(tuning *t, bool is_last, vyre_error *error) {
  uint64_t now = clock_now_ns();
  if (!t->path || !t->done || (!is_last && now - t->saved_ns < SAVE_EVERY_NS)) return VYRE_OK;
  t->saved_ns = now;
  const char *op = t->op[0] ? t->op : t->request->m->file;
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
  if (has_best) config_text(t->space, best, &what);
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
    if (evaluate(t, config, &r, &t->last) != VYRE_OK) t->failed++;
    if (t->last.status == VYRE_ERROR_MEMORY) return error_out_of_memory(error);
    r.search_ns = search_ns;
    search_tell(t->search, config, r.time_ns);
    if (json_array_append_new(t->results, tuning_result_json(t->space, &r)) != 0)
      return error_out_of_memory(error);
    t->done++;
    note_course(t, &r);
    show_progress(t);
    status = save(t, false, error);
  }
  clear_line(t);
  return status == VYRE_OK ? save(t, true, error) : status;
}

// ---- showing ------------------------------------------------------------------------------------

static json_t *tuned_json(const tuning *t, uint32_t best, double best_ns) {
  double importance[SPACE_PARAMS];
  json_t *matters = json_object();
  search_importance(t->search, importance);
  for (uint32_t i = 0; i < t->space->param_count; i++)
    json_object_set_new(matters, t->space->params[i].name, json_real(importance[i]));
  return json_pack("{s:s, s:s, s:o, s:f, s:i, s:i, s:i, s:i, s:o, s:s?}", "backend", t->backend,
                   "adapter", t->device.adapter, "configuration",
                   tuning_configuration_json(t->space, best), "time_ns", best_ns, "configurations",
                   (int)t->space->count, "evaluations", (int)t->done, "known", (int)t->known,
                   "failed", (int)t->failed, "importance", matters, "results", t->path);
}

static void show_tuned(const tuning *t, uint32_t best, double best_ns) {
  char time[SHOW_TEXT];
  double importance[SPACE_PARAMS];
  strbuf words = {0}, macros = {0};
  config_text(t->space, best, &words);
  const measure *m = t->request->m;
  bool has_macros = load_language(m->file, &m->source).has_launch;
  for (uint32_t i = 0; i < t->space->param_count; i++) {
    const space_param *p = &t->space->params[i];
    strbuf_printf(&macros, "%s%s%s=%s", i ? " " : "", is_given(t, has_macros, p) ? "-D" : "",
                  p->name, p->values[space_row(t->space, best)[i]]);
  }
  char *text = strbuf_take(&words, NULL), *defines = strbuf_take(&macros, NULL);
  printf("%s: %u of %u configurations evaluated, %u known from before, %u failed\n", t->backend,
         t->done, t->space->count, t->known, t->failed);
  printf("  best %s: %s\n", show_time((uint64_t)best_ns, time), text ? text : "");
  search_importance(t->search, importance);
  printf("  what matters:");
  for (uint32_t i = 0; i < t->space->param_count; i++)
    printf("%s %s %d %%", i ? "," : "", t->space->params[i].name,
           (int)floor(100 * importance[i] + 0.5));
  printf("\n  use it with: %s\n", defines ? defines : "");
  if (t->path) printf("  results are in %s\n", t->path);
  free(text);
  free(defines);
}

static vyre_status show(const tuning *t, json_t *list, vyre_error *error) {
  uint32_t best;
  double best_ns;
  if (!search_best(t->search, &best, &best_ns)) {
    if (measure_was_stopped() || !t->done) return VYRE_OK;
    *error = t->last;
    return t->last.status;
  }
  if (list)
    json_array_append_new(list, tuned_json(t, best, best_ns));
  else
    show_tuned(t, best, best_ns);
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

// The times of other devices or sizes.
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

static vyre_status tune_backend(tuning *t, json_t *list, vyre_error *error) {
  const tune_search *how = t->request->how;
  t->options = (search_options){.strategy = how->strategy, .seed = how->seed};
  vyre_status status = read_priors(t, error);
  if (status != VYRE_OK) return status;
  t->search = search_new(t->space, &t->options);
  t->wanted = how->evaluations ? (uint32_t)how->evaluations : usual_evaluations(t->space);
  if (how->strategy == SEARCH_EXHAUSTIVE && !how->evaluations) t->wanted = t->space->count;
  if (!t->search) return error_out_of_memory(error);
  status = find_path(t, error);
  if (status != VYRE_OK) return status;
  if (t->path && !t->request->again)
    status = tuning_results_read(t->path, t->space, tell_known, t, &t->results, error);
  else
    t->results = json_array();
  if (status == VYRE_OK) status = run_search(t, error);
  if (status == VYRE_OK && how->report)
    status = file_replace(how->report, t->course.at, t->course.size, error);
  return status == VYRE_OK ? show(t, list, error) : status;
}

static void end_tuning(tuning *t) {
  for (uint32_t i = 0; i < t->options.prior_count; i++) free((double *)t->options.priors[i]);
  search_free(t->search);
  json_decref(t->results);
  free(t->path);
  strbuf_fini(&t->course);
}

// Backends that were not asked for and have no device are left out.
static vyre_status tune_all(const tune_space_request *r, const space *s, json_t *list,
                            uint32_t *count, vyre_error *error) {
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; vyre_backend_name(i) && status == VYRE_OK; i++) {
    tuning t = {.request = r, .space = s, .backend = vyre_backend_name(i)};
    uint32_t devices = 0;
    bool is_wanted =
        measure_wants(r->m, t.backend) && (r->m->backends.count || backend_is_contender(t.backend));
    if (!is_wanted || measure_was_stopped()) continue;
    status = vyre_backend_devices(t.backend, &t.device, 1, &devices, error);
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
