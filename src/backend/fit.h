// SPDX-License-Identifier: MIT
//
// Whether a program fits a device, by what does not depend on the code that is made of it. Pure
// functions: any thread.
#ifndef VYRE_BACKEND_FIT_H
#define VYRE_BACKEND_FIT_H

#include "ir/program.h"

typedef struct device_room {
  uint32_t workgroup[3];     // the largest extents
  uint32_t invocations;      // of a workgroup, in all
  uint64_t shared_bytes;     // of a workgroup
  uint32_t shared_alignment; // of each shared array
} device_room;

// VYRE_ERROR_UNSUPPORTED where a rigid region's workgroup or a region's shared arrays are too
// large.
vyre_status fit_check(const vyre_program *program, const device_room *room, vyre_error *error);

#endif
