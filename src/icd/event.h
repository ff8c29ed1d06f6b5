// SPDX-License-Identifier: MIT
//
// Events. Every command is one, whether its client wants it or not; a user event is one without a
// queue. What a command does is a function and a block of its own memory. The graph is the
// schedule's (schedule.h), under its lock.
#ifndef VYRE_ICD_EVENT_H
#define VYRE_ICD_EVENT_H

#include "icd/context.h"
#include "icd/object.h"

typedef struct event_callback {
  struct event_callback *next;
  cl_event event; // held
  cl_int when, status;
  void(CL_CALLBACK *call)(cl_event event, cl_int status, void *data);
  void *data;
} event_callback;

typedef struct event_edge {
  cl_event to;
  bool is_asked; // by a wait list: a failure is passed on. Otherwise it is the order of a queue
} event_edge;

enum { EVENT_FEW_EDGES = 4, EVENT_WORK_BYTES = 512 };
enum { TIME_QUEUED, TIME_SUBMIT, TIME_START, TIME_END, TIME_COUNT };

struct _cl_event {
  object base;
  cl_context context;     // held
  cl_command_queue queue; // held; NULL of a user event
  cl_command_type type;
  unsigned generation; // of the process: nothing of a parent goes on in a child
  bool is_barrier, waits_for_all;
  _Atomic cl_int status;
  uint64_t times[TIME_COUNT]; // with profiling only

  // Of the schedule.
  uint32_t waits; // for how many others, and one while it is being made
  cl_int failed;  // of what it waited for; CL_SUCCESS: nothing
  event_edge *edges, few[EVENT_FEW_EDGES];
  uint32_t edge_count, edge_capacity;
  cl_event next_ready;
  cl_event earlier, later; // of its queue, unfinished
  uint64_t number;         // in its queue
  event_callback *callbacks;
  _Atomic bool has_callbacks;

  // What it does, without the lock; NULL: nothing. `end` releases what the work holds.
  cl_int (*run)(cl_event event);
  void (*end)(cl_event event);
  _Alignas(16) char work[EVENT_WORK_BYTES];
};

// A command of a queue, checked: its queue and the wait list. It is submitted, or dropped, once.
cl_int event_begin(cl_command_queue queue, cl_command_type type, cl_uint wait_count,
                   const cl_event *wait_list, cl_event *out);
void event_abandon(cl_event event); // instead of submitting it
void event_fini(void *event);

// The work of a command, as its own type, of which its file asserts that it fits.
#define EVENT_WORK(T, event) ((T *)(void *)(event)->work)

#endif
