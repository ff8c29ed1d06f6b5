// SPDX-License-Identifier: MIT
//
// Every public function with NULL in each of its pointer arguments, one at a time: refused with an
// error, or taken where the header says that it may be NULL; never a crash. The list is compared
// with the header, so that a new function is here too. Then sizes that no memory has.
#include <vyre/vyre.h>

#include "../scratch_dir.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

// ---- which calls were made ----------------------------------------------------------------------

enum { MAX_CALLS = 400 };

static struct {
  const char *name;
  int pointer; // counted from 1; 0 for a function without pointers
} calls[MAX_CALLS];
static size_t call_count;

static void note(const char *name, int pointer) {
  assert_true(call_count < MAX_CALLS);
  calls[call_count].name = name;
  calls[call_count++].pointer = pointer;
}

static bool was_called(const char *name, size_t size, int pointer) {
  for (size_t i = 0; i < call_count; i++)
    if (strlen(calls[i].name) == size && !strncmp(calls[i].name, name, size) &&
        calls[i].pointer == pointer)
      return true;
  return false;
}

static vyre_error error;

static void check_refused(const char *name, int pointer, vyre_status status) {
  if (status != VYRE_ERROR_ARGUMENT || !strstr(error.message, "Fix:"))
    fail_msg("%s with NULL as pointer %d: %s, %s", name, pointer, vyre_status_name(status),
             error.message);
  memset(&error, 0, sizeof error);
}

// NULL is the argument that is pointer number `pointer` of the function.
#define REFUSES(name, pointer, ...)                                                                \
  (note(#name, pointer), check_refused(#name, pointer, name(__VA_ARGS__)))
#define TAKES(name, pointer, ...) (note(#name, pointer), (void)name(__VA_ARGS__))
#define GIVES(expected, name, pointer, ...)                                                        \
  (note(#name, pointer), assert_true(name(__VA_ARGS__) == (expected)))

// ---- what the calls need ------------------------------------------------------------------------

static const char text[] = "program p(a: u32)\nbuffer x: u32[] readwrite\n"
                           "region r grid(len(x)) { x[global_id.x] = a }\n";
static const char kernel_text[] = "__kernel void k(__global int *x) { x[get_global_id(0)] = 1; }\n";
static vyre_program *program;
static uint32_t memory[16];
static vyre_span span = {memory, sizeof memory};
static vyre_scalar param = {VYRE_U32, 3};
static vyre_dispatch_args args = {
    .params = &param, .param_count = 1, .buffers = &span, .buffer_count = 1};

static int set_up(void **state) {
  if (scratch_dir_make(state)) return -1;
  setenv("VYRE_HOME", scratch_dir, 1);
  return vyre_program_parse(text, strlen(text), NULL, &program, &error);
}

static int tear_down(void **state) {
  vyre_program_release(program);
  return scratch_dir_remove(state);
}

// ---- the calls ----------------------------------------------------------------------------------

static void without_pointers(void **state) {
  (void)state;
  note("vyre_version", 0);
  assert_non_null(vyre_version());
  TAKES(vyre_status_name, 0, (vyre_status)-1);
  TAKES(vyre_type_name, 0, (vyre_type)-1);
  GIVES(0, vyre_type_size, 0, (vyre_type)1000);
  note("vyre_language_count", 0);
  assert_true(vyre_language_count() > 0);
  note("vyre_language", 0);
  assert_null(vyre_language(UINT32_MAX).name);
  TAKES(vyre_language_guess, 1, NULL, "p", 1);
  TAKES(vyre_language_guess, 2, "p.cl", NULL, 1);
  note("vyre_backend_count", 0);
  assert_true(vyre_backend_count() > 0);
  GIVES(NULL, vyre_backend_name, 0, UINT32_MAX);
  TAKES(vyre_finding_name, 0, (vyre_finding_kind)-1);
  TAKES(vyre_scalar_bool, 0, true);
  TAKES(vyre_scalar_i8, 0, INT8_MIN);
  TAKES(vyre_scalar_u8, 0, UINT8_MAX);
  TAKES(vyre_scalar_i16, 0, INT16_MIN);
  TAKES(vyre_scalar_u16, 0, UINT16_MAX);
  TAKES(vyre_scalar_i64, 0, INT64_MIN);
  TAKES(vyre_scalar_u64, 0, UINT64_MAX);
  TAKES(vyre_scalar_i32, 0, INT32_MIN);
  TAKES(vyre_scalar_u32, 0, UINT32_MAX);
  TAKES(vyre_scalar_f16, 0, 1.0f);
  TAKES(vyre_scalar_f32, 0, 1.0f);
  TAKES(vyre_scalar_f64, 0, 1.0);
}

static void reading_programs(void **state) {
  (void)state;
  vyre_program *out = NULL;
  char *printed = NULL;
  void *wire = NULL;
  size_t size = 0;
  REFUSES(vyre_program_parse, 1, NULL, 5, "n", &out, &error);
  TAKES(vyre_program_parse, 2, text, strlen(text), NULL, &out, &error);
  vyre_program_release(out);
  REFUSES(vyre_program_parse, 3, text, strlen(text), "n", NULL, &error);
  TAKES(vyre_program_parse, 4, "no", 2, "n", &out, NULL);
  assert_null(out);
  REFUSES(vyre_program_print, 1, NULL, &printed, &size, &error);
  REFUSES(vyre_program_print, 2, program, NULL, &size, &error);
  TAKES(vyre_program_print, 3, program, &printed, NULL, &error);
  vyre_free(printed);
  TAKES(vyre_program_print, 4, program, &printed, &size, NULL);
  vyre_free(printed);
  REFUSES(vyre_program_encode, 1, NULL, &wire, &size, &error);
  REFUSES(vyre_program_encode, 2, program, NULL, &size, &error);
  REFUSES(vyre_program_encode, 3, program, &wire, NULL, &error);
  TAKES(vyre_program_encode, 4, program, &wire, &size, NULL);
  REFUSES(vyre_program_decode, 1, NULL, size, &out, &error);
  REFUSES(vyre_program_decode, 2, wire, size, NULL, &error);
  TAKES(vyre_program_decode, 3, "no", 2, &out, NULL);
  vyre_free(wire);
  TAKES(vyre_free, 1, NULL);
  GIVES(VYRE_VOID, vyre_type_from_name, 1, NULL);
}

static void count_mistake(void *data, const vyre_error *mistake) {
  (void)mistake;
  if (data) ++*(int *)data;
}

static void count_visit(void *data, const vyre_source_result *result) {
  (void)result;
  if (data) ++*(int *)data;
}

static void reading_opencl_c(void **state) {
  (void)state;
  vyre_program *out = NULL;
  vyre_source_entry *kernels = NULL;
  uint32_t count = 0;
  size_t size = strlen(kernel_text);
  vyre_source_options options = {0};
  REFUSES(vyre_program_from, 2, "opencl", NULL, 5, "n", &options, &out, &error);
  TAKES(vyre_program_from, 3, "opencl", kernel_text, size, NULL, &options, &out, &error);
  vyre_program_release(out);
  TAKES(vyre_program_from, 4, "opencl", kernel_text, size, "n", NULL, &out, &error);
  vyre_program_release(out);
  REFUSES(vyre_program_from, 5, "opencl", kernel_text, size, "n", &options, NULL, &error);
  TAKES(vyre_program_from, 6, "opencl", "no", 2, "n", &options, &out, NULL);
  REFUSES(vyre_source_entries, 2, "opencl", NULL, 5, "n", "", &kernels, &count, &error);
  TAKES(vyre_source_entries, 3, "opencl", kernel_text, size, NULL, "", &kernels, &count, &error);
  vyre_free(kernels);
  TAKES(vyre_source_entries, 4, "opencl", kernel_text, size, "n", NULL, &kernels, &count, &error);
  vyre_free(kernels);
  REFUSES(vyre_source_entries, 5, "opencl", kernel_text, size, "n", "", NULL, &count, &error);
  REFUSES(vyre_source_entries, 6, "opencl", kernel_text, size, "n", "", &kernels, NULL, &error);
  TAKES(vyre_source_entries, 7, "opencl", "no", 2, "n", "", &kernels, &count, NULL);
  int seen = 0;
  int mistakes = 0;
  REFUSES(vyre_source_check, 1, NULL, kernel_text, size, "n", &options, count_mistake, &mistakes,
          &error);
  REFUSES(vyre_source_check, 2, "text", NULL, 5, "n", &options, count_mistake, &mistakes, &error);
  TAKES(vyre_source_check, 3, "text", "no", 2, NULL, &options, count_mistake, &mistakes, &error);
  TAKES(vyre_source_check, 4, "text", "no", 2, "n", NULL, count_mistake, &mistakes, &error);
  REFUSES(vyre_source_check, 5, "text", "no", 2, "n", &options, NULL, &mistakes, &error);
  TAKES(vyre_source_check, 6, "text", "no", 2, "n", &options, count_mistake, NULL, &error);
  TAKES(vyre_source_check, 7, "text", "no", 2, "n", &options, count_mistake, &mistakes, NULL);
  REFUSES(vyre_source_each, 1, NULL, kernel_text, size, "n", &options, count_visit, &seen, &error);
  REFUSES(vyre_source_each, 2, "opencl", NULL, 5, "n", &options, count_visit, &seen, &error);
  TAKES(vyre_source_each, 3, "opencl", kernel_text, size, NULL, &options, count_visit, &seen,
        &error);
  TAKES(vyre_source_each, 4, "opencl", kernel_text, size, "n", NULL, count_visit, &seen, &error);
  REFUSES(vyre_source_each, 5, "opencl", kernel_text, size, "n", &options, NULL, &seen, &error);
  TAKES(vyre_source_each, 6, "opencl", kernel_text, size, "n", &options, count_visit, NULL, &error);
  TAKES(vyre_source_each, 7, "opencl", "no", 2, "n", &options, count_visit, &seen, NULL);
  assert_int_equal(seen, 2);
  REFUSES(vyre_program_from, 1, NULL, kernel_text, size, "n", &options, &out, &error);
  REFUSES(vyre_source_entries, 1, NULL, kernel_text, size, "n", "", &kernels, &count, &error);
  char *expanded = NULL;
  size_t expanded_size = 0;
  REFUSES(vyre_source_preprocess, 1, NULL, kernel_text, size, "n", "", &expanded, &expanded_size,
          &error);
  REFUSES(vyre_source_preprocess, 2, "opencl", NULL, 5, "n", "", &expanded, &expanded_size, &error);
  TAKES(vyre_source_preprocess, 3, "opencl", kernel_text, size, NULL, "", &expanded, &expanded_size,
        &error);
  vyre_free(expanded);
  TAKES(vyre_source_preprocess, 4, "opencl", kernel_text, size, "n", NULL, &expanded,
        &expanded_size, &error);
  vyre_free(expanded);
  REFUSES(vyre_source_preprocess, 5, "opencl", kernel_text, size, "n", "", NULL, &expanded_size,
          &error);
  REFUSES(vyre_source_preprocess, 6, "opencl", kernel_text, size, "n", "", &expanded, NULL, &error);
  TAKES(vyre_source_preprocess, 7, "opencl", "no", 2, "n", "", &expanded, &expanded_size, NULL);
  options.local_count = 1;
  assert_int_equal(vyre_program_from("opencl", kernel_text, size, "n", &options, &out, &error),
                   VYRE_ERROR_ARGUMENT);
  options.locals = &(vyre_source_local){NULL, 4};
  assert_int_equal(vyre_program_from("opencl", kernel_text, size, "n", &options, &out, &error),
                   VYRE_ERROR_ARGUMENT);
  const vyre_source_format formats[] = {{"in", NULL}, {NULL, "rgba_f32"}};
  options = (vyre_source_options){.format_count = 1};
  for (int i = 0; i < 3; i++) {
    assert_int_equal(vyre_program_from("opencl", kernel_text, size, "n", &options, &out, &error),
                     VYRE_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "format_count"));
    options.formats = &formats[i % 2];
  }
}

static void never_printed(void *data, const vyre_printed *printed) {
  (void)data, (void)printed;
  fail_msg("nothing was printed");
}

static void printed_text(void **state) {
  (void)state;
  uint32_t words[4] = {0};
  uint64_t lost;
  char *text = NULL;
  REFUSES(vyre_print_text, 1, NULL, sizeof words, &text, &lost, &error);
  REFUSES(vyre_print_text, 2, words, sizeof words, NULL, &lost, &error);
  TAKES(vyre_print_text, 3, words, sizeof words, &text, NULL, &error);
  vyre_free(text);
  TAKES(vyre_print_text, 4, words, sizeof words, &text, &lost, NULL);
  vyre_free(text);
  REFUSES(vyre_print_each, 1, NULL, sizeof words, never_printed, words, &lost, &error);
  REFUSES(vyre_print_each, 2, words, sizeof words, NULL, words, &lost, &error);
  TAKES(vyre_print_each, 3, words, sizeof words, never_printed, NULL, &lost, &error);
  TAKES(vyre_print_each, 4, words, sizeof words, never_printed, words, NULL, &error);
  TAKES(vyre_print_each, 5, words, sizeof words, never_printed, words, &lost, NULL);
}

static void inspecting_programs(void **state) {
  (void)state;
  uint8_t print[32] = {1};
  uint64_t lengths[1] = {16}, grids[1][3];
  GIVES(NULL, vyre_program_retain, 1, NULL);
  TAKES(vyre_program_release, 1, NULL);
  assert_string_equal((note("vyre_program_name", 1), vyre_program_name(NULL)), "");
  TAKES(vyre_program_fingerprint, 1, NULL, print);
  assert_int_equal(print[0], 0);
  TAKES(vyre_program_fingerprint, 2, program, NULL);
  GIVES(0, vyre_program_fast_ulp, 1, NULL);
  GIVES(0, vyre_program_param_count, 1, NULL);
  TAKES(vyre_program_param, 1, NULL, 0);
  GIVES(0, vyre_program_buffer_count, 1, NULL);
  TAKES(vyre_program_buffer, 1, NULL, 0);
  GIVES(0, vyre_program_region_count, 1, NULL);
  TAKES(vyre_program_region, 1, NULL, 0);
  TAKES(vyre_program_stats, 1, NULL);
  GIVES(0, vyre_program_peak_memory, 1, NULL, lengths);
  TAKES(vyre_program_peak_memory, 2, program, NULL);
  REFUSES(vyre_program_extents, 1, NULL, &param, lengths, grids, &error);
  REFUSES(vyre_program_extents, 2, program, NULL, lengths, grids, &error);
  REFUSES(vyre_program_extents, 3, program, &param, NULL, grids, &error);
  TAKES(vyre_program_extents, 4, program, &param, lengths, NULL, &error);
  TAKES(vyre_program_extents, 5, program, &param, lengths, grids, NULL);
  GIVES(0, vyre_program_tunable_count, 1, NULL);
  TAKES(vyre_program_tunable, 1, NULL, 0);
  const uint32_t chosen[1] = {0};
  vyre_program *tuned = NULL;
  GIVES(false, vyre_program_tunables_hold, 1, NULL, chosen);
  TAKES(vyre_program_tunables_hold, 2, program, NULL);
  REFUSES(vyre_program_tune, 1, NULL, chosen, &tuned, &error);
  TAKES(vyre_program_tune, 2, program, NULL, &tuned, &error);
  vyre_program_release(tuned);
  REFUSES(vyre_program_tune, 3, program, chosen, NULL, &error);
  TAKES(vyre_program_tune, 4, NULL, chosen, &tuned, NULL);
  assert_null(vyre_program_param(program, UINT32_MAX).name);
  assert_null(vyre_program_buffer(program, UINT32_MAX).name);
  assert_null(vyre_program_region(program, UINT32_MAX).name);
}

// Each call on no builder is harmless: vyre_builder_new returns none when memory is short.
static void building_without_a_builder(void **state) {
  (void)state;
  const uint32_t shape[3] = {1, 1, 1};
  vyre_value v = 1;
  vyre_mem m = {0};
  vyre_program *out = NULL;
  TAKES(vyre_builder_free, 1, NULL);
  REFUSES(vyre_builder_finish, 1, NULL, &out, &error);
  TAKES(vyre_build_fast, 1, NULL, 1);
  GIVES(0, vyre_build_param, 1, NULL, "a", VYRE_U32);
  TAKES(vyre_build_buffer, 1, NULL, "x", VYRE_U32, VYRE_READ, 0);
  TAKES(vyre_build_transient, 1, NULL, "x", VYRE_U32, v);
  TAKES(vyre_build_region_begin, 1, NULL, "r");
  TAKES(vyre_build_grid, 1, NULL, 1, &v, shape);
  TAKES(vyre_build_shared, 1, NULL, "s", VYRE_U32, 4);
  const uint64_t bits[1] = {1};
  GIVES(0, vyre_build_tunable, 1, NULL, "t", VYRE_U32, 1, bits, 0);
  TAKES(vyre_build_tunable_where, 1, NULL, v, v);
  GIVES(0, vyre_build_formula, 1, NULL, VYRE_OP_NEG, VYRE_VOID, 1, &v);
  TAKES(vyre_build_grid_of, 1, NULL, 1, &v, (const vyre_value[3]){v, v, v});
  TAKES(vyre_build_shared_of, 1, NULL, "s", VYRE_U32, v);
  TAKES(vyre_build_array_of, 1, NULL, "a", VYRE_U32, v);
  TAKES(vyre_build_region_end, 1, NULL);
  GIVES(0, vyre_build_const, 1, NULL, VYRE_U32, 1);
  GIVES(0, vyre_build_bool, 1, NULL, true);
  GIVES(0, vyre_build_i32, 1, NULL, 1);
  GIVES(0, vyre_build_u32, 1, NULL, 1);
  GIVES(0, vyre_build_f16, 1, NULL, 1);
  GIVES(0, vyre_build_f32, 1, NULL, 1);
  GIVES(0, vyre_build_f64, 1, NULL, 1);
  GIVES(0, vyre_build_op, 1, NULL, VYRE_OP_NEG, VYRE_VOID, 1, &v);
  GIVES(0, vyre_build_unary, 1, NULL, VYRE_OP_NEG, v);
  GIVES(0, vyre_build_binary, 1, NULL, VYRE_OP_ADD, v, v);
  GIVES(0, vyre_build_select, 1, NULL, v, v, v);
  GIVES(0, vyre_build_fma, 1, NULL, v, v, v);
  GIVES(0, vyre_build_convert, 1, NULL, VYRE_U32, v);
  GIVES(0, vyre_build_bitcast, 1, NULL, VYRE_U32, v);
  GIVES(0, vyre_build_param_value, 1, NULL, 0);
  GIVES(0, vyre_build_len, 1, NULL, m);
  GIVES(0, vyre_build_id, 1, NULL, VYRE_OP_GLOBAL_ID, 0);
  GIVES(0, vyre_build_load, 1, NULL, m, v);
  TAKES(vyre_build_store, 1, NULL, m, v, v);
  GIVES(0, vyre_build_atomic, 1, NULL, VYRE_OP_ATOMIC_ADD, m, v, v);
  GIVES(0, vyre_build_atomic_cas, 1, NULL, m, v, v, v);
  GIVES(0, vyre_build_var, 1, NULL, "v", v);
  GIVES(0, vyre_build_get, 1, NULL, 1);
  TAKES(vyre_build_set, 1, NULL, 1, v);
  TAKES(vyre_build_array, 1, NULL, "a", VYRE_U32, 4);
  TAKES(vyre_build_if, 1, NULL, v);
  TAKES(vyre_build_else, 1, NULL);
  GIVES(0, vyre_build_for, 1, NULL, v, v, v);
  TAKES(vyre_build_while, 1, NULL);
  TAKES(vyre_build_do, 1, NULL, v);
  TAKES(vyre_build_end, 1, NULL);
  TAKES(vyre_build_break, 1, NULL);
  TAKES(vyre_build_continue, 1, NULL);
  TAKES(vyre_build_return, 1, NULL);
  TAKES(vyre_build_barrier, 1, NULL);
  TAKES(vyre_build_name, 1, NULL, v, "n");
  GIVES(VYRE_VOID, vyre_build_type_of, 1, NULL, v);
}

static vyre_builder *in_body(void) {
  vyre_builder *b = vyre_builder_new("p");
  vyre_build_region_begin(b, "r");
  vyre_value one = vyre_build_u32(b, 1);
  vyre_build_grid(b, 1, &one, (const uint32_t[3]){1, 1, 1});
  return b;
}

static void check_unfinished(vyre_builder *b) {
  vyre_program *out = NULL;
  if (vyre_builder_finish(b, &out, &error) == VYRE_OK) fail_msg("a nameless thing was accepted");
  assert_null(out);
  vyre_builder_free(b);
}

// A NULL in what is built is a mistake of the program, which finish reports.
static void building_from_nothing(void **state) {
  (void)state;
  vyre_builder *b;
  vyre_program *out = NULL;
  note("vyre_builder_new", 1);
  b = vyre_builder_new(NULL);
  TAKES(vyre_build_param, 2, b, NULL, VYRE_U32);
  check_unfinished(b);
  b = vyre_builder_new("p");
  TAKES(vyre_build_buffer, 2, b, NULL, VYRE_U32, VYRE_READ, 0);
  check_unfinished(b);
  b = vyre_builder_new("p");
  TAKES(vyre_build_transient, 2, b, NULL, VYRE_U32, vyre_build_u32(b, 4));
  check_unfinished(b);
  b = vyre_builder_new("p");
  TAKES(vyre_build_region_begin, 2, b, NULL);
  check_unfinished(b);
  b = vyre_builder_new("p");
  vyre_build_region_begin(b, "r");
  TAKES(vyre_build_grid, 2, b, 1, NULL, (const uint32_t[3]){1, 1, 1});
  check_unfinished(b);
  b = vyre_builder_new("p");
  vyre_build_region_begin(b, "r");
  vyre_value one = vyre_build_u32(b, 1);
  TAKES(vyre_build_grid, 3, b, 1, &one, NULL);
  check_unfinished(b);
  b = vyre_builder_new("p");
  TAKES(vyre_build_tunable, 2, b, NULL, VYRE_U32, 1, (const uint64_t[1]){1}, 0);
  check_unfinished(b);
  b = vyre_builder_new("p");
  TAKES(vyre_build_tunable, 3, b, "t", VYRE_U32, 1, NULL, 0);
  check_unfinished(b);
  b = vyre_builder_new("p");
  TAKES(vyre_build_formula, 2, b, VYRE_OP_NEG, VYRE_VOID, 1, NULL);
  check_unfinished(b);
  b = vyre_builder_new("p");
  vyre_build_region_begin(b, "r");
  one = vyre_build_u32(b, 1);
  TAKES(vyre_build_grid_of, 2, b, 1, NULL, (const vyre_value[3]){one, one, one});
  check_unfinished(b);
  b = vyre_builder_new("p");
  vyre_build_region_begin(b, "r");
  one = vyre_build_u32(b, 1);
  TAKES(vyre_build_grid_of, 3, b, 1, &one, NULL);
  check_unfinished(b);
  b = in_body();
  TAKES(vyre_build_shared_of, 2, b, NULL, VYRE_U32, vyre_build_u32(b, 4));
  check_unfinished(b);
  b = in_body();
  TAKES(vyre_build_array_of, 2, b, NULL, VYRE_U32, vyre_build_u32(b, 4));
  check_unfinished(b);
  b = in_body();
  TAKES(vyre_build_shared, 2, b, NULL, VYRE_U32, 4);
  check_unfinished(b);
  b = in_body();
  TAKES(vyre_build_op, 2, b, VYRE_OP_NEG, VYRE_VOID, 1, NULL);
  check_unfinished(b);
  b = in_body(); // these names are for people, and may be missing
  TAKES(vyre_build_var, 2, b, NULL, vyre_build_u32(b, 1));
  TAKES(vyre_build_array, 2, b, NULL, VYRE_U32, 4);
  TAKES(vyre_build_name, 2, b, vyre_build_id(b, VYRE_OP_GLOBAL_ID, 0), NULL);
  vyre_build_region_end(b);
  REFUSES(vyre_builder_finish, 2, b, NULL, &error);
  TAKES(vyre_builder_finish, 3, b, &out, NULL);
  assert_non_null(out);
  vyre_program_release(out);
  // The builder is empty now; whatever is built is refused.
  TAKES(vyre_build_fast, 1, b, 1);
  TAKES(vyre_build_param, 1, b, "a", VYRE_U32);
  TAKES(vyre_build_buffer, 1, b, "x", VYRE_U32, VYRE_READ, 0);
  TAKES(vyre_build_region_begin, 1, b, "again");
  TAKES(vyre_build_u32, 1, b, 1);
  check_unfinished(b);
}

static void executables(void **state) {
  (void)state;
  vyre_executable *e = NULL;
  vyre_device device;
  uint32_t count = 7;
  vyre_compile_options options = {0};
  vyre_report report = {0};
  REFUSES(vyre_compile, 1, NULL, "ref", &options, &e, &error);
  REFUSES(vyre_compile, 2, program, NULL, &options, &e, &error);
  REFUSES(vyre_compile, 4, program, "ref", &options, NULL, &error);
  TAKES(vyre_compile, 5, program, "none", &options, &e, NULL);
  assert_null(e);
  TAKES(vyre_compile, 3, program, "ref", NULL, &e, &error);
  TAKES(vyre_executable_release, 1, NULL);
  uint64_t counts[VYRE_FINDING_KINDS];
  vyre_check_options checked = {0};
  REFUSES(vyre_check_dispatch, 1, NULL, &args, &checked, counts, &report, &error);
  REFUSES(vyre_check_dispatch, 2, program, NULL, &checked, counts, &report, &error);
  TAKES(vyre_check_dispatch, 3, program, &args, NULL, counts, &report, &error);
  TAKES(vyre_check_dispatch, 4, program, &args, &checked, NULL, &report, &error);
  TAKES(vyre_check_dispatch, 5, program, &args, &checked, counts, NULL, &error);
  TAKES(vyre_check_dispatch, 6, program, &args, &checked, counts, &report, NULL);
  GIVES(NULL, vyre_executable_backend, 1, NULL);
  REFUSES(vyre_dispatch, 1, NULL, &args, &report, &error);
  REFUSES(vyre_dispatch, 2, e, NULL, &report, &error);
  TAKES(vyre_dispatch, 3, e, &args, NULL, &error);
  TAKES(vyre_dispatch, 4, e, &args, &report, NULL);
  report.region_capacity = 4; // without room for them
  assert_int_equal(vyre_dispatch(e, &args, &report, &error), VYRE_OK);
  vyre_executable_release(e);
  REFUSES(vyre_backend_devices, 1, NULL, &device, 1, &count, &error);
  REFUSES(vyre_backend_devices, 2, "ref", NULL, 1, &count, &error);
  assert_int_equal(count, 0);
  REFUSES(vyre_backend_devices, 3, "ref", &device, 1, NULL, &error);
  TAKES(vyre_backend_devices, 4, "none", &device, 1, &count, NULL);
}

static void runtimes(void **state) {
  (void)state;
  vyre_runtime *rt = NULL;
  vyre_kernel *k = NULL;
  vyre_buffer *b = NULL;
  vyre_completion *c = NULL;
  char *why = NULL, bytes[8] = {0};
  vyre_report report = {0};
  vyre_runtime_options options = {.no_store = true, .no_learning = true, .backend = "ref"};
  REFUSES(vyre_runtime_new, 2, &options, NULL, &error);
  TAKES(vyre_runtime_new, 1, NULL, &rt, &error);
  TAKES(vyre_runtime_free, 1, rt);
  vyre_runtime_free(NULL);
  TAKES(vyre_runtime_new, 3, &options, &rt, NULL);
  TAKES(vyre_runtime_settle, 1, NULL);
  REFUSES(vyre_runtime_load, 1, NULL, program, &k, &error);
  REFUSES(vyre_runtime_load, 2, rt, NULL, &k, &error);
  REFUSES(vyre_runtime_load, 3, rt, program, NULL, &error);
  TAKES(vyre_runtime_load, 4, rt, program, &k, NULL);
  TAKES(vyre_kernel_free, 1, NULL);
  REFUSES(vyre_kernel_dispatch, 1, NULL, &args, &report, &error);
  REFUSES(vyre_kernel_dispatch, 2, k, NULL, &report, &error);
  TAKES(vyre_kernel_dispatch, 3, k, &args, NULL, &error);
  TAKES(vyre_kernel_dispatch, 4, k, &args, &report, NULL);
  REFUSES(vyre_kernel_submit, 1, NULL, &args, &c, &error);
  REFUSES(vyre_kernel_submit, 2, k, NULL, &c, &error);
  REFUSES(vyre_kernel_submit, 3, k, &args, NULL, &error);
  TAKES(vyre_kernel_submit, 4, k, &args, &c, NULL);
  GIVES(false, vyre_completion_is_done, 1, NULL);
  REFUSES(vyre_completion_wait, 1, NULL, &error);
  TAKES(vyre_completion_wait, 2, c, NULL);
  REFUSES(vyre_kernel_explain, 1, NULL, &why, &error);
  REFUSES(vyre_kernel_explain, 2, k, NULL, &error);
  TAKES(vyre_kernel_explain, 3, k, &why, NULL);
  vyre_free(why);
  vyre_runtime *ranks; // MPI is not initialised: there is no communicator
  TAKES(vyre_cluster_new, 1, 7, NULL, &ranks, &error);
  REFUSES(vyre_cluster_new, 2, 7, NULL, NULL, &error);
  TAKES(vyre_cluster_new, 3, 7, NULL, &ranks, NULL);
  assert_null(ranks);
  GIVES(0, vyre_cluster_rank, 1, NULL);
  GIVES(1, vyre_cluster_size, 1, NULL);
  REFUSES(vyre_buffer_new, 1, NULL, 8, &b, &error);
  REFUSES(vyre_buffer_new, 2, rt, 8, NULL, &error);
  TAKES(vyre_buffer_new, 3, rt, 8, &b, NULL);
  TAKES(vyre_buffer_free, 1, NULL);
  vyre_checkpoint_buffer named = {"b", b};
  const char *where = scratch_path("checkpoint");
  uint64_t step;
  REFUSES(vyre_checkpoint_save, 1, NULL, where, "", 1, &named, 1, &error);
  REFUSES(vyre_checkpoint_save, 2, rt, NULL, "", 1, &named, 1, &error);
  TAKES(vyre_checkpoint_save, 3, rt, where, NULL, 1, &named, 1, &error);
  REFUSES(vyre_checkpoint_save, 4, rt, where, "", 1, NULL, 1, &error);
  TAKES(vyre_checkpoint_save, 5, rt, where, "", 1, &named, 1, NULL);
  REFUSES(vyre_checkpoint_load, 1, NULL, where, "", &step, &named, 1, &error);
  REFUSES(vyre_checkpoint_load, 2, rt, NULL, "", &step, &named, 1, &error);
  TAKES(vyre_checkpoint_load, 3, rt, where, NULL, &step, &named, 1, &error);
  TAKES(vyre_checkpoint_load, 4, rt, where, "", NULL, &named, 1, &error);
  REFUSES(vyre_checkpoint_load, 5, rt, where, "", &step, NULL, 1, &error);
  TAKES(vyre_checkpoint_load, 6, rt, where, "", &step, &named, 1, NULL);
  REFUSES(vyre_buffer_write, 1, NULL, 0, bytes, 8, &error);
  REFUSES(vyre_buffer_write, 2, b, 0, NULL, 8, &error);
  TAKES(vyre_buffer_write, 3, b, 0, bytes, 8, NULL);
  REFUSES(vyre_buffer_read, 1, NULL, 0, bytes, 8, &error);
  REFUSES(vyre_buffer_read, 2, b, 0, NULL, 8, &error);
  TAKES(vyre_buffer_read, 3, b, 0, bytes, 8, NULL);
  vyre_buffer_free(b);
  vyre_kernel_free(k);
  vyre_runtime_free(rt);
}

// ---- the list against the header ----------------------------------------------------------------

static int count_pointers(const char *first, const char *end) {
  int pointers = 0, depth = 0;
  bool is_pointer = false;
  for (; first < end; first++) {
    depth += *first == '(';
    depth -= *first == ')';
    is_pointer |= *first == '*' || *first == '[';
    if (*first != ',' || depth) continue;
    pointers += is_pointer;
    is_pointer = false;
  }
  return pointers + is_pointer;
}

static void every_function_was_called(void **state) {
  (void)state;
  char *header = scratch_read(VYRE_SOURCE_DIR "/include/vyre/vyre.h");
  int functions = 0;
  for (char *at = strstr(header, "\nVYRE_API "); at; at = strstr(at + 1, "\nVYRE_API ")) {
    char *open = strchr(at, '('), *end = strstr(at, ");"), *name = open;
    while (strchr("abcdefghijklmnopqrstuvwxyz0123456789_", name[-1])) name--;
    int pointers = count_pointers(open + 1, end);
    for (int i = pointers ? 1 : 0; i <= pointers; i++)
      if (!was_called(name, (size_t)(open - name), i))
        fail_msg("no call of %.*s with NULL as pointer %d: add one here", (int)(open - name), name,
                 i);
    functions++;
  }
  free(header);
  assert_true(functions > 90);
}

// ---- sizes --------------------------------------------------------------------------------------

static void spans_that_are_no_memory(void **state) {
  (void)state;
  static const struct {
    uintptr_t data;
    size_t size;
  } bad[] = {{0, 4},
             {4096, SIZE_MAX - 4},
             {UINTPTR_MAX - 3, 4},
             {UINTPTR_MAX - 7, 64},
             {(uintptr_t)1 << 63, (size_t)1 << 63},
             {4096, (size_t)1 << 63}};
  static const char *const backends[] = {"ref", "cpu"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    vyre_span wrong = {(void *)bad[i].data, bad[i].size};
    vyre_dispatch_args with = args;
    with.buffers = &wrong;
    for (size_t k = 0; k < 2; k++) {
      vyre_executable *e = NULL;
      assert_int_equal(vyre_compile(program, backends[k], NULL, &e, &error), VYRE_OK);
      assert_int_not_equal(vyre_dispatch(e, &with, NULL, &error), VYRE_OK);
      assert_non_null(strstr(error.message, "Fix:"));
      vyre_executable_release(e);
    }
  }
}

// A runtime copies what it learns from before it runs it.
static void runtimes_check_before_they_copy(void **state) {
  (void)state;
  static const char two[] = "program p()\nbuffer x: u8[] readwrite\nbuffer y: u8[] readwrite\n"
                            "region r grid(len(x)) { x[global_id.x] = y[global_id.x] }\n";
  vyre_program *p = NULL;
  vyre_runtime *rt = NULL;
  vyre_kernel *k = NULL;
  vyre_runtime_options options = {.no_store = true, .learn_after = 1};
  assert_int_equal(vyre_program_parse(two, strlen(two), NULL, &p, &error), VYRE_OK);
  assert_int_equal(vyre_runtime_new(&options, &rt, &error), VYRE_OK);
  assert_int_equal(vyre_runtime_load(rt, p, &k, &error), VYRE_OK);
  size_t half = (size_t)1 << 63;
  vyre_span bad[][2] = {
      {{(void *)4096, half}, {(void *)4096, half}}, // 0 bytes together
      {{(void *)4096, SIZE_MAX - 8192}, {NULL, 0}},
      {{(void *)(UINTPTR_MAX - 1), 8}, {NULL, 0}},
      {{NULL, 8}, {NULL, 8}},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    vyre_dispatch_args with = {.buffers = bad[i], .buffer_count = 2};
    for (int n = 0; n < 3; n++)
      assert_int_not_equal(vyre_kernel_dispatch(k, &with, NULL, &error), VYRE_OK);
    vyre_span good[2] = {{memory, 32}, {(char *)memory + 32, 32}};
    with.buffers = good;
    assert_int_equal(vyre_kernel_dispatch(k, &with, NULL, &error), VYRE_OK);
  }
  vyre_runtime_settle(rt);
  vyre_kernel_free(k);
  vyre_runtime_free(rt);
  vyre_program_release(p);
}

static void buffers_that_no_memory_holds(void **state) {
  (void)state;
  vyre_runtime *rt = NULL;
  vyre_buffer *b = NULL;
  char byte = 0;
  vyre_runtime_options options = {.no_store = true, .no_learning = true};
  assert_int_equal(vyre_runtime_new(&options, &rt, &error), VYRE_OK);
  static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 4095, (size_t)1 << 63, (size_t)1 << 50};
  for (size_t i = 0; i < 4; i++) {
    assert_int_not_equal(vyre_buffer_new(rt, sizes[i], &b, &error), VYRE_OK);
    assert_null(b);
  }
  assert_int_equal(vyre_buffer_new(rt, 8, &b, &error), VYRE_OK);
  assert_int_not_equal(vyre_buffer_write(b, SIZE_MAX, &byte, 1, &error), VYRE_OK);
  assert_int_not_equal(vyre_buffer_write(b, 1, &byte, SIZE_MAX, &error), VYRE_OK);
  assert_int_not_equal(vyre_buffer_read(b, SIZE_MAX - 3, &byte, 8, &error), VYRE_OK);
  vyre_buffer_free(b);
  vyre_runtime_free(rt);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_pointers),
      cmocka_unit_test(reading_programs),
      cmocka_unit_test(reading_opencl_c),
      cmocka_unit_test(printed_text),
      cmocka_unit_test(inspecting_programs),
      cmocka_unit_test(building_without_a_builder),
      cmocka_unit_test(building_from_nothing),
      cmocka_unit_test(executables),
      cmocka_unit_test(runtimes),
      cmocka_unit_test(every_function_was_called), // after those above
      cmocka_unit_test(spans_that_are_no_memory),
      cmocka_unit_test(runtimes_check_before_they_copy),
      cmocka_unit_test(buffers_that_no_memory_holds),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
