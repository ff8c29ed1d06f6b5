// SPDX-License-Identifier: MIT
//
// What the fuzz targets share: the function that each of them is, and what must hold for any bytes.
#ifndef VYRE_FUZZ_REQUIRE_H
#define VYRE_FUZZ_REQUIRE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(x)                                                                                 \
  do {                                                                                             \
    if (!(x)) {                                                                                    \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x);                                      \
      abort();                                                                                     \
    }                                                                                              \
  } while (0)

#endif
