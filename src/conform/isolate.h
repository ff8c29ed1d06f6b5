// SPDX-License-Identifier: MIT
//
// Work in a process of its own, which may die or hang without taking this one along. What it finds
// it writes to memory that both share. When it dies, its last words say of what, and whose fence
// (fence.h) it hit. It does not outlive the one that started it. The caller must not have started
// threads: the new process has only one. One thread.
#ifndef VYRE_CONFORM_ISOLATE_H
#define VYRE_CONFORM_ISOLATE_H

#include "conform/fence.h"

// Memory that is shared with processes started later, zeroed; NULL when there is none.
void *isolate_share(size_t size_bytes);
void isolate_unshare(void *memory, size_t size_bytes);

typedef struct isolate {
  int pid, end_fd; // end_fd can be read from when the process has ended
  struct isolate_words *words;
} isolate;

typedef enum isolate_end { ISOLATE_RUNS, ISOLATE_DONE, ISOLATE_DIED, ISOLATE_FAILED } isolate_end;

// Starts work(context); false when there is no more process or memory.
bool isolate_start(isolate *p, void (*work)(void *context), void *context);
// Waits at most so long. DONE: the work returned. DIED: `text` says of what. FAILED is for
// isolate_run alone. After anything but RUNS the isolate is gone.
isolate_end isolate_wait(isolate *p, int timeout_ms, char *text, size_t size);
// Kills the process and waits for it.
void isolate_kill(isolate *p);

// All of it: FAILED when it could not be started. What takes longer is killed: DIED.
isolate_end isolate_run(void (*work)(void *context), void *context, int timeout_ms, char *text,
                        size_t size);

#endif
