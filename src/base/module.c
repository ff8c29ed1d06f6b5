// SPDX-License-Identifier: MIT
#include "base/module.h"

#include "base/error.h"
#include "base/strbuf.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// RTLD_LOCAL and RTLD_DEEPBIND are left alone: the modules hide their own symbols, and sanitizers
// do not work with deep binding.
static void *open_in(const char *folder, const char *file, strbuf *tried) {
  strbuf path = {0};
  strbuf_printf(&path, "%s/%s", folder, file);
  char *full = strbuf_take(&path, NULL);
  void *handle = full && !access(full, R_OK) ? dlopen(full, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (full && !handle) {
    const char *reason = access(full, R_OK) ? NULL : dlerror();
    strbuf_printf(tried, "%s%s%s%s", tried->size ? ", " : "", full, reason ? ": " : "",
                  reason ? reason : "");
  }
  free(full);
  return handle;
}

// The folder of the file that holds this function: libvyre.so, or a program that links it
// statically.
static bool own_folder(char folder[PATH_MAX]) {
  Dl_info info;
  if (!dladdr((void *)(uintptr_t)&module_find, &info) || !info.dli_fname) return false;
  char *real = realpath(info.dli_fname, folder);
  if (!real && !realpath("/proc/self/exe", folder)) return false;
  char *slash = strrchr(folder, '/');
  if (!slash) return false;
  *slash = 0;
  return true;
}

static void *open_module(const char *file, strbuf *tried) {
  const char *wanted = getenv("VYRE_MODULE_PATH");
  void *handle = wanted && *wanted ? open_in(wanted, file, tried) : NULL;
  char folder[PATH_MAX];
  if (handle || !own_folder(folder)) return handle;
  static const char *const below[] = {"", "/vyre", "/../lib/vyre"};
  for (size_t i = 0; i < sizeof below / sizeof *below && !handle; i++) {
    size_t size = strlen(folder);
    if (size + strlen(below[i]) >= sizeof folder) break;
    strcpy(folder + size, below[i]);
    handle = open_in(folder, file, tried);
    folder[size] = 0;
  }
  return handle;
}

vyre_status module_find(const char *file, const char *symbol, const void **out, vyre_error *error) {
  strbuf tried = {0};
  void *handle = open_module(file, &tried);
  *out = handle ? dlsym(handle, symbol) : NULL;
  char *places = strbuf_take(&tried, NULL);
  vyre_status status = VYRE_OK;
  if (!handle)
    status =
        error_set(error, VYRE_ERROR_BACKEND,
                  "the module %s was not found (tried %.300s). Fix: install it beside libvyre, "
                  "or set VYRE_MODULE_PATH to its folder",
                  file, places ? places : "");
  else if (!*out)
    status = error_set(error, VYRE_ERROR_BACKEND,
                       "the module %s has no `%s`. Fix: install the module of the same version",
                       file, symbol);
  free(places);
  return status;
}
