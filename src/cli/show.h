// SPDX-License-Identifier: MIT
//
// Numbers for people: elements of a buffer, times, sizes. Any thread.
#ifndef VYRE_CLI_SHOW_H
#define VYRE_CLI_SHOW_H

#include <vyre/vyre.h>

#include <jansson.h>

enum { SHOW_TEXT = 48 };

// "830 ns", "1.24 ms"; "4.0 KiB"; "1,048,576". `out` has SHOW_TEXT bytes and is returned.
const char *show_time(uint64_t ns, char *out);
const char *show_bytes(uint64_t bytes, char *out);
const char *show_count(uint64_t count, char *out);

// Up to `shown` elements in columns, each line with the number of its first.
void show_elements(vyre_type type, const void *data, uint64_t count, uint64_t shown);
// The first few in one line.
void show_first(vyre_type type, const void *data, uint64_t count);
// Numbers as JSON has them; what it has not (nan, inf) as strings.
json_t *show_json(vyre_type type, const void *data, uint64_t count);

#endif
