// SPDX-License-Identifier: MIT
//
// Between the library and the frontend for OpenCL C. Everything that uses libclang lives in a
// module of its own (libvyre-clang.so), opened when the first OpenCL C source is read: a program
// that has none loads no compiler. Any thread, also at once.
#ifndef VYRE_FRONT_OPENCL_H
#define VYRE_FRONT_OPENCL_H

#include "front/front.h"

extern const front_language opencl_language;

enum { FRONT_ABI_VERSION = 6 };

#define FRONT_MODULE_FILE   "libvyre-clang.so"
#define FRONT_MODULE_SYMBOL "vyre_front_module"

// The module's table; the functions are those of front_language.
typedef struct front_module {
  uint32_t abi_version;
  vyre_status (*program)(const front_source *source, const vyre_source_options *options,
                         vyre_program **out, vyre_error *error);
  vyre_status (*each)(const front_source *source, const vyre_source_options *options,
                      front_visit *visit, void *data, vyre_error *error);
  vyre_status (*entries)(const front_source *source, const char *build_options,
                         vyre_source_entry **out, uint32_t *count, vyre_error *error);
  vyre_status (*preprocess)(const front_source *source, const char *build_options, char **out,
                            size_t *size, vyre_error *error);
} front_module;

#endif
