// SPDX-License-Identifier: MIT
#include "base/vec.h"

#include <stdint.h>

bool vec_grow_(void **at, size_t *capacity, size_t count, size_t extra, size_t element_bytes) {
  if (extra > SIZE_MAX - count) return false;
  size_t want = count + extra, grown = *capacity + *capacity / 2, bytes;
  if (want < grown) want = grown;
  if (want < 16) want = 16;
  if (__builtin_mul_overflow(want, element_bytes, &bytes)) return false;
  void *memory = realloc(*at, bytes);
  if (!memory) return false;
  *at = memory;
  *capacity = want;
  return true;
}
