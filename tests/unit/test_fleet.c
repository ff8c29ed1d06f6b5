// SPDX-License-Identifier: MIT
//
// What a store gives to a fleet and takes from it, how rows travel (to a server that is a few
// functions of this file), and what a runtime makes of others' figures: an order in which to try,
// and nothing more.
#include "policy/variant_name.h"
#include "profile/fleet.h"
#include "runtime/kernel.h"
#include "runtime/runtime.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "../loaded_kernel.h"
#include "../scratch_dir.h"

static const uint8_t PROGRAM[STORE_FINGERPRINT] = {1, 2, 3}, OTHER[STORE_FINGERPRINT] = {9};

static store *open_store(const char *name) {
  store *s;
  vyre_error error;
  if (store_open(&(store_options){.path = scratch_path(name)}, NULL, &s, &error) != VYRE_OK)
    fail_msg("%s", error.message);
  return s;
}

static void measure(store *s, const char *variant, const uint64_t *ns, uint32_t count) {
  store_latency row = {.device = "cpu-a",
                       .op = "blur",
                       .fingerprint = PROGRAM,
                       .size_class = 20,
                       .work = "n:9",
                       .variant = variant,
                       .build = "vyre 1, 2 cores",
                       .ns = ns,
                       .count = count};
  assert_int_equal(store_append(s, &(store_batch){.latencies = &row, .latency_count = 1}, NULL),
                   VYRE_OK);
}

// ---- the store ----------------------------------------------------------------------------------

static void a_store_has_a_name_of_its_own(void **state) {
  (void)state;
  char first[STORE_ID], again[STORE_ID], other[STORE_ID], cleared[STORE_ID];
  store *s = open_store("name.db"), *t = open_store("name2.db");
  assert_int_equal(store_id(s, first, NULL), VYRE_OK);
  assert_int_equal(store_id(s, again, NULL), VYRE_OK);
  assert_int_equal(store_id(t, other, NULL), VYRE_OK);
  assert_int_equal(strlen(first), STORE_ID - 1);
  assert_string_equal(first, again);
  assert_string_not_equal(first, other);
  assert_int_equal(store_clear(s, NULL), VYRE_OK);
  assert_int_equal(store_id(s, cleared, NULL), VYRE_OK);
  assert_string_not_equal(first, cleared);
  store_close(s);
  store_close(t);
  s = open_store("name.db"); // it is kept
  assert_int_equal(store_id(s, again, NULL), VYRE_OK);
  assert_string_equal(cleared, again);
  store_close(s);
}

typedef struct wrong_seen {
  uint32_t count, most; // it is to stop after `most`
  char text[600];
} wrong_seen;

static bool see_wrong(void *context, const store_wrong *w) {
  wrong_seen *seen = context;
  size_t size = strlen(seen->text);
  assert_true(w->date > 0);
  snprintf(seen->text + size, sizeof seen->text - size, "%s|%s|%s|%s|%d;", w->op, w->variant,
           w->device, w->detail, w->hash[0]);
  return ++seen->count < seen->most;
}

static void expect_wrong(store *s, const char *op, uint32_t most, const char *expected) {
  wrong_seen seen = {.most = most};
  assert_int_equal(store_visit_wrong(s, op, see_wrong, &seen, NULL), VYRE_OK);
  assert_string_equal(seen.text, expected);
}

static void give(store *s, const store_code *codes, uint32_t count) {
  assert_int_equal(store_append(s, &(store_batch){.codes = codes, .code_count = count}, NULL),
                   VYRE_OK);
}

// By op, the earliest first; a code that was right is none of them, and one that was wrong stays
// so.
static void wrong_codes_are_visited(void **state) {
  (void)state;
  store *s = open_store("wrong.db");
  const uint8_t third[32] = {77};
  store_code codes[] = {
      {.hash = PROGRAM, .op = "a", .variant = "v", .device = "d", .is_wrong = true, .detail = "x"},
      {.hash = OTHER, .op = "a", .variant = "w", .device = "e", .checks = 3, .detail = ""},
      {.hash = third, .op = "b", .variant = "u", .device = "f", .is_wrong = true, .detail = "y"}};
  expect_wrong(s, "", 9, "");
  give(s, codes, 3);
  expect_wrong(s, "a", 9, "a|v|d|x|1;");
  expect_wrong(s, "b", 9, "b|u|f|y|77;");
  expect_wrong(s, "c", 9, "");
  expect_wrong(s, "", 9, "a|v|d|x|1;b|u|f|y|77;");
  expect_wrong(s, "", 1, "a|v|d|x|1;");
  store_code later = {
      .hash = OTHER, .op = "a", .variant = "w", .device = "e", .is_wrong = true, .detail = "z"};
  store_code right = {
      .hash = PROGRAM, .op = "a", .variant = "v", .device = "d", .checks = 1, .detail = ""};
  give(s, &later, 1);
  give(s, &right, 1);
  store_code_state known;
  assert_int_equal(store_load_code(s, OTHER, &known, NULL), VYRE_OK);
  assert_true(known.is_wrong);
  assert_int_equal(store_load_code(s, PROGRAM, &known, NULL), VYRE_OK);
  assert_true(known.is_wrong);
  wrong_seen seen = {.most = 9};
  assert_int_equal(store_visit_wrong(s, "a", see_wrong, &seen, NULL), VYRE_OK);
  assert_int_equal(seen.count, 2);
  assert_non_null(strstr(seen.text, "a|v|d|x|1;"));
  assert_non_null(strstr(seen.text, "a|w|e|z|9;"));
  store_close(s);
}

static void only_what_is_new_is_given(void **state) {
  (void)state;
  arena memory = ARENA_INIT;
  store_changes c;
  store *s = open_store("new.db");
  assert_int_equal(store_load_changes(s, 0, &memory, &c, NULL), VYRE_OK);
  assert_int_equal(c.latency_count + c.wrong_count, 0);
  assert_int_equal(c.sequence, 0);
  measure(s, "a", (uint64_t[]){30, 10, 20}, 3);
  measure(s, "b", (uint64_t[]){7}, 1);
  store_code wrong = {.hash = OTHER,
                      .op = "blur",
                      .variant = "b",
                      .device = "cpu-a",
                      .is_wrong = true,
                      .detail = "y[3] is 0x1, expected 0x2"};
  store_code right = {
      .hash = PROGRAM, .op = "blur", .variant = "a", .device = "cpu-a", .checks = 4, .detail = ""};
  store_code codes[] = {wrong, right};
  assert_int_equal(store_append(s, &(store_batch){.codes = codes, .code_count = 2}, NULL), VYRE_OK);
  assert_int_equal(store_load_changes(s, 0, &memory, &c, NULL), VYRE_OK);
  assert_int_equal(c.latency_count, 2);
  assert_string_equal(c.latencies[0].variant, "a");
  assert_int_equal(c.latencies[0].count, 3);
  assert_int_equal(c.latencies[0].min_ns, 10);
  assert_int_equal(c.latencies[0].median_ns, 20);
  assert_int_equal(c.latencies[0].size_class, 20);
  assert_string_equal(c.latencies[0].work, "n:9");
  assert_string_equal(c.latencies[0].op, "blur");
  assert_string_equal(c.latencies[0].device, "cpu-a");
  assert_string_equal(c.latencies[0].build, "vyre 1, 2 cores");
  assert_memory_equal(c.latencies[0].fingerprint, PROGRAM, sizeof PROGRAM);
  assert_int_equal(c.wrong_count, 1); // codes that were right are nobody's business
  assert_memory_equal(c.wrongs[0].hash, OTHER, sizeof OTHER);
  assert_string_equal(c.wrongs[0].detail, wrong.detail);
  uint64_t until = c.sequence;
  assert_true(until >= c.wrongs[0].sequence && until >= c.latencies[1].sequence);
  assert_int_equal(store_load_changes(s, until, &memory, &c, NULL), VYRE_OK);
  assert_int_equal(c.latency_count + c.wrong_count, 0);
  assert_int_equal(c.sequence, until);
  measure(s, "a", (uint64_t[]){5}, 1); // a known key, again
  assert_int_equal(store_load_changes(s, until, &memory, &c, NULL), VYRE_OK);
  assert_int_equal(c.latency_count, 1);
  assert_int_equal(c.latencies[0].count, 4);
  assert_int_equal(c.latencies[0].min_ns, 5);
  arena_free(&memory);
  store_close(s);
}

static fleet_latency figure_of(const char *variant, uint64_t ns) {
  return (fleet_latency){.device = "cpu-a",
                         .op = "blur",
                         .fingerprint = PROGRAM,
                         .size_class = 20,
                         .work = "n:9",
                         .variant = variant,
                         .build = "vyre 1, 2 cores",
                         .count = 100,
                         .min_ns = ns,
                         .median_ns = ns + 1};
}

static void figures_of_others_stay_apart(void **state) {
  (void)state;
  arena memory = ARENA_INIT;
  store_latency_row *rows;
  store_code_state code;
  store_changes c;
  uint32_t count;
  int64_t until;
  store *s = open_store("apart.db");
  fleet_latency got[] = {figure_of("slow", 90), figure_of("fast", 40)};
  fleet_wrong wrong = {.hash = OTHER, .op = "blur", .variant = "b", .device = "d", .detail = "bad"};
  measure(s, "own", (uint64_t[]){50}, 1);
  for (int twice = 0; twice < 2; twice++)
    assert_int_equal(store_keep_pulled(s,
                                       &(store_pulled){.latencies = got,
                                                       .latency_count = 2,
                                                       .wrongs = &wrong,
                                                       .wrong_count = 1,
                                                       .server = "one",
                                                       .until_us = 1234},
                                       NULL),
                     VYRE_OK);
  assert_int_equal(store_pulled_until(s, "one", &until, NULL), VYRE_OK);
  assert_int_equal(until, 1234);
  assert_int_equal(store_pulled_until(s, "two", &until, NULL), VYRE_OK);
  assert_int_equal(until, 0);
  assert_int_equal(store_load_fleet(s, PROGRAM, &memory, &rows, &count, NULL), VYRE_OK);
  assert_int_equal(count, 2);
  assert_string_equal(rows[0].variant, "fast");
  assert_int_equal(rows[0].samples.min_ns, 40);
  assert_int_equal(rows[0].samples.recent_count, 1);
  assert_int_equal(rows[0].samples.recent_ns[0], 41);
  assert_int_equal(store_load_fleet(s, OTHER, &memory, &rows, &count, NULL), VYRE_OK);
  assert_int_equal(count, 0);
  assert_int_equal(store_load_latencies(s, PROGRAM, &memory, &rows, &count, NULL), VYRE_OK);
  assert_int_equal(count, 1); // what this machine measured
  assert_string_equal(rows[0].variant, "own");
  assert_int_equal(store_load_changes(s, 0, &memory, &c, NULL), VYRE_OK);
  assert_int_equal(c.latency_count, 1); // and that alone is sent
  assert_int_equal(c.wrong_count, 0);
  assert_int_equal(store_load_code(s, OTHER, &code, NULL), VYRE_OK);
  assert_true(code.is_wrong); // wrong anywhere is wrong here
  assert_int_equal(code.checks, 0);
  arena_free(&memory);
  store_close(s);
}

// ---- travelling ---------------------------------------------------------------------------------

static struct {
  uint64_t sequence, latencies, wrongs, batches;
  uint64_t fails_at; // the batch that does not get through; 0: none
} there;

static vyre_status fake_pushed(fleet_connection *c, const char *store, uint64_t *sequence,
                               vyre_error *error) {
  (void)c, (void)error;
  assert_int_equal(strlen(store), STORE_ID - 1);
  *sequence = there.sequence;
  return VYRE_OK;
}

static vyre_status fake_push(fleet_connection *c, const fleet_batch *batch, vyre_error *error) {
  (void)c, (void)error;
  if (++there.batches == there.fails_at) return VYRE_ERROR_IO;
  assert_true(batch->sequence > there.sequence);
  there.sequence = batch->sequence;
  there.latencies += batch->latency_count;
  there.wrongs += batch->wrong_count;
  return VYRE_OK;
}

static const fleet_server fake = {
    .version = FLEET_VERSION, .pushed = fake_pushed, .push = fake_push};

static void fill(store *s, uint32_t keys) {
  store_latency *rows = calloc(keys, sizeof *rows);
  char(*works)[16] = calloc(keys, sizeof *works);
  uint64_t ns = 100;
  for (uint32_t i = 0; i < keys; i++) {
    snprintf(works[i], sizeof *works, "n:%u", i);
    rows[i] = (store_latency){.device = "d",
                              .op = "o",
                              .fingerprint = PROGRAM,
                              .work = works[i],
                              .variant = "v",
                              .build = "b",
                              .ns = &ns,
                              .count = 1};
  }
  assert_int_equal(store_append(s, &(store_batch){.latencies = rows, .latency_count = keys}, NULL),
                   VYRE_OK);
  free(rows);
  free(works);
}

static void a_push_that_broke_off_goes_on(void **state) {
  (void)state;
  enum { KEYS = 45000 };
  store *s = open_store("travel.db");
  fleet_session f = {.s = s, .server = &fake};
  uint64_t rows;
  assert_int_equal(store_id(s, f.id, NULL), VYRE_OK);
  fill(s, KEYS);
  store_code wrong = {
      .hash = OTHER, .op = "o", .variant = "v", .device = "d", .is_wrong = true, .detail = "x"};
  assert_int_equal(store_append(s, &(store_batch){.codes = &wrong, .code_count = 1}, NULL),
                   VYRE_OK);
  there.fails_at = 3;
  assert_int_equal(fleet_push(&f, &rows, NULL), VYRE_ERROR_IO);
  assert_int_equal(rows, 40001); // two batches, and the wrong code with the first
  there.fails_at = 0;
  assert_int_equal(fleet_push(&f, &rows, NULL), VYRE_OK);
  // What was there is not sent again; the wrong code's number is the highest, so it is.
  assert_int_equal(rows, 5001);
  assert_int_equal(there.latencies, KEYS);
  assert_int_equal(fleet_push(&f, &rows, NULL), VYRE_OK);
  assert_int_equal(rows, 0);
  store_close(s);
}

// ---- the runtime --------------------------------------------------------------------------------

enum { COUNT = 4096, ROUNDS = 200 };

static const char text[] = "program fleet.rounds(n: u32)\nbuffer x: f32[] readwrite\n"
                           "region main grid(len(x)) {\n  var s: f32 = x[global_id.x]\n"
                           "  for k in 0..n { s = s * 0.5 + 1.0 }\n  x[global_id.x] = s\n}\n";

static void dispatch(vyre_kernel *k, int times) {
  static float x[COUNT];
  for (int i = 0; i < times; i++) {
    vyre_scalar n = vyre_scalar_u32(ROUNDS);
    vyre_span span = {x, sizeof x};
    vyre_dispatch_args args = {.params = &n, .param_count = 1, .buffers = &span, .buffer_count = 1};
    for (int e = 0; e < COUNT; e++) x[e] = 1;
    vyre_error error;
    if (vyre_kernel_dispatch(k, &args, NULL, &error) != VYRE_OK) fail_msg("%s", error.message);
    assert_true(x[0] == x[COUNT - 1] && x[0] == 2);
  }
}

// What a runtime says of the program after it has learned, in a home where others measured `rows`.
static char *learn_with(const char *home, const fleet_latency *rows, uint32_t count) {
  vyre_runtime *rt;
  char *told, device[128], build[BUILD_TEXT];
  assert_int_equal(setenv("VYRE_HOME", scratch_path(home), 1), 0);
  runtime_adapter("cpu", device);
  build_name(build);
  vyre_kernel *k = load_text(text, &(vyre_runtime_options){0}, &rt);
  for (uint32_t i = 0; i < count; i++) {
    fleet_latency row = rows[i];
    if (!row.device) row.device = device;
    if (!row.build) row.build = build;
    row.fingerprint = program_fingerprint(k->program);
    row.size_class = 15;
    row.work = "n:8";
    row.op = "fleet.rounds";
    row.count = 100;
    row.median_ns = row.min_ns;
    assert_int_equal(store_keep_pulled(rt->evidence.store,
                                       &(store_pulled){.latencies = &row, .latency_count = 1},
                                       NULL),
                     VYRE_OK);
  }
  dispatch(k, 64);
  vyre_runtime_settle(rt);
  dispatch(k, 8);
  assert_int_equal(vyre_kernel_explain(k, &told, NULL), VYRE_OK);
  finish(rt);
  return told;
}

static void assert_says(char *told, const char *has, const char *has_not) {
  if (!strstr(told, has) || (has_not && strstr(told, has_not))) fail_msg("%s", told);
  free(told);
}

static void others_say_what_to_try_first(void **state) {
  (void)state;
  fleet_latency rows[] = {{.variant = "cpu quick none as-declared", .min_ns = 100000},
                          {.variant = "cpu full release as-declared", .min_ns = 30000},
                          {.variant = "cpu full none as-declared", .min_ns = 20000}};
  char *told = learn_with("led", rows, 3);
  assert_says(told, "what machines of this kind found fastest won here too", "full release");
}

static void without_others_all_is_tried(void **state) {
  (void)state;
  char *told = learn_with("alone", NULL, 0);
  assert_says(told, "cpu full none as-declared", "machines of this kind");
}

// Lies cost time: what does not win here is not kept, and all is tried as without them.
static void lies_cost_time_only(void **state) {
  (void)state;
  fleet_latency slow[] = {{.variant = "cpu quick none 1x1x1", .min_ns = 1},
                          {.variant = "cpu full none as-declared", .min_ns = 900000}};
  assert_says(learn_with("lie", slow, 2), "runs cpu full", "machines of this kind");
  static const char *const nonsense[] = {"",
                                         "cpu",
                                         "gpu full none as-declared",
                                         "ref full none as-declared",
                                         "cpu full none 0x0x0",
                                         "cpu full none 4294967295x2x2",
                                         "cpu full none as-declared with A=9",
                                         "cpu quick none as-declared",
                                         "cpu full none as-declared %s%n",
                                         "\n\t\xff"};
  for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
    char home[32];
    fleet_latency row = {.variant = nonsense[i], .min_ns = 1};
    snprintf(home, sizeof home, "nonsense%zu", i);
    assert_says(learn_with(home, &row, 1), "runs cpu full", NULL);
  }
}

static void other_devices_and_versions_do_not_lead(void **state) {
  (void)state;
  fleet_latency device = {
      .variant = "cpu full release as-declared", .device = "cpu-else", .min_ns = 1};
  fleet_latency build = {
      .variant = "cpu full release as-declared", .build = "vyre 0, 96 cores", .min_ns = 1};
  assert_says(learn_with("device", &device, 1), "runs cpu full", "machines of this kind");
  assert_says(learn_with("build", &build, 1), "runs cpu full", "machines of this kind");
}

// Nobody is there: dispatches, learning and the end do not notice.
static void a_server_that_is_gone_costs_nothing(void **state) {
  (void)state;
  assert_int_equal(setenv(FLEET_ENV, "postgresql://nobody@127.0.0.1:1/none", 1), 0);
  assert_says(learn_with("gone", NULL, 0), "runs cpu full", NULL);
  assert_int_equal(unsetenv(FLEET_ENV), 0);
}

// A server that takes connections and says nothing, and a runtime that ends while its thread waits
// for an answer before it learns.
static void an_end_while_an_answer_is_awaited(void **state) {
  (void)state;
  char url[80];
  struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof here;
  int silent = socket(AF_INET, SOCK_STREAM, 0);
  assert_int_equal(bind(silent, (struct sockaddr *)&here, sizeof here), 0);
  assert_int_equal(listen(silent, 16), 0);
  assert_int_equal(getsockname(silent, (struct sockaddr *)&here, &size), 0);
  snprintf(url, sizeof url, "postgresql://nobody@127.0.0.1:%d/none", ntohs(here.sin_port));
  assert_int_equal(setenv(FLEET_ENV, url, 1), 0);
  for (int ms = 0; ms < 60; ms += 12) {
    char home[32];
    vyre_runtime *rt;
    snprintf(home, sizeof home, "silent%d", ms);
    assert_int_equal(setenv("VYRE_HOME", scratch_path(home), 1), 0);
    vyre_kernel *k = load_text(text, &(vyre_runtime_options){0}, &rt);
    dispatch(k, 64);
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, NULL);
    finish(rt);
  }
  assert_int_equal(unsetenv(FLEET_ENV), 0);
  close(silent);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_store_has_a_name_of_its_own),
      cmocka_unit_test(only_what_is_new_is_given),
      cmocka_unit_test(wrong_codes_are_visited),
      cmocka_unit_test(figures_of_others_stay_apart),
      cmocka_unit_test(a_push_that_broke_off_goes_on),
      cmocka_unit_test(others_say_what_to_try_first),
      cmocka_unit_test(without_others_all_is_tried),
      cmocka_unit_test(lies_cost_time_only),
      cmocka_unit_test(other_devices_and_versions_do_not_lead),
      cmocka_unit_test(a_server_that_is_gone_costs_nothing),
      cmocka_unit_test(an_end_while_an_answer_is_awaited),
  };
  return cmocka_run_group_tests(tests, scratch_dir_make, scratch_dir_remove);
}
