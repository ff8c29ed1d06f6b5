// SPDX-License-Identifier: MIT
//
// A context: devices whose memory is that of the process.
#ifndef VYRE_ICD_CONTEXT_H
#define VYRE_ICD_CONTEXT_H

#include "icd/device.h"
#include "icd/object.h"

#include <pthread.h>

typedef void(CL_CALLBACK context_notify)(const char *text, const void *info, size_t size,
                                         void *data);

typedef struct context_ending { // what is called when the context goes, the last first
  struct context_ending *next;
  void(CL_CALLBACK *call)(cl_context context, void *data);
  void *data;
} context_ending;

struct _cl_context {
  object base;
  cl_uint device_count;
  cl_device_id *devices;
  cl_context_properties *properties; // as they were given
  size_t property_count;             // the zero at the end included
  context_notify *notify;            // NULL: the client does not want to be told
  void *notify_data;
  pthread_mutex_t lock;
  context_ending *endings;
};

bool context_has(cl_context context, cl_device_id device);
// The largest buffer that one of its devices can have.
uint64_t context_most_bytes(cl_context context);
// Tells the client what went wrong in a command, through the function that it gave the context.
void context_tell(cl_context context, const vyre_error *error);
void context_fini(void *context);

#endif
