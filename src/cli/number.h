// SPDX-License-Identifier: MIT
//
// Scalars as people write them: reading and showing one value of a type. Any thread.
#ifndef VYRE_CLI_NUMBER_H
#define VYRE_CLI_NUMBER_H

#include <vyre/vyre.h>

enum { NUMBER_TEXT = 40 }; // room for any value as text

// Decimal or 0x hexadecimal, no sign. On success *end is behind what was read.
bool number_read_u64(const char *text, const char **end, uint64_t *out);
// A count: as above, or 1e6, 1.5e3, 10k, 1M, 2G (thousands), 64Ki, 1Mi, 1Gi (1024s). It must be
// whole.
bool number_read_count(const char *text, const char **end, uint64_t *out);
// All of `text` as a value of `type`: -5, 0xff, 2.5, 1e-3, nan, -inf, true. Fails with a message
// when it is no such value or does not fit.
vyre_status number_read(const char *text, vyre_type type, uint64_t *bits, vyre_error *error);
// The shortest text that reads back as the same value.
void number_show(vyre_type type, uint64_t bits, char out[NUMBER_TEXT]);

// The bits of an element in memory, zero-extended; and the other way round.
uint64_t number_load(vyre_type type, const void *data, uint64_t index);
void number_store(vyre_type type, void *data, uint64_t index, uint64_t bits);

#endif
