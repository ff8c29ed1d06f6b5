// SPDX-License-Identifier: MIT
//
// In place of png.c where libpng was not there when vyre was built.
#include "cli/png.h"

#include "base/error.h"

static vyre_status refuse(const char *name, vyre_error *error) {
  return error_set(error, VYRE_ERROR_UNSUPPORTED,
                   "`%s` is a PNG, and this vyre was built without libpng. Fix: use .npy or .csv, "
                   "or build it where libpng-dev is installed",
                   name);
}

vyre_status png_decode(const void *bytes, size_t size, const char *name, vyre_type type,
                       npy_array *out, vyre_error *error) {
  (void)bytes, (void)size, (void)type;
  *out = (npy_array){0};
  return refuse(name, error);
}

vyre_status png_encode(const char *name, vyre_type type, uint32_t rank, const uint64_t *shape,
                       const void *data, char **out, size_t *size, vyre_error *error) {
  (void)type, (void)rank, (void)shape, (void)data;
  *out = NULL;
  *size = 0;
  return refuse(name, error);
}
