// SPDX-License-Identifier: MIT
//
// The preprocessor in the process beside clang's: the same tokens, the same lines, and no clang is
// started for what kernels usually contain. What it does not do itself goes to clang.
#include <vyre/vyre.h>

#include "base/file.h"
#include "../scratch_dir.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#define MACROS VYRE_SOURCE_DIR "/tests/golden/front/inputs/macros.cl"
// The preprocessor in the process leaves these to clang.
#define TO_CLANG "\n#pragma push_macro(\"x\")\n"

static char *preprocessed(const char *text, const char *name, const char *options) {
  char *out = NULL;
  size_t size = 0;
  vyre_error error = {0};
  vyre_status status =
      vyre_source_preprocess("opencl", text, strlen(text), name, options, &out, &size, &error);
  if (strstr(error.message, "libvyre-clang")) {
    print_message("%s\n", error.message);
    skip();
  }
  assert_string_equal(error.message, "");
  assert_int_equal(status, VYRE_OK);
  assert_int_equal(strlen(out), size);
  return out;
}

// With a clang that fails, so that an answer is the process's own.
static char *own(const char *text, const char *name, const char *options) {
  setenv("VYRE_CLANG", "/bin/false", 1);
  char *out = preprocessed(text, name, options);
  unsetenv("VYRE_CLANG");
  return out;
}

static char *clangs(const char *text, const char *name, const char *options) {
  char *all = malloc(strlen(text) + sizeof TO_CLANG);
  sprintf(all, "%s%s", text, TO_CLANG);
  char *out = preprocessed(all, name, options);
  char *pragma = strstr(out, "#pragma push_macro");
  if (pragma) *pragma = 0;
  free(all);
  return out;
}

// Leaves out markers of lines and white space outside of strings.
static void squeeze(char *text) {
  char *out = text;
  bool is_quoted = false, is_marker = false, is_first = true;
  for (const char *at = text; *at; at++) {
    if (is_first) is_marker = at[0] == '#' && at[1] == ' ';
    is_first = *at == '\n';
    if (is_marker) continue;
    if (*at == '"' && (!is_quoted || at[-1] != '\\')) is_quoted = !is_quoted;
    if (is_quoted || !strchr(" \t\r\n", *at)) *out++ = *at;
  }
  *out = 0;
}

static void is_same_as_clang(const char *text, const char *name, const char *options) {
  char *a = own(text, name, options), *b = clangs(text, name, options);
  squeeze(a);
  squeeze(b);
  assert_string_equal(a, b);
  free(a);
  free(b);
}

static char *read_text(const char *path) {
  char *text = NULL;
  size_t size = 0;
  vyre_error error = {0};
  file_read(path, 1 << 20, &text, &size, &error);
  assert_string_equal(error.message, "");
  return text;
}

static void macros_are_expanded_as_clang_does(void **state) {
  (void)state;
  char *text = read_text(MACROS);
  is_same_as_clang(text, "macros.cl", "-cl-std=CL1.2");
  char *made = own(text, "macros.cl", "-cl-std=CL1.2");
  assert_non_null(strstr(made, "+ + -1; }")); // no two signs became one
  assert_non_null(strstr(made, "s2[] = \"[1 G](2)(3)\""));
  free(made);
  free(text);
}

static void options_define_and_remove(void **state) {
  (void)state;
  static const char text[] = "constant int a = A; constant int f = F(3);\n"
                             "#if defined(B) || defined(M_PI_X) || __FAST_RELAXED_MATH__ != 1\n"
                             "constant int wrong = 1;\n"
                             "#endif\n"
                             "constant int version = __OPENCL_VERSION__ + __OPENCL_C_VERSION__;\n"
                             "kernel void k(global int *o) { o[0] = a + f; }\n";
  is_same_as_clang(text, "k.cl", "-DA \"-DF(x)=(x + A)\" -UB -cl-fast-relaxed-math");
  is_same_as_clang(text, "k.cl", "-cl-std=CL2.0 -DA=2 -D F(x)=x -cl-fast-relaxed-math");
  is_same_as_clang(text, "k.cl",
                   "-cl-std=CL3.0 -DA=2 -DF(x)=x -cl-fast-relaxed-math -D__OPENCL_VERSION__=300");
}

static void write_text(const char *name, const char *text) {
  vyre_error error = {0};
  file_make_parents(scratch_path(name), &error);
  assert_string_equal(error.message, "");
  scratch_write(scratch_path(name), text);
}

// Beside the file that includes, then the folders of -I; once, guarded and again.
static void files_are_included(void **state) {
  (void)state;
  char name[600], options[600];
  write_text("in/a.h", "#pragma once\n#include \"b.h\"\nconstant int a = B;\n");
  write_text("in/b.h", "#ifndef B\n#define B 1 /* of\nin */\n#endif\n");
  write_text("other/b.h", "#undef B\n#define B 2\nconstant int UNIQUE(b) = __LINE__;\n");
  snprintf(name, sizeof name, "%s", scratch_path("k.cl"));
  snprintf(options, sizeof options, "-I%s", scratch_path("other"));
  static const char text[] = "#define JOIN(a, b) a##b\n"
                             "#define JOIN_BOTH(a, b) JOIN(a, b)\n"
                             "#define UNIQUE(x) JOIN_BOTH(x, COUNT)\n"
                             "#define COUNT 1\n"
                             "#include \"in/a.h\"\n"
                             "#include \"in/a.h\"\n"
                             "#include <b.h>\n"
                             "#undef COUNT\n"
                             "#define COUNT 2\n"
                             "#define WHICH \"b.h\"\n"
                             "#include WHICH /* two\n"
                             "lines */\n"
                             "constant int line = __LINE__, b = B;\n"
                             "kernel void k(global int *o) { o[0] = a; }\n";
  is_same_as_clang(text, name, options);
  char *made = own(text, name, options);
  assert_non_null(strstr(made, "line = 13, b = 2;"));
  free(made);
}

// Files that are read again and again take no more memory than a limit: then clang reads them.
static void files_read_too_often_are_left_to_clang(void **state) {
  (void)state;
  enum { BYTES = 4 << 20, TIMES = 20 };
  char *header = malloc(BYTES + 1), text[TIMES * 20 + 100];
  memset(header, ' ', BYTES);
  header[BYTES] = 0;
  write_text("wide.h", header);
  free(header);
  size_t at = 0;
  for (int i = 0; i < TIMES; i++) at += (size_t)sprintf(text + at, "#include \"wide.h\"\n");
  sprintf(text + at, "kernel void k(global int *o) { o[0] = 1; }\n");
  char *out = NULL;
  size_t size = 0;
  vyre_error error = {0};
  setenv("VYRE_CLANG", "/bin/false", 1);
  vyre_status status = vyre_source_preprocess("opencl", text, strlen(text), scratch_path("k.cl"),
                                              "-cl-std=CL1.2", &out, &size, &error);
  unsetenv("VYRE_CLANG");
  assert_int_not_equal(status, VYRE_OK);
}

// Not its own: each is right because clang answers.
static void what_is_rare_goes_to_clang(void **state) {
  (void)state;
  static const char *const sources[] = {
      "constant int a = __COUNTER__ + __has_builtin(dot);",
      ("#define OPTIONAL(f, ...) f(1, ## __VA_ARGS__)\n"
       "#define PLUS(a, b) a + b\nconstant int a = OPTIONAL(PLUS, 2);"),
      "#line 7\nconstant int a = __LINE__;",
      "#ifdef NOTHING\n#elifndef NOTHING\nconstant int a = 1;\n#endif",
      "\?\?=define ONE 1\nconstant int a = ONE;",
      "#if __has_include(\"nothing.h\")\n#else\nconstant int a = 1;\n#endif",
      "_Pragma(\"OPENCL EXTENSION cl_khr_fp64 : enable\") constant int a = 1;",
  };
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
    char text[300];
    snprintf(text, sizeof text, "%s\nkernel void k(global int *o) { o[0] = a; }\n", sources[i]);
    free(preprocessed(text, "k.cl", ""));
  }
}

// Whoever answers, it is what clang says.
static void is_right(const char *text) {
  char *a = preprocessed(text, "k.cl", "-cl-std=CL1.2"), *b = clangs(text, "k.cl", "-cl-std=CL1.2");
  squeeze(a);
  squeeze(b);
  assert_string_equal(a, b);
  free(a);
  free(b);
}

#define ANSWER(condition)                                                                          \
  "#if " condition "\nconstant int yes = 1;\n#else\nconstant int no = 1;\n#endif\n"

// Numbers of #if have 128 bits in OpenCL C, where long long has.
static void conditions_are_as_wide_as_clangs(void **state) {
  (void)state;
  static const char *const sources[] = {ANSWER("9223372036854775807 + 1 < 0"),
                                        ANSWER("0xffffffffffffffff == -1"),
                                        ANSWER("18446744073709551615u == -1"),
                                        ANSWER("(-1u >> 63) == 1"),
                                        ANSWER("1 << 63 < 0"),
                                        ANSWER("1 << 64"),
                                        ANSWER("-1 >> 100 == -1"),
                                        ANSWER("~0u >> 64 == 0xffffffffffffffff"),
                                        ANSWER("-1 > 0u"),
                                        ANSWER("-7 % 3 == -1 && -7 / 2 == -3"),
                                        ANSWER("1ull + 1LLU + 1lu == 3"),
                                        ANSWER("'a' - 98 < 0 && '\"' == 34")};
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
    is_same_as_clang(sources[i], "k.cl", "-cl-std=CL1.2");
}

static void digraphs_stay_whole(void **state) {
  (void)state;
  static const char text[] = "#define AT(a, i) a<:i:>\n#define BEGIN <%\n#define END %>\n"
                             "kernel void k(global int *o) BEGIN AT(o, 0) = 1; END\n";
  is_same_as_clang(text, "k.cl", "-cl-std=CL1.2");
}

// Lines that a carriage return ends, and __LINE__ where several lines are one.
static void lines_are_clangs(void **state) {
  (void)state;
  is_right("#define A 1\rconstant int a = A;\rconstant int b = 2; // c\rconstant int d = 3;\n");
  is_right("constant int a = 1;\n\rconstant int b = __LINE__;\n");
  is_right("#define A \\\r 1\rconstant int a = A;\n");
  is_right(ANSWER("__LINE__ == 1 /* two\nlines */"));
  is_right(ANSWER("/* two\nlines */ __LINE__ == 2"));
  is_right("#define F(a) a + __LINE__\nconstant int a = F(__LINE__\n\n), b = F(\n__LINE__);\n");
  is_right("#define L __LINE__\n#define F(a) a\nconstant int a = F(L\n);\n");
  is_same_as_clang("#define A /* two\nlines */ 1\nconstant int a = A + __LINE__;\n", "k.cl",
                   "-cl-std=CL1.2");
  static const char crlf[] = "#define A \\\r\n 1\r\nconstant int a = A + __LINE__;\r\n";
  is_same_as_clang(crlf, "k.cl", "-cl-std=CL1.2");
}

// What doubles forty times, names itself without end, or nests without end: an answer or an error.
static void hostile_sources_end(void **state) {
  (void)state;
  static char deep[40000];
  size_t at = (size_t)sprintf(deep, "#define I(x) x\nconstant int a = ");
  for (int i = 0; i < 3000; i++) at += (size_t)sprintf(deep + at, "I(");
  at += (size_t)sprintf(deep + at, "1");
  for (int i = 0; i < 3000; i++) deep[at++] = ')';
  const char *sources[] = {deep,
                           "#if ((((((((1))))))))) \nconstant int a = 1;\n#endif",
                           "#define A B\n#define B A\nconstant int A = B;",
                           "#if 1\nconstant int a = 1;",
                           "#define F(x) x\nconstant int a = F(1",
                           "#define F(",
                           "/* open",
                           "\"open",
                           "#include \"/dev/null\"\n#include \"/proc\"",
                           "#if 1 ? 2\n#endif"};
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
    char *out = NULL;
    size_t size = 0;
    vyre_error error = {0};
    vyre_status status = vyre_source_preprocess("opencl", sources[i], strlen(sources[i]), "k.cl",
                                                "", &out, &size, &error);
    assert_true(status == VYRE_OK || error.message[0]);
    vyre_free(out);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(macros_are_expanded_as_clang_does),
      cmocka_unit_test(options_define_and_remove),
      cmocka_unit_test_setup_teardown(files_are_included, scratch_dir_make, scratch_dir_remove),
      cmocka_unit_test_setup_teardown(files_read_too_often_are_left_to_clang, scratch_dir_make,
                                      scratch_dir_remove),
      cmocka_unit_test(what_is_rare_goes_to_clang),
      cmocka_unit_test(conditions_are_as_wide_as_clangs),
      cmocka_unit_test(digraphs_stay_whole),
      cmocka_unit_test(lines_are_clangs),
      cmocka_unit_test(hostile_sources_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
