// SPDX-License-Identifier: MIT
#include "base/module.h"

#include "base/error.h"
#include "base/hash.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The folder of the file that holds this function: libvyre.so, or a program that links it
// statically.
static bool own_folder(char folder[PATH_MAX]) {
  Dl_info info;
  if (!dladdr((void *)(uintptr_t)&module_find, &info) || !info.dli_fname) return false;
  if (!realpath(info.dli_fname, folder) && !realpath("/proc/self/exe", folder)) return false;
  char *slash = strrchr(folder, '/');
  if (slash) *slash = 0;
  return slash != NULL;
}

static bool is_there(char path[PATH_MAX], const char *folder, const char *below, const char *file) {
  int size = snprintf(path, PATH_MAX, "%s%s/%s", folder, below, file);
  return size > 0 && size < PATH_MAX && !access(path, R_OK);
}

static bool find_file(const char *file, char path[PATH_MAX]) {
  static const char *const below[] = {"", "/vyre", "/../lib/vyre"};
  const char *wanted = getenv("VYRE_MODULE_PATH");
  char folder[PATH_MAX];
  if (wanted && *wanted && is_there(path, wanted, "", file)) return true;
  if (!own_folder(folder)) return false;
  for (size_t i = 0; i < sizeof below / sizeof *below; i++)
    if (is_there(path, folder, below[i], file)) return true;
  return false;
}

vyre_status module_find(const char *file, const char *symbol, const void **out, vyre_error *error) {
  char path[PATH_MAX];
  *out = NULL;
  if (!find_file(file, path))
    return error_set(error, VYRE_ERROR_BACKEND,
                     "the module %s is not there. Fix: install it beside libvyre or in its vyre/ "
                     "folder, or set VYRE_MODULE_PATH to where it is",
                     file);
  // No RTLD_DEEPBIND: sanitizers do not work with it, and modules hide their own symbols anyway.
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return error_set(
        error, VYRE_ERROR_BACKEND,
        "the module %.200s cannot be opened: %.200s. Fix: run scripts/install-deps, or "
        "install the libraries it names",
        path, dlerror());
  *out = dlsym(handle, symbol);
  if (*out) return VYRE_OK;
  return error_set(error, VYRE_ERROR_BACKEND,
                   "the module %s has no `%s`. Fix: install the module of the same version", file,
                   symbol);
}

uint64_t module_stamp(const char *file) {
  char path[PATH_MAX];
  struct stat s;
  if (!find_file(file, path) || stat(path, &s)) return 0;
  uint64_t facts[] = {(uint64_t)s.st_size, (uint64_t)s.st_mtim.tv_sec, (uint64_t)s.st_mtim.tv_nsec};
  return hash_fast(facts, sizeof facts) | 1;
}
