// SPDX-License-Identifier: MIT
//
// Reads the records of printf (ir/print_layout.h) and formats them as OpenCL C says. The buffer is
// what a kernel left there: nothing in it is trusted.
#include "ir/print_layout.h"

#include "base/error.h"
#include "base/fpenv.h"
#include "base/strbuf.h"

#include <vyre/vyre.h>

#include <stdlib.h>
#include <string.h>

enum { MOST_WIDTH = 4096 };

typedef struct item {
  uint32_t kind, count;
  const uint32_t *words;
} item;

typedef struct record {
  const uint32_t *words; // of which the first is their number
  uint32_t number;       // in the buffer
} record;

// ---- records ------------------------------------------------------------------------------------

// The item at *at, which is moved behind it; false when there is none.
static bool next_item(const record *r, uint32_t *at, item *out) {
  uint32_t end = r->words[0];
  if (*at >= end) return false;
  uint32_t tag = r->words[(*at)++];
  *out = (item){tag & 0xff, tag >> PRINT_COUNT_SHIFT, r->words + *at};
  uint32_t size =
      out->kind == PRINT_STRING ? out->count / 4 + (out->count % 4 != 0) : 2 * out->count;
  if (size > end - *at) return false;
  *at += size;
  return true;
}

static int by_invocation(const void *a, const void *b) {
  const record *x = a, *y = b;
  for (int axis = 3; axis > 0; axis--)
    if (x->words[axis] != y->words[axis]) return x->words[axis] < y->words[axis] ? -1 : 1;
  return x->number < y->number ? -1 : 1;
}

static uint32_t find_records(const uint32_t *words, uint64_t end, record *out) {
  uint32_t count = 0;
  for (uint64_t at = 1; at < end; at += words[at]) {
    if (words[at] < PRINT_HEAD || words[at] > end - at) break; // no room was left for the next
    if (out) out[count] = (record){words + at, count};
    count++;
  }
  return count;
}

// ---- conversions --------------------------------------------------------------------------------

typedef struct conversion {
  char flags[8];
  int width, precision; // -1: none
  int bytes;            // of an integer
  char letter;
} conversion;

static int take_number(const char **p, const char *end) {
  int made = 0;
  while (*p < end && **p >= '0' && **p <= '9') {
    if (made < MOST_WIDTH) made = made * 10 + (**p - '0');
    ++*p;
  }
  return made < MOST_WIDTH ? made : MOST_WIDTH;
}

static bool take(const char **p, const char *end, const char *word) {
  size_t size = strlen(word);
  if ((size_t)(end - *p) < size || memcmp(*p, word, size) != 0) return false;
  *p += size;
  return true;
}

// What follows a %; false when it is none that OpenCL C has.
static bool read_conversion(const char **p, const char *end, conversion *c) {
  *c = (conversion){.width = -1, .precision = -1, .bytes = 4};
  for (size_t n = 0; *p < end && **p && strchr("-+ #0", **p); ++*p)
    if (n + 1 < sizeof c->flags && !strchr(c->flags, **p)) c->flags[n++] = **p;
  if (*p < end && **p >= '0' && **p <= '9') c->width = take_number(p, end);
  if (take(p, end, ".")) c->precision = take_number(p, end);
  if (take(p, end, "v")) take_number(p, end); // the argument knows its lanes
  if (take(p, end, "hh"))
    c->bytes = 1;
  else if (take(p, end, "hl"))
    c->bytes = 4;
  else if (take(p, end, "h"))
    c->bytes = 2;
  else if (take(p, end, "ll") || take(p, end, "l"))
    c->bytes = 8;
  if (*p >= end || !**p || !strchr("diouxXcsfFeEgGaAp", **p)) return false;
  c->letter = *(*p)++;
  if (c->letter == 'p') { // a number of 64 bits, as pointers are
    c->letter = 'x';
    c->bytes = 8;
    if (!strchr(c->flags, '#')) strcat(c->flags, "#");
  }
  return true;
}

static uint64_t lane_bits(const item *i, uint32_t lane) {
  return i->words[2 * lane] | (uint64_t)i->words[2 * lane + 1] << 32;
}

static int64_t whole_number(const item *i, uint32_t lane, const conversion *c, bool is_signed) {
  uint64_t bits = lane_bits(i, lane);
  if (i->kind == PRINT_FLOAT) { // not what the format says: its whole part
    double x;
    memcpy(&x, &bits, sizeof x);
    bits = x > -0x1p63 && x < 0x1p63 ? (uint64_t)(int64_t)x : 0;
  }
  int unused = 64 - 8 * c->bytes;
  return is_signed ? (int64_t)(bits << unused) >> unused : (int64_t)(bits << unused >> unused);
}

static double float_number(const item *i, uint32_t lane) {
  uint64_t bits = lane_bits(i, lane);
  double x;
  memcpy(&x, &bits, sizeof x);
  return i->kind == PRINT_FLOAT ? x : (double)(int64_t)bits;
}

static void print_lane(strbuf *out, const item *i, uint32_t lane, const conversion *c) {
  char format[24] = "%";
  strcat(format, c->flags);
  strcat(format, c->width >= 0 ? "*" : "");
  strcat(format, c->precision >= 0 ? ".*" : "");
  bool is_float = strchr("fFeEgGaA", c->letter) != NULL;
  bool is_whole = !is_float && c->letter != 'c';
  if (is_whole) strcat(format, "ll");
  strncat(format, &c->letter, 1);
  long long whole = whole_number(i, lane, c, strchr("dic", c->letter) != NULL);
  if (c->letter == 'c' && !(unsigned char)whole) return; // it would end the text
  double number = float_number(i, lane);
#define PRINT(x)                                                                                   \
  do {                                                                                             \
    if (c->width >= 0 && c->precision >= 0)                                                        \
      strbuf_printf(out, format, c->width, c->precision, x);                                       \
    else if (c->width >= 0 || c->precision >= 0)                                                   \
      strbuf_printf(out, format, c->width >= 0 ? c->width : c->precision, x);                      \
    else                                                                                           \
      strbuf_printf(out, format, x);                                                               \
  } while (0)
  if (is_float)
    PRINT(number);
  else if (is_whole)
    PRINT(whole);
  else
    PRINT((int)whole);
#undef PRINT
}

static void print_string(strbuf *out, const item *i, const conversion *c) {
  int size = (int)(i->count < MOST_WIDTH ? i->count : MOST_WIDTH);
  if (c->precision >= 0 && c->precision < size) size = c->precision;
  bool is_left = strchr(c->flags, '-') != NULL;
  for (int k = size; k < c->width && !is_left; k++) strbuf_putc(out, ' ');
  strbuf_add(out, (const char *)i->words, (size_t)size);
  for (int k = size; k < c->width && is_left; k++) strbuf_putc(out, ' ');
}

// An argument that does not fit to the conversion, or is not there, leaves the conversion as it is.
static bool print_item(strbuf *out, const item *i, const conversion *c) {
  bool is_string = i->kind == PRINT_STRING;
  if (is_string != (c->letter == 's')) return false;
  if (is_string) print_string(out, i, c);
  for (uint32_t lane = 0; lane < i->count && !is_string; lane++) {
    if (lane) strbuf_putc(out, ',');
    print_lane(out, i, lane, c);
  }
  return true;
}

static void print_record(strbuf *out, const record *r) {
  uint32_t at = PRINT_HEAD;
  item format, argument;
  if (!next_item(r, &at, &format) || format.kind != PRINT_STRING) return;
  const char *p = (const char *)format.words, *end = p + format.count;
  while (p < end) {
    const char *start = p;
    conversion c;
    if (*p++ != '%') {
      strbuf_putc(out, *start);
    } else if (take(&p, end, "%")) {
      strbuf_putc(out, '%');
    } else if (!read_conversion(&p, end, &c) || !next_item(r, &at, &argument) ||
               !print_item(out, &argument, &c)) {
      strbuf_add(out, start, (size_t)(p - start));
    }
  }
}

// ---- all of them --------------------------------------------------------------------------------

typedef struct printing {
  record *records;
  uint32_t count;
  uint64_t lost; // words
} printing;

// The records of a buffer in the order of invocations; the caller frees them.
static bool read_printing(const void *data, size_t size_bytes, printing *out) {
  const uint32_t *words = data;
  uint64_t count = size_bytes / sizeof *words, used = count ? (uint64_t)words[0] + 1 : 0;
  uint64_t end = used < count ? used : count;
  *out = (printing){.count = find_records(words, end, NULL), .lost = used - end};
  out->records = calloc(out->count + 1u, sizeof *out->records);
  if (!out->records) return false;
  find_records(words, end, out->records);
  if (out->count) qsort(out->records, out->count, sizeof *out->records, by_invocation);
  return true;
}

static vyre_status bad_arguments(vyre_error *error) {
  return error_set(error, VYRE_ERROR_ARGUMENT,
                   "the buffer, `out` or `visit` is NULL. Fix: pass the words, and where the text "
                   "goes");
}

vyre_status vyre_print_each(const void *data, size_t size_bytes,
                            void (*visit)(void *data, const vyre_printed *printed),
                            void *visit_data, uint64_t *lost_words, vyre_error *error) {
  FPENV_SCOPE;
  printing all;
  if (!visit || (!data && size_bytes)) return bad_arguments(error);
  if (!read_printing(data, size_bytes, &all)) return error_out_of_memory(error);
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < all.count && status == VYRE_OK; i++) {
    strbuf text = {0};
    print_record(&text, &all.records[i]);
    const uint32_t *ids = all.records[i].words + 1;
    vyre_printed one = {.global_id = {ids[0], ids[1], ids[2]}, .size = text.size};
    char *taken = strbuf_take(&text, NULL);
    one.text = taken;
    if (taken)
      visit(visit_data, &one);
    else
      status = error_out_of_memory(error);
    free(taken);
  }
  if (lost_words) *lost_words = all.lost;
  free(all.records);
  return status;
}

vyre_status vyre_print_text(const void *data, size_t size_bytes, char **out, uint64_t *lost_words,
                            vyre_error *error) {
  FPENV_SCOPE;
  printing all;
  if (!out || (!data && size_bytes)) return bad_arguments(error);
  *out = NULL;
  if (!read_printing(data, size_bytes, &all)) return error_out_of_memory(error);
  strbuf text = {0};
  for (uint32_t i = 0; i < all.count; i++) print_record(&text, &all.records[i]);
  if (lost_words) *lost_words = all.lost;
  free(all.records);
  *out = strbuf_take(&text, NULL);
  return *out ? VYRE_OK : error_out_of_memory(error);
}
