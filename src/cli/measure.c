// SPDX-License-Identifier: MIT
#include "cli/measure.h"

#include "backend/executable.h"
#include "base/clock.h"
#include "base/error.h"
#include "cli/show.h"
#include "policy/optimize.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t max_extent = INT32_MAX;

// ---- Ctrl-C -------------------------------------------------------------------------------------

// A handler has no other way to say what happened.
static volatile sig_atomic_t was_stopped;

static void stop(int number) {
  (void)number;
  was_stopped = 1;
}

bool measure_was_stopped(void) {
  return was_stopped;
}

// A second Ctrl-C ends the process as usual.
void measure_catch_stop(void) {
  struct sigaction action = {.sa_handler = stop, .sa_flags = (int)SA_RESETHAND};
  sigaction(SIGINT, &action, NULL);
}

// ---- the command line ---------------------------------------------------------------------------

static bool read_backend(measure *m, const args *a) {
  if (backend_find(a->value)) return vec_push(&m->backends, a->value);
  cli_usage(m->cli, "there is no backend `%s`. Fix: see `vyre devices`", a->value);
  return false;
}

bool measure_set_grid(measure *m, const args *a) {
  m->grid_count = 1;
  for (const char *p = a->value; *p; p++) m->grid_count += *p == ',';
  return args_extents(a, "--grid", max_extent, 1, m->grid);
}

bool measure_option(measure *m, const args *a, int letter) {
  bool ok;
  switch (letter) {
  case 'b': return read_backend(m, a);
  case 'r': return args_count(a, "--rounds", 32, &m->rounds);
  case 'N': m->is_dry = true; return true;
  case 'g':
    m->grid_text = strchr(a->value, '{') ? a->value : NULL;
    return m->grid_text || measure_set_grid(m, a);
  case SOURCE_LANGUAGE: return source_take(&m->source, a, letter, &ok) && ok;
  case ARGS_BUILD: source_add_option(&m->source, a->value); return true;
  case ARGS_WORD:
    if (m->file) return vec_push(&m->words, a->value);
    m->file = a->value;
    return true;
  default: return false;
  }
}

static uint32_t add_once(const char **ids, uint32_t count, const char *id) {
  for (uint32_t i = 0; i < count; i++)
    if (!strcmp(ids[i], id)) return count;
  ids[count] = id;
  return count + 1;
}

uint32_t measure_ids(const measure *m, bool with_others, const char **out) {
  uint32_t count = 0;
  for (size_t i = 0; i < m->backends.count && count < MEASURE_BACKENDS; i++)
    count = add_once(out, count, backend_find(m->backends.at[i])->id);
  for (uint32_t i = 0; !m->backends.count && vyre_backend_name(i) && count < MEASURE_BACKENDS;
       i++) {
    const char *id = vyre_backend_name(i);
    if (!with_others && !backend_is_contender(id)) continue;
    uint32_t found =
        backend_device_ids(id, !with_others, out + count, MEASURE_BACKENDS - count, NULL);
    // It says itself why it cannot be used; but one that has to be named was not.
    if (!found && !backend_device_ids(id, false, &(const char *){NULL}, 1, NULL)) out[count++] = id;
    count += found;
  }
  return count;
}

// ---- inputs and answer --------------------------------------------------------------------------

static vyre_status load(measure *m, vyre_error *error) {
  if (load_language(m->file, &m->source).has_launch) {
    size_t kept = 0;
    for (size_t i = 0; i < m->words.count; i++)
      if (!source_take_argument(&m->source, m->words.at[i])) m->words.at[kept++] = m->words.at[i];
    m->words.count = kept;
    m->source.rank = m->grid_count;
  }
  vyre_status status = load_program(m->file, &m->source, &m->program, error);
  if (status != VYRE_OK) return status;
  return bind_words(m->program.program, m->words.at, m->words.count, m->grid, m->grid_count,
                    &m->bound, error);
}

static vyre_status take_inputs(measure *m, vyre_error *error) {
  vyre_dispatch_args args = {.params = m->bound.params,
                             .param_count = m->bound.param_count,
                             .buffers = m->bound.spans,
                             .buffer_count = m->bound.span_count};
  capture_result taken = capture_take(&m->inputs, m->program.program, &args);
  if (taken == CAPTURE_TAKEN) return VYRE_OK;
  if (taken == CAPTURE_NO_MEMORY) return error_out_of_memory(error);
  return error_set(error, VYRE_ERROR_LIMIT,
                   "the buffers are larger than %zu MiB together, of which a copy is kept. Fix: "
                   "measure with smaller ones",
                   CAPTURE_MAX_BYTES >> 20);
}

static vyre_status ask_reference(measure *m, vyre_error *error) {
  vyre_executable *reference;
  vyre_status status =
      vyre_compile(m->program.program, backend_oracle()->id, NULL, &reference, error);
  if (status != VYRE_OK) return status;
  status = capture_answer(&m->inputs, reference, NULL, error);
  if (status == VYRE_OK && !capture_keep(&m->inputs, &m->expected))
    status = error_out_of_memory(error);
  vyre_executable_release(reference);
  return status;
}

vyre_status measure_load(measure *m, vyre_error *error) {
  vyre_status status = load(m, error);
  return status == VYRE_OK ? take_inputs(m, error) : status;
}

vyre_status measure_begin(measure *m, vyre_error *error) {
  measure_catch_stop();
  m->notes = cli_notes();
  vyre_status status = measure_load(m, error);
  if (status == VYRE_OK) status = ask_reference(m, error);
  if (status != VYRE_OK || m->is_dry) return status;
  vyre_error why;
  if (store_open(NULL, &m->notes, &m->store, &why) != VYRE_OK) note_tell(&m->notes, &why);
  return VYRE_OK;
}

void measure_end(measure *m) {
  store_close(m->store);
  capture_output_fini(&m->expected);
  capture_fini(&m->inputs);
  bind_free(&m->bound);
  load_free(&m->program);
  source_words_free(&m->source);
  vec_free(&m->words);
  vec_free(&m->backends);
}

vyre_status measure_compile(const measure *m, const char *backend, vyre_executable **out,
                            vyre_error *error) {
  optimize_result optimized;
  uint64_t lengths[LIMIT_BUFFERS];
  optimize_options options = {.lengths = capture_lengths(&m->inputs, lengths) ? lengths : NULL};
  vyre_compile_options as_it_is = {.optimize = VYRE_OPTIMIZE_NONE,
                                   .vector_width = m->compile.vector_width,
                                   .threads = m->compile.threads};
  if (m->compile.has_passes) options.profiles = variant_passes_profiles(m->compile.passes);
  if (m->compile.has_passes && m->compile.passes == PASSES_NONE) options.mode = OPTIMIZE_NOTHING;
  // As the runtime does: what goes beyond the usual passes is tried whole, because it is measured.
  if (m->compile.has_passes && m->compile.passes > PASSES_RELEASE)
    options.mode = OPTIMIZE_EVERYTHING;
  vyre_status status = optimize_program(m->program.program, &options, &optimized, error);
  if (status == VYRE_OK) status = vyre_compile(optimized.program, backend, &as_it_is, out, error);
  optimize_result_fini(&optimized);
  return status;
}

int measure_exit(const measure *m, vyre_status status, const vyre_error *error) {
  int code = status == VYRE_OK ? EXIT_FINE : cli_error(m->cli, error);
  return was_stopped ? EXIT_STOPPED : code;
}

// ---- telling ------------------------------------------------------------------------------------

void measure_clear_line(const measure *m) {
  if (m->shown_ns) fputs("\r\033[K", stderr);
}

bool measure_goes_on(void *context, uint32_t done, uint32_t expected) {
  measure *m = context;
  uint64_t now = clock_now_ns();
  if (!m->start_ns || !done) m->start_ns = now;
  bool is_time = now - m->shown_ns > UINT64_C(100000000);
  if (!m->cli->json && isatty(STDERR_FILENO) && is_time && done) {
    uint64_t all = expected > done ? expected : done;
    uint64_t left_ns = (now - m->start_ns) / done * (all - done);
    char left[SHOW_TEXT];
    fprintf(stderr, "\r\033[K%s: %u of %u runs, %s left, Ctrl-C keeps what is done", m->what, done,
            (unsigned)all, show_time(left_ns, left));
    m->shown_ns = now;
  }
  return !was_stopped;
}

const char *measure_age(int64_t date, char *out) {
  int64_t age = clock_unix_seconds() - date;
  if (!date)
    snprintf(out, SHOW_TEXT, "at a time not stated");
  else if (age < 60)
    snprintf(out, SHOW_TEXT, "just now"); // a date in the future is a clock that jumped
  else if (age < 7200)
    snprintf(out, SHOW_TEXT, "%lld minutes ago", (long long)age / 60);
  else if (age < 2 * 86400)
    snprintf(out, SHOW_TEXT, "%lld hours ago", (long long)age / 3600);
  else
    snprintf(out, SHOW_TEXT, "%lld days ago", (long long)age / 86400);
  return out;
}
