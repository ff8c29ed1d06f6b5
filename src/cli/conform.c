// SPDX-License-Identifier: MIT
#include "backend/backend.h"
#include "backend/conformance.h"
#include "base/clock.h"
#include "base/error.h"
#include "cli/args.h"
#include "cli/load.h"
#include "cli/measure.h"
#include "cli/trial_file.h"
#include "conform/shrink.h"
#include "conform/suite.h"

#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_DEVICES = 16, CHUNK = 40, MATH_POINTS = 300, DEFAULT_COUNT = 200, MAX_SHRUNK = 8 };
#define SHRINK_NS UINT64_C(120000000000)

typedef struct options {
  const char *backend, *device, *replay, *folder, *suite;
  uint64_t seed, count, time_ns; // time_ns: random programs as long as this, instead of a count
  uint64_t shrink_ns;            // for each failure
  vec(char *) files;
} options;

typedef struct failure {
  char name[96], text[400], folder[300];
} failure;

// One device under examination.
typedef struct session {
  const cli *cli;
  const options *o;
  const char *backend;
  const vyre_device *device;
  suite_counts total;
  vec(conformance_failure) known;
  vec(failure) failures;
  json_t *suites;
  vyre_error *error;
} session;

static const args_option conform_options[] = {
    {'b', "backend", "an id that `vyre devices` lists"},
    {'d', "device", "an adapter name"},
    {'s', "seed", "a number"},
    {'n', "count", "a number of random programs"},
    {'T', "seconds", "seconds"},
    {'S', "shrink", "seconds"},
    {'U', "suite", "rows, math, programs or random"},
    {'r', "replay", "a folder"},
    {'o', "out", "a folder"},
    {0, NULL, NULL},
};

// ---- failures -----------------------------------------------------------------------------------

static void file_name(const char *name, char *out, size_t size) {
  snprintf(out, size, "%s", name);
  for (char *c = out; *c; c++)
    if (*c == '/') *c = '-';
}

static void note_failure(session *s, suite_case *c) {
  failure f = {.folder = ""};
  conformance_failure known = {.needs_all = c->needs_all};
  vyre_compile_options options = {.device = s->device->adapter};
  snprintf(f.name, sizeof f.name, "%s", c->name);
  if (s->failures.count < MAX_SHRUNK && c->result.verdict == DIFFERENT && !c->is_racy) {
    shrink_limits limits = {.deadline_ns = clock_now_ns() + s->o->shrink_ns};
    char name[96], note[600];
    difference d;
    if (shrink_difference(&c->trial, s->backend, &options, limits, &d)) c->result = d;
    file_name(c->name, name, sizeof name);
    snprintf(f.folder, sizeof f.folder, "%s/%s-%s", s->o->folder, s->backend, name);
    snprintf(note, sizeof note, "%.95s on %.127s: %.360s", c->name, s->device->adapter,
             c->result.text);
    if (trial_save(&c->trial, f.folder, s->backend, note, s->error) != VYRE_OK) f.folder[0] = 0;
  }
  snprintf(f.text, sizeof f.text, "%s", c->result.text);
  snprintf(known.row, sizeof known.row, "%s", c->name);
  snprintf(known.detail, sizeof known.detail, "%.299s", c->result.text);
  suite_needs(c, &known.needs);
  if (!vec_push(&s->failures, f) || !vec_push(&s->known, known)) error_out_of_memory(s->error);
  if (s->cli->json) return;
  printf("  FAIL %s: %s\n", f.name, f.text);
  if (f.folder[0]) printf("       vyre conform --backend %s --replay %s\n", s->backend, f.folder);
}

// ---- suites -------------------------------------------------------------------------------------

static suite_counts run_suite(session *s, suite *cases, vyre_tier tier, trial_limits limits) {
  vyre_compile_options options = {.device = s->device->adapter, .tier = tier};
  if (!suite_run(cases, s->backend, &options, limits)) error_out_of_memory(s->error);
  for (size_t i = 0; i < cases->cases.count; i++) {
    verdict v = cases->cases.at[i].result.verdict;
    if (v == DIFFERENT || v == UNUSABLE) note_failure(s, &cases->cases.at[i]);
  }
  return suite_count(cases);
}

static void add_counts(suite_counts *to, suite_counts n) {
  to->passed += n.passed;
  to->failed += n.failed;
  to->declined += n.declined;
}

static void show_counts(session *s, const char *name, suite_counts n) {
  add_counts(&s->total, n);
  if (s->cli->json) {
    json_object_set_new(s->suites, name,
                        json_pack("{s:i, s:i, s:i}", "passed", (int)n.passed, "failed",
                                  (int)n.failed, "declined", (int)n.declined));
    return;
  }
  printf("  %-9s %u passed, %u failed, %u declined\n", name, n.passed, n.failed, n.declined);
  fflush(stdout);
}

static void run_table(session *s, const char *name,
                      vyre_status (*add)(suite *, const options *, vyre_error *)) {
  suite cases = {.name = name};
  if (add(&cases, s->o, s->error) == VYRE_OK && cases.cases.count)
    show_counts(s, name, run_suite(s, &cases, VYRE_TIER_FULL, (trial_limits){0}));
  suite_fini(&cases);
}

static vyre_status add_rows(suite *s, const options *o, vyre_error *error) {
  (void)o;
  return suite_add_rows(s, error);
}

static vyre_status add_math(suite *s, const options *o, vyre_error *error) {
  return suite_add_math(s, o->seed, MATH_POINTS, error);
}

static vyre_status add_files(suite *s, const options *o, vyre_error *error) {
  vyre_status status = VYRE_OK;
  for (size_t i = 0; i < o->files.count && status == VYRE_OK; i++) {
    loaded l;
    const char *slash = strrchr(o->files.at[i], '/');
    status = load_program(o->files.at[i], NULL, &l, error);
    if (status != VYRE_OK) return status;
    status = suite_add_program(s, slash ? slash + 1 : o->files.at[i], l.program, o->seed, error);
    load_free(&l);
  }
  return status;
}

// Chunks differ in what they ask of a backend: every other one is compiled quickly, some have a
// time limit, which makes some backends compile in another way, some have mathematical functions,
// some barriers that need a proof which not every backend finds.
static suite_counts run_chunk(session *s, uint64_t chunk, uint64_t first, uint32_t count) {
  generate_options o = {.seed = first,
                        .with_math = chunk % 10 == 9,
                        .only_provable = chunk % 16 != 15,
                        .size = chunk % 10 == 9  ? 5
                                : chunk % 5 == 4 ? 16
                                                 : 7,
                        .without_f64 = !s->device->has_f64,
                        .without_i64 = !s->device->has_i64,
                        .without_i64_atomics = !s->device->has_i64_atomics};
  trial_limits limits = {.timeout_ns = chunk % 8 == 7 ? COMPARE_TIMEOUT_NS : 0};
  suite cases = {.name = "random"};
  suite_counts n = {0};
  if (suite_add_random(&cases, &o, count, s->error) == VYRE_OK)
    n = run_suite(s, &cases, chunk % 2 ? VYRE_TIER_QUICK : VYRE_TIER_FULL, limits);
  suite_fini(&cases);
  return n;
}

// What a seed becomes depends on nothing but the seed, so that a run can be cut into pieces.
static void run_random(session *s) {
  suite_counts n = {0};
  uint64_t start = clock_now_ns(), done = 0;
  measure shown = {.cli = s->cli, .what = "random programs"};
  while (s->error->status == VYRE_OK) {
    double part = (double)(clock_now_ns() - start) / (double)(s->o->time_ns ? s->o->time_ns : 1);
    double expected = s->o->time_ns ? (double)done / (part > 1e-6 ? part : 1) : (double)s->o->count;
    if (!measure_goes_on(&shown, (uint32_t)done, (uint32_t)fmin(expected, UINT32_MAX))) break;
    uint64_t left = s->o->time_ns ? CHUNK : s->o->count - done, seed = s->o->seed + done;
    if (!left || (s->o->time_ns && clock_now_ns() - start > s->o->time_ns)) break;
    uint32_t count = CHUNK - (uint32_t)(seed % CHUNK);
    if (left < count) count = (uint32_t)left;
    add_counts(&n, run_chunk(s, seed / CHUNK, seed, count));
    done += count;
  }
  measure_clear_line(&shown);
  show_counts(s, "random", n);
}

// ---- devices ------------------------------------------------------------------------------------

static json_t *session_json(const session *s) {
  json_t *failures = json_array();
  for (size_t i = 0; i < s->failures.count; i++) {
    const failure *f = &s->failures.at[i];
    json_array_append_new(failures, json_pack("{s:s, s:o, s:s}", "name", f->name, "difference",
                                              cli_text(f->text), "folder", f->folder));
  }
  return json_pack("{s:s, s:s, s:O, s:o}", "backend", s->backend, "adapter", s->device->adapter,
                   "suites", s->suites, "failures", failures);
}

static bool wants(const options *o, const char *suite) {
  return !measure_was_stopped() && (!o->suite || !strcmp(o->suite, suite));
}

// A part of the suites says nothing about the rest: what was known of it stays.
static void record(session *s) {
  conformance_failure *old = NULL;
  uint32_t count = 0, found = (uint32_t)s->known.count;
  if (s->o->suite && conformance_load(s->device->adapter, &old, &count, s->error) != VYRE_OK)
    return;
  for (uint32_t i = 0; i < count; i++) {
    bool is_again = false;
    for (uint32_t k = 0; k < found; k++) is_again |= !strcmp(old[i].row, s->known.at[k].row);
    if (!is_again && !vec_push(&s->known, old[i])) error_out_of_memory(s->error);
  }
  free(old);
  conformance_record(s->device->adapter, s->known.at, (uint32_t)s->known.count, s->error);
}

static void examine(session *s, json_t *list) {
  if (!s->cli->json) printf("%s: %s\n", s->backend, s->device->adapter);
  s->suites = json_object();
  if (wants(s->o, "rows")) run_table(s, "rows", add_rows);
  if (wants(s->o, "math")) run_table(s, "math", add_math);
  if (wants(s->o, "programs")) run_table(s, "programs", add_files);
  if (wants(s->o, "random")) run_random(s);
  // What was stopped says nothing about the rest.
  if (s->error->status == VYRE_OK && !measure_was_stopped()) record(s);
  if (list) json_array_append_new(list, session_json(s));
  json_decref(s->suites);
  vec_free(&s->failures);
  vec_free(&s->known);
}

static vyre_status examine_backend(const cli *c, const options *o, const char *backend,
                                   suite_counts *total, json_t *list, vyre_error *error) {
  vyre_device devices[MAX_DEVICES];
  uint32_t count = 0, examined = 0;
  vyre_status status = vyre_backend_devices(backend, devices, MAX_DEVICES, &count, error);
  for (uint32_t i = 0; i < count && i < MAX_DEVICES && status == VYRE_OK; i++) {
    if (devices[i].unusable[0] || (o->device && strcmp(o->device, devices[i].adapter))) continue;
    session s = {.cli = c, .o = o, .backend = backend, .device = &devices[i], .error = error};
    error->status = VYRE_OK;
    examine(&s, list);
    status = error->status;
    add_counts(total, s.total);
    examined++;
  }
  if (status == VYRE_OK && !examined)
    return error_set(error, VYRE_ERROR_UNSUPPORTED,
                     "backend `%s` has no such device that can be used. Fix: see `vyre devices`",
                     backend);
  return status;
}

// What cannot be read is told before anything runs, which takes a while.
static vyre_status read_files(const options *o, vyre_error *error) {
  for (size_t i = 0; i < o->files.count; i++) {
    loaded l;
    vyre_status status = load_program(o->files.at[i], NULL, &l, error);
    if (status != VYRE_OK) return status;
    load_free(&l);
  }
  return VYRE_OK;
}

static int examine_all(const cli *c, const options *o) {
  suite_counts total = {0};
  vyre_error error = {0};
  if (read_files(o, &error) != VYRE_OK) return cli_error(c, &error);
  json_t *list = c->json ? json_array() : NULL;
  measure_catch_stop();
  uint32_t count = o->backend ? 1 : vyre_backend_count();
  for (uint32_t i = 0; i < count; i++) {
    const char *id = o->backend ? backend_find(o->backend)->id : vyre_backend_name(i);
    if (!o->backend && backend_is_oracle(id)) continue;
    if (measure_was_stopped()) break;
    vyre_status status = examine_backend(c, o, id, &total, list, &error);
    if (status == VYRE_OK) continue;
    bool is_missing = status == VYRE_ERROR_UNSUPPORTED && !o->backend;
    if (!is_missing) {
      json_decref(list);
      return cli_error(c, &error);
    }
    if (!c->json) printf("%s: not here: %s\n", id, error.message);
  }
  if (c->json)
    cli_json(json_pack("{s:o, s:i, s:i, s:i, s:b}", "devices", list, "passed", (int)total.passed,
                       "failed", (int)total.failed, "declined", (int)total.declined, "stopped",
                       measure_was_stopped()));
  else
    printf(total.declined ? "%u passed, %u failed, %u skipped\n" : "%u passed, %u failed\n",
           total.passed, total.failed, total.declined);
  if (!c->json && measure_was_stopped()) printf("stopped early: this is what was compared\n");
  return total.failed ? EXIT_INPUT : measure_was_stopped() ? EXIT_STOPPED : EXIT_FINE;
}

static int replay(const cli *c, const options *o) {
  vyre_error error;
  trial t;
  difference d;
  vyre_compile_options options = {.device = o->device};
  if (trial_load(o->replay, &t, &error) != VYRE_OK) return cli_error(c, &error);
  bool ok = compare_run(&t, NULL, o->backend, &options, &d);
  trial_fini(&t);
  if (!ok) {
    error_out_of_memory(&error);
    return cli_error(c, &error);
  }
  static const char *const names[] = {"same", "declined", "unusable", "different"};
  if (c->json)
    cli_json(json_pack("{s:s, s:o}", "verdict", names[d.verdict], "text", cli_text(d.text)));
  else
    printf("%s%s%s\n", names[d.verdict], d.text[0] ? ": " : "", d.text);
  return d.verdict == SAME || d.verdict == DECLINED ? EXIT_FINE : EXIT_INPUT;
}

// ---- the command --------------------------------------------------------------------------------

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where) {
  (void)info, (void)kind, (void)where;
  return remove(path);
}

// Thousands of programs that nobody needs again: they stay out of the caches of vyre and of
// drivers. Mesa's is off and not moved: a thread of Mesa's writes it until the process ends, also
// into a folder that is gone. PoCL's cannot be off.
static bool use_scratch_cache(char *folder) {
  setenv("VYRE_CACHE", "off", 1);
  if (!getenv("MESA_SHADER_CACHE_DIR")) setenv("MESA_SHADER_CACHE_DISABLE", "true", 0);
  if (getenv("POCL_CACHE_DIR") || !mkdtemp(folder)) return false;
  setenv("POCL_CACHE_DIR", folder, 0);
  return true;
}

static bool read_suite(const args *a, options *o) {
  static const char *const names[] = {"rows", "math", "programs", "random"};
  o->suite = a->value;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(a->value, names[i])) return true;
  cli_usage(a->cli, "--suite wants rows, math, programs or random, not `%s`", a->value);
  return false;
}

static bool read_options(const cli *c, int argc, char **argv, options *o) {
  *o = (options){.count = DEFAULT_COUNT, .folder = "conform-failures", .shrink_ns = SHRINK_NS};
  args a = args_begin(c, conform_options, argc, argv);
  for (int letter; (letter = args_next(&a)) != ARGS_END;) {
    bool ok = true;
    switch (letter) {
    case 'b': o->backend = a.value; break;
    case 'd': o->device = a.value; break;
    case 'r': o->replay = a.value; break;
    case 'o': o->folder = a.value; break;
    case 's': ok = args_u64(&a, "--seed", &o->seed); break;
    case 'n': ok = args_u64(&a, "--count", &o->count); break;
    case 'T': ok = args_seconds(&a, "--seconds", &o->time_ns); break;
    case 'S': ok = args_seconds(&a, "--shrink", &o->shrink_ns); break;
    case 'U': ok = read_suite(&a, o); break;
    case ARGS_WORD: ok = vec_push(&o->files, a.value); break;
    default: ok = false;
    }
    if (!ok) return false;
  }
  return true;
}

static bool is_backend(const char *id) {
  return backend_find(id) != NULL;
}

static int run(cli *c, int argc, char **argv) {
  options o;
  char scratch[] = "/tmp/vyre-conform-XXXXXX";
  int code = EXIT_USAGE;
  if (read_options(c, argc, argv, &o)) {
    if (o.backend && !is_backend(o.backend)) {
      code = cli_usage(c, "there is no backend `%s`. Fix: see `vyre devices`", o.backend);
    } else if (o.replay && !o.backend) {
      code = cli_usage(c, "--replay needs --backend. Fix: see the file `command` in the folder");
    } else {
      bool has_scratch = use_scratch_cache(scratch);
      code = o.replay ? replay(c, &o) : examine_all(c, &o);
      if (has_scratch) nftw(scratch, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
  }
  vec_free(&o.files);
  return code;
}

const command conform_command = {
    "conform", "compare backends with the reference, bit for bit",
    "usage: vyre conform [FILE ...] [--backend ID] [--device NAME] [--seed S] [--count N]\n"
    "                    [--seconds S] [--suite NAME] [--out FOLDER] [--json]\n"
    "       vyre conform --backend ID --replay FOLDER\n"
    "\n"
    "Runs on every backend, or on one: each row of the semantics table, the mathematical "
    "functions\n"
    "at special values and random points, the programs named, and random programs. Each result is\n"
    "compared with that of the reference. A failure is made as small as it gets and written to a\n"
    "folder with its inputs and the command that runs it again. What a device failed is kept, and\n"
    "programs that need it are not given to that device; a later run that passes forgets it.\n"
    "\n"
    "options:\n"
    "  -b, --backend ID      only this backend\n"
    "  -d, --device NAME     only the device with this adapter name\n"
    "  -s, --seed S          of the first random program (0)\n"
    "  -n, --count N         random programs (200)\n"
    "      --seconds S       random programs for this long instead\n"
    "      --suite NAME      only rows, math, programs or random\n"
    "      --shrink S        seconds to spend on making one failure small (120)\n"
    "  -o, --out FOLDER      where failures are written (conform-failures)\n"
    "  -r, --replay FOLDER   run one failure again\n"
    "      --json            the same as JSON\n"
    "\n"
    "exit status: 0 all agree, 1 something differs, 3 the backend cannot be used, 130 stopped by\n"
    "Ctrl-C, which shows what was compared\n"
    "\n"
    "examples:\n"
    "  vyre conform --backend opencl --count 2000\n"
    "  vyre conform --backend cpu --replay conform-failures/cpu-random-77\n",
    run};
