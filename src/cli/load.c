// SPDX-License-Identifier: MIT
#include "cli/load.h"

#include "base/error.h"
#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t max_source_bytes = (size_t)1 << 30;
enum { WIRE_FIRST_BYTE = 0x89 }; // no text begins with it

static bool ends_with(const char *text, const char *end) {
  size_t length = strlen(text), tail = strlen(end);
  return length >= tail && !strcmp(text + length - tail, end);
}

static vyre_status load_opencl(const char *path, vyre_error *error) {
  return error_set(error, VYRE_ERROR_UNSUPPORTED,
                   "`%s` is OpenCL C, which this build does not read. Fix: write the kernel in the "
                   "text form (.vyre)",
                   path);
}

vyre_status load_program(const char *path, const char *entry, loaded *out, vyre_error *error) {
  *out = (loaded){0};
  if (ends_with(path, ".cl")) return load_opencl(path, error);
  vyre_status status = file_read(path, max_source_bytes, &out->source, &out->size, error);
  if (status != VYRE_OK) return status;
  const char *name = strcmp(path, "-") ? path : "<stdin>";
  out->is_wire = out->size && (unsigned char)out->source[0] == WIRE_FIRST_BYTE;
  status = out->is_wire ? vyre_program_decode(out->source, out->size, &out->program, error)
                        : vyre_program_parse(out->source, out->size, name, &out->program, error);
  if (status == VYRE_OK && entry && strcmp(entry, vyre_program_name(out->program)) != 0)
    status = error_set(error, VYRE_ERROR_BINDING,
                       "`%s` holds the program `%s`, not `%s`. Fix: leave out `:%s`", path,
                       vyre_program_name(out->program), entry, entry);
  if (status == VYRE_OK) return VYRE_OK;
  if (!error->file[0]) snprintf(error->file, sizeof error->file, "%s", name);
  load_free(out);
  return status;
}

void load_free(loaded *l) {
  vyre_program_release(l->program);
  free(l->source);
  *l = (loaded){0};
}
