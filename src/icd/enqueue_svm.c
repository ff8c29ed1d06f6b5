// SPDX-License-Identifier: MIT
//
// Commands on shared virtual memory. Addresses may also be the host's own; what they point into is
// held while a command runs.
#include "icd/queue.h"
#include "icd/schedule.h"
#include "icd/svm.h"
#include "icd/transfer.h"

#include <stdlib.h>
#include <string.h>

// ---- free ---------------------------------------------------------------------------------------

typedef void(CL_CALLBACK free_call)(cl_command_queue queue, cl_uint count, void **list, void *data);

typedef struct free_work {
  free_call *call; // NULL: clSVMFree
  void *data;
  void **list;
  cl_uint count;
} free_work;

_Static_assert(sizeof(free_work) <= EVENT_WORK_BYTES, "the work of a free");

static cl_int run_free(cl_event e) {
  const free_work *w = EVENT_WORK(free_work, e);
  if (w->call)
    w->call(e->queue, w->count, w->list, w->data);
  else
    for (cl_uint i = 0; i < w->count; i++) clSVMFree(e->context, w->list[i]);
  return CL_SUCCESS;
}

static void end_free(cl_event e) {
  free(EVENT_WORK(free_work, e)->list);
}

cl_int clEnqueueSVMFree(cl_command_queue queue, cl_uint count, void **pointers, free_call *call,
                        void *data, cl_uint wait_count, const cl_event *wait_list, cl_event *out) {
  if (!queue_is(queue)) return CL_INVALID_COMMAND_QUEUE;
  if (!count != !pointers) return CL_INVALID_VALUE;
  cl_event e;
  cl_int code = event_begin(queue, CL_COMMAND_SVM_FREE, wait_count, wait_list, &e);
  if (code != CL_SUCCESS) return code;
  free_work *w = EVENT_WORK(free_work, e);
  *w = (free_work){call, data, malloc((count + 1) * sizeof(void *)), count};
  if (!w->list) {
    event_abandon(e);
    return CL_OUT_OF_HOST_MEMORY;
  }
  if (count) memcpy(w->list, pointers, count * sizeof(void *));
  e->run = run_free;
  e->end = end_free;
  return schedule_submit(e, wait_count, wait_list, CL_FALSE, out);
}

// ---- copy and fill ------------------------------------------------------------------------------

cl_int clEnqueueSVMMemcpy(cl_command_queue queue, cl_bool blocking, void *to, const void *from,
                          size_t size, cl_uint wait_count, const cl_event *wait_list,
                          cl_event *out) {
  if (!queue_is(queue)) return CL_INVALID_COMMAND_QUEUE;
  if (!to || !from) return CL_INVALID_VALUE;
  const char *x = to, *y = from;
  if (size && x < y + size && y < x + size) return CL_MEM_COPY_OVERLAP;
  cl_event e;
  cl_int code = event_begin(queue, CL_COMMAND_SVM_MEMCPY, wait_count, wait_list, &e);
  if (code != CL_SUCCESS) return code;
  cl_mem first = svm_hold(from), second = svm_hold(to);
  transfer_copy(e, (transfer_side){to, 0, 0}, (transfer_side){(void *)(uintptr_t)from, 0, 0},
                (transfer_box){size, 1, 1}, first, second);
  object_drop(first);
  object_drop(second);
  return schedule_submit(e, wait_count, wait_list, blocking, out);
}

cl_int clEnqueueSVMMemFill(cl_command_queue queue, void *at, const void *pattern,
                           size_t pattern_bytes, size_t size, cl_uint wait_count,
                           const cl_event *wait_list, cl_event *out) {
  if (!queue_is(queue)) return CL_INVALID_COMMAND_QUEUE;
  bool is_size = pattern_bytes && pattern_bytes <= TRANSFER_MOST_PATTERN &&
                 !(pattern_bytes & (pattern_bytes - 1));
  if (!at || !pattern || !is_size || (uintptr_t)at % pattern_bytes || size % pattern_bytes)
    return CL_INVALID_VALUE;
  cl_event e;
  cl_int code = event_begin(queue, CL_COMMAND_SVM_MEMFILL, wait_count, wait_list, &e);
  if (code != CL_SUCCESS) return code;
  cl_mem memory = svm_hold(at);
  transfer_fill(e, (transfer_side){at, 0, 0}, (transfer_box){size, 1, 1}, pattern, pattern_bytes,
                memory);
  object_drop(memory);
  return schedule_submit(e, wait_count, wait_list, CL_FALSE, out);
}

// ---- map and migrate ----------------------------------------------------------------------------

// A command that only has its place in the order: the memory is where it is.
static cl_int point(cl_command_queue queue, cl_command_type type, cl_bool blocking,
                    cl_uint wait_count, const cl_event *wait_list, cl_event *out) {
  cl_event e;
  cl_int code = event_begin(queue, type, wait_count, wait_list, &e);
  return code == CL_SUCCESS ? schedule_submit(e, wait_count, wait_list, blocking, out) : code;
}

cl_int clEnqueueSVMMap(cl_command_queue queue, cl_bool blocking, cl_map_flags flags, void *at,
                       size_t size, cl_uint wait_count, const cl_event *wait_list, cl_event *out) {
  const cl_map_flags plain = CL_MAP_READ | CL_MAP_WRITE;
  if (!queue_is(queue)) return CL_INVALID_COMMAND_QUEUE;
  if (!at || !size || (flags & ~(plain | CL_MAP_WRITE_INVALIDATE_REGION))) return CL_INVALID_VALUE;
  if ((flags & CL_MAP_WRITE_INVALIDATE_REGION) && (flags & plain)) return CL_INVALID_VALUE;
  return point(queue, CL_COMMAND_SVM_MAP, blocking, wait_count, wait_list, out);
}

cl_int clEnqueueSVMUnmap(cl_command_queue queue, void *at, cl_uint wait_count,
                         const cl_event *wait_list, cl_event *out) {
  if (!queue_is(queue)) return CL_INVALID_COMMAND_QUEUE;
  if (!at) return CL_INVALID_VALUE;
  return point(queue, CL_COMMAND_SVM_UNMAP, CL_FALSE, wait_count, wait_list, out);
}

static bool is_inside(const void *at, size_t size) {
  cl_mem m = svm_hold(at);
  bool is_whole = m && (!size || size <= (size_t)(m->data + m->size - (const char *)at));
  object_drop(m);
  return is_whole;
}

cl_int clEnqueueSVMMigrateMem(cl_command_queue queue, cl_uint count, const void **pointers,
                              const size_t *sizes, cl_mem_migration_flags flags, cl_uint wait_count,
                              const cl_event *wait_list, cl_event *out) {
  const cl_mem_migration_flags known =
      CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
  if (!queue_is(queue)) return CL_INVALID_COMMAND_QUEUE;
  if (!count || !pointers || (flags & ~known)) return CL_INVALID_VALUE;
  for (cl_uint i = 0; i < count; i++)
    if (!is_inside(pointers[i], sizes ? sizes[i] : 0)) return CL_INVALID_VALUE;
  return point(queue, CL_COMMAND_SVM_MIGRATE_MEM, CL_FALSE, wait_count, wait_list, out);
}
