// SPDX-License-Identifier: MIT
#include "base/utf8.h"

size_t utf8_length(const char *p, size_t size) {
  const unsigned char *u = (const unsigned char *)p;
  if (u[0] < 0x80) return 1;
  size_t length = u[0] >= 0xf0 ? 4 : u[0] >= 0xe0 ? 3 : 2;
  if (u[0] < 0xc2 || u[0] > 0xf4 || length > size) return 0;
  for (size_t i = 1; i < length; i++)
    if ((u[i] & 0xc0) != 0x80) return 0;
  // The second byte decides about overlong forms, surrogates and the end of the range.
  bool bad = (u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] > 0x9f) ||
             (u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] > 0x8f);
  return bad ? 0 : length;
}

void utf8_put(strbuf *out, uint32_t c) {
  static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
  int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  strbuf_putc(out, (char)(lead[more] | c >> (6 * more)));
  while (more--) strbuf_putc(out, (char)(0x80 | (c >> (6 * more) & 63)));
}
