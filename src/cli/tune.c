// SPDX-License-Identifier: MIT
#include "backend/backend.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/measure.h"
#include "cli/show.h"
#include "cli/tune_space.h"
#include "runtime/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SOURCE = 64 << 20 };

static const args_option tune_options[] = {
    MEASURE_OPTIONS,      TUNE_SEARCH_OPTIONS,
    TUNABLES_OPTIONS,     {'w', "workgroup", "extents such as 64,1,1"},
    {'a', "again", NULL}, {0, NULL, NULL},
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
  if (status == VYRE_OK && count > 1) backend_device(id, &device);
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
  const char *ids[MEASURE_BACKENDS];
  uint32_t wanted = measure_ids(m, false, ids);
  for (uint32_t i = 0; i < wanted && status == VYRE_OK && !measure_was_stopped(); i++)
    status = tune_backend(m, again, ids[i], list, &count, error);
  if (status == VYRE_OK && !count)
    status = error_set(error, VYRE_ERROR_UNSUPPORTED,
                       measure_was_stopped()
                           ? "it was stopped before anything was measured. Fix: give it longer"
                           : "no backend could be tuned. Fix: see `vyre devices`");
  if (status == VYRE_OK && list)
    cli_json(json_pack("{s:s, s:O, s:b}", "op", vyre_program_name(m->program.program), "tuned",
                       list, "stopped", measure_was_stopped()));
  if (status == VYRE_OK && !list && measure_was_stopped())
    printf("stopped early: decided with what there was\n");
  json_decref(list);
  return status;
}

// What the words of the command line say.
typedef struct words {
  measure m;
  tune_search how;
  tunables tunables;
  const char *workgroup;
  bool again;
} words;

// With braces it is known when a configuration is.
static bool read_workgroup(words *w, const args *a) {
  uint64_t extents[3];
  w->workgroup = a->value;
  if (strchr(a->value, '{')) return true;
  if (!args_extents(a, "--workgroup", UINT32_MAX, 1, extents)) return false;
  for (int i = 0; i < 3; i++) w->m.source.workgroup[i] = (uint32_t)extents[i];
  return true;
}

static bool read_word(words *w, const args *a, int letter) {
  bool ok;
  if (tune_search_option(&w->how, a, letter, &ok)) return ok;
  if (tunables_option(&w->tunables, letter, a->value, &ok)) return ok;
  if (letter == 'w') return read_workgroup(w, a);
  if (letter == 'a') w->again = true;
  return letter == 'a' || measure_option(&w->m, a, letter);
}

// The file's text, for what it declares: FILE may have an entry after a colon.
static vyre_status read_source(const char *file, char **text, size_t *size, vyre_error *error) {
  const char *slash = strrchr(file, '/'), *colon = strrchr(file, ':');
  size_t length = colon && (!slash || colon > slash) ? (size_t)(colon - file) : strlen(file);
  char *path = strndup(file, length);
  if (!path) return error_out_of_memory(error);
  vyre_status status = file_read(path, MOST_SOURCE, text, size, error);
  free(path);
  return status;
}

// Over what was declared or given, or over launch shapes where nothing was.
static vyre_status tune_file(words *w, vyre_error *error) {
  char *text = NULL;
  size_t size = 0;
  loaded own = {0}; // of a language with tunables of its own
  bool is_file = strcmp(w->m.file, "-") && read_source(w->m.file, &text, &size, error) == VYRE_OK;
  vyre_status status = VYRE_OK;
  if (is_file && !load_language(w->m.file, &w->m.source).has_launch)
    status = load_program(w->m.file, &w->m.source, &own, error);
  tunables_source source = {text, size, own.program};
  if (status == VYRE_OK && is_file && tunables_are_there(&w->tunables, &source)) {
    status = tune_space(&(tune_space_request){.m = &w->m,
                                              .how = &w->how,
                                              .tunables = &w->tunables,
                                              .workgroup = w->workgroup,
                                              .source = source,
                                              .again = w->again},
                        error);
  } else if (status == VYRE_OK) {
    status = measure_begin(&w->m, error);
    if (status == VYRE_OK) status = tune(&w->m, w->again, error);
  }
  load_free(&own);
  free(text);
  return status;
}

static int run(cli *c, int argc, char **argv) {
  words w = {.m = {.cli = c, .rounds = TRIAL_ROUNDS}, .how = {.strategy = SEARCH_MODEL}};
  bool ok = true;
  vyre_error error;
  int code = EXIT_USAGE;
  args a = args_begin(c, tune_options, argc, argv);
  a.takes_build = true;
  for (int letter; ok && (letter = args_next(&a)) != ARGS_END;) ok = read_word(&w, &a, letter);
  if (ok && !w.how.replay && !w.m.file)
    cli_usage(c, "no program is named. Fix: run `vyre tune FILE NAME=SPEC ...`");
  else if (ok && w.how.replay)
    code = tune_replay(c, &w.how);
  else if (ok)
    code = measure_exit(&w.m, tune_file(&w, &error), &error);
  measure_end(&w.m);
  tune_search_fini(&w.how);
  tunables_fini(&w.tunables);
  return code;
}

const command tune_command = {
    "tune", "measure which launch shape or configuration is fastest, and keep it",
    "usage: vyre tune FILE[:ENTRY] [NAME=SPEC ...] [options]\n"
    "       vyre tune --replay FILE.csv [options]\n"
    "\n"
    "Without tunables: tries workgroups of 32 to 1024 invocations, along one axis and folded over\n"
    "two or three, on every backend with the given arguments (NAME=SPEC as in `vyre run`). Only\n"
    "elastic regions have a launch shape to choose. Each shape's result is compared with the\n"
    "reference first; then they are timed in turn, and one replaces the declared shape when it is\n"
    "faster by more than 2 % and more than the noise. Samples of earlier runs are taken from the\n"
    "evidence instead of being measured again. The decision goes to a file per device below "
    "tuner/\n"
    "in the cache directory, and the runtime uses it.\n"
    "\n"
    "With tunables, given here or declared in the source (in the text form by `tunable`, in "
    "OpenCL\n"
    "C by lines such as\n"
    "  // vyre tunable TILE in 4, 8, 16 where TILE * TILE <= 256\n"
    "), a search chooses configurations to evaluate. Each name is a tunable of the text form or a\n"
    "macro of OpenCL C, and what stands in braces in other words is computed from them:\n"
    "tile=local:{TILE * TILE * 4}. A configuration must give what a plain compile of it gives. "
    "Results are kept as they come: the\n"
    "next run goes on where this one ended. docs/TUNING.md has more.\n"
    "\n"
    "Ctrl-C decides with what was measured.\n"
    "\n"
    "options:\n"
    "  -b, --backend ID    only this one; may be given several times\n"
    "  -a, --again         measure everything again\n"
    "  -r, --rounds N      samples of each (3)\n"
    "  -g, --grid X[,Y[,Z]], -DNAME=VALUE, -Idir, -cl-...   as in `vyre run`\n"
    "      --language NAME what FILE is written in, where its name does not say\n"
    "      --dry-run       write nothing\n"
    "      --json          the same as JSON\n"
    "with tunables:\n"
    "      --tunable NAME=V1,V2,...   may be given several times; those of the source do not "
    "count\n"
    "                      VYRE_VECTOR_WIDTH, VYRE_THREADS and VYRE_PASSES are the backend's\n"
    "                      and the optimizer's, and stand beside those of the source\n"
    "      --where EXPR    a constraint: TILE * TILE <= 256 and N % TILE == 0\n"
    "      --space FILE    tunables and constraints from a T1 file (JSON)\n"
    "  -w, --workgroup X[,Y[,Z]]      of OpenCL C, where the kernel does not say\n"
    "      --strategy S    model (the usual), random, exhaustive or annealing\n"
    "      --evaluations N at most so many (a tenth of the space, 20 to 200)\n"
    "      --seconds SECONDS  begin no evaluation after that long\n"
    "      --seed N        of what is chosen at random (0)\n"
    "      --results FILE  keep results there, in the T4 format (JSON), instead of the cache\n"
    "      --report FILE   write the course of the search there (CSV)\n"
    "      --prior FILE    times of the same space on another device or for another size, as\n"
    "                      --results or --replay have them; may be given several times. Without\n"
    "                      it, the cache's results of the same source and tunables\n"
    "      --no-prior      begin from nothing\n"
    "replayed:\n"
    "      --replay FILE   a space that was measured whole (CSV, the time last): how a search "
    "does\n"
    "      --seeds N       repeat with N seeds, from --seed on (1)\n"
    "\n"
    "exit status: 0; 1 there is nothing to tune, or all failed; 3 environment; 130 stopped by "
    "Ctrl-C\n"
    "\n"
    "examples:\n"
    "  vyre tune saxpy.vyre a=2 x=rand:1000000 y=ones:1000000\n"
    "  vyre tune blur.cl:rows src=rand:65536 dst=zeros:65536 --grid 256,256 --backend cpu\n"
    "  vyre tune mm.cl a=rand:65536 b=rand:65536 c=zeros:65536 n=256 --grid 256,256 \\\n"
    "    --tunable TILE=4,8,16,32 --tunable UNROLL=1,2,4 --where 'UNROLL <= TILE'\n"
    "  vyre tune --replay convolution-A100.csv --prior convolution-A4000.csv --seeds 100 --json\n",
    run};
