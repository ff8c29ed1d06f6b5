// SPDX-License-Identifier: MIT
#include "conform/compare.h"

#include "backend/backend.h"
#include "base/format.h"
#include "base/half.h"
#include "ir/program.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint64_t element_bits(const vyre_span *span, size_t size, uint64_t index) {
  uint64_t bits = 0;
  memcpy(&bits, (const char *)span->data + index * size, size);
  return bits;
}

static void print_value(vyre_type type, uint64_t bits, char *out, size_t size) {
  float f;
  double d;
  uint32_t low = (uint32_t)bits;
  memcpy(&f, &low, sizeof f);
  memcpy(&d, &bits, sizeof d);
  if (type == VYRE_F16)
    format_text(out, size, "%.5g (0x%04x)", half_read((uint16_t)bits), low);
  else if (type == VYRE_F32)
    format_text(out, size, "%.9g (0x%08x)", (double)f, low);
  else if (type == VYRE_F64)
    format_text(out, size, "%.17g (0x%016" PRIx64 ")", d, bits);
  else if (type_is_signed(type))
    snprintf(out, size, "%" PRId64, (int64_t)type_canonical_bits(type, bits));
  else
    snprintf(out, size, "%" PRIu64, bits);
}

static bool compare_buffer(const buffer *b, const vyre_span *expected, const vyre_span *found,
                           difference *out) {
  size_t size = type_bytes(b->type);
  if (!memcmp(expected->data, found->data, expected->size_bytes)) return true;
  for (uint64_t i = 0; i < expected->size_bytes / size; i++) {
    uint64_t x = element_bits(expected, size, i), y = element_bits(found, size, i);
    if (x == y || (type_is_nan(b->type, x) && type_is_nan(b->type, y))) continue;
    char left[64], right[64];
    print_value(b->type, x, left, sizeof left);
    print_value(b->type, y, right, sizeof right);
    out->verdict = DIFFERENT;
    out->element = i;
    out->expected = x;
    out->found = y;
    snprintf(out->text, sizeof out->text, "%.100s[%" PRIu64 "] is %s, expected %s", b->name, i,
             right, left);
    return false;
  }
  return true;
}

static void compare_buffers(const trial *t, const outcome *expected, const outcome *found,
                            difference *out) {
  const vyre_program *p = t->program;
  for (uint32_t i = 0, bound = 0; i < p->buffer_count && found->overrun >= 0; i++) {
    if (p->buffers[i].is_transient) continue;
    out->buffer = i;
    if (found->overrun == (int32_t)bound++) {
      out->verdict = DIFFERENT;
      out->is_overrun = true;
      snprintf(out->text, sizeof out->text, "memory around buffer %.100s was written",
               p->buffers[i].name);
      return;
    }
  }
  for (uint32_t i = 0, bound = 0; i < p->buffer_count; i++) {
    if (p->buffers[i].is_transient) continue;
    out->buffer = i;
    if (!compare_buffer(&p->buffers[i], &expected->buffers[bound], &found->buffers[bound], out))
      return;
    bound++;
  }
}

void compare_outcomes(const trial *t, const outcome *expected, const outcome *found,
                      difference *out) {
  *out = (difference){.verdict = SAME};
  if (expected->status == VYRE_ERROR_FUEL || expected->status == VYRE_ERROR_TIMEOUT ||
      expected->status == VYRE_ERROR_MEMORY || !expected->was_compiled) {
    out->verdict = UNUSABLE;
    snprintf(out->text, sizeof out->text, "the reference says %s: %.300s",
             vyre_status_name(expected->status), expected->error.message);
  } else if (found->status == VYRE_ERROR_UNSUPPORTED) {
    out->verdict = DECLINED;
    snprintf(out->text, sizeof out->text, "%.390s", found->error.message);
  } else if (expected->status != found->status) {
    out->verdict = DIFFERENT;
    out->is_about_status = true;
    snprintf(out->text, sizeof out->text, "the status is %s, expected %s: %.300s",
             vyre_status_name(found->status), vyre_status_name(expected->status),
             found->status ? found->error.message : expected->error.message);
  } else if (expected->status == VYRE_OK) {
    compare_buffers(t, expected, found, out);
  }
}

bool compare_run(const trial *t, vyre_program *program, const char *backend,
                 const vyre_compile_options *options, difference *out) {
  outcome expected, found;
  trial_limits for_ref = {.fuel = COMPARE_FUEL}, limits = for_ref;
  if (!backend_is_oracle(backend)) limits = (trial_limits){.timeout_ns = COMPARE_TIMEOUT_NS};
  if (!trial_run(t, NULL, backend_oracle()->id, NULL, for_ref, &expected)) return false;
  bool ok = trial_run(t, program, backend, options, limits, &found);
  if (ok) {
    compare_outcomes(t, &expected, &found, out);
    outcome_fini(&found);
  }
  outcome_fini(&expected);
  return ok;
}
