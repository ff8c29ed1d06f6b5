// SPDX-License-Identifier: MIT
//
// Any bytes are a tuner cache, whole or in part, or an error; only valid shapes and whole
// choices come out of it.
#include "policy/tune_cache.h"
#include "require.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void check_note(void *context, const vyre_error *note) {
  (void)context;
  REQUIRE(note->line && strstr(note->message, "Fix:"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int fd = memfd_create("fuzz", MFD_CLOEXEC);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  REQUIRE(fd >= 0 && write(fd, data, size) == (ssize_t)size);
  tune_cache *cache = tune_cache_new();
  vyre_error error = {0};
  note_sink notes = {check_note, NULL};
  vyre_status status = tune_cache_load(cache, path, &notes, &error);
  REQUIRE(status == VYRE_OK || strstr(error.message, "Fix:"));
  tune_shape shape;
  REQUIRE(!tune_cache_get(cache, "v1-00ff", &shape) || tune_shape_is_valid(shape));
  tune_choice choice;
  for (uint32_t i = 0; tune_cache_choice(cache, i, &choice); i++)
    REQUIRE(choice.op && choice.configuration && choice.reason);
  tune_cache_free(cache);
  close(fd);
  return 0;
}
