// SPDX-License-Identifier: MIT
//
// Buffers that the runtime owns, and what they mean for the choice of a variant: among those that
// were proven for a plan, the one is taken whose time, with the copies that it would need just now,
// is least.
#include "runtime/buffer.h"

#include "base/error.h"
#include "base/fork.h"
#include "base/fpenv.h"
#include "cluster/cluster.h"
#include "ir/limits.h"
#include "runtime/kernel.h"
#include "runtime/runtime.h"

#include <stdlib.h>
#include <string.h>

// ---- life ---------------------------------------------------------------------------------------

vyre_status vyre_buffer_new(vyre_runtime *rt, size_t size_bytes, vyre_buffer **out,
                            vyre_error *error) {
  FPENV_SCOPE;
  if (!rt || !out)
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "vyre_buffer_new was called with NULL. Fix: pass a runtime and where the "
                     "buffer goes");
  *out = NULL;
  if (size_bytes > LIMIT_LENGTH * sizeof(uint64_t))
    return error_set(error, VYRE_ERROR_LIMIT,
                     "a buffer of %zu bytes is above what a program can use. Fix: split it",
                     size_bytes);
  vyre_status status = runtime_check(rt, error);
  if (status != VYRE_OK) return status;
  vyre_buffer *b = malloc(sizeof *b);
  if (!b) return error_out_of_memory(error);
  if (rt->cluster)
    status = cluster_buffer_init(rt->cluster, b, size_bytes, error);
  else if (!resident_init(b, size_bytes))
    status = error_out_of_memory(error);
  if (status != VYRE_OK) {
    free(b);
    return status;
  }
  b->runtime = rt;
  pthread_mutex_lock(&rt->lock);
  b->next = rt->buffers;
  rt->buffers = b;
  pthread_mutex_unlock(&rt->lock);
  *out = b;
  return VYRE_OK;
}

void vyre_buffer_free(vyre_buffer *b) {
  FPENV_SCOPE;
  if (!b || b->generation != fork_generation()) return; // it is the parent's
  vyre_runtime *rt = b->runtime;
  pthread_mutex_lock(&rt->lock);
  vyre_buffer **at = &rt->buffers;
  while (*at != b) at = &(*at)->next;
  *at = b->next;
  pthread_mutex_unlock(&rt->lock);
  if (rt->cluster)
    cluster_buffer_fini(rt->cluster, b);
  else
    resident_fini(b);
  free(b);
}

static vyre_status check_range(const vyre_buffer *b, size_t offset, const void *data,
                               size_t size_bytes, vyre_error *error) {
  if (!b || (!data && size_bytes))
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "a buffer was read or written with NULL. Fix: pass a buffer and memory");
  if (b->generation != fork_generation()) return fork_check(b->generation, "this buffer", error);
  if (offset <= b->size_bytes && size_bytes <= b->size_bytes - offset) return VYRE_OK;
  return error_set(error, VYRE_ERROR_ARGUMENT,
                   "%zu bytes at %zu are outside of a buffer of %zu. Fix: stay inside, or make it "
                   "larger",
                   size_bytes, offset, b->size_bytes);
}

// Ranges are looked at by the cluster, so that a wrong one is an error on every rank.
static vyre_status write_clustered(vyre_buffer *b, size_t offset, const void *data,
                                   size_t size_bytes, vyre_error *error) {
  vyre_status status = fork_check(b->generation, "this buffer", error);
  if (status != VYRE_OK) return status;
  return cluster_write(b->runtime->cluster, b, data || !size_bytes ? offset : SIZE_MAX, data,
                       size_bytes, error);
}

static vyre_status read_clustered(vyre_buffer *b, size_t offset, void *data, size_t size_bytes,
                                  vyre_error *error) {
  vyre_status status = fork_check(b->generation, "this buffer", error);
  if (status != VYRE_OK) return status;
  return cluster_read(b->runtime->cluster, b, data || !size_bytes ? offset : SIZE_MAX, data,
                      size_bytes, error);
}

vyre_status vyre_buffer_write(vyre_buffer *b, size_t offset, const void *data, size_t size_bytes,
                              vyre_error *error) {
  FPENV_SCOPE;
  if (b && b->layout) return write_clustered(b, offset, data, size_bytes, error);
  vyre_status status = check_range(b, offset, data, size_bytes, error);
  // The rest of it must not be lost; all of it need not be fetched first.
  bool is_whole = status == VYRE_OK && size_bytes == b->size_bytes;
  if (status == VYRE_OK && !is_whole) status = resident_to_host(b, error);
  if (status != VYRE_OK) return status;
  if (size_bytes) memcpy((char *)b->host + offset, data, size_bytes);
  resident_host_written(b);
  return VYRE_OK;
}

vyre_status vyre_buffer_read(vyre_buffer *b, size_t offset, void *data, size_t size_bytes,
                             vyre_error *error) {
  FPENV_SCOPE;
  if (b && b->layout) return read_clustered(b, offset, data, size_bytes, error);
  vyre_status status = check_range(b, offset, data, size_bytes, error);
  if (status == VYRE_OK) status = resident_to_host(b, error);
  if (status == VYRE_OK && size_bytes) memcpy(data, (char *)b->host + offset, size_bytes);
  return status;
}

// ---- dispatches ---------------------------------------------------------------------------------

vyre_status buffers_as_spans(const vyre_kernel *k, const vyre_dispatch_args *args,
                             vyre_span spans[LIMIT_BUFFERS], vyre_dispatch_args *out,
                             vyre_error *error) {
  *out = *args;
  if (args->buffer_count > LIMIT_BUFFERS)
    return error_set(error, VYRE_ERROR_LIMIT,
                     "%u buffers are above the limit of %d. Fix: pass those that the program has",
                     args->buffer_count, LIMIT_BUFFERS);
  for (uint32_t i = 0; i < args->buffer_count; i++) {
    const vyre_buffer *b = args->handles[i];
    if (!b && !args->buffers)
      return error_set(error, VYRE_ERROR_BINDING,
                       "buffer %u has neither a handle nor a span. Fix: pass one of them", i);
    if (b && b->runtime != k->runtime)
      return error_set(error, VYRE_ERROR_ARGUMENT,
                       "buffer %u belongs to another runtime. Fix: use buffers of the kernel's", i);
    spans[i] = b ? (vyre_span){b->host, b->size_bytes} : args->buffers[i];
  }
  out->buffers = spans;
  return VYRE_OK;
}

bool buffers_to_host(const vyre_dispatch_args *args) {
  for (uint32_t i = 0; args->handles && i < args->buffer_count; i++)
    if (args->handles[i] && resident_to_host(args->handles[i], NULL) != VYRE_OK) return false;
  return true;
}

// ---- distance -----------------------------------------------------------------------------------

// The fastest variant of a backend that is known to be right.
static const variant *route_of(const plan *p, const backend *b) {
  const variant *best = NULL;
  for (uint32_t i = 0; i < atomic_load(&((plan *)p)->variant_count); i++) {
    const variant *v = p->variants[i];
    if (executable_backend(v->code->executable) != b || !v->resident_ns) continue;
    if (!code_is_trusted(v->code)) continue;
    if (!best || v->resident_ns < best->resident_ns) best = v;
  }
  return best;
}

static double copy_ns(const plan *p, const backend *b, uint64_t bytes) {
  const variant *v = bytes ? route_of(p, b) : NULL;
  return v ? v->copy_ns_per_byte * (double)bytes : 0;
}

static double cost_of(const plan *p, const variant *v, const vyre_dispatch_args *args) {
  const backend *b = executable_backend(v->code->executable);
  double ns = (double)v->resident_ns;
  for (uint32_t i = 0; i < args->buffer_count; i++) {
    vyre_buffer *handle = args->handles[i];
    if (!handle) { // a span is copied each time, there and back
      ns += 2 * copy_ns(p, b, args->buffers[i].size_bytes);
      continue;
    }
    resident_way way = resident_distance(handle, b);
    ns += copy_ns(p, way.owner, way.back) + copy_ns(p, b, way.there);
  }
  return ns;
}

variant *buffers_nearest(vyre_kernel *k, const plan *p, variant *usual,
                         const vyre_dispatch_args *args) {
  variant *best = usual;
  double best_ns = 0;
  if (atomic_load_explicit(&((plan *)p)->state, memory_order_acquire) != PLAN_LEARNED) return usual;
  pthread_mutex_lock(&k->lock);
  for (uint32_t i = 0; i < atomic_load(&((plan *)p)->variant_count); i++) {
    variant *v = p->variants[i];
    if (v != route_of(p, executable_backend(v->code->executable))) continue;
    double ns = cost_of(p, v, args);
    if (best_ns > 0 && ns >= best_ns) continue;
    best_ns = ns;
    best = v;
  }
  pthread_mutex_unlock(&k->lock);
  // The same backend: what was found for these very arguments is better than what is for all.
  return best->code->backend == usual->code->backend ? usual : best;
}
