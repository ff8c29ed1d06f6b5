// SPDX-License-Identifier: MIT
#include "backend/opencl/room.h"

#include "base/environment.h"
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

// What one program leaves there is below 1 MiB.
#define ROOM_BYTES ((uint64_t)8 << 20)

// As PoCL looks for it.
static void find_folder(char *out, size_t size) {
  const char *own = environment_get("POCL_CACHE_DIR"), *xdg = environment_get("XDG_CACHE_HOME"),
             *home = environment_get("HOME");
  if (own)
    snprintf(out, size, "%s", own);
  else if (xdg)
    snprintf(out, size, "%s", xdg);
  else if (home)
    snprintf(out, size, "%s/.cache", home);
  else
    snprintf(out, size, "/tmp");
}

static bool has_room(char *folder) {
  struct rlimit limit;
  struct statvfs info;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < ROOM_BYTES) return false;
  // A folder that is not there yet will be made in the nearest one that is.
  while (statvfs(folder, &info) != 0) {
    char *slash = strrchr(folder, '/');
    if (!slash) return true; // nothing is known
    *slash = 0;
    if (slash == folder) strcpy(folder, "/");
  }
  return (uint64_t)info.f_bavail * info.f_frsize >= ROOM_BYTES;
}

vyre_status opencl_check_room(const opencl_device *d, vyre_error *error) {
  static const char pocl[] = "Portable Computing Language";
  char folder[4096];
  if (strncmp(d->platform_name, pocl, strlen(pocl))) return VYRE_OK;
  find_folder(folder, sizeof folder);
  if (has_room(folder)) return VYRE_OK;
  return error_set(error, VYRE_ERROR_UNSUPPORTED,
                   "PoCL has no room for its files in `%.300s`, and would end the process. Fix: "
                   "make room there, or set POCL_CACHE_DIR to a folder that has some",
                   folder);
}
