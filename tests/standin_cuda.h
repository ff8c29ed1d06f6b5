// SPDX-License-Identifier: MIT
//
// The stand-in for NVIDIA's driver, opened by its path before the backend asks for it by its name:
// the loader then gives the backend this one. And a home of the test's own, because what is known
// of devices is kept there.
#ifndef VYRE_TESTS_STANDIN_CUDA_H
#define VYRE_TESTS_STANDIN_CUDA_H

#include "scratch_dir.h"
#include "tools/ptx/standin.h"

#include <dlfcn.h>

static inline const standin_control *standin_open(void) {
  char path[1000];
  ssize_t size = readlink("/proc/self/exe", path, sizeof path - 40);
  if (size <= 0 || scratch_dir_make(NULL)) abort();
  path[size] = 0;
  strcpy(strrchr(path, '/'), "/standin/libcuda.so.1");
  setenv("VYRE_HOME", scratch_path("home"), 1);
  void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    abort();
  }
  return dlsym(library, STANDIN_SYMBOL);
}

#endif
