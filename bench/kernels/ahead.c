// SPDX-License-Identifier: MIT
#include "kernels/ahead.h"

#include <dlfcn.h>
#include <stdio.h>

ahead ahead_open(const char *folder, const char *file) {
  char path[400];
  snprintf(path, sizeof path, "%s/lib/%s", folder, file);
  return (ahead){dlopen(path, RTLD_NOW | RTLD_LOCAL)};
}

native_kernel ahead_find(ahead a, native_id id, bool is_fast, bool on_all_cores) {
  static const char *const names[] = {
#define X(name) #name,
      NATIVE_KERNELS(X)
#undef X
  };
  char symbol[80];
  native_kernel found = NULL;
  if (!a.library) return NULL;
  snprintf(symbol, sizeof symbol, "peer_%s_%s_%s", is_fast ? "fast" : "exact",
           on_all_cores ? "all" : "one", names[id]);
  *(void **)&found = dlsym(a.library, symbol);
  return found;
}
