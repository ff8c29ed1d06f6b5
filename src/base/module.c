// SPDX-License-Identifier: MIT
#include "base/module.h"

#include "base/environment.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/limited.h"
#include "base/trust.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The folder of the file that holds this function: libvyre.so, or a program that links it
// statically. The system's own list says it: a name as the program was called with (argv[0], or a
// library's path in a relative search path) would be looked up in whatever folder is current.
static char own_folder[PATH_MAX]; // found once; empty when it cannot be
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find_own_folder(void) {
  uintptr_t here = (uintptr_t)&module_find;
  FILE *maps = fopen("/proc/self/maps", "re");
  char line[PATH_MAX + 128];
  bool found = false;
  while (maps && !found && fgets(line, sizeof line, maps)) {
    unsigned long first, end;
    int name = 0;
    if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %n", &first, &end, &name) < 2 || !name) continue;
    char *slash = strrchr(line, '/');
    if (here < first || here >= end || line[name] != '/') continue;
    *slash = 0;
    found = strlen(line + name) < sizeof own_folder;
    if (found) strcpy(own_folder, line + name);
  }
  if (maps) fclose(maps);
}

static bool is_there(char path[PATH_MAX], const char *folder, const char *below, const char *file) {
  int size = snprintf(path, PATH_MAX, "%s%s/%s", folder, below, file);
  return size > 0 && size < PATH_MAX && !access(path, F_OK);
}

static bool find_file(const char *file, char path[PATH_MAX]) {
  static const char *const below[] = {"", "/vyre", "/../lib/vyre"};
  const char *wanted = environment_get_absolute("VYRE_MODULE_PATH");
  if (wanted && is_there(path, wanted, "", file)) return true;
  pthread_once(&once, find_own_folder);
  for (size_t i = 0; i < sizeof below / sizeof *below && *own_folder; i++)
    if (is_there(path, own_folder, below[i], file)) return true;
  return false;
}

// Its folder, then the file itself.
static vyre_status check_trust(const char *path, vyre_error *error) {
  struct stat info;
  size_t folder = (size_t)(strrchr(path, '/') - path);
  vyre_status status = trust_folders(path, folder, error);
  if (status == VYRE_OK && !stat(path, &info)) status = trust_check(path, &info, error);
  if (status == VYRE_OK) return VYRE_OK;
  if (error) error->status = VYRE_ERROR_BACKEND; // another backend may do
  return VYRE_ERROR_BACKEND;
}

static vyre_status find_trusted(const char *file, char path[PATH_MAX], vyre_error *error) {
  if (find_file(file, path)) return check_trust(path, error);
  return error_set(error, VYRE_ERROR_BACKEND,
                   "the module %s is not there. Fix: install it beside libvyre or in its vyre/ "
                   "folder, or set VYRE_MODULE_PATH to the folder's absolute path",
                   file);
}

vyre_status module_check(const char *file, vyre_error *error) {
  char path[PATH_MAX];
  return find_trusted(file, path, error);
}

vyre_status module_find(const char *file, const char *symbol, const void **out, vyre_error *error) {
  char path[PATH_MAX];
  *out = NULL;
  vyre_status status = find_trusted(file, path, error);
  if (status != VYRE_OK) return status;
  // No RTLD_DEEPBIND: sanitizers do not work with it, and modules hide their own symbols anyway.
  void *loaded = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  void *handle = loaded ? loaded : dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle && !loaded) limited_guard_exit();
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
