// SPDX-License-Identifier: MIT
//
// What devices are known to get wrong. `vyre conform` writes what a device failed to
// $XDG_STATE_HOME/vyre/conform/<adapter>.toml (below VYRE_HOME when that is set); whoever chooses a
// backend asks here first, and does not use a device for programs that have what it failed at. A
// device that was never examined is not refused: results are also compared before a backend is
// adopted. Any thread.
#ifndef VYRE_BACKEND_CONFORMANCE_H
#define VYRE_BACKEND_CONFORMANCE_H

#include "backend/features.h"

typedef struct conformance_failure {
  char row[96];     // "rounding/f64", "random/1234"
  features needs;   // what a program must have to be hit
  bool needs_all;   // all of it, not just some
  char detail[300]; // what was found
} conformance_failure;

// Whether the device may be used for the program. When not, `error` says which row it failed.
bool conformance_allows(const char *adapter, const vyre_program *program, vyre_error *error);

// The same for the device that a backend takes by itself: the first usable one. ref is always
// right; one from outside that was not examined is not taken.
bool conformance_allows_backend(const char *id, const vyre_program *program, vyre_error *error);

// Replaces what is known of a device; no failures remove the file.
vyre_status conformance_record(const char *adapter, const conformance_failure *failures,
                               uint32_t count, vyre_error *error);

// Reads what is known. *out is malloc'ed; a missing file is no failures.
vyre_status conformance_load(const char *adapter, conformance_failure **out, uint32_t *count,
                             vyre_error *error);

#endif
