// SPDX-License-Identifier: MIT
//
// A program that is watched while it runs: vyre_check_dispatch, VYRE_CHECK in the environment, and
// whoever runs kernels for others (the command, a driver) come here. On the reference everything is
// looked for (shadow.h); on another backend the program is rewritten so that it counts its accesses
// outside and divisions by zero itself (instrument.h). Results are those of any dispatch, unless
// the program has a data race. Any thread; a watcher is freed once, when nobody uses it.
#ifndef VYRE_BACKEND_WATCH_WATCH_H
#define VYRE_BACKEND_WATCH_WATCH_H

#include "backend/backend.h"

typedef struct watcher watcher;

// `backend` NULL: the reference. What the backend compiles is compiled here.
vyre_status watcher_new(vyre_program *program, const char *backend, watcher **out,
                        vyre_error *error);
void watcher_free(watcher *w);

// As vyre_check_dispatch; of the options the backend is not looked at.
vyre_status watcher_dispatch(watcher *w, const vyre_dispatch_args *args,
                             const vyre_check_options *options, uint64_t counts[VYRE_FINDING_KINDS],
                             vyre_report *report, vyre_error *error);

// What VYRE_CHECK asks for: whether dispatches are watched, and on which backend (NULL: the
// reference). The environment is read once.
bool watch_is_wanted(const char **backend);
// A dispatch that VYRE_CHECK asks for. What is found goes to `notice`, or to standard error when it
// is NULL.
vyre_status watch_dispatch(watcher *w, const vyre_dispatch_args *args,
                           void (*notice)(void *context, const char *message), void *context,
                           vyre_report *report, vyre_error *error);

#endif
