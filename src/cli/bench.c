// SPDX-License-Identifier: MIT
//
// vyre bench: a program on every backend and tier, and on the peers that are installed, in turn on
// the same input, as one table. It keeps nothing and decides nothing: certify does that.
#include "backend/backend.h"
#include "backend/conformance.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "cli/bench_peer.h"
#include "cli/measure.h"
#include "cli/show.h"
#include "policy/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 32, USUAL_ROUNDS = 11 };

typedef struct row {
  char name[80];       // "cpu full", "pocl by hand"
  const char *backend; // NULL: a peer
  vyre_tier tier;
  vyre_executable *executable;
  bench_peer *peer;
} row;

typedef struct bench {
  measure m;
  const char *save, *compare;
  row rows[MOST_ROWS];
  trial_candidate times[MOST_ROWS];
  uint32_t count;
} bench;

static const args_option bench_options[] = {
    {'g', "grid", "extents such as 640,480"},
    {'b', "backend", "an id that `vyre devices` lists"},
    {'r', "rounds", "a number of samples"},
    SOURCE_LANGUAGE_OPTION,
    {'S', "save", "FILE.json"},
    {'C', "compare", "FILE.json"},
    {0, NULL, NULL},
};

// ---- rows ---------------------------------------------------------------------------------------

static vyre_status prepare(bench *b, row *r, vyre_error *error) {
  vyre_device device;
  uint32_t count = 0;
  vyre_status status = vyre_backend_devices(r->backend, &device, 1, &count, error);
  if (status == VYRE_OK && !count)
    status = error_set(error, VYRE_ERROR_UNSUPPORTED, "it has no device. Fix: install one");
  if (status == VYRE_OK && count > 1) backend_device(r->backend, &device);
  if (status == VYRE_OK && device.unusable[0])
    status =
        error_set(error, VYRE_ERROR_UNSUPPORTED, "its device cannot be used: %s", device.unusable);
  if (status == VYRE_OK && !conformance_allows_backend(r->backend, b->m.program.program, error))
    status = error->status;
  if (status != VYRE_OK) return status;
  if (r->tier == VYRE_TIER_FULL) return measure_compile(&b->m, r->backend, &r->executable, error);
  vyre_compile_options quick = {.tier = r->tier};
  return vyre_compile(b->m.program.program, r->backend, &quick, &r->executable, error);
}

static void add_row(bench *b, const char *backend, vyre_tier tier) {
  if (b->count == MOST_ROWS) return;
  row *r = &b->rows[b->count];
  trial_candidate *t = &b->times[b->count++];
  *r = (row){.backend = backend, .tier = tier};
  snprintf(r->name, sizeof r->name, "%s%s", backend,
           backend_is_oracle(backend) ? ""
           : tier == VYRE_TIER_QUICK  ? " quick"
                                      : " full");
  *t = (trial_candidate){.name = r->name};
  t->rejected = prepare(b, r, &t->error) != VYRE_OK;
}

static void add_peer(bench *b) {
  char platform[64] = "OpenCL";
  bench_peer *peer;
  vyre_error why;
  if (b->count == MOST_ROWS || b->m.backends.count) return;
  if (bench_peer_new(&b->m, &peer, platform, &why) != VYRE_OK) return;
  row *r = &b->rows[b->count];
  trial_candidate *t = &b->times[b->count++];
  *r = (row){.peer = peer};
  snprintf(r->name, sizeof r->name, "%.40s by hand", platform);
  *t = (trial_candidate){.name = r->name};
}

static void add_rows(bench *b) {
  const char *ids[MEASURE_BACKENDS];
  uint32_t count = measure_ids(&b->m, true, ids);
  for (uint32_t i = 0; i < count; i++) {
    add_row(b, ids[i], VYRE_TIER_FULL);
    if (backend_find(ids[i]) == backend_usual()) add_row(b, ids[i], VYRE_TIER_QUICK);
  }
  add_peer(b);
}

// ---- measuring ----------------------------------------------------------------------------------

static vyre_status run_row(void *context, uint32_t index, uint64_t *elapsed_ns, vyre_error *error) {
  bench *b = context;
  row *r = &b->rows[index];
  if (r->peer) return bench_peer_run(r->peer, elapsed_ns, error);
  vyre_report report = {0};
  vyre_status status = capture_run(&b->m.inputs, r->executable, NULL, &report, error);
  *elapsed_ns = report.wall_ns; // putting the inputs back is not the backend's time
  return status;
}

static vyre_status check_row(void *context, uint32_t index, vyre_error *error) {
  bench *b = context;
  char text[160];
  if (b->rows[index].peer) return VYRE_OK;
  vyre_status status = capture_answer(&b->m.inputs, b->rows[index].executable, NULL, error);
  if (status != VYRE_OK) return status;
  if (capture_matches(&b->m.inputs, &b->m.expected, text, sizeof text)) return VYRE_OK;
  return error_set(error, VYRE_ERROR_VERIFY, "its answer is wrong: %s. Fix: report this backend",
                   text);
}

static bool goes_on(void *context, uint32_t done, uint32_t expected) {
  bench *b = context;
  return measure_goes_on(&b->m, done, expected);
}

static void measure_rows(bench *b) {
  trial_options options = {.warmups = 1,
                           .rounds = (uint32_t)b->m.rounds,
                           .max_rounds = (uint32_t)b->m.rounds,
                           .margin_bps = TRIAL_MARGIN_BPS,
                           .default_index = TRIAL_NONE,
                           .run = run_row,
                           .check = check_row,
                           .keep_going = goes_on,
                           .context = b};
  b->m.what = vyre_program_name(b->m.program.program);
  trial_measure(b->times, b->count, &options);
  measure_clear_line(&b->m);
  for (uint32_t i = 0; i < b->count; i++) {
    trial_candidate *t = &b->times[i];
    t->median_ns = trial_median(t->samples, t->sample_count);
    t->noise_ns = trial_noise(t->samples, t->sample_count);
  }
}

// ---- an earlier run -----------------------------------------------------------------------------

typedef struct earlier {
  bool is_there;
  double median_ns, noise_ns;
  const char *verdict; // "same", "faster", "slower"
  double ratio;        // now to then
} earlier;

static earlier compare(const json_t *before, const trial_candidate *t) {
  earlier e = {0};
  size_t i;
  json_t *r;
  json_array_foreach(json_object_get(before, "rows"), i, r) {
    const char *name = json_string_value(json_object_get(r, "name"));
    if (!name || strcmp(name, t->name)) continue;
    e.median_ns = json_number_value(json_object_get(r, "median_ns"));
    e.noise_ns = json_number_value(json_object_get(r, "spread_ns"));
  }
  e.is_there = e.median_ns > 0 && t->median_ns;
  if (!e.is_there) return e;
  // What both spreads together explain, and 2 percent, is no change.
  double change = (double)t->median_ns - e.median_ns;
  double allowed = e.noise_ns + (double)t->noise_ns;
  if (allowed < e.median_ns * TRIAL_MARGIN_BPS / 1e4)
    allowed = e.median_ns * TRIAL_MARGIN_BPS / 1e4;
  e.ratio = (double)t->median_ns / e.median_ns;
  e.verdict = fabs(change) <= allowed ? "same" : change > 0 ? "slower" : "faster";
  return e;
}

static vyre_status load_earlier(const bench *b, json_t **out, vyre_error *error) {
  json_error_t why;
  *out = json_load_file(b->compare, 0, &why);
  const char *op = json_string_value(json_object_get(*out, "program"));
  if (*out && op && json_is_array(json_object_get(*out, "rows"))) return VYRE_OK;
  return error_set(error, VYRE_ERROR_IO,
                   "`%.200s` is no file that --save wrote: %.100s. Fix: make one with `vyre bench "
                   "... --save FILE.json`",
                   b->compare, *out ? "something is missing in it" : why.text);
}

// ---- showing ------------------------------------------------------------------------------------

static uint64_t fastest_ns(const bench *b) {
  uint64_t best = 0;
  for (uint32_t i = 0; i < b->count; i++) {
    uint64_t ns = b->times[i].rejected ? 0 : b->times[i].median_ns;
    if (ns && (!best || ns < best)) best = ns;
  }
  return best;
}

static json_t *row_json(const bench *b, uint32_t i, const json_t *before) {
  const trial_candidate *t = &b->times[i];
  uint64_t best = fastest_ns(b);
  json_t *o = json_pack("{s:o}", "name", cli_text(t->name));
  if (t->rejected) {
    json_object_set_new(o, "rejected", cli_text(t->error.message));
    return o;
  }
  json_object_set_new(o, "samples", json_integer(t->sample_count));
  json_object_set_new(o, "median_ns", json_integer((json_int_t)t->median_ns));
  json_object_set_new(o, "spread_ns", json_integer((json_int_t)t->noise_ns));
  json_object_set_new(o, "least_ns", json_integer((json_int_t)trial_best(t)));
  if (t->median_ns) json_object_set_new(o, "ratio", json_real((double)t->median_ns / (double)best));
  earlier e = compare(before, t);
  if (!e.is_there) return o;
  json_object_set_new(o, "before_ns", json_integer((json_int_t)e.median_ns));
  json_object_set_new(o, "verdict", json_string(e.verdict));
  return o;
}

static json_t *bench_json(const bench *b, const json_t *before) {
  json_t *rows = json_array();
  for (uint32_t i = 0; i < b->count; i++) json_array_append_new(rows, row_json(b, i, before));
  return json_pack("{s:o, s:I, s:I, s:b, s:o}", "program",
                   cli_text(vyre_program_name(b->m.program.program)), "bytes",
                   (json_int_t)b->m.inputs.bytes, "rounds", (json_int_t)b->m.rounds, "stopped",
                   measure_was_stopped(), "rows", rows);
}

static void show_row(const bench *b, uint32_t i, const json_t *before, int width) {
  const trial_candidate *t = &b->times[i];
  char time[SHOW_TEXT], spread[SHOW_TEXT], then[SHOW_TEXT];
  printf("  %-*s", width, t->name);
  if (t->rejected || !t->sample_count) {
    size_t size = strcspn(t->error.message, "\n");
    printf("  %s%.*s\n", t->rejected ? "not run: " : "not measured", t->rejected ? (int)size : 0,
           t->error.message);
    return;
  }
  char ratio[SHOW_TEXT];
  format_text(ratio, sizeof ratio, "%6.2f", (double)t->median_ns / (double)fastest_ns(b));
  printf("  %10s  +- %-9s  %s", show_time(t->median_ns, time), show_time(t->noise_ns, spread),
         ratio);
  earlier e = compare(before, t);
  format_text(ratio, sizeof ratio, "%5.2f", e.ratio);
  if (e.is_there)
    printf("   %10s  %s  %s", show_time((uint64_t)e.median_ns, then), ratio, e.verdict);
  putchar('\n');
}

// The fastest first; what did not run comes last.
static void find_order(const bench *b, uint32_t *order) {
  for (uint32_t i = 0; i < b->count; i++) {
    uint32_t at = i;
    uint64_t ns = b->times[i].rejected ? 0 : b->times[i].median_ns;
    for (; at && ns; at--) {
      const trial_candidate *other = &b->times[order[at - 1]];
      if (!other->rejected && other->median_ns && other->median_ns <= ns) break;
      order[at] = order[at - 1];
    }
    order[at] = i;
  }
}

static void show(const bench *b, const json_t *before) {
  char bytes[SHOW_TEXT];
  uint32_t order[MOST_ROWS];
  int width = 8;
  for (uint32_t i = 0; i < b->count; i++)
    if ((int)strlen(b->times[i].name) > width) width = (int)strlen(b->times[i].name);
  printf("%s, %s of buffers, %llu rounds\n\n", vyre_program_name(b->m.program.program),
         show_bytes(b->m.inputs.bytes, bytes), (unsigned long long)b->m.rounds);
  printf("  %-*s  %10s  %-12s  %6s%s\n", width, "", "median", "spread", "times",
         before ? "       before  ratio  verdict" : "");
  find_order(b, order);
  for (uint32_t i = 0; i < b->count; i++) show_row(b, order[i], before, width);
  if (measure_was_stopped()) printf("\nstopped early: these are the rounds that were done\n");
}

// ---- the command --------------------------------------------------------------------------------

static vyre_status save(const bench *b, vyre_error *error) {
  json_t *json = bench_json(b, NULL);
  char *text = json ? json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
  json_decref(json);
  if (!text) return error_out_of_memory(error);
  vyre_status status = file_replace(b->save, text, strlen(text), error);
  free(text);
  return status;
}

static vyre_status bench_run(bench *b, bool *is_slower, vyre_error *error) {
  json_t *before = NULL;
  vyre_status status = b->compare ? load_earlier(b, &before, error) : VYRE_OK;
  if (status == VYRE_OK) {
    add_rows(b);
    measure_rows(b);
    if (!fastest_ns(b))
      status = error_set(error, VYRE_ERROR_BACKEND, "%s. Fix: see `vyre devices`",
                         measure_was_stopped() ? "it was stopped before anything was measured"
                                               : "no backend could run it");
  }
  if (status == VYRE_OK && b->save) status = save(b, error);
  if (status == VYRE_OK) {
    if (b->m.cli->json)
      cli_json(bench_json(b, before));
    else
      show(b, before);
    for (uint32_t i = 0; before && i < b->count; i++) {
      earlier e = compare(before, &b->times[i]);
      *is_slower |= e.is_there && !strcmp(e.verdict, "slower");
    }
    if (b->save && !b->m.cli->json) printf("\nwritten to %s\n", b->save);
  }
  for (uint32_t i = 0; i < b->count; i++) {
    vyre_executable_release(b->rows[i].executable);
    bench_peer_free(b->rows[i].peer);
  }
  json_decref(before);
  return status;
}

static bool read_options(const cli *c, int argc, char **argv, bench *b) {
  args a = args_begin(c, bench_options, argc, argv);
  a.takes_build = true;
  for (int letter; (letter = args_next(&a)) != ARGS_END;) {
    if (letter == 'S')
      b->save = a.value;
    else if (letter == 'C')
      b->compare = a.value;
    else if (!measure_option(&b->m, &a, letter))
      return false;
  }
  if (b->m.file) return true;
  cli_usage(c, "no program is named. Fix: run `vyre bench FILE NAME=SPEC ...`");
  return false;
}

static int run(cli *c, int argc, char **argv) {
  vyre_error error;
  bool is_slower = false;
  bench *b = calloc(1, sizeof *b);
  if (!b) {
    error_out_of_memory(&error);
    return cli_error(c, &error);
  }
  b->m = (measure){.cli = c, .rounds = USUAL_ROUNDS, .is_dry = true};
  int code = EXIT_USAGE;
  if (read_options(c, argc, argv, b)) {
    b->m.is_dry = true;
    vyre_status status = measure_begin(&b->m, &error);
    if (status == VYRE_OK) status = bench_run(b, &is_slower, &error);
    code = measure_exit(&b->m, status, &error);
    if (code == EXIT_FINE && is_slower) code = EXIT_FOUND;
  }
  measure_end(&b->m);
  free(b);
  return code;
}

const command bench_command = {
    "bench", "time a program on every backend and tier, beside peers",
    "usage: vyre bench FILE[:ENTRY] NAME=SPEC ... [options]\n"
    "\n"
    "Runs the program on every backend and tier that can run it, in turn, on the same input, and\n"
    "shows medians, how far samples lie apart, and how many times as long as the fastest each\n"
    "takes. An OpenCL C kernel is also built and launched by an OpenCL driver as a person would "
    "by\n"
    "hand. Answers are compared with the reference first. Nothing is kept: see `vyre certify`.\n"
    "\n"
    "options:\n"
    "  -g, --grid X[,Y[,Z]]     set grid_x, grid_y, grid_z; the NDRange of OpenCL C\n"
    "  -b, --backend ID         only this one; may be given several times\n"
    "  -r, --rounds N           samples of each (11)\n"
    "      --save FILE.json     keep the figures for a later --compare\n"
    "      --compare FILE.json  show them beside those of an earlier run. What both spreads, or 2\n"
    "                           percent, explain is `same`; exit status 4 when anything is slower\n"
    "      --language NAME      what FILE is written in\n"
    "      --json               figures as JSON\n"
    "\n"
    "Ctrl-C shows what is done.\n"
    "\n"
    "examples:\n"
    "  vyre bench saxpy.vyre a=2 x=rand:1M y=ones:1M\n"
    "  vyre bench kernels.cl:blur src=@in.npy dst=zeros:1M --grid 1024,1024 --save before.json\n"
    "  vyre bench kernels.cl:blur src=@in.npy dst=zeros:1M --grid 1024,1024 --compare "
    "before.json\n",
    run};
