// SPDX-License-Identifier: MIT
#include "base/trust.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

vyre_status trust_check(const char *path, const struct stat *info, vyre_error *error) {
  if (info->st_uid != 0 && info->st_uid != geteuid())
    return error_set(error, VYRE_ERROR_IO,
                     "`%.300s` is not used, because it belongs to another user (%u). Fix: use one "
                     "that is yours, or `chown` it",
                     path, (unsigned)info->st_uid);
  if (info->st_mode & (S_IWGRP | S_IWOTH))
    return error_set(error, VYRE_ERROR_IO,
                     "`%.300s` is not used, because other users can write it (mode %03o). Fix: "
                     "`chmod go-w` it, after a look at what is there",
                     path, (unsigned)info->st_mode & 0777u);
  return VYRE_OK;
}

vyre_status trust_folders(const char *path, size_t base, vyre_error *error) {
  char *folder = strdup(path);
  if (!folder) return error_out_of_memory(error);
  vyre_status status = VYRE_OK;
  for (size_t i = base; folder[i] && status == VYRE_OK; i++) {
    struct stat info;
    if (folder[i] != '/' || !i) continue;
    folder[i] = 0;
    if (!stat(folder, &info)) status = trust_check(folder, &info, error);
    folder[i] = '/';
  }
  free(folder);
  return status;
}
