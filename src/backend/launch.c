// SPDX-License-Identifier: MIT
#include "backend/launch.h"

#include "backend/resident.h"
#include "base/clock.h"
#include "base/error.h"
#include "ir/limits.h"

#include <stdlib.h>

// Where the arrays are while they are being filled.
typedef struct storage {
  uint64_t *params, *lengths;
  uint64_t (*grids)[3];
  bound_buffer *buffers;
  launch_region *regions;
} storage;

static bool find_storage(launch *l, const vyre_program *p, storage *s) {
  *s = (storage){l->inline_params, l->inline_lengths, l->inline_grids, l->inline_buffers,
                 l->inline_regions};
  if (p->param_count <= LAUNCH_INLINE && p->buffer_count <= LAUNCH_INLINE &&
      p->region_count <= LAUNCH_INLINE)
    return true;
  size_t buffers = p->buffer_count * sizeof(bound_buffer);
  size_t regions = p->region_count * sizeof(launch_region);
  size_t grids = p->region_count * sizeof(uint64_t[3]);
  size_t words = ((size_t)p->param_count + p->buffer_count) * sizeof(uint64_t);
  char *at = l->heap = malloc(buffers + regions + grids + words + 1);
  if (!at) return false;
  s->buffers = (bound_buffer *)at;
  s->regions = (launch_region *)(at += buffers);
  s->grids = (uint64_t(*)[3])(at += regions);
  s->params = (uint64_t *)(at += grids);
  s->lengths = s->params + p->param_count;
  return true;
}

static vyre_status bind_params(const vyre_program *p, const vyre_dispatch_args *args,
                               uint64_t *params, vyre_error *error) {
  if (args->param_count != p->param_count || (p->param_count && !args->params))
    return error_set(error, VYRE_ERROR_BINDING,
                     "program `%s` takes %u parameters, %u were passed. Fix: pass one scalar per "
                     "declared parameter, in order",
                     p->name, p->param_count, args->params ? args->param_count : 0);
  for (uint32_t i = 0; i < p->param_count; i++) {
    // A lowered program has the bits of an f16 as a u16.
    bool has_bits = p->target && p->params[i].type == VYRE_U16 && args->params[i].type == VYRE_F16;
    if (args->params[i].type != p->params[i].type && !has_bits)
      return error_set(error, VYRE_ERROR_BINDING,
                       "parameter `%s` is %s, but a %s was passed. Fix: pass a %s",
                       p->params[i].name, vyre_type_name(p->params[i].type),
                       vyre_type_name(args->params[i].type), vyre_type_name(p->params[i].type));
    params[i] = type_canonical_bits(p->params[i].type, args->params[i].bits);
  }
  return VYRE_OK;
}

bool launch_can_be_memory(const vyre_span *span) {
  if (!span->data) return !span->size_bytes;
  return span->size_bytes <= UINTPTR_MAX - (uintptr_t)span->data;
}

static vyre_status bind_span(const buffer *b, const vyre_span *span, bound_buffer *bound,
                             uint64_t *length, vyre_error *error) {
  unsigned size = type_bytes(b->type); // a power of two: a division takes as long as the rest
  if (!launch_can_be_memory(span))
    return error_set(error, VYRE_ERROR_BINDING,
                     "buffer `%s` is bound to %p with %zu bytes, which is no memory. Fix: pass its "
                     "memory and its size",
                     b->name, span->data, span->size_bytes);
  if ((uintptr_t)span->data & (size - 1))
    return error_set(error, VYRE_ERROR_BINDING,
                     "the memory of buffer `%s` is not aligned to its %u-byte elements. Fix: "
                     "allocate it with malloc or as an array of %s",
                     b->name, size, vyre_type_name(b->type));
  bound->data = span->data;
  *length = span->size_bytes >> __builtin_ctz(size);
  if (*length <= LIMIT_LENGTH) return VYRE_OK;
  return error_set(error, VYRE_ERROR_LIMIT,
                   "buffer `%s` has %llu elements, above the limit of %u. Fix: split it", b->name,
                   (unsigned long long)*length, LIMIT_LENGTH);
}

static bool has_all_handles(const vyre_dispatch_args *args) {
  for (uint32_t i = 0; i < args->buffer_count; i++)
    if (!args->handles || !args->handles[i]) return false;
  return true;
}

static vyre_status bind_buffers(const vyre_program *p, const vyre_dispatch_args *args, storage *s,
                                vyre_error *error) {
  uint32_t wanted = 0;
  for (uint32_t i = 0; i < p->buffer_count; i++) wanted += !p->buffers[i].is_transient;
  if (args->buffer_count != wanted || (wanted && !args->buffers && !has_all_handles(args)))
    return error_set(error, VYRE_ERROR_BINDING,
                     "program `%s` takes %u buffers, %u were passed. Fix: pass one span per "
                     "declared buffer, in order, without the transient ones",
                     p->name, wanted, args->buffers || args->handles ? args->buffer_count : 0);
  for (uint32_t i = 0, next = 0; i < p->buffer_count; i++) {
    s->buffers[i].data = NULL;
    s->lengths[i] = 0;
    if (p->buffers[i].is_transient) continue;
    vyre_buffer *handle = args->handles ? args->handles[next] : NULL;
    vyre_span span = handle ? (vyre_span){handle->host, handle->size_bytes} : args->buffers[next];
    next++;
    vyre_status status = bind_span(&p->buffers[i], &span, &s->buffers[i], &s->lengths[i], error);
    if (status != VYRE_OK) return status;
    s->buffers[i].length = s->lengths[i];
  }
  return VYRE_OK;
}

// A declared length must be there; the buffer then has just that many elements.
static vyre_status check_lengths(const vyre_program *p, storage *s, vyre_error *error) {
  for (uint32_t i = 0; i < p->buffer_count; i++) {
    const buffer *b = &p->buffers[i];
    if (b->length && !b->is_transient && s->buffers[i].length < s->lengths[i])
      return error_set(error, VYRE_ERROR_BINDING,
                       "buffer `%s` has %llu elements, but the program needs %llu. Fix: pass at "
                       "least %llu bytes",
                       b->name, (unsigned long long)s->buffers[i].length,
                       (unsigned long long)s->lengths[i],
                       (unsigned long long)(s->lengths[i] * type_bytes(b->type)));
    s->buffers[i].length = s->lengths[i];
  }
  return VYRE_OK;
}

static vyre_status check_aliasing(const vyre_program *p, const storage *s, vyre_error *error) {
  for (uint32_t i = 0; i < p->buffer_count; i++) {
    if (!(p->buffers[i].access & VYRE_WRITE) || !s->buffers[i].data) continue;
    uintptr_t first = (uintptr_t)s->buffers[i].data;
    uintptr_t end = first + s->buffers[i].length * type_bytes(p->buffers[i].type);
    for (uint32_t k = 0; k < p->buffer_count; k++) {
      uintptr_t other = (uintptr_t)s->buffers[k].data;
      uintptr_t other_end = other + s->buffers[k].length * type_bytes(p->buffers[k].type);
      if (k == i || !other || other >= end || first >= other_end) continue;
      return error_set(error, VYRE_ERROR_BINDING,
                       "buffers `%s` and `%s` overlap and at least one is written. Fix: pass "
                       "separate memory, or declare one readwrite buffer",
                       p->buffers[i].name, p->buffers[k].name);
    }
  }
  return VYRE_OK;
}

static vyre_status shape_region(const region *r, const uint64_t grid[3], const uint32_t wanted[3],
                                launch_region *out, vyre_error *error) {
  bool is_given = wanted[0] || wanted[1] || wanted[2];
  out->invocations = 1;
  for (int k = 0; k < 3; k++) {
    out->grid[k] = grid[k];
    out->workgroup[k] = r->workgroup[k];
    if (is_given && r->is_elastic) out->workgroup[k] = wanted[k] ? wanted[k] : 1;
    if (__builtin_mul_overflow(out->invocations, grid[k], &out->invocations))
      out->invocations = UINT64_MAX;
    if (!r->is_elastic && grid[k] % r->workgroup[k])
      return error_set(error, VYRE_ERROR_BINDING,
                       "region `%s` is rigid and its grid of %llu along axis %d is no multiple of "
                       "the workgroup's %u. Fix: pad the data, or change the workgroup",
                       r->name, (unsigned long long)grid[k], k, r->workgroup[k]);
  }
  if (out->invocations >> 62)
    return error_set(error, VYRE_ERROR_LIMIT,
                     "region `%s` would run more than 2^62 invocations. Fix: use a smaller grid",
                     r->name);
  if ((uint64_t)out->workgroup[0] * out->workgroup[1] * out->workgroup[2] <= LIMIT_WORKGROUP)
    return VYRE_OK;
  return error_set(error, VYRE_ERROR_LIMIT,
                   "a workgroup of %u x %u x %u is above %d invocations. Fix: use a smaller one",
                   out->workgroup[0], out->workgroup[1], out->workgroup[2], LIMIT_WORKGROUP);
}

static vyre_status check_shape(const uint32_t wanted[3], vyre_error *error) {
  for (int k = 0; k < 3; k++)
    if (wanted[k] > LIMIT_WORKGROUP)
      return error_set(
          error, VYRE_ERROR_LIMIT,
          "a workgroup of %u x %u x %u is above %d invocations. Fix: use a smaller one", wanted[0],
          wanted[1], wanted[2], LIMIT_WORKGROUP);
  return VYRE_OK;
}

static vyre_status fill(launch *l, storage *s, const vyre_dispatch_args *args, vyre_error *error) {
  const vyre_program *p = l->program;
  vyre_status status = bind_params(p, args, s->params, error);
  if (status == VYRE_OK) status = bind_buffers(p, args, s, error);
  if (status == VYRE_OK) status = check_shape(args->workgroup, error);
  if (status != VYRE_OK) return status;
  program_extents extents = {args->params, s->lengths, s->grids};
  status = program_eval_extents(p, &extents, error);
  if (status == VYRE_OK) status = check_lengths(p, s, error);
  if (status == VYRE_OK) status = check_aliasing(p, s, error);
  for (uint32_t i = 0; i < p->region_count && status == VYRE_OK; i++)
    status = shape_region(&p->regions[i], s->grids[i], args->workgroup, &s->regions[i], error);
  return status;
}

vyre_status launch_init(launch *l, const vyre_program *program, const vyre_dispatch_args *args,
                        vyre_error *error) {
  storage s;
  l->program = program;
  l->heap = NULL;
  if (!find_storage(l, program, &s)) return error_out_of_memory(error);
  vyre_status status = fill(l, &s, args, error);
  if (status != VYRE_OK) {
    launch_fini(l);
    return status;
  }
  l->params = s.params;
  l->buffers = s.buffers;
  l->regions = s.regions;
  l->handles = args->handles;
  l->has_workgroup = args->workgroup[0] || args->workgroup[1] || args->workgroup[2];
  l->fuel = args->fuel;
  l->threads = args->threads;
  l->timeout_ns = args->timeout_ns;
  l->stop = args->stop;
  l->part = NULL;
  l->deadline_ns = UINT64_MAX;
  if (l->timeout_ns && __builtin_add_overflow(clock_now_ns(), l->timeout_ns, &l->deadline_ns))
    l->deadline_ns = UINT64_MAX;
  return VYRE_OK;
}

void launch_fini(launch *l) {
  free(l->heap);
  l->heap = NULL;
}

vyre_buffer *launch_handle(const launch *l, uint32_t buffer) {
  uint32_t bound = 0;
  if (!l->handles || l->program->buffers[buffer].is_transient) return NULL;
  for (uint32_t i = 0; i < buffer; i++) bound += !l->program->buffers[i].is_transient;
  return l->handles[bound];
}

bool launch_may_end(const launch *l) {
  return l->timeout_ns || l->stop;
}

bool launch_must_end(const launch *l) {
  if (l->stop && __atomic_load_n(l->stop, __ATOMIC_RELAXED)) return true;
  return l->timeout_ns && clock_now_ns() > l->deadline_ns;
}

vyre_status launch_timeout_error(const char *region, vyre_error *error) {
  return error_set(error, VYRE_ERROR_TIMEOUT,
                   "region `%s` passed the time limit. Fix: look for a loop that does not end, or "
                   "allow more time",
                   region);
}

vyre_status launch_stopped_error(const launch *l, const char *region, vyre_error *error) {
  bool is_asked = l->stop && *l->stop && (!l->timeout_ns || clock_now_ns() < l->deadline_ns);
  if (!is_asked) return launch_timeout_error(region, error);
  return error_set(error, VYRE_ERROR_STOPPED,
                   "the caller ended the dispatch in region `%s`; what it wrote is unspecified. "
                   "Fix: dispatch again with fresh buffers",
                   region);
}

vyre_status launch_divergence_error(const char *region, vyre_error *error) {
  return error_set(error, VYRE_ERROR_DIVERGENCE,
                   "in region `%s` a barrier was not reached by the whole workgroup. Fix: move the "
                   "barrier out of conditions, loops and returns that differ between invocations",
                   region);
}

vyre_status launch_compiling_error(const vyre_program *program, vyre_error *error) {
  return error_set(error, VYRE_ERROR_TIMEOUT,
                   "compiling `%s` passed the time limit; it has not run. Fix: allow more time, or "
                   "compile without a limit before: what was compiled is kept",
                   program->name);
}

vyre_status launch_thread_error(vyre_error *error) {
  return error_set(error, VYRE_ERROR_BACKEND,
                   "no thread could be started to watch the time limit. Fix: raise the limit of "
                   "processes, or do without a timeout");
}

uint64_t launch_invocations(const launch *l, uint32_t region_count) {
  uint64_t sum = 0;
  for (uint32_t r = 0; r < region_count; r++) {
    uint64_t more = l->regions[r].invocations;
    sum = more > UINT64_MAX - sum ? UINT64_MAX : sum + more;
  }
  return sum;
}
