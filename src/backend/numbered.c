// SPDX-License-Identifier: MIT
#include "backend/numbered.h"

#include "base/error.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct numbered {
  backend self; // first: a pointer to it is one to all
  struct numbered *next;
  uint32_t number;
  char id[BACKEND_ID + 4];
  _Atomic(char *) adapter;
} numbered;

// It only ever grows.
static _Atomic(numbered *) all;

// ---- what is different --------------------------------------------------------------------------

static vyre_status find_device(const numbered *n, vyre_device *out, vyre_error *error) {
  const backend *base = n->self.base;
  vyre_device devices[NUMBERED_MOST];
  uint32_t count = 0;
  vyre_status status = base->probe(base, devices, NUMBERED_MOST, &count, error);
  if (status != VYRE_OK) return status;
  if (n->number > count || n->number > NUMBERED_MOST)
    return error_set(error, VYRE_ERROR_UNSUPPORTED,
                     "backend `%s` has %u device%s here, not %u. Fix: choose one that `vyre "
                     "devices %s` lists",
                     base->id, count, count == 1 ? "" : "s", n->number, base->id);
  *out = devices[n->number - 1];
  return VYRE_OK;
}

static vyre_status probe(const backend *self, vyre_device *devices, uint32_t capacity,
                         uint32_t *count, vyre_error *error) {
  vyre_device found;
  *count = 0;
  vyre_status status = find_device((const numbered *)self, &found, error);
  if (status != VYRE_OK) return status;
  *count = 1;
  if (capacity) devices[0] = found;
  return VYRE_OK;
}

// A list of devices is made once per process: the adapter stays what it is.
static const char *adapter_of(const backend *self, vyre_error *error) {
  numbered *n = (numbered *)(uintptr_t)self;
  char *known = atomic_load(&n->adapter);
  vyre_device found;
  if (known) return known;
  if (find_device(n, &found, error) != VYRE_OK) return NULL;
  char *copy = strdup(found.adapter);
  if (!copy) error_out_of_memory(error);
  if (!copy || atomic_compare_exchange_strong(&n->adapter, &known, copy)) return copy;
  free(copy); // another thread was first
  return known;
}

// Whoever names a device means that one.
static vyre_status choose(const backend *self, vyre_compile_options *options, vyre_error *error) {
  vyre_error own; // the status is read from it
  if (!error) error = &own;
  if (!options->device) options->device = adapter_of(self, error);
  return options->device ? VYRE_OK : error->status;
}

static vyre_status compile(const backend *self, vyre_program *program,
                           const vyre_compile_options *options, const volatile uint32_t *stop,
                           void **state, vyre_error *error) {
  vyre_compile_options chosen = *options;
  vyre_status status = choose(self, &chosen, error);
  return status == VYRE_OK ? self->base->compile(self, program, &chosen, stop, state, error)
                           : status;
}

static vyre_status compile_cached(const backend *self, vyre_program *program,
                                  const vyre_compile_options *options, void **state,
                                  vyre_error *error) {
  vyre_compile_options chosen = *options;
  vyre_status status = choose(self, &chosen, error);
  return status == VYRE_OK ? self->base->compile_cached(self, program, &chosen, state, error)
                           : status;
}

// ---- finding ------------------------------------------------------------------------------------

static numbered *find(const backend *base, uint32_t number) {
  numbered *n = atomic_load(&all);
  while (n && (n->self.base != base || n->number != number)) n = n->next;
  return n;
}

const backend *numbered_find(const backend *base, uint32_t number) {
  if (number == 1) return base;
  if (!base->has_devices || base->base || !number || number > NUMBERED_MOST) return NULL;
  numbered *n = find(base, number);
  if (n) return &n->self;
  n = calloc(1, sizeof *n);
  if (!n) return NULL;
  n->self = *base;
  n->number = number;
  snprintf(n->id, sizeof n->id, "%.15s:%u", base->id, number);
  n->self.id = n->id;
  n->self.base = base;
  n->self.probe = probe;
  n->self.compile = compile;
  if (base->compile_cached) n->self.compile_cached = compile_cached;
  n->next = atomic_load(&all);
  while (!atomic_compare_exchange_weak(&all, &n->next, n)) {
    numbered *other = find(base, number); // another thread was first
    if (!other) continue;
    free(n);
    return &other->self;
  }
  return &n->self;
}

const backend *numbered_parse(const backend *base, const char *text) {
  vyre_device devices[NUMBERED_MOST];
  uint32_t count = 0;
  if (!base->has_devices) return NULL;
  for (uint32_t i = 1; i <= NUMBERED_MOST; i++) {
    char number[12];
    snprintf(number, sizeof number, "%u", i);
    if (!strcmp(text, number)) return numbered_find(base, i);
  }
  if (base->probe(base, devices, NUMBERED_MOST, &count, NULL) != VYRE_OK) return NULL;
  for (uint32_t i = 0; i < count && i < NUMBERED_MOST; i++)
    if (!strcmp(text, devices[i].adapter)) return numbered_find(base, i + 1);
  return NULL;
}

const char *numbered_adapter(const backend *b) {
  return b->base ? adapter_of(b, NULL) : NULL;
}
