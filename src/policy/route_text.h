// SPDX-License-Identifier: MIT
//
// `pgo.toml` as text: reading entries from it and writing them. The layout is described in
// docs/PROFILE.md. Private to the route table. Pure functions: any thread.
#ifndef VYRE_POLICY_ROUTE_TEXT_H
#define VYRE_POLICY_ROUTE_TEXT_H

#include "base/strbuf.h"
#include "policy/route_table.h"

// Where entries go; they are valid during the call.
typedef struct route_sink {
  vyre_status (*add)(void *context, const route_entry *entry);
  vyre_status (*add_wrong)(void *context, const route_wrong *wrong);
  void *context;
} route_sink;

// Calls the sink for each entry. Faulty entries are told, counted in *problems and left out.
// VYRE_ERROR_SYNTAX when the text is no TOML, VYRE_ERROR_UNSUPPORTED when its format is newer.
vyre_status route_text_read(const char *text, size_t size, const char *path, const route_sink *sink,
                            const note_sink *notes, unsigned *problems, vyre_error *error);

// Writes all of a table.
void route_text_write(strbuf *out, const route_table *table);

#endif
