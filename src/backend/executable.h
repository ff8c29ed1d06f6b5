// SPDX-License-Identifier: MIT
//
// From a program to what can be dispatched. vyre_compile and the command come through here, so that
// what they run, and show, is what the same passes made; the runtime optimizes by its own evidence
// and compiles the result as it is. An executable may be used by any thread; it is released once
// (vyre_executable_release).
#ifndef VYRE_BACKEND_EXECUTABLE_H
#define VYRE_BACKEND_EXECUTABLE_H

#include "backend/backend.h"
#include "policy/optimize.h"

// What a compile with these options makes of a program before a backend sees it: a program that the
// caller releases. `b` is NULL for one that is not the oracle.
vyre_status executable_optimize(vyre_program *program, const backend *b,
                                const vyre_compile_options *options, vyre_program **out,
                                vyre_error *error);

// Compiles a program as it is: the passes, if any, have run.
vyre_status executable_compile(vyre_program *program, const char *backend,
                               const vyre_compile_options *options, vyre_executable **out,
                               vyre_error *error);
// The same, but only when the code is at hand: see compile_cached.
vyre_status executable_from_cache(vyre_program *program, const char *backend,
                                  const vyre_compile_options *options, vyre_executable **out,
                                  vyre_error *error);

// What it is made of; the program is the one that the passes made.
const vyre_program *executable_program(const vyre_executable *executable);
const backend *executable_backend(const vyre_executable *executable);

// What a dispatch of it is expected to take, from an earlier process: its first one is begun
// accordingly.
void executable_expect(vyre_executable *executable, uint64_t ns);

// What runs a launch: a backend's dispatch with its state, or whoever does it in its place.
typedef vyre_status executable_run(void *context, const launch *l, vyre_report *report,
                                   vyre_error *error);
// The rest of a dispatch around it: arguments are checked, buffers of the runtime come to where
// backend `b` runs, and the time is taken. `report` may be NULL.
vyre_status executable_launch(const vyre_program *program, const backend *b, executable_run *run,
                              void *context, const vyre_dispatch_args *args, vyre_report *report,
                              vyre_error *error);

// A part of the grid alone, of a program of one region on a backend of the host (is_host).
vyre_status executable_dispatch_part(vyre_executable *executable, const vyre_dispatch_args *args,
                                     const launch_part *part, vyre_report *report,
                                     vyre_error *error);

// vyre_dispatch for callers that are in a floating-point scope already (base/fpenv.h).
vyre_status executable_dispatch(vyre_executable *executable, const vyre_dispatch_args *args,
                                vyre_report *report, vyre_error *error);

#endif
