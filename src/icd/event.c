// SPDX-License-Identifier: MIT
#include "icd/event.h"

#include "icd/info.h"
#include "icd/schedule.h"

#include <stdlib.h>

static bool event_is(cl_event event) {
  return object_is(event, OBJECT_EVENT) && event->generation == schedule_generation();
}

void event_fini(void *handle) {
  cl_event e = handle;
  if (e->edges != e->few) free(e->edges);
  for (event_callback *c = e->callbacks, *next; c; c = next) {
    next = c->next;
    free(c);
  }
  object_drop(e->queue);
  object_drop(e->context);
}

static cl_event make(cl_context context, cl_command_queue queue, cl_command_type type) {
  cl_event made = object_new(OBJECT_EVENT);
  if (!made) return NULL;
  made->context = object_hold(context);
  made->queue = object_hold(queue);
  made->type = type;
  made->generation = schedule_generation();
  atomic_store(&made->status, CL_QUEUED);
  return made;
}

static cl_int check_wait_list(cl_context context, cl_uint count, const cl_event *list) {
  if (!count != !list) return CL_INVALID_EVENT_WAIT_LIST;
  for (cl_uint i = 0; i < count; i++) {
    if (!event_is(list[i])) return CL_INVALID_EVENT_WAIT_LIST;
    if (list[i]->context != context) return CL_INVALID_CONTEXT;
  }
  return CL_SUCCESS;
}

cl_int event_begin(cl_command_queue queue, cl_command_type type, cl_uint wait_count,
                   const cl_event *wait_list, cl_event *out) {
  if (!queue_is(queue)) return CL_INVALID_COMMAND_QUEUE;
  cl_int code = check_wait_list(queue->context, wait_count, wait_list);
  if (code != CL_SUCCESS) return code;
  *out = make(queue->context, queue, type);
  return *out ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

void event_abandon(cl_event event) {
  if (event->end) event->end(event);
  clReleaseEvent(event);
}

// ---- the client's calls -------------------------------------------------------------------------

cl_int clRetainEvent(cl_event event) {
  return object_retain(event, OBJECT_EVENT, CL_INVALID_EVENT);
}

cl_int clReleaseEvent(cl_event event) {
  return object_release(event, OBJECT_EVENT, CL_INVALID_EVENT);
}

cl_int clWaitForEvents(cl_uint count, const cl_event *list) {
  if (!count || !list) return CL_INVALID_VALUE;
  for (cl_uint i = 0; i < count; i++)
    if (!event_is(list[i])) return CL_INVALID_EVENT;
  for (cl_uint i = 1; i < count; i++)
    if (list[i]->context != list[0]->context) return CL_INVALID_CONTEXT;
  cl_int code = CL_SUCCESS;
  for (cl_uint i = 0; i < count; i++)
    if (schedule_wait(list[i]) < 0) code = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  return code;
}

cl_int clGetEventInfo(cl_event event, cl_event_info what, size_t room, void *value, size_t *size) {
  info i = {0};
  if (!object_is(event, OBJECT_EVENT)) return CL_INVALID_EVENT;
  switch (what) {
  case CL_EVENT_COMMAND_QUEUE: info_pointer(&i, event->queue); break;
  case CL_EVENT_CONTEXT: info_pointer(&i, event->context); break;
  case CL_EVENT_COMMAND_TYPE: info_u32(&i, event->type); break;
  case CL_EVENT_COMMAND_EXECUTION_STATUS: info_u32(&i, (cl_uint)atomic_load(&event->status)); break;
  case CL_EVENT_REFERENCE_COUNT: info_u32(&i, object_count(event)); break;
  default: return CL_INVALID_VALUE;
  }
  return info_answer(&i, room, value, size);
}

cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t room, void *value,
                               size_t *size) {
  info i = {0};
  int time;
  if (!object_is(event, OBJECT_EVENT)) return CL_INVALID_EVENT;
  switch (what) {
  case CL_PROFILING_COMMAND_QUEUED: time = TIME_QUEUED; break;
  case CL_PROFILING_COMMAND_SUBMIT: time = TIME_SUBMIT; break;
  case CL_PROFILING_COMMAND_START: time = TIME_START; break;
  case CL_PROFILING_COMMAND_END:
  case CL_PROFILING_COMMAND_COMPLETE: time = TIME_END; break;
  default: return CL_INVALID_VALUE;
  }
  bool is_timed = event->queue && event->queue->is_profiled;
  if (!is_timed || atomic_load(&event->status) != CL_COMPLETE)
    return CL_PROFILING_INFO_NOT_AVAILABLE;
  info_u64(&i, event->times[time]);
  return info_answer(&i, room, value, size);
}

cl_event clCreateUserEvent(cl_context context, cl_int *errcode) {
  if (!object_is(context, OBJECT_CONTEXT)) return icd_fail(errcode, CL_INVALID_CONTEXT);
  cl_event made = make(context, NULL, CL_COMMAND_USER);
  if (!made) return icd_fail(errcode, CL_OUT_OF_HOST_MEMORY);
  atomic_store(&made->status, CL_SUBMITTED);
  icd_fail(errcode, CL_SUCCESS);
  return made;
}

cl_int clSetUserEventStatus(cl_event event, cl_int status) {
  if (!event_is(event) || event->queue) return CL_INVALID_EVENT;
  if (status > CL_COMPLETE) return CL_INVALID_VALUE;
  return schedule_set_status(event, status) ? CL_SUCCESS : CL_INVALID_OPERATION;
}

cl_int clSetEventCallback(cl_event event, cl_int when,
                          void(CL_CALLBACK *call)(cl_event event, cl_int status, void *data),
                          void *data) {
  if (!event_is(event)) return CL_INVALID_EVENT;
  if (!call || (when != CL_SUBMITTED && when != CL_RUNNING && when != CL_COMPLETE))
    return CL_INVALID_VALUE;
  event_callback *made = malloc(sizeof *made);
  if (!made) return CL_OUT_OF_HOST_MEMORY;
  *made = (event_callback){.event = event, .when = when, .call = call, .data = data};
  schedule_call_back(event, made);
  return CL_SUCCESS;
}
