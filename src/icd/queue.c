// SPDX-License-Identifier: MIT
#include "icd/queue.h"

#include "icd/info.h"
#include "icd/schedule.h"

static const cl_command_queue_properties known =
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;

bool queue_is(cl_command_queue queue) {
  return object_is(queue, OBJECT_QUEUE) && queue->generation == schedule_generation();
}

void queue_fini(void *handle) {
  object_drop(((cl_command_queue)handle)->context);
}

static cl_command_queue make(cl_context context, cl_device_id device,
                             cl_command_queue_properties properties, cl_int *errcode) {
  cl_command_queue made = object_new(OBJECT_QUEUE);
  if (!made) return icd_fail(errcode, CL_OUT_OF_HOST_MEMORY);
  made->context = object_hold(context);
  made->device = device;
  made->properties = properties;
  made->is_unordered = properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
  made->is_profiled = properties & CL_QUEUE_PROFILING_ENABLE;
  made->generation = schedule_generation();
  icd_fail(errcode, CL_SUCCESS);
  return made;
}

static cl_int check(cl_context context, cl_device_id device) {
  if (!object_is(context, OBJECT_CONTEXT)) return CL_INVALID_CONTEXT;
  if (!object_is(device, OBJECT_DEVICE) || !context_has(context, device)) return CL_INVALID_DEVICE;
  return CL_SUCCESS;
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device,
                                      cl_command_queue_properties properties, cl_int *errcode) {
  cl_int code = check(context, device);
  if (code != CL_SUCCESS) return icd_fail(errcode, code);
  const cl_command_queue_properties any = known | CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;
  if (properties & ~any) return icd_fail(errcode, CL_INVALID_VALUE);
  if (properties & ~known) return icd_fail(errcode, CL_INVALID_QUEUE_PROPERTIES);
  return make(context, device, properties, errcode);
}

cl_command_queue clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                    const cl_queue_properties *list,
                                                    cl_int *errcode) {
  cl_int code = check(context, device);
  if (code != CL_SUCCESS) return icd_fail(errcode, code);
  cl_command_queue_properties properties = 0;
  uint32_t count = 0;
  for (; list && list[count]; count += 2) {
    if (count + 3 > QUEUE_MOST_PROPERTIES) return icd_fail(errcode, CL_INVALID_VALUE);
    if (list[count] == CL_QUEUE_SIZE) return icd_fail(errcode, CL_INVALID_QUEUE_PROPERTIES);
    if (list[count] != CL_QUEUE_PROPERTIES) return icd_fail(errcode, CL_INVALID_VALUE);
    properties = list[count + 1];
  }
  const cl_command_queue_properties any = known | CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;
  if (properties & ~any) return icd_fail(errcode, CL_INVALID_VALUE);
  if (properties & ~known) return icd_fail(errcode, CL_INVALID_QUEUE_PROPERTIES);
  cl_command_queue made = make(context, device, properties, errcode);
  if (made && list) {
    made->list_count = count + 1;
    memcpy(made->list, list, made->list_count * sizeof *list);
  }
  return made;
}

cl_int clRetainCommandQueue(cl_command_queue queue) {
  return object_retain(queue, OBJECT_QUEUE, CL_INVALID_COMMAND_QUEUE);
}

cl_int clReleaseCommandQueue(cl_command_queue queue) {
  if (queue_is(queue)) schedule_flush();
  return object_release(queue, OBJECT_QUEUE, CL_INVALID_COMMAND_QUEUE);
}

cl_int clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info what, size_t room,
                             void *value, size_t *size) {
  info i = {0};
  if (!object_is(queue, OBJECT_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
  switch (what) {
  case CL_QUEUE_CONTEXT: info_pointer(&i, queue->context); break;
  case CL_QUEUE_DEVICE: info_pointer(&i, queue->device); break;
  case CL_QUEUE_REFERENCE_COUNT: info_u32(&i, object_count(queue)); break;
  case CL_QUEUE_PROPERTIES: info_u64(&i, queue->properties); break;
  case CL_QUEUE_PROPERTIES_ARRAY:
    info_bytes(&i, queue->list, queue->list_count * sizeof *queue->list);
    break;
  case CL_QUEUE_DEVICE_DEFAULT: info_pointer(&i, NULL); break;
  case CL_QUEUE_SIZE: return CL_INVALID_COMMAND_QUEUE; // of queues on a device
  default: return CL_INVALID_VALUE;
  }
  return info_answer(&i, room, value, size);
}

// Of OpenCL 1.0; the order of a queue in use is not changed.
cl_int clSetCommandQueueProperty(cl_command_queue queue, cl_command_queue_properties properties,
                                 cl_bool enable, cl_command_queue_properties *old) {
  (void)properties, (void)enable;
  if (!object_is(queue, OBJECT_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
  if (old) *old = queue->properties;
  return CL_INVALID_OPERATION;
}

cl_int clSetDefaultDeviceCommandQueue(cl_context context, cl_device_id device,
                                      cl_command_queue queue) {
  cl_int code = check(context, device);
  if (code != CL_SUCCESS) return code;
  if (queue && !queue_is(queue)) return CL_INVALID_COMMAND_QUEUE;
  return CL_INVALID_OPERATION; // no device has queues of its own
}

cl_int clFlush(cl_command_queue queue) {
  if (!queue_is(queue)) return CL_INVALID_COMMAND_QUEUE;
  schedule_flush();
  return CL_SUCCESS;
}

cl_int clFinish(cl_command_queue queue) {
  if (!queue_is(queue)) return CL_INVALID_COMMAND_QUEUE;
  schedule_finish(queue);
  return CL_SUCCESS;
}
