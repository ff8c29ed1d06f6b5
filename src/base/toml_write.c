// SPDX-License-Identifier: MIT
#include "base/toml.h"

#include "base/utf8.h"

#include <string.h>

void toml_write_string(strbuf *out, const char *text) {
  static const char from[] = "\b\t\n\f\r\"\\", to[] = "btnfr\"\\";
  strbuf_putc(out, '"');
  for (const char *p = text, *end = text + strlen(text); p < end;) {
    unsigned char c = (unsigned char)*p;
    size_t length = utf8_length(p, (size_t)(end - p));
    const char *escape = strchr(from, c);
    if (!length)
      utf8_put(out, 0xfffd);
    else if (escape)
      strbuf_printf(out, "\\%c", to[escape - from]);
    else if (c < 32 || c == 127)
      strbuf_printf(out, "\\u%04X", c);
    else
      strbuf_add(out, p, length);
    p += length ? length : 1;
  }
  strbuf_putc(out, '"');
}

void toml_write_key(strbuf *out, const char *key) {
  static const char bare[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  if (*key && !key[strspn(key, bare)])
    strbuf_puts(out, key);
  else
    toml_write_string(out, key);
}
