// SPDX-License-Identifier: MIT
//
// Command queues: in order, or out of order.
#ifndef VYRE_ICD_QUEUE_H
#define VYRE_ICD_QUEUE_H

#include "icd/context.h"
#include "icd/object.h"

enum { QUEUE_MOST_PROPERTIES = 8 };

struct _cl_command_queue {
  object base;
  cl_context context; // held
  cl_device_id device;
  cl_command_queue_properties properties;
  cl_queue_properties list[QUEUE_MOST_PROPERTIES]; // as they were given
  uint32_t list_count;
  bool is_unordered, is_profiled;
  unsigned generation;
  // Of the schedule, under its lock: what is unfinished, the oldest first.
  cl_event first, last, barrier;
  uint64_t number;
};

// Whether the handle is a queue of this process.
bool queue_is(cl_command_queue queue);
void queue_fini(void *queue);

#endif
