// SPDX-License-Identifier: MIT
//
// Makes a relocatable ELF object callable, without LLVM: sections are placed in one mapping, which
// is made executable once the relocations are applied. The object comes from the code generator or
// from the checksummed cache; a malformed one is refused, never trusted. Debuggers and profilers
// learn the functions' names (gdb's JIT interface; perf's map when VYRE_PERF_MAP is set).
#ifndef VYRE_BACKEND_CPU_LOADER_H
#define VYRE_BACKEND_CPU_LOADER_H

#include <vyre/vyre.h>

typedef struct loaded_object loaded_object;

// `object` may be freed afterwards. Any thread.
vyre_status loader_open(const void *object, size_t size, loaded_object **out, vyre_error *error);
void *loader_find(const loaded_object *loaded, const char *symbol); // NULL when there is none
void loader_close(loaded_object *loaded);

#endif
