// SPDX-License-Identifier: MIT
//
// Operations for the lowering: as the builder's, but folded where all operands are constants, with
// conversions as C has them, and with a record of which values have names.
#ifndef VYRE_FRONT_CLANG_EMIT_H
#define VYRE_FRONT_CLANG_EMIT_H

#include "ir/builder.h"

typedef struct lowering lowering;

ref e_const(lowering *l, vyre_type type, uint64_t bits);
ref e_int(lowering *l, vyre_type type, int64_t value);
ref e_float(lowering *l, vyre_type type, double value);
ref e_zero(lowering *l, vyre_type type);
bool e_is_const(lowering *l, ref r, uint64_t *bits);
vyre_type e_type(lowering *l, ref r);
ref e_unary(lowering *l, vyre_op op, ref x);
ref e_binary(lowering *l, vyre_op op, ref x, ref y);
ref e_add_const(lowering *l, ref x, int64_t c); // of integers; joins sums with constants
ref e_select(lowering *l, ref c, ref x, ref y);
ref e_fma(lowering *l, ref x, ref y, ref z);
ref e_convert(lowering *l, vyre_type type, ref x); // as C converts, to bool too
ref e_bits(lowering *l, vyre_type type, ref x);    // the same bits as another type of the width
ref e_true(lowering *l, ref x);                    // x != 0
ref e_not(lowering *l, ref x);                     // of a bool
ref e_and(lowering *l, ref x, ref y);              // of bools
ref e_or(lowering *l, ref x, ref y);
void e_name(lowering *l, ref r, const char *name);
bool e_is_named(lowering *l, ref r);
// Gives the value a name: its own when it was made since `since` and has none, else a copy's.
ref e_let(lowering *l, ref r, uint32_t since, const char *name);
void e_suggest(lowering *l, ref r, uint32_t since, const char *name); // its own name, or none

#endif
