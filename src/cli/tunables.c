// SPDX-License-Identifier: MIT
#include "cli/tunables.h"

#include "base/decimal.h"
#include "base/error.h"
#include "base/format.h"
#include "base/strbuf.h"
#include "policy/space_draft.h"

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

int tunables_find(const vyre_program *program, const char *name) {
  for (uint32_t i = 0; i < vyre_program_tunable_count(program); i++)
    if (!strcmp(vyre_program_tunable(program, i).name, name)) return (int)i;
  return SPACE_NONE;
}

static const char *const choices[] = {
    [CHOICE_WIDTH] = "VYRE_VECTOR_WIDTH",
    [CHOICE_THREADS] = "VYRE_THREADS",
    [CHOICE_PASSES] = "VYRE_PASSES",
};

tunables_kind tunables_choice(const char *name) {
  for (int i = CHOICE_WIDTH; i <= CHOICE_PASSES; i++)
    if (!strcmp(choices[i], name)) return (tunables_kind)i;
  return CHOICE_NONE;
}

// Whether what was given replaces what the source declares.
static bool replaces_declared(const tunables *t) {
  for (size_t i = 0; i < t->given.count; i++) {
    char name[32];
    size_t size = strcspn(t->given.at[i], "=");
    if (size >= sizeof name) return true;
    memcpy(name, t->given.at[i], size);
    name[size] = 0;
    if (tunables_choice(name) == CHOICE_NONE) return true;
  }
  return t->file != NULL;
}

bool tunables_are_there(const tunables *t, const tunables_source *source) {
  return t->given.count || t->file || vyre_program_tunable_count(source->program) ||
         declared_has_any(source->text, source->size);
}

// ---- T1 -----------------------------------------------------------------------------------------

static vyre_status bad_file(const char *path, const char *what, vyre_error *error) {
  return error_set(error, VYRE_ERROR_SYNTAX,
                   "%s: %s. Fix: give a T1 file: ConfigurationSpace with TuningParameters (Name, "
                   "Values) and Conditions (Expression)",
                   path, what);
}

static vyre_status add_json_value(space_draft *d, uint32_t param, const json_t *value) {
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

// The end of an item of a list of Python: a comma that stands in no quotes, or the list's end.
static size_t item_end(text_piece list, size_t from) {
  char quote = 0;
  for (; from < list.size; from++) {
    char c = list.at[from];
    if (quote ? c == quote : c == '\'' || c == '"')
      quote = quote ? 0 : c;
    else if (c == ',' && !quote)
      break;
  }
  return from;
}

static bool is_text(text_piece piece, const char *text) {
  return piece.size == strlen(text) && !memcmp(piece.at, text, piece.size);
}

static text_piece python_value(text_piece item) {
  bool is_quoted = item.size > 1 && (item.at[0] == '\'' || item.at[0] == '"') &&
                   item.at[item.size - 1] == item.at[0];
  if (is_quoted) return (text_piece){item.at + 1, item.size - 2};
  if (is_text(item, "True")) return (text_piece){"1", 1};
  return is_text(item, "False") ? (text_piece){"0", 1} : item;
}

// The inside of a list of Python, whose last item may have a comma behind it.
static vyre_status add_python_values(space_draft *d, const char *path, uint32_t param,
                                     text_piece list) {
  vyre_status status = VYRE_OK;
  for (size_t at = 0, end; at < list.size && status == VYRE_OK; at = end + 1) {
    end = item_end(list, at);
    text_piece item = text_piece_trim(list.at + at, end - at);
    uint32_t index;
    if (!item.size && end == list.size && at) break;
    if (!item.size) return bad_file(path, "a parameter's values are no list", d->error);
    item = python_value(item);
    status = space_add_value(d->space, param, item.at, item.size, &index, d->error);
  }
  return status;
}

// Values are an array, or a text that looks like one of Python.
static vyre_status add_json_param(space_draft *d, const char *path, const json_t *p) {
  const char *name = json_string_value(json_object_get(p, "Name"));
  const json_t *values = json_object_get(p, "Values");
  if (!name || !(json_is_array(values) || json_is_string(values)))
    return bad_file(path, "a parameter has no name or no values", d->error);
  text_piece named = {name, strlen(name)};
  if (!space_draft_is_name(named)) return bad_file(path, "a parameter's name is no word", d->error);
  uint32_t param = d->space->param_count;
  vyre_status status = space_add_param(d->space, name, strlen(name), d->error);
  if (status == VYRE_OK && json_is_string(values)) {
    const char *text = json_string_value(values);
    const char *open = strchr(text, '['), *close = strrchr(text, ']');
    if (!open || !close || close < open + 2)
      return bad_file(path, "a parameter's values are no list", d->error);
    return add_python_values(d, path, param, (text_piece){open + 1, (size_t)(close - open) - 1});
  }
  for (size_t i = 0; i < json_array_size(values) && status == VYRE_OK; i++)
    status = add_json_value(d, param, json_array_get(values, i));
  return status;
}

static vyre_status add_json(space_draft *d, const char *path, const json_t *root) {
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
    status = space_draft_where(d, (text_piece){text, strlen(text)});
  }
  return status;
}

// ---- the space ----------------------------------------------------------------------------------

vyre_status tunables_space(const tunables *t, const tunables_source *source, space *out,
                           vyre_error *error) {
  *out = (space){0};
  bool has_own = vyre_program_tunable_count(source->program) > 0;
  bool is_declared = !replaces_declared(t); // in the source
  space_draft d = {.space = out, .program = has_own ? source->program : NULL, .error = error};
  json_error_t why;
  json_t *root = t->file ? json_load_file(t->file, 0, &why) : NULL;
  vyre_status status = VYRE_OK;
  if (t->file) status = root ? add_json(&d, t->file, root) : bad_file(t->file, why.text, error);
  if (is_declared)
    status = has_own ? space_draft_program(&d, source->program)
                     : space_draft_source(&d, source->text, source->size);
  for (size_t i = 0; i < t->given.count && status == VYRE_OK; i++)
    status = space_draft_given(&d, t->given.at[i]);
  for (size_t i = 0; i < t->wheres.count && status == VYRE_OK; i++)
    status = space_draft_where(&d, (text_piece){t->wheres.at[i], strlen(t->wheres.at[i])});
  if (status == VYRE_OK)
    status = space_draft_finish(&d);
  else
    space_draft_fini(&d);
  json_decref(root);
  if (status != VYRE_OK) space_fini(out);
  return status;
}

// ---- substitution -------------------------------------------------------------------------------

static vyre_status add_value(const space *s, const double *values, const char *text, size_t size,
                             strbuf *out, vyre_error *error) {
  space_where w;
  vyre_status status = space_read_where(s, text, size, &w, error);
  if (status != VYRE_OK) return status;
  double value = space_where_value(&w, values);
  space_where_fini(&w);
  if (!isfinite(value) || fabs(value) > 9e15)
    return error_set(error, VYRE_ERROR_BINDING, "`{%.*s}` has no value. Fix: change it", (int)size,
                     text);
  if (value == floor(value))
    strbuf_printf(out, "%" PRId64, (int64_t)value);
  else
    decimal_print(out, value, 64);
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
    text_piece within = text_piece_trim(text + 1, inside - 1);
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
