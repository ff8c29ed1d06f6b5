// SPDX-License-Identifier: MIT
//
// What no recipe can make up for: whether a target can run a program at all. Reads the program
// only: any thread.
#ifndef VYRE_LOWER_SUPPORTED_H
#define VYRE_LOWER_SUPPORTED_H

#include "analysis/uniformity.h"
#include "lower/target.h"

// VYRE_ERROR_UNSUPPORTED names what the target lacks. `uniform` is that of the region; it may be
// NULL for targets that may part at barriers.
vyre_status supported_region(const vyre_program *program, const region *r,
                             const lower_target *target, const uniformity *uniform,
                             vyre_error *error);

// The same of buffers whose length the program says; of others a launch does.
vyre_status supported_buffers(const vyre_program *program, const lower_target *target,
                              vyre_error *error);

#endif
