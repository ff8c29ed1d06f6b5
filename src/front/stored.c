// SPDX-License-Identifier: MIT
#include "front/stored.h"

#include "base/error.h"
#include "ir/wire.h"

#include <string.h>

// A source is one program, so an entry can only be that one.
static vyre_status check_entry(const front_source *source, const vyre_source_options *options,
                               vyre_program **program, vyre_error *error) {
  const char *name = vyre_program_name(*program);
  if (!options->entry || !strcmp(options->entry, name)) return VYRE_OK;
  error_set(error, VYRE_ERROR_BINDING,
            "`%.200s` holds the program `%.100s`, not `%.100s`. Fix: leave out `:%.100s`",
            source->name, name, options->entry, options->entry);
  vyre_program_release(*program);
  *program = NULL;
  return VYRE_ERROR_BINDING;
}

static vyre_status from_text(const front_source *source, const vyre_source_options *options,
                             vyre_program **out, vyre_error *error) {
  vyre_status status = vyre_program_parse(source->text, source->size, source->name, out, error);
  return status == VYRE_OK ? check_entry(source, options, out, error) : status;
}

static vyre_status from_wire(const front_source *source, const vyre_source_options *options,
                             vyre_program **out, vyre_error *error) {
  vyre_status status = vyre_program_decode(source->text, source->size, out, error);
  return status == VYRE_OK ? check_entry(source, options, out, error) : status;
}

const front_language text_language = {
    .info = {.name = "text", .title = "text form", .suffixes = ".vyre"},
    .first_byte = -1,
    .program = from_text,
};

const front_language wire_language = {
    .info = {.name = "wire", .title = "wire form", .suffixes = ".vyreb"},
    .first_byte = WIRE_FIRST_BYTE,
    .program = from_wire,
};
