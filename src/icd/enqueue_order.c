// SPDX-License-Identifier: MIT
//
// Markers, barriers, and native kernels.
#include "icd/memory.h"
#include "icd/queue.h"
#include "icd/schedule.h"

#include <stdlib.h>
#include <string.h>

static cl_int point(cl_command_queue queue, cl_command_type type, bool is_barrier,
                    cl_uint wait_count, const cl_event *wait_list, cl_event *out) {
  cl_event e;
  cl_int code = event_begin(queue, type, wait_count, wait_list, &e);
  if (code != CL_SUCCESS) return code;
  e->is_barrier = is_barrier;
  e->waits_for_all = !wait_count;
  return schedule_submit(e, wait_count, wait_list, CL_FALSE, out);
}

cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint wait_count,
                                   const cl_event *wait_list, cl_event *out) {
  return point(queue, CL_COMMAND_MARKER, false, wait_count, wait_list, out);
}

cl_int clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint wait_count,
                                    const cl_event *wait_list, cl_event *out) {
  return point(queue, CL_COMMAND_BARRIER, true, wait_count, wait_list, out);
}

cl_int clEnqueueMarker(cl_command_queue queue, cl_event *out) {
  if (!queue_is(queue)) return CL_INVALID_COMMAND_QUEUE;
  return out ? point(queue, CL_COMMAND_MARKER, false, 0, NULL, out) : CL_INVALID_VALUE;
}

cl_int clEnqueueBarrier(cl_command_queue queue) {
  return point(queue, CL_COMMAND_BARRIER, true, 0, NULL, NULL);
}

cl_int clEnqueueWaitForEvents(cl_command_queue queue, cl_uint count, const cl_event *list) {
  if (!queue_is(queue)) return CL_INVALID_COMMAND_QUEUE;
  if (!count || !list) return CL_INVALID_VALUE;
  cl_int code = point(queue, CL_COMMAND_BARRIER, true, count, list, NULL);
  return code == CL_INVALID_EVENT_WAIT_LIST ? CL_INVALID_EVENT : code;
}

// ---- native kernels -----------------------------------------------------------------------------

typedef struct native_work {
  void(CL_CALLBACK *call)(void *);
  void *args; // a copy of the client's
  cl_uint count;
  cl_mem *held;
} native_work;

_Static_assert(sizeof(native_work) <= EVENT_WORK_BYTES, "the work of a native kernel");

static cl_int run_native(cl_event e) {
  const native_work *w = EVENT_WORK(native_work, e);
  w->call(w->args);
  return CL_SUCCESS;
}

static void end_native(cl_event e) {
  native_work *w = EVENT_WORK(native_work, e);
  for (cl_uint i = 0; i < w->count; i++) object_drop(w->held[i]);
  free(w->held);
  free(w->args);
}

// Copies the arguments, and puts addresses of memory where the client says that handles are.
static cl_int take_args(native_work *w, const void *args, size_t size, cl_uint count,
                        const cl_mem *list, const void **places) {
  w->args = malloc(size + 1);
  w->held = calloc(count + 1, sizeof *w->held);
  if (!w->args || !w->held) return CL_OUT_OF_HOST_MEMORY;
  if (size) memcpy(w->args, args, size);
  for (cl_uint i = 0; i < count; i++) {
    size_t at = (size_t)((const char *)places[i] - (const char *)args);
    if (at > size || size - at < sizeof(void *)) return CL_INVALID_VALUE;
    if (list[i]) memcpy((char *)w->args + at, &list[i]->data, sizeof(void *));
    w->held[w->count++] = object_hold(list[i]);
  }
  return CL_SUCCESS;
}

cl_int clEnqueueNativeKernel(cl_command_queue queue, void(CL_CALLBACK *call)(void *), void *args,
                             size_t size, cl_uint count, const cl_mem *list, const void **places,
                             cl_uint wait_count, const cl_event *wait_list, cl_event *out) {
  if (!queue_is(queue)) return CL_INVALID_COMMAND_QUEUE;
  if (!call || (!args && (size || count)) || (args && !size)) return CL_INVALID_VALUE;
  if (count ? !list || !places : list || places) return CL_INVALID_VALUE;
  for (cl_uint i = 0; i < count; i++)
    if (list[i] && memory_check(list[i], queue->context) != CL_SUCCESS)
      return CL_INVALID_MEM_OBJECT;
  cl_event e;
  cl_int code = event_begin(queue, CL_COMMAND_NATIVE_KERNEL, wait_count, wait_list, &e);
  if (code != CL_SUCCESS) return code;
  native_work *w = EVENT_WORK(native_work, e);
  w->call = call;
  e->run = run_native;
  e->end = end_native;
  code = take_args(w, args, size, count, list, places);
  if (code == CL_SUCCESS) return schedule_submit(e, wait_count, wait_list, CL_FALSE, out);
  event_abandon(e);
  return code;
}
