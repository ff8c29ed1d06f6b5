// SPDX-License-Identifier: MIT
//
// The SPIR-V of the Vulkan backend: every module is validated by SPIRV-Tools, for devices that have
// everything and for some that have next to nothing. No device is needed.
#include "backend/vulkan/emit.h"
#include "backend/vulkan/module.h"
#include "conform/generate.h"
#include "conform/suite.h"

#include "../parsed_program.h"

#include <spirv-tools/libspirv.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

static spv_context context;

static void validate(const uint32_t *code, size_t words, const char *name) {
  spv_diagnostic said = NULL;
  spv_const_binary_t binary = {code, words};
  if (spvValidate(context, &binary, &said) != SPV_SUCCESS)
    fail_msg("%s: %s", name, said ? said->error : "invalid");
  spvDiagnosticDestroy(said);
}

// False when the target declines the program.
static bool check(const vyre_program *p, const vulkan_target *target, bool is_polled,
                  const char *name) {
  vulkan_source source;
  vyre_error error = {0};
  uint32_t *code;
  size_t words;
  vyre_status status = vulkan_emit(p, target, is_polled, &source, &error);
  if (status == VYRE_ERROR_UNSUPPORTED) {
    assert_non_null(strstr(error.message, "Fix:"));
    return false;
  }
  if (status != VYRE_OK) fail_msg("%s: %s", name, error.message);
  assert_int_equal(source.shader_count, p->region_count);
  for (uint32_t i = 0; i < source.shader_count; i++)
    validate(source.shaders[i].code, source.shaders[i].words, name);
  vulkan_source_fini(&source);
  assert_int_equal(vulkan_emit_module(p, target, is_polled, &code, &words, &error), VYRE_OK);
  validate(code, words, name);
  free(code);
  return true;
}

// Only what no recipe makes up for.
static vulkan_target poor_target(void) {
  vulkan_target t = {.lower = {.name = "poor",
                               .keeps_f32_subnormals = true,
                               .has_small_buffers = true,
                               .has_only_cas = true,
                               .pads_grid = true},
                     .push_bytes = 32};
  return t;
}

static vulkan_target hiding_target(void) {
  vulkan_target t = vulkan_full_target;
  t.hides_floats = true;
  t.modes = (vulkan_float_modes){0};
  t.lower.keeps_f64_subnormals = true;
  return t;
}

static void test_rows_are_valid(void **state) {
  (void)state;
  suite s = {.name = "rows"};
  vyre_error error;
  const vulkan_target poor = poor_target(), hiding = hiding_target();
  uint32_t emitted = 0;
  assert_int_equal(suite_add_rows(&s, &error), VYRE_OK);
  assert_int_equal(suite_add_math(&s, 1, 16, &error), VYRE_OK);
  for (size_t i = 0; i < s.cases.count; i++) {
    const vyre_program *p = s.cases.at[i].trial.program;
    emitted += check(p, &vulkan_full_target, i % 2, s.cases.at[i].name);
    if (i % 3 == 0) check(p, &hiding, false, s.cases.at[i].name);
    if (i % 3 == 1) check(p, &poor, false, s.cases.at[i].name);
  }
  assert_true(emitted + 5 > s.cases.count); // some barriers are not provable
  suite_fini(&s);
}

static void test_random_programs_are_valid(void **state) {
  (void)state;
  const vulkan_target poor = poor_target(), hiding = hiding_target();
  uint32_t emitted = 0, of_poor = 0;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    trial t;
    char name[40];
    snprintf(name, sizeof name, "seed %llu", (unsigned long long)seed);
    generate_options o = {.seed = seed, .only_provable = true, .with_math = seed % 10 == 0};
    assert_int_equal(generate_trial(&o, &t, NULL), VYRE_OK);
    emitted += check(t.program, &vulkan_full_target, seed % 2, name);
    check(t.program, &hiding, seed % 2, name);
    trial_fini(&t);
    o.without_f64 = o.without_i64_atomics = true;
    o.with_math = false;
    assert_int_equal(generate_trial(&o, &t, NULL), VYRE_OK);
    of_poor += check(t.program, &poor, seed % 2, name);
    trial_fini(&t);
  }
  assert_int_equal(emitted, 60);
  assert_true(of_poor > 50);
}

// Code behind jumps, loops that are always left, choices of which no side goes on.
static void test_odd_control_flow_is_valid(void **state) {
  (void)state;
  static const char *const bodies[] = {
      "while true { break }",
      "while x[0] > 3 { return }",
      "for k in 0..n { continue }",
      "for k in 0..n { if x[k] > 3 { break } else { continue }\n x[k] = 1 }",
      "if n > 3 { return } else { return }\n x[0] = 1",
      "for k in 0..n { for j in 0..k { if x[j] == 0 { break }\n x[j] = j } \n x[k] = k }",
      "for k in 0u8..200u8 by 7 { x[u32(k)] = 2 }",
      "for k in -5i64..i64(n) { if x[k] == 0 { continue }\n while x[k] > 2 { x[k] = x[k] - 1 } }",
      "array a: u16[7]\n for k in 0..7u32 { a[k] = u16(x[k]) }\n x[0] = u32(a[3])",
      "return",
      "",
  };
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
    char text[600];
    snprintf(text, sizeof text,
             "program p(n: u32)\nbuffer x: u32[] readwrite\nregion r grid(len(x)) {\n%s\n}\n",
             bodies[i]);
    vyre_program *p = parse(text);
    for (int polled = 0; polled < 2; polled++)
      assert_true(check(p, &vulkan_full_target, polled, bodies[i]));
    vyre_program_release(p);
  }
}

// What a launch has to pass, and what regions do with buffers.
static void test_interface_of_shaders(void **state) {
  (void)state;
  vyre_program *p =
      parse("program p(a: f64, b: u8)\nbuffer x: f64[] read\nbuffer y: u8[] readwrite\n"
            "region r grid(len(x)) { y[global_id.x] = u8(x[global_id.x] * a) }\n"
            "region s grid(len(y), 3) workgroup(4, 1) {\n"
            "  y[group_id.y] = b + u8(group_count.x)\n}\n");
  vulkan_source source;
  vyre_error error;
  assert_int_equal(vulkan_emit(p, &vulkan_full_target, false, &source, &error), VYRE_OK);
  const vulkan_shader *r = &source.shaders[0], *s = &source.shaders[1];
  assert_string_equal(r->entry, "v_r");
  assert_int_equal(r->use_count, 2);
  assert_true(r->uses[0].is_read && !r->uses[0].is_written);
  assert_true(!r->uses[1].is_read && r->uses[1].is_written);
  // Both words of a, the length of y, the grid, where it begins: x is as long as the grid.
  assert_int_equal(r->fact_count, 5);
  assert_int_equal(s->use_count, 1);
  assert_int_equal(s->uses[0].buffer, 1);
  assert_false(r->has_uniform || r->has_loop);
  vulkan_source_fini(&source);
  vulkan_target t = vulkan_full_target;
  t.push_bytes = 16;
  assert_int_equal(vulkan_emit(p, &t, false, &source, &error), VYRE_OK);
  assert_true(source.shaders[0].has_uniform);
  vulkan_source_fini(&source);
  vyre_program_release(p);
}

// Floats keep to their meaning: no contraction, and the modes that the device offers.
static uint32_t count_words(const vulkan_shader *s, SpvOp op, uint32_t at, uint32_t value) {
  uint32_t count = 0;
  for (size_t i = 5; i < s->words; i += s->code[i] >> SpvWordCountShift)
    count += (s->code[i] & SpvOpCodeMask) == (uint32_t)op && s->code[i + at] == value;
  return count;
}

static void test_floats_are_exact(void **state) {
  (void)state;
  vyre_program *p = parse("program p()\nbuffer x: f32[] readwrite\nregion r grid(len(x)) {\n"
                          "  let v = x[global_id.x]\n  x[global_id.x] = v * v + v / 3.0 - v\n}\n");
  vulkan_source source;
  vyre_error error;
  assert_int_equal(vulkan_emit(p, &vulkan_full_target, false, &source, &error), VYRE_OK);
  const vulkan_shader *s = &source.shaders[0];
  assert_int_equal(count_words(s, SpvOpDecorate, 2, SpvDecorationNoContraction), 4);
  assert_int_equal(count_words(s, SpvOpExecutionMode, 2, SpvExecutionModeDenormPreserve), 2);
  assert_int_equal(count_words(s, SpvOpExecutionMode, 2, SpvExecutionModeRoundingModeRTE), 2);
  assert_int_equal(count_words(s, SpvOpExecutionMode, 2, SpvExecutionModeSignedZeroInfNanPreserve),
                   2);
  vulkan_source_fini(&source);
  vyre_program_release(p);
}

// Types and constants are declared once, however many there are.
static void test_declarations_are_unique(void **state) {
  (void)state;
  enum { COUNT = 1000 };
  spirv_module m = {0};
  uint32_t first[COUNT], u32 = spirv_declare(&m, SpvOpTypeInt, 0, 32, 0);
  for (uint32_t i = 0; i < COUNT; i++) first[i] = spirv_declare(&m, SpvOpConstant, u32, i);
  for (uint32_t i = 0; i < COUNT; i++) {
    assert_int_equal(spirv_declare(&m, SpvOpConstant, u32, i), first[i]);
    assert_int_equal(first[i], first[0] + i);
  }
  assert_int_not_equal(spirv_declare(&m, SpvOpTypeInt, 0, 32, 1), u32);
  assert_int_equal(spirv_declare(&m, SpvOpTypeInt, 0, 32, 0), u32);
  spirv_fini(&m);
}

int main(void) {
  context = spvContextCreate(SPV_ENV_VULKAN_1_1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows_are_valid),
      cmocka_unit_test(test_random_programs_are_valid),
      cmocka_unit_test(test_odd_control_flow_is_valid),
      cmocka_unit_test(test_interface_of_shaders),
      cmocka_unit_test(test_floats_are_exact),
      cmocka_unit_test(test_declarations_are_unique),
  };
  int result = cmocka_run_group_tests(tests, NULL, NULL);
  spvContextDestroy(context);
  return result;
}
