// SPDX-License-Identifier: MIT
#include "backend/backend.h"
#include "backend/conformance.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "cli/measure.h"
#include "cli/route_json.h"
#include "cli/show.h"
#include "policy/route.h"
#include "policy/variant_name.h"
#include "profile/size_class.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BACKENDS = MEASURE_BACKENDS, MAX_SAMPLES = 128 };

typedef struct candidate {
  measure *measure;
  const char *id;
  vyre_device device;
  vyre_executable *executable;
  vyre_status status; // of probing and compiling
  vyre_error error;
  uint64_t samples[MAX_SAMPLES];
  uint32_t sample_count;
  bool is_warm;
} candidate;

static const args_option certify_options[] = {
    MEASURE_OPTIONS,
    {'d', "default", "an id that `vyre devices` lists"},
    {0, NULL, NULL},
};

// ---- candidates ---------------------------------------------------------------------------------

static vyre_status prepare(candidate *c) {
  uint32_t count = 0;
  vyre_status status = vyre_backend_devices(c->id, &c->device, 1, &count, &c->error);
  if (status == VYRE_OK && !count)
    status = error_set(&c->error, VYRE_ERROR_UNSUPPORTED, "it has no device. Fix: install one");
  if (status == VYRE_OK && count > 1) backend_device(c->id, &c->device);
  if (status == VYRE_OK && c->device.unusable[0])
    status = error_set(&c->error, VYRE_ERROR_UNSUPPORTED, "its device cannot be used: %s",
                       c->device.unusable);
  if (status == VYRE_OK &&
      !conformance_allows_backend(c->id, c->measure->program.program, &c->error))
    status = c->error.status;
  return status == VYRE_OK ? measure_compile(c->measure, c->id, &c->executable, &c->error) : status;
}

static vyre_status check(void *context, const vyre_dispatch_args *args, vyre_error *error) {
  candidate *c = context;
  char text[160];
  (void)args;
  if (c->status != VYRE_OK) {
    *error = c->error;
    return c->status;
  }
  vyre_status status = capture_answer(&c->measure->inputs, c->executable, NULL, error);
  if (status != VYRE_OK) return status;
  if (capture_matches(&c->measure->inputs, &c->measure->expected, text, sizeof text))
    return VYRE_OK;
  return error_set(error, VYRE_ERROR_VERIFY, "%s. Fix: report this backend", text);
}

static vyre_status run_once(void *context, const vyre_dispatch_args *args, uint64_t *elapsed_ns,
                            vyre_error *error) {
  candidate *c = context;
  vyre_report report = {0};
  (void)args;
  vyre_status status = capture_run(&c->measure->inputs, c->executable, NULL, &report, error);
  *elapsed_ns = report.wall_ns; // putting the inputs back is not the backend's time
  if (status == VYRE_OK && c->is_warm && c->sample_count < MAX_SAMPLES)
    c->samples[c->sample_count++] = report.wall_ns;
  c->is_warm = true;
  return status;
}

static uint32_t gather(measure *m, candidate *candidates, route_backend *backends) {
  // The interpreter is the oracle, not a contender, unless it is named.
  const char *ids[MEASURE_BACKENDS];
  uint32_t count = measure_ids(m, false, ids);
  for (uint32_t i = 0; i < count; i++) {
    candidate *c = &candidates[i];
    *c = (candidate){.measure = m, .id = ids[i]};
    c->status = prepare(c);
    backends[i] = (route_backend){.id = ids[i], .dispatch = run_once, .check = check, .context = c};
  }
  return count;
}

// ---- keeping ------------------------------------------------------------------------------------

static void keep_samples(measure *m, const candidate *candidates, uint32_t count,
                         uint32_t size_class) {
  store_latency rows[MAX_BACKENDS];
  char names[MAX_BACKENDS][VARIANT_TEXT], build[BUILD_TEXT];
  uint32_t kept = 0;
  uint8_t fingerprint[32];
  vyre_error error;
  build_name(build);
  vyre_program_fingerprint(m->program.program, fingerprint);
  for (uint32_t i = 0; i < count; i++) {
    variant_name name = {.backend = candidates[i].id, .passes = PASSES_RELEASE};
    variant_name_format(&name, names[i]);
    if (candidates[i].sample_count)
      rows[kept++] = (store_latency){.device = candidates[i].device.adapter,
                                     .op = vyre_program_name(m->program.program),
                                     .fingerprint = fingerprint,
                                     .size_class = size_class,
                                     .work = "",
                                     .variant = names[i],
                                     .build = build,
                                     .ns = candidates[i].samples,
                                     .count = candidates[i].sample_count};
  }
  if (!m->store || !kept || store_is_read_only(m->store)) return;
  store_batch batch = {.latencies = rows, .latency_count = kept};
  if (store_append(m->store, &batch, &error) != VYRE_OK) note_tell(&m->notes, &error);
}

static vyre_status save(const measure *m, const route_entry *entry, char **path,
                        vyre_error *error) {
  route_table *all = route_table_new();
  vyre_status status = all ? VYRE_OK : error_out_of_memory(error);
  *path = route_default_path(status == VYRE_OK ? error : NULL);
  if (status == VYRE_OK && !*path) status = error->status;
  if (status == VYRE_OK) status = route_table_put(all, entry, error);
  if (status == VYRE_OK) status = route_table_save(all, *path, &m->notes, error);
  route_table_free(all);
  return status;
}

// ---- showing ------------------------------------------------------------------------------------

static int show_decision_json(const route_entry *e, const char *path) {
  json_t *o = route_json(e);
  json_object_set_new(o, "op", cli_text(e->op_id));
  json_object_set_new(o, "file", path ? cli_text(path) : json_null());
  json_object_set_new(o, "stopped", json_boolean(measure_was_stopped()));
  return cli_json(o);
}

static void show_text(const route_entry *e, const char *path) {
  char time[SHOW_TEXT];
  printf("%s, size class %u: %s (%s)\n", e->op_id, e->size_class, e->backend, e->reason);
  for (uint32_t i = 0; i < e->observation_count; i++)
    printf("  %-8s %10s\n", e->observations[i].backend,
           show_time(e->observations[i].latency_ns, time));
  for (uint32_t i = 0; i < e->rejection_count; i++)
    printf("  %-8s rejected: %s\n", e->rejections[i].backend, e->rejections[i].reason);
  if (path) printf("written to %s\n", path);
  if (measure_was_stopped()) printf("stopped early: decided with what there was\n");
}

// ---- the command --------------------------------------------------------------------------------

static vyre_status certify(measure *m, const char *usual, vyre_error *error) {
  candidate *candidates = calloc(MAX_BACKENDS, sizeof *candidates);
  route_table *table = route_table_new();
  route_backend backends[MAX_BACKENDS];
  uint8_t fingerprint[32];
  if (!candidates || !table) {
    free(candidates);
    route_table_free(table);
    return error_out_of_memory(error);
  }
  uint64_t bytes = m->inputs.bytes;
  uint32_t count = gather(m, candidates, backends);
  vyre_program_fingerprint(m->program.program, fingerprint);
  route_certify_options options = {.default_backend = usual,
                                   .rounds = (uint32_t)m->rounds,
                                   .max_rounds = 3 * (uint32_t)m->rounds,
                                   .fingerprint = fingerprint,
                                   .has_size_class = true,
                                   .size_class = size_class_of(bytes),
                                   .date = clock_unix_seconds(),
                                   .keep_going = measure_goes_on,
                                   .context = m};
  const route_entry *found;
  char *path = NULL;
  m->what = vyre_program_name(m->program.program);
  vyre_status status =
      route_certify(table, m->what, &m->inputs.args, backends, count, &options, &found, error);
  measure_clear_line(m);
  if (status == VYRE_OK) {
    route_entry entry = *found;
    for (uint32_t i = 0; i < count; i++)
      if (!strcmp(candidates[i].id, entry.backend)) entry.device = candidates[i].device.adapter;
    if (!m->is_dry) status = save(m, &entry, &path, error);
    keep_samples(m, candidates, count, entry.size_class);
    if (status == VYRE_OK && m->cli->json) show_decision_json(&entry, path);
    if (status == VYRE_OK && !m->cli->json) show_text(&entry, path);
  }
  for (uint32_t i = 0; i < count; i++) vyre_executable_release(candidates[i].executable);
  free(path);
  free(candidates);
  route_table_free(table);
  return status;
}

static bool read_options(const cli *c, int argc, char **argv, measure *m, const char **usual) {
  args a = args_begin(c, certify_options, argc, argv);
  a.takes_build = true;
  for (int letter; (letter = args_next(&a)) != ARGS_END;) {
    if (letter == 'd') {
      *usual = a.value;
      if (backend_find(a.value)) continue;
      cli_usage(c, "there is no backend `%s`. Fix: see `vyre devices`", a.value);
      return false;
    }
    if (!measure_option(m, &a, letter)) return false;
  }
  if (!m->file) cli_usage(c, "no program is named. Fix: run `vyre certify FILE NAME=SPEC ...`");
  return m->file != NULL;
}

static int run(cli *c, int argc, char **argv) {
  measure m = {.cli = c, .rounds = TRIAL_ROUNDS};
  const char *usual = backend_usual()->id;
  vyre_error error;
  int code = EXIT_USAGE;
  if (read_options(c, argc, argv, &m, &usual)) {
    vyre_status status = measure_begin(&m, &error);
    if (status == VYRE_OK) status = certify(&m, usual, &error);
    code = measure_exit(&m, status, &error);
  }
  measure_end(&m);
  return code;
}

const command certify_command = {
    "certify", "measure which backend runs a program fastest, and keep it",
    "usage: vyre certify FILE[:ENTRY] [NAME=SPEC ...] [options]\n"
    "\n"
    "Runs a program on every backend with the given arguments (NAME=SPEC as in `vyre run`). Each\n"
    "result is compared with the reference first; a backend that is wrong or fails is recorded as\n"
    "rejected. The others are timed in turn: a warm-up, then rounds, of which the median counts.\n"
    "The default stays unless another is faster by more than 2 % and more than the noise. The\n"
    "decision goes to pgo.toml, for this op, size class and device; `vyre explain` shows it, and\n"
    "the runtime follows it after proving it again. Ctrl-C decides with what was measured.\n"
    "\n"
    "options:\n"
    "  -b, --backend ID    only this one; may be given several times\n"
    "  -d, --default ID    what stays unless another is clearly faster (cpu)\n"
    "  -r, --rounds N      samples of each (3); up to three times as many where noise hides the\n"
    "                      winner\n"
    "  -g, --grid X[,Y[,Z]], -DNAME=VALUE, -Idir, -cl-...   as in `vyre run`\n"
    "      --language NAME what FILE is written in, where its name does not say\n"
    "      --dry-run       write nothing\n"
    "      --json          the same as JSON\n"
    "\n"
    "exit status: 0; 1 no backend gives the right answer; 3 environment; 130 stopped by Ctrl-C\n"
    "\n"
    "examples:\n"
    "  vyre certify saxpy.vyre a=2 x=rand:1000000 y=ones:1000000\n"
    "  vyre certify blur.cl:rows src=rand:65536 dst=zeros:65536 --grid 256,256 --rounds 9\n",
    run};
