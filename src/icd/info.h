// SPDX-License-Identifier: MIT
//
// The answer of a clGet...Info call. A query function points `info` at a value, or says that it
// knows no such question; info_answer checks the caller's room and copies.
#ifndef VYRE_ICD_INFO_H
#define VYRE_ICD_INFO_H

#include "icd/icd.h"

#include <stdint.h>
#include <string.h>

typedef struct info {
  const void *at;
  size_t size;
  union { // room for a number that is computed
    uint64_t u64;
    cl_uint u32;
    size_t size;
    void *pointer;
    size_t sizes[3];
  } own;
} info;

static inline void info_text(info *i, const char *text) {
  i->at = text;
  i->size = strlen(text) + 1;
}

static inline void info_bytes(info *i, const void *at, size_t size) {
  i->at = at;
  i->size = size;
}

static inline void info_u32(info *i, cl_uint value) {
  i->own.u32 = value;
  info_bytes(i, &i->own.u32, sizeof(cl_uint));
}

static inline void info_u64(info *i, uint64_t value) {
  i->own.u64 = value;
  info_bytes(i, &i->own.u64, sizeof(uint64_t));
}

static inline void info_size(info *i, size_t value) {
  i->own.size = value;
  info_bytes(i, &i->own.size, sizeof(size_t));
}

static inline void info_pointer(info *i, const void *value) {
  i->own.pointer = (void *)(uintptr_t)value;
  info_bytes(i, &i->own.pointer, sizeof(void *));
}

cl_int info_answer(const info *i, size_t room, void *value, size_t *size);

#endif
