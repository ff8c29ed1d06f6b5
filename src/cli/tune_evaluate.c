// SPDX-License-Identifier: MIT
#include "cli/tune_evaluate.h"

#include "backend/backend.h"
#include "base/clock.h"
#include "base/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- one configuration --------------------------------------------------------------------------

// The command's words for one configuration: its values in place of braces, and as macros.
typedef struct attempt {
  measure m;
  char *file, *grid, *workgroup;
  vyre_executable *executable;
} attempt;

static vyre_status fill_words(const evaluator *t, uint32_t config, attempt *a, vyre_error *error) {
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

static vyre_status fill_extents(const evaluator *t, uint32_t config, attempt *a,
                                vyre_error *error) {
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

// Choices of the backend and of the optimizer, which no source sees.
static vyre_status fill_choices(const evaluator *t, uint32_t config, attempt *a,
                                vyre_error *error) {
  measure_choices *c = &a->m.compile;
  for (uint32_t i = 0; i < t->space->param_count; i++) {
    const space_param *p = &t->space->params[i];
    const char *value = p->values[space_row(t->space, config)[i]];
    double number = p->numbers[space_row(t->space, config)[i]];
    bool is_count = number >= 0 && number <= 65536 && number == floor(number), ok = true;
    switch (tunables_choice(p->name)) {
    case CHOICE_NONE: continue;
    case CHOICE_WIDTH:
      ok = is_count;
      c->vector_width = ok ? (uint32_t)number : 0;
      break;
    case CHOICE_THREADS:
      ok = is_count;
      c->threads = ok ? (uint32_t)number : 0;
      break;
    case CHOICE_PASSES: c->has_passes = ok = variant_passes_read(value, &c->passes); break;
    }
    if (!ok)
      return error_set(error, VYRE_ERROR_BINDING,
                       "%s cannot be `%.40s`. Fix: give numbers for lanes and threads, and none, "
                       "release, dataflow or megakernel for passes",
                       p->name, value);
  }
  return VYRE_OK;
}

bool evaluator_gives(const evaluator *t, const space_param *p) {
  const measure *m = t->request->m;
  if (tunables_choice(p->name) != CHOICE_NONE) return false;
  return load_language(m->file, &m->source).has_launch ||
         tunables_find(t->request->source.program, p->name) != SPACE_NONE;
}

static vyre_status fill_source(const evaluator *t, uint32_t config, attempt *a, vyre_error *error) {
  const measure *from = t->request->m;
  source_words *source = &a->m.source;
  source->language = from->source.language;
  strbuf_add(&source->build, from->source.build.at ? from->source.build.at : "",
             from->source.build.size);
  for (uint32_t i = 0; i < t->space->param_count; i++) {
    const space_param *p = &t->space->params[i];
    if (!evaluator_gives(t, p)) continue;
    strbuf word = {0};
    strbuf_printf(&word, "-D%s=%s", p->name, p->values[space_row(t->space, config)[i]]);
    char *text = strbuf_take(&word, NULL);
    if (!text) return error_out_of_memory(error);
    source_add_option(source, text);
    free(text);
  }
  return VYRE_OK;
}

static vyre_status begin_attempt(evaluator *t, uint32_t config, attempt *a, vyre_error *error) {
  const measure *from = t->request->m;
  *a = (attempt){.m = {.cli = from->cli, .rounds = from->rounds, .is_dry = true}};
  a->m.file = a->file = strdup(from->file);
  if (!a->file) return error_out_of_memory(error);
  vyre_status status = fill_source(t, config, a, error);
  if (status == VYRE_OK) status = fill_words(t, config, a, error);
  if (status == VYRE_OK) status = fill_extents(t, config, a, error);
  if (status == VYRE_OK) status = fill_choices(t, config, a, error);
  if (status == VYRE_OK) status = measure_load(&a->m, error);
  if (status == VYRE_OK)
    snprintf(t->op, sizeof t->op, "%s", vyre_program_name(a->m.program.program));
  return status == VYRE_OK ? measure_compile(&a->m, t->backend, &a->executable, error) : status;
}

static void end_attempt(attempt *a) {
  vyre_executable_release(a->executable);
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

// What takes less than SHORT_NS is tried by the backend with one thread and with all, in turns,
// until it keeps to what is faster: a first sample says little of a short run, and nothing of what
// it will take. The first SETTLED runs have some of both, and after SETTLED_FOR_GOOD the choice is
// made.
enum { SETTLED = 8, SETTLED_FOR_GOOD = 16 };
#define SHORT_NS UINT64_C(10000000)

// Three times as slow as the best once, or half as slow again twice.
static bool is_beaten(const tuning_result *r, double best_ns) {
  const double BEATEN_ONCE = 3, BEATEN = 1.5;
  if (!(best_ns > 0) || (r->time_ns < (double)SHORT_NS && r->sample_count < SETTLED)) return false;
  return r->time_ns > (r->sample_count > 1 ? BEATEN : BEATEN_ONCE) * best_ns;
}

// As many samples as were asked for, and more while they are short, unless it is clearly beaten.
// The least counts: what disturbs a run makes it slower.
static vyre_status take_samples(attempt *a, double best_ns, tuning_result *r, vyre_error *error) {
  enum { MOST = sizeof r->samples / sizeof *r->samples };
  vyre_status status = VYRE_OK;
  uint64_t spent = 0;
  for (uint32_t i = 0; i < MOST && !is_beaten(r, best_ns); i++) {
    bool is_settled = spent >= SHORT_NS || i >= SETTLED_FOR_GOOD;
    if (i >= a->m.rounds && is_settled) break;
    status = capture_time(&a->m.inputs, a->executable, NULL, &r->samples[i], &spent, error);
    if (status != VYRE_OK) break;
    r->sample_count++;
    double ns = (double)r->samples[i];
    if (!i || ns < r->time_ns) r->time_ns = ns;
  }
  if (status != VYRE_OK) r->time_ns = (double)NAN;
  return status;
}

static vyre_status prove(attempt *a, vyre_error *error) {
  char text[160];
  vyre_status status = ask_plain(a, error);
  if (status == VYRE_OK) status = capture_answer(&a->m.inputs, a->executable, NULL, error);
  if (status != VYRE_OK || capture_matches(&a->m.inputs, &a->m.expected, text, sizeof text))
    return status;
  return error_set(error, VYRE_ERROR_VERIFY, "%s. Fix: report this backend", text);
}

static uint64_t time_limit(double best_ns) {
  const uint64_t SECOND = UINT64_C(1000000000);
  return best_ns > 0 ? (uint64_t)(20 * best_ns) + SECOND : 60 * SECOND;
}

vyre_status evaluator_run(evaluator *t, uint32_t config, double best_ns, tuning_result *r,
                          vyre_error *error) {
  attempt a;
  *r = (tuning_result){.config = config, .time_ns = (double)NAN, .invalidity = "compile"};
  r->date = clock_unix_seconds();
  uint64_t start = clock_now_ns();
  vyre_status status = begin_attempt(t, config, &a, error);
  uint64_t compiled = clock_now_ns();
  r->compile_ns = compiled - start;
  if (status == VYRE_OK) {
    a.m.inputs.args.timeout_ns = time_limit(best_ns);
    r->invalidity = "runtime";
    status = prove(&a, error);
    r->check_ns = clock_now_ns() - compiled;
  }
  if (status == VYRE_OK) status = take_samples(&a, best_ns, r, error);
  r->run_ns = clock_now_ns() - compiled - r->check_ns;
  end_attempt(&a);
  if (status == VYRE_OK) r->invalidity = "correct";
  if (status == VYRE_ERROR_VERIFY) r->invalidity = "correctness";
  if (status == VYRE_ERROR_TIMEOUT) r->invalidity = "timeout";
  return status;
}

// ---- the last few -------------------------------------------------------------------------------

typedef struct race {
  attempt attempts[RACE_MOST];
  uint32_t count;
} race;

static vyre_status run_one(void *context, uint32_t index, uint64_t *elapsed_ns, vyre_error *error) {
  race *r = context;
  attempt *a = &r->attempts[index];
  uint64_t spent = 0;
  return capture_time(&a->m.inputs, a->executable, NULL, elapsed_ns, &spent, error);
}

static bool goes_on(void *context, uint32_t done, uint32_t expected) {
  (void)context, (void)done, (void)expected;
  return !measure_was_stopped();
}

// Runs it until it takes what it will take.
static vyre_status settle(attempt *a, vyre_error *error) {
  uint64_t ns, spent = 0;
  vyre_status status = VYRE_OK;
  for (int i = 0; i < SETTLED_FOR_GOOD && spent < SHORT_NS && status == VYRE_OK; i++)
    status = capture_time(&a->m.inputs, a->executable, NULL, &ns, &spent, error);
  return status;
}

trial_decision evaluator_race(evaluator *t, const uint32_t *configs, uint32_t count,
                              trial_candidate *candidates) {
  race *r = calloc(1, sizeof *r);
  trial_decision none = {.winner = TRIAL_NONE, .fastest = TRIAL_NONE};
  if (!r) return none;
  for (; r->count < count; r->count++) {
    trial_candidate *c = &candidates[r->count];
    attempt *a = &r->attempts[r->count];
    c->rejected = begin_attempt(t, configs[r->count], a, &c->error) != VYRE_OK ||
                  settle(a, &c->error) != VYRE_OK;
  }
  uint32_t rounds = (uint32_t)t->request->m->rounds;
  trial_options options = TRIAL_PLAIN;
  options.rounds = rounds > RACE_ROUNDS ? rounds : RACE_ROUNDS;
  options.max_rounds = rounds > RACE_MOST_ROUNDS ? rounds : RACE_MOST_ROUNDS;
  options.run = run_one;
  options.keep_going = goes_on;
  options.context = r;
  trial_decision decision = trial_measure(candidates, count, &options);
  for (uint32_t i = 0; i < r->count; i++) end_attempt(&r->attempts[i]);
  free(r);
  return decision;
}
