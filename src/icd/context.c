// SPDX-License-Identifier: MIT
#include "icd/context.h"

#include "icd/info.h"
#include "icd/platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool context_has(cl_context context, cl_device_id device) {
  for (cl_uint i = 0; i < context->device_count; i++)
    if (context->devices[i] == device) return true;
  return false;
}

uint64_t context_most_bytes(cl_context context) {
  uint64_t most = 0;
  for (cl_uint i = 0; i < context->device_count; i++)
    if (context->devices[i]->most_bytes > most) most = context->devices[i]->most_bytes;
  return most;
}

void context_tell(cl_context context, const vyre_error *error) {
  if (!context->notify) return;
  char text[sizeof error->file + sizeof error->message + 64];
  if (error->line)
    snprintf(text, sizeof text, "vyre: %s:%u:%u: %s", error->file, error->line, error->column,
             error->message);
  else
    snprintf(text, sizeof text, "vyre: %s", error->message);
  context->notify(text, NULL, 0, context->notify_data);
}

void context_fini(void *handle) {
  cl_context context = handle;
  for (context_ending *e = context->endings, *next; e; e = next) {
    next = e->next;
    e->call(context, e->data);
    free(e);
  }
  pthread_mutex_destroy(&context->lock);
  free(context->devices);
  free(context->properties);
}

// ---- making -------------------------------------------------------------------------------------

// The number of words, the zero at the end included; or an error.
static cl_int check_properties(const cl_context_properties *list, size_t *count) {
  *count = 0;
  if (!list) return CL_SUCCESS;
  for (size_t i = 0; list[i]; i += 2) {
    switch (list[i]) {
    case CL_CONTEXT_PLATFORM:
      if (!object_is((void *)list[i + 1], OBJECT_PLATFORM)) return CL_INVALID_PLATFORM;
      break;
    case CL_CONTEXT_INTEROP_USER_SYNC:
      if (list[i + 1] != CL_FALSE && list[i + 1] != CL_TRUE) return CL_INVALID_PROPERTY;
      break;
    default: return CL_INVALID_PROPERTY;
    }
    for (size_t k = 0; k < i; k += 2)
      if (list[k] == list[i]) return CL_INVALID_PROPERTY;
    *count = i + 2;
  }
  *count += 1;
  return CL_SUCCESS;
}

static cl_context make(const cl_context_properties *properties, size_t property_count,
                       cl_uint count, const cl_device_id *devices, cl_int *errcode) {
  cl_context made = object_new(OBJECT_CONTEXT);
  if (!made) return icd_fail(errcode, CL_OUT_OF_HOST_MEMORY);
  pthread_mutex_init(&made->lock, NULL);
  made->devices = calloc(count, sizeof *made->devices);
  made->properties = calloc(property_count + 1, sizeof *made->properties);
  if (!made->devices || !made->properties) {
    object_drop(made);
    return icd_fail(errcode, CL_OUT_OF_HOST_MEMORY);
  }
  for (cl_uint i = 0; i < count; i++) // each once
    if (!context_has(made, devices[i])) made->devices[made->device_count++] = devices[i];
  if (property_count)
    memcpy(made->properties, properties, property_count * sizeof *made->properties);
  made->property_count = property_count;
  icd_fail(errcode, CL_SUCCESS);
  return made;
}

cl_context clCreateContext(const cl_context_properties *properties, cl_uint count,
                           const cl_device_id *devices, context_notify *notify, void *data,
                           cl_int *errcode) {
  size_t property_count;
  cl_int code = check_properties(properties, &property_count);
  if (code != CL_SUCCESS) return icd_fail(errcode, code);
  if (!devices || !count || (!notify && data)) return icd_fail(errcode, CL_INVALID_VALUE);
  for (cl_uint i = 0; i < count; i++)
    if (!object_is(devices[i], OBJECT_DEVICE)) return icd_fail(errcode, CL_INVALID_DEVICE);
  cl_context made = make(properties, property_count, count, devices, errcode);
  if (!made) return NULL;
  made->notify = notify;
  made->notify_data = data;
  return made;
}

cl_context clCreateContextFromType(const cl_context_properties *properties, cl_device_type type,
                                   context_notify *notify, void *data, cl_int *errcode) {
  size_t property_count;
  cl_int code = check_properties(properties, &property_count);
  if (code != CL_SUCCESS) return icd_fail(errcode, code);
  if (!notify && data) return icd_fail(errcode, CL_INVALID_VALUE);
  cl_device_id devices[MOST_DEVICES];
  cl_uint count = 0;
  code = clGetDeviceIDs(NULL, type, MOST_DEVICES, devices, &count);
  if (code != CL_SUCCESS) return icd_fail(errcode, code);
  cl_context made = make(properties, property_count, count, devices, errcode);
  if (!made) return NULL;
  made->notify = notify;
  made->notify_data = data;
  return made;
}

// ---- the client's calls -------------------------------------------------------------------------

cl_int clRetainContext(cl_context context) {
  return object_retain(context, OBJECT_CONTEXT, CL_INVALID_CONTEXT);
}

cl_int clReleaseContext(cl_context context) {
  return object_release(context, OBJECT_CONTEXT, CL_INVALID_CONTEXT);
}

cl_int clSetContextDestructorCallback(cl_context context,
                                      void(CL_CALLBACK *call)(cl_context context, void *data),
                                      void *data) {
  if (!object_is(context, OBJECT_CONTEXT)) return CL_INVALID_CONTEXT;
  if (!call) return CL_INVALID_VALUE;
  context_ending *made = malloc(sizeof *made);
  if (!made) return CL_OUT_OF_HOST_MEMORY;
  pthread_mutex_lock(&context->lock);
  *made = (context_ending){context->endings, call, data};
  context->endings = made;
  pthread_mutex_unlock(&context->lock);
  return CL_SUCCESS;
}

cl_int clGetContextInfo(cl_context context, cl_context_info what, size_t room, void *value,
                        size_t *size) {
  info i = {0};
  if (!object_is(context, OBJECT_CONTEXT)) return CL_INVALID_CONTEXT;
  switch (what) {
  case CL_CONTEXT_REFERENCE_COUNT: info_u32(&i, object_count(context)); break;
  case CL_CONTEXT_NUM_DEVICES: info_u32(&i, context->device_count); break;
  case CL_CONTEXT_DEVICES:
    info_bytes(&i, context->devices, context->device_count * sizeof(cl_device_id));
    break;
  case CL_CONTEXT_PROPERTIES:
    info_bytes(&i, context->properties, context->property_count * sizeof(cl_context_properties));
    break;
  default: return CL_INVALID_VALUE;
  }
  return info_answer(&i, room, value, size);
}
