// SPDX-License-Identifier: MIT
#include "icd/info.h"

cl_int info_answer(const info *i, size_t room, void *value, size_t *size) {
  if (value && room < i->size) return CL_INVALID_VALUE;
  if (value && i->size) memcpy(value, i->at, i->size);
  if (size) *size = i->size;
  return CL_SUCCESS;
}
