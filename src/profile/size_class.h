// SPDX-License-Identifier: MIT
//
// Launches of about the same size share what was learned of them: a class is a power of two of the
// bytes that are bound. Pure function: any thread.
#ifndef VYRE_PROFILE_SIZE_CLASS_H
#define VYRE_PROFILE_SIZE_CLASS_H

#include <stdint.h>

// 0 for nothing, otherwise 1 + floor(log2(bytes)): 1 to 64.
static inline uint32_t size_class_of(uint64_t bytes) {
  return bytes ? 64 - (uint32_t)__builtin_clzll(bytes) : 0;
}

#endif
