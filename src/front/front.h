// SPDX-License-Identifier: MIT
//
// The frontend contract: one const struct per source language, listed once in front.c. Callers go
// through vyre_program_from, vyre_source_each and vyre_source_entries, which check arguments once
// for all languages. Constant data; the functions may be called from any thread, also at once.
#ifndef VYRE_FRONT_FRONT_H
#define VYRE_FRONT_FRONT_H

#include <vyre/vyre.h>

typedef struct front_source { // borrowed
  const char *text;           // not NULL when there is a size
  size_t size;
  const char *name; // never NULL; a path: includes in quotes are looked for in its folder
} front_source;

typedef void front_visit(void *data, const vyre_source_result *result);

typedef void front_mistake(void *data, const vyre_error *mistake);

typedef struct front_language {
  vyre_language_info info;
  int first_byte; // that no source of another language begins with; -1: there is none

  // Makes a program from one entry. `options` is never NULL; *out is NULL.
  vyre_status (*program)(const front_source *source, const vyre_source_options *options,
                         vyre_program **out, vyre_error *error);
  // Visits the programs of all entries, as vyre_source_each. NULL where a source is one program.
  vyre_status (*each)(const front_source *source, const vyre_source_options *options,
                      front_visit *visit, void *data, vyre_error *error);
  // Lists the entries, in one block of malloc'ed memory; *out is NULL and *count 0. NULL where a
  // source is one program.
  vyre_status (*entries)(const front_source *source, const char *build_options,
                         vyre_source_entry **out, uint32_t *count, vyre_error *error);
  // The source without includes and macros, malloc'ed, with a zero at its end. NULL where a source
  // has none.
  vyre_status (*preprocess)(const front_source *source, const char *build_options, char **out,
                            size_t *size, vyre_error *error);
  // Tells every mistake of a source; the error is the first. NULL where one ends the reading.
  vyre_status (*check)(const front_source *source, const vyre_source_options *options,
                       front_mistake *mistake, void *data, vyre_error *error);
} front_language;

#endif
