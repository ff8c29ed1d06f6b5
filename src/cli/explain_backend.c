// SPDX-License-Identifier: MIT
//
// Which variant runs at which size, what it was compared with, the decisions before it, and what
// may not run any more.
#include "cli/explain.h"

#include "base/clock.h"
#include "cli/measure.h"
#include "cli/route_json.h"
#include "cli/show.h"
#include "backend/backend.h"
#include "policy/route.h"
#include "policy/variant_name.h"
#include "runtime/kernel.h"
#include "runtime/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
  bool is_named = e->is_one_program && explain_read_print(e->programs[0].print, print);
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

// Of the configurations that a search tried, people see the fastest few.
enum { CONFIGURATIONS = 5 };

static bool is_configuration(const store_latency_row *r) {
  return strstr(r->variant, " with ") != NULL;
}

static bool is_among_fastest(const bucket *b, const store_latency_row *row) {
  uint32_t faster = 0;
  for (uint32_t i = 0; i < b->program->latency_count; i++) {
    const store_latency_row *r = &b->program->latencies[i];
    bool is_other = r != row && is_configuration(r) && is_in(b, r->size_class, r->work);
    faster += is_other && r->samples.min_ns < row->samples.min_ns;
  }
  return faster < CONFIGURATIONS;
}

static void show_latencies(const bucket *b, json_t *list) {
  const program_evidence *p = b->program;
  uint32_t left_out = 0;
  for (uint32_t i = 0; p && i < p->latency_count; i++) {
    const store_latency_row *r = &p->latencies[i];
    const store_samples *s = &r->samples;
    uint64_t median = trial_median(s->recent_ns, s->recent_count);
    uint64_t noise = trial_noise(s->recent_ns, s->recent_count);
    char time[SHOW_TEXT], spread[SHOW_TEXT], fastest[SHOW_TEXT], age[SHOW_TEXT];
    char count[SHOW_TEXT], note[BUILD_TEXT + 40];
    if (!is_in(b, r->size_class, r->work)) continue;
    if (!list && is_configuration(r) && !is_among_fastest(b, r)) {
      left_out++;
      continue;
    }
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
  if (left_out) printf("    and %u configurations that were slower\n", left_out);
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

void explain_backend(explaining *e) {
  size_t first, count = e->routes ? route_table_find(e->routes, e->op, &first) : 0;
  json_t *list = e->json ? json_array() : NULL;
  if (!list) printf("backend\n");
  for (size_t i = 0; i < count; i++) {
    const route_entry *entry = route_table_at(e->routes, first + i);
    bucket b = {.program = explain_find_print(e, entry->fingerprint ? entry->fingerprint : ""),
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
void explain_wrong(explaining *e) {
  wrong_list l = {.e = e, .json = e->json ? json_array() : NULL};
  vyre_error error;
  if (!l.json) printf("not used any more, because an answer was wrong\n");
  if (e->store && store_visit_wrong(e->store, e->op, visit_wrong, &l, &error) != VYRE_OK)
    note_tell(&e->notes, &error);
  for (size_t i = 0; e->routes && i < route_table_wrong_count(e->routes); i++) {
    const route_wrong *w = route_table_wrong_at(e->routes, i);
    uint8_t hash[HASH_BYTES];
    store_code_state known = {0};
    if (!w->op_id || strcmp(w->op_id, e->op) || !explain_read_print(w->code, hash)) continue;
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
