// SPDX-License-Identifier: MIT
//
// Any bytes are an array or an error; an array is as large as it says and survives being written.
#include "cli/npy.h"
#include "require.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *bytes = malloc(size + 1);
  if (!bytes) return 0;
  memcpy(bytes, data, size);
  npy_array a, again;
  vyre_error error = {0};
  if (npy_decode(bytes, size, "fuzz", &a, &error) != VYRE_OK) {
    REQUIRE(strstr(error.message, "Fix:"));
    return 0;
  }
  char *out;
  size_t out_size, used = a.count * vyre_type_size(a.type);
  REQUIRE(npy_encode(2, a.type, a.rank, a.shape, a.data, &out, &out_size, &error) == VYRE_OK);
  REQUIRE(npy_decode(out, out_size, "again", &again, &error) == VYRE_OK);
  REQUIRE(again.count == a.count && !memcmp(again.data, a.data, used));
  npy_free(&a);
  npy_free(&again);
  return 0;
}
