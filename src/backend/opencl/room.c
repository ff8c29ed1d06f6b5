// SPDX-License-Identifier: MIT
#include "backend/opencl/room.h"

#include "base/environment.h"
#include "base/error.h"
#include "base/file.h"
#include "base/trust.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

// What one program leaves there is below 1 MiB.
#define ROOM_BYTES ((uint64_t)8 << 20)

// As PoCL looks for it, with a slash behind; empty where that would be in /tmp. `base` is how much
// of the path is not PoCL's own.
static void find_folder(char *out, size_t size, size_t *base) {
  const char *own = environment_get("POCL_CACHE_DIR"), *xdg = environment_get("XDG_CACHE_HOME"),
             *home = environment_get("HOME");
  *out = 0;
  *base = 0;
  if (own) {
    snprintf(out, size, "%s/", own);
    *base = strlen(own);
  } else if (xdg || home) {
    snprintf(out, size, "%s%s/pocl/kcache/", xdg ? xdg : home, xdg ? "" : "/.cache");
    *base = strlen(out) - strlen("pocl/kcache/");
  }
}

// PoCL loads code from there. Its folders are made for it, closed to others whatever the umask is.
static vyre_status check_trust(const char *folder, size_t base, vyre_error *error) {
  vyre_error why;
  if (*folder != '/')
    return error_set(error, VYRE_ERROR_UNSUPPORTED,
                     "PoCL is not used, because it would load code from %s. Fix: set HOME, or "
                     "POCL_CACHE_DIR, to an absolute path",
                     *folder ? "the current folder" : "/tmp, where others can write");
  if (trust_folders(folder, base, &why) != VYRE_OK)
    return error_set(error, VYRE_ERROR_UNSUPPORTED, "PoCL is not used: %.500s", why.message);
  (void)file_make_parents(folder, NULL);
  return VYRE_OK;
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
  char folder[PATH_MAX];
  size_t base;
  if (strncmp(d->platform_name, pocl, strlen(pocl))) return VYRE_OK;
  find_folder(folder, sizeof folder, &base);
  vyre_status status = check_trust(folder, base, error);
  if (status != VYRE_OK || has_room(folder)) return status;
  return error_set(error, VYRE_ERROR_UNSUPPORTED,
                   "PoCL has no room for its files in `%.300s`, and would end the process. Fix: "
                   "make room there, or set POCL_CACHE_DIR to a folder that has some",
                   folder);
}
