// SPDX-License-Identifier: MIT
//
// The C loops as each compiler made them: tables by native_id.
#ifndef VYRE_BENCH_VARIANTS_H
#define VYRE_BENCH_VARIANTS_H

#include "kernels/native.h"

typedef enum variant {
#define X(name) VARIANT_##name,
  NATIVE_VARIANTS(X)
#undef X
      VARIANT_COUNT
} variant;

const native_kernel *variant_get(variant v);       // NULL: that compiler is not there
const native_kernel *variant_get_tuned(variant v); // entries are NULL where the plain loop is right

#endif
