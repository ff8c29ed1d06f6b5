// SPDX-License-Identifier: MIT
#include "cli/load.h"

#include "base/error.h"
#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const size_t max_source_bytes = (size_t)1 << 30;
// FILE:ENTRY, unless a file has just that name.
static const char *find_entry(const char *path) {
  const char *colon = strrchr(path, ':');
  return colon && colon[1] && colon != path && access(path, F_OK) != 0 ? colon + 1 : NULL;
}

// Without :ENTRY; malloc'ed, NULL when out of memory.
static char *file_of(const char *path) {
  const char *entry = find_entry(path);
  return entry ? strndup(path, (size_t)(entry - path - 1)) : strdup(path);
}

vyre_language_info load_language(const char *path, const source_words *words) {
  if (words && words->language) return source_language(words->language);
  char *file = file_of(path);
  vyre_language_info info = source_language(vyre_language_guess(file, NULL, 0));
  free(file);
  return info;
}

static vyre_status load_file(const char *path, const char *entry, const source_words *words,
                             loaded *out, vyre_error *error) {
  vyre_status status = file_read(path, max_source_bytes, &out->source, &out->size, error);
  if (status != VYRE_OK) return status;
  const char *name = strcmp(path, "-") ? path : "<stdin>";
  const char *language = words && words->language
                             ? words->language
                             : vyre_language_guess(path, out->source, out->size);
  out->language = source_language(language);
  status = source_load(language, out->source, out->size, name, entry, words, &out->program, error);
  if (status == VYRE_OK) return VYRE_OK;
  if (!error->file[0]) snprintf(error->file, sizeof error->file, "%s", name);
  load_free(out);
  return status;
}

vyre_status load_program(const char *path, const source_words *words, loaded *out,
                         vyre_error *error) {
  *out = (loaded){0};
  char *file = file_of(path);
  if (!file) return error_out_of_memory(error);
  vyre_status status = load_file(file, find_entry(path), words, out, error);
  free(file);
  return status;
}

void load_free(loaded *l) {
  vyre_program_release(l->program);
  free(l->source);
  *l = (loaded){0};
}
