// SPDX-License-Identifier: MIT
//
// Nothing depends on the locale of the caller: neither on that of the process (setlocale) nor on
// that of the thread (uselocale). Each case runs in a locale with a comma in numbers.
#include "base/ascii.h"
#include "base/decimal.h"
#include "base/error.h"
#include "base/format.h"
#include "base/toml.h"
#include "backend/backend.h"
#include "cli/npy.h"
#include "cli/number.h"
#include "cli/show.h"
#include "../comma_locale.h"
#include "../scratch_dir.h"
#include "../parsed_program.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

static bool has_comma;

// Fails where the locale is not in force any more, so that no case passes by accident.
static void assert_comma(void) {
  if (!has_comma) {
    print_message("no locale with a comma can be made here: `locales` is not installed\n");
    skip();
  }
  char text[8];
  snprintf(text, sizeof text, "%.1f", 0.5);
  assert_string_equal(text, "0,5");
}

// ---- numbers ------------------------------------------------------------------------------------

static void decimals(void **state) {
  (void)state;
  assert_comma();
  char *end;
  assert_true(decimal_read_f64("1.5x", &end) == 1.5);
  assert_string_equal(end, "x");
  assert_true(decimal_read_f64("1,5", &end) == 1.0);
  assert_string_equal(end, ",5");
  assert_true(decimal_read_f32("0.1", NULL) == 0.1f);
  static const struct {
    double value;
    bool is_f32;
    const char *text;
  } cases[] = {{0.1, false, "0.1"},           {(double)0.1f, true, "0.1"},
               {1.5e-20, false, "1.5e-20"},   {-0.0, false, "-0.0"},
               {5e-324, false, "5e-324"},     {1e22, false, "1e22"},
               {16777216, true, "16777216.0"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    strbuf s = {0};
    decimal_print(&s, cases[i].value, cases[i].is_f32 ? 32 : 64);
    char *text = strbuf_take(&s, NULL);
    assert_string_equal(text, cases[i].text);
    free(text);
  }
  assert_comma();
}

static void messages(void **state) {
  (void)state;
  assert_comma();
  vyre_error e;
  error_set(&e, VYRE_ERROR_TIMEOUT, "%.3f s", 0.25);
  assert_string_equal(e.message, "0.250 s");
  strbuf s = {0};
  strbuf_printf(&s, "%.1f %s", 2.5, format_errno(ENOENT));
  char *text = strbuf_take(&s, NULL);
  assert_string_equal(text, "2.5 No such file or directory");
  free(text);
  assert_comma();
}

static void kinds_of_bytes(void **state) {
  (void)state;
  assert_comma();
  assert_true(isalpha(0xe4)); // what a name would have got through
  for (int c = 0; c < 256; c++) {
    assert_int_equal(ascii_is_letter((char)c), c < 128 && isalpha(c));
    assert_int_equal(ascii_is_digit((char)c), isdigit(c) != 0);
    assert_int_equal(ascii_is_hex_digit((char)c), isxdigit(c) != 0);
    assert_int_equal(ascii_is_space((char)c), c < 128 && isspace(c));
    assert_int_equal((unsigned char)ascii_lower((char)c), c < 128 ? tolower(c) : c);
  }
  char adapter[64];
  device_adapter_name(adapter, sizeof adapter, "x",
                      "\xc4"
                      "B.c",
                      "1");
  assert_string_equal(adapter, "x-b.c-1");
}

static void numbers_of_the_command(void **state) {
  (void)state;
  assert_comma();
  uint64_t bits;
  char text[NUMBER_TEXT], shown[SHOW_TEXT];
  assert_int_equal(number_read("2.5", VYRE_F64, &bits, NULL), VYRE_OK);
  assert_true(bits == 0x4004000000000000u);
  assert_int_not_equal(number_read("2,5", VYRE_F64, &bits, NULL), VYRE_OK);
  number_show(VYRE_F32, 0x3dcccccdu, text);
  assert_string_equal(text, "0.1");
  assert_string_equal(show_time(1234567890, shown), "1.235 s");
  assert_string_equal(show_bytes(1536, shown), "1.5 KiB");
  static const float elements[] = {0.5f, -2.5f};
  json_t *list = show_json(VYRE_F32, elements, 2);
  char *json = json_dumps(list, JSON_COMPACT);
  assert_string_equal(json, "[0.5,-2.5]");
  free(json);
  json_decref(list);
}

// ---- files --------------------------------------------------------------------------------------

static void toml_keeps_its_rules(void **state) {
  (void)state;
  assert_comma();
  static const char *const refused[] = {"\xe4 = 1\n", "x = 1,5\n", "x = 1.\n"};
  for (size_t i = 0; i < 3; i++) {
    arena memory = {0};
    toml_table *root;
    assert_int_equal(
        toml_parse(&memory, refused[i], strlen(refused[i]), "t", NULL, NULL, &root, NULL),
        VYRE_ERROR_SYNTAX);
    arena_free(&memory);
  }
}

static void npy_headers(void **state) {
  (void)state;
  assert_comma();
  double data[] = {0.5, 1.5};
  assert_int_equal(npy_write(scratch_path("x.npy"), VYRE_F64, 1, (uint64_t[]){2}, data, NULL),
                   VYRE_OK);
  char *text = scratch_read(scratch_path("x.npy"));
  assert_non_null(strstr(text + 10, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }"));
  free(text);
  npy_array array;
  assert_int_equal(npy_read(scratch_path("x.npy"), &array, NULL), VYRE_OK);
  assert_memory_equal(array.data, data, sizeof data);
  npy_free(&array);
}

// ---- programs -----------------------------------------------------------------------------------

static const char scaled[] = "program scaled()\n"
                             "buffer x: f32[] readwrite\n"
                             "buffer y: f64[len(x)] readwrite\n"
                             "\n"
                             "region main grid(len(x)) {\n"
                             "  let i = global_id.x\n"
                             "  x[i] = x[i] * 1.5 + 1e-20\n"
                             "  y[i] = y[i] * 0.1 - 1234.5678\n"
                             "}\n";

static void programs_are_read_and_printed(void **state) {
  (void)state;
  assert_comma();
  vyre_program *p = parse(scaled);
  char *text;
  assert_int_equal(vyre_program_print(p, &text, NULL, NULL), VYRE_OK);
  assert_string_equal(text, scaled);
  vyre_free(text);
  vyre_program_release(p);
  assert_comma();
}

static void check_results(const char *backend) {
  enum { COUNT = 100 };
  float x[COUNT];
  double y[COUNT];
  for (int i = 0; i < COUNT; i++) x[i] = (float)i, y[i] = i;
  vyre_program *p = parse(scaled);
  vyre_executable *executable;
  vyre_error e = {0};
  vyre_span spans[] = {{x, sizeof x}, {y, sizeof y}};
  vyre_dispatch_args args = {.buffers = spans, .buffer_count = 2};
  if (vyre_compile(p, backend, NULL, &executable, &e) != VYRE_OK) fail_msg("%s", e.message);
  if (vyre_dispatch(executable, &args, NULL, &e) != VYRE_OK) fail_msg("%s", e.message);
  for (int i = 0; i < COUNT; i++) {
    assert_true(x[i] == (float)i * 1.5f + 1e-20f);
    assert_true(y[i] == i * 0.1 - 1234.5678);
  }
  vyre_executable_release(executable);
  vyre_program_release(p);
  assert_comma();
}

static void results(void **state) {
  (void)state;
  assert_comma();
  for (uint32_t i = 0; i < vyre_backend_count(); i++) {
    const char *backend = vyre_backend_name(i);
    uint32_t count = 0;
    vyre_device device;
    if (vyre_backend_devices(backend, &device, 1, &count, NULL) == VYRE_OK && count)
      check_results(backend);
    else
      print_message("%s has no device here\n", backend);
  }
}

static void results_of_opencl_c(void **state) {
  (void)state;
  assert_comma();
  static const char source[] = "__attribute__((annotate(\"grid(len(x))\")))\n"
                               "__kernel void k(__global float *x) {\n"
                               "  x[get_global_id(0)] *= 1.5f;\n}\n";
  vyre_program *p;
  vyre_error e = {0};
  if (vyre_program_from("opencl", source, strlen(source), NULL, NULL, &p, &e) != VYRE_OK)
    fail_msg("%s", e.message);
  char *text;
  assert_int_equal(vyre_program_print(p, &text, NULL, NULL), VYRE_OK);
  if (!strstr(text, "* 1.5")) fail_msg("%s", text);
  vyre_free(text);
  vyre_program_release(p);
}

// ---- both kinds of locale -----------------------------------------------------------------------

static locale_t thread_locale;

static int set_process(void **state) {
  if (scratch_dir_make(state)) return -1;
  setenv("VYRE_HOME", scratch_dir, 1);
  has_comma = comma_locale_set(scratch_dir);
  return 0;
}

static int reset(void **state) {
  if (thread_locale) {
    uselocale(LC_GLOBAL_LOCALE);
    freelocale(thread_locale);
  }
  comma_locale_reset();
  return scratch_dir_remove(state);
}

static int set_thread(void **state) {
  if (set_process(state)) return -1;
  thread_locale = duplocale(LC_GLOBAL_LOCALE);
  setlocale(LC_ALL, "C");
  if (has_comma) uselocale(thread_locale);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(decimals),
      cmocka_unit_test(messages),
      cmocka_unit_test(kinds_of_bytes),
      cmocka_unit_test(numbers_of_the_command),
      cmocka_unit_test(toml_keeps_its_rules),
      cmocka_unit_test(npy_headers),
      cmocka_unit_test(programs_are_read_and_printed),
      cmocka_unit_test(results),
      cmocka_unit_test(results_of_opencl_c),
  };
  int failed = cmocka_run_group_tests_name("process", tests, set_process, reset);
  return failed + cmocka_run_group_tests_name("thread", tests, set_thread, reset);
}
