// SPDX-License-Identifier: MIT
//
// Formulas over the tunables of a program (ir/program.h): what they are worth, and where they
// stand. Pure functions: any thread.
#ifndef VYRE_IR_TUNABLE_H
#define VYRE_IR_TUNABLE_H

#include "ir/program.h"

// The value of a formula when the tunables have `values` (bits, one per tunable). False when it is
// no formula: operands are missing or left over, or have types that an operation does not take.
bool formula_value(const formula_term *terms, uint32_t count, const tunable *tunables,
                   uint32_t tunable_count, const uint64_t *values, vyre_scalar *out);
// The type of an operation of a formula, whose operands have these types; VYRE_VOID when it takes
// no such operands. Of a conversion, `type` is what it converts to.
vyre_type formula_type(vyre_op op, vyre_type type, const vyre_type *operands);

// The values that the program has.
void tunable_chosen(const vyre_program *p, uint64_t values[]);
// The first tunable whose condition these values break; NULL when all hold.
const tunable *tunable_broken(const vyre_program *p, const uint64_t *values);
// What stands at a place; NULL when nothing but a number does.
const tunable_use *tunable_find_use(const vyre_program *p, use_kind kind, uint32_t at,
                                    uint32_t slot);
// Orders uses as a program has them.
int tunable_compare_uses(const tunable_use *a, const tunable_use *b);

// A value for a tunable, as it is written: borrowed.
typedef struct tunable_given {
  const char *name, *value;
  size_t name_size, value_size;
} tunable_given;

// The number of the value in the tunable's list, or -1 when it is not in it.
int tunable_find_value(const tunable *t, const char *text, size_t size);
// The values as a list for messages, cut where there are many. `buffer` has 160 bytes.
const char *tunable_list(const tunable *t, char *buffer);

// The text form with given values (ir/text_parse.c), and a program with other values.
vyre_status text_parse(const char *text, size_t size, const char *name, const tunable_given *given,
                       uint32_t given_count, vyre_program **out, vyre_error *error);
vyre_status tunable_give(const vyre_program *program, const tunable_given *given,
                         uint32_t given_count, vyre_program **out, vyre_error *error);

#endif
