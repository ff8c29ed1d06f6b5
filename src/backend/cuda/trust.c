// SPDX-License-Identifier: MIT
#include "backend/cuda/trust.h"

#include "backend/cache.h"
#include "backend/cuda/cuda.h"
#include "backend/first_use.h"
#include "base/error.h"
#include "base/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static vyre_status ask(void *device, vyre_program *program, const vyre_dispatch_args *args,
                       vyre_error *error) {
  static const volatile uint32_t never = 0;
  vyre_report report = {0};
  void *state;
  launch l;
  vyre_status status = launch_init(&l, program, args, error);
  if (status != VYRE_OK) return status;
  status = cuda_compile_for(device, program, false, &never, &state, error);
  if (status == VYRE_OK) {
    status = cuda_backend.dispatch(state, &l, &report, error);
    cuda_backend.release(state);
  }
  launch_fini(&l);
  return status;
}

static bool is_lost(void *device) {
  return atomic_load(&((cuda_device *)device)->is_lost);
}

// ---- what was found before ----------------------------------------------------------------------

typedef struct stored_verdict {
  uint32_t is_right;
  char failed[96];
} stored_verdict;

static void make_key(const cuda_device *d, cache_key *key) {
  cache_key_init(key, "cuda-first-use");
  cache_key_add_string(key, vyre_version());
  cache_key_add_string(key, first_use_version());
  cache_key_add_number(key, module_stamp("libvyre-llvm.so"));
  cache_key_add_string(key, d->info.adapter); // of twins, each is asked
  cache_key_add_string(key, d->name);
  cache_key_add_number(key, (uint64_t)(100 * d->major + d->minor));
  cache_key_add_number(key, (uint64_t)d->api.version);
}

static bool load_verdict(const cache_key *key, stored_verdict *out) {
  void *data;
  size_t size;
  if (!cache_load(key, &data, &size)) return false;
  bool ok = size == sizeof *out;
  if (ok) memcpy(out, data, sizeof *out);
  free(data);
  return ok && out->is_right <= 1 && !out->failed[sizeof out->failed - 1];
}

static vyre_status examine(cuda_device *d, stored_verdict *out, vyre_error *error) {
  const first_use how = {
      .device = d, .ask = ask, .is_lost = is_lost, .has_floats = true, .must_answer = true};
  conformance_failure failures[FIRST_USE_MOST];
  uint32_t failed;
  *out = (stored_verdict){0};
  vyre_status status = first_use_run(&how, failures, &failed, error);
  if (status != VYRE_OK) return status;
  out->is_right = !failed;
  if (failed) snprintf(out->failed, sizeof out->failed, "%s", failures[0].row);
  return failed ? first_use_record(d->info.adapter, failures, failed, error) : VYRE_OK;
}

static vyre_status decide(cuda_device *d, vyre_error *error) {
  cache_key key;
  stored_verdict v;
  make_key(d, &key);
  if (!load_verdict(&key, &v)) {
    vyre_status status = examine(d, &v, error);
    if (status != VYRE_OK) return status;
    cache_store(&key, &v, sizeof v);
  }
  memcpy(d->failed, v.failed, sizeof d->failed);
  d->verdict = v.is_right ? VERDICT_RIGHT : VERDICT_WRONG;
  return VYRE_OK;
}

vyre_status cuda_trust(cuda_device *d, vyre_error *error) {
  vyre_status status = VYRE_OK;
  pthread_mutex_lock(&d->trust_lock);
  if (d->verdict == VERDICT_OPEN) status = decide(d, error);
  bool is_right = d->verdict == VERDICT_RIGHT;
  pthread_mutex_unlock(&d->trust_lock);
  if (status != VYRE_OK || is_right) return status;
  return error_set(error, VYRE_ERROR_UNSUPPORTED,
                   "the CUDA device %s is not used: its answers differ from the reference's (%s). "
                   "Fix: update its driver, or use another backend",
                   d->info.adapter, d->failed);
}
