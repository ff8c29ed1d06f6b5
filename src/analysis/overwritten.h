// SPDX-License-Identifier: MIT
//
// Whether a workgroup writes all of a shared array before anybody looks at it, so that it need not
// be cleared: the first operation that has to do with the array is a store of every invocation to
// the element of its own number. Reads the program only: any thread.
#ifndef VYRE_ANALYSIS_OVERWRITTEN_H
#define VYRE_ANALYSIS_OVERWRITTEN_H

#include "ir/program.h"

bool shared_is_overwritten(const vyre_program *p, const region *r, uint32_t array);

#endif
