// SPDX-License-Identifier: MIT
//
// How elements are kept that a device has no type for. Private to src/lower.
#ifndef VYRE_LOWER_STORAGE_H
#define VYRE_LOWER_STORAGE_H

#include "lower/target.h"

#include <vyre/vyre.h>

// 32-bit words of an array per element of the type; 0: it is kept as it is. In arrays, which nobody
// else sees, small elements have a word each; in buffers they share one.
uint32_t storage_words(const lower_target *target, vyre_type element);

#endif
