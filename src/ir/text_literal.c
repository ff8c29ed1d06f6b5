// SPDX-License-Identifier: MIT
#include "ir/text_literal.h"

#include "base/decimal.h"
#include "base/half.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- reading ------------------------------------------------------------------------------------

static unsigned digit_value(char c) {
  if (c >= '0' && c <= '9') return (unsigned)(c - '0');
  return (unsigned)((c | 0x20) - 'a') + 10;
}

void literal_read_int(literal *l) {
  const char *digits = l->text;
  uint32_t i = 0;
  uint64_t base = 10, value = 0;
  if (l->size > 2 && digits[0] == '0' && (digits[1] | 0x20) == 'x') base = 16, i = 2;
  for (; i < l->size && !l->is_huge; i++)
    l->is_huge = __builtin_mul_overflow(value, base, &value) ||
                 __builtin_add_overflow(value, digit_value(digits[i]), &value);
  l->magnitude = value;
}

static literal_fit int_bits(const literal *l, vyre_type type, uint64_t *bits) {
  unsigned width = type_bits(type);
  uint64_t most = type_is_signed(type) ? ((uint64_t)1 << (width - 1)) - 1 : UINT64_MAX;
  if (!type_is_signed(type) && width < 64) most = ((uint64_t)1 << width) - 1;
  if (l->is_negative) most = type_is_signed(type) ? most + 1 : 0;
  if (l->is_huge || l->magnitude > most) return LITERAL_OUT_OF_RANGE;
  *bits = l->is_negative ? 0 - l->magnitude : l->magnitude;
  return LITERAL_FITS;
}

static literal_fit float_bits(const literal *l, vyre_type type, uint64_t *bits) {
  char stack[64], *text = stack;
  if (l->size >= sizeof stack && !(text = malloc((size_t)l->size + 1))) return LITERAL_NO_MEMORY;
  memcpy(text, l->text, l->size);
  text[l->size] = 0;
  bool is_finite;
  if (type == VYRE_F16) {
    uint16_t value = decimal_read_f16(text, NULL);
    *bits = value | (uint64_t)l->is_negative << 15;
    is_finite = value < 0x7c00;
  } else if (type == VYRE_F32) {
    float value = decimal_read_f32(text, NULL);
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    *bits = word | (uint64_t)l->is_negative << 31;
    is_finite = isfinite(value);
  } else {
    double value = decimal_read_f64(text, NULL);
    memcpy(bits, &value, sizeof value);
    *bits |= (uint64_t)l->is_negative << 63;
    is_finite = isfinite(value);
  }
  if (text != stack) free(text);
  return is_finite ? LITERAL_FITS : LITERAL_OUT_OF_RANGE;
}

static bool is_decimal(const literal *l) {
  return l->size < 2 || (l->text[1] | 0x20) != 'x';
}

literal_fit literal_bits(const literal *l, vyre_type type, uint64_t *bits) {
  if (type_is_float(type) && (l->is_float || is_decimal(l))) return float_bits(l, type, bits);
  if (l->is_float || !type_is_int(type)) return LITERAL_WRONG_KIND;
  return int_bits(l, type, bits);
}

// Infinities and NaN by their names in the text form; bool also as 0 and 1.
static bool read_word(const char *text, vyre_type type, uint64_t *bits) {
  static const struct {
    const char *text;
    vyre_type type;
    uint64_t bits;
  } words[] = {
      {"true", VYRE_BOOL, 1},
      {"false", VYRE_BOOL, 0},
      {"1", VYRE_BOOL, 1},
      {"0", VYRE_BOOL, 0},
      {"inf_f16", VYRE_F16, 0x7c00u},
      {"-inf_f16", VYRE_F16, 0xfc00u},
      {"nan_f16", VYRE_F16, 0x7e00u},
      {"inf_f32", VYRE_F32, 0x7f800000u},
      {"-inf_f32", VYRE_F32, 0xff800000u},
      {"nan_f32", VYRE_F32, 0x7fc00000u},
      {"inf_f64", VYRE_F64, 0x7ff0000000000000u},
      {"-inf_f64", VYRE_F64, 0xfff0000000000000u},
      {"nan_f64", VYRE_F64, 0x7ff8000000000000u},
  };
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (words[i].type == type && !strcmp(words[i].text, text)) {
      *bits = words[i].bits;
      return true;
    }
  return false;
}

// Digits of an integer, in decimal or after 0x.
static bool is_whole(const char *text) {
  bool is_hex = text[0] == '0' && (text[1] | 0x20) == 'x';
  const char *digits = is_hex ? text + 2 : text;
  size_t count = strspn(digits, is_hex ? "0123456789abcdefABCDEF" : "0123456789");
  return count && !digits[count];
}

bool literal_read_text(const char *text, size_t size, vyre_type type, uint64_t *bits) {
  enum { MOST = 64 };
  char copy[MOST], *end;
  if (!size || size >= MOST || memchr(text, 0, size)) return false;
  memcpy(copy, text, size);
  copy[size] = 0;
  if (read_word(copy, type, bits)) return true;
  bool is_negative = copy[0] == '-';
  literal l = {.text = copy + is_negative,
               .size = (uint32_t)size - is_negative,
               .is_float = type_is_float(type),
               .is_negative = is_negative};
  const char *number = copy + is_negative;
  if (*number < '0' || *number > '9') return false;
  if (l.is_float) {
    (void)decimal_read_f64(number, &end);
    if (*end) return false;
  } else {
    if (!is_whole(number)) return false;
    literal_read_int(&l);
  }
  if (literal_bits(&l, type, bits) != LITERAL_FITS) return false;
  *bits = type_canonical_bits(type, *bits);
  return true;
}

// ---- printing -----------------------------------------------------------------------------------

bool literal_tells_type(vyre_type type, uint64_t bits) {
  switch (type) {
  case VYRE_BOOL: return true;
  case VYRE_F16:
  case VYRE_F32:
  case VYRE_F64: return type_exponent(type, bits) == type_exponents(type);
  case VYRE_VOID:
  case VYRE_I8:
  case VYRE_U8:
  case VYRE_I16:
  case VYRE_U16:
  case VYRE_I32:
  case VYRE_U32:
  case VYRE_I64:
  case VYRE_U64:
  case VYRE_TYPE_COUNT: break;
  }
  return false;
}

// Infinities and NaN; a NaN constant is always the positive quiet one.
static void print_special(strbuf *s, vyre_type type, uint64_t bits) {
  bool is_negative = bits >> (type_bits(type) - 1) & 1;
  strbuf_printf(s, "%s_%s",
                type_is_nan(type, bits) ? "nan"
                : is_negative           ? "-inf"
                                        : "inf",
                type_table[type].name);
}

void literal_print(strbuf *s, vyre_type type, uint64_t bits, bool as_hex) {
  if (type == VYRE_BOOL) {
    strbuf_puts(s, bits ? "true" : "false");
  } else if (literal_tells_type(type, bits)) {
    print_special(s, type, bits);
  } else if (type == VYRE_F16) {
    decimal_print(s, half_read((uint16_t)bits), 16);
  } else if (type == VYRE_F32) {
    float value;
    uint32_t word = (uint32_t)bits;
    memcpy(&value, &word, sizeof value);
    decimal_print(s, (double)value, 32);
  } else if (type == VYRE_F64) {
    double value;
    memcpy(&value, &bits, sizeof value);
    decimal_print(s, value, 64);
  } else if (type_is_signed(type)) {
    strbuf_printf(s, as_hex && (int64_t)bits > 9 ? "0x%llx" : "%lld", (long long)bits);
  } else {
    strbuf_printf(s, as_hex && bits > 9 ? "0x%llx" : "%llu", (unsigned long long)bits);
  }
}
