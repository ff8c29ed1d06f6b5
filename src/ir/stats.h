// SPDX-License-Identifier: MIT
//
// Counts that feed pass selection. Pure functions of a linked, verified program: any thread.
#ifndef VYRE_IR_STATS_H
#define VYRE_IR_STATS_H

#include "ir/program.h"

vyre_status stats_compute(const vyre_program *program, vyre_stats *out, vyre_error *error);
// The same for one region: top_level_regions is 1, memory is of the buffers that it touches.
vyre_status stats_compute_region(const vyre_program *program, uint32_t region, vyre_stats *out,
                                 vyre_error *error);
// Bytes of buffers live at once: bound buffers always, a transient one from the first region that
// mentions it to the last. `lengths` has one entry per buffer, or is NULL for fixed lengths only.
uint64_t stats_peak_memory(const vyre_program *program, const uint64_t *lengths);

#endif
