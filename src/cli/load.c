// SPDX-License-Identifier: MIT
#include "cli/load.h"

#include "base/error.h"
#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const size_t max_source_bytes = (size_t)1 << 30;
enum { WIRE_FIRST_BYTE = 0x89 }; // no text begins with it

static bool ends_with(const char *text, const char *end) {
  size_t length = strlen(text), tail = strlen(end);
  return length >= tail && !strcmp(text + length - tail, end);
}

// FILE:ENTRY, unless a file has just that name.
static const char *find_entry(const char *path) {
  const char *colon = strrchr(path, ':');
  return colon && colon[1] && colon != path && access(path, F_OK) != 0 ? colon + 1 : NULL;
}

bool load_is_opencl(const char *path) {
  const char *entry = find_entry(path);
  size_t size = entry ? (size_t)(entry - path - 1) : strlen(path);
  return size >= 3 && !strncmp(path + size - 3, ".cl", 3);
}

const char *load_form_name(const loaded *l) {
  return l->is_opencl ? "OpenCL C" : l->is_wire ? "wire form" : "text form";
}

static vyre_status load_stored(const char *name, const char *entry, loaded *out,
                               vyre_error *error) {
  out->is_wire = out->size && (unsigned char)out->source[0] == WIRE_FIRST_BYTE;
  vyre_status status = out->is_wire
                           ? vyre_program_decode(out->source, out->size, &out->program, error)
                           : vyre_program_parse(out->source, out->size, name, &out->program, error);
  if (status == VYRE_OK && entry && strcmp(entry, vyre_program_name(out->program)) != 0)
    status = error_set(error, VYRE_ERROR_BINDING,
                       "`%s` holds the program `%s`, not `%s`. Fix: leave out `:%s`", name,
                       vyre_program_name(out->program), entry, entry);
  return status;
}

static vyre_status load_file(const char *path, const char *entry, const opencl_words *words,
                             loaded *out, vyre_error *error) {
  vyre_status status = file_read(path, max_source_bytes, &out->source, &out->size, error);
  if (status != VYRE_OK) return status;
  const char *name = strcmp(path, "-") ? path : "<stdin>";
  out->is_opencl = ends_with(path, ".cl");
  status = out->is_opencl
               ? opencl_load(out->source, out->size, name, entry, words, &out->program, error)
               : load_stored(name, entry, out, error);
  if (status == VYRE_OK) return VYRE_OK;
  if (!error->file[0]) snprintf(error->file, sizeof error->file, "%s", name);
  load_free(out);
  return status;
}

vyre_status load_program(const char *path, const opencl_words *words, loaded *out,
                         vyre_error *error) {
  *out = (loaded){0};
  const char *entry = find_entry(path);
  if (!entry) return load_file(path, NULL, words, out, error);
  char *file = strdup(path);
  if (!file) return error_out_of_memory(error);
  file[entry - path - 1] = 0;
  vyre_status status = load_file(file, entry, words, out, error);
  free(file);
  return status;
}

void load_free(loaded *l) {
  vyre_program_release(l->program);
  free(l->source);
  *l = (loaded){0};
}
