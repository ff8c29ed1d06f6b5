// SPDX-License-Identifier: MIT
//
// half. A value of it is an f32 that is one of the halves: every result is rounded to the nearest
// half at once, which for + - * / and sqrt gives what arithmetic on halves gives, and fma goes
// through f64. In memory it is a u16.
#ifndef VYRE_FRONT_CLANG_HALF_H
#define VYRE_FRONT_CLANG_HALF_H

#include "front/clang/value.h"

ref half_to_float(lowering *l, ref bits);     // of a u16, exact
ref half_bits(lowering *l, ref half);         // u16 of an f32 that is a half
ref half_from(lowering *l, ref x, char mode); // u16 of any float, rounded by e, z, p or n
ref half_nearest(lowering *l, ref x);         // any number to the f32 that is the nearest half
ref half_fit(lowering *l, const ctype *type, ref x); // the same when the type is half, else x
ref half_nextafter(lowering *l, ref x, ref y);
ref half_bitselect(lowering *l, ref x, ref y, ref mask);
ref half_is_normal(lowering *l, ref x);

#endif
