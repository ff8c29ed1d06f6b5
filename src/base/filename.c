// SPDX-License-Identifier: MIT
#include "base/filename.h"

#include "base/ascii.h"
#include "base/hash.h"

#include <stdio.h>
#include <string.h>

static bool is_safe(char c, bool first) {
  return ascii_is_word(c) || c == '-' || c == '+' || (c == '.' && !first);
}

void filename_make_safe(const char *name, char out[FILENAME_SAFE]) {
  enum { HASH_DIGITS = 16, MOST = FILENAME_SAFE - HASH_DIGITS - 2 };
  size_t size = strlen(name), kept = size < MOST ? size : MOST;
  bool changed = kept < size || !size;
  for (size_t i = 0; i < kept; i++) {
    bool safe = is_safe(name[i], i == 0);
    out[i] = safe ? name[i] : '_';
    changed |= !safe;
  }
  out[kept] = 0;
  if (!changed) return;
  uint8_t digest[HASH_BYTES];
  char hex[HASH_HEX];
  hash_bytes(name, size, digest);
  hash_hex(digest, hex);
  snprintf(out + kept, FILENAME_SAFE - kept, "-%.*s", HASH_DIGITS, hex);
}

bool filename_is_plain(const char *name, size_t most) {
  size_t size = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_");
  return size && size <= most && !name[size] && name[0] >= 'a' && name[0] <= 'z';
}
