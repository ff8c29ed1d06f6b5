// SPDX-License-Identifier: MIT
//
// Copies and fills of boxes: rows of bytes, at a distance from each other in planes. Every command
// that moves memory is one of the two. The commands hold the memory objects until they are done.
#ifndef VYRE_ICD_TRANSFER_H
#define VYRE_ICD_TRANSFER_H

#include "icd/event.h"
#include "icd/memory.h"

typedef struct transfer_side {
  char *at;
  size_t row, slice; // bytes from one to the next
} transfer_side;

typedef struct transfer_box {
  size_t row_bytes, rows, slices;
} transfer_box;

enum { TRANSFER_MOST_PATTERN = 128 };

// Makes `command` a copy, or a fill with a pattern whose size divides the rows.
void transfer_copy(cl_event command, transfer_side to, transfer_side from, transfer_box box,
                   cl_mem first, cl_mem second);
void transfer_fill(cl_event command, transfer_side to, transfer_box box, const void *pattern,
                   size_t pattern_bytes, cl_mem memory);
// A copy now.
void transfer_run(transfer_side to, transfer_side from, transfer_box box);

// Whether reading or writing by the host is what the flags of the memory exclude.
bool transfer_host_reads(cl_mem m);
bool transfer_host_writes(cl_mem m);

#endif
