// SPDX-License-Identifier: MIT
#include "backend/backend.h"
#include "base/error.h"
#include "cli/measure.h"
#include "cli/show.h"
#include "cli/tune_replay.h"
#include "runtime/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const args_option tune_options[] = {
    MEASURE_OPTIONS,
    TUNE_SEARCH_OPTIONS,
    {'a', "again", NULL},
    {0, NULL, NULL},
};

// ---- showing ------------------------------------------------------------------------------------

typedef struct tuned {
  const char *backend;
  const vyre_device *device;
  tune_key key;
  tune_shape chosen;
  const tune_sweep_result *result;
  const char *path; // NULL: not written
} tuned;

static json_t *rows_json(const tune_sweep_result *r) {
  json_t *rows = json_array();
  for (uint32_t i = 0; i < r->count; i++) {
    const trial_candidate *t = &r->trials[i];
    json_t *o = json_pack("{s:s, s:I, s:I, s:i, s:i}", "shape", r->rows[i].name, "median_ns",
                          (json_int_t)t->median_ns, "noise_ns", (json_int_t)t->noise_ns, "samples",
                          (int)t->sample_count, "earlier", (int)r->rows[i].earlier_samples);
    if (t->rejected) json_object_set_new(o, "rejected", cli_text(t->error.message));
    json_array_append_new(rows, o);
  }
  return rows;
}

static json_t *tuned_json(const tuned *t) {
  const uint32_t *axis = t->chosen.axis;
  return json_pack("{s:s, s:s, s:s, s:[i,i,i], s:s, s:o, s:s?}", "backend", t->backend, "adapter",
                   t->device->adapter, "key", t->key.text, "shape", (int)axis[0], (int)axis[1],
                   (int)axis[2], "reason", trial_reason_name(t->result->decision.reason), "shapes",
                   rows_json(t->result), "file", t->path);
}

static void show_text(const tuned *t) {
  char time[SHOW_TEXT], noise[SHOW_TEXT];
  printf("%s: %u x %u x %u (%s)\n", t->backend, t->chosen.axis[0], t->chosen.axis[1],
         t->chosen.axis[2], trial_reason_name(t->result->decision.reason));
  for (uint32_t i = 0; i < t->result->count; i++) {
    const trial_candidate *c = &t->result->trials[i];
    printf("  %-12s", t->result->rows[i].name);
    if (c->rejected)
      printf(" rejected: %s\n", c->error.message);
    else
      printf(" %10s +- %-10s %u samples, %u of them from before\n", show_time(c->median_ns, time),
             show_time(c->noise_ns, noise), c->sample_count, t->result->rows[i].earlier_samples);
  }
  if (t->path) printf("written to %s\n", t->path);
}

// ---- tuning -------------------------------------------------------------------------------------

static vyre_status tune_device(measure *m, bool again, tuned *t, vyre_executable *executable,
                               json_t *list, vyre_error *error) {
  tuner *shapes = tuner_new(t->device->adapter, TUNE_ON, &m->notes);
  if (!shapes) return error_out_of_memory(error);
  sweep_request r = {.program = m->program.program,
                     .inputs = &m->inputs,
                     .expected = &m->expected,
                     .executable = executable,
                     .device = t->device,
                     .store = m->store,
                     .rounds = (uint32_t)m->rounds,
                     .again = again,
                     .keep_going = measure_goes_on,
                     .context = m};
  tune_sweep_result result;
  vyre_error why;
  m->start_ns = 0;
  m->what = t->backend;
  vyre_status status = sweep_run(&r, shapes, &result, &t->chosen, &why, error);
  measure_clear_line(m);
  if (status == VYRE_OK) {
    if (why.status != VYRE_OK) note_tell(&m->notes, &why);
    // Stopped before anything was measured: there is no decision to keep.
    bool is_decided = result.decision.winner != TRIAL_NONE && !m->is_dry;
    if (is_decided) status = tuner_persist(shapes, &m->notes, error);
    t->path = is_decided && status == VYRE_OK ? tuner_path(shapes) : NULL;
    t->result = &result;
    if (status == VYRE_OK && list) json_array_append_new(list, tuned_json(t));
    if (status == VYRE_OK && !list) show_text(t);
    tune_sweep_free(&result);
  }
  tuner_free(shapes);
  return status;
}

// One backend; those that were not asked for and cannot be used are only mentioned.
static vyre_status tune_backend(measure *m, bool again, const char *id, json_t *list,
                                uint32_t *tuned_count, vyre_error *error) {
  vyre_device device;
  uint32_t count = 0;
  vyre_executable *executable = NULL;
  tuned t = {.backend = id, .device = &device};
  (void)sweep_key(m->program.program, &m->inputs, &t.key);
  vyre_status status = vyre_backend_devices(id, &device, 1, &count, error);
  if (status == VYRE_OK && !count && !measure_was_stopped())
    status = error_set(error, VYRE_ERROR_UNSUPPORTED,
                       "backend `%s` has no device. Fix: install "
                       "one, or tune another backend",
                       id);
  if (status == VYRE_OK) status = measure_compile(m, id, &executable, error);
  if (status != VYRE_OK && !m->backends.count) {
    if (!list) printf("%s: not tuned: %s\n", id, error->message);
    return VYRE_OK;
  }
  if (status == VYRE_OK) status = tune_device(m, again, &t, executable, list, error);
  *tuned_count += status == VYRE_OK;
  vyre_executable_release(executable);
  return status;
}

static vyre_status tune(measure *m, bool again, vyre_error *error) {
  tune_key key;
  uint32_t count = 0;
  if (!sweep_key(m->program.program, &m->inputs, &key))
    return error_set(error, VYRE_ERROR_BINDING,
                     "program `%s` has only rigid regions, whose workgroup is part of their "
                     "meaning. Fix: there is nothing to tune",
                     vyre_program_name(m->program.program));
  json_t *list = m->cli->json ? json_array() : NULL;
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; vyre_backend_name(i) && status == VYRE_OK; i++) {
    const char *id = vyre_backend_name(i);
    if (!measure_wants(m, id) || (!m->backends.count && !backend_is_contender(id))) continue;
    if (!measure_was_stopped()) status = tune_backend(m, again, id, list, &count, error);
  }
  if (status == VYRE_OK && !count)
    status = error_set(error, VYRE_ERROR_UNSUPPORTED,
                       "no backend could be tuned. Fix: see `vyre devices`");
  if (status == VYRE_OK && list)
    cli_json(json_pack("{s:s, s:O, s:b}", "op", vyre_program_name(m->program.program), "tuned",
                       list, "stopped", measure_was_stopped()));
  if (!list && measure_was_stopped()) printf("stopped early: decided with what there was\n");
  json_decref(list);
  return status;
}

static int run(cli *c, int argc, char **argv) {
  measure m = {.cli = c, .rounds = TRIAL_ROUNDS};
  tune_search searching = {.strategy = SEARCH_MODEL};
  bool again = false, ok = true;
  vyre_error error;
  int code = EXIT_USAGE;
  args a = args_begin(c, tune_options, argc, argv);
  a.takes_build = true;
  for (int letter; ok && (letter = args_next(&a)) != ARGS_END;) {
    again |= letter == 'a';
    bool is_search = tune_search_option(&searching, &a, letter, &ok);
    if (!is_search) ok = letter == 'a' || measure_option(&m, &a, letter);
  }
  if (ok && searching.replay) {
    code = tune_replay(c, &searching);
    ok = false;
  }
  if (ok && !m.file) cli_usage(c, "no program is named. Fix: run `vyre tune FILE NAME=SPEC ...`");
  if (ok && m.file) {
    vyre_status status = measure_begin(&m, &error);
    if (status == VYRE_OK) status = tune(&m, again, &error);
    code = measure_exit(&m, status, &error);
  }
  measure_end(&m);
  tune_search_fini(&searching);
  return code;
}

const command tune_command = {
    "tune", "measure which launch shape is fastest, and keep it",
    "usage: vyre tune FILE[:ENTRY] [NAME=SPEC ...] [options]\n"
    "\n"
    "Tries workgroups of 32 to 1024 invocations, along one axis and folded over two or three, on\n"
    "every backend with the given arguments (NAME=SPEC as in `vyre run`). Only elastic regions\n"
    "have a launch shape to choose. Each shape's result is compared with the reference first;\n"
    "then they are timed in turn, and one replaces the declared shape when it is faster by more\n"
    "than 2 % and more than the noise. Samples of earlier runs are taken from the evidence\n"
    "instead of being measured again. The decision goes to a file per device below tuner/ in the\n"
    "cache directory, and the runtime uses it. Ctrl-C decides with what was measured.\n"
    "\n"
    "options:\n"
    "  -b, --backend ID    only this one; may be given several times\n"
    "  -a, --again         measure everything again\n"
    "  -r, --rounds N      samples of each (3)\n"
    "  -g, --grid X[,Y[,Z]], -DNAME=VALUE, -Idir, -cl-...   as in `vyre run`\n"
    "      --language NAME what FILE is written in, where its name does not say\n"
    "      --dry-run       write nothing\n"
    "      --json          the same as JSON\n"
    "\n"
    "exit status: 0; 1 the program has nothing to tune; 3 environment; 130 stopped by Ctrl-C\n"
    "\n"
    "examples:\n"
    "  vyre tune saxpy.vyre a=2 x=rand:1000000 y=ones:1000000\n"
    "  vyre tune blur.cl:rows src=rand:65536 dst=zeros:65536 --grid 256,256 --backend cpu\n",
    run};
