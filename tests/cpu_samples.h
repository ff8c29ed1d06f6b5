// SPDX-License-Identifier: MIT
//
// Small programs in the text form, run on the CPU backend at every width and tier beside the
// reference. For tests of the code generator.
#ifndef VYRE_TESTS_CPU_SAMPLES_H
#define VYRE_TESTS_CPU_SAMPLES_H

#include "conform/compare.h"
#include "conform/generate.h"
#include "ir/program.h"

#include "parsed_program.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

typedef struct sample {
  const char *text;
  uint32_t lengths[6];  // elements of the bound buffers
  uint64_t params[4];   // bits
  vyre_status expected; // on both sides
  bool is_small;        // inputs are small numbers, not any bits
  uint64_t fuel;        // of ref; 0: as everywhere
} sample;

static void fill(random_state *r, const sample *s, vyre_type type, vyre_span *span) {
  generate_fill(r, type, span);
  size_t size = vyre_type_size(type);
  for (size_t i = 0; s->is_small && i + size <= span->size_bytes; i += size) {
    float f = (float)random_below(r, 64);
    uint64_t bits = random_below(r, 64);
    if (type == VYRE_F32) memcpy(&bits, &f, sizeof f);
    memcpy((char *)span->data + i, &bits, size);
  }
}

static void make_trial(const sample *s, trial *t) {
  random_state r = {42};
  *t = (trial){.program = parse(s->text)};
  t->params = calloc(t->program->param_count + 1u, sizeof *t->params);
  t->buffers = calloc(t->program->buffer_count + 1u, sizeof *t->buffers);
  for (; t->param_count < t->program->param_count; t->param_count++)
    t->params[t->param_count] =
        (vyre_scalar){t->program->params[t->param_count].type, s->params[t->param_count]};
  for (uint32_t i = 0; i < t->program->buffer_count; i++) {
    const buffer *b = &t->program->buffers[i];
    if (b->is_transient) continue;
    size_t size = s->lengths[t->buffer_count] * vyre_type_size(b->type);
    vyre_span *span = &t->buffers[t->buffer_count++];
    *span = (vyre_span){malloc(size + 1), size};
    fill(&r, s, b->type, span);
  }
}

static void check_with(const trial *t, const outcome *expected, const sample *s,
                       const vyre_compile_options *options) {
  outcome found;
  difference d;
  trial_limits limits = {.timeout_ns = COMPARE_TIMEOUT_NS};
  assert_true(trial_run(t, NULL, "cpu", options, limits, &found));
  compare_outcomes(t, expected, &found, &d);
  if (d.verdict != SAME)
    fail_msg("width %u tier %d: %s\n%s", options->vector_width, options->tier, d.text, s->text);
  outcome_fini(&found);
}

// At every width and tier, or, where compiling is what takes the time, at those that differ.
static void check_at(const sample *s, const uint32_t *widths, uint32_t count, int tiers) {
  trial t;
  make_trial(s, &t);
  outcome expected;
  trial_limits limits = {.fuel = s->fuel ? s->fuel : COMPARE_FUEL};
  assert_true(trial_run(&t, NULL, "ref", NULL, limits, &expected));
  if (expected.status != s->expected) fail_msg("ref: %s\n%s", expected.error.message, s->text);
  for (uint32_t i = 0; i < count; i++)
    for (int tier = 0; tier < tiers; tier++)
      check_with(&t, &expected, s,
                 &(vyre_compile_options){
                     .vector_width = widths[i], .tier = (vyre_tier)tier, .threads = 1});
  outcome_fini(&expected);
  trial_fini(&t);
}

// The first, quick tier differs by what LLVM does afterwards: for it a few widths are enough.
static inline void check(const sample *s) {
  check_at(s, (const uint32_t[]){1, 4, 64}, 3, 2);
  check_at(s, (const uint32_t[]){0, 2, 8, 16, 32}, 5, 1);
}

// One of many samples alike: as the backend chooses, and at two widths, in turn for each of them.
static inline void check_next(const sample *s, size_t number) {
  static const uint32_t widths[] = {1, 64, 2, 32, 4, 16, 8};
  check_at(s, (const uint32_t[]){0, widths[number % 7], widths[(number + 3) % 7]}, 3,
           number % 2 ? 1 : 2);
}

#endif
