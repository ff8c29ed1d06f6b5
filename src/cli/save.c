// SPDX-License-Identifier: MIT
#include "cli/save.h"

#include "base/error.h"
#include "base/file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

save_form save_form_of(const char *path) {
  const char *dot = strrchr(path, '.');
  if (dot && !strcmp(dot, ".vyreb")) return SAVE_WIRE;
  return dot && !strcmp(dot, ".vyre") ? SAVE_TEXT : SAVE_BY_NAME;
}

static vyre_status write_output(const char *path, const void *data, size_t size, save_form form,
                                vyre_error *error) {
  if (strcmp(path, "-") != 0) return file_replace(path, data, size, error);
  if (form == SAVE_WIRE && isatty(STDOUT_FILENO))
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "the wire form is binary and standard output is a terminal. Fix: name a file "
                     "with -o");
  fwrite(data, 1, size, stdout);
  return VYRE_OK;
}

vyre_status save_text(const char *path, const char *text, size_t size, vyre_error *error) {
  return write_output(path, text, size, SAVE_TEXT, error);
}

vyre_status save_program(const vyre_program *program, const char *path, save_form form,
                         size_t *size, vyre_error *error) {
  void *data = NULL;
  vyre_status status;
  if (form == SAVE_WIRE) {
    status = vyre_program_encode(program, &data, size, error);
  } else {
    char *text = NULL;
    status = vyre_program_print(program, &text, size, error);
    data = text;
  }
  if (status == VYRE_OK) status = write_output(path, data, *size, form, error);
  vyre_free(data);
  return status;
}
