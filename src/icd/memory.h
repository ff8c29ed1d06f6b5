// SPDX-License-Identifier: MIT
//
// Memory objects: buffers, parts of them, and images. All of it is memory of the process, at the
// client's own address where it gave one, so that kernels and copies work in place. The pixels of
// an image lie without gaps, as programs want them; where a client's own image has gaps, what is
// mapped is copied.
#ifndef VYRE_ICD_MEMORY_H
#define VYRE_ICD_MEMORY_H

#include "icd/context.h"
#include "icd/object.h"

typedef struct memory_ending { // what is called when the object goes, the last first
  struct memory_ending *next;
  void(CL_CALLBACK *call)(cl_mem memory, void *data);
  void *data;
} memory_ending;

typedef struct memory_map {
  struct memory_map *next;
  void *at;
  cl_map_flags flags;
  size_t origin[3], region[3]; // of an image
} memory_map;

enum { MEMORY_MOST_PROPERTIES = 4 };

struct _cl_mem {
  object base;
  cl_context context; // held
  cl_mem_object_type type;
  cl_mem_flags flags;
  size_t size;
  char *data;
  void *host;    // the client's, with CL_MEM_USE_HOST_PTR
  void *own;     // what is freed with it
  cl_mem parent; // held: of a part, or the buffer that an image is made from
  size_t origin; // in the parent
  cl_mem_properties list[MEMORY_MOST_PROPERTIES];
  uint32_t list_count;

  cl_image_format format;
  cl_image_desc desc;
  size_t pixel_bytes, row_bytes, slice_bytes; // of `data`
  size_t host_row, host_slice;                // of `host`, where it has gaps; else 0

  pthread_mutex_t lock; // of the lists
  memory_map *maps;
  cl_uint map_count;
  memory_ending *endings;
};

static inline bool memory_is_image(cl_mem m) {
  return m->type != CL_MEM_OBJECT_BUFFER;
}

// Checked flags, with the defaults filled in; a part takes what is left out from its buffer.
cl_int memory_check_flags(cl_mem_flags *flags, cl_mem parent);
// An object with everything common filled in, and no data; NULL when out of memory.
cl_mem memory_new(cl_context context, cl_mem_object_type type, cl_mem_flags flags, size_t size);
// Gives it data: the client's own, or a copy of it, or new memory.
cl_int memory_allocate(cl_mem m, const void *host);
// Whether a handle is memory of the context: CL_SUCCESS, CL_INVALID_MEM_OBJECT, CL_INVALID_CONTEXT.
cl_int memory_check(cl_mem m, cl_context context);
cl_int memory_check_buffer(cl_mem m, cl_context context);
cl_int memory_check_image(cl_mem m, cl_context context);
// Properties of the calls of OpenCL 3.0: none are known.
cl_int memory_check_properties(const cl_mem_properties *properties);
void memory_keep_properties(cl_mem m, const cl_mem_properties *properties);
void memory_fini(void *memory);

#endif
