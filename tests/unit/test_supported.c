// SPDX-License-Identifier: MIT
//
// What a device must have to take a program, at the exact border: what it lacks is declined by
// name, and nothing that it has or that a recipe makes up for is.
#include "base/error.h"
#include "ir/limits.h"
#include "ir/program.h"
#include "lower/lower.h"
#include "../lower_targets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

// The error of lowering the text for the target: "" when there is none.
static const char *declined(const char *text, const lower_target *target) {
  static vyre_error error;
  vyre_program *p, *out;
  if (vyre_program_parse(text, strlen(text), "text", &p, &error) != VYRE_OK)
    fail_msg("%s\n%s", error.message, text);
  vyre_status status = lower_program(p, target, &out, &error);
  if (status == VYRE_OK) {
    error.message[0] = 0;
    vyre_program_release(out);
  } else {
    assert_int_equal(status, VYRE_ERROR_UNSUPPORTED);
    assert_null(out);
    assert_non_null(strstr(error.message, "Fix:"));
  }
  vyre_program_release(p);
  return error.message;
}

static void expect(const char *text, const lower_target *target, const char *what) {
  const char *found = declined(text, target);
  if (what ? !strstr(found, what) : *found) fail_msg("%s\ngave `%s`", text, found);
}

// ---- types and operations -----------------------------------------------------------------------

typedef enum lacked {
  F64,
  I64,
  I64_ATOMICS,
  I64_BUT_QUOTIENT,
  I64_BUT_FMA,
  I64_BUT_ROUNDING,
  I64_BUT_RINT,
  I64_BUT_SUBNORMALS,
  SUBNORMALS,
} lacked;

static lower_target lacking(lacked what) {
  lower_target t = lower_everything;
  t.name = "lacking";
  switch (what) {
  case F64: t.has_f64 = false; break;
  case I64: t.has_i64 = t.has_i64_atomics = false; break;
  case I64_ATOMICS: t.has_i64_atomics = false; break;
  case I64_BUT_QUOTIENT: t.has_i64 = t.rounds_f64_division = false; break;
  case I64_BUT_FMA: t.has_i64 = t.has_f64_fma = false; break;
  case I64_BUT_ROUNDING: t.has_i64 = t.has_f64_rounding = false; break;
  case I64_BUT_RINT: t.has_i64 = t.has_rint = false; break;
  case I64_BUT_SUBNORMALS:
    t.has_i64 = t.keeps_f32_subnormals = t.keeps_f64_subnormals = false;
    break;
  case SUBNORMALS: t.keeps_f32_subnormals = t.keeps_f64_subnormals = false; break;
  }
  return t;
}

#define APART "integers of the width of f64"

static void what_is_lacking_is_named(void **state) {
  (void)state;
  static const struct {
    const char *statement;
    lacked lacked;
    const char *what; // NULL: it is taken
  } cases[] = {
      {"f[0] = 1.0", F64, NULL},
      {"d[0] = 1.0f64", F64, "64-bit floats"},
      {"w[0] = select(d[0] < d[1], 1, 0)", F64, "64-bit floats"},
      {"f[0] = f32(d[0])", F64, "64-bit floats"},
      {"w[0] = select(f[0] < f[1], 1, 0)", F64, NULL},
      {"l[0] = l[1] * 3i64", F64, NULL},
      {"atomic_add(l[0], 1i64)", I64_ATOMICS, "64-bit atomics"},
      {"atomic_cas(l[0], 1i64, 2i64)", I64_ATOMICS, "64-bit atomics"},
      {"atomic_add(l[0], 1i64)", I64, "64-bit atomics"},
      {"atomic_add(w[0], 1)", I64_ATOMICS, NULL},
      {"atomic_add(w[0], 1)", I64, NULL},
      {"l[0] = l[1] * 3i64", I64, NULL},
      {"l[0] = as_i64(d[0])", I64, APART},
      {"d[0] = as_f64(l[0])", I64, APART},
      {"f[0] = as_f32(w[0])", I64, NULL},
      {"w[0] = as_i32(f[0])", I64, NULL},
      {"d[0] = d[1] / d[2]", I64, NULL},
      {"d[0] = d[1] / d[2]", I64_BUT_QUOTIENT, APART},
      {"d[0] = sqrt(d[1])", I64_BUT_QUOTIENT, APART},
      {"d[0] = d[1] * d[2]", I64_BUT_QUOTIENT, NULL},
      {"f[0] = f[1] / f[2]", I64_BUT_QUOTIENT, NULL},
      {"d[0] = fma(d[1], d[2], d[3])", I64_BUT_QUOTIENT, NULL},
      {"d[0] = fma(d[1], d[2], d[3])", I64_BUT_FMA, APART},
      {"f[0] = fma(f[1], f[2], f[3])", I64_BUT_FMA, NULL},
      {"d[0] = d[1] / d[2]", I64_BUT_FMA, NULL},
      {"d[0] = floor(d[1])", I64_BUT_ROUNDING, APART},
      {"d[0] = ceil(d[1])", I64_BUT_ROUNDING, APART},
      {"d[0] = trunc(d[1])", I64_BUT_ROUNDING, APART},
      {"d[0] = round(d[1])", I64_BUT_ROUNDING, APART},
      {"d[0] = rint(d[1])", I64_BUT_ROUNDING, NULL},
      {"d[0] = rint(d[1])", I64_BUT_RINT, APART},
      {"d[0] = floor(d[1])", I64_BUT_RINT, NULL},
      {"d[0] = sqrt(d[1])", I64_BUT_RINT, NULL},
      {"f[0] = f[1] + f[2]", SUBNORMALS, NULL},
      {"f[0] = f32(d[1])", SUBNORMALS, NULL},
      {"d[0] = d[1] + d[2]", SUBNORMALS, NULL},
      {"f[0] = sqrt(f[1]) + f[2]", I64_BUT_SUBNORMALS, NULL},
      {"f[0] = f32(w[0])", I64_BUT_SUBNORMALS, NULL},
      {"w[0] = w[1] + w[2]", I64_BUT_SUBNORMALS, NULL},
      {"d[0] = d[1]", I64_BUT_SUBNORMALS, NULL},
      {"d[0] = d[1] + d[2]", I64_BUT_SUBNORMALS, APART},
      {"d[0] = -d[1]", I64_BUT_SUBNORMALS, APART},
      {"d[0] = f64(f[1])", I64_BUT_SUBNORMALS, APART},
      {"f[0] = f32(d[1])", I64_BUT_SUBNORMALS, APART},
      {"w[0] = select(d[0] < d[1], 1, 0)", I64_BUT_SUBNORMALS, APART},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[500];
    // The first region has nothing that any target lacks: the second is named.
    snprintf(text, sizeof text,
             "program p()\nbuffer f: f32[] readwrite\nbuffer d: f64[] readwrite\n"
             "buffer w: i32[] readwrite\nbuffer l: i64[] readwrite\n"
             "region first grid(1) { w[3] = 7 }\nregion second grid(1) { %s }\n",
             cases[i].statement);
    lower_target target = lacking(cases[i].lacked);
    expect(text, &target, cases[i].what);
    if (cases[i].what) expect(text, &target, "`second`");
    expect(text, &lower_everything, NULL);
  }
}

// ---- sizes --------------------------------------------------------------------------------------

static void workgroups_are_taken_up_to_the_largest(void **state) {
  (void)state;
  static const struct {
    const char *size, *body;
    uint32_t largest;
    bool is_taken;
  } cases[] = {
      {"2, 3, 4", "y[0] = local_id.x", 24, true},   {"2, 3, 4", "y[0] = local_id.x", 23, false},
      {"2, 3, 4", "y[0] = local_id.x", 0, true},    {"2, 3, 4", "y[0] = global_id.x", 23, true},
      {"64, 1, 1", "y[0] = local_id.x", 63, false}, {"64, 1, 1", "y[0] = local_id.x", 64, true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[300];
    snprintf(text, sizeof text,
             "program p()\nbuffer y: u32[] write\nregion r grid(64, 12, 4) workgroup(%s) { %s }\n",
             cases[i].size, cases[i].body);
    lower_target target = lower_everything;
    target.largest_workgroup = cases[i].largest;
    expect(text, &target, cases[i].is_taken ? NULL : "needs a workgroup of");
  }
}

// Elements that need words of their own take more room than they had: `a` and `b` fill it together,
// or have an element too many.
static void arrays_are_taken_up_to_what_their_words_need(void **state) {
  (void)state;
  static const struct {
    const char *type;
    uint32_t bytes; // of an element in words
    bool can_grow;  // others have no room from the start
  } types[] = {{"u8", 4, true}, {"i16", 4, true}, {"i32", 4, false}, {"u64", 8, false}};
  lower_target words = lower_words();
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    for (int is_shared = 0; is_shared < 2; is_shared++)
      for (uint32_t over = 0; over < 1u + types[i].can_grow; over++) {
        uint32_t limit = is_shared ? LIMIT_SHARED_BYTES : LIMIT_PRIVATE_BYTES;
        const char *kind = is_shared ? "shared" : "array";
        char text[400];
        snprintf(text, sizeof text,
                 "program p()\nbuffer y: i32[] write\nregion r grid(4) workgroup(4) {\n"
                 "%s a: %s[%u]\n%s b: i32[%u]\ny[0] = i32(a[0]) + b[0]\n}\n",
                 kind, types[i].type, limit / types[i].bytes - 1 + over, kind, types[i].bytes / 4);
        expect(text, &words, over ? "has room for" : NULL);
        expect(text, &lower_everything, NULL);
      }
}

static void buffers_are_taken_up_to_the_largest(void **state) {
  (void)state;
  static const struct {
    const char *length;
    uint64_t largest;
    bool is_taken;
  } cases[] = {{"16", 64, true}, {"16", 63, false}, {"17", 64, false},
               {"16", 0, true},  {"", 1, true},     {"n", 1, true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[300];
    snprintf(text, sizeof text,
             "program p(n: u32)\nbuffer first: u8[1] read\nbuffer y: u32[%s] write\n"
             "region r grid(1) { y[0] = 1 }\n",
             cases[i].length);
    lower_target target = lower_everything;
    target.largest_buffer_bytes = cases[i].largest;
    expect(text, &target, cases[i].is_taken ? NULL : "buffer `y` has");
  }
}

// ---- barriers -----------------------------------------------------------------------------------

static void barriers_are_taken_where_all_provably_meet(void **state) {
  (void)state;
  static const struct {
    const char *body;
    bool is_taken;
  } cases[] = {
      {"s[local_id.x] = 1\nbarrier\ny[0] = s[0]", true},
      {"if n > 3 { barrier }\ny[0] = s[0]", true},
      {"if y[0] > 3 { barrier }\ny[0] = s[0]", false},
      {"if y[0] > 3 { s[0] = 1 }\ny[0] = s[0]", true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[300];
    snprintf(text, sizeof text,
             "program p(n: u32)\nbuffer y: u32[] readwrite\nregion r grid(64) workgroup(8) {\n"
             "shared s: u32[8]\n%s\n}\n",
             cases[i].body);
    lower_target target = lower_everything;
    expect(text, &target, NULL);
    target.parts_at_barriers = false;
    expect(text, &target, cases[i].is_taken ? NULL : "not provably reached");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_lacking_is_named),
      cmocka_unit_test(workgroups_are_taken_up_to_the_largest),
      cmocka_unit_test(arrays_are_taken_up_to_what_their_words_need),
      cmocka_unit_test(buffers_are_taken_up_to_the_largest),
      cmocka_unit_test(barriers_are_taken_where_all_provably_meet),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
