// SPDX-License-Identifier: MIT
//
// The OpenCL C frontend as a library has it: lists of kernels, offsets, messages, many threads.
// What kernels mean is tested by tests/golden/front. Skipped where there is no libclang 19.
#include <vyre/vyre.h>

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

static const char ids[] = "kernel void ids(global uint *o, uint n) {\n"
                          "  size_t i = get_global_id(0);\n"
                          "  o[i - get_global_offset(0)] = i * n + get_global_offset(1);\n"
                          "}\n";
static const char several[] = "typedef struct { int n; float s; } pair;\n"
                              "__attribute__((reqd_work_group_size(8, 4, 1)))\n"
                              "kernel void one(global const float4 *x, constant int *k, local "
                              "short *t, pair p) { t[0] = 1; }\n"
                              "float helper(float x) { return x; }\n"
                              "kernel void two(ulong n, global uchar *o) { o[n] = 1; }\n";

static vyre_program *make(const char *text, const vyre_source_options *options) {
  vyre_program *program = NULL;
  vyre_error error = {0};
  vyre_status status =
      vyre_program_from("opencl", text, strlen(text), "test.cl", options, &program, &error);
  if (strstr(error.message, "libvyre-clang")) {
    print_message("%s\n", error.message);
    skip();
  }
  assert_string_equal(error.message, "");
  assert_int_equal(status, VYRE_OK);
  return program;
}

static void run_ids(vyre_program *program, uint32_t *out, uint32_t count, uint32_t n) {
  vyre_executable *executable;
  vyre_error error;
  assert_int_equal(vyre_compile(program, "ref", NULL, &executable, &error), VYRE_OK);
  vyre_scalar params[] = {{VYRE_U32, n}, {VYRE_U32, count}};
  vyre_span spans[] = {{out, count * sizeof *out}};
  vyre_dispatch_args args = {
      .params = params, .param_count = 2, .buffers = spans, .buffer_count = 1};
  assert_int_equal(vyre_dispatch(executable, &args, NULL, &error), VYRE_OK);
  vyre_executable_release(executable);
}

static void offsets_move_the_ids(void **state) {
  (void)state;
  uint32_t out[8];
  vyre_source_options options = {.global_offset = {100, 7, 0}};
  vyre_program *program = make(ids, &options);
  run_ids(program, out, 8, 3);
  for (uint32_t i = 0; i < 8; i++) assert_int_equal(out[i], (100 + i) * 3 + 7);
  vyre_program_release(program);
}

static void offsets_are_parameters(void **state) {
  (void)state;
  uint32_t out[8];
  vyre_error error;
  vyre_executable *executable;
  vyre_source_options options = {.has_offset_params = true, .rank = 2};
  vyre_program *program = make(ids, &options);
  assert_int_equal(vyre_program_param_count(program), 5);
  assert_string_equal(vyre_program_param(program, 3).name, "offset_x");
  assert_int_equal(vyre_compile(program, "ref", NULL, &executable, &error), VYRE_OK);
  for (uint64_t offset = 0; offset < 300; offset += 100) {
    vyre_scalar params[] = {
        {VYRE_U32, 3}, {VYRE_U32, 8}, {VYRE_U32, 1}, {VYRE_U64, offset}, {VYRE_U64, 7}};
    vyre_span spans[] = {{out, sizeof out}};
    vyre_dispatch_args args = {
        .params = params, .param_count = 5, .buffers = spans, .buffer_count = 1};
    assert_int_equal(vyre_dispatch(executable, &args, NULL, &error), VYRE_OK);
    for (uint32_t i = 0; i < 8; i++) assert_int_equal(out[i], (offset + i) * 3 + 7);
  }
  vyre_executable_release(executable);
  vyre_program_release(program);
}

// An axis that the grid does not have begins at 0, also the first of them.
static void other_axes_have_no_offset(void **state) {
  (void)state;
  uint32_t out[8];
  vyre_error error;
  vyre_executable *executable;
  vyre_program *program = make(ids, &(vyre_source_options){.has_offset_params = true, .rank = 1});
  assert_int_equal(vyre_program_param_count(program), 3);
  assert_int_equal(vyre_compile(program, "ref", NULL, &executable, &error), VYRE_OK);
  vyre_scalar params[] = {{VYRE_U32, 3}, {VYRE_U32, 8}, {VYRE_U64, 50}};
  vyre_span spans[] = {{out, sizeof out}};
  vyre_dispatch_args args = {
      .params = params, .param_count = 3, .buffers = spans, .buffer_count = 1};
  assert_int_equal(vyre_dispatch(executable, &args, NULL, &error), VYRE_OK);
  for (uint32_t i = 0; i < 8; i++) assert_int_equal(out[i], (50 + i) * 3);
  vyre_executable_release(executable);
  vyre_program_release(program);
}

// One buffer stands for arguments that overlap: a sum over a window is computed in place.
static void aliases_share_a_buffer(void **state) {
  (void)state;
  static const char text[] =
      "kernel void shift(global int *to, global const int *from, global const int *none) {\n"
      "  for (int i = 0; i < 6; i++) to[i] = from[i] + (none ? 100 : 1);\n"
      "}\n";
  const vyre_source_alias aliases[] = {{"to", "to", 8}, {"from", "to", 4}, {"none", NULL, 0}};
  vyre_source_options options = {.aliases = aliases, .alias_count = 3};
  vyre_program *program = make(text, &options);
  assert_int_equal(vyre_program_buffer_count(program), 1);
  int32_t data[8] = {-1, 10};
  vyre_executable *executable;
  vyre_error error;
  assert_int_equal(vyre_compile(program, "ref", NULL, &executable, &error), VYRE_OK);
  vyre_scalar params[] = {{VYRE_U32, 1}};
  vyre_span spans[] = {{data, sizeof data}};
  vyre_dispatch_args args = {
      .params = params, .param_count = 1, .buffers = spans, .buffer_count = 1};
  assert_int_equal(vyre_dispatch(executable, &args, NULL, &error), VYRE_OK);
  assert_int_equal(data[0], -1);
  for (int32_t i = 1; i < 8; i++) assert_int_equal(data[i], 9 + i);
  vyre_executable_release(executable);
  vyre_program_release(program);
  program = NULL;
  options.aliases = &(vyre_source_alias){"to", "nothing", 0};
  options.alias_count = 1;
  assert_int_equal(
      vyre_program_from("opencl", text, strlen(text), "test.cl", &options, &program, &error),
      VYRE_ERROR_BINDING);
  assert_non_null(strstr(error.message, "Fix:"));
}

static void everything_may_be_left_out(void **state) {
  (void)state;
  uint32_t out[4];
  vyre_program_release(make(ids, NULL)); // skips where there is no frontend
  vyre_program *program = NULL;
  vyre_error error;
  assert_int_equal(vyre_program_from("opencl", ids, strlen(ids), NULL, NULL, &program, &error),
                   VYRE_OK);
  run_ids(program, out, 4, 5);
  for (uint32_t i = 0; i < 4; i++) assert_int_equal(out[i], i * 5);
  vyre_program_release(program);
}

static void languages_are_a_table(void **state) {
  (void)state;
  static const char text[] = "program p()\nbuffer x: i32[] write\n"
                             "region main grid(len(x)) { x[global_id.x] = 1 }\n";
  assert_true(vyre_language_count() >= 3);
  assert_string_equal(vyre_language(0).name, "text");
  assert_null(vyre_language(vyre_language_count()).name);
  assert_string_equal(vyre_language_guess("a/b.cl", NULL, 0), "opencl");
  assert_string_equal(vyre_language_guess("a/b.cl", "\x89VYR", 4), "wire");
  assert_string_equal(vyre_language_guess("b.vyreb", NULL, 0), "wire");
  assert_string_equal(vyre_language_guess("b.vyreb", "program", 7), "text");
  assert_string_equal(vyre_language_guess("cl", NULL, 0), "text");
  assert_string_equal(vyre_language_guess("", "", 0), "text");
  assert_string_equal(vyre_language_guess(NULL, NULL, 0), "text");

  vyre_program *program;
  vyre_error error;
  vyre_source_options options = {.entry = "p"};
  assert_int_equal(vyre_program_from("text", text, strlen(text), "t", &options, &program, &error),
                   VYRE_OK);
  vyre_program_release(program);
  options.entry = "q";
  assert_int_equal(vyre_program_from("text", text, strlen(text), "t", &options, &program, &error),
                   VYRE_ERROR_BINDING);
  assert_null(program);
  vyre_source_entry *entries;
  uint32_t count = 7;
  assert_int_equal(
      vyre_source_entries("text", text, strlen(text), NULL, NULL, &entries, &count, &error),
      VYRE_OK);
  assert_int_equal(count, 0);
  assert_int_equal(vyre_program_from("basic", "", 0, NULL, NULL, &program, &error),
                   VYRE_ERROR_ARGUMENT);
  for (uint32_t i = 0; i < vyre_language_count(); i++)
    assert_non_null(strstr(error.message, vyre_language(i).name));
  assert_int_equal(vyre_program_from(NULL, "", 0, NULL, NULL, &program, &error),
                   VYRE_ERROR_ARGUMENT);
  assert_int_equal(vyre_program_from("text", NULL, 1, NULL, NULL, &program, &error),
                   VYRE_ERROR_ARGUMENT);
  assert_int_equal(vyre_program_from("wire", NULL, 0, NULL, NULL, &program, &error),
                   VYRE_ERROR_WIRE);
}

static void kernels_are_listed(void **state) {
  (void)state;
  vyre_program_release(make(ids, NULL));
  vyre_source_entry *kernels;
  uint32_t count;
  vyre_error error;
  assert_int_equal(vyre_source_entries("opencl", several, strlen(several), "s.cl", NULL, &kernels,
                                       &count, &error),
                   VYRE_OK);
  assert_int_equal(count, 2);
  assert_string_equal(kernels[0].name, "one");
  assert_int_equal(kernels[0].line, 3);
  assert_int_equal(kernels[0].workgroup[0], 8);
  assert_int_equal(kernels[0].workgroup[1], 4);
  assert_int_equal(kernels[0].arg_count, 4);
  static const struct {
    const char *name, *type;
    vyre_source_space space;
    uint64_t size;
    bool is_const;
  } wanted[] = {{"x", "float4", VYRE_SPACE_GLOBAL, 16, true},
                {"k", "int", VYRE_SPACE_CONSTANT, 4, false},
                {"t", "short", VYRE_SPACE_LOCAL, 2, false},
                {"p", "pair", VYRE_SPACE_VALUE, 8, false}};
  for (uint32_t i = 0; i < 4; i++) {
    const vyre_source_arg *arg = &kernels[0].args[i];
    assert_string_equal(arg->name, wanted[i].name);
    assert_string_equal(arg->type, wanted[i].type);
    assert_int_equal(arg->space, wanted[i].space);
    assert_int_equal(arg->size_bytes, wanted[i].size);
    if (i != 1) assert_int_equal(arg->is_const, wanted[i].is_const);
  }
  assert_string_equal(kernels[1].name, "two");
  assert_int_equal(kernels[1].workgroup[0], 0);
  vyre_free(kernels);
}

static void mistakes_have_places(void **state) {
  (void)state;
  vyre_program_release(make(ids, NULL));
  static const char text[] = "kernel void k(global float *x) {\n  x[0] = y;\n}\n";
  vyre_program *program = NULL;
  vyre_error error;
  assert_int_not_equal(
      vyre_program_from("opencl", text, strlen(text), "k.cl", NULL, &program, &error), VYRE_OK);
  assert_string_equal(error.file, "k.cl");
  assert_int_equal(error.line, 2);
  assert_int_equal(error.column, 10);
  assert_non_null(strstr(error.message, "use of undeclared identifier 'y'"));
  assert_non_null(strstr(error.message, "Fix: "));
}

// A host that ignores the end of its children takes the preprocessor's status away.
static void children_may_be_ignored(void **state) {
  (void)state;
  vyre_program_release(make(ids, NULL));
  void (*before)(int) = signal(SIGCHLD, SIG_IGN);
  vyre_program *program = NULL, *none = NULL;
  vyre_error error = {0}, found = {0};
  // What is left to clang.
  static const char fine[] =
      "#pragma push_macro(\"x\")\nkernel void k(global int *o) { o[0] = 1; }\n";
  vyre_status status =
      vyre_program_from("opencl", fine, strlen(fine), "test.cl", NULL, &program, &error);
  static const char text[] = "#include \"no such file\"\nkernel void k(global float *x) { }\n";
  vyre_status wrong = vyre_program_from("opencl", text, strlen(text), "k.cl", NULL, &none, &found);
  signal(SIGCHLD, before);
  assert_string_equal(error.message, "");
  assert_int_equal(status, VYRE_OK);
  assert_int_not_equal(wrong, VYRE_OK);
  assert_non_null(strstr(found.message, "no such file"));
  vyre_program_release(program);
}

// The second kernel is refused in the middle of a function, after it met what others use.
static const char mixed[] =
    "constant float table[4] = {1, 2, 3, 4};\n"
    "float f(float x, int i) { return x * table[i & 3]; }\n"
    "float g(float x) { for (;;) x += ({ if (x > table[1]) break; f(x, 1); }); return x; }\n"
    "kernel void first(global float *x) { x[0] = f(x[1], 2); }\n"
    "kernel void second(global float *x) { x[0] = f(x[1], x[2]) + g(x[3]); }\n"
    "kernel void third(global float *x) { x[0] = f(x[1], x[2]); }\n";

typedef struct visits {
  uint32_t count;
  char entry[3][16];
  vyre_program *program[3];
  vyre_error error[3];
  bool is_strange;
} visits;

// On a thread of the frontend: nothing is asserted here.
static void keep_visit(void *data, const vyre_source_result *r) {
  visits *v = data;
  v->is_strange |= r->index != v->count || r->count != 3 || !r->program != (r->error != NULL);
  if (v->count == 3) return;
  snprintf(v->entry[v->count], sizeof v->entry[0], "%s", r->entry);
  if (r->program) v->program[v->count] = vyre_program_retain(r->program);
  if (r->error) v->error[v->count] = *r->error;
  v->count++;
}

static void count_visit(void *data, const vyre_source_result *r) {
  visits *v = data;
  v->is_strange |= r->count != 2 || r->index != v->count++ || !r->program;
}

static void all_are_made_at_once(void **state) {
  (void)state;
  visits v = {0};
  vyre_error error;
  assert_int_equal(
      vyre_source_each("opencl", mixed, strlen(mixed), "m.cl", NULL, keep_visit, &v, &error),
      VYRE_OK);
  assert_int_equal(v.count, 3);
  assert_false(v.is_strange);
  assert_null(v.program[1]);
  assert_non_null(strstr(v.error[1].message, "a jump in a statement"));
  assert_int_equal(v.error[1].line, 3);
  for (int i = 0; i < 3; i += 2) {
    vyre_source_options options = {.entry = v.entry[i]};
    vyre_program *alone = make(mixed, &options);
    uint8_t a[32], b[32];
    vyre_program_fingerprint(alone, a);
    vyre_program_fingerprint(v.program[i], b);
    assert_memory_equal(a, b, sizeof a);
    vyre_program_release(alone);
    vyre_program_release(v.program[i]);
  }
  // A file that begins with a kernel: it is one of those that are counted.
  static const char first[] = "kernel void a(global int *y) { y[0] = 1; }\n"
                              "int f(void) { return 2; }\n"
                              "kernel void b(global int *y) { y[0] = f(); }\n";
  v = (visits){0};
  assert_int_equal(
      vyre_source_each("opencl", first, strlen(first), "m.cl", NULL, count_visit, &v, &error),
      VYRE_OK);
  assert_int_equal(v.count, 2);
  assert_false(v.is_strange);
  v = (visits){0};
  assert_int_equal(
      vyre_source_each("opencl", "kernel void k() { x }", 21, "m.cl", NULL, keep_visit, &v, &error),
      VYRE_ERROR_SYNTAX);
  assert_int_equal(
      vyre_source_each("opencl", "int f() { return 0; }", 21, "m.cl", NULL, keep_visit, &v, &error),
      VYRE_ERROR_BINDING);
  assert_int_equal(v.count, 0);
}

static void *read_often(void *data) {
  intptr_t *bad = data;
  for (int i = 0; i < 4; i++) {
    char text[400];
    int size = snprintf(
        text, sizeof text,
        "kernel void k%d(global int *o) { for (int i = 0; i < %d; i++) o[i] += i; }", i, i + 1);
    vyre_program *program = NULL;
    vyre_error error;
    if (vyre_program_from("opencl", text, (size_t)size, "k.cl", NULL, &program, &error)) ++*bad;
    vyre_program_release(program);
    if (!vyre_program_from("opencl", text, (size_t)size - 9, "k.cl", NULL, &program, &error))
      ++*bad;
  }
  return NULL;
}

static void threads_read_at_once(void **state) {
  (void)state;
  vyre_program_release(make(ids, NULL));
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  intptr_t bad[THREADS] = {0};
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, read_often, &bad[i]), 0);
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    assert_int_equal(bad[i], 0);
  }
}

// ---- every mistake ------------------------------------------------------------------------------

typedef struct mistakes {
  uint32_t count;
  vyre_error first;
} mistakes;

static void keep_mistake(void *data, const vyre_error *mistake) {
  mistakes *m = data;
  if (!m->count++) m->first = *mistake;
}

// Checks a source; what is returned is the first of what was told.
static uint32_t count_mistakes(const char *language, const void *source, size_t size,
                               const vyre_source_options *options, const char *told) {
  mistakes m = {0};
  vyre_error error = {0};
  vyre_status status =
      vyre_source_check(language, source, size, "m", options, keep_mistake, &m, &error);
  assert_int_equal(status == VYRE_OK, m.count == 0);
  if (!m.count) return 0;
  assert_int_equal(status, m.first.status);
  assert_string_equal(error.message, m.first.message);
  assert_int_equal(error.line, m.first.line);
  if (!strstr(error.message, told)) fail_msg("%s", error.message);
  // Nobody has to take the first.
  uint32_t before = m.count;
  m.count = 0;
  assert_int_equal(vyre_source_check(language, source, size, "m", options, keep_mistake, &m, NULL),
                   status);
  assert_int_equal(m.count, before);
  return m.count;
}

static void every_mistake_is_told(void **state) {
  (void)state;
  static const char two[] =
      "kernel void a(global int *y) { for (;;) y[0] += ({ if (y[0] > 1) break; 1; }); }\n"
      "kernel void b(global int *y) { y[0] = 1; }\n"
      "kernel void c(global int *y) { for (;;) y[0] += ({ if (y[0] > 2) break; 1; }); }\n";
  vyre_program_release(make(two, &(vyre_source_options){.entry = "b"})); // or skips
  static const char *const jump = "a jump in a statement";
  assert_int_equal(count_mistakes("opencl", two, strlen(two), NULL, jump), 2);
  static const struct {
    const char *entry;
    uint32_t count;
  } entries[] = {{"a", 1}, {"b", 0}, {"c", 1}};
  for (int i = 0; i < 3; i++) {
    vyre_source_options options = {.entry = entries[i].entry};
    assert_int_equal(count_mistakes("opencl", two, strlen(two), &options, jump), entries[i].count);
  }
  // Of the source itself, once.
  assert_int_equal(count_mistakes("opencl", "kernel void k() { x }", 21, NULL, "x"), 1);
  // A text has as many as it has; a stored program is right or wrong.
  static const char text[] =
      "program p()\nbuffer x: f32[] write\nregion r grid(1) { x[0] = 1.0 }\n";
  static const char wrong[] =
      "program p()\nbuffer x: f32[] write\nregion r grid(1) {\n  x[0] = a\n  x[1] = b\n}\n";
  assert_int_equal(count_mistakes("text", text, strlen(text), NULL, ""), 0);
  assert_int_equal(count_mistakes("text", wrong, strlen(wrong), NULL, "`a` is not declared"), 2);
  vyre_program *p = NULL;
  void *bytes = NULL;
  size_t size = 0;
  assert_int_equal(vyre_program_from("text", text, strlen(text), "m", NULL, &p, NULL), VYRE_OK);
  assert_int_equal(vyre_program_encode(p, &bytes, &size, NULL), VYRE_OK);
  assert_int_equal(count_mistakes("wire", bytes, size, NULL, ""), 0);
  ((unsigned char *)bytes)[size - 1] ^= 1;
  assert_int_equal(count_mistakes("wire", bytes, size, NULL, ""), 1);
  vyre_free(bytes);
  vyre_program_release(p);
}

typedef struct single {
  uint32_t visits;
  bool is_strange, has_program, has_error;
} single;

static void keep_single(void *data, const vyre_source_result *r) {
  single *s = data;
  s->visits++;
  s->is_strange |= r->entry || r->index || r->count != 1;
  s->has_program = r->program != NULL;
  s->has_error = r->error != NULL;
}

// A source that is one program is visited once, right or wrong.
static void one_program_is_visited_once(void **state) {
  (void)state;
  static const char *const texts[] = {"program p()\nregion r grid(1) { }\n", "program p(\n"};
  for (int is_wrong = 0; is_wrong < 2; is_wrong++) {
    single s = {0};
    const char *text = texts[is_wrong];
    assert_int_equal(vyre_source_each("text", text, strlen(text), "m", NULL, keep_single, &s, NULL),
                     VYRE_OK);
    assert_int_equal(s.visits, 1);
    assert_false(s.is_strange);
    assert_int_equal(s.has_program, !is_wrong);
    assert_int_equal(s.has_error, is_wrong);
    // There is nothing to preprocess.
    char *same = NULL;
    size_t size = 0;
    assert_int_equal(
        vyre_source_preprocess("text", text, strlen(text), "m", NULL, &same, &size, NULL), VYRE_OK);
    assert_int_equal(size, strlen(text));
    assert_string_equal(same, text);
    vyre_free(same);
  }
}

// Each thing of the options that is counted and not there.
static void options_that_are_not_there_are_refused(void **state) {
  (void)state;
  static const vyre_source_local local = {0};
  static const vyre_source_format format = {0};
  static const vyre_source_alias alias = {0};
  static const struct {
    vyre_source_options options;
    const char *told;
  } rows[] = {
      {{.local_count = 1}, "a local array of the options is NULL"},
      {{.local_count = 1, .locals = &local}, "a local array of the options is NULL"},
      {{.format_count = 1}, "a format of the options is NULL"},
      {{.format_count = 1, .formats = &format}, "a format of the options is NULL"},
      {{.alias_count = 1}, "an alias of the options is NULL"},
      {{.alias_count = 1, .aliases = &alias}, "an alias of the options is NULL"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const vyre_source_options *o = &rows[i].options;
    vyre_error error = {0};
    vyre_program *p = NULL;
    single s = {0};
    mistakes m = {0};
    assert_int_equal(vyre_program_from("text", "", 0, "m", o, &p, &error), VYRE_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, rows[i].told));
    assert_int_equal(vyre_source_each("text", "", 0, "m", o, keep_single, &s, NULL),
                     VYRE_ERROR_ARGUMENT);
    assert_int_equal(vyre_source_check("text", "", 0, "m", o, keep_mistake, &m, NULL),
                     VYRE_ERROR_ARGUMENT);
    assert_true(!p && !s.visits && !m.count);
  }
  assert_int_equal(vyre_source_each("text", "", 0, "m", NULL, NULL, NULL, NULL),
                   VYRE_ERROR_ARGUMENT);
  assert_int_equal(vyre_source_check("text", "", 0, "m", NULL, NULL, NULL, NULL),
                   VYRE_ERROR_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(offsets_move_the_ids),
      cmocka_unit_test(offsets_are_parameters),
      cmocka_unit_test(other_axes_have_no_offset),
      cmocka_unit_test(aliases_share_a_buffer),
      cmocka_unit_test(everything_may_be_left_out),
      cmocka_unit_test(languages_are_a_table),
      cmocka_unit_test(kernels_are_listed),
      cmocka_unit_test(mistakes_have_places),
      cmocka_unit_test(threads_read_at_once),
      cmocka_unit_test(children_may_be_ignored),
      cmocka_unit_test(all_are_made_at_once),
      cmocka_unit_test(every_mistake_is_told),
      cmocka_unit_test(one_program_is_visited_once),
      cmocka_unit_test(options_that_are_not_there_are_refused),
  };
  return cmocka_run_group_tests_name("front", tests, NULL, NULL);
}
