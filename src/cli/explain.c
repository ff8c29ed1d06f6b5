// SPDX-License-Identifier: MIT
//
// vyre explain: reads decisions and evidence, and says for each decision what was decided, why,
// what it rests on, how old that is, and what would change it. It decides nothing itself.
#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "cli/args.h"
#include "cli/load.h"
#include "cli/measure.h"
#include "cli/route_json.h"
#include "cli/show.h"
#include "backend/backend.h"
#include "policy/predict.h"
#include "policy/route.h"
#include "policy/tune_cache.h"
#include "runtime/kernel.h"
#include "runtime/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const args_option explain_options[] = {{0, NULL, NULL}};

enum { MAX_PRINTS = 16 };

typedef struct evidence_line { // a copy of a store_line of this machine
  char kind[12], device[128], subject[200], detail[64];
  uint64_t count, total_ns, extreme_ns;
  int64_t date;
} evidence_line;

typedef struct explaining {
  const cli *cli;
  const char *op;
  char prints[MAX_PRINTS][HASH_HEX]; // fingerprints of programs of that name
  uint32_t print_count;
  note_sink notes;
  store *store; // NULL: none to be had
  route_table *routes;
  char *routes_path;
  vec(evidence_line) lines;
  bool found_any;
  json_t *json; // NULL: text
} explaining;

// ---- gathering ----------------------------------------------------------------------------------

static void add_print(explaining *e, const char *hex) {
  for (uint32_t i = 0; i < e->print_count; i++)
    if (!strcmp(e->prints[i], hex)) return;
  if (e->print_count == MAX_PRINTS || strlen(hex) + 1 != HASH_HEX) return;
  memcpy(e->prints[e->print_count++], hex, HASH_HEX);
}

static bool is_print(const explaining *e, const char *hex) {
  for (uint32_t i = 0; i < e->print_count; i++)
    if (!strcmp(e->prints[i], hex)) return true;
  return false;
}

static bool find_prints(void *context, const store_line *l) {
  explaining *e = context;
  if (!l->origin && !strcmp(l->kind, "latency") && !strcmp(l->op, e->op))
    add_print(e, l->fingerprint);
  return true;
}

static bool take_line(void *context, const store_line *l) {
  explaining *e = context;
  bool is_ours =
      !strcmp(l->op, e->op) || (!strcmp(l->kind, "speculation") && is_print(e, l->fingerprint));
  if (l->origin || !is_ours) return true;
  evidence_line copy = {
      .count = l->count, .total_ns = l->total_ns, .extreme_ns = l->extreme_ns, .date = l->date};
  snprintf(copy.kind, sizeof copy.kind, "%s", l->kind);
  snprintf(copy.device, sizeof copy.device, "%s", l->device);
  snprintf(copy.subject, sizeof copy.subject, "%s", l->subject);
  snprintf(copy.detail, sizeof copy.detail, "%s", l->detail);
  return vec_push(&e->lines, copy);
}

static void gather(explaining *e) {
  vyre_error error;
  size_t first, count;
  e->routes_path = route_default_path(&error);
  e->routes = route_table_new();
  if (!e->routes_path ||
      (e->routes && route_table_load(e->routes, e->routes_path, &e->notes, &error) != VYRE_OK))
    note_tell(&e->notes, &error);
  count = e->routes ? route_table_find(e->routes, e->op, &first) : 0;
  for (size_t i = 0; i < count; i++) {
    const route_entry *entry = route_table_at(e->routes, first + i);
    if (entry->fingerprint) add_print(e, entry->fingerprint);
  }
  if (store_open(NULL, &e->notes, &e->store, &error) != VYRE_OK) {
    note_tell(&e->notes, &error);
    return;
  }
  if (store_visit(e->store, find_prints, e, &error) != VYRE_OK ||
      store_visit(e->store, take_line, e, &error) != VYRE_OK)
    note_tell(&e->notes, &error);
}

// ---- backend ------------------------------------------------------------------------------------

static bool has_backend(void *context, const char *backend) {
  (void)context;
  uint32_t count = 0;
  return backend_find(backend) && vyre_backend_devices(backend, NULL, 0, &count, NULL) == VYRE_OK &&
         count;
}

// What the runtime would make of this one entry, here and now.
static route_state judge(const route_entry *entry) {
  route_table *alone = route_table_new();
  const route_entry *found;
  route_query query = {.op_id = entry->op_id,
                       .now = clock_unix_seconds(),
                       .max_age_seconds = ROUTE_MAX_AGE_SECONDS,
                       .has_backend = has_backend};
  route_state state = ROUTE_NO_ENTRY;
  char adapter[128] = "";
  if (alone && route_table_put(alone, entry, NULL) == VYRE_OK)
    state = route_resolve(alone, &query, &found);
  if (state == ROUTE_USABLE) runtime_adapter(entry->backend, adapter);
  if (state == ROUTE_USABLE && entry->device && strcmp(entry->device, adapter))
    state = ROUTE_OTHER_DEVICE;
  route_table_free(alone);
  return state;
}

static void show_size_class(uint32_t size_class) {
  char low[SHOW_TEXT], high[SHOW_TEXT];
  printf("size class %u", size_class);
  if (size_class && size_class < 63)
    printf(" (%s to %s)", show_bytes((uint64_t)1 << (size_class - 1), low),
           show_bytes((uint64_t)1 << size_class, high));
}

static void show_samples(const evidence_line *l, const char *indent) {
  char mean[SHOW_TEXT], fastest[SHOW_TEXT], age[SHOW_TEXT], count[SHOW_TEXT];
  printf("%s%-12s %s samples, mean %s, fastest %s, latest %s\n", indent, l->detail,
         show_count(l->count, count), show_time(l->count ? l->total_ns / l->count : 0, mean),
         show_time(l->extreme_ns, fastest), measure_age(l->date, age));
}

static void show_route(const explaining *e, const route_entry *entry, route_state state) {
  char time[SHOW_TEXT], age[SHOW_TEXT];
  printf("  ");
  if (entry->has_size_class)
    show_size_class(entry->size_class);
  else
    printf("any size");
  printf(": %s, because %s; decided %s%s%s; here it is %s\n", entry->backend,
         entry->reason ? entry->reason : "the file says so", measure_age(entry->date, age),
         entry->device ? " on " : "", entry->device ? entry->device : "", route_state_name(state));
  for (uint32_t i = 0; i < entry->observation_count; i++)
    printf("    %-12s median %s when it was decided\n", entry->observations[i].backend,
           show_time(entry->observations[i].latency_ns, time));
  for (uint32_t i = 0; i < entry->rejection_count; i++)
    printf("    %-12s rejected: %s\n", entry->rejections[i].backend, entry->rejections[i].reason);
  for (size_t i = 0; i < e->lines.count; i++) {
    const evidence_line *l = &e->lines.at[i];
    const char *blank = strrchr(l->detail, ' ');
    if (strcmp(l->kind, "latency") || !blank || !entry->has_size_class ||
        strtoul(blank + 1, NULL, 10) != entry->size_class)
      continue;
    show_samples(l, "    evidence ");
  }
}

static json_t *judged_json(const route_entry *entry, route_state state) {
  json_t *o = route_json(entry);
  json_object_set_new(o, "state", json_string(route_state_name(state)));
  return o;
}

static void explain_backend(explaining *e) {
  size_t first, count = e->routes ? route_table_find(e->routes, e->op, &first) : 0;
  json_t *list = e->json ? json_array() : NULL;
  if (!list) printf("backend\n");
  for (size_t i = 0; i < count; i++) {
    const route_entry *entry = route_table_at(e->routes, first + i);
    route_state state = judge(entry);
    e->found_any = true;
    if (list)
      json_array_append_new(list, judged_json(entry, state));
    else
      show_route(e, entry, state);
  }
  if (list) {
    json_object_set_new(e->json, "backend", list);
    return;
  }
  if (!count)
    printf("  nothing is decided: this CPU runs it, and the runtime measures the others after %d "
           "dispatches of a size class\n",
           DEFAULT_LEARN_AFTER);
  printf("  what would change it: `vyre certify`, a line in %s, another program or device, an age\n"
         "  above 90 days, a backend that fails or is wrong when it is proven again\n",
         e->routes_path ? e->routes_path : "pgo.toml");
}

// ---- shape --------------------------------------------------------------------------------------

// The decision for a key on a device, from the tuner's file.
static bool find_shape(const explaining *e, const char *device, const char *key, tune_shape *out) {
  tuner *t = tuner_new(device, TUNE_OFF_USE_DEFAULT, &e->notes);
  bool is_decided = t && tuner_is_decided(t, key);
  if (is_decided) *out = tuner_resolve(t, key);
  tuner_free(t);
  return is_decided;
}

static bool is_new_key(const explaining *e, size_t at) {
  for (size_t i = 0; i < at; i++)
    if (!strcmp(e->lines.at[i].kind, "tuning") &&
        !strcmp(e->lines.at[i].subject, e->lines.at[at].subject) &&
        !strcmp(e->lines.at[i].device, e->lines.at[at].device))
      return false;
  return true;
}

static json_t *shape_json(const explaining *e, size_t at, bool is_decided, tune_shape shape) {
  const evidence_line *l = &e->lines.at[at];
  json_t *samples = json_array();
  json_t *o =
      json_pack("{s:s, s:s, s:b}", "device", l->device, "key", l->subject, "decided", is_decided);
  if (is_decided)
    json_object_set_new(
        o, "shape",
        json_pack("[i,i,i]", (int)shape.axis[0], (int)shape.axis[1], (int)shape.axis[2]));
  for (size_t i = at; i < e->lines.count; i++) {
    const evidence_line *k = &e->lines.at[i];
    if (strcmp(k->kind, "tuning") || strcmp(k->subject, l->subject) || strcmp(k->device, l->device))
      continue;
    json_array_append_new(
        samples, json_pack("{s:s, s:I, s:I, s:I, s:I}", "shape", k->detail, "count",
                           (json_int_t)k->count, "total_ns", (json_int_t)k->total_ns, "fastest_ns",
                           (json_int_t)k->extreme_ns, "date", (json_int_t)k->date));
  }
  json_object_set_new(o, "evidence", samples);
  return o;
}

static void show_shape(const explaining *e, size_t at, bool is_decided, tune_shape shape) {
  const evidence_line *l = &e->lines.at[at];
  if (is_decided)
    printf("  %u x %u x %u on %s, because it was fastest or nothing was clearly faster\n",
           shape.axis[0], shape.axis[1], shape.axis[2], l->device);
  else
    printf("  as declared on %s: measured, but no decision is kept\n", l->device);
  printf("    key %s\n", l->subject);
  for (size_t i = at; i < e->lines.count; i++) {
    const evidence_line *k = &e->lines.at[i];
    if (!strcmp(k->kind, "tuning") && !strcmp(k->subject, l->subject) &&
        !strcmp(k->device, l->device))
      show_samples(k, "    evidence ");
  }
}

static void explain_shape(explaining *e) {
  json_t *list = e->json ? json_array() : NULL;
  size_t found = 0;
  if (!list) printf("launch shape\n");
  for (size_t i = 0; i < e->lines.count; i++) {
    const evidence_line *l = &e->lines.at[i];
    tune_shape shape = TUNE_DEFAULT_SHAPE;
    if (strcmp(l->kind, "tuning") || !is_new_key(e, i)) continue;
    bool is_decided = find_shape(e, l->device, l->subject, &shape);
    found++;
    if (list)
      json_array_append_new(list, shape_json(e, i, is_decided, shape));
    else
      show_shape(e, i, is_decided, shape);
  }
  e->found_any |= found > 0;
  if (list) {
    json_object_set_new(e->json, "shape", list);
    return;
  }
  if (!found) printf("  as declared: none was measured\n");
  printf("  what would change it: `vyre tune`, VYRE_AUTOTUNER=on, a line in the tuner's file;\n"
         "  another program, size of output or device has a decision of its own\n");
}

// ---- passes, variants ---------------------------------------------------------------------------

static bool read_print(const char *hex, uint8_t out[HASH_BYTES]) {
  for (int i = 0; i < HASH_BYTES; i++) {
    unsigned byte;
    if (sscanf(hex + 2 * i, "%2x", &byte) != 1) return false;
    out[i] = (uint8_t)byte;
  }
  return true;
}

static void show_pass(const pass_metric *m, json_t *list) {
  static const char *const outcomes[] = {"changed it", "found nothing to do", "not selected",
                                         "refused", "reverted"};
  char time[SHOW_TEXT];
  if (list) {
    json_array_append_new(list,
                          json_pack("{s:s, s:s?, s:s, s:s?, s:I, s:I, s:I}", "pass", m->pass,
                                    "region", m->region, "outcome", outcomes[m->outcome], "reason",
                                    m->reason, "runtime_ns", (json_int_t)m->runtime_ns,
                                    "instructions_before", (json_int_t)m->before.instructions,
                                    "instructions_after", (json_int_t)m->after.instructions));
    return;
  }
  printf("  %-24s %-12s %s%s%s", m->pass, m->region ? m->region : "", outcomes[m->outcome],
         m->reason ? ", because " : "", m->reason ? m->reason : "");
  if (m->ran)
    printf(" in %s, %llu to %llu instructions", show_time(m->runtime_ns, time),
           (unsigned long long)m->before.instructions, (unsigned long long)m->after.instructions);
  putchar('\n');
}

static void explain_passes(explaining *e) {
  json_t *list = e->json ? json_array() : NULL;
  size_t rows = 0;
  if (!list) printf("passes of the last optimized compile\n");
  for (uint32_t i = 0; i < e->print_count && e->store; i++) {
    arena memory = ARENA_INIT;
    opt_report report = {0};
    uint8_t print[HASH_BYTES];
    vyre_error error;
    if (read_print(e->prints[i], print) &&
        store_load_passes(e->store, print, &memory, &report, &error) != VYRE_OK)
      note_tell(&e->notes, &error);
    char age[SHOW_TEXT];
    int64_t date = 0;
    (void)store_passes_date(e->store, print, &date, NULL);
    if (report.rows.count && !list)
      printf("  program %.16s..., compiled %s\n", e->prints[i], measure_age(date, age));
    for (size_t k = 0; k < report.rows.count; k++) show_pass(&report.rows.at[k], list);
    rows += report.rows.count;
    opt_report_free(&report);
    arena_free(&memory);
  }
  e->found_any |= rows > 0;
  if (list) {
    json_object_set_new(e->json, "passes", list);
    return;
  }
  if (!rows) printf("  none is known: it was never compiled with optimization by a runtime\n");
  printf(
      "  what would change it: a region that gets hot (a mean of 0.1 ms, or 1 s in all), a pass\n"
      "  that paid in the last compile, the shape of the program; see `vyre opt --report`\n");
}

static void explain_variants(explaining *e) {
  json_t *list = e->json ? json_array() : NULL;
  uint64_t found = 0;
  if (!list) printf("variants prepared ahead\n");
  for (size_t i = 0; i < e->lines.count; i++) {
    const evidence_line *l = &e->lines.at[i];
    char time[SHOW_TEXT], age[SHOW_TEXT];
    if (strcmp(l->kind, "speculation")) continue;
    found++;
    if (list)
      json_array_append_new(list, json_pack("{s:s, s:I, s:I, s:I, s:I}", "predicted_by", l->detail,
                                            "variants", (json_int_t)l->count, "used",
                                            (json_int_t)l->extreme_ns, "compile_ns",
                                            (json_int_t)l->total_ns, "date", (json_int_t)l->date));
    else
      printf("  by %s: %llu variants, %llu used, %s spent, latest %s\n", l->detail,
             (unsigned long long)l->count, (unsigned long long)l->extreme_ns,
             show_time(l->total_ns, time), measure_age(l->date, age));
  }
  e->found_any |= found > 0;
  if (list) {
    json_object_set_new(e->json, "variants", list);
    return;
  }
  if (!found) printf("  none\n");
  printf("  what would change it: arguments that can be foreseen (8 dispatches, a confidence of\n"
         "  60 %%), in a runtime that may specialise; variants that nobody uses silence it\n");
}

// ---- the command --------------------------------------------------------------------------------

static int explain(explaining *e) {
  gather(e);
  if (e->cli->json) e->json = json_pack("{s:o}", "op", cli_text(e->op));
  if (!e->json) printf("%s\n", e->op);
  explain_backend(e);
  explain_shape(e);
  explain_passes(e);
  explain_variants(e);
  if (e->json) cli_json(e->json);
  bool is_known = e->found_any || e->lines.count;
  if (!is_known && !e->json)
    fprintf(stderr, "vyre: note: nothing was measured or decided for `%s` yet\n", e->op);
  store_close(e->store);
  route_table_free(e->routes);
  free(e->routes_path);
  vec_free(&e->lines);
  return is_known ? EXIT_FINE : EXIT_INPUT;
}

static int run(cli *c, int argc, char **argv) {
  explaining e = {.cli = c, .notes = cli_notes()};
  loaded l = {0};
  vyre_error error;
  args a = args_begin(c, explain_options, argc, argv);
  for (int letter; (letter = args_next(&a)) != ARGS_END;) {
    if (letter == ARGS_ERROR) return EXIT_USAGE;
    if (e.op) return cli_usage(c, "one op at a time: `%s` is too many", a.value);
    e.op = a.value;
  }
  if (!e.op) return cli_usage(c, "no op is named. Fix: run `vyre explain OP`, or name its file");
  // The file of a program stands for the program.
  if (access(e.op, F_OK) == 0 || load_is_opencl(e.op)) {
    if (load_program(e.op, NULL, &l, &error) != VYRE_OK) return cli_error(c, &error);
    uint8_t print[HASH_BYTES];
    char hex[HASH_HEX];
    vyre_program_fingerprint(l.program, print);
    hash_hex(print, hex);
    add_print(&e, hex);
    e.op = vyre_program_name(l.program);
  }
  int code = explain(&e);
  load_free(&l);
  return code;
}

const command explain_command = {
    "explain", "say what was decided for a program, why, and what would change it",
    "usage: vyre explain OP | FILE[:ENTRY] [--json]\n"
    "\n"
    "OP is the name of a program, as `vyre info` shows it; a file stands for its program. Says\n"
    "which backend runs it at which size, with which launch shape, what each optimizer pass did\n"
    "in its last compile, and which variants were prepared ahead: each with its reason, the\n"
    "evidence and its age, and what would change it. It only reads. For what a running process\n"
    "decides by itself, see `vyre run --repeat N --explain`.\n"
    "\n"
    "exit status: 0; 1 nothing is known of it\n"
    "\n"
    "examples:\n"
    "  vyre explain saxpy\n"
    "  vyre explain kernels.cl:blur --json\n",
    run};
