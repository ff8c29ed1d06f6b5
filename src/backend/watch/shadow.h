// SPDX-License-Identifier: MIT
//
// What is remembered of each element of memory while the reference runs a launch: who used it, so
// that two invocations whose order matters are found (a data race), and whether anybody wrote it.
// Exact for the inputs at hand. The accesses of one element in one region are fine when they all
// commute; otherwise they must come from one workgroup, and in each of its phases from one
// invocation. The reference runs workgroups and phases one after the other, so that a few accesses
// per element stand for all that came before. One thread.
#ifndef VYRE_BACKEND_WATCH_SHADOW_H
#define VYRE_BACKEND_WATCH_SHADOW_H

#include "backend/ref/ref.h"

typedef struct shadow_access {
  uint32_t invocation, instruction; // 0: there is none
} shadow_access;

typedef struct shadow shadow;

// `kinds` has a number for each operation: accesses of one kind commute, unless it is 0. It is
// borrowed. NULL when out of memory.
shadow *shadow_new(const vyre_program *p, const launch *l, const uint16_t *kinds);
void shadow_free(shadow *s);
// Whether memory ran out; what came behind was not looked at.
bool shadow_failed(const shadow *s);

// An access inside of a buffer or a shared array. When it conflicts with one before it, that is
// *other; each element conflicts at most once in a region.
bool shadow_conflicts(shadow *s, uint32_t region, const ref_event *e, shadow_access *other);

// Memory that belongs to the launch alone: transient buffers, shared and private arrays.
// shadow_declare begins a private array anew. shadow_is_unset: whether nobody wrote the element; a
// store or an atomic writes it.
void shadow_declare(shadow *s, const ref_event *e);
bool shadow_is_unset(shadow *s, const ref_event *e);

#endif
