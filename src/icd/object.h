// SPDX-License-Identifier: MIT
//
// Handles. Every object begins with the loader's table, its kind and two counts. The memory of an
// object is never given back to the system, and only used again for objects of its kind, so that a
// handle that was released once too often is found out instead of crashing: in the loader, which
// reads the table before anyone is asked, and here. Any thread.
//
// The client's references are counted apart from what objects hold of each other: a program lives
// while a kernel of it does, and the client sees its own count.
#ifndef VYRE_ICD_OBJECT_H
#define VYRE_ICD_OBJECT_H

#include "icd/icd.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum object_kind {
  OBJECT_NONE, // freed
  OBJECT_PLATFORM,
  OBJECT_DEVICE,
  OBJECT_CONTEXT,
  OBJECT_QUEUE,
  OBJECT_EVENT,
  OBJECT_MEMORY,
  OBJECT_SAMPLER,
  OBJECT_PROGRAM,
  OBJECT_KERNEL,
  OBJECT_KINDS
} object_kind;

typedef struct object {
  const cl_icd_dispatch *dispatch;
  _Atomic uint32_t kind;
  atomic_uint refs;         // of the client
  atomic_uint holds;        // of other objects, and one while the client has any
  struct object *next_free; // while it is freed
} object;

// Zeroed behind its head, with one reference of the client; NULL when out of memory.
void *object_new(object_kind kind);
// Whether a handle is a living object of the kind; garbage is not.
bool object_is(const void *handle, object_kind kind);
// The client's calls. `invalid` is returned when there is no such object.
cl_int object_retain(void *handle, object_kind kind, cl_int invalid);
cl_int object_release(void *handle, object_kind kind, cl_int invalid);
cl_uint object_count(const void *handle);
// What other objects hold.
void *object_hold(void *handle);
void object_drop(void *handle); // NULL is nothing

#endif
