// SPDX-License-Identifier: MIT
//
// Kernels: an entry of a program with arguments. What is set is checked and copied; memory objects
// are not held, as the specification says. One thread at a time may set arguments of a kernel.
#ifndef VYRE_ICD_KERNEL_H
#define VYRE_ICD_KERNEL_H

#include "icd/memory.h"
#include "icd/object.h"
#include "icd/program.h"
#include "icd/sampler.h"

typedef struct kernel_arg {
  bool is_set;
  uint32_t value_at; // in `values`
  cl_mem memory;     // NULL: a null pointer
  size_t local_bytes;
  char sampler[SAMPLER_TEXT];
} kernel_arg;

struct _cl_kernel {
  object base;
  cl_program program; // held
  program_entry *entry;
  uint32_t arg_count, unset;
  kernel_arg *args;
  char *values; // of arguments by value
  // The text of what programs are made for besides the launch (variant.h), and whether it is old.
  char *shape;
  bool is_shape_old;
  struct variant *recent; // of the last enqueue
};

void kernel_fini(void *kernel);
// The device that a question is about: it may be left out where the program has one only.
cl_int kernel_check_device(cl_kernel kernel, cl_device_id *device);
cl_uint kernel_arg_access(const vyre_source_arg *a); // CL_KERNEL_ARG_ACCESS_*, of images

#endif
