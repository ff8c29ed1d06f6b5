// SPDX-License-Identifier: MIT
//
// Scalars of every type at the edges (tests/scalars.txt) through the doors of the library: numbers in
// a text, constants of the builder, both stored forms, parameters of a dispatch, arguments that
// become constants; on every backend that is there. Each arrives with its bits, or is refused.
#include "cli/number.h"
#include "ir/text_literal.h"
#include "opt/specialise.h"

#include "../parsed_program.h"
#include "../scalars.h"

#include <stdlib.h>

enum { ROOM = 8 * SCALAR_ROWS };

// ---- running ------------------------------------------------------------------------------------

static bool is_there(const char *backend) {
  vyre_device device;
  uint32_t count = 0;
  return vyre_backend_devices(backend, &device, 1, &count, NULL) == VYRE_OK && count &&
         !*device.unusable;
}

static void run_on(const char *backend, vyre_program *p, const vyre_dispatch_args *args) {
  vyre_executable *made = NULL;
  vyre_error error = {0};
  if (vyre_compile(p, backend, NULL, &made, &error) || vyre_dispatch(made, args, NULL, &error))
    fail_msg("%s: %s", backend, error.message);
  vyre_executable_release(made);
}

// A program whose one buffer gets the numbers of a type, one behind another.
static void expect_constants(const scalar_rows *all, vyre_type type, const char *door,
                             const char *backend, vyre_program *p) {
  static unsigned char data[ROOM];
  memset(data, 0x5a, sizeof data);
  run_on(backend, p,
         &(vyre_dispatch_args){.buffers = &(vyre_span){data, sizeof data}, .buffer_count = 1});
  for (uint32_t i = 0, at = 0; i < all->count; i++) {
    const scalar_row *r = &all->rows[i];
    if (r->type != type || r->is_refused) continue;
    if (!scalars_match(r, data + at++ * vyre_type_size(type)))
      fail_msg("%s %s by %s on %s", vyre_type_name(type), r->text, door, backend);
  }
}

// ---- texts --------------------------------------------------------------------------------------

static void spell(const scalar_row *r, char out[SCALAR_TEXT + 8]) {
  bool is_named = !strcmp(r->text, "inf") || !strcmp(r->text, "-inf") || !strcmp(r->text, "nan");
  snprintf(out, SCALAR_TEXT + 8, "%s%s%s", r->text, is_named ? "_" : "",
           is_named ? vyre_type_name(r->type) : "");
}

static char *text_of(const scalar_rows *all, vyre_type type) {
  static char text[1 << 15];
  size_t size = (size_t)snprintf(text, sizeof text,
                                 "program numbers()\nbuffer y: %s[] write\nregion r grid(1) {\n",
                                 vyre_type_name(type));
  uint32_t at = 0;
  for (uint32_t i = 0; i < all->count; i++) {
    char number[SCALAR_TEXT + 8];
    if (all->rows[i].type != type || all->rows[i].is_refused) continue;
    spell(&all->rows[i], number);
    size += (size_t)snprintf(text + size, sizeof text - size, "  y[%u] = %s\n", at++, number);
  }
  assert_true(size + 4 < sizeof text);
  strcpy(text + size, "}\n");
  return text;
}

static vyre_program *printed_and_read(const vyre_program *p) {
  char *text;
  size_t size;
  vyre_program *again = NULL;
  assert_int_equal(vyre_program_print(p, &text, &size, NULL), VYRE_OK);
  again = parse(text);
  vyre_free(text);
  return again;
}

static vyre_program *encoded_and_decoded(const vyre_program *p) {
  void *bytes;
  size_t size;
  vyre_program *again = NULL;
  assert_int_equal(vyre_program_encode(p, &bytes, &size, NULL), VYRE_OK);
  assert_int_equal(vyre_program_decode(bytes, size, &again, NULL), VYRE_OK);
  vyre_free(bytes);
  return again;
}

static void test_numbers_of_texts(void **state) {
  const scalar_rows *all = *state;
  for (vyre_type type = VYRE_BOOL; type < VYRE_TYPE_COUNT; type++) {
    vyre_program *p = parse(text_of(all, type));
    vyre_program *printed = printed_and_read(p), *decoded = encoded_and_decoded(printed);
    expect_constants(all, type, "text", "ref", p);
    for (uint32_t b = 0; vyre_backend_name(b); b++)
      if (is_there(vyre_backend_name(b)))
        expect_constants(all, type, "print and wire", vyre_backend_name(b), decoded);
    vyre_program_release(p);
    vyre_program_release(printed);
    vyre_program_release(decoded);
  }
}

static void test_texts_refuse_by_name(void **state) {
  const scalar_rows *all = *state;
  for (uint32_t i = 0; i < all->count; i++) {
    const scalar_row *r = &all->rows[i];
    if (!r->is_refused) continue;
    char text[256];
    vyre_program *p = NULL;
    vyre_error error = {0};
    snprintf(text, sizeof text, "program p()\nbuffer y: %s[] write\nregion r grid(1) { y[0] = %s }\n",
             vyre_type_name(r->type), r->text);
    if (vyre_program_parse(text, strlen(text), "test", &p, &error) != VYRE_ERROR_SYNTAX)
      fail_msg("%s %s was read", vyre_type_name(r->type), r->text);
    bool is_word = r->text[0] >= 'a' && r->text[0] <= 'z';
    assert_non_null(strstr(error.message, is_word ? r->text : vyre_type_name(r->type)));
    assert_non_null(strstr(error.message, "Fix:"));
    assert_int_equal(error.line, 3);
  }
}

// ---- the command's numbers and those of tunables ------------------------------------------------

static void test_numbers_of_the_command(void **state) {
  const scalar_rows *all = *state;
  for (uint32_t i = 0; i < all->count; i++) {
    const scalar_row *r = &all->rows[i];
    uint64_t bits = 0x5a5a5a5a5a5a5a5a, again = 0;
    vyre_error error = {0};
    vyre_status status = number_read(r->text, r->type, &bits, &error);
    if (status != (r->is_refused ? VYRE_ERROR_BINDING : VYRE_OK))
      fail_msg("%s %s: %s", vyre_type_name(r->type), r->text, error.message);
    if (r->is_refused) {
      assert_non_null(strstr(error.message, vyre_type_name(r->type)));
      assert_non_null(strstr(error.message, r->text));
      continue;
    }
    if (!scalars_match(r, &bits)) fail_msg("%s %s", vyre_type_name(r->type), r->text);
    char shown[NUMBER_TEXT];
    number_show(r->type, bits, shown);
    assert_int_equal(number_read(shown, r->type, &again, NULL), VYRE_OK);
    if (!scalars_match(r, &again)) fail_msg("%s is shown as %s", r->text, shown);
  }
}

static void test_numbers_of_tunables(void **state) {
  const scalar_rows *all = *state;
  for (uint32_t i = 0; i < all->count; i++) {
    const scalar_row *r = &all->rows[i];
    uint64_t bits = 0;
    char number[SCALAR_TEXT + 8];
    spell(r, number);
    bool is_read = literal_read_text(number, strlen(number), r->type, &bits);
    if (is_read == r->is_refused) fail_msg("%s %s", vyre_type_name(r->type), number);
    if (is_read && !scalars_match(r, &bits)) fail_msg("%s %s", vyre_type_name(r->type), number);
  }
}

// ---- the builder --------------------------------------------------------------------------------

// Signed integers come with their sign carried on, or without.
static uint64_t extended(const scalar_row *r, bool is_signed) {
  uint64_t bits = scalars_bits(r);
  unsigned spare = 64 - 8 * (unsigned)vyre_type_size(r->type);
  bool can_be = is_signed && vyre_type_name(r->type)[0] == 'i';
  return can_be ? (uint64_t)((int64_t)(bits << spare) >> spare) : bits;
}

static vyre_program *build(const scalar_rows *all, vyre_type type, bool is_signed) {
  vyre_builder *b = vyre_builder_new("numbers");
  vyre_mem y = vyre_build_buffer(b, "y", type, VYRE_WRITE, (vyre_value){0});
  vyre_build_region_begin(b, "r");
  vyre_value one = vyre_build_u32(b, 1);
  vyre_build_grid(b, 1, &one, (const uint32_t[3]){1, 1, 1});
  uint32_t at = 0;
  for (uint32_t i = 0; i < all->count; i++) {
    const scalar_row *r = &all->rows[i];
    if (r->type != type || r->is_refused) continue;
    vyre_build_store(b, y, vyre_build_u32(b, at++),
                     vyre_build_const(b, type, extended(r, is_signed)));
  }
  vyre_build_region_end(b);
  vyre_program *p = NULL;
  vyre_error error = {0};
  if (vyre_builder_finish(b, &p, &error) != VYRE_OK) fail_msg("%s", error.message);
  vyre_builder_free(b);
  return p;
}

static void test_constants_of_the_builder(void **state) {
  const scalar_rows *all = *state;
  for (vyre_type type = VYRE_BOOL; type < VYRE_TYPE_COUNT; type++)
    for (int is_signed = 0; is_signed < 2; is_signed++) {
      vyre_program *p = build(all, type, is_signed);
      expect_constants(all, type, "builder", "ref", p);
      vyre_program_release(p);
    }
}

// ---- parameters ---------------------------------------------------------------------------------

typedef struct passed {
  const scalar_row *rows[VYRE_TYPE_COUNT]; // by the number of the parameter
  vyre_scalar params[VYRE_TYPE_COUNT];
  uint64_t data[VYRE_TYPE_COUNT];
  vyre_span spans[VYRE_TYPE_COUNT];
  vyre_dispatch_args args;
} passed;

static void pass(const scalar_rows *all, const vyre_program *p, uint32_t step, passed *out) {
  uint32_t count = vyre_program_param_count(p);
  assert_int_equal(count, VYRE_TYPE_COUNT - 1);
  for (uint32_t i = 0; i < count; i++) {
    vyre_type type = vyre_program_param(p, i).type;
    assert_int_equal(vyre_program_buffer(p, i).type, type);
    out->rows[i] = scalars_at(all, type, step);
    out->params[i] = (vyre_scalar){type, extended(out->rows[i], step & 1)};
    out->data[i] = UINT64_C(0x5a5a5a5a5a5a5a5a);
    out->spans[i] = (vyre_span){&out->data[i], vyre_type_size(type)};
  }
  out->args = (vyre_dispatch_args){.params = out->params,
                                   .param_count = count,
                                   .buffers = out->spans,
                                   .buffer_count = count};
}

static void expect_passed(const passed *given, const char *door) {
  for (uint32_t i = 0; i < given->args.param_count; i++) {
    const scalar_row *r = given->rows[i];
    if (!scalars_match(r, &given->data[i]))
      fail_msg("%s %s by %s", vyre_type_name(r->type), r->text, door);
    uint64_t behind = given->data[i] ^ UINT64_C(0x5a5a5a5a5a5a5a5a);
    if (vyre_type_size(r->type) < 8 && behind >> 8 * vyre_type_size(r->type))
      fail_msg("%s %s by %s: written past its end", vyre_type_name(r->type), r->text, door);
  }
}

static vyre_program *read_program(void) {
  static char text[4096];
  FILE *f = fopen(VYRE_SOURCE_DIR "/tests/scalars.vyre", "r");
  assert_non_null(f);
  text[fread(text, 1, sizeof text - 1, f)] = 0;
  fclose(f);
  return parse(text);
}

static void test_parameters_of_dispatches(void **state) {
  const scalar_rows *all = *state;
  vyre_program *p = read_program();
  for (uint32_t b = 0; vyre_backend_name(b); b++) {
    const char *backend = vyre_backend_name(b);
    if (!is_there(backend)) continue;
    vyre_executable *made = NULL;
    vyre_error error = {0};
    if (vyre_compile(p, backend, NULL, &made, &error)) fail_msg("%s: %s", backend, error.message);
    for (uint32_t step = 0; step < all->steps; step++) {
      passed given;
      pass(all, p, step, &given);
      if (vyre_dispatch(made, &given.args, NULL, &error)) fail_msg("%s: %s", backend, error.message);
      expect_passed(&given, backend);
    }
    vyre_executable_release(made);
  }
  vyre_program_release(p);
}

// Arguments that become constants of a variant, and the passes behind them.
static void test_arguments_as_constants(void **state) {
  const scalar_rows *all = *state;
  vyre_program *p = read_program();
  for (uint32_t step = 0; step < all->steps; step++) {
    passed given;
    pass(all, p, step, &given);
    uint64_t params[VYRE_TYPE_COUNT], lengths[VYRE_TYPE_COUNT];
    for (uint32_t i = 0; i < given.args.param_count; i++) {
      params[i] = given.params[i].bits;
      lengths[i] = 1;
    }
    vyre_program *special = NULL;
    assert_int_equal(specialise_program(p, params, lengths, &special, NULL), VYRE_OK);
    assert_ptr_not_equal(special, p);
    run_on("ref", special, &given.args);
    expect_passed(&given, "specialise on ref");
    pass(all, p, step, &given);
    run_on("cpu", special, &given.args);
    expect_passed(&given, "specialise on cpu");
    vyre_program_release(special);
  }
  vyre_program_release(p);
}

// A runtime that learns, with more of the same arguments than it takes to prepare a variant.
static void test_arguments_of_a_runtime(void **state) {
  const scalar_rows *all = *state;
  vyre_program *p = read_program();
  vyre_runtime *rt = NULL;
  vyre_kernel *k = NULL;
  vyre_error error = {0};
  vyre_runtime_options options = {.no_store = true, .specialise = true, .learn_after = 1};
  if (vyre_runtime_new(&options, &rt, &error) || vyre_runtime_load(rt, p, &k, &error))
    fail_msg("%s", error.message);
  for (uint32_t step = 0; step < all->steps; step++)
    for (int again = 0; again < 12; again++) {
      passed given;
      pass(all, p, step, &given);
      if (vyre_kernel_dispatch(k, &given.args, NULL, &error)) fail_msg("%s", error.message);
      expect_passed(&given, "a runtime");
      if (again == 10) vyre_runtime_settle(rt);
    }
  vyre_kernel_free(k);
  vyre_runtime_free(rt);
  vyre_program_release(p);
}

// Each parameter with the type of another, and one too few or too many.
static void test_other_types_are_refused(void **state) {
  const scalar_rows *all = *state;
  vyre_program *p = read_program();
  vyre_executable *made = NULL;
  assert_int_equal(vyre_compile(p, "ref", NULL, &made, NULL), VYRE_OK);
  for (uint32_t i = 0; i < vyre_program_param_count(p); i++)
    for (vyre_type type = VYRE_VOID; type <= VYRE_TYPE_COUNT; type++) {
      vyre_error error = {0};
      passed given;
      pass(all, p, i, &given);
      if (given.params[i].type == type) continue;
      given.params[i].type = type;
      assert_int_equal(vyre_dispatch(made, &given.args, NULL, &error), VYRE_ERROR_BINDING);
      assert_non_null(strstr(error.message, vyre_program_param(p, i).name));
      assert_int_equal(given.data[i], UINT64_C(0x5a5a5a5a5a5a5a5a));
    }
  for (uint32_t count = VYRE_TYPE_COUNT - 2; count <= VYRE_TYPE_COUNT; count += 2) {
    passed given;
    pass(all, p, 0, &given);
    given.args.param_count = count;
    assert_int_equal(vyre_dispatch(made, &given.args, NULL, NULL), VYRE_ERROR_BINDING);
  }
  vyre_executable_release(made);
  vyre_program_release(p);
}

static void test_scalars_by_value(void **state) {
  (void)state;
  const struct {
    vyre_scalar made;
    vyre_type type;
    uint64_t bits;
  } rows[] = {
      {vyre_scalar_bool(true), VYRE_BOOL, 1},
      {vyre_scalar_bool(false), VYRE_BOOL, 0},
      {vyre_scalar_i8(INT8_MIN), VYRE_I8, 0x80},
      {vyre_scalar_u8(UINT8_MAX), VYRE_U8, 0xff},
      {vyre_scalar_i16(INT16_MIN), VYRE_I16, 0x8000},
      {vyre_scalar_u16(UINT16_MAX), VYRE_U16, 0xffff},
      {vyre_scalar_i32(INT32_MIN), VYRE_I32, 0x80000000u},
      {vyre_scalar_u32(UINT32_MAX), VYRE_U32, UINT32_MAX},
      {vyre_scalar_i64(INT64_MIN), VYRE_I64, UINT64_C(1) << 63},
      {vyre_scalar_u64(UINT64_MAX), VYRE_U64, UINT64_MAX},
      {vyre_scalar_f16(65504), VYRE_F16, 0x7bff},
      {vyre_scalar_f16(-0.0f), VYRE_F16, 0x8000},
      {vyre_scalar_f16(0x1p-24f), VYRE_F16, 1},
      {vyre_scalar_f32(-0.0f), VYRE_F32, 0x80000000u},
      {vyre_scalar_f32(0x1p-149f), VYRE_F32, 1},
      {vyre_scalar_f64(-0.0), VYRE_F64, UINT64_C(1) << 63},
      {vyre_scalar_f64(0x1p-1074), VYRE_F64, 1},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    uint64_t low = 0;
    assert_int_equal(rows[i].made.type, rows[i].type);
    memcpy(&low, &rows[i].made.bits, vyre_type_size(rows[i].type));
    assert_int_equal(low, rows[i].bits);
  }
}

static scalar_rows all_rows;

static int set_up(void **state) {
  scalars_read(&all_rows);
  *state = &all_rows;
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_numbers_of_texts),       cmocka_unit_test(test_texts_refuse_by_name),
      cmocka_unit_test(test_numbers_of_the_command), cmocka_unit_test(test_numbers_of_tunables),
      cmocka_unit_test(test_constants_of_the_builder),
      cmocka_unit_test(test_parameters_of_dispatches),
      cmocka_unit_test(test_arguments_as_constants),
      cmocka_unit_test(test_arguments_of_a_runtime), cmocka_unit_test(test_other_types_are_refused),
      cmocka_unit_test(test_scalars_by_value),
  };
  return cmocka_run_group_tests(tests, set_up, NULL);
}
