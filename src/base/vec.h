// SPDX-License-Identifier: MIT
//
// Growable arrays of any type: `vec(int) v = {0};`. They hand out indices, not pointers, because
// growing moves the elements. Growth can fail: vec_reserve and vec_push say so, and leave the array
// as it was. One thread at a time.
#ifndef VYRE_BASE_VEC_H
#define VYRE_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define vec(T)                                                                                     \
  struct {                                                                                         \
    T *at;                                                                                         \
    size_t count, capacity;                                                                        \
  }

// Makes room for `extra` more elements; false when out of memory.
#define vec_reserve(v, extra)                                                                      \
  ((v)->capacity - (v)->count >= (size_t)(extra) ||                                                \
   vec_grow_((void **)&(v)->at, &(v)->capacity, (v)->count, (size_t)(extra), sizeof *(v)->at))

// false when out of memory.
#define vec_push(v, ...) (vec_reserve(v, 1) && ((v)->at[(v)->count++] = (__VA_ARGS__), true))

#define vec_free(v) (free((v)->at), (v)->at = NULL, (v)->count = (v)->capacity = 0)

bool vec_grow_(void **at, size_t *capacity, size_t count, size_t extra, size_t element_bytes);

#endif
