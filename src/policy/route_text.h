// SPDX-License-Identifier: MIT
//
// `pgo.toml` as text: reading entries from it and writing them. The layout is described in
// docs/PROFILE.md. Private to the route table. Pure functions: any thread.
#ifndef VYRE_POLICY_ROUTE_TEXT_H
#define VYRE_POLICY_ROUTE_TEXT_H

#include "base/strbuf.h"
#include "policy/route_table.h"

// Calls `add` for each entry; the entry is valid during the call. Faulty entries are told, counted
// in *problems and left out. VYRE_ERROR_SYNTAX when the text is no TOML, VYRE_ERROR_UNSUPPORTED
// when its format is newer.
vyre_status route_text_read(const char *text, size_t size, const char *path,
                            vyre_status (*add)(void *context, const route_entry *entry),
                            void *context, const note_sink *notes, unsigned *problems,
                            vyre_error *error);

// Writes entries 0, 1, ... as `at` gives them, sorted by op id, up to NULL.
void route_text_write(strbuf *out, const route_entry *(*at)(void *context, size_t index),
                      void *context);

#endif
