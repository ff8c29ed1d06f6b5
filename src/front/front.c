// SPDX-License-Identifier: MIT
#include "front/front.h"

#include "base/error.h"
#include "base/fpenv.h"
#include "base/strbuf.h"
#include "front/opencl.h"
#include "front/origin.h"
#include "front/stored.h"
#include "ir/limits.h"

#include <stdlib.h>
#include <string.h>

// Adding a language is adding its files and a line here. The first one is what a source without a
// sign is taken for.
static const front_language *const languages[] = {
    &text_language,
    &wire_language,
    &opencl_language,
};

enum { LANGUAGE_COUNT = sizeof languages / sizeof *languages };

// ---- the table ----------------------------------------------------------------------------------

uint32_t vyre_language_count(void) {
  return LANGUAGE_COUNT;
}

vyre_language_info vyre_language(uint32_t index) {
  return index < LANGUAGE_COUNT ? languages[index]->info : (vyre_language_info){0};
}

static bool ends_with(const char *name, const char *end, size_t size) {
  size_t length = strlen(name);
  return size && length >= size && !memcmp(name + length - size, end, size);
}

static bool has_suffix(const char *name, const char *suffixes) {
  for (const char *at = suffixes; *at; at += strspn(at, " ")) {
    size_t size = strcspn(at, " ");
    if (ends_with(name, at, size)) return true;
    at += size;
  }
  return false;
}

const char *vyre_language_guess(const char *name, const void *data, size_t size) {
  for (uint32_t i = 0; data && size && i < LANGUAGE_COUNT; i++)
    if (languages[i]->first_byte == *(const unsigned char *)data) return languages[i]->info.name;
  for (uint32_t i = 0; name && i < LANGUAGE_COUNT; i++) {
    // A file of the bytes' language that does not begin with them is read as text, which says so.
    bool is_bytes = data && size && languages[i]->first_byte >= 0;
    if (!is_bytes && has_suffix(name, languages[i]->info.suffixes)) return languages[i]->info.name;
  }
  return languages[0]->info.name;
}

static vyre_status unknown_language(const char *name, vyre_error *error) {
  strbuf all = {0};
  for (uint32_t i = 0; i < LANGUAGE_COUNT; i++)
    strbuf_printf(&all, "%s%s", i ? ", " : "", languages[i]->info.name);
  char *names = strbuf_take(&all, NULL);
  error_set(error, VYRE_ERROR_ARGUMENT, "there is no language `%.40s`. Fix: use one of %.300s",
            name ? name : "(null)", names ? names : "those of vyre_language");
  free(names);
  return VYRE_ERROR_ARGUMENT;
}

// ---- reading ------------------------------------------------------------------------------------

static vyre_status begin(const char *language, const void *text, size_t size, const char *name,
                         front_source *source, const front_language **out, vyre_error *error) {
  uint32_t i = 0;
  while (language && i < LANGUAGE_COUNT && strcmp(languages[i]->info.name, language)) i++;
  if (!language || i == LANGUAGE_COUNT) return unknown_language(language, error);
  if (!text && size)
    return error_set(error, VYRE_ERROR_ARGUMENT, "there is no text. Fix: pass the source");
  *source = (front_source){text ? text : "", size, name && *name ? name : "<text>"};
  *out = languages[i];
  return VYRE_OK;
}

static bool are_locals_given(const vyre_source_options *o) {
  if (o->local_count && !o->locals) return false;
  for (uint32_t i = 0; i < o->local_count; i++)
    if (!o->locals[i].name) return false;
  return true;
}

static bool are_formats_given(const vyre_source_options *o) {
  if (o->format_count && !o->formats) return false;
  for (uint32_t i = 0; i < o->format_count; i++)
    if (!o->formats[i].name || !o->formats[i].format) return false;
  return true;
}

static bool are_aliases_given(const vyre_source_options *o) {
  if (o->alias_count && !o->aliases) return false;
  for (uint32_t i = 0; i < o->alias_count; i++)
    if (!o->aliases[i].name) return false;
  return true;
}

static vyre_status check_options(const vyre_source_options *o, vyre_error *error) {
  if (o && !are_locals_given(o))
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "a local array of the options is NULL. Fix: pass as many names and sizes as "
                     "local_count says");
  if (o && !are_formats_given(o))
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "a format of the options is NULL. Fix: pass as many names and formats as "
                     "format_count says");
  if (o && !are_aliases_given(o))
    return error_set(
        error, VYRE_ERROR_ARGUMENT,
        "an alias of the options is NULL. Fix: pass as many names as alias_count says");
  return VYRE_OK;
}

vyre_status vyre_program_from(const char *language, const void *text, size_t size, const char *name,
                              const vyre_source_options *options, vyre_program **out,
                              vyre_error *error) {
  FPENV_SCOPE;
  if (!out) return error_set(error, VYRE_ERROR_ARGUMENT, "`out` is NULL. Fix: pass a place");
  *out = NULL;
  if (check_options(options, error) != VYRE_OK) return VYRE_ERROR_ARGUMENT;
  front_source source;
  const front_language *found = NULL;
  vyre_status status = begin(language, text, size, name, &source, &found, error);
  if (status != VYRE_OK) return status;
  static const vyre_source_options none = {0};
  if (!options) options = &none;
  status = found->program(&source, options, out, error);
  // The text form has tunables of its own, which programs carry.
  if (status == VYRE_OK && found->info.has_launch)
    origin_keep(*out, found->info.name, &source, options);
  return status;
}

// A source that is one program is visited once, right or wrong.
static vyre_status visit_only(const front_language *language, const front_source *source,
                              const vyre_source_options *options, front_visit *visit, void *data) {
  vyre_program *made = NULL;
  vyre_error error;
  vyre_status status = language->program(source, options, &made, &error);
  vyre_source_result result = {.count = 1, .program = made};
  if (status != VYRE_OK) result.error = &error;
  visit(data, &result);
  vyre_program_release(made);
  return VYRE_OK;
}

vyre_status vyre_source_each(const char *language, const void *text, size_t size, const char *name,
                             const vyre_source_options *options,
                             void (*visit)(void *data, const vyre_source_result *result),
                             void *data, vyre_error *error) {
  FPENV_SCOPE;
  if (!visit) return error_set(error, VYRE_ERROR_ARGUMENT, "`visit` is NULL. Fix: pass a function");
  if (check_options(options, error) != VYRE_OK) return VYRE_ERROR_ARGUMENT;
  front_source source;
  const front_language *found = NULL;
  vyre_status status = begin(language, text, size, name, &source, &found, error);
  if (status != VYRE_OK) return status;
  static const vyre_source_options none = {0};
  vyre_source_options all = options ? *options : none;
  all.entry = NULL;
  if (!found->each) return visit_only(found, &source, &all, visit, data);
  return found->each(&source, &all, visit, data, error);
}

typedef struct checking {
  front_mistake *mistake;
  void *data;
  vyre_error *error; // the first
  vyre_status status;
} checking;

static void tell_first(checking *c, const vyre_error *mistake) {
  if (c->status == VYRE_OK && c->error) *c->error = *mistake;
  if (c->status == VYRE_OK) c->status = mistake->status;
  c->mistake(c->data, mistake);
}

static void check_entry(void *data, const vyre_source_result *result) {
  if (result->error) tell_first(data, result->error);
}

vyre_status vyre_source_check(const char *language, const void *text, size_t size, const char *name,
                              const vyre_source_options *options,
                              void (*mistake)(void *data, const vyre_error *mistake), void *data,
                              vyre_error *error) {
  FPENV_SCOPE;
  if (!mistake)
    return error_set(error, VYRE_ERROR_ARGUMENT, "`mistake` is NULL. Fix: pass a function");
  if (check_options(options, error) != VYRE_OK) return VYRE_ERROR_ARGUMENT;
  front_source source;
  const front_language *found = NULL;
  vyre_status status = begin(language, text, size, name, &source, &found, error);
  if (status != VYRE_OK) return status;
  static const vyre_source_options none = {0};
  vyre_source_options all = options ? *options : none;
  if (found->check) return found->check(&source, &all, mistake, data, error);
  checking c = {mistake, data, error, VYRE_OK};
  vyre_error own;
  if (found->each && !all.entry)
    status = found->each(&source, &all, check_entry, &c, &own);
  else
    status = visit_only(found, &source, &all, check_entry, &c);
  if (status != VYRE_OK && c.status == VYRE_OK) tell_first(&c, &own);
  return c.status;
}

vyre_status vyre_source_entries(const char *language, const void *text, size_t size,
                                const char *name, const char *build_options,
                                vyre_source_entry **out, uint32_t *count, vyre_error *error) {
  FPENV_SCOPE;
  if (!out || !count)
    return error_set(error, VYRE_ERROR_ARGUMENT, "`out` or `count` is NULL. Fix: pass places");
  *out = NULL;
  *count = 0;
  front_source source;
  const front_language *found = NULL;
  vyre_status status = begin(language, text, size, name, &source, &found, error);
  if (status != VYRE_OK || !found->entries) return status;
  return found->entries(&source, build_options ? build_options : "", out, count, error);
}

static vyre_status copy_text(const front_source *source, char **out, size_t *size,
                             vyre_error *error) {
  *out = malloc(source->size + 1);
  if (!*out) return error_out_of_memory(error);
  memcpy(*out, source->text, source->size);
  (*out)[source->size] = 0;
  *size = source->size;
  return VYRE_OK;
}

vyre_status vyre_source_preprocess(const char *language, const void *text, size_t size,
                                   const char *name, const char *build_options, char **out,
                                   size_t *out_size, vyre_error *error) {
  FPENV_SCOPE;
  if (!out || !out_size)
    return error_set(error, VYRE_ERROR_ARGUMENT, "`out` or `out_size` is NULL. Fix: pass places");
  *out = NULL;
  *out_size = 0;
  front_source source;
  const front_language *found = NULL;
  vyre_status status = begin(language, text, size, name, &source, &found, error);
  if (status != VYRE_OK) return status;
  if (!found->preprocess) return copy_text(&source, out, out_size, error);
  return found->preprocess(&source, build_options ? build_options : "", out, out_size, error);
}
