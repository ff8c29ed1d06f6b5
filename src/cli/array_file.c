// SPDX-License-Identifier: MIT
#include "cli/array_file.h"

#include "base/ascii.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/csv.h"
#include "cli/png.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILE_GIB = 64 };

typedef enum form { FORM_NPY, FORM_PNG, FORM_CSV, FORM_UNKNOWN } form;

static bool ends_with(const char *path, const char *end) {
  size_t size = strlen(path), wanted = strlen(end);
  if (size <= wanted) return false;
  for (size_t i = 0; i < wanted; i++)
    if (ascii_lower(path[size - wanted + i]) != end[i]) return false;
  return true;
}

static form form_of_name(const char *path) {
  if (ends_with(path, ".npy")) return FORM_NPY;
  if (ends_with(path, ".png")) return FORM_PNG;
  bool is_text = ends_with(path, ".csv") || ends_with(path, ".txt") || ends_with(path, ".tsv");
  return is_text || !strcmp(path, "-") ? FORM_CSV : FORM_UNKNOWN;
}

bool array_is_named(const char *text) {
  return form_of_name(text) != FORM_UNKNOWN;
}

// What the bytes say counts more than the name.
static form form_of(const char *path, const char *bytes, size_t size) {
  if (size >= 6 && !memcmp(bytes, "\x93NUMPY", 6)) return FORM_NPY;
  if (size >= 4 && !memcmp(bytes, "\x89PNG", 4)) return FORM_PNG;
  form named = form_of_name(path);
  return named == FORM_UNKNOWN ? FORM_NPY : named;
}

vyre_status array_read(const char *path, vyre_type type, npy_array *out, vyre_error *error) {
  char *bytes;
  size_t size;
  *out = (npy_array){0};
  vyre_status status = file_read(path, (size_t)MAX_FILE_GIB << 30, &bytes, &size, error);
  if (status != VYRE_OK) return status;
  form found = form_of(path, bytes, size);
  if (found == FORM_NPY) return npy_decode(bytes, size, path, out, error);
  status = found == FORM_PNG ? png_decode(bytes, size, path, type, out, error)
                             : csv_decode(bytes, size, path, type, out, error);
  free(bytes);
  return status;
}

static vyre_status write_csv(const char *path, vyre_type type, uint32_t rank, const uint64_t *shape,
                             const void *data, vyre_error *error) {
  strbuf text = {0};
  size_t size;
  csv_encode(type, rank, shape, data, &text);
  char *all = strbuf_take(&text, &size);
  if (!all) return error_out_of_memory(error);
  vyre_status status = VYRE_OK;
  if (!strcmp(path, "-"))
    fwrite(all, 1, size, stdout); // the end of main looks whether that worked
  else
    status = file_replace(path, all, size, error);
  free(all);
  return status;
}

vyre_status array_write(const char *path, vyre_type type, uint32_t rank, const uint64_t *shape,
                        const void *data, vyre_error *error) {
  form wanted = form_of_name(path);
  if (wanted == FORM_CSV) return write_csv(path, type, rank, shape, data, error);
  if (wanted != FORM_PNG) return npy_write(path, type, rank, shape, data, error);
  char *bytes;
  size_t size;
  vyre_status status = png_encode(path, type, rank, shape, data, &bytes, &size, error);
  if (status != VYRE_OK) return status;
  status = file_replace(path, bytes, size, error);
  free(bytes);
  return status;
}
