// SPDX-License-Identifier: MIT
//
// Which command runs when. A command is ready when what it waits for is done; whoever waits for a
// queue runs the ready commands of it on its own thread, so that enqueueing a small kernel and
// waiting for it wakes nobody; two threads run what nobody waits for, and another one calls back.
// One lock, held for a few list operations. Any thread.
#ifndef VYRE_ICD_SCHEDULE_H
#define VYRE_ICD_SCHEDULE_H

#include "icd/event.h"
#include "icd/queue.h"

// Gives the command to the schedule. *out, when asked for, gets the client's reference; when
// `blocking`, it is done afterwards.
cl_int schedule_submit(cl_event command, cl_uint wait_count, const cl_event *wait_list,
                       cl_bool blocking, cl_event *out);
// Lets the threads begin with what is ready.
void schedule_flush(void);
void schedule_finish(cl_command_queue queue);
// Waits until it is done; its status.
cl_int schedule_wait(cl_event event);
// Of a user event; false when it has one already.
bool schedule_set_status(cl_event event, cl_int status);
// Takes over the callback.
void schedule_call_back(cl_event event, event_callback *callback);
// The generation of this process: see event.
unsigned schedule_generation(void);

#endif
