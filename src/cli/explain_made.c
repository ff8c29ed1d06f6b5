// SPDX-License-Identifier: MIT
//
// How programs are launched and made: launch shapes, the passes of the last compile, variants that
// were prepared ahead.
#include "cli/explain.h"

#include "cli/measure.h"
#include "cli/show.h"
#include "policy/tune_cache.h"
#include "runtime/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void explain_shape(explaining *e) {
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

// ---- configurations -----------------------------------------------------------------------------

static void show_choices(explaining *e, const char *device, json_t *list) {
  tuner *t = tuner_new(device, TUNE_OFF_USE_DEFAULT, &e->notes);
  tune_choice c;
  for (uint32_t i = 0; t && tuner_choice(t, i, &c); i++) {
    if (strcmp(c.op, e->op)) continue;
    e->found_any = true;
    if (!list)
      printf("  %s on %s: %s\n", c.configuration, device, c.reason);
    else
      json_array_append_new(list,
                            json_pack("{s:s, s:o, s:o}", "device", device, "configuration",
                                      cli_text(c.configuration), "reason", cli_text(c.reason)));
  }
  tuner_free(t);
}

// What `vyre tune` chose of spaces of tunables, for the devices of this machine.
void explain_choices(explaining *e) {
  enum { DEVICES = 8 };
  json_t *list = e->json ? json_array() : NULL;
  vyre_device devices[DEVICES];
  if (!list) printf("configurations of tunables\n");
  for (uint32_t i = 0; vyre_backend_name(i); i++) {
    uint32_t count = 0;
    vyre_error ignored;
    if (vyre_backend_devices(vyre_backend_name(i), devices, DEVICES, &count, &ignored) != VYRE_OK)
      continue;
    for (uint32_t k = 0; k < count && k < DEVICES; k++) show_choices(e, devices[k].adapter, list);
  }
  if (list)
    json_object_set_new(e->json, "configurations", list);
  else
    printf("  what would change it: `vyre tune` with tunables, a line in the tuner's file\n");
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

void explain_passes(explaining *e) {
  json_t *list = e->json ? json_array() : NULL;
  size_t rows = 0;
  if (!list) printf("passes of the last optimized compile\n");
  for (uint32_t i = 0; i < e->program_count && e->store; i++) {
    arena memory = ARENA_INIT;
    opt_report report = {0};
    uint8_t print[HASH_BYTES];
    vyre_error error;
    if (explain_read_print(e->programs[i].print, print) &&
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

void explain_variants(explaining *e) {
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
