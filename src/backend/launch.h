// SPDX-License-Identifier: MIT
//
// A checked dispatch: parameters in canonical bits, every buffer with its length, every region with
// its grid and workgroup. Owned by the dispatch that prepared it; read-only for backends. Small
// programs need no allocation.
#ifndef VYRE_BACKEND_LAUNCH_H
#define VYRE_BACKEND_LAUNCH_H

#include <vyre/extend.h>

#include "ir/program.h"

// As those from outside see them, except that the data of transient buffers is NULL: the backend
// allocates and zeroes them. Extents of a grid are at most LIMIT_EXTENT.
typedef vyre_bound_buffer bound_buffer;
typedef vyre_launch_region launch_region;

enum { LAUNCH_INLINE = 16 };

// A box of the grid: of invocations where a region is elastic, of workgroups where it is rigid;
// first <= x < end. Ids and sizes stay those of the whole grid.
typedef struct launch_part {
  uint64_t first[3], end[3];
} launch_part;

typedef struct launch {
  const vyre_program *program;
  const uint64_t *params;      // canonical bits
  const bound_buffer *buffers; // one per buffer of the program
  const launch_region *regions;
  vyre_buffer *const *handles; // as in vyre_dispatch_args; see launch_handle
  const struct backend *owner; // that runs it: as whose handles are kept on a device
  bool has_workgroup;          // the caller chose the workgroup of elastic regions
  uint64_t timeout_ns, fuel;   // 0: none
  uint32_t threads;            // at most; 0: as compiled
  uint64_t deadline_ns;        // of clock_now_ns; UINT64_MAX when there is no timeout
  volatile uint32_t *stop;     // the caller's flag, or NULL
  // Reading the clock is what a short dispatch takes longest for: a backend may take its beginning
  // from here (clock_stamp), and leave its own last reading for whoever times the dispatch.
  uint64_t start_stamp;
  uint64_t *end_stamp;
  const launch_part *part; // of a program's only region, to run alone; NULL: all. Of host backends.

  // Storage behind the pointers above.
  uint64_t inline_params[LAUNCH_INLINE], inline_lengths[LAUNCH_INLINE];
  uint64_t inline_grids[LAUNCH_INLINE][3];
  bound_buffer inline_buffers[LAUNCH_INLINE];
  launch_region inline_regions[LAUNCH_INLINE];
  void *heap;
} launch;

// False for NULL with a size, and for what would wrap around the end of the address space.
bool launch_can_be_memory(const vyre_span *span);
// Checks the arguments against the program. On success the caller calls launch_fini in the end.
vyre_status launch_init(launch *l, const vyre_program *program, const vyre_dispatch_args *args,
                        vyre_error *error);
void launch_fini(launch *l);
// The handle that a buffer of the program is bound to; NULL: borrowed memory, or transient.
vyre_buffer *launch_handle(const launch *l, uint32_t buffer);

// Of all regions of a program of so many; UINT64_MAX where there are more.
uint64_t launch_invocations(const launch *l, uint32_t region_count);

// Whether somebody could want it ended before it is done: there is a time limit, or a flag of the
// caller's; and whether that is wanted now.
bool launch_may_end(const launch *l);
bool launch_must_end(const launch *l);

// The errors of a running dispatch, the same from every backend: it was stopped, by its time limit
// or by the caller's flag, or a barrier was not reached by a whole workgroup.
vyre_status launch_stopped_error(const launch *l, const char *region, vyre_error *error);
vyre_status launch_timeout_error(const char *region, vyre_error *error);
vyre_status launch_divergence_error(const char *region, vyre_error *error);
// The limit passed before anything ran; no thread could be started to watch it.
vyre_status launch_compiling_error(const vyre_program *program, vyre_error *error);
vyre_status launch_thread_error(vyre_error *error);

#endif
