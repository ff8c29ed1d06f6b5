// SPDX-License-Identifier: MIT
//
// A kernel of a text in a runtime of its own, for unit tests that put a backend of theirs beside the
// usual ones (backend_set_extra). Include it behind cmocka.h.
#ifndef VYRE_TESTS_LOADED_KERNEL_H
#define VYRE_TESTS_LOADED_KERNEL_H

#include "backend/backend.h"

#include <string.h>

static vyre_kernel *load_text(const char *text, const vyre_runtime_options *options,
                              vyre_runtime **rt) {
  vyre_program *p;
  vyre_kernel *k = NULL;
  vyre_error error;
  if (vyre_program_parse(text, strlen(text), "test", &p, &error) ||
      vyre_runtime_new(options, rt, &error) || vyre_runtime_load(*rt, p, &k, &error))
    fail_msg("%s", error.message);
  vyre_program_release(p);
  return k;
}

static void finish(vyre_runtime *rt) {
  vyre_runtime_free(rt);
  backend_set_extra(NULL);
}

#endif
