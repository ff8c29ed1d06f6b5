// SPDX-License-Identifier: MIT
//
// Tunables: constants of a program that a tuner may choose. What a text, a file or the builder
// says of them survives printing and storing, and other values make the program that a person
// would have written with those numbers.
#include "ir/limits.h"
#include "ir/tunable.h"
#include "ir/wire.h"

#include <vyre/vyre.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

static const char tiles[] = "program tiles(n: u32)\n"
                            "// of a tile\n"
                            "tunable TILE: u32 in (4, 8, 16) where TILE * TILE <= 128 // small\n"
                            "tunable STEP: i32 = -2 in (1, -2)\n"
                            "tunable PAD: bool in (false, true) where !PAD || TILE != 4\n"
                            "tunable F: f32 in (0.5, inf_f32, -0.0)\n"
                            "buffer x: f32[] readwrite\n"
                            "buffer y: u32[TILE] readwrite\n"
                            "let k = n * TILE\n"
                            "transient t: i32[k + TILE]\n"
                            "\n"
                            "region a grid(n, TILE) workgroup(TILE, TILE + 0) {\n"
                            "  shared s: f32[TILE * (TILE + select(PAD, 1, 0))]\n"
                            "  array q: f32[u32(STEP * STEP) + TILE / 2]\n"
                            "  for i in 0..TILE by TILE {\n"
                            "    x[i * TILE] = F * 2.0\n"
                            "  }\n"
                            "  for j in 0u32..1 {\n"
                            "    t[j] = STEP\n"
                            "  }\n"
                            "  if PAD { y[TILE] = TILE }\n"
                            "}\n"
                            "\n"
                            "region b grid(TILE) { }\n";

static vyre_program *parsed(const char *text) {
  vyre_program *p = NULL;
  vyre_error e = {0};
  if (vyre_program_parse(text, strlen(text), "t.vyre", &p, &e) != VYRE_OK)
    fail_msg("%s: %s\n%s", e.code, e.message, e.excerpt);
  return p;
}

static char *printed(const vyre_program *p) {
  char *text;
  vyre_error e;
  assert_int_equal(vyre_program_print(p, &text, NULL, &e), VYRE_OK);
  return text;
}

static void assert_same_print(const vyre_program *p, const char *text) {
  char *made = printed(p);
  assert_string_equal(made, text);
  free(made);
}

static void text_survives(void **state) {
  (void)state;
  vyre_program *p = parsed(tiles);
  char *text = printed(p);
  vyre_program *again = parsed(text);
  assert_same_print(again, text);
  assert_non_null(strstr(text, "tunable STEP: i32 = -2 in (1, -2)\n"));
  assert_non_null(strstr(text, "where TILE * TILE <= 128 // small\n"));
  assert_non_null(strstr(text, "where !PAD || TILE != 4\n"));
  assert_non_null(strstr(text, "workgroup(TILE, TILE + 0)"));
  assert_non_null(strstr(text, "s: f32[TILE * (TILE + select(PAD, 1, 0))]"));
  assert_non_null(strstr(text, "by TILE"));
  assert_non_null(strstr(text, "y: u32[TILE]"));
  assert_non_null(strstr(text, "grid(n, TILE)"));
  free(text);
  vyre_program_release(p);
  vyre_program_release(again);
}

static void wire_survives(void **state) {
  (void)state;
  vyre_error e;
  vyre_program *p = parsed(tiles), *again;
  void *bytes, *more;
  size_t size, more_size;
  assert_int_equal(vyre_program_encode(p, &bytes, &size, &e), VYRE_OK);
  assert_int_equal(((uint8_t *)bytes)[WIRE_AT_VERSION], WIRE_VERSION_TUNABLE);
  assert_int_equal(vyre_program_decode(bytes, size, &again, &e), VYRE_OK);
  assert_int_equal(vyre_program_encode(again, &more, &more_size, &e), VYRE_OK);
  assert_int_equal(size, more_size);
  assert_memory_equal(bytes, more, size);
  char *text = printed(again);
  assert_non_null(strstr(text, "workgroup(TILE, TILE + 0)"));
  free(text);
  free(more);
  vyre_program_release(again);
  // Cut anywhere, or with any byte changed, it is a program or an error.
  for (size_t i = 0; i < size; i++) {
    uint8_t *copy = malloc(size);
    for (int k = 0; k < 3; k++) {
      memcpy(copy, bytes, size);
      copy[i] = (uint8_t)(k == 0 ? copy[i] + 1 : k == 1 ? 0xff : 0);
      wire_seal(copy, size);
      again = NULL;
      if (vyre_program_decode(copy, size, &again, &e) == VYRE_OK) {
        assert_int_equal(vyre_program_encode(again, &more, &more_size, &e), VYRE_OK);
        assert_int_equal(more_size, size);
        assert_memory_equal(more, copy, size);
        free(more);
      }
      vyre_program_release(again);
    }
    free(copy);
  }
  free(bytes);
  vyre_program_release(p);
}

// With other values a program is the one that has these numbers written out: also its identity.
static void values_are_numbers(void **state) {
  (void)state;
  static const char with[] = "program p(n: u32)\n"
                             "tunable T: u32 in (4, 8)\n"
                             "buffer x: u32[T] readwrite\n"
                             "\n"
                             "region r grid(n) workgroup(T) {\n"
                             "  shared s: u32[T * T]\n"
                             "  s[local_id.x] = T\n"
                             "  x[T - 1] = s[0]\n"
                             "}\n";
  static const char without[] = "program p(n: u32)\n"
                                "buffer x: u32[8] readwrite\n"
                                "region r grid(n) workgroup(8) {\n"
                                "  shared s: u32[64]\n"
                                "  s[local_id.x] = 8\n"
                                "  x[8u32 - 1] = s[0]\n"
                                "}\n";
  vyre_error e;
  vyre_program *p = parsed(with), *plain = parsed(without), *tuned, *given;
  uint8_t a[32], b[32], c[32], d[32];
  assert_int_equal(vyre_program_tune(p, (uint32_t[]){1}, &tuned, &e), VYRE_OK);
  vyre_source_options o = {.build_options = "-I. \"-DT=8\""};
  assert_int_equal(vyre_program_from("text", with, strlen(with), NULL, &o, &given, &e), VYRE_OK);
  vyre_program_fingerprint(p, a);
  vyre_program_fingerprint(tuned, b);
  vyre_program_fingerprint(plain, c);
  vyre_program_fingerprint(given, d);
  assert_memory_not_equal(a, b, 32);
  assert_memory_equal(b, c, 32);
  assert_memory_equal(b, d, 32);
  assert_int_equal(vyre_program_region(tuned, 0).workgroup[0], 8);
  assert_int_equal(vyre_program_region(tuned, 0).shared_bytes, 256);
  assert_int_equal(vyre_program_tunable(tuned, 0).chosen, 1);
  assert_int_equal(vyre_program_tunable_count(plain), 0);
  // And back.
  vyre_program *back, *same;
  assert_int_equal(vyre_program_tune(tuned, (uint32_t[]){0}, &back, &e), VYRE_OK);
  assert_same_print(back, with);
  assert_int_equal(vyre_program_tune(p, (uint32_t[]){0}, &same, &e), VYRE_OK);
  assert_ptr_equal(same, p);
  vyre_program *all[] = {p, plain, tuned, given, back, same};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) vyre_program_release(all[i]);
}

static void conditions_hold(void **state) {
  (void)state;
  vyre_error e;
  vyre_program *p = parsed(tiles), *out;
  assert_true(vyre_program_tunables_hold(p, (uint32_t[]){1, 0, 1, 0}));
  assert_false(vyre_program_tunables_hold(p, (uint32_t[]){2, 0, 0, 0})); // 16 * 16
  assert_false(vyre_program_tunables_hold(p, (uint32_t[]){0, 0, 1, 0})); // padded 4
  assert_false(vyre_program_tunables_hold(p, (uint32_t[]){0, 2, 0, 0})); // no such value
  assert_int_equal(vyre_program_tune(p, (uint32_t[]){2, 0, 0, 0}, &out, &e), VYRE_ERROR_VERIFY);
  assert_string_equal(e.code, "V101");
  assert_int_equal(vyre_program_tune(p, (uint32_t[]){3, 0, 0, 0}, &out, &e), VYRE_ERROR_ARGUMENT);
  vyre_program_release(p);
}

static void refuse_given(const char *language, const void *text, size_t size, const char *build,
                         const char *advice) {
  vyre_error e;
  vyre_program *out;
  vyre_source_options o = {.build_options = build};
  assert_int_not_equal(vyre_program_from(language, text, size, "t", &o, &out, &e), VYRE_OK);
  assert_null(out);
  if (!strstr(e.message, advice)) fail_msg("%s", e.message);
}

static void given_values_are_checked(void **state) {
  (void)state;
  vyre_error e;
  vyre_program *p = parsed(tiles), *out;
  size_t size = strlen(tiles);
  refuse_given("text", tiles, size, "-DTILE=5", "give one of 4, 8, 16");
  refuse_given("text", tiles, size, "-DTILE=8.0", "no value of the tunable");
  refuse_given("text", tiles, size, "-DTILE=", "no value of the tunable");
  refuse_given("text", tiles, size, "-DTILES=4", "no such tunable");
  refuse_given("text", tiles, size, "-D TILE=16", "does not hold");
  static const char *const fine[] = {"-DTILE=0x8",
                                     "-D TILE=8 -DSTEP=1",
                                     "-DF=-0.0",
                                     "-DF=inf_f32",
                                     "-DF=0.5",
                                     "-DTILE=8 -DPAD",
                                     "-DTILE=8 -DPAD=true",
                                     "-cl-std=CL1.2",
                                     ""};
  for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
    vyre_source_options o = {.build_options = fine[i]};
    if (vyre_program_from("text", tiles, size, NULL, &o, &out, &e) != VYRE_OK)
      fail_msg("%s: %s", fine[i], e.message);
    vyre_program_release(out);
  }
  void *bytes;
  assert_int_equal(vyre_program_encode(p, &bytes, &size, &e), VYRE_OK);
  refuse_given("wire", bytes, size, "-DTILE=5", "give one of 4, 8, 16");
  vyre_source_options o = {.build_options = "-DTILE=8"};
  assert_int_equal(vyre_program_from("wire", bytes, size, NULL, &o, &out, &e), VYRE_OK);
  assert_int_equal(vyre_program_region(out, 0).workgroup[0], 8);
  vyre_program_release(out);
  free(bytes);
  vyre_program_release(p);
}

// ---- the builder --------------------------------------------------------------------------------

static vyre_builder *begin(vyre_value *tile) {
  vyre_builder *b = vyre_builder_new("p");
  *tile = vyre_build_tunable(b, "T", VYRE_U32, 2, (uint64_t[]){4, 8}, 0);
  return b;
}

static void builder_says_the_same(void **state) {
  (void)state;
  vyre_error e;
  vyre_value t;
  vyre_builder *b = begin(&t);
  vyre_value square = vyre_build_formula(b, VYRE_OP_MUL, VYRE_VOID, 2, (vyre_value[]){t, t});
  vyre_value small = vyre_build_formula(b, VYRE_OP_LE, VYRE_VOID, 2,
                                        (vyre_value[]){square, vyre_build_u32(b, 100)});
  vyre_build_tunable_where(b, t, small);
  vyre_mem x = vyre_build_buffer(b, "x", VYRE_U32, VYRE_READWRITE, t);
  vyre_build_region_begin(b, "r");
  vyre_value one = vyre_build_u32(b, 1);
  vyre_build_grid_of(b, 1, (vyre_value[]){t}, (vyre_value[]){t, one, one});
  vyre_mem s = vyre_build_shared_of(b, "s", VYRE_U32, square);
  vyre_mem q = vyre_build_array_of(b, "q", VYRE_U32, t);
  vyre_value k = vyre_build_for(b, vyre_build_u32(b, 0), t, 0);
  vyre_build_name(b, k, "k");
  vyre_build_store(b, s, k, vyre_build_binary(b, VYRE_OP_MUL, k, t));
  vyre_build_end(b);
  vyre_build_store(b, q, one, t);
  vyre_build_store(b, x, one, vyre_build_load(b, s, one));
  vyre_build_region_end(b);
  vyre_program *p;
  assert_int_equal(vyre_builder_finish(b, &p, &e), VYRE_OK);
  vyre_builder_free(b);
  assert_same_print(p, "program p()\n"
                       "tunable T: u32 in (4, 8) where T * T <= 100\n"
                       "buffer x: u32[T] readwrite\n"
                       "\n"
                       "region r grid(T) workgroup(T) {\n"
                       "  shared s: u32[T * T]\n"
                       "  array q: u32[T]\n"
                       "  for k in 0..T {\n"
                       "    s[k] = k * T\n"
                       "  }\n"
                       "  q[1] = T\n"
                       "  x[1] = s[1]\n"
                       "}\n");
  vyre_program *tuned;
  assert_int_equal(vyre_program_tune(p, (uint32_t[]){1}, &tuned, &e), VYRE_OK);
  assert_int_equal(vyre_program_region(tuned, 0).shared_bytes, 256);
  vyre_program_release(tuned);
  vyre_program_release(p);
}

static void assert_mistake(vyre_builder *b, vyre_status wanted) {
  vyre_program *p;
  vyre_error e = {0};
  assert_int_equal(vyre_builder_finish(b, &p, &e), wanted);
  assert_non_null(strstr(e.message, "Fix: "));
  vyre_builder_free(b);
}

static void builder_mistakes(void **state) {
  (void)state;
  vyre_value t;
  vyre_builder *b = vyre_builder_new("p");
  assert_int_equal(vyre_build_tunable(b, "T", VYRE_U32, 0, NULL, 0), 0);
  assert_mistake(b, VYRE_ERROR_ARGUMENT);
  b = vyre_builder_new("p");
  vyre_build_tunable(b, "T", VYRE_VOID, 1, (uint64_t[]){1}, 0);
  assert_mistake(b, VYRE_ERROR_ARGUMENT);
  b = vyre_builder_new("p");
  for (int i = 0; i <= LIMIT_TUNABLES; i++)
    vyre_build_tunable(b, "T", VYRE_U32, 1, (uint64_t[]){1}, 0);
  assert_mistake(b, VYRE_ERROR_LIMIT);
  b = begin(&t);
  vyre_build_region_begin(b, "r");
  vyre_build_tunable(b, "U", VYRE_U32, 1, (uint64_t[]){1}, 0);
  assert_mistake(b, VYRE_ERROR_ARGUMENT);
  b = begin(&t); // an operand that is a formula
  vyre_value sum = vyre_build_formula(b, VYRE_OP_ADD, VYRE_VOID, 2, (vyre_value[]){t, t});
  vyre_build_binary(b, VYRE_OP_ADD, sum, t);
  assert_mistake(b, VYRE_ERROR_ARGUMENT);
  b = begin(&t); // types that differ
  vyre_build_formula(b, VYRE_OP_ADD, VYRE_VOID, 2, (vyre_value[]){t, vyre_build_i32(b, 1)});
  assert_mistake(b, VYRE_ERROR_ARGUMENT);
  b = begin(&t); // too long
  for (int i = 0; i < 8; i++)
    t = vyre_build_formula(b, VYRE_OP_ADD, VYRE_VOID, 2, (vyre_value[]){t, t});
  assert_mistake(b, VYRE_ERROR_LIMIT);
  b = begin(&t); // no condition
  vyre_build_tunable_where(b, t, vyre_build_bool(b, true));
  assert_mistake(b, VYRE_ERROR_ARGUMENT);
  b = begin(&t); // no such formula
  vyre_build_tunable_where(b, t, 0xc0000123u);
  assert_mistake(b, VYRE_ERROR_ARGUMENT);
  b = begin(&t); // no number
  vyre_build_region_begin(b, "r");
  vyre_value f = vyre_build_f32(b, 1.0f), n = vyre_build_u32(b, 1);
  vyre_build_grid_of(b, 1, (vyre_value[]){n}, (vyre_value[]){f, n, n});
  assert_mistake(b, VYRE_ERROR_ARGUMENT);
}

// In messages a list ends behind 120 bytes, and says so only where something is missing.
static void long_lists_are_cut(void **state) {
  (void)state;
  enum { MOST = 60 };
  uint64_t values[MOST];
  char list[160];
  for (int i = 0; i < MOST; i++) values[i] = 1;
  tunable t = {.name = "T", .type = VYRE_U32, .count = 40, .values = values};
  assert_int_equal(strlen(tunable_list(&t, list)), 118);
  assert_null(strstr(list, "..."));
  values[39] = 111;
  assert_int_equal(strlen(tunable_list(&t, list)), 120);
  assert_string_equal(list + 115, ", 111");
  values[39] = 1111;
  assert_string_equal(tunable_list(&t, list) + 115, ", 111...");
  t.count = MOST;
  values[39] = 1;
  assert_string_equal(tunable_list(&t, list) + 115, ", 1, ...");
  t.count = 1;
  assert_string_equal(tunable_list(&t, list), "1");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(text_survives),
      cmocka_unit_test(wire_survives),
      cmocka_unit_test(values_are_numbers),
      cmocka_unit_test(conditions_hold),
      cmocka_unit_test(given_values_are_checked),
      cmocka_unit_test(builder_says_the_same),
      cmocka_unit_test(builder_mistakes),
      cmocka_unit_test(long_lists_are_cut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
