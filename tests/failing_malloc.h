// SPDX-License-Identifier: MIT
//
// Memory that runs out on command: a test that includes this header has its own malloc, which fails
// at the allocation that memory_arm names, alone or with all that follow, and counts what is held,
// by all threads. Sanitizers have their own malloc: under them FAILING_MALLOC is 0 and the test
// skips itself. For one file of a test; one thread arms it.
#ifndef VYRE_TESTS_FAILING_MALLOC_H
#define VYRE_TESTS_FAILING_MALLOC_H

#include "sanitized.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#if SANITIZED
#define FAILING_MALLOC 0
#else
#define FAILING_MALLOC 1

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

// All counted while armed.
static struct {
  atomic_long calls, held; // held: allocations less frees
  long fail_at;
  atomic_size_t bytes, peak_bytes; // in use
  atomic_bool armed;
  bool fail_all;
} memory;

static bool memory_must_fail(void) {
  if (!memory.armed) return false;
  long call = ++memory.calls;
  return memory.fail_all ? call >= memory.fail_at : call == memory.fail_at;
}

static void *memory_count(void *made) {
  if (!memory.armed || !made) return made;
  memory.held++;
  memory.bytes += malloc_usable_size(made);
  if (memory.bytes > memory.peak_bytes) memory.peak_bytes = memory.bytes;
  return made;
}

static void memory_uncount(void *old) {
  if (!memory.armed || !old) return;
  memory.held--;
  memory.bytes -= malloc_usable_size(old);
}

// Visible: the C library's own allocations, such as strdup's, are to come here too.
#pragma GCC visibility push(default)
void *malloc(size_t size) {
  return memory_must_fail() ? NULL : memory_count(__libc_malloc(size));
}

void *calloc(size_t count, size_t size) {
  return memory_must_fail() ? NULL : memory_count(__libc_calloc(count, size));
}

void *aligned_alloc(size_t alignment, size_t size) {
  return memory_must_fail() ? NULL : memory_count(__libc_memalign(alignment, size));
}

void *realloc(void *old, size_t size) {
  if (memory_must_fail()) return NULL;
  memory_uncount(old);
  return memory_count(__libc_realloc(old, size));
}

void free(void *old) {
  memory_uncount(old);
  __libc_free(old);
}
#pragma GCC visibility pop

// `fail_at` counts from 1; 0: nothing fails.
static void memory_arm(long fail_at, bool fail_all) {
  memory.calls = memory.held = 0;
  memory.bytes = memory.peak_bytes = 0;
  memory.fail_at = fail_at;
  memory.fail_all = fail_all;
  memory.armed = true;
}

static void memory_disarm(void) {
  memory.armed = false;
}
#endif

#endif
