// SPDX-License-Identifier: MIT
//
// What of a region's body somebody looks at: what has an effect that others see, and all that it
// rests on. A variable or private array that is read needs what writes it; whatever is needed
// inside a block needs the block; a while is needed, because without it a program could end that
// does not. Pure function of a frozen program: any thread.
#ifndef VYRE_IR_NEEDED_H
#define VYRE_IR_NEEDED_H

#include "ir/program.h"

// One flag per operation of the body, from its first on, in the arena; NULL when out of memory.
bool *needed_find(arena *scratch, const vyre_program *program, const region *region);

#endif
