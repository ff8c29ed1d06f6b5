// SPDX-License-Identifier: MIT
//
// From what a program means to what a device can do exactly: mathematical functions are expanded
// (ir/math.h), and the recipes that the target needs are applied (recipes.def). The result has the
// same interface and the same regions, gives the same bits, and is what a backend spells. Programs
// that the target cannot run are refused with VYRE_ERROR_UNSUPPORTED. The caller releases the
// result. No state: any thread.
#ifndef VYRE_LOWER_LOWER_H
#define VYRE_LOWER_LOWER_H

#include "ir/program.h"
#include "lower/target.h"

vyre_status lower_program(const vyre_program *program, const lower_target *target,
                          vyre_program **out, vyre_error *error);

// What a recipe is called; the number is that of recipes.def. For messages.
const char *lower_recipe_name(uint32_t number);

#endif
