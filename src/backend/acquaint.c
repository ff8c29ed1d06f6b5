// SPDX-License-Identifier: MIT
#include "backend/acquaint.h"

#include "backend/cache.h"
#include "backend/executable.h"
#include "backend/first_use.h"
#include "base/error.h"
#include "base/fork.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEVICES = 16 };
#define TIMEOUT_NS UINT64_C(30000000000)

// Devices that this process knows to have been compared.
static struct {
  pthread_mutex_t lock, comparing;
  char adapters[MOST_DEVICES][128];
  uint32_t count;
} known = {.lock = PTHREAD_MUTEX_INITIALIZER, .comparing = PTHREAD_MUTEX_INITIALIZER};

// A comparison takes too long for fork() to wait for; the child has none under way.
static void begin_anew(void) {
  pthread_mutex_init(&known.lock, NULL);
  pthread_mutex_init(&known.comparing, NULL);
}

__attribute__((constructor)) static void watch_forks(void) {
  fork_guard(&known.lock, begin_anew);
}

static bool is_in_memory(const char *adapter) {
  bool found = false;
  pthread_mutex_lock(&known.lock);
  for (uint32_t i = 0; i < known.count; i++) found |= !strcmp(known.adapters[i], adapter);
  pthread_mutex_unlock(&known.lock);
  return found;
}

static void put_into_memory(const char *adapter) {
  pthread_mutex_lock(&known.lock);
  if (known.count < MOST_DEVICES)
    snprintf(known.adapters[known.count++], sizeof known.adapters[0], "%s", adapter);
  pthread_mutex_unlock(&known.lock);
}

// The name of a device has the driver's version in it.
static void make_key(const char *adapter, cache_key *key) {
  cache_key_init(key, "acquaint");
  cache_key_add_string(key, vyre_version());
  cache_key_add_string(key, first_use_version());
  cache_key_add_string(key, adapter);
}

static void make_any_key(cache_key *key) {
  cache_key_init(key, "acquaint-any");
  cache_key_add_string(key, vyre_version());
  cache_key_add_string(key, first_use_version());
}

bool acquaint_has_met_any(void) {
  cache_key key;
  void *data;
  size_t size;
  pthread_mutex_lock(&known.lock);
  bool has_met = known.count > 0;
  pthread_mutex_unlock(&known.lock);
  if (has_met) return true;
  make_any_key(&key);
  if (!cache_load(&key, &data, &size)) return false;
  free(data);
  return true;
}

static bool is_known(const char *adapter) {
  cache_key key;
  void *data;
  size_t size;
  if (is_in_memory(adapter)) return true;
  make_key(adapter, &key);
  if (!cache_load(&key, &data, &size)) return false;
  free(data);
  put_into_memory(adapter);
  return true;
}

// ---- comparing ----------------------------------------------------------------------------------

// The program as it is, without passes.
static vyre_status ask(void *device, vyre_program *p, const vyre_dispatch_args *args,
                       vyre_error *error) {
  const backend *b = device;
  vyre_dispatch_args limited = *args;
  vyre_executable *e;
  vyre_status status = executable_compile(p, b->id, NULL, &e, error);
  if (status != VYRE_OK) return status;
  limited.timeout_ns = TIMEOUT_NS;
  status = executable_dispatch(e, &limited, NULL, error);
  vyre_executable_release(e);
  return status;
}

// A driver that lost its device says so at the next compile.
static bool is_lost(void *device) {
  const backend *b = device;
  vyre_device found;
  return !backend_device(b->id, &found) || found.unusable[0];
}

static vyre_status compare_once(const backend *b, const char *adapter, vyre_error *error) {
  const first_use how = {.device = (void *)b, .ask = ask, .is_lost = is_lost, .has_floats = true};
  conformance_failure failures[FIRST_USE_MOST];
  vyre_status status = VYRE_OK;
  uint32_t failed = 0;
  cache_key key;
  pthread_mutex_lock(&known.comparing);
  if (!is_known(adapter)) {
    status = first_use_run(&how, failures, &failed, error);
    if (status == VYRE_OK && failed) status = first_use_record(adapter, failures, failed, error);
    make_key(adapter, &key);
    if (status == VYRE_OK) cache_store(&key, &failed, sizeof failed);
    make_any_key(&key);
    if (status == VYRE_OK) cache_store(&key, &failed, sizeof failed);
    if (status == VYRE_OK) put_into_memory(adapter);
  }
  pthread_mutex_unlock(&known.comparing);
  return status;
}

bool acquaint_allows(const char *id, bool may_compare, vyre_error *error) {
  const backend *b = backend_find(id);
  vyre_device device;
  if (!b || !b->is_compared_first) return true;
  // A backend without devices says so itself, when it is asked to compile.
  if (!backend_device(id, &device)) return true;
  if (is_known(device.adapter)) return true;
  if (may_compare) return compare_once(b, device.adapter, error) == VYRE_OK;
  error_set(error, VYRE_ERROR_UNSUPPORTED,
            "%s was not compared with the reference yet. Fix: none is needed; that is done in the "
            "background",
            device.adapter);
  return false;
}
