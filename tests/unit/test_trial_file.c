// SPDX-License-Identifier: MIT
//
// A failure as a folder: what is saved is loaded again bit by bit, the file `command` says how to
// run it, and a folder that lacks something, or has something else there, is refused.
#include "cli/trial_file.h"

#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../scratch_dir.h"

static const char text[] = "program odd.one(a: f32, n: i64)\n"
                           "buffer x: u8[] read\n"
                           "transient t: f32[len(x)]\n"
                           "buffer y: f64[] readwrite\n"
                           "buffer z: i16[] write\n"
                           "region main grid(len(x)) {\n"
                           "  t[global_id.x] = a\n"
                           "  y[global_id.x] = f64(x[global_id.x])\n"
                           "  z[global_id.x] = i16(n)\n"
                           "}\n";

static void make(trial *t) {
  vyre_error error;
  *t = (trial){.param_count = 2, .buffer_count = 3, .workgroup = {16, 2, 1}};
  if (vyre_program_parse(text, strlen(text), "test", &t->program, &error))
    fail_msg("%s", error.message);
  t->params = calloc(2, sizeof *t->params);
  t->buffers = calloc(3, sizeof *t->buffers);
  assert_true(t->params && t->buffers);
  t->params[0] = vyre_scalar_f32(0.1f);
  t->params[1] = (vyre_scalar){VYRE_I64, (uint64_t)-3};
  static const size_t sizes[3] = {5, 40, 10};
  for (int i = 0; i < 3; i++) {
    t->buffers[i] = (vyre_span){malloc(sizes[i]), sizes[i]};
    assert_non_null(t->buffers[i].data);
    for (size_t k = 0; k < sizes[i]; k++)
      ((unsigned char *)t->buffers[i].data)[k] = (unsigned char)(17 * k + 40 * (size_t)i);
  }
}

static const char *saved(const char *name) {
  static char folder[300];
  trial t;
  vyre_error error;
  make(&t);
  snprintf(folder, sizeof folder, "%s", scratch_path(name));
  assert_int_equal(mkdir(folder, 0755), 0);
  if (trial_save(&t, folder, "cpu", "y[3] is 4", &error)) fail_msg("%s", error.message);
  trial_fini(&t);
  return folder;
}

static void what_is_saved_is_loaded(void **state) {
  (void)state;
  const char *folder = saved("whole");
  trial t, again;
  vyre_error error;
  make(&t);
  if (trial_load(folder, &again, &error)) fail_msg("%s", error.message);
  assert_int_equal(again.param_count, 2);
  assert_int_equal(again.buffer_count, 3);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(again.params[i].type, t.params[i].type);
    assert_int_equal(again.params[i].bits, t.params[i].bits);
  }
  for (int i = 0; i < 3; i++) {
    assert_int_equal(again.buffers[i].size_bytes, t.buffers[i].size_bytes);
    assert_memory_equal(again.buffers[i].data, t.buffers[i].data, t.buffers[i].size_bytes);
    assert_int_equal(again.workgroup[i], t.workgroup[i]);
  }
  trial_fini(&t);
  trial_fini(&again);
}

// A line that replays it, and one that runs it there and on the reference, with what is written.
static void the_command_can_be_run(void **state) {
  (void)state;
  const char *f = saved("command");
  char path[400], wanted[2000], args[900], found[2000] = "";
  snprintf(args, sizeof args,
           " a=0.1 n=-3 x=@%s/x.npy y=@%s/y.npy --print y z=@%s/z.npy --print z\n", f, f, f);
  snprintf(wanted, sizeof wanted,
           "# y[3] is 4\nvyre conform --backend cpu --replay %s\n"
           "# what it computes there, and what is right:\n"
           "vyre run %s/program.vyre --backend cpu%s"
           "vyre run %s/program.vyre --backend ref%s",
           f, f, args, f, args);
  snprintf(path, sizeof path, "%s/command", f);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  found[fread(found, 1, sizeof found - 1, file)] = 0;
  fclose(file);
  assert_string_equal(found, wanted);
}

static void expect_refused(const char *name, const char *file, const char *content,
                           const char *wanted) {
  char path[400];
  const char *folder = saved(name);
  trial t;
  vyre_error error = {0};
  snprintf(path, sizeof path, "%s/%s", folder, file);
  if (content) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(content, f);
    fclose(f);
  } else {
    assert_int_equal(remove(path), 0);
  }
  assert_int_not_equal(trial_load(folder, &t, &error), VYRE_OK);
  if (!strstr(error.message, wanted) || !strstr(error.message, path))
    fail_msg("%s: %s", name, error.message);
  assert_null(t.program);
  assert_null(t.buffers);
}

static void a_folder_that_lacks_something_is_refused(void **state) {
  (void)state;
  static const char no_number[] =
      "{\"params\": {\"a\": \"0x3\", \"n\": \"7x\"}, \"workgroup\": [1]}";
  expect_refused("no-program", "program.vyre", NULL, "cannot open");
  expect_refused("no-json", "trial.json", NULL, "Fix: name a folder that `vyre conform` wrote");
  expect_refused("bad-json", "trial.json", "{", "Fix: name a folder that `vyre conform` wrote");
  expect_refused("no-param", "trial.json", "{\"params\": {\"a\": \"0x3\"}}",
                 "a parameter is missing");
  expect_refused("no-number", "trial.json", no_number, "is no number");
  expect_refused("no-buffer", "y.npy", NULL, "cannot open");
  expect_refused("no-npy", "y.npy", "nothing", "is no .npy file");
}

static void a_buffer_of_another_type_is_refused(void **state) {
  (void)state;
  const char *folder = saved("type");
  char from[400], to[400];
  trial t;
  vyre_error error = {0};
  snprintf(from, sizeof from, "%s/z.npy", folder);
  snprintf(to, sizeof to, "%s/x.npy", folder);
  assert_int_equal(rename(from, to), 0);
  assert_int_equal(trial_load(folder, &t, &error), VYRE_ERROR_IO);
  assert_non_null(strstr(error.message, "it does not have the buffer's type"));
  assert_null(t.buffers);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_saved_is_loaded),
      cmocka_unit_test(the_command_can_be_run),
      cmocka_unit_test(a_folder_that_lacks_something_is_refused),
      cmocka_unit_test(a_buffer_of_another_type_is_refused),
  };
  return cmocka_run_group_tests(tests, scratch_dir_make, scratch_dir_remove);
}
