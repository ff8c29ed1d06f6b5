// SPDX-License-Identifier: MIT
#include "cli/tunables.h"

#include "base/ascii.h"
#include "base/decimal.h"
#include "base/error.h"
#include "base/format.h"
#include "base/strbuf.h"
#include "ir/limits.h"
#include "ir/text_literal.h"
#include "ir/tunable.h"

#include <jansson.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool tunables_option(tunables *t, int letter, const char *value, bool *ok) {
  switch (letter) {
  case 'V': *ok = vec_push(&t->given, value); return true;
  case 'X': *ok = vec_push(&t->wheres, value); return true;
  case 'Q':
    t->file = value;
    *ok = true;
    return true;
  default: return false;
  }
}

void tunables_fini(tunables *t) {
  vec_free(&t->given);
  vec_free(&t->wheres);
}

// ---- pieces of text -----------------------------------------------------------------------------

typedef struct piece {
  const char *at;
  size_t size;
} piece;

static piece trim(const char *at, size_t size) {
  while (size && ascii_is_space(*at)) at++, size--;
  while (size && ascii_is_space(at[size - 1])) size--;
  return (piece){at, size};
}

static bool is_word(piece p) {
  bool ok = p.size && !ascii_is_digit(p.at[0]);
  for (size_t i = 0; i < p.size && ok; i++) ok = ascii_is_word(p.at[i]);
  return ok;
}

// Constraints, kept until all parameters are known.
typedef struct draft {
  space *space;
  vec(piece) wheres;
  const vyre_program *program; // NULL: there is none, or it has no tunables
  vyre_error *error;
} draft;

static vyre_status no_values(piece name, vyre_error *error) {
  return error_set(error, VYRE_ERROR_SYNTAX,
                   "`%.*s` is no tunable. Fix: give a name and values, such as TILE=4,8,16",
                   (int)name.size, name.at);
}

// A name and values between commas.
static vyre_status add_param(draft *d, piece name, piece values) {
  if (!is_word(name) || !values.size) return no_values(name, d->error);
  uint32_t param = d->space->param_count, index;
  vyre_status status = space_add_param(d->space, name.at, name.size, d->error);
  for (const char *at = values.at, *end = at + values.size; status == VYRE_OK && at <= end;) {
    const char *comma = memchr(at, ',', (size_t)(end - at));
    piece value = trim(at, (size_t)((comma ? comma : end) - at));
    if (!value.size) return no_values(name, d->error);
    status = space_add_value(d->space, param, value.at, value.size, &index, d->error);
    at = comma ? comma + 1 : end + 1;
  }
  return status;
}

static vyre_status add_given(draft *d, const char *given) {
  const char *equals = strchr(given, '=');
  if (!equals) return no_values((piece){given, strlen(given)}, d->error);
  return add_param(d, trim(given, (size_t)(equals - given)), trim(equals + 1, strlen(equals + 1)));
}

// ---- in the source ------------------------------------------------------------------------------

static const char marker[] = "vyre tunable ";

// The next line of a comment that declares one: what follows the marker. False: there is none.
static bool next_declared(piece *rest, piece *out) {
  while (rest->size) {
    const char *end = memchr(rest->at, '\n', rest->size);
    size_t size = end ? (size_t)(end - rest->at) : rest->size;
    piece line = trim(rest->at, size);
    rest->at += size + (end != NULL);
    rest->size -= size + (end != NULL);
    if (line.size < 2 || (memcmp(line.at, "//", 2) && line.at[0] != '#')) continue;
    size_t skip = line.at[0] == '#' ? 1 : 2;
    line = trim(line.at + skip, line.size - skip);
    if (line.size <= sizeof marker - 1 || memcmp(line.at, marker, sizeof marker - 1)) continue;
    *out = trim(line.at + sizeof marker - 1, line.size - (sizeof marker - 1));
    return true;
  }
  return false;
}

// The word with spaces around it, or the end.
static size_t find_word(piece in, const char *word) {
  size_t size = strlen(word);
  for (size_t i = 1; i + size < in.size; i++)
    if (!memcmp(in.at + i, word, size) && ascii_is_space(in.at[i - 1]) &&
        ascii_is_space(in.at[i + size]))
      return i;
  return in.size;
}

// TILE in 4, 8, 16 where TILE * TILE <= 1024
static vyre_status add_declared(draft *d, piece line) {
  size_t in = find_word(line, "in"), where = find_word(line, "where");
  if (in >= line.size || where < in) return no_values(line, d->error);
  piece values = trim(line.at + in + 2, where - in - 2);
  if (where < line.size) {
    piece condition = trim(line.at + where + 5, line.size - where - 5);
    if (!vec_push(&d->wheres, condition)) return error_out_of_memory(d->error);
  }
  return add_param(d, trim(line.at, in), values);
}

// ---- of a program -------------------------------------------------------------------------------

int tunables_find(const vyre_program *program, const char *name) {
  for (uint32_t i = 0; i < vyre_program_tunable_count(program); i++)
    if (!strcmp(vyre_program_tunable(program, i).name, name)) return (int)i;
  return SPACE_NONE;
}

static vyre_status add_tunables(draft *d, const vyre_program *program) {
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < vyre_program_tunable_count(program) && status == VYRE_OK; i++) {
    vyre_tunable_info t = vyre_program_tunable(program, i);
    uint32_t param = d->space->param_count, index;
    status = space_add_param(d->space, t.name, strlen(t.name), d->error);
    for (uint32_t k = 0; k < t.count && status == VYRE_OK; k++) {
      strbuf text = {0};
      literal_print(&text, t.type, t.values[k], false);
      if (text.failed) status = error_out_of_memory(d->error);
      if (status == VYRE_OK)
        status = space_add_value(d->space, param, text.at, text.size, &index, d->error);
      strbuf_fini(&text);
    }
  }
  return status;
}

// Whether the program's own conditions hold. Tunables that are not in the space stay as they are.
typedef struct fit {
  const vyre_program *program;
  const space *space;
} fit;

static bool fits_program(void *context, const uint16_t *row) {
  const fit *f = context;
  uint32_t chosen[LIMIT_TUNABLES];
  for (uint32_t i = 0; i < f->program->tunable_count; i++) {
    const tunable *t = &f->program->tunables[i];
    int param = space_find_param(f->space, t->name, strlen(t->name));
    chosen[i] = t->chosen;
    if (param == SPACE_NONE) continue;
    const char *text = f->space->params[param].values[row[param]];
    int value = tunable_find_value(t, text, strlen(text));
    if (value < 0) return false;
    chosen[i] = (uint32_t)value;
  }
  return vyre_program_tunables_hold(f->program, chosen);
}

bool tunables_are_there(const tunables *t, const tunables_source *source) {
  piece rest = {source->text, source->size}, line;
  return t->given.count || t->file || vyre_program_tunable_count(source->program) ||
         next_declared(&rest, &line);
}

// ---- T1 -----------------------------------------------------------------------------------------

static vyre_status bad_file(const char *path, const char *what, vyre_error *error) {
  return error_set(error, VYRE_ERROR_SYNTAX,
                   "%s: %s. Fix: give a T1 file: ConfigurationSpace with TuningParameters (Name, "
                   "Values) and Conditions (Expression)",
                   path, what);
}

static vyre_status add_json_value(draft *d, uint32_t param, const json_t *value) {
  char text[64];
  uint32_t index;
  const char *at = json_is_string(value) ? json_string_value(value) : text;
  if (json_is_integer(value))
    snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
  else if (json_is_boolean(value))
    snprintf(text, sizeof text, "%d", json_is_true(value));
  else if (json_is_real(value))
    format_text(text, sizeof text, "%.17g", json_real_value(value));
  else if (!json_is_string(value))
    return error_set(d->error, VYRE_ERROR_SYNTAX,
                     "a value is neither number nor text. Fix: change it");
  return space_add_value(d->space, param, at, strlen(at), &index, d->error);
}

// Values are an array, or a text that looks like one of Python.
static vyre_status add_json_param(draft *d, const char *path, const json_t *p) {
  const char *name = json_string_value(json_object_get(p, "Name"));
  const json_t *values = json_object_get(p, "Values");
  if (!name || !(json_is_array(values) || json_is_string(values)))
    return bad_file(path, "a parameter has no name or no values", d->error);
  piece named = {name, strlen(name)};
  if (json_is_string(values)) {
    const char *text = json_string_value(values);
    size_t open = strcspn(text, "["), close = strcspn(text, "]");
    if (!text[open] || !text[close] || close < open)
      return bad_file(path, "a parameter's values are no list", d->error);
    return add_param(d, named, trim(text + open + 1, close - open - 1));
  }
  if (!is_word(named)) return no_values(named, d->error);
  uint32_t param = d->space->param_count;
  vyre_status status = space_add_param(d->space, name, strlen(name), d->error);
  for (size_t i = 0; i < json_array_size(values) && status == VYRE_OK; i++)
    status = add_json_value(d, param, json_array_get(values, i));
  return status;
}

static vyre_status add_json(draft *d, const char *path, const json_t *root) {
  const json_t *all = json_object_get(root, "ConfigurationSpace");
  const json_t *params = json_object_get(all, "TuningParameters");
  const json_t *conditions = json_object_get(all, "Conditions");
  vyre_status status = VYRE_OK;
  if (!json_array_size(params)) return bad_file(path, "there are no parameters", d->error);
  for (size_t i = 0; i < json_array_size(params) && status == VYRE_OK; i++)
    status = add_json_param(d, path, json_array_get(params, i));
  for (size_t i = 0; i < json_array_size(conditions) && status == VYRE_OK; i++) {
    const char *text =
        json_string_value(json_object_get(json_array_get(conditions, i), "Expression"));
    if (!text) return bad_file(path, "a condition has no expression", d->error);
    if (!vec_push(&d->wheres, (piece){text, strlen(text)})) status = error_out_of_memory(d->error);
  }
  return status;
}

// ---- the space ----------------------------------------------------------------------------------

static int find_param(const void *context, const char *name, size_t size) {
  return space_find_param(context, name, size);
}

static vyre_status enumerate(draft *d) {
  vec(space_where) read = {0};
  vyre_status status = VYRE_OK;
  for (size_t i = 0; i < d->wheres.count && status == VYRE_OK; i++) {
    space_where where;
    piece w = d->wheres.at[i];
    status = space_where_parse(w.at, w.size, find_param, d->space, &where, d->error);
    if (status == VYRE_OK && !vec_push(&read, where)) status = error_out_of_memory(d->error);
  }
  if (status == VYRE_OK)
    status =
        space_enumerate(d->space, read.at, (uint32_t)read.count, d->program ? fits_program : NULL,
                        &(fit){d->program, d->space}, d->error);
  for (size_t i = 0; i < read.count; i++) space_where_fini(&read.at[i]);
  vec_free(&read);
  return status;
}

vyre_status tunables_space(const tunables *t, const tunables_source *source, space *out,
                           vyre_error *error) {
  *out = (space){0};
  bool has_own = vyre_program_tunable_count(source->program) > 0;
  bool is_declared = !t->file && !t->given.count; // in the source
  draft d = {.space = out, .program = has_own ? source->program : NULL, .error = error};
  json_error_t why;
  json_t *root = t->file ? json_load_file(t->file, 0, &why) : NULL;
  vyre_status status = VYRE_OK;
  if (t->file) status = root ? add_json(&d, t->file, root) : bad_file(t->file, why.text, error);
  if (is_declared && has_own) status = add_tunables(&d, source->program);
  piece rest = {source->text, source->size}, line;
  while (is_declared && !has_own && status == VYRE_OK && next_declared(&rest, &line))
    status = add_declared(&d, line);
  for (size_t i = 0; i < t->given.count && status == VYRE_OK; i++)
    status = add_given(&d, t->given.at[i]);
  for (size_t i = 0; i < t->wheres.count && status == VYRE_OK; i++) {
    piece w = {t->wheres.at[i], strlen(t->wheres.at[i])};
    if (!vec_push(&d.wheres, w)) status = error_out_of_memory(error);
  }
  if (status == VYRE_OK) status = enumerate(&d);
  vec_free(&d.wheres);
  json_decref(root);
  if (status != VYRE_OK) space_fini(out);
  return status;
}

// ---- substitution -------------------------------------------------------------------------------

static vyre_status add_value(const space *s, const double *values, const char *text, size_t size,
                             strbuf *out, vyre_error *error) {
  space_where w;
  vyre_status status = space_where_parse(text, size, find_param, s, &w, error);
  if (status != VYRE_OK) return status;
  double value = space_where_value(&w, values);
  space_where_fini(&w);
  if (!isfinite(value) || fabs(value) > 9e15)
    return error_set(error, VYRE_ERROR_BINDING, "`{%.*s}` has no value. Fix: change it", (int)size,
                     text);
  if (value == floor(value))
    strbuf_printf(out, "%" PRId64, (int64_t)value);
  else
    decimal_print(out, value, false);
  return VYRE_OK;
}

vyre_status tunables_substitute(const space *s, uint32_t config, const char *text, char **out,
                                vyre_error *error) {
  double values[SPACE_PARAMS];
  strbuf b = {0};
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < s->param_count; i++)
    values[i] = s->params[i].numbers[space_row(s, config)[i]];
  while (*text && status == VYRE_OK) {
    size_t plain = strcspn(text, "{"), inside = text[plain] ? strcspn(text + plain, "}") : 0;
    strbuf_add(&b, text, plain);
    text += plain;
    if (!*text) break;
    if (!text[inside]) {
      status = error_set(error, VYRE_ERROR_SYNTAX, "`%s` does not end with `}`. Fix: add it", text);
      break;
    }
    piece within = trim(text + 1, inside - 1);
    int param = space_find_param(s, within.at, within.size);
    if (param == SPACE_NONE)
      status = add_value(s, values, within.at, within.size, &b, error);
    else // as it is written: it may be no number
      strbuf_puts(&b, s->params[param].values[space_row(s, config)[param]]);
    text += inside + 1;
  }
  if (status == VYRE_OK && !(*out = strbuf_take(&b, NULL))) status = error_out_of_memory(error);
  strbuf_fini(&b);
  return status;
}
