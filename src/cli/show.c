// SPDX-License-Identifier: MIT
#include "cli/show.h"

#include "base/decimal.h"
#include "base/format.h"
#include "cli/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *show_time(uint64_t ns, char *out) {
  if (ns < 1000)
    format_text(out, SHOW_TEXT, "%" PRIu64 " ns", ns);
  else if (ns < 999500) // what would be rounded to 1000 is one of the next unit
    format_text(out, SHOW_TEXT, "%.3g us", (double)ns / 1e3);
  else if (ns < 999500000)
    format_text(out, SHOW_TEXT, "%.3g ms", (double)ns / 1e6);
  else
    format_text(out, SHOW_TEXT, "%.3f s", (double)ns / 1e9);
  return out;
}

const char *show_bytes(uint64_t bytes, char *out) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = (double)bytes;
  int unit = 0;
  // What would be rounded to 1024.0 is one of the next unit.
  while (value >= (unit ? 1023.95 : 1024) && unit < 6) value /= 1024, unit++;
  if (unit)
    format_text(out, SHOW_TEXT, "%.1f %s", value, units[unit]);
  else
    format_text(out, SHOW_TEXT, "%" PRIu64 " B", bytes);
  return out;
}

const char *show_count(uint64_t count, char *out) {
  char digits[24];
  size_t length = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, count);
  char *to = out;
  for (size_t i = 0; i < length; i++) {
    if (i && (length - i) % 3 == 0) *to++ = ',';
    *to++ = digits[i];
  }
  *to = 0;
  return out;
}

void show_elements(vyre_type type, const void *data, uint64_t count, uint64_t shown) {
  char text[NUMBER_TEXT];
  int width = 1;
  if (shown > count) shown = count;
  for (uint64_t i = 0; i < shown; i++) {
    number_show(type, number_load(type, data, i), text);
    if ((int)strlen(text) > width) width = (int)strlen(text);
  }
  uint64_t columns = width <= 8 ? 8 : width <= 16 ? 4 : 2;
  for (uint64_t i = 0; i < shown; i++) {
    if (i % columns == 0) printf("%8" PRIu64 ":", i);
    number_show(type, number_load(type, data, i), text);
    printf("  %*s", width, text);
    if (i % columns == columns - 1 || i + 1 == shown) putchar('\n');
  }
  if (shown < count) printf("       ...  %s more\n", show_count(count - shown, text));
}

void show_first(vyre_type type, const void *data, uint64_t count) {
  enum { FEW = 6 };
  char text[NUMBER_TEXT];
  for (uint64_t i = 0; i < count && i < FEW; i++) {
    number_show(type, number_load(type, data, i), text);
    printf("%s%s", i ? " " : "", text);
  }
  if (count > FEW) fputs(" ...", stdout);
}

static json_t *element_json(vyre_type type, uint64_t bits) {
  char text[NUMBER_TEXT];
  number_show(type, bits, text);
  if (type == VYRE_BOOL) return json_boolean(bits & 0xff);
  if (type == VYRE_F16 || type == VYRE_F32 || type == VYRE_F64) {
    json_t *value = json_real(decimal_read_f64(text, NULL));
    return value ? value : json_string(text); // jansson makes no real of nan and inf
  }
  if (type == VYRE_U64 && bits > INT64_MAX) return json_string(text);
  return json_integer((json_int_t)strtoll(text, NULL, 10));
}

json_t *show_json(vyre_type type, const void *data, uint64_t count) {
  json_t *list = json_array();
  for (uint64_t i = 0; i < count; i++)
    json_array_append_new(list, element_json(type, number_load(type, data, i)));
  return list;
}
