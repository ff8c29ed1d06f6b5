// SPDX-License-Identifier: MIT
#include "cli/spec.h"

#include "base/error.h"
#include "base/half.h"
#include "cli/nearest.h"
#include "cli/number.h"
#include "base/random.h"

#include <stdio.h>
#include <string.h>

static const struct {
  const char *name;
  spec_kind kind;
  const char *example;
} generators[] = {
    {"zeros", SPEC_ZEROS, "zeros:1024"},  {"ones", SPEC_ONES, "ones:1024"},
    {"iota", SPEC_IOTA, "iota:1024"},     {"rand", SPEC_RAND, "rand:1024:7"},
    {"fill", SPEC_FILL, "fill:2.5:1024"}, {"local", SPEC_LOCAL, "local:4096"},
};

static bool take_number(const char **p, uint64_t *out) {
  return **p == ':' && number_read_count(*p + 1, p, out);
}

// 480x640x4; false when that is no number of elements.
static bool take_count(const char **p, spec *out) {
  if (!take_number(p, &out->count)) return false;
  out->shape[0] = out->count;
  for (out->rank = 0; **p == 'x' && out->rank + 1 < SPEC_MOST_AXES;) {
    uint64_t *extent = &out->shape[++out->rank];
    if (!number_read_count(*p + 1, p, extent)) return false;
    if (__builtin_mul_overflow(out->count, *extent, &out->count)) return false;
  }
  if (out->rank) out->rank++;
  return true;
}

static vyre_status parse_generator(size_t which, const char *text, spec *out, vyre_error *error) {
  const char *p = text + strlen(generators[which].name);
  *out = (spec){.kind = generators[which].kind};
  if (out->kind == SPEC_FILL && *p == ':') {
    out->text = ++p;
    p += out->text_size = strcspn(p, ":");
  }
  bool is_given = *p != 0;
  if (is_given) out->has_count = take_count(&p, out);
  if (out->kind == SPEC_RAND && out->has_count && *p) take_number(&p, &out->seed);
  bool complete =
      (out->kind != SPEC_FILL || out->text_size) && (out->kind != SPEC_LOCAL || out->has_count);
  if (!*p && complete && is_given == out->has_count) return VYRE_OK;
  return error_set(error, VYRE_ERROR_BINDING, "`%s` cannot be read. Fix: write it like `%s`", text,
                   generators[which].example);
}

// No literal has a letter first and a colon behind it: it is meant to be a generator.
static vyre_status refuse_generator(const char *text, vyre_error *error) {
  char name[24];
  size_t size = strcspn(text, ":");
  snprintf(name, sizeof name, "%.*s", size < sizeof name ? (int)size : (int)sizeof name - 1, text);
  nearest n = nearest_begin(name);
  const char *example = "rand:1024";
  for (size_t i = 0; i < sizeof generators / sizeof *generators; i++) {
    const char *known = generators[i].name;
    nearest_offer(&n, known);
    if (n.best == known || !strncmp(name, known, strlen(known))) example = generators[i].example;
  }
  return error_set(error, VYRE_ERROR_BINDING,
                   "`%.60s` is no value and no generator. Fix: write it like `%s`; `vyre help run` "
                   "lists the others",
                   text, example);
}

static bool is_meant_to_generate(const char *text) {
  bool is_word = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z');
  return is_word && strchr(text, ':');
}

vyre_status spec_parse(const char *text, spec *out, vyre_error *error) {
  for (size_t i = 0; i < sizeof generators / sizeof *generators; i++) {
    size_t size = strlen(generators[i].name);
    if (!strncmp(text, generators[i].name, size) && (!text[size] || text[size] == ':'))
      return parse_generator(i, text, out, error);
  }
  *out = (spec){.kind = SPEC_LITERAL, .text = text};
  if (is_meant_to_generate(text)) return refuse_generator(text, error);
  if (*text == '@') {
    *out = (spec){.kind = SPEC_FILE, .text = text + 1};
    if (!text[1])
      return error_set(error, VYRE_ERROR_BINDING, "`@` names no file. Fix: write it like `@x.npy`");
  }
  return VYRE_OK;
}

uint64_t spec_list_count(const spec *s) {
  uint64_t count = 1;
  for (const char *p = s->text; (p = strchr(p, ',')); p++) count++;
  return count;
}

static vyre_status read_part(const char *text, size_t size, vyre_type type, uint64_t *bits,
                             vyre_error *error) {
  char part[400]; // more digits than any value needs
  if (size >= sizeof part)
    return error_set(error, VYRE_ERROR_BINDING, "a literal of %zu characters. Fix: shorten it",
                     size);
  memcpy(part, text, size);
  part[size] = 0;
  return number_read(part, type, bits, error);
}

static vyre_status fill_list(const spec *s, vyre_type type, uint64_t count, void *data,
                             vyre_error *error) {
  const char *p = s->text;
  for (uint64_t i = 0; i < count; i++) {
    size_t size = strcspn(p, ",");
    uint64_t bits;
    vyre_status status = read_part(p, size, type, &bits, error);
    if (status != VYRE_OK) return status;
    number_store(type, data, i, bits);
    p += size + 1;
  }
  return VYRE_OK;
}

static uint64_t bits_of_float(vyre_type type, double value) {
  float narrow = (float)value;
  uint64_t bits = 0;
  if (type == VYRE_F16)
    bits = half_round(value);
  else if (type == VYRE_F32)
    memcpy(&bits, &narrow, sizeof narrow);
  else
    memcpy(&bits, &value, sizeof value);
  return bits;
}

static uint64_t bits_of_whole(vyre_type type, uint64_t value) {
  if (type == VYRE_F16 || type == VYRE_F32 || type == VYRE_F64)
    return bits_of_float(type, (double)value);
  return type == VYRE_BOOL ? value & 1 : value;
}

static uint64_t random_element(vyre_type type, random_state *r) {
  uint64_t z = random_bits(r);
  if (type == VYRE_F16) return bits_of_float(type, (double)(z >> 53) * 0x1p-11);
  if (type == VYRE_F32) return bits_of_float(type, (double)(z >> 40) * 0x1p-24);
  if (type == VYRE_F64) return bits_of_float(type, (double)(z >> 11) * 0x1p-53);
  return type == VYRE_BOOL ? z >> 63 : z;
}

vyre_status spec_fill(const spec *s, vyre_type type, uint64_t count, void *data,
                      vyre_error *error) {
  if (s->kind == SPEC_LITERAL) return fill_list(s, type, count, data, error);
  return spec_fill_part(s, type, 0, count, data, error);
}

vyre_status spec_fill_part(const spec *s, vyre_type type, uint64_t first, uint64_t count,
                           void *data, vyre_error *error) {
  random_state random = {s->seed};
  random_skip(&random, first);
  uint64_t value = 0;
  if (s->kind == SPEC_ONES) value = bits_of_whole(type, 1);
  if (s->kind == SPEC_FILL) {
    vyre_status status = read_part(s->text, s->text_size, type, &value, error);
    if (status != VYRE_OK) return status;
  }
  for (uint64_t i = 0; i < count; i++) {
    if (s->kind == SPEC_IOTA) value = bits_of_whole(type, first + i);
    if (s->kind == SPEC_RAND) value = random_element(type, &random);
    number_store(type, data, i, value);
  }
  return VYRE_OK;
}
