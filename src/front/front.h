// SPDX-License-Identifier: MIT
//
// Between the library and the frontend for OpenCL C. Everything that uses libclang lives in a
// module of its own (libvyre-clang.so), opened when the first OpenCL C source is read: a program
// that has none loads no compiler. Any thread, also at once.
#ifndef VYRE_FRONT_FRONT_H
#define VYRE_FRONT_FRONT_H

#include <vyre/vyre.h>

enum { FRONT_ABI_VERSION = 1 };

#define FRONT_MODULE_FILE   "libvyre-clang.so"
#define FRONT_MODULE_SYMBOL "vyre_front_module"

typedef struct front_source { // borrowed
  const char *text;
  size_t size;
  const char *name; // never NULL; a path: includes in quotes are looked for in its folder
} front_source;

// The module's table.
typedef struct front_module {
  uint32_t abi_version;
  vyre_status (*program)(const front_source *source, const vyre_opencl_options *options,
                         vyre_program **out, vyre_error *error);
  vyre_status (*kernels)(const front_source *source, const char *build_options,
                         vyre_opencl_kernel **out, uint32_t *count, vyre_error *error);
} front_module;

#endif
