// SPDX-License-Identifier: MIT
//
// The rows of tests/scalars.txt, and which of them a dispatch of tests/scalars.vyre passes: its
// `step`-th one has the step-th number of each type, from the first again where there are fewer.
// Include it behind cmocka.h.
#ifndef VYRE_TESTS_SCALARS_H
#define VYRE_TESTS_SCALARS_H

#include "vyre/vyre.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { SCALAR_ROWS = 256, SCALAR_TEXT = 64 };

typedef struct scalar_row {
  vyre_type type;
  char text[SCALAR_TEXT];
  uint64_t bits;
  bool is_nan, is_refused;
} scalar_row;

typedef struct scalar_rows {
  scalar_row rows[SCALAR_ROWS];
  uint32_t count, steps; // steps: of the type that has the most numbers
} scalar_rows;

static void scalars_read(scalar_rows *out) {
  FILE *f = fopen(VYRE_SOURCE_DIR "/tests/scalars.txt", "r");
  assert_non_null(f);
  char line[160], type[8], bits[24];
  uint32_t found[VYRE_TYPE_COUNT] = {0};
  *out = (scalar_rows){0};
  while (fgets(line, sizeof line, f)) {
    if (*line == '#') continue;
    assert_true(out->count < SCALAR_ROWS);
    scalar_row *r = &out->rows[out->count++];
    assert_int_equal(sscanf(line, "%7s %63s %23s", type, r->text, bits), 3);
    r->type = vyre_type_from_name(type);
    assert_int_not_equal(r->type, VYRE_VOID);
    r->is_nan = !strcmp(bits, "nan");
    r->is_refused = !strcmp(bits, "refused");
    if (!r->is_nan && !r->is_refused)
      assert_int_equal(sscanf(bits, "%llx", (unsigned long long *)&r->bits), 1);
    if (!r->is_refused && ++found[r->type] > out->steps) out->steps = found[r->type];
  }
  fclose(f);
  for (vyre_type t = VYRE_BOOL; t < VYRE_TYPE_COUNT; t++) assert_true(found[t] >= 2);
}

static const scalar_row *scalars_at(const scalar_rows *all, vyre_type type, uint32_t step) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < all->count; i++)
    count += all->rows[i].type == type && !all->rows[i].is_refused;
  step %= count;
  for (const scalar_row *r = all->rows;; r++)
    if (r->type == type && !r->is_refused && !step--) return r;
}

static uint64_t scalars_nan(vyre_type type) {
  return type == VYRE_F16   ? UINT64_C(0x7e00)
         : type == VYRE_F32 ? UINT64_C(0x7fc00000)
                            : UINT64_C(0x7ff8000000000000);
}

// The bits that are passed.
static uint64_t scalars_bits(const scalar_row *r) {
  return r->is_nan ? scalars_nan(r->type) : r->bits;
}

// Whether what arrived is what the row says; any NaN is a NaN.
static bool scalars_match(const scalar_row *r, const void *data) {
  uint64_t got = 0;
  memcpy(&got, data, vyre_type_size(r->type));
  if (!r->is_nan) return got == r->bits;
  uint64_t sign = UINT64_C(1) << (8 * vyre_type_size(r->type) - 1);
  uint64_t infinity = scalars_nan(r->type) & (scalars_nan(r->type) << 1);
  return (got & (sign - 1)) > infinity;
}

#endif
