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
#include "policy/variant_name.h"
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

// What the store has of one program, by its fingerprint.
typedef struct program_evidence {
  char print[HASH_HEX];
  store_latency_row *latencies;
  store_decision_row *decisions;
  uint32_t latency_count, decision_count;
} program_evidence;

typedef struct explaining {
  const cli *cli;
  const char *op;
  bool is_one_program;                   // a file was named: others of its name do not count
  program_evidence programs[MAX_PRINTS]; // of that name
  uint32_t program_count;
  arena memory;
  note_sink notes;
  store *store; // NULL: none to be had
  route_table *routes;
  char *routes_path;
  vec(evidence_line) lines;
  bool found_any;
  json_t *json; // NULL: text
} explaining;

// ---- gathering ----------------------------------------------------------------------------------

static bool read_print(const char *hex, uint8_t out[HASH_BYTES]) {
  for (int i = 0; i < HASH_BYTES; i++) {
    unsigned byte;
    if (sscanf(hex + 2 * i, "%2x", &byte) != 1) return false;
    out[i] = (uint8_t)byte;
  }
  return true;
}

static const program_evidence *find_print(const explaining *e, const char *hex) {
  for (uint32_t i = 0; i < e->program_count; i++)
    if (!strcmp(e->programs[i].print, hex)) return &e->programs[i];
  return NULL;
}

static void add_print(explaining *e, const char *hex) {
  if (find_print(e, hex) || e->program_count == MAX_PRINTS || strlen(hex) + 1 != HASH_HEX) return;
  memcpy(e->programs[e->program_count++].print, hex, HASH_HEX);
}

static bool find_prints(void *context, const store_line *l) {
  explaining *e = context;
  if (!l->origin && !strcmp(l->kind, "latency") && !strcmp(l->op, e->op))
    add_print(e, l->fingerprint);
  return true;
}

static bool take_line(void *context, const store_line *l) {
  explaining *e = context;
  bool is_ours = l->fingerprint[0] ? find_print(e, l->fingerprint) != NULL : !strcmp(l->op, e->op);
  if (l->origin || !is_ours) return true;
  evidence_line copy = {
      .count = l->count, .total_ns = l->total_ns, .extreme_ns = l->extreme_ns, .date = l->date};
  snprintf(copy.kind, sizeof copy.kind, "%s", l->kind);
  snprintf(copy.device, sizeof copy.device, "%s", l->device);
  snprintf(copy.subject, sizeof copy.subject, "%s", l->subject);
  snprintf(copy.detail, sizeof copy.detail, "%s", l->detail);
  return vec_push(&e->lines, copy);
}

static void load_program_evidence(explaining *e, program_evidence *p) {
  uint8_t print[HASH_BYTES];
  vyre_error error;
  if (!read_print(p->print, print)) return;
  if (store_load_latencies(e->store, print, &e->memory, &p->latencies, &p->latency_count, &error) !=
          VYRE_OK ||
      store_load_decisions(e->store, print, &e->memory, &p->decisions, &p->decision_count,
                           &error) != VYRE_OK)
    note_tell(&e->notes, &error);
}

static void gather_routes(explaining *e) {
  vyre_error error;
  size_t first = 0, count;
  e->routes_path = route_default_path(&error);
  e->routes = route_table_new();
  if (!e->routes_path ||
      (e->routes && route_table_load(e->routes, e->routes_path, &e->notes, &error) != VYRE_OK))
    note_tell(&e->notes, &error);
  count = e->routes ? route_table_find(e->routes, e->op, &first) : 0;
  for (size_t i = 0; i < count && !e->is_one_program; i++) {
    const route_entry *entry = route_table_at(e->routes, first + i);
    if (entry->fingerprint) add_print(e, entry->fingerprint);
  }
}

static void gather(explaining *e) {
  vyre_error error;
  gather_routes(e);
  if (store_open(NULL, &e->notes, &e->store, &error) != VYRE_OK) {
    note_tell(&e->notes, &error);
    return;
  }
  if ((!e->is_one_program && store_visit(e->store, find_prints, e, &error) != VYRE_OK) ||
      store_visit(e->store, take_line, e, &error) != VYRE_OK)
    note_tell(&e->notes, &error);
  for (uint32_t i = 0; i < e->program_count; i++) load_program_evidence(e, &e->programs[i]);
}

// ---- decisions ----------------------------------------------------------------------------------

static bool has_backend(void *context, const char *backend) {
  (void)context;
  uint32_t count = 0;
  return backend_find(backend) && vyre_backend_devices(backend, NULL, 0, &count, NULL) == VYRE_OK &&
         count;
}

// What the runtime would make of this one entry, here and now, for the program that was named.
static route_state judge(const explaining *e, const route_entry *entry) {
  route_table *alone = route_table_new();
  const route_entry *found;
  uint8_t print[HASH_BYTES];
  bool is_named = e->is_one_program && read_print(e->programs[0].print, print);
  route_query query = {.op_id = entry->op_id,
                       .fingerprint = is_named ? print : NULL,
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

// A bucket of dispatches: what is decided for it stands together.
typedef struct bucket {
  const program_evidence *program; // NULL: none is known
  bool has_size_class;
  uint32_t size_class;
  const char *work;
} bucket;

static bool is_in(const bucket *b, uint32_t size_class, const char *work) {
  return !b->has_size_class || (b->size_class == size_class && !strcmp(b->work, work));
}

static void show_bucket(const bucket *b) {
  char low[SHOW_TEXT], high[SHOW_TEXT];
  printf("  ");
  if (!b->has_size_class) printf("any size");
  if (b->has_size_class) printf("size class %u", b->size_class);
  if (b->has_size_class && b->size_class && b->size_class < 63)
    printf(" (%s to %s)", show_bytes((uint64_t)1 << (b->size_class - 1), low),
           show_bytes((uint64_t)1 << b->size_class, high));
  if (b->work[0]) printf(", work %s", b->work);
}

static const char *here(const char *build, char note[BUILD_TEXT + 40]) {
  char ours[BUILD_TEXT];
  build_name(ours);
  note[0] = 0;
  if (build && strcmp(build, ours))
    snprintf(note, BUILD_TEXT + 40, ", under %s: only where to begin", build);
  return note;
}

static void show_latencies(const bucket *b, json_t *list) {
  const program_evidence *p = b->program;
  for (uint32_t i = 0; p && i < p->latency_count; i++) {
    const store_latency_row *r = &p->latencies[i];
    const store_samples *s = &r->samples;
    uint64_t median = trial_median(s->recent_ns, s->recent_count);
    uint64_t noise = trial_noise(s->recent_ns, s->recent_count);
    char time[SHOW_TEXT], spread[SHOW_TEXT], fastest[SHOW_TEXT], age[SHOW_TEXT];
    char count[SHOW_TEXT], note[BUILD_TEXT + 40];
    if (!is_in(b, r->size_class, r->work)) continue;
    if (list)
      json_array_append_new(
          list, json_pack("{s:o, s:o, s:I, s:I, s:I, s:I, s:I}", "variant", cli_text(r->variant),
                          "build", cli_text(r->build), "samples", (json_int_t)s->count, "median_ns",
                          (json_int_t)median, "spread_ns", (json_int_t)noise, "fastest_ns",
                          (json_int_t)s->min_ns, "date", (json_int_t)s->date));
    else
      printf(
          "    evidence %s: median %s +- %s of the last %u, %s samples, fastest %s, latest %s%s\n",
          r->variant, show_time(median, time), show_time(noise, spread), s->recent_count,
          show_count(s->count, count), show_time(s->min_ns, fastest), measure_age(s->date, age),
          here(r->build, note));
  }
}

static void show_decision(const store_decision_row *d, const char *when) {
  char mean[SHOW_TEXT], spread[SHOW_TEXT], age[SHOW_TEXT], count[SHOW_TEXT];
  printf("    %s %s, because %s, %s", when, d->variant, d->reason, measure_age(d->date, age));
  if (d->samples)
    printf(", from %s samples: %s +- %s", show_count(d->samples, count),
           show_time(d->mean_ns, mean), show_time(d->spread_ns, spread));
  putchar('\n');
  for (const char *line = d->others; *line && !strcmp(when, "decided");) {
    size_t size = strcspn(line, "\n");
    printf("      considered %.*s\n", (int)size, line);
    line += size + (line[size] == '\n');
  }
}

static void show_history(const bucket *b, json_t *list) {
  const program_evidence *p = b->program;
  const char *when = "decided";
  for (uint32_t i = 0; p && i < p->decision_count; i++) {
    const store_decision_row *d = &p->decisions[i];
    if (!is_in(b, d->size_class, d->work)) continue;
    if (list)
      json_array_append_new(list, json_pack("{s:o, s:s, s:I, s:I, s:I, s:I}", "variant",
                                            cli_text(d->variant), "reason", d->reason, "samples",
                                            (json_int_t)d->samples, "mean_ns",
                                            (json_int_t)d->mean_ns, "spread_ns",
                                            (json_int_t)d->spread_ns, "date", (json_int_t)d->date));
    else
      show_decision(d, when);
    when = "before that";
  }
}

static void show_route(const route_entry *entry, route_state state) {
  char time[SHOW_TEXT], age[SHOW_TEXT], note[BUILD_TEXT + 40];
  printf(": %s, because %s; decided %s%s%s; here it is %s%s\n",
         entry->variant ? entry->variant : entry->backend,
         entry->reason ? entry->reason : "the file says so", measure_age(entry->date, age),
         entry->device ? " on " : "", entry->device ? entry->device : "", route_state_name(state),
         here(entry->build, note));
  for (uint32_t i = 0; i < entry->observation_count; i++)
    printf("    %-12s median %s when it was decided\n", entry->observations[i].backend,
           show_time(entry->observations[i].latency_ns, time));
  for (uint32_t i = 0; i < entry->rejection_count; i++)
    printf("    %-12s rejected: %s\n", entry->rejections[i].backend, entry->rejections[i].reason);
}

// `entry` NULL: nothing is routed, but something was decided or measured.
static void explain_bucket(const explaining *e, const bucket *b, const route_entry *entry,
                           json_t *list) {
  route_state state = entry ? judge(e, entry) : ROUTE_NO_ENTRY;
  if (!list) {
    show_bucket(b);
    if (entry)
      show_route(entry, state);
    else
      printf(": no route is kept\n");
    show_history(b, NULL);
    show_latencies(b, NULL);
    return;
  }
  json_t *o = entry ? route_json(entry) : json_object();
  json_t *history = json_array(), *evidence = json_array();
  json_object_set_new(o, "state", json_string(route_state_name(state)));
  json_object_set_new(o, "size_class", json_integer(b->size_class));
  json_object_set_new(o, "work", cli_text(b->work));
  show_history(b, history);
  show_latencies(b, evidence);
  json_object_set_new(o, "decisions", history);
  json_object_set_new(o, "evidence", evidence);
  json_array_append_new(list, o);
}

static bool is_routed(const explaining *e, const program_evidence *p, uint32_t size_class,
                      const char *work) {
  size_t first, count = e->routes ? route_table_find(e->routes, e->op, &first) : 0;
  for (size_t i = 0; i < count; i++) {
    const route_entry *r = route_table_at(e->routes, first + i);
    if (r->fingerprint && strcmp(r->fingerprint, p->print)) continue;
    if (!r->has_size_class ||
        (r->size_class == size_class && !strcmp(r->work ? r->work : "", work)))
      return true;
  }
  return false;
}

static size_t explain_unrouted(const explaining *e, json_t *list) {
  size_t found = 0;
  for (uint32_t i = 0; i < e->program_count; i++) {
    const program_evidence *p = &e->programs[i];
    const store_latency_row *last = NULL;
    for (uint32_t k = 0; k < p->latency_count; k++) { // sorted by bucket
      const store_latency_row *r = &p->latencies[k];
      bool is_new = !last || last->size_class != r->size_class || strcmp(last->work, r->work);
      last = r;
      if (!is_new || is_routed(e, p, r->size_class, r->work)) continue;
      explain_bucket(e, &(bucket){p, true, r->size_class, r->work}, NULL, list);
      found++;
    }
  }
  return found;
}

static void explain_backend(explaining *e) {
  size_t first, count = e->routes ? route_table_find(e->routes, e->op, &first) : 0;
  json_t *list = e->json ? json_array() : NULL;
  if (!list) printf("backend\n");
  for (size_t i = 0; i < count; i++) {
    const route_entry *entry = route_table_at(e->routes, first + i);
    bucket b = {.program = find_print(e, entry->fingerprint ? entry->fingerprint : ""),
                .has_size_class = entry->has_size_class,
                .size_class = entry->size_class,
                .work = entry->work ? entry->work : ""};
    explain_bucket(e, &b, entry, list);
  }
  size_t found = count + explain_unrouted(e, list);
  e->found_any |= found > 0;
  if (list) {
    json_object_set_new(e->json, "backend", list);
    return;
  }
  if (!found)
    printf("  nothing is decided: this CPU runs it, and the runtime tries other variants after %d "
           "dispatches of a size class\n",
           DEFAULT_LEARN_AFTER);
  printf(
      "  what would change it: dispatches whose times change, or another variant that turns out\n"
      "  faster; `vyre certify`, or a line in %s, says where to begin\n",
      e->routes_path ? e->routes_path : "pgo.toml");
}

// ---- wrong answers ------------------------------------------------------------------------------

typedef struct wrong_list {
  const explaining *e;
  json_t *json; // NULL: text
  uint64_t count;
} wrong_list;

static void show_wrong(wrong_list *l, const char *variant, const char *device, const char *detail,
                       int64_t date) {
  char age[SHOW_TEXT];
  l->count++;
  if (l->json)
    json_array_append_new(l->json, json_pack("{s:o, s:o, s:o, s:I}", "variant", cli_text(variant),
                                             "device", cli_text(device), "detail", cli_text(detail),
                                             "date", (json_int_t)date));
  else
    printf("  %s on %s: %s; found %s\n", variant, device, detail, measure_age(date, age));
}

static bool visit_wrong(void *context, const store_wrong *w) {
  show_wrong(context, w->variant, w->device, w->detail, w->date);
  return true;
}

// The store has what was found here; the file also what came with it from elsewhere.
static void explain_wrong(explaining *e) {
  wrong_list l = {.e = e, .json = e->json ? json_array() : NULL};
  vyre_error error;
  if (!l.json) printf("not used any more, because an answer was wrong\n");
  if (e->store && store_visit_wrong(e->store, e->op, visit_wrong, &l, &error) != VYRE_OK)
    note_tell(&e->notes, &error);
  for (size_t i = 0; e->routes && i < route_table_wrong_count(e->routes); i++) {
    const route_wrong *w = route_table_wrong_at(e->routes, i);
    uint8_t hash[HASH_BYTES];
    store_code_state known = {0};
    if (!w->op_id || strcmp(w->op_id, e->op) || !read_print(w->code, hash)) continue;
    if (e->store) (void)store_load_code(e->store, hash, &known, NULL);
    if (!known.is_wrong)
      show_wrong(&l, w->variant ? w->variant : w->code, w->device ? w->device : "any device",
                 w->reason ? w->reason : "the file says so", w->date);
  }
  e->found_any |= l.count > 0;
  if (l.json)
    json_object_set_new(e->json, "wrong", l.json);
  else if (!l.count)
    printf("  nothing\n");
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

static void show_samples(const evidence_line *l) {
  char mean[SHOW_TEXT], fastest[SHOW_TEXT], age[SHOW_TEXT], count[SHOW_TEXT];
  printf("    evidence %-12s %s samples, mean %s, fastest %s, latest %s\n", l->detail,
         show_count(l->count, count), show_time(l->count ? l->total_ns / l->count : 0, mean),
         show_time(l->extreme_ns, fastest), measure_age(l->date, age));
}

static void show_shape(const explaining *e, size_t at, bool is_decided, tune_shape shape) {
  const evidence_line *l = &e->lines.at[at];
  if (is_decided)
    printf("  %u x %u x %u on %s: the tuner's file says so\n", shape.axis[0], shape.axis[1],
           shape.axis[2], l->device);
  else
    printf("  as declared on %s: measured, but no decision is kept\n", l->device);
  printf("    key %s\n", l->subject);
  for (size_t i = at; i < e->lines.count; i++) {
    const evidence_line *k = &e->lines.at[i];
    if (!strcmp(k->kind, "tuning") && !strcmp(k->subject, l->subject) &&
        !strcmp(k->device, l->device))
      show_samples(k);
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
  printf(
      "  what would change it: enough dispatches for a sweep to pay, `vyre tune`, a line in the\n"
      "  tuner's file; another program, size of output or device has a decision of its own\n");
}

// ---- passes, variants ---------------------------------------------------------------------------

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
  for (uint32_t i = 0; i < e->program_count && e->store; i++) {
    arena memory = ARENA_INIT;
    opt_report report = {0};
    uint8_t print[HASH_BYTES];
    vyre_error error;
    if (read_print(e->programs[i].print, print) &&
        store_load_passes(e->store, print, &memory, &report, &error) != VYRE_OK)
      note_tell(&e->notes, &error);
    char age[SHOW_TEXT];
    int64_t date = 0;
    (void)store_passes_date(e->store, print, &date, NULL);
    if (report.rows.count && !list)
      printf("  program %.16s..., compiled %s\n", e->programs[i].print, measure_age(date, age));
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
  explain_wrong(e);
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
  arena_free(&e->memory);
  vec_free(&e->lines);
  return is_known ? EXIT_FINE : EXIT_INPUT;
}

static int run(cli *c, int argc, char **argv) {
  explaining e = {.cli = c, .notes = cli_notes(), .memory = ARENA_INIT};
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
  if (access(e.op, F_OK) == 0 || load_language(e.op, NULL).has_launch) {
    if (load_program(e.op, NULL, &l, &error) != VYRE_OK) return cli_error(c, &error);
    uint8_t print[HASH_BYTES];
    char hex[HASH_HEX];
    vyre_program_fingerprint(l.program, print);
    hash_hex(print, hex);
    add_print(&e, hex);
    e.is_one_program = true;
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
