// SPDX-License-Identifier: MIT
#include "backend/backend.h"

#include "backend/c/c.h"
#include "backend/cpu/cpu.h"
#include "backend/cuda/cuda.h"
#include "backend/numbered.h"
#include "backend/opencl/opencl.h"
#include "backend/ref/ref.h"
#include "backend/vulkan/vulkan.h"
#include "base/ascii.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/fpenv.h"
#include "base/strbuf.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Adding a backend is adding its folder and a line here, and no other file names one. The order is
// the order of `vyre devices`; the first one is the usual one.
static const backend *const listed[] = {
    &cpu_backend, &opencl_backend, &vulkan_backend, &cuda_backend, &ref_backend, &c_backend,
};

enum { LISTED = sizeof listed / sizeof *listed };

// Behind them what was registered, which only ever grows; the lock is for whoever adds. And one
// more, for tests.
static const backend *added[BACKEND_LIMIT];
static atomic_uint added_count;
static pthread_mutex_t added_lock = PTHREAD_MUTEX_INITIALIZER;
static const backend *extra_backend;

__attribute__((constructor)) static void watch_forks(void) {
  fork_guard(&added_lock, NULL);
}

void backend_set_extra(const backend *extra) {
  extra_backend = extra;
}

// NULL past the end.
static const backend *backend_at(uint32_t index) {
  if (index < LISTED) return listed[index];
  index -= LISTED;
  uint32_t count = atomic_load_explicit(&added_count, memory_order_acquire);
  if (index == count) return extra_backend;
  return index < count ? added[index] : NULL;
}

vyre_status backend_add(const backend *b, vyre_error *error) {
  vyre_status status = VYRE_OK;
  pthread_mutex_lock(&added_lock);
  uint32_t count = atomic_load_explicit(&added_count, memory_order_relaxed);
  if (backend_find(b->id))
    status =
        error_set(error, VYRE_ERROR_ARGUMENT,
                  "there is a backend `%s` already. Fix: register yours under another id", b->id);
  else if (count == BACKEND_LIMIT)
    status =
        error_set(error, VYRE_ERROR_LIMIT,
                  "there are %d registered backends already. Fix: register fewer", BACKEND_LIMIT);
  if (status == VYRE_OK) {
    added[count] = b;
    atomic_store_explicit(&added_count, count + 1, memory_order_release);
  }
  pthread_mutex_unlock(&added_lock);
  return status;
}

const backend *backend_find(const char *id) {
  for (uint32_t i = 0; backend_at(i); i++)
    if (!strcmp(backend_at(i)->id, id)) return backend_at(i);
  const char *colon = strchr(id, ':');
  for (uint32_t i = 0; colon && backend_at(i); i++) {
    const char *base = backend_at(i)->id;
    if (strlen(base) == (size_t)(colon - id) && !strncmp(base, id, (size_t)(colon - id)))
      return numbered_parse(backend_at(i), colon + 1);
  }
  return NULL;
}

const backend *backend_usual(void) {
  return listed[0];
}

const backend *backend_oracle(void) {
  return &ref_backend;
}

bool backend_is_oracle(const char *id) {
  return !strcmp(id, backend_oracle()->id);
}

bool backend_is_contender(const char *id) {
  const backend *b = backend_find(id);
  return b && !b->is_peer && !backend_is_oracle(id);
}

bool backend_is_of(const char *id, const char *driver) {
  size_t size = strlen(driver);
  return size && !strncmp(id, driver, size) && (!id[size] || id[size] == ':');
}

vyre_status backend_unknown(const char *id, vyre_error *error) {
  strbuf all = {0};
  for (uint32_t i = 0; backend_at(i); i++)
    strbuf_printf(&all, "%s%s", i ? ", " : "", backend_at(i)->id);
  char *names = strbuf_take(&all, NULL);
  error_set(error, VYRE_ERROR_ARGUMENT, "there is no backend `%.40s`. Fix: use one of %.300s", id,
            names ? names : "those that `vyre devices` lists");
  free(names);
  return VYRE_ERROR_ARGUMENT;
}

const backend_form *backend_form_at(uint32_t index) {
  for (uint32_t i = 0; backend_at(i); i++)
    for (const backend_form *f = backend_at(i)->forms; f && f->name; f++)
      if (!index--) return f;
  return NULL;
}

uint32_t vyre_backend_count(void) {
  uint32_t count = LISTED;
  while (backend_at(count)) count++;
  return count;
}

const char *vyre_backend_name(uint32_t index) {
  return backend_at(index) ? backend_at(index)->id : NULL;
}

vyre_status vyre_backend_devices(const char *id, vyre_device *devices, uint32_t capacity,
                                 uint32_t *count, vyre_error *error) {
  FPENV_SCOPE;
  if (count) *count = 0;
  if (!id || !count || (capacity && !devices))
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "vyre_backend_devices was called with NULL. Fix: pass a backend's id, as many "
                     "devices as capacity says, and where their number goes");
  const backend *b = backend_find(id);
  if (!b) return backend_unknown(id, error);
  return b->probe(b, devices, capacity, count, error);
}

static uint32_t first_usable(const vyre_device *devices, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (!devices[i].unusable[0]) return i;
  return count;
}

bool backend_device(const char *id, vyre_device *out) {
  vyre_device devices[NUMBERED_MOST];
  uint32_t count = 0;
  if (vyre_backend_devices(id, devices, NUMBERED_MOST, &count, NULL) != VYRE_OK || !count)
    return false;
  if (count > NUMBERED_MOST) count = NUMBERED_MOST;
  uint32_t first = first_usable(devices, count);
  *out = devices[first < count ? first : 0];
  return true;
}

static bool is_wanted(const backend *b, const vyre_device *device, bool only_offered) {
  return !device->unusable[0] && (!only_offered || !b->is_offered || b->is_offered(device));
}

uint32_t backend_device_ids(const char *id, bool only_offered, const char **out, uint32_t capacity,
                            vyre_error *error) {
  const backend *b = backend_find(id);
  vyre_device devices[NUMBERED_MOST];
  uint32_t count = 0, found = 0;
  if (vyre_backend_devices(id, devices, NUMBERED_MOST, &count, error) != VYRE_OK) return 0;
  if (count > NUMBERED_MOST) count = NUMBERED_MOST;
  uint32_t first = first_usable(devices, count);
  if (first == count)
    error_set(error, VYRE_ERROR_UNSUPPORTED,
              "backend `%s` has no device that can be used. Fix: see `vyre devices %s`", id, id);
  for (uint32_t i = first; i < count && found < capacity; i++) {
    bool is_own = i == first || (b->has_devices && !b->base);
    if (!is_own || !is_wanted(b, &devices[i], only_offered)) continue;
    const backend *one = i == first ? b : numbered_find(b, i + 1);
    if (one) out[found++] = one->id;
  }
  if (first < count && !found)
    error_set(error, VYRE_ERROR_UNSUPPORTED,
              "no device of `%s` is used without being named. Fix: name it, as with --backend %s, "
              "or see docs/BACKENDS.md",
              id, id);
  return found;
}

void device_adapter_name(char *out, size_t size, const char *id, const char *device,
                         const char *driver) {
  snprintf(out, size, "%s-%s-%s", id, device, driver);
  char *to = out;
  for (const char *from = out; *from; from++) {
    char safe = ascii_is_word(*from) || *from == '.' ? ascii_lower(*from) : '-';
    if (safe != '-' || (to > out && to[-1] != '-')) *to++ = safe; // no runs of dashes
  }
  *to = 0;
}
