// SPDX-License-Identifier: MIT
#include "kernels/variants.h"

#include <stddef.h>

#define X(name)                                                                                    \
  extern const native_kernel name##_table[NATIVE_COUNT] __attribute__((weak));                     \
  extern const native_kernel name##_tuned[NATIVE_COUNT] __attribute__((weak));
NATIVE_VARIANTS(X)
#undef X

const native_kernel *variant_get(variant v) {
  static const native_kernel *const tables[] = {
#define X(name) name##_table,
      NATIVE_VARIANTS(X)
#undef X
  };
  return tables[v];
}

const native_kernel *variant_get_tuned(variant v) {
  static const native_kernel *const tables[] = {
#define X(name) name##_tuned,
      NATIVE_VARIANTS(X)
#undef X
  };
  return tables[v];
}
