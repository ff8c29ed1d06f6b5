// SPDX-License-Identifier: MIT
//
// The record of every pass of passes.def, one file each.
#ifndef VYRE_OPT_PASSES_H
#define VYRE_OPT_PASSES_H

#include "opt/pass.h"

#define PASS(name) extern const pass pass_##name;
#include "opt/passes.def"
#undef PASS

#endif
