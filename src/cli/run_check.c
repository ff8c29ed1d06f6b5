// SPDX-License-Identifier: MIT
#include "cli/run_check.h"

#include "backend/backend.h"
#include "base/error.h"
#include "cli/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// Where a line of the source begins, plus a column.
static bool find_offset(const loaded *l, const vyre_finding *v, size_t *offset) {
  const char *at = l->source, *end = l->source + l->size;
  for (uint32_t line = 1; at && line < v->line; line++) {
    at = memchr(at, '\n', (size_t)(end - at));
    if (at) at++;
  }
  *offset = at ? (size_t)(at - l->source) + v->column - 1 : 0;
  return at && v->line && *offset <= l->size;
}

static void show(run_check *k, const vyre_finding *v) {
  vyre_error shown;
  size_t offset;
  error_set(&shown, VYRE_OK, "in region `%.80s`, %s", v->region, v->text);
  if (v->file && k->source->source && find_offset(k->source, v, &offset))
    error_place(&shown, v->file, k->source->source, k->source->size, offset);
  fflush(stdout); // what the kernel printed comes first
  cli_finding(k->cli, vyre_finding_name(v->kind), &shown);
}

static json_t *place_json(const uint64_t at[3]) {
  return json_pack("[I, I, I]", (json_int_t)at[0], (json_int_t)at[1], (json_int_t)at[2]);
}

static json_t *finding_json(const vyre_finding *v) {
  json_t *o = json_pack("{s:s, s:I, s:o, s:o, s:s, s:o}", "kind", vyre_finding_name(v->kind),
                        "count", (json_int_t)v->count, "program", cli_text(v->program), "region",
                        cli_text(v->region), "operation", v->operation, "invocation",
                        place_json(v->invocation));
  if (v->file) json_object_set_new(o, "file", cli_text(v->file));
  if (v->line) json_object_set_new(o, "line", json_integer(v->line));
  if (v->line) json_object_set_new(o, "column", json_integer(v->column));
  if (v->memory) {
    json_object_set_new(o, "memory", cli_text(v->memory));
    json_object_set_new(o, "index", json_integer(v->index));
    json_object_set_new(o, "length", json_integer((json_int_t)v->length));
  }
  if (v->other) json_object_set_new(o, "other_operation", json_string(v->other));
  if (v->other_line) json_object_set_new(o, "other_line", json_integer(v->other_line));
  if (v->kind == VYRE_FINDING_RACE || v->kind == VYRE_FINDING_BARRIER)
    json_object_set_new(o, "other_invocation", place_json(v->other_invocation));
  json_object_set_new(o, "text", cli_text(v->text));
  return o;
}

static void take(void *data, const vyre_finding *v) {
  run_check *k = data;
  if (k->list)
    json_array_append_new(k->list, finding_json(v));
  else
    show(k, v);
}

vyre_status run_checked(run_check *k, const char *backend, const vyre_dispatch_args *args,
                        vyre_report *report, vyre_error *error) {
  if (k->cli->json && !k->list) k->list = json_array();
  vyre_check_options options = {.backend = backend, .found = take, .data = k};
  return vyre_check_dispatch(k->source->program, args, &options, k->counts, report, error);
}

uint64_t run_check_total(const run_check *k) {
  uint64_t total = 0;
  for (int i = 0; i < VYRE_FINDING_KINDS; i++) total += k->counts[i];
  return total;
}

static const char *looked_for(const run_check *k, const char *backend) {
  if (!backend_is_oracle(backend)) return "accesses outside and divisions by zero";
  return k->source->language.has_launch
             ? "accesses outside, races, elements that nobody wrote, barriers, divisions by zero"
             : "accesses outside, races, barriers, divisions by zero";
}

void run_check_summary(run_check *k, const char *backend, json_t *json) {
  if (json) {
    json_t *counts = json_object();
    for (int i = 0; i < VYRE_FINDING_KINDS; i++)
      json_object_set_new(counts, vyre_finding_name((vyre_finding_kind)i),
                          json_integer((json_int_t)k->counts[i]));
    json_object_set_new(json, "found", counts);
    json_object_set_new(json, "findings", k->list ? json_incref(k->list) : json_array());
    return;
  }
  char text[SHOW_TEXT];
  fflush(stdout);
  if (!run_check_total(k)) {
    fprintf(stderr, "check on %s: nothing found (%s)\n", backend, looked_for(k, backend));
    return;
  }
  fprintf(stderr, "check on %s:", backend);
  const char *comma = "";
  for (int i = 0; i < VYRE_FINDING_KINDS; i++) {
    if (!k->counts[i]) continue;
    fprintf(stderr, "%s %s %s", comma, show_count(k->counts[i], text),
            vyre_finding_name((vyre_finding_kind)i));
    comma = ",";
  }
  fputc('\n', stderr);
}
