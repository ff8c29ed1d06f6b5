// SPDX-License-Identifier: MIT
//
// Arrays as comma-separated values. Reading takes commas, semicolons, tabs and blanks, rows of one
// length, and a heading; writing gives every element with the digits that read back as the same
// value, whatever the locale. Any thread.
#ifndef VYRE_CLI_CSV_H
#define VYRE_CLI_CSV_H

#include "base/strbuf.h"
#include "cli/npy.h"

// `name` is for messages. The shape has one axis when there is one row or one column.
vyre_status csv_decode(const char *text, size_t size, const char *name, vyre_type type,
                       npy_array *out, vyre_error *error);
// The last axis goes along a line.
void csv_encode(vyre_type type, uint32_t rank, const uint64_t *shape, const void *data,
                strbuf *out);

#endif
