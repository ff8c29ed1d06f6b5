// SPDX-License-Identifier: MIT
#include "front/clang/resource.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// From the folder of libclang: where clang itself looks, and where distributions put it beside a
// library that they moved.
static const char *const below[] = {"clang/19", "../lib/clang/19", "../llvm-19/lib/clang/19",
                                    "../../llvm-19/lib/clang/19"};

static const char *check(unit *u, const char *folder, const char *rest) {
  const char *found = unit_printf(u, "%s/%s", folder, rest);
  return access(unit_printf(u, "%s/include/opencl-c-base.h", found), R_OK) ? NULL : found;
}

static const char *look_from(unit *u, const char *library) {
  const char *slash = strrchr(library, '/'), *found = NULL;
  if (!slash) return NULL;
  const char *folder = unit_copy(u, library, (size_t)(slash - library));
  for (size_t i = 0; i < sizeof below / sizeof *below && !found; i++)
    found = check(u, folder, below[i]);
  return found;
}

const char *resource_header(unit *u) {
  if (!u->header) u->header = unit_printf(u, "%s/include/opencl-c-base.h", resource_folder(u));
  return u->header;
}

const char *resource_folder(unit *u) {
  if (u->resources) return u->resources;
  Dl_info info = {0};
  char real[PATH_MAX];
  const char *found = NULL, *name = "libclang";
  if (dladdr((void *)(uintptr_t)&clang_createIndex, &info) && info.dli_fname) {
    name = info.dli_fname;
    found = look_from(u, name);
    if (!found && realpath(name, real)) found = look_from(u, real);
  }
  if (!found) found = check(u, VYRE_LLVM_ROOT, "lib/clang/19");
  if (!found)
    unit_fail(u, VYRE_ERROR_BACKEND, NO_PLACE,
              "the headers of clang 19 (opencl-c-base.h) are not there, beside `%.200s` or in "
              "%.200s/lib/clang/19. Fix: install libclang-common-19-dev",
              name, VYRE_LLVM_ROOT);
  return u->resources = found;
}
