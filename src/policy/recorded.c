// SPDX-License-Identifier: MIT
#include "policy/recorded.h"

#include "base/decimal.h"
#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void recorded_fini(recorded *r) {
  space_fini(&r->space);
  free(r->times);
  *r = (recorded){0};
}

// ---- reading ------------------------------------------------------------------------------------

typedef struct reader {
  const char *at, *end;
  const char *name;
  uint32_t line;
  vyre_error *error;
} reader;

typedef struct field {
  const char *at;
  size_t size;
  bool is_last; // of its line
} field;

static vyre_status fail(const reader *r, const char *what) {
  return error_set(
      r->error, VYRE_ERROR_SYNTAX,
      "%s:%u: %s. Fix: give a line of names and lines of as many values, the time last", r->name,
      r->line, what);
}

// Between the quotes; a quote in it stays doubled, as it does wherever the value is written. With
// more behind them it is no quoted value: as it stands.
static field quoted_field(reader *r) {
  const char *begin = r->at;
  field f = {.at = ++r->at};
  while (r->at < r->end) {
    if (*r->at == '"' && (r->at + 1 == r->end || r->at[1] != '"')) break;
    r->at += *r->at == '"' ? 2 : 1;
  }
  f.size = (size_t)(r->at - f.at);
  if (r->at < r->end) r->at++;
  if (r->at < r->end && *r->at == '\r') r->at++;
  if (r->at < r->end && *r->at != ',' && *r->at != '\n') {
    while (r->at < r->end && *r->at != ',' && *r->at != '\n') r->at++;
    f = (field){.at = begin, .size = (size_t)(r->at - begin)};
  }
  f.is_last = r->at == r->end || *r->at == '\n';
  if (r->at < r->end) r->at++;
  return f;
}

static field next_field(reader *r) {
  if (r->at < r->end && *r->at == '"') return quoted_field(r);
  field f = {.at = r->at};
  while (r->at < r->end && *r->at != ',' && *r->at != '\n') r->at++;
  f.size = (size_t)(r->at - f.at);
  f.is_last = r->at == r->end || *r->at == '\n';
  if (r->at < r->end) r->at++;
  if (f.is_last && f.size && f.at[f.size - 1] == '\r') f.size--;
  return f;
}

static vyre_status read_names(reader *r, recorded *out) {
  r->line = 1;
  for (;;) {
    field f = next_field(r);
    if (!f.size) return fail(r, "a name is empty");
    if (f.is_last) break;
    vyre_status status = space_add_param(&out->space, f.at, f.size, r->error);
    if (status != VYRE_OK) return status;
  }
  return out->space.param_count ? VYRE_OK : fail(r, "there is no parameter");
}

// What other tools write for a configuration that failed.
static bool says_failed(const char *text) {
  static const char *const words[] = {"nan", "NaN", "NAN", "inf", "Inf", "INF", "Infinity"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (!strcmp(text, words[i])) return true;
  return false;
}

static vyre_status read_time(const reader *r, const field *f, double *time) {
  char text[64], *end;
  *time = (double)NAN;
  if (!f->size) return VYRE_OK;
  if (f->size >= sizeof text) return fail(r, "the time is no number");
  memcpy(text, f->at, f->size);
  text[f->size] = 0;
  if (says_failed(text)) return VYRE_OK;
  *time = decimal_read_f64(text, &end);
  bool is_time = end != text && !*end && isfinite(*time) && *time > 0;
  return is_time ? VYRE_OK : fail(r, "the time is no positive number");
}

static vyre_status read_line(reader *r, recorded *out) {
  uint16_t row[SPACE_PARAMS];
  space *s = &out->space;
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < s->param_count; i++) {
    uint32_t index = 0;
    field f = next_field(r);
    if (f.is_last) return fail(r, "values are missing");
    status = space_add_value(s, i, f.at, f.size, &index, r->error);
    if (status != VYRE_OK) return status;
    row[i] = (uint16_t)index;
  }
  field f = next_field(r);
  if (!f.is_last) return fail(r, "there are too many values");
  uint32_t at = s->count;
  status = space_add_row(s, row, r->error);
  return status == VYRE_OK ? read_time(r, &f, &out->times[at]) : status;
}

static bool skip_empty_line(reader *r) {
  const char *at = r->at;
  if (at < r->end && *at == '\r') at++;
  if (at < r->end && *at != '\n') return false;
  r->at = at < r->end ? at + 1 : at;
  return true;
}

static vyre_status read_all(reader *r, recorded *out) {
  size_t lines = 1;
  if (r->end - r->at >= 3 && !memcmp(r->at, "\xef\xbb\xbf", 3)) r->at += 3;
  for (const char *c = r->at; c < r->end; c++) lines += *c == '\n';
  out->times = malloc(lines * sizeof *out->times);
  if (!out->times) return error_out_of_memory(r->error);
  vyre_status status = read_names(r, out);
  while (status == VYRE_OK && r->at < r->end) {
    r->line++;
    if (!skip_empty_line(r)) status = read_line(r, out);
  }
  return status == VYRE_OK ? space_finish(&out->space, r->error) : status;
}

vyre_status recorded_parse(const char *text, size_t size, const char *name, recorded *out,
                           vyre_error *error) {
  reader r = {.at = text, .end = text + size, .name = name, .error = error};
  *out = (recorded){.optimum = HUGE_VAL};
  vyre_status status = read_all(&r, out);
  for (uint32_t i = 0; i < out->space.count && status == VYRE_OK; i++)
    if (out->times[i] < out->optimum) out->optimum = out->times[i];
  if (status == VYRE_OK && out->optimum == HUGE_VAL)
    status = fail(&r, "every configuration failed");
  if (status != VYRE_OK) recorded_fini(out);
  return status;
}

// ---- times from elsewhere -----------------------------------------------------------------------

// The number of each value of `to` in `from`; SPACE_VALUES where it has none.
static void map_values(const space_param *to, const space_param *from, uint16_t *map) {
  for (uint32_t i = 0; i < to->count; i++) {
    uint32_t k = 0;
    while (k < from->count && strcmp(from->values[k], to->values[i])) k++;
    map[i] = (uint16_t)(k < from->count ? k : SPACE_VALUES);
  }
}

static double time_of(const recorded *from, const uint16_t *row, bool is_known) {
  int64_t found = is_known ? space_find(&from->space, row) : SPACE_NONE;
  return found == SPACE_NONE ? (double)NAN : from->times[found];
}

vyre_status recorded_times(const recorded *from, const space *to, const char *name, double **out,
                           vyre_error *error) {
  bool is_same = from->space.param_count == to->param_count;
  for (uint32_t i = 0; i < to->param_count && is_same; i++)
    is_same = !strcmp(from->space.params[i].name, to->params[i].name);
  if (!is_same)
    return error_set(error, VYRE_ERROR_BINDING,
                     "`%s` has other parameters. Fix: give times of the same space", name);
  uint16_t(*maps)[SPACE_VALUES] = malloc(to->param_count * sizeof *maps);
  *out = malloc((to->count + 1u) * sizeof **out);
  if (!maps || !*out) {
    free(maps);
    free(*out);
    return error_out_of_memory(error);
  }
  for (uint32_t i = 0; i < to->param_count; i++)
    map_values(&to->params[i], &from->space.params[i], maps[i]);
  for (uint32_t c = 0; c < to->count; c++) {
    uint16_t row[SPACE_PARAMS];
    bool is_known = true;
    for (uint32_t i = 0; i < to->param_count; i++) {
      row[i] = maps[i][space_row(to, c)[i]];
      is_known &= row[i] < SPACE_VALUES;
    }
    (*out)[c] = time_of(from, row, is_known);
  }
  free(maps);
  return VYRE_OK;
}

// ---- replay -------------------------------------------------------------------------------------

uint32_t recorded_replay(const recorded *r, const search_options *options, uint32_t evaluations,
                         double *curve, uint32_t *asked) {
  search *s = search_new(&r->space, options);
  uint32_t count = 0, config;
  double time;
  while (s && count < evaluations && search_ask(s, &config)) {
    search_tell(s, config, r->times[config]);
    if (asked) asked[count] = config;
    curve[count++] = search_best(s, &config, &time) ? r->optimum / time : 0;
  }
  search_free(s);
  return count;
}
