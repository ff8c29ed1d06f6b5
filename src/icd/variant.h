// SPDX-License-Identifier: MIT
//
// Variants: the programs that a kernel becomes. A program is made for what is known at an enqueue
// only: axes, workgroup, sizes of local arguments, formats of images, samplers, and which arguments
// share memory. What is made is kept with the program's entry, so that the next enqueue like it
// finds it; where the workgroup makes no difference, one variant does for all. Any thread; variants
// stay until their program goes.
#ifndef VYRE_ICD_VARIANT_H
#define VYRE_ICD_VARIANT_H

#include "icd/kernel.h"

typedef struct variant_launch {
  cl_device_id device;
  uint32_t rank;
  uint32_t workgroup[3];
  bool has_offset;
  const vyre_source_alias *aliases; // with their text
  uint32_t alias_count;
  const char *alias_text;
} variant_launch;

typedef enum variant_source { FROM_VALUE, FROM_EXTENT, FROM_GRID, FROM_OFFSET } variant_source;

typedef struct variant_param {
  variant_source from;
  vyre_type type;
  uint32_t at; // FROM_VALUE: byte of the kernel's values; FROM_EXTENT: argument; else axis
  uint32_t axis;
} variant_param;

typedef enum variant_room { ROOM_ARG, ROOM_PRINTF, ROOM_GLOBAL } variant_room;

typedef struct variant_buffer {
  variant_room room;
  uint32_t arg;
  uint32_t element_bytes;
  bool is_written;
  void *global; // ROOM_GLOBAL
  size_t global_bytes;
} variant_buffer;

typedef struct variant {
  struct variant *next;
  cl_device_id device;
  uint32_t rank, workgroup[3];
  bool has_offset, is_elastic;
  char *key; // the kernel's shape and the text of the aliases
  uint64_t local_bytes;
  vyre_executable *executable;
  vyre_kernel *routed;
  uint32_t param_count, buffer_count;
  variant_param *params;
  variant_buffer *buffers;
} variant;

// Finds or makes one; NULL and an error. `k` is not changed meanwhile.
variant *variant_find(cl_kernel k, const variant_launch *launch, vyre_error *error);
// Whether the one found last does for this launch, which has no aliases.
bool variant_fits(const variant *v, const variant_launch *launch);
void variant_free_all(variant *first);
// What the kernel needs of local memory with the sizes that are set.
uint64_t variant_local_bytes(cl_kernel k);
cl_int variant_attributes(cl_kernel k, size_t room, void *value, size_t *size);

#endif
