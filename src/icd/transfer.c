// SPDX-License-Identifier: MIT
#include "icd/transfer.h"

#include <string.h>

typedef struct copy_work {
  transfer_side to, from;
  transfer_box box;
  cl_mem held[2];
} copy_work;

typedef struct fill_work {
  transfer_side to;
  transfer_box box;
  cl_mem held;
  size_t pattern_bytes;
  char pattern[TRANSFER_MOST_PATTERN];
} fill_work;

_Static_assert(sizeof(copy_work) <= EVENT_WORK_BYTES, "the work of a copy");
_Static_assert(sizeof(fill_work) <= EVENT_WORK_BYTES, "the work of a fill");

void transfer_run(transfer_side to, transfer_side from, transfer_box box) {
  bool is_one_plane = box.rows == 1 || (to.row == box.row_bytes && from.row == box.row_bytes);
  for (size_t z = 0; z < box.slices; z++) {
    char *out = to.at + z * to.slice;
    const char *in = from.at + z * from.slice;
    if (is_one_plane)
      memmove(out, in, box.row_bytes * box.rows);
    else
      for (size_t y = 0; y < box.rows; y++)
        memmove(out + y * to.row, in + y * from.row, box.row_bytes);
  }
}

static cl_int run_copy(cl_event e) {
  const copy_work *w = EVENT_WORK(copy_work, e);
  transfer_run(w->to, w->from, w->box);
  return CL_SUCCESS;
}

static void end_copy(cl_event e) {
  copy_work *w = EVENT_WORK(copy_work, e);
  object_drop(w->held[0]);
  object_drop(w->held[1]);
}

void transfer_copy(cl_event e, transfer_side to, transfer_side from, transfer_box box, cl_mem first,
                   cl_mem second) {
  *EVENT_WORK(copy_work, e) = (copy_work){to, from, box, {object_hold(first), object_hold(second)}};
  e->run = run_copy;
  e->end = end_copy;
}

static void fill_row(char *at, size_t bytes, const char *pattern, size_t pattern_bytes) {
  if (pattern_bytes == 1) {
    memset(at, pattern[0], bytes);
    return;
  }
  if (bytes) memcpy(at, pattern, pattern_bytes);
  for (size_t done = pattern_bytes; done < bytes;) { // each time what is there is doubled
    size_t more = done < bytes - done ? done : bytes - done;
    memcpy(at + done, at, more);
    done += more;
  }
}

static cl_int run_fill(cl_event e) {
  const fill_work *w = EVENT_WORK(fill_work, e);
  for (size_t z = 0; z < w->box.slices; z++)
    for (size_t y = 0; y < w->box.rows; y++)
      fill_row(w->to.at + z * w->to.slice + y * w->to.row, w->box.row_bytes, w->pattern,
               w->pattern_bytes);
  return CL_SUCCESS;
}

static void end_fill(cl_event e) {
  object_drop(EVENT_WORK(fill_work, e)->held);
}

void transfer_fill(cl_event e, transfer_side to, transfer_box box, const void *pattern,
                   size_t pattern_bytes, cl_mem memory) {
  fill_work *w = EVENT_WORK(fill_work, e);
  *w = (fill_work){to, box, object_hold(memory), pattern_bytes, {0}};
  memcpy(w->pattern, pattern, pattern_bytes);
  e->run = run_fill;
  e->end = end_fill;
}

bool transfer_host_reads(cl_mem m) {
  return !(m->flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS));
}

bool transfer_host_writes(cl_mem m) {
  return !(m->flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS));
}
