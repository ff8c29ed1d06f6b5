// SPDX-License-Identifier: MIT
#include "policy/space.h"

#include "base/decimal.h"
#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void space_fini(space *s) {
  for (uint32_t i = 0; i < s->param_count; i++) {
    space_param *p = &s->params[i];
    for (uint32_t k = 0; k < p->count; k++) free(p->values[k]);
    free(p->values);
    free(p->numbers);
    free(p->name);
  }
  free(s->rows);
  free(s->order);
  *s = (space){0};
}

// ---- parameters ---------------------------------------------------------------------------------

static char *copy_text(const char *text, size_t size) {
  char *copy = malloc(size + 1);
  if (!copy) return NULL;
  memcpy(copy, text, size);
  copy[size] = 0;
  return copy;
}

int space_find_param(const space *s, const char *name, size_t size) {
  for (uint32_t i = 0; i < s->param_count; i++)
    if (strlen(s->params[i].name) == size && !memcmp(s->params[i].name, name, size)) return (int)i;
  return SPACE_NONE;
}

vyre_status space_add_param(space *s, const char *name, size_t size, vyre_error *error) {
  if (space_find_param(s, name, size) != SPACE_NONE)
    return error_set(error, VYRE_ERROR_SYNTAX,
                     "parameter `%.*s` is given twice. Fix: give it once, with all its values",
                     (int)size, name);
  if (s->param_count == SPACE_PARAMS)
    return error_set(error, VYRE_ERROR_LIMIT,
                     "there are more than %d parameters. Fix: tune fewer at once", SPACE_PARAMS);
  char *copy = copy_text(name, size);
  if (!copy) return error_out_of_memory(error);
  s->params[s->param_count++] = (space_param){.name = copy, .is_numeric = true};
  return VYRE_OK;
}

static bool grow(space_param *p) {
  if (p->count & (p->count + 1)) return true; // room for a power of two less one, and then twice
  size_t room = 2 * ((size_t)p->count + 1);
  char **values = realloc(p->values, room * sizeof *values);
  if (values) p->values = values;
  double *numbers = realloc(p->numbers, room * sizeof *numbers);
  if (numbers) p->numbers = numbers;
  return values && numbers;
}

vyre_status space_add_value(space *s, uint32_t param, const char *text, size_t size,
                            uint32_t *index, vyre_error *error) {
  space_param *p = &s->params[param];
  for (*index = 0; *index < p->count; ++*index)
    if (strlen(p->values[*index]) == size && !memcmp(p->values[*index], text, size)) return VYRE_OK;
  if (p->count == SPACE_VALUES)
    return error_set(error, VYRE_ERROR_LIMIT,
                     "parameter `%s` has more than %d values. Fix: give fewer", p->name,
                     SPACE_VALUES);
  char *copy = grow(p) ? copy_text(text, size) : NULL, *end;
  if (!copy) return error_out_of_memory(error);
  double number = decimal_read_f64(copy, &end);
  if (end == copy || *end || !isfinite(number)) p->is_numeric = false;
  p->values[p->count] = copy;
  p->numbers[p->count++] = number;
  return VYRE_OK;
}

// ---- configurations -----------------------------------------------------------------------------

static bool holds(const space *s, const uint16_t *row, const space_where *wheres, uint32_t count) {
  double values[SPACE_PARAMS];
  for (uint32_t i = 0; i < s->param_count; i++) values[i] = s->params[i].numbers[row[i]];
  for (uint32_t i = 0; i < count; i++)
    if (!space_where_holds(&wheres[i], values)) return false;
  return true;
}

vyre_status space_add_row(space *s, const uint16_t *row, vyre_error *error) {
  if (s->count == SPACE_MOST)
    return error_set(error, VYRE_ERROR_LIMIT,
                     "the space has more than %d configurations. Fix: give fewer values, or "
                     "constraints between them",
                     SPACE_MOST);
  if (!(s->count & (s->count + 1))) { // as above
    size_t room = 2 * ((size_t)s->count + 1);
    uint16_t *rows = realloc(s->rows, room * s->param_count * sizeof *rows);
    if (!rows) return error_out_of_memory(error);
    s->rows = rows;
  }
  memcpy(s->rows + (size_t)s->count++ * s->param_count, row, s->param_count * sizeof *row);
  return VYRE_OK;
}

// The next row, the last parameter first; false after the last one.
static bool advance(const space *s, uint16_t *row) {
  for (uint32_t i = s->param_count; i-- > 0;) {
    if (++row[i] < s->params[i].count) return true;
    row[i] = 0;
  }
  return false;
}

vyre_status space_enumerate(space *s, const space_where *wheres, uint32_t where_count,
                            space_fits fits, void *context, vyre_error *error) {
  enum { MOST_LOOKED_AT = 1 << 28 };
  uint16_t row[SPACE_PARAMS] = {0};
  double all = 1;
  for (uint32_t i = 0; i < s->param_count; i++) all *= s->params[i].count;
  if (all > MOST_LOOKED_AT)
    return error_set(error, VYRE_ERROR_LIMIT,
                     "there are %.3g combinations of values. Fix: give fewer values", all);
  vyre_status status = VYRE_OK;
  bool goes_on = all > 0;
  for (; goes_on && status == VYRE_OK; goes_on = advance(s, row))
    if (holds(s, row, wheres, where_count) && (!fits || fits(context, row)))
      status = space_add_row(s, row, error);
  return status == VYRE_OK ? space_finish(s, error) : status;
}

static int compare_rows(const space *s, const uint16_t *a, const uint16_t *b) {
  for (uint32_t i = 0; i < s->param_count; i++)
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  return 0;
}

// Merge sort: qsort has no context to find the rows by.
static void sort(const space *s, uint32_t *at, uint32_t *spare, uint32_t count) {
  if (count < 2) return;
  uint32_t half = count / 2, i = 0, k = half;
  sort(s, at, spare, half);
  sort(s, at + half, spare, count - half);
  memcpy(spare, at, count * sizeof *at);
  for (uint32_t n = 0; n < count; n++) {
    bool is_left = k == count || (i < half && compare_rows(s, space_row(s, spare[i]),
                                                           space_row(s, spare[k])) <= 0);
    at[n] = is_left ? spare[i++] : spare[k++];
  }
}

vyre_status space_finish(space *s, vyre_error *error) {
  if (!s->count)
    return error_set(error, VYRE_ERROR_SYNTAX,
                     "no configuration satisfies all constraints. Fix: give more values");
  uint32_t *spare = malloc(s->count * sizeof *spare);
  s->order = malloc(s->count * sizeof *s->order);
  if (!spare || !s->order) {
    free(spare);
    return error_out_of_memory(error);
  }
  for (uint32_t i = 0; i < s->count; i++) s->order[i] = i;
  sort(s, s->order, spare, s->count);
  free(spare);
  for (uint32_t i = 1; i < s->count; i++)
    if (!compare_rows(s, space_row(s, s->order[i - 1]), space_row(s, s->order[i])))
      return error_set(error, VYRE_ERROR_SYNTAX,
                       "configuration %u is given twice. Fix: remove one of them", s->order[i] + 1);
  return VYRE_OK;
}

int64_t space_find(const space *s, const uint16_t *row) {
  uint32_t from = 0, to = s->count;
  while (from < to) {
    uint32_t middle = from + (to - from) / 2;
    int order = compare_rows(s, space_row(s, s->order[middle]), row);
    if (!order) return s->order[middle];
    if (order < 0)
      from = middle + 1;
    else
      to = middle;
  }
  return SPACE_NONE;
}

// ---- configurations as texts --------------------------------------------------------------------

void space_config_print(const space *s, uint32_t config, strbuf *out) {
  for (uint32_t i = 0; i < s->param_count; i++)
    strbuf_printf(out, "%s%s=%s", i ? " " : "", s->params[i].name,
                  s->params[i].values[space_row(s, config)[i]]);
}

// The number of the value that begins at `text`, and where it ends.
static int read_value(const space_param *p, const char **text) {
  for (uint32_t i = 0; i < p->count; i++) {
    size_t size = strlen(p->values[i]);
    char end = strncmp(*text, p->values[i], size) ? 1 : (*text)[size];
    if (end && end != ' ') continue;
    *text += size + (end == ' ');
    return (int)i;
  }
  return SPACE_NONE;
}

int64_t space_config_read(const space *s, const char *text) {
  uint16_t row[SPACE_PARAMS];
  bool is_given[SPACE_PARAMS] = {false};
  uint32_t given = 0;
  while (*text) {
    size_t size = strcspn(text, "=");
    int param = text[size] ? space_find_param(s, text, size) : SPACE_NONE;
    text += size + 1;
    int value = param == SPACE_NONE ? SPACE_NONE : read_value(&s->params[param], &text);
    if (value == SPACE_NONE || is_given[param]) return SPACE_NONE;
    is_given[param] = true;
    row[param] = (uint16_t)value;
    given++;
  }
  return given && given == s->param_count ? space_find(s, row) : SPACE_NONE;
}

static int find_param(const void *context, const char *name, size_t size) {
  return space_find_param(context, name, size);
}

vyre_status space_read_where(const space *s, const char *text, size_t size, space_where *out,
                             vyre_error *error) {
  return space_where_parse(text, size, find_param, s, out, error);
}

// ---- features -----------------------------------------------------------------------------------

// How a parameter becomes a feature.
typedef enum feature_kind {
  FEATURE_LINEAR,
  FEATURE_LOGARITHM,
  FEATURE_TWOS, // how often it can be halved: what alignment, banks and lanes see
  FEATURE_VALUE // whether it is one of the values
} feature_kind;

typedef struct features {
  const space *space;
  const uint32_t *configs;
  uint32_t count, made, most;
  float *rows;
  uint32_t *of;
} features;

static double twos(double x) {
  double n = 0;
  for (; x != 0 && n < 16 && fmod(x, 2) == 0; n++) x /= 2;
  return n;
}

static double feature(const space_param *p, feature_kind kind, uint32_t value, uint32_t one) {
  switch (kind) {
  case FEATURE_LINEAR: return p->numbers[value];
  case FEATURE_LOGARITHM: return log2(p->numbers[value]);
  case FEATURE_TWOS: return twos(p->numbers[value]);
  default: return value == one;
  }
}

static void add_feature(features *f, uint32_t param, feature_kind kind, uint32_t one) {
  const space_param *p = &f->space->params[param];
  if (f->made == f->most) return;
  double least = HUGE_VAL, most = -HUGE_VAL;
  for (uint32_t i = 0; i < p->count; i++) {
    double x = feature(p, kind, i, one);
    if (x < least) least = x;
    if (x > most) most = x;
  }
  if (!(most > least)) return; // it says nothing
  float *row = f->rows + (size_t)f->made * f->count;
  f->of[f->made++] = param;
  for (uint32_t i = 0; i < f->count; i++) {
    uint16_t value = space_row(f->space, f->configs[i])[param];
    row[i] = (float)((feature(p, kind, value, one) - least) / (most - least));
  }
}

static void add_numeric(features *f, uint32_t param) {
  const space_param *p = &f->space->params[param];
  double least = HUGE_VAL, most = -HUGE_VAL;
  bool is_whole = true, is_power = true;
  for (uint32_t i = 0; i < p->count; i++) {
    double x = p->numbers[i];
    least = x < least ? x : least;
    most = x > most ? x : most;
    is_whole &= x > 0 && x == floor(x);
    is_power &= x > 0 && exp2(floor(log2(x) + 0.5)) == x;
  }
  bool is_by_factors = least > 0 && most >= 4 * least;
  add_feature(f, param, is_by_factors ? FEATURE_LOGARITHM : FEATURE_LINEAR, 0);
  if (is_whole && !is_power && p->count > 3) add_feature(f, param, FEATURE_TWOS, 0);
}

uint32_t space_features(const space *s, const uint32_t *configs, uint32_t count, uint32_t most,
                        float **out, uint32_t *of) {
  features f = {.space = s, .configs = configs, .count = count, .most = most, .of = of};
  *out = f.rows = malloc((size_t)most * count * sizeof *f.rows + 1);
  if (!f.rows) return 0;
  for (uint32_t i = 0; i < s->param_count; i++) {
    const space_param *p = &s->params[i];
    if (p->is_numeric) {
      add_numeric(&f, i);
      continue;
    }
    for (uint32_t k = p->count == 2; k < p->count; k++) add_feature(&f, i, FEATURE_VALUE, k);
  }
  return f.made;
}
