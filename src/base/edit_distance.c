// SPDX-License-Identifier: MIT
#include "base/edit_distance.h"

static size_t least(size_t a, size_t b) {
  return a < b ? a : b;
}

size_t edit_distance(const char *a, size_t a_size, const char *b, size_t b_size) {
  size_t rows[3][EDIT_LONGEST + 1]; // the last three of the table
  if (a_size > EDIT_LONGEST || b_size > EDIT_LONGEST) return EDIT_LONGEST;
  for (size_t j = 0; j <= b_size; j++) rows[0][j] = j;
  for (size_t i = 1; i <= a_size; i++) {
    size_t *row = rows[i % 3], *up = rows[(i - 1) % 3], *up2 = rows[(i + 1) % 3];
    row[0] = i;
    for (size_t j = 1; j <= b_size; j++) {
      size_t replaced = up[j - 1] + (a[i - 1] != b[j - 1]);
      row[j] = least(replaced, least(up[j], row[j - 1]) + 1);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = least(row[j], up2[j - 2] + 1);
    }
  }
  return rows[a_size % 3][b_size];
}
