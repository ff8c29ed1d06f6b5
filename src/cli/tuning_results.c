// SPDX-License-Identifier: MIT
#include "cli/tuning_results.h"

#include "base/error.h"
#include "base/file.h"
#include "cli/cli.h"
#include "policy/recorded.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_BYTES = 256 << 20 };

json_t *tuning_configuration_json(const space *s, uint32_t config) {
  json_t *o = json_object();
  for (uint32_t i = 0; i < s->param_count; i++) {
    const space_param *p = &s->params[i];
    uint16_t value = space_row(s, config)[i];
    double number = p->numbers[value];
    bool is_whole = p->is_numeric && number == floor(number) && fabs(number) < 9e15;
    json_object_set_new(o, p->name,
                        is_whole        ? json_integer((json_int_t)number)
                        : p->is_numeric ? json_real(number)
                                        : cli_text(p->values[value]));
  }
  return o;
}

static json_t *milliseconds(uint64_t ns) {
  return json_real((double)ns * 1e-6);
}

static json_t *timestamp(int64_t date) {
  char text[32];
  time_t seconds = (time_t)date;
  struct tm when;
  gmtime_r(&seconds, &when);
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S+00:00", &when);
  return json_string(text);
}

json_t *tuning_result_json(const space *s, const tuning_result *r) {
  json_t *runtimes = json_array();
  bool is_valid = !isnan(r->time_ns);
  for (uint32_t i = 0; i < r->sample_count; i++)
    json_array_append_new(runtimes, milliseconds(r->samples[i]));
  json_t *times = json_pack("{s:o, s:o, s:o, s:o}", "compilation_time", milliseconds(r->compile_ns),
                            "search_algorithm", milliseconds(r->search_ns), "validation",
                            milliseconds(r->check_ns), "runtimes", runtimes);
  json_t *measurements = json_array();
  if (is_valid)
    json_array_append_new(measurements, json_pack("{s:s, s:o, s:s}", "name", "time", "value",
                                                  json_real(r->time_ns * 1e-6), "unit", "ms"));
  return json_pack("{s:o, s:o, s:o, s:s, s:i, s:o, s:[s]}", "timestamp", timestamp(r->date),
                   "configuration", tuning_configuration_json(s, r->config), "times", times,
                   "invalidity", r->invalidity, "correctness", (int)is_valid, "measurements",
                   measurements, "objectives", "time");
}

vyre_status tuning_results_write(const char *path, const json_t *results, const char *op,
                                 const char *device, vyre_error *error) {
  json_t *root =
      json_pack("{s:s, s:{s:s, s:s, s:s}, s:O}", "schema_version", "1.0.0", "metadata", "kernel",
                op, "device", device, "tuner", "vyre", "results", (json_t *)results);
  char *text = root ? json_dumps(root, JSON_INDENT(1)) : NULL;
  json_decref(root);
  if (!text) return error_out_of_memory(error);
  vyre_status status = file_make_parents(path, error);
  if (status == VYRE_OK) status = file_replace(path, text, strlen(text), error);
  free(text);
  return status;
}

// ---- reading ------------------------------------------------------------------------------------

// The number of a value, or SPACE_NONE.
static int find_value(const space_param *p, const json_t *value) {
  for (uint32_t i = 0; i < p->count; i++) {
    bool is_same = json_is_string(value) ? !strcmp(json_string_value(value), p->values[i])
                                         : json_is_number(value) && p->is_numeric &&
                                               json_number_value(value) == p->numbers[i];
    if (is_same) return (int)i;
  }
  return SPACE_NONE;
}

static int64_t find_config(const space *s, const json_t *entry) {
  const json_t *of = json_object_get(entry, "configuration");
  uint16_t row[SPACE_PARAMS];
  if (json_object_size(of) != s->param_count) return SPACE_NONE;
  for (uint32_t i = 0; i < s->param_count; i++) {
    int value = find_value(&s->params[i], json_object_get(of, s->params[i].name));
    if (value == SPACE_NONE) return SPACE_NONE;
    row[i] = (uint16_t)value;
  }
  return space_find(s, row);
}

static double time_of(const json_t *entry) {
  const json_t *m = json_array_get(json_object_get(entry, "measurements"), 0);
  const json_t *value = json_object_get(m, "value");
  return json_is_number(value) ? json_number_value(value) * 1e6 : (double)NAN;
}

static vyre_status read_results(const char *path, const char *text, size_t size, const space *s,
                                void (*visit)(void *context, uint32_t config, double time_ns),
                                void *context, json_t *kept, vyre_error *error) {
  json_error_t why;
  json_t *root = json_loadb(text, size, 0, &why);
  const json_t *results = json_object_get(root, "results");
  vyre_status status = VYRE_OK;
  if (!json_is_array(results))
    status = error_set(error, VYRE_ERROR_SYNTAX,
                       "%s is no file of results. Fix: name another, or remove it", path);
  for (size_t i = 0; i < json_array_size(results); i++) {
    json_t *entry = json_array_get(results, i);
    int64_t config = find_config(s, entry);
    if (config == SPACE_NONE) continue;
    if (kept) json_array_append(kept, entry);
    visit(context, (uint32_t)config, time_of(entry));
  }
  json_decref(root);
  return status;
}

vyre_status tuning_results_read(const char *path, const space *s,
                                void (*visit)(void *context, uint32_t config, double time_ns),
                                void *context, json_t **out, vyre_error *error) {
  char *text;
  size_t size;
  *out = json_array();
  if (!*out) return error_out_of_memory(error);
  if (file_read(path, MOST_BYTES, &text, &size, error) != VYRE_OK) return VYRE_OK; // none yet
  vyre_status status = read_results(path, text, size, s, visit, context, *out, error);
  free(text);
  return status;
}

static void keep_time(void *context, uint32_t config, double time_ns) {
  double *times = context;
  times[config] = time_ns;
}

static vyre_status read_record(const char *path, const char *text, size_t size, const space *s,
                               double **out, vyre_error *error) {
  recorded from;
  vyre_status status = recorded_parse(text, size, path, &from, error);
  if (status != VYRE_OK) return status;
  status = recorded_times(&from, s, path, out, error);
  recorded_fini(&from);
  return status;
}

vyre_status tuning_prior_read(const char *path, const space *s, double **out, vyre_error *error) {
  char *text;
  size_t size;
  *out = NULL;
  vyre_status status = file_read(path, MOST_BYTES, &text, &size, error);
  if (status != VYRE_OK) return status;
  if (!size || *text != '{') {
    status = read_record(path, text, size, s, out, error);
  } else {
    *out = malloc((s->count + 1u) * sizeof **out);
    for (uint32_t i = 0; i < s->count && *out; i++) (*out)[i] = (double)NAN;
    status = *out ? read_results(path, text, size, s, keep_time, *out, NULL, error)
                  : error_out_of_memory(error);
  }
  free(text);
  if (status == VYRE_OK) return status;
  free(*out);
  *out = NULL;
  return status;
}
