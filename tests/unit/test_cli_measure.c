// SPDX-License-Identifier: MIT
//
// Commands that measure, with a backend that cannot do all that it is asked: what it refuses and
// what it gets wrong is told with its reason, and the rest is decided all the same.
#include "backend/backend.h"
#include "backend/ref/ref.h"
#include "base/clock.h"
#include "base/error.h"
#include "cli/cli.h"
#include "cli/measure.h"
#include "cli/show.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../scratch_dir.h"

#define SCALE VYRE_SOURCE_DIR "/tests/golden/cli/inputs/scale.vyre"

enum { REFUSED = 256, WRONG = 512 }; // invocations in a workgroup
static bool is_wrong_always;

static vyre_status poor_dispatch(void *state, const launch *l, vyre_report *r, vyre_error *error) {
  uint32_t x = l->regions[0].workgroup[0];
  if (x == REFUSED) return error_set(error, VYRE_ERROR_BACKEND, "no room for it. Fix: make some");
  vyre_status status = ref_backend.dispatch(state, l, r, error);
  if (status == VYRE_OK && (x == WRONG || is_wrong_always)) ((int32_t *)l->buffers[1].data)[3]++;
  return status;
}

static void use_poor_backend(void) {
  static backend poor;
  poor = ref_backend;
  poor.id = "poor";
  poor.dispatch = poor_dispatch;
  backend_set_extra(&poor);
}

// What the command says on standard output.
static const char *output_of(const command *command, bool is_json, const char *line, int *code) {
  static char text[20000];
  char room[500], *words[16];
  int count = 0;
  snprintf(room, sizeof room, "%s", line);
  for (char *word = strtok(room, " "); word; word = strtok(NULL, " ")) words[count++] = word;
  words[count] = NULL;
  cli c = {.command = command, .json = is_json};
  fflush(stdout);
  int out = dup(STDOUT_FILENO);
  int file = open(scratch_path("output"), O_RDWR | O_CREAT | O_TRUNC, 0600);
  assert_true(out >= 0 && file >= 0);
  dup2(file, STDOUT_FILENO);
  *code = command->run(&c, count, words);
  fflush(stdout);
  dup2(out, STDOUT_FILENO);
  ssize_t size = pread(file, text, sizeof text - 1, 0);
  assert_true(size >= 0);
  text[size] = 0;
  close(file);
  close(out);
  return text;
}

static void expect_line(const char *text, const char *row, const char *wanted) {
  const char *line = strstr(text, row), *end = line ? strchr(line + 1, '\n') : NULL;
  const char *found = line ? strstr(line, wanted) : NULL;
  if (!end || !found || found > end) fail_msg("`%s` has no `%s` in\n%s", row, wanted, text);
}

static void shapes_that_fail_or_lie_are_told(void **state) {
  (void)state;
  int code;
  use_poor_backend();
  static const char words[] = SCALE " a=3 x=iota:3000 -b poor -r 1";
  const char *text = output_of(&tune_command, false, words, &code);
  assert_int_equal(code, EXIT_FINE);
  expect_line(text, "\n  256x1x1", " rejected: no room for it");
  expect_line(text, "\n  512x1x1", " rejected: ");
  expect_line(text, "\n  64x1x1", " samples, 0 of them from before");
  expect_line(text, "\n  1024x1x1", " samples, 0 of them from before");
  static const char again[] = SCALE " a=3 x=iota:3000 -b poor -r 1 --again";
  text = output_of(&tune_command, true, again, &code);
  assert_int_equal(code, EXIT_FINE);
  assert_non_null(strstr(text, "\"rejected\": \"no room for it"));
  backend_set_extra(NULL);
}

static void a_backend_that_lies_is_not_certified(void **state) {
  (void)state;
  int code;
  use_poor_backend();
  is_wrong_always = true;
  static const char words[] = SCALE " a=3 x=iota:3000 -b poor -r 1";
  const char *text = output_of(&certify_command, false, words, &code);
  assert_int_not_equal(code, EXIT_FINE);
  assert_null(strstr(text, "written"));
  static const char both[] = SCALE " a=3 x=iota:3000 -b ref -b poor -r 1";
  text = output_of(&certify_command, false, both, &code);
  assert_int_equal(code, EXIT_FINE);
  expect_line(text, "scale, size class 15", ": ref (only-candidate)");
  expect_line(text, "\n  poor ", " rejected: y[3] is 0xa, expected 0x9. Fix: report");
  expect_line(text, "\nwritten to ", "/config/pgo.toml");
  is_wrong_always = false;
  backend_set_extra(NULL);
}

static int make_home(void **state) {
  if (scratch_dir_make(state)) return -1;
  return setenv("VYRE_HOME", scratch_dir, 1);
}

static void ages_change_their_unit_at_its_border(void **state) {
  (void)state;
  static const struct {
    int64_t age;
    const char *text;
  } cases[] = {{-100, "just now"},        {0, "just now"},        {59, "just now"},
               {60, "1 minutes ago"},     {119, "1 minutes ago"}, {120, "2 minutes ago"},
               {7199, "119 minutes ago"}, {7200, "2 hours ago"},  {172799, "47 hours ago"},
               {172800, "2 days ago"},    {864000, "10 days ago"}};
  char text[SHOW_TEXT];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int64_t now;
    do { // once more when the second changes meanwhile
      now = clock_unix_seconds();
      measure_age(now - cases[i].age, text);
    } while (clock_unix_seconds() != now);
    assert_string_equal(text, cases[i].text);
  }
  assert_string_equal(measure_age(0, text), "at a time not stated");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ages_change_their_unit_at_its_border),
      cmocka_unit_test(shapes_that_fail_or_lie_are_told),
      cmocka_unit_test(a_backend_that_lies_is_not_certified),
  };
  return cmocka_run_group_tests(tests, make_home, scratch_dir_remove);
}
