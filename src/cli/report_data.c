// SPDX-License-Identifier: MIT
#include "cli/report_data.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/paths.h"
#include "base/pool.h"
#include "base/strbuf.h"
#include "cli/explain.h"
#include "cli/profile.h"

#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct gathering {
  report_data *data;
  store *store;
  const char *only; // an op; NULL: all
  bool failed;      // out of memory
} gathering;

static report_program *find_program(report_data *d, const char *print) {
  for (size_t i = 0; i < d->programs.count; i++)
    if (!strcmp(d->programs.at[i].print, print)) return &d->programs.at[i];
  return NULL;
}

static bool take_line(void *context, const store_line *l) {
  gathering *g = context;
  report_data *d = g->data;
  json_array_append_new(d->lines, profile_line_json(l));
  if (l->origin || strcmp(l->kind, "latency") || strlen(l->fingerprint) + 1 != HASH_HEX)
    return true;
  if (g->only && strcmp(g->only, l->op)) return true;
  report_program *p = find_program(d, l->fingerprint);
  if (!p) {
    report_program made = {.op = arena_copy_string(&d->memory, l->op, strlen(l->op))};
    memcpy(made.print, l->fingerprint, HASH_HEX);
    g->failed |= !made.op || !vec_push(&d->programs, made);
    if (g->failed) return false;
    p = &d->programs.at[d->programs.count - 1];
  }
  p->dispatches += l->count;
  p->total_ns += l->total_ns;
  return true;
}

// Regions of all programs are known by the first digits of the fingerprint and their name.
static vyre_status take_regions(gathering *g, vyre_error *error) {
  report_data *d = g->data;
  hints_options options = HINTS_RUNTIME;
  options.capacity = 100000;
  hints *h = hints_new(&options);
  if (!h) return error_out_of_memory(error);
  vyre_status status = store_load_regions(g->store, NULL, (uint32_t)options.capacity, h, error);
  size_t count = 0;
  hints_entry *all = status == VYRE_OK ? hints_snapshot(h, &count) : NULL;
  for (size_t i = 0; all && i < d->programs.count; i++) {
    report_program *p = &d->programs.at[i];
    p->regions = arena_alloc_array(&d->memory, count + 1, sizeof *p->regions);
    for (size_t k = 0; p->regions && k < count; k++) {
      const char *space = strchr(all[k].region, ' ');
      if (!space || strncmp(all[k].region, p->print, (size_t)(space - all[k].region))) continue;
      const char *name = arena_copy_string(&d->memory, space + 1, strlen(space + 1));
      if (name)
        p->regions[p->region_count++] = (report_region){.name = name, .record = all[k].record};
    }
  }
  free(all);
  hints_free(h);
  return status;
}

// A store of an earlier version that cannot be written has none: no operations are known then.
static void take_efforts(gathering *g, report_program *p) {
  uint8_t print[HASH_BYTES];
  store_effort_row *rows;
  uint32_t count;
  if (!explain_read_print(p->print, print) ||
      store_load_efforts(g->store, print, &g->data->memory, &rows, &count, NULL) != VYRE_OK)
    return;
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t k = 0; k < p->region_count; k++)
      if (!strcmp(rows[i].region, p->regions[k].name)) p->regions[k].effort = rows[i];
}

static vyre_status load_rows(gathering *g, report_program *p, vyre_error *error) {
  uint8_t print[HASH_BYTES];
  arena *memory = &g->data->memory;
  if (!explain_read_print(p->print, print)) return VYRE_OK;
  vyre_status status =
      store_load_latencies(g->store, print, memory, &p->latencies, &p->latency_count, error);
  if (status != VYRE_OK) return status;
  return store_load_decisions(g->store, print, memory, &p->decisions, &p->decision_count, error);
}

static int by_time(const void *x, const void *y) {
  const report_program *a = x, *b = y;
  if (a->total_ns != b->total_ns) return a->total_ns < b->total_ns ? 1 : -1;
  return strcmp(a->print, b->print);
}

// ---- searches -----------------------------------------------------------------------------------

static double result_time(const json_t *result) {
  const json_t *first = json_array_get(json_object_get(result, "measurements"), 0);
  const json_t *value = json_object_get(first, "value");
  return json_is_number(value) ? json_number_value(value) * 1e6 : NAN;
}

static void take_search(gathering *g, const char *path) {
  report_data *d = g->data;
  json_error_t wrong;
  json_t *root = json_load_file(path, 0, &wrong);
  const json_t *results = json_object_get(root, "results");
  const json_t *about = json_object_get(root, "metadata");
  const char *op = json_string_value(json_object_get(about, "kernel"));
  const char *device = json_string_value(json_object_get(about, "device"));
  size_t count = json_array_size(results);
  if (op && count && (!g->only || !strcmp(op, g->only))) {
    report_search made = {.op = arena_copy_string(&d->memory, op, strlen(op)),
                          .device =
                              device ? arena_copy_string(&d->memory, device, strlen(device)) : "",
                          .times_ns = arena_alloc_array(&d->memory, count, sizeof(double))};
    for (size_t i = 0; made.times_ns && i < count; i++)
      made.times_ns[made.count++] = result_time(json_array_get(results, i));
    g->failed |= !made.op || !made.device || !made.times_ns || !vec_push(&d->searches, made);
  }
  json_decref(root);
}

// Files that cannot be read are no evidence; `vyre tune` says so when it meets them.
static void take_searches(gathering *g) {
  char *folder = path_cache("tuner", NULL);
  DIR *open = folder ? opendir(folder) : NULL;
  for (struct dirent *e; open && (e = readdir(open));) {
    if (strncmp(e->d_name, "space-", 6)) continue;
    strbuf path = {0};
    strbuf_printf(&path, "%s/%s", folder, e->d_name);
    char *name = strbuf_take(&path, NULL);
    if (name) take_search(g, name);
    free(name);
  }
  if (open) closedir(open);
  free(folder);
}

// ---- all ----------------------------------------------------------------------------------------

vyre_status report_gather(report_data *d, const char *only, const note_sink *notes,
                          vyre_error *error) {
  *d = (report_data){.memory = ARENA_INIT, .lines = json_array()};
  gathering g = {.data = d, .only = only};
  vyre_status status = store_open(NULL, notes, &g.store, error);
  if (status != VYRE_OK) return status;
  d->path = arena_copy_string(&d->memory, store_path(g.store), strlen(store_path(g.store)));
  status = store_count(g.store, &d->counts, error);
  if (status == VYRE_OK) status = store_visit(g.store, take_line, &g, error);
  for (size_t i = 0; i < d->programs.count && status == VYRE_OK; i++)
    status = load_rows(&g, &d->programs.at[i], error);
  if (status == VYRE_OK) status = take_regions(&g, error);
  for (size_t i = 0; i < d->programs.count && status == VYRE_OK; i++)
    take_efforts(&g, &d->programs.at[i]);
  if (d->programs.count) qsort(d->programs.at, d->programs.count, sizeof *d->programs.at, by_time);
  take_searches(&g);
  store_close(g.store);
  return g.failed ? error_out_of_memory(error) : status;
}

void report_data_fini(report_data *d) {
  vec_free(&d->programs);
  vec_free(&d->searches);
  json_decref(d->lines);
  arena_free(&d->memory);
}

// ---- what memory gives --------------------------------------------------------------------------

enum { COPY_BYTES = 32 << 20, MOST_THREADS = 64 };

typedef struct copying {
  char *from, *to;
  double bytes_per_ns;
} copying;

static void *copy(void *data) {
  copying *c = data;
  uint64_t begin = clock_now_ns(), bytes = 0, spent;
  do {
    memcpy(c->to, c->from, COPY_BYTES);
    __asm__ volatile("" : : "r"(c->to) : "memory");
    bytes += 2u * COPY_BYTES;
    spent = clock_now_ns() - begin;
  } while (spent < 250000000);
  c->bytes_per_ns = (double)bytes / (double)spent;
  return NULL;
}

double report_measure_memory(void) {
  uint32_t count = pool_cpu_count(), started = 0;
  if (count > MOST_THREADS) count = MOST_THREADS;
  copying work[MOST_THREADS] = {0};
  pthread_t threads[MOST_THREADS];
  double all = 0;
  for (; started < count; started++) {
    copying *c = &work[started];
    c->from = malloc(COPY_BYTES);
    c->to = malloc(COPY_BYTES);
    if (!c->from || !c->to) break;
    memset(c->from, 1, COPY_BYTES);
    memset(c->to, 2, COPY_BYTES);
    if (pthread_create(&threads[started], NULL, copy, c)) break;
  }
  for (uint32_t i = 0; i < started; i++) pthread_join(threads[i], NULL);
  for (uint32_t i = 0; i < MOST_THREADS; i++) {
    all += i < started ? work[i].bytes_per_ns : 0;
    free(work[i].from);
    free(work[i].to);
  }
  return all;
}

// ---- what it computes ---------------------------------------------------------------------------

// Eight sums for each invocation, so that one need not wait for another's end.
#define SUM(n)      "    s" #n " = fma(s" #n ", 0.5, a)\n"
#define VARIABLE(n) "  var s" #n ": f32 = a + " #n ".0\n"
enum { SUMS = 8, TURNS = 4096, INVOCATIONS = 1 << 14, RUNS = 6 };

static const char busy[] =
    "program busy()\nbuffer y: f32[] write\nregion all grid(len(y)) {\n"
    "  let a = f32(global_id.x)\n" VARIABLE(0) VARIABLE(1) VARIABLE(2) VARIABLE(3) VARIABLE(4)
        VARIABLE(5) VARIABLE(6) VARIABLE(7) "  for k in 0..4096u32 {\n" SUM(0) SUM(1) SUM(2) SUM(3)
            SUM(4) SUM(5) SUM(6)
                SUM(7) "  }\n"
                       "  y[global_id.x] = s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7\n}\n";

double report_measure_operations(void) {
  static float y[INVOCATIONS];
  vyre_program *p;
  vyre_executable *e = NULL;
  vyre_report report = {0};
  uint64_t best = UINT64_MAX;
  if (vyre_program_parse(busy, sizeof busy - 1, "busy", &p, NULL) != VYRE_OK) return 0;
  // The first is this CPU.
  vyre_status status = vyre_compile(p, vyre_backend_name(0), NULL, &e, NULL);
  vyre_span span = {y, sizeof y};
  vyre_dispatch_args args = {.buffers = &span, .buffer_count = 1};
  for (int i = 0; i < RUNS && status == VYRE_OK; i++) {
    status = vyre_dispatch(e, &args, &report, NULL);
    if (status == VYRE_OK && report.wall_ns < best) best = report.wall_ns;
  }
  vyre_executable_release(e);
  vyre_program_release(p);
  return status == VYRE_OK && best ? 2.0 * SUMS * TURNS * INVOCATIONS / (double)best : 0;
}
