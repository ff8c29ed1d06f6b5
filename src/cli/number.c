// SPDX-License-Identifier: MIT
#include "cli/number.h"

#include "base/ascii.h"
#include "base/decimal.h"
#include "base/error.h"
#include "base/format.h"
#include "base/half.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool number_read_u64(const char *text, const char **end, uint64_t *out) {
  bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  if (!ascii_is_hex_digit(text[hex ? 2 : 0])) return false;
  char *stop;
  errno = 0;
  *out = strtoull(text, &stop, hex ? 16 : 10);
  if (stop == text || errno) return false;
  *end = stop;
  return true;
}

// The power of ten or two that follows a number: *ten decimal places, *two times 1024.
static const char *read_scale(const char *p, int *ten, int *two) {
  static const char letters[] = "kMG";
  *ten = *two = 0;
  if (*p == 'e' || *p == 'E') {
    const char *digits = p + 1 + (p[1] == '+');
    if (!ascii_is_digit(*digits)) return p;
    for (p = digits; ascii_is_digit(*p); p++)
      if (*ten < 100) *ten = 10 * *ten + (*p - '0');
    return p;
  }
  const char *letter = *p ? strchr(letters, *p == 'K' ? 'k' : *p) : NULL;
  if (!letter) return p;
  int power = 1 + (int)(letter - letters);
  if (p[1] == 'i') *two = power;
  if (p[1] != 'i') *ten = 3 * power;
  return p + 1 + (p[1] == 'i');
}

bool number_read_count(const char *text, const char **end, uint64_t *out) {
  const char *p;
  if (!number_read_u64(text, &p, out)) return false;
  *end = p;
  if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) return true;
  const char *fraction = *p == '.' ? p + 1 : p;
  for (p = fraction; fraction > *end && ascii_is_digit(*p);) p++;
  int places = (int)(p - fraction), ten, two;
  const char *behind = read_scale(p, &ten, &two);
  if (behind == p) return true; // a plain number; what follows is not ours
  if (fraction > *end && (!places || two)) return false;
  for (const char *at = fraction; at < p && ten > 0; at++, ten--)
    if (__builtin_mul_overflow(*out, 10u, out) ||
        __builtin_add_overflow(*out, (unsigned)(*at - '0'), out))
      return false;
    else
      places--;
  for (; places > 0; places--)
    if (p[-places] != '0') return false; // a part of one
  for (; ten > 0 && *out; ten--)
    if (__builtin_mul_overflow(*out, 10u, out)) return false;
  for (; two > 0; two--)
    if (__builtin_mul_overflow(*out, 1024u, out)) return false;
  *end = behind;
  return true;
}

static bool is_signed(vyre_type type) {
  return type == VYRE_I8 || type == VYRE_I16 || type == VYRE_I32 || type == VYRE_I64;
}

static vyre_status refuse(const char *text, vyre_type type, const char *fix, vyre_error *error) {
  return error_set(error, VYRE_ERROR_BINDING, "`%s` is no %s. Fix: %s", text, vyre_type_name(type),
                   fix);
}

static vyre_status read_integer(const char *text, vyre_type type, uint64_t *bits,
                                vyre_error *error) {
  unsigned width = 8 * (unsigned)vyre_type_size(type);
  bool negative = *text == '-';
  uint64_t magnitude;
  const char *end;
  if (!number_read_u64(text + (*text == '-' || *text == '+'), &end, &magnitude) || *end)
    return refuse(text, type, "write a whole number such as 42, -7 or 0xff", error);
  uint64_t all = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
  uint64_t most = is_signed(type) ? (all >> 1) + negative : negative ? 0 : all;
  // Hexadecimal names bits, so that 0xffffffff is an i32 too.
  if (!negative && strchr(text, 'x')) most = all;
  if (magnitude > most)
    return refuse(text, type,
                  is_signed(type) ? "stay within its range"
                                  : "use a value from 0 up to "
                                    "the type's largest",
                  error);
  *bits = (negative ? 0 - magnitude : magnitude) & all;
  return VYRE_OK;
}

static bool is_float(vyre_type type) {
  return type == VYRE_F16 || type == VYRE_F32 || type == VYRE_F64;
}

static vyre_status read_float(const char *text, vyre_type type, uint64_t *bits, vyre_error *error) {
  char *end;
  double wide = 0;
  float narrow = 0;
  uint16_t half = 0;
  if (type == VYRE_F64)
    wide = decimal_read_f64(text, &end);
  else if (type == VYRE_F32)
    wide = (double)(narrow = decimal_read_f32(text, &end));
  else
    wide = half_read(half = decimal_read_f16(text, &end));
  if (end == text || *end || ascii_is_space(*text))
    return refuse(text, type, "write a number such as 2.5, 1e-3, nan or -inf", error);
  bool named = strpbrk(text, "iI") != NULL; // inf
  if (!named && isinf(wide))
    return refuse(text, type, "it is too large for the type; write `inf` if you mean infinity",
                  error);
  *bits = 0;
  if (type == VYRE_F64)
    memcpy(bits, &wide, sizeof wide);
  else if (type == VYRE_F32)
    memcpy(bits, &narrow, sizeof narrow);
  else
    *bits = half;
  return VYRE_OK;
}

vyre_status number_read(const char *text, vyre_type type, uint64_t *bits, vyre_error *error) {
  if (is_float(type)) return read_float(text, type, bits, error);
  if (type != VYRE_BOOL) return read_integer(text, type, bits, error);
  *bits = !strcmp(text, "true") || !strcmp(text, "1");
  if (*bits || !strcmp(text, "false") || !strcmp(text, "0")) return VYRE_OK;
  return refuse(text, type, "write true or false", error);
}

static bool gives_back(vyre_type type, const char *text, double value) {
  if (type == VYRE_F64) return decimal_read_f64(text, NULL) == value;
  if (type == VYRE_F32) return decimal_read_f32(text, NULL) == (float)value;
  return half_read(decimal_read_f16(text, NULL)) == value;
}

static void show_float(vyre_type type, double value, char out[NUMBER_TEXT]) {
  if (isnan(value)) {
    strcpy(out, "nan");
    return;
  }
  int least = fabs(value) >= 10 && fabs(value) < 1e7 ? 7 : 1; // 10 and not 1e+01
  for (int digits = least; digits <= 17; digits++) {
    format_text(out, NUMBER_TEXT, "%.*g", digits, value);
    if (gives_back(type, out, value)) return;
  }
}

void number_show(vyre_type type, uint64_t bits, char out[NUMBER_TEXT]) {
  float narrow;
  double wide;
  memcpy(&narrow, &bits, sizeof narrow);
  memcpy(&wide, &bits, sizeof wide);
  switch (type) {
  case VYRE_BOOL: strcpy(out, bits & 0xff ? "true" : "false"); return;
  case VYRE_I8: snprintf(out, NUMBER_TEXT, "%d", (int8_t)bits); return;
  case VYRE_I16: snprintf(out, NUMBER_TEXT, "%d", (int16_t)bits); return;
  case VYRE_I32: snprintf(out, NUMBER_TEXT, "%" PRId32, (int32_t)bits); return;
  case VYRE_I64: snprintf(out, NUMBER_TEXT, "%" PRId64, (int64_t)bits); return;
  case VYRE_F16: show_float(type, half_read((uint16_t)bits), out); return;
  case VYRE_F32: show_float(type, (double)narrow, out); return;
  case VYRE_F64: show_float(type, wide, out); return;
  case VYRE_U8:
  case VYRE_U16:
  case VYRE_U32:
  case VYRE_U64:
  case VYRE_VOID:
  case VYRE_TYPE_COUNT: snprintf(out, NUMBER_TEXT, "%" PRIu64, bits); return;
  }
}

uint64_t number_load(vyre_type type, const void *data, uint64_t index) {
  size_t size = vyre_type_size(type);
  uint64_t bits = 0; // little-endian machines only, as everywhere in vyre
  memcpy(&bits, (const char *)data + index * size, size);
  return bits;
}

void number_store(vyre_type type, void *data, uint64_t index, uint64_t bits) {
  size_t size = vyre_type_size(type);
  memcpy((char *)data + index * size, &bits, size);
}
