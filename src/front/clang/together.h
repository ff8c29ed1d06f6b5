// SPDX-License-Identifier: MIT
//
// What only some subgroups of a workgroup do, where it has functions in which all meet.
#ifndef VYRE_FRONT_CLANG_TOGETHER_H
#define VYRE_FRONT_CLANG_TOGETHER_H

#include "front/clang/lower.h"

// Lowers an if on `c` when it is such a one; false when it is to be lowered as any other.
bool together_if(lowering *l, ref c, node *s);
// A statement while l->guard is set; returns whether control can come out at the end.
bool together_stmt(lowering *l, node *s);

#endif
