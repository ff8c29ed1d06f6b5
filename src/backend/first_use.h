// SPDX-License-Identifier: MIT
//
// A short run of programs over hard inputs, whose answers on a device are compared with the
// reference's before anybody relies on it: integers, small elements, control flow, barriers,
// atomics, regions, and floats where they are not asked for in another way. Any thread.
#ifndef VYRE_BACKEND_FIRST_USE_H
#define VYRE_BACKEND_FIRST_USE_H

#include "backend/conformance.h"

typedef struct first_use {
  void *device;
  // Runs the program there. VYRE_ERROR_UNSUPPORTED is an answer: what a device declines it need not
  // do.
  vyre_status (*ask)(void *device, vyre_program *program, const vyre_dispatch_args *args,
                     vyre_error *error);
  bool (*is_lost)(void *device);
  bool has_floats; // with those programs too
  // All programs are expected to run: an error is none of the device's answers, ends the run and is
  // the caller's. Else one that a driver does not take is one that it gets wrong.
  bool must_answer;
} first_use;

enum { FIRST_USE_MOST = 16 };

// What was got wrong, as rows for conformance_record. An error is one of memory, of the reference,
// of a device that was lost, or any of one that must answer.
vyre_status first_use_run(const first_use *how, conformance_failure failures[FIRST_USE_MOST],
                          uint32_t *count, vyre_error *error);
// Adds them to what is recorded of the device.
vyre_status first_use_record(const char *adapter, const conformance_failure *failures,
                             uint32_t count, vyre_error *error);
// A text that changes when the programs do, for keys of what was found.
const char *first_use_version(void);

#endif
