// SPDX-License-Identifier: MIT
//
// half is f16 of the IR, whose operations round to nearest. Here are the other modes of rounding.
#ifndef VYRE_FRONT_CLANG_HALF_H
#define VYRE_FRONT_CLANG_HALF_H

#include "front/clang/value.h"

ref half_from(lowering *l, ref x, char mode); // f16 of any number, rounded by e, z, p or n

#endif
