// SPDX-License-Identifier: MIT
//
// Routing: the tests of the original by name, then proof before time, doubt, the file, and
// staleness.
#include "policy/route.h"

#include "base/error.h"
#include "profile/size_class.h"

#include "../scratch_dir.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <cmocka.h>

static unsigned told, told_line;
static char told_last[600];

static void tell(void *context, const vyre_error *note) {
  (void)context;
  told++;
  told_line = note->line;
  strcpy(told_last, note->message);
}

static const note_sink sink = {tell, NULL};

// A backend that spins, or tells a time, and counts.
typedef struct fake {
  uint32_t spin;
  uint64_t ns; // told when not 0
  unsigned calls, checks;
  bool fails, is_wrong;
  const void *seen; // the input it was given last
} fake;

static vyre_status dispatch(void *context, const vyre_dispatch_args *args, uint64_t *elapsed_ns,
                            vyre_error *error) {
  fake *f = context;
  f->calls++;
  f->seen = args->buffer_count ? args->buffers[0].data : NULL;
  if (f->fails) return error_set(error, VYRE_ERROR_BACKEND, "the driver went away. Fix: reload it");
  volatile uint32_t value = 0;
  for (uint32_t i = 0; i < f->spin; i++) value = value + 1;
  *elapsed_ns = f->ns;
  return VYRE_OK;
}

static vyre_status check(void *context, const vyre_dispatch_args *args, vyre_error *error) {
  (void)args;
  fake *f = context;
  f->checks++;
  if (!f->is_wrong) return VYRE_OK;
  return error_set(error, VYRE_ERROR_BACKEND,
                   "out[17] is 3, the reference has 4. Fix: report this backend");
}

static route_backend backend(const char *id, fake *f) {
  return (route_backend){id, dispatch, check, f};
}

static const vyre_dispatch_args no_args;

static const route_entry *certify(route_table *table, const char *op, route_backend *backends,
                                  uint32_t count, const route_certify_options *options) {
  const route_entry *e;
  vyre_error error;
  if (route_certify(table, op, &no_args, backends, count, options, &e, &error) != VYRE_OK)
    fail_msg("%s", error.message);
  return e;
}

// ---- the original's tests ----------------------------------------------------------------------

static void cert_gate_routes_to_fastest_backend(void **state) {
  (void)state;
  fake slow = {.spin = 1000000}, fast = {.spin = 1};
  route_backend backends[] = {backend("slow", &slow), backend("fast", &fast)};
  route_table *table = route_table_new();
  const route_entry *e = certify(table, "primitive.test.pgo", backends, 2, NULL);
  assert_string_equal(e->backend, "fast");
  assert_string_equal(route_fastest_backend(table, "primitive.test.pgo"), "fast");
  assert_null(route_fastest_backend(table, "primitive.test"));
  assert_int_equal(e->observation_count, 2);
  assert_string_equal(e->observations[0].backend, "fast");
  assert_string_equal(e->observations[1].backend, "slow");
  assert_true(e->observations[0].latency_ns < e->observations[1].latency_ns);
  route_table_free(table);
}

static void cert_gate_uses_borrowed_dispatch_path(void **state) {
  (void)state;
  fake counting = {0};
  route_backend backends[] = {backend("borrow-counting", &counting)};
  uint8_t input[4] = {1, 2, 3, 4};
  vyre_span span = {input, sizeof input};
  vyre_dispatch_args args = {.buffers = &span, .buffer_count = 1};
  route_table *table = route_table_new();
  const route_entry *e;
  vyre_error error;
  assert_int_equal(
      route_certify(table, "primitive.test.borrowed_pgo", &args, backends, 1, NULL, &e, &error),
      VYRE_OK);
  assert_ptr_equal(counting.seen, input);
  assert_int_equal(counting.calls, TRIAL_ROUNDS + 1);
  route_table_free(table);
}

// ---- certifying --------------------------------------------------------------------------------

static void no_backend_is_an_error(void **state) {
  (void)state;
  route_table *table = route_table_new();
  const route_entry *e;
  vyre_error error;
  assert_int_equal(route_certify(table, "op", &no_args, NULL, 0, NULL, &e, &error),
                   VYRE_ERROR_ARGUMENT);
  assert_string_equal(error.message, "PGO cert for `op` received no backends. Fix: pass every "
                                     "available backend to the cert gate.");
  assert_null(e);
  route_table_free(table);
}

static void ties_go_by_name(void **state) {
  (void)state;
  fake a = {.ns = 50}, b = {.ns = 50};
  route_backend backends[] = {backend("zeta", &a), backend("alpha", &b)};
  route_table *table = route_table_new();
  const route_entry *e = certify(table, "op", backends, 2, NULL);
  assert_string_equal(e->backend, "alpha");
  assert_string_equal(e->observations[0].backend, "alpha");
  route_table_free(table);
}

static void wrong_and_failing_backends_are_recorded_not_fatal(void **state) {
  (void)state;
  fake wrong = {.ns = 1, .is_wrong = true}, broken = {.ns = 2, .fails = true}, good = {.ns = 9};
  route_backend backends[] = {backend("wrong", &wrong), backend("broken", &broken),
                              backend("good", &good)};
  route_table *table = route_table_new();
  const route_entry *e = certify(table, "op", backends, 3, NULL);
  assert_string_equal(e->backend, "good");
  assert_string_equal(e->reason, "only-candidate");
  assert_int_equal(e->observation_count, 1);
  assert_int_equal(e->rejection_count, 2);
  assert_string_equal(e->rejections[0].backend, "wrong");
  assert_non_null(strstr(e->rejections[0].reason, "out[17]"));
  assert_non_null(strstr(e->rejections[1].reason, "driver went away"));
  assert_int_equal(wrong.calls, 0);
  assert_int_equal(good.checks, 1);

  const route_entry *none;
  vyre_error error;
  assert_int_equal(route_certify(table, "other", &no_args, backends, 2, NULL, &none, &error),
                   VYRE_ERROR_BACKEND);
  assert_non_null(strstr(error.message, "out[17]"));
  assert_non_null(strstr(error.message, "Fix:"));
  assert_int_equal(route_table_count(table), 1);
  route_table_free(table);
}

static void the_default_stays_unless_another_clearly_wins(void **state) {
  (void)state;
  fake cpu = {.ns = 10000}, gpu = {.ns = 9900};
  route_backend backends[] = {backend("cpu", &cpu), backend("gpu", &gpu)};
  route_certify_options o = {.default_backend = "cpu"};
  route_table *table = route_table_new();
  const route_entry *e = certify(table, "op", backends, 2, &o);
  assert_string_equal(e->backend, "cpu");
  assert_string_equal(e->reason, "within-noise");
  assert_string_equal(e->observations[0].backend, "gpu");
  gpu.ns = 5000;
  e = certify(table, "op", backends, 2, &o);
  assert_string_equal(e->backend, "gpu");
  assert_string_equal(e->reason, "fastest");
  assert_int_equal(route_table_count(table), 1);
  o.default_backend = "not here";
  gpu.ns = 9999;
  assert_string_equal(certify(table, "op", backends, 2, &o)->backend, "gpu");
  route_table_free(table);
}

static void decisions_are_kept_per_device_and_size(void **state) {
  (void)state;
  uint8_t fingerprint[32] = {0xab};
  fake cpu = {.ns = 10}, gpu = {.ns = 20};
  route_backend backends[] = {backend("cpu", &cpu), backend("gpu", &gpu)};
  route_certify_options o = {.fingerprint = fingerprint,
                             .device = "dev-a",
                             .has_size_class = true,
                             .size_class = 10,
                             .date = 1000};
  route_table *table = route_table_new();
  certify(table, "op", backends, 2, &o);
  gpu.ns = 5;
  o.size_class = 20;
  o.date = 2000;
  certify(table, "op", backends, 2, &o);
  o.device = "dev-b";
  o.has_size_class = false;
  o.date = 1500;
  const route_entry *e = certify(table, "op", backends, 2, &o);
  assert_int_equal(route_table_count(table), 3);
  assert_string_equal(e->device, "dev-b");
  assert_memory_equal(e->fingerprint, "ab00", 4);
  assert_int_equal(strlen(e->fingerprint), 64);
  assert_string_equal(route_table_at(table, 0)->backend, "cpu");
  assert_string_equal(route_table_at(table, 1)->backend, "gpu");
  assert_string_equal(route_fastest_backend(table, "op"), "gpu");
  route_table_free(table);
}

// ---- the file ----------------------------------------------------------------------------------

static route_table *load(const char *path) {
  route_table *table = route_table_new();
  vyre_error error;
  told = 0;
  if (route_table_load(table, path, &sink, &error) != VYRE_OK) fail_msg("%s", error.message);
  return table;
}

static void must_save(route_table *table, const char *path) {
  vyre_error error;
  if (route_table_save(table, path, &sink, &error) != VYRE_OK) fail_msg("%s", error.message);
}

static void must_put(route_table *table, const route_entry *e) {
  vyre_error error;
  assert_int_equal(route_table_put(table, e, &error), VYRE_OK);
}

static void the_layout_is_that_of_a_corrected_original(void **state) {
  (void)state;
  char *path = scratch_path("config/pgo.toml");
  route_table *table = load(path); // missing: empty
  assert_int_equal(route_table_count(table), 0);
  route_observation seen[] = {{"fast", 123}, {"slow", UINT64_MAX}};
  must_put(table, &(route_entry){.op_id = "primitive.test.pgo",
                                 .backend = "fast",
                                 .observations = seen,
                                 .observation_count = 2});
  must_put(table, &(route_entry){.op_id = "bare_op", .backend = "ref"});
  must_save(table, path);
  char *text = scratch_read(path);
  assert_string_equal(text, "version = 1\n"
                            "\n[routes.bare_op]\nobservations = []\nbackend = \"ref\"\n"
                            "\n[routes.\"primitive.test.pgo\"]\nbackend = \"fast\"\n"
                            "\n[[routes.\"primitive.test.pgo\".observations]]\n"
                            "backend = \"fast\"\nlatency_ns = 123\n"
                            "\n[[routes.\"primitive.test.pgo\".observations]]\n"
                            "backend = \"slow\"\nlatency_ns = 18446744073709551615\n");
  free(text);
  route_table_free(table);
  table = load(path);
  assert_int_equal(told, 0);
  assert_int_equal(route_table_count(table), 2);
  const route_entry *e = route_table_at(table, 1);
  assert_int_equal(e->observation_count, 2);
  assert_true(e->observations[1].latency_ns == UINT64_MAX);
  route_table_free(table);
}

// As serde and toml write it, pretty or not, and with the rows in one line.
static void other_writings_are_read(void **state) {
  (void)state;
  const char *texts[] = {
      "[routes.\"a.b\"]\nbackend = \"cpu\"\n\n[[routes.\"a.b\".observations]]\nbackend = "
      "\"cpu\"\nlatency_ns = 7\n",
      "[routes.'a.b']\nbackend = 'cpu'\nobservations = [{ backend = \"cpu\", latency_ns = 7 }]\n",
      "[routes]\n\"a.b\" = { backend = \"cpu\", observations = [\n  { backend = 'cpu', latency_ns "
      "= "
      "7 },\n] }\n",
      "routes.\"a.b\".backend = \"cpu\"\nroutes.\"a.b\".observations = [{backend=\"cpu\","
      "latency_ns=7}]\n",
  };
  char *path = scratch_path("other.toml");
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    scratch_write(path, texts[i]);
    route_table *table = load(path);
    assert_int_equal(told, 0);
    assert_int_equal(route_table_count(table), 1);
    const route_entry *e = route_table_at(table, 0);
    assert_string_equal(e->op_id, "a.b");
    assert_string_equal(e->backend, "cpu");
    assert_int_equal(e->observation_count, 1);
    assert_int_equal(e->observations[0].latency_ns, 7);
    route_table_free(table);
  }
}

static route_entry full_entry(const char *device, uint32_t size_class, int64_t date) {
  static const route_observation seen[] = {{"cpu", 10}, {"ref", 900}};
  static const route_rejection rejected[] = {{"opencl", "out[0] is \"nan\"\n, not 1. Fix: \\o/"}};
  return (route_entry){.op_id = "quo\"ted.op",
                       .backend = "cpu",
                       .reason = "fastest",
                       .fingerprint =
                           "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
                       .device = device,
                       .has_size_class = true,
                       .size_class = size_class,
                       .work = "n:3",
                       .variant = "cpu full release.3fa29c1b 8x8x1",
                       .passes = "cse,dce",
                       .code = "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100",
                       .build = "vyre 0.1.0, 2 cores",
                       .date = date,
                       .observations = seen,
                       .observation_count = 2,
                       .rejections = rejected,
                       .rejection_count = 1};
}

static void everything_is_written_and_read_again(void **state) {
  (void)state;
  char *path = scratch_path("full.toml");
  route_table *table = route_table_new();
  route_entry entries[] = {full_entry("a", 3, 1700000000), full_entry("a", 20, 1800000001),
                           full_entry("b", 3, 1750000000)};
  for (int i = 2; i >= 0; i--) must_put(table, &entries[i]);
  must_save(table, path);
  char *text = scratch_read(path);
  assert_non_null(strstr(text, "date = \"2023-11-14T22:13:20Z\"\n"));
  // The latest stands first, where a reader of the original finds it.
  const char *latest = strstr(text, "[routes.\"quo\\\"ted.op\"]");
  assert_non_null(latest);
  const char *date = strstr(latest, "date = \"2027-01-15T08:00:01Z\"\n\n"
                                    "[[routes.\"quo\\\"ted.op\".observations]]");
  assert_non_null(date);
  assert_ptr_equal(strstr(latest, "date = "), date);
  free(text);
  route_table_free(table);
  table = load(path);
  assert_int_equal(told, 0);
  assert_int_equal(route_table_count(table), 3);
  for (int i = 0; i < 3; i++) {
    const route_entry *e = route_table_at(table, (size_t)i), *x = &entries[i];
    assert_string_equal(e->op_id, x->op_id);
    assert_string_equal(e->device, x->device);
    assert_string_equal(e->fingerprint, x->fingerprint);
    assert_string_equal(e->backend, x->backend);
    assert_string_equal(e->reason, x->reason);
    assert_true(e->has_size_class);
    assert_int_equal(e->size_class, x->size_class);
    assert_string_equal(e->work, x->work);
    assert_string_equal(e->variant, x->variant);
    assert_string_equal(e->passes, x->passes);
    assert_string_equal(e->code, x->code);
    assert_string_equal(e->build, x->build);
    assert_int_equal(e->date, x->date);
    assert_int_equal(e->observation_count, 2);
    for (int k = 0; k < 2; k++) {
      assert_string_equal(e->observations[k].backend, x->observations[k].backend);
      assert_int_equal(e->observations[k].latency_ns, x->observations[k].latency_ns);
    }
    assert_int_equal(e->rejection_count, 1);
    assert_string_equal(e->rejections[0].backend, x->rejections[0].backend);
    assert_string_equal(e->rejections[0].reason, x->rejections[0].reason);
  }
  // Saving what was only read changes nothing.
  struct stat before, after;
  stat(path, &before);
  must_save(table, path);
  stat(path, &after);
  assert_int_equal(before.st_ino, after.st_ino);
  route_table_free(table);
}

static void a_corrupt_file_is_reported_and_set_aside(void **state) {
  (void)state;
  char *path = scratch_path("corrupt.toml");
  scratch_write(path, "[routes.a]\nbackend = \"cpu\n");
  route_table *table = route_table_new();
  vyre_error error;
  assert_int_equal(route_table_load(table, path, &sink, &error), VYRE_ERROR_SYNTAX);
  assert_non_null(strstr(error.message, "failed to parse PGO table `"));
  assert_non_null(strstr(error.message, "Fix: regenerate it with the cert gate."));
  assert_int_equal(error.line, 2);
  assert_string_equal(error.file, path);
  must_put(table, &(route_entry){.op_id = "b", .backend = "ref"});
  told = 0;
  must_save(table, path);
  assert_int_equal(told, 1);
  assert_non_null(strstr(told_last, "corrupt.toml.corrupt-1"));
  char *text = scratch_read(scratch_path("corrupt.toml.corrupt-1"));
  assert_string_equal(text, "[routes.a]\nbackend = \"cpu\n");
  free(text);
  route_table_free(table);
  table = load(path);
  assert_string_equal(route_fastest_backend(table, "b"), "ref");
  route_table_free(table);
}

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void faulty_entries_are_left_out_with_their_line(void **state) {
  (void)state;
  struct {
    const char *text;
    unsigned line;
    const char *part;
  } rows[] = {
      {"[routes.bad]\n", 1, "no backend"},
      {"[routes.bad]\nbackend = 7\n", 2, "no backend"},
      {"[routes.bad]\nbackend = 1.5\n", 2, "no backend"},
      {"[routes.bad]\nbackend = \"x\"\nreason = 1979-05-27\n", 3, "reason"},
      {"[routes.bad]\nbackend = \"x\"\nsize_class = 0x10\n", 3, "size class"},
      {"[routes.bad]\nbackend = \"x\"\nsize_class = 99999999999999999999\n", 3, "size class"},
      {"[routes.bad]\nbackend = \"x\"\ndate = 2025-01-31T12:00:00Z\n", 3, "date"},
      {"[routes.bad]\nbackend = \"x\"\nobservations = [{backend = \"x\", latency_ns = 1.5e3}]\n", 3,
       "row"},
      {"[routes.bad]\nbackend = \"\"\n", 1, "no backend"},
      {"[routes.bad]\nbackend = \"x\"\nobservations = 3\n", 3, "no array"},
      {"[routes.bad]\nbackend = \"x\"\nobservations = [7]\n", 3, "row"},
      {"[routes.bad]\nbackend = \"x\"\n[[routes.bad.observations]]\nbackend = \"x\"\n", 3, "row"},
      {"[routes.bad]\nbackend = \"x\"\n[[routes.bad.observations]]\nbackend = \"x\"\nlatency_ns = "
       "-1\n",
       3, "row"},
      {"[routes.bad]\nbackend = \"x\"\nsize_class = 65\n", 3, "size class"},
      {"[routes.bad]\nbackend = \"x\"\nfingerprint = \"12\"\n", 1, "fingerprint"},
      {"[routes.bad]\nbackend = \"x\"\ndate = \"yesterday\"\n", 3, "date"},
      {"[routes.bad]\nbackend = \"x\"\ndevice = 1\n", 3, "device"},
      {"[routes.bad]\nbackend = \"x\"\nrejected = [{backend = \"y\"}]\n", 3, "row"},
      {"[routes.bad]\nbackend = \"x\"\nwork = 1\n", 3, "work"},
      {"[routes.bad]\nbackend = \"x\"\nvariant = 1\n", 3, "variant"},
      {"[routes.bad]\nbackend = \"x\"\npasses = 1\n", 3, "passes"},
      {"[routes.bad]\nbackend = \"x\"\nbuild = 1\n", 3, "build"},
      {"[routes.bad]\nbackend = \"x\"\ncode = 1\n", 3, "code"},
      {"[routes.bad]\nbackend = \"x\"\ncode = \"12\"\n", 1, "code"},
      {"[routes.bad]\nbackend = \"x\"\nfingerprint = 12\n", 3, "fingerprint"},
      {"[routes.bad]\nbackend = \"x\"\nrejected = [{reason = \"y\"}]\n", 3, "row"},
      {"[[quarantine]]\nop = \"x\"\n", 1, "its code"},
      {"[[quarantine]]\ncode = 7\n", 2, "its code"},
      {"[[quarantine]]\ncode = \"12\"\n", 1, "its code"},
      {"[[quarantine]]\ncode = \"" HEX64 "0\"\n", 1, "its code"},
      {"[[quarantine]]\ncode = \"" HEX64 "\"\nop = 1\n", 3, "no text"},
      {"[[quarantine]]\ncode = \"" HEX64 "\"\nvariant = 1\n", 3, "no text"},
      {"[[quarantine]]\ncode = \"" HEX64 "\"\ndevice = 1\n", 3, "no text"},
      {"[[quarantine]]\ncode = \"" HEX64 "\"\nreason = 1\n", 3, "no text"},
      {"[[quarantine]]\ncode = \"" HEX64 "\"\ndate = \"soon\"\n", 1, "quarantine"},
      {"quarantine = 3\n", 1, "no array of tables"},
      {"quarantine = [3]\n", 1, "quarantine"},
      {"[routes]\nbad = 1\n", 2, "no table"},
  };
  char *path = scratch_path("entries.toml");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[400];
    snprintf(text, sizeof text, "%s%s", rows[i].text,
             i + 1 == sizeof rows / sizeof *rows ? "[routes.good]\nbackend = \"cpu\"\n"
                                                 : "\n[routes.good]\nbackend = \"cpu\"\n");
    scratch_write(path, text);
    route_table *table = load(path);
    if (told != 1) fail_msg("told %u of: %s", told, text);
    if (!strstr(told_last, rows[i].part)) fail_msg("`%s` lacks `%s`", told_last, rows[i].part);
    assert_int_equal(told_line, rows[i].line);
    assert_int_equal(route_table_count(table), 1);
    assert_string_equal(route_fastest_backend(table, "good"), "cpu");
    route_table_free(table);
  }
}

// What stands beside a good one is left out alone.
static void a_faulty_second_entry_leaves_the_first(void **state) {
  (void)state;
  static const char *const rest[] = {"also = 3\n", "also = [3]\n", "also = [{device = \"x\"}]\n"};
  char *path = scratch_path("also.toml"), text[200];
  for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) {
    snprintf(text, sizeof text, "[routes.good]\nbackend = \"cpu\"\n%s", rest[i]);
    scratch_write(path, text);
    route_table *table = load(path);
    assert_int_equal(told, 1);
    assert_int_equal(told_line, 3);
    assert_int_equal(route_table_count(table), 1);
    assert_string_equal(route_fastest_backend(table, "good"), "cpu");
    route_table_free(table);
  }
}

static void a_newer_format_is_left_alone(void **state) {
  (void)state;
  char *path = scratch_path("newer.toml");
  scratch_write(path, "version = 9\n");
  route_table *table = route_table_new();
  vyre_error error;
  assert_int_equal(route_table_load(table, path, &sink, &error), VYRE_ERROR_UNSUPPORTED);
  must_put(table, &(route_entry){.op_id = "b", .backend = "ref"});
  assert_int_equal(route_table_save(table, path, &sink, &error), VYRE_ERROR_UNSUPPORTED);
  char *text = scratch_read(path);
  assert_string_equal(text, "version = 9\n");
  free(text);
  route_table_free(table);
}

static void saving_where_nothing_can_be_written_says_so(void **state) {
  (void)state;
  route_table *table = route_table_new();
  vyre_error error;
  must_put(table, &(route_entry){.op_id = "b", .backend = "ref"});
  scratch_write(scratch_path("plain"), "");
  assert_int_equal(route_table_save(table, scratch_path("plain/pgo.toml"), &sink, &error),
                   VYRE_ERROR_IO);
  assert_non_null(strstr(error.message, "failed to write PGO table"));
  assert_non_null(strstr(error.message, "Fix: ensure ~/.config/vyre is writable."));
  assert_string_equal(route_fastest_backend(table, "b"), "ref");
  route_table_free(table);
}

static void processes_lose_no_route_of_each_other(void **state) {
  (void)state;
  enum { PROCESSES = 8, ROUTES = 12 };
  char *path = scratch_path("eight.toml");
  pid_t children[PROCESSES];
  for (int i = 0; i < PROCESSES; i++) {
    if ((children[i] = fork())) continue;
    route_table *table = route_table_new();
    for (int k = 0; k < ROUTES; k++) {
      char op[32];
      snprintf(op, sizeof op, "op.%d.%d", i, k);
      if (route_table_put(table, &(route_entry){.op_id = op, .backend = "cpu"}, NULL) != VYRE_OK ||
          route_table_save(table, path, NULL, NULL) != VYRE_OK)
        _exit(1);
    }
    route_table_free(table);
    _exit(0);
  }
  for (int i = 0; i < PROCESSES; i++) {
    int status;
    waitpid(children[i], &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  route_table *table = load(path);
  assert_int_equal(told, 0);
  assert_int_equal(route_table_count(table), PROCESSES * ROUTES);
  route_table_free(table);
}

static void merging_takes_what_is_newer(void **state) {
  (void)state;
  route_table *ours = route_table_new(), *theirs = route_table_new();
  vyre_error error;
  must_put(ours, &(route_entry){.op_id = "a", .backend = "ours", .date = 20});
  must_put(ours, &(route_entry){.op_id = "b", .backend = "ours", .date = 10});
  must_put(theirs, &(route_entry){.op_id = "a", .backend = "theirs", .date = 15});
  must_put(theirs, &(route_entry){.op_id = "b", .backend = "theirs", .date = 15});
  must_put(theirs, &(route_entry){.op_id = "c", .backend = "theirs"});
  assert_int_equal(route_table_merge(ours, theirs, &error), VYRE_OK);
  assert_string_equal(route_fastest_backend(ours, "a"), "ours");
  assert_string_equal(route_fastest_backend(ours, "b"), "theirs");
  assert_string_equal(route_fastest_backend(ours, "c"), "theirs");
  assert_int_equal(route_table_put(ours, &(route_entry){.op_id = "", .backend = "x"}, &error),
                   VYRE_ERROR_ARGUMENT);
  route_table_free(ours);
  route_table_free(theirs);
}

static void the_default_path_follows_the_environment(void **state) {
  (void)state;
  struct {
    const char *vyre_home, *xdg, *home, *expected;
  } rows[] = {
      {"/v", "/x", "/h", "/v/config/pgo.toml"},
      {NULL, "/x", "/h", "/x/vyre/pgo.toml"},
      {NULL, NULL, "/h", "/h/.config/vyre/pgo.toml"},
      {"", "", "/h", "/h/.config/vyre/pgo.toml"},
      {NULL, "./x", "/h", "/h/.config/vyre/pgo.toml"},
      // Never the current folder.
      {NULL, NULL, NULL, NULL},
      {NULL, "x", "h", NULL},
      {"v", "/x", "/h", NULL},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const char *names[] = {"VYRE_HOME", "XDG_CONFIG_HOME", "HOME"};
    const char *values[] = {rows[i].vyre_home, rows[i].xdg, rows[i].home};
    for (int k = 0; k < 3; k++) {
      if (values[k])
        setenv(names[k], values[k], 1);
      else
        unsetenv(names[k]);
    }
    vyre_error error;
    char *path = route_default_path(&error);
    if (rows[i].expected)
      assert_string_equal(path, rows[i].expected);
    else
      assert_true(!path && strstr(error.message, "Fix: "));
    free(path);
  }
}

// ---- resolving ---------------------------------------------------------------------------------

static bool has_backend(void *context, const char *id) {
  return !strcmp(id, context);
}

static void stale_and_foreign_entries_are_named(void **state) {
  (void)state;
  uint8_t fingerprint[32];
  for (int i = 0; i < 32; i++) fingerprint[i] = (uint8_t)((i % 16) * 0x11);
  route_table *table = route_table_new();
  route_entry e = full_entry("a", 3, 1700000000);
  must_put(table, &e);
  route_query q = {.op_id = e.op_id,
                   .fingerprint = fingerprint,
                   .device = "a",
                   .has_size_class = true,
                   .size_class = 3,
                   .now = 1700000100,
                   .max_age_seconds = ROUTE_MAX_AGE_SECONDS,
                   .has_backend = has_backend,
                   .context = "cpu"};
  const route_entry *found;
  assert_int_equal(route_resolve(table, &q, &found), ROUTE_USABLE);
  assert_string_equal(found->backend, "cpu");

  q.context = "gpu";
  assert_int_equal(route_resolve(table, &q, &found), ROUTE_BACKEND_MISSING);
  assert_non_null(found);
  q.now += ROUTE_MAX_AGE_SECONDS;
  assert_int_equal(route_resolve(table, &q, &found), ROUTE_TOO_OLD);
  q.now = 5; // the clock jumped back
  q.context = "cpu";
  assert_int_equal(route_resolve(table, &q, &found), ROUTE_USABLE);
  q.size_class = 4;
  assert_int_equal(route_resolve(table, &q, &found), ROUTE_OTHER_SIZE);
  q.device = "b";
  assert_int_equal(route_resolve(table, &q, &found), ROUTE_OTHER_DEVICE);
  fingerprint[0] = 1;
  assert_int_equal(route_resolve(table, &q, &found), ROUTE_OTHER_PROGRAM);
  assert_string_equal(route_state_name(ROUTE_OTHER_PROGRAM), "other-program");
  q.op_id = "unknown";
  assert_int_equal(route_resolve(table, &q, &found), ROUTE_NO_ENTRY);
  assert_null(found);
  assert_string_equal(route_state_name(ROUTE_NO_ENTRY), "no-entry");
  route_table_free(table);
}

static void the_closest_entry_is_taken(void **state) {
  (void)state;
  route_table *table = route_table_new();
  must_put(table, &(route_entry){.op_id = "op", .backend = "general"});
  must_put(table, &(route_entry){
                      .op_id = "op", .backend = "sized", .has_size_class = true, .size_class = 8});
  must_put(table, &(route_entry){.op_id = "op", .backend = "here", .device = "d"});
  must_put(table, &(route_entry){.op_id = "op",
                                 .backend = "exact",
                                 .device = "d",
                                 .has_size_class = true,
                                 .size_class = 9});
  struct {
    const char *device;
    uint32_t size_class;
    const char *expected;
  } rows[] = {{"d", 9, "exact"}, {"d", 8, "here"}, {"e", 8, "sized"}, {"e", 7, "general"}};
  for (int i = 0; i < 4; i++) {
    route_query q = {.op_id = "op",
                     .device = rows[i].device,
                     .has_size_class = true,
                     .size_class = rows[i].size_class};
    const route_entry *found;
    assert_int_equal(route_resolve(table, &q, &found), ROUTE_USABLE);
    assert_string_equal(found->backend, rows[i].expected);
  }
  route_table_free(table);
}

static void size_classes_are_powers_of_two(void **state) {
  (void)state;
  assert_int_equal(size_class_of(0), 0);
  assert_int_equal(size_class_of(1), 1);
  assert_int_equal(size_class_of(1023), 10);
  assert_int_equal(size_class_of(1024), 11);
  assert_int_equal(size_class_of(UINT64_MAX), 64);
}

// What gave a wrong answer anywhere is known wherever tables are joined, once.
static void quarantine_is_merged(void **state) {
  (void)state;
  route_table *ours = route_table_new(), *theirs = route_table_new();
  vyre_error error;
  route_wrong a = {HEX64, "op", "cpu full", "cpu-x", "y[3] is 1", 77};
  route_wrong b = a, c = a;
  b.code = "f123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
  b.op_id = "other";
  c.reason = "told again";
  assert_int_equal(route_table_put_wrong(ours, &a, &error), VYRE_OK);
  assert_int_equal(route_table_put_wrong(theirs, &c, &error), VYRE_OK);
  assert_int_equal(route_table_put_wrong(theirs, &b, &error), VYRE_OK);
  for (int again = 0; again < 2; again++) {
    assert_int_equal(route_table_merge(ours, theirs, &error), VYRE_OK);
    assert_int_equal(route_table_wrong_count(ours), 2);
  }
  route_table_free(theirs);
  const route_wrong *found = route_table_find_wrong(ours, HEX64);
  assert_string_equal(found->reason, "y[3] is 1"); // the first one stays
  found = route_table_find_wrong(ours, b.code);
  assert_string_equal(found->op_id, "other");
  assert_string_equal(found->variant, "cpu full");
  assert_string_equal(found->device, "cpu-x");
  assert_int_equal(found->date, 77);
  route_table_free(ours);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cert_gate_routes_to_fastest_backend),
      cmocka_unit_test(cert_gate_uses_borrowed_dispatch_path),
      cmocka_unit_test(no_backend_is_an_error),
      cmocka_unit_test(ties_go_by_name),
      cmocka_unit_test(wrong_and_failing_backends_are_recorded_not_fatal),
      cmocka_unit_test(the_default_stays_unless_another_clearly_wins),
      cmocka_unit_test(decisions_are_kept_per_device_and_size),
      cmocka_unit_test(the_layout_is_that_of_a_corrected_original),
      cmocka_unit_test(other_writings_are_read),
      cmocka_unit_test(everything_is_written_and_read_again),
      cmocka_unit_test(a_corrupt_file_is_reported_and_set_aside),
      cmocka_unit_test(faulty_entries_are_left_out_with_their_line),
      cmocka_unit_test(a_faulty_second_entry_leaves_the_first),
      cmocka_unit_test(quarantine_is_merged),
      cmocka_unit_test(a_newer_format_is_left_alone),
      cmocka_unit_test(saving_where_nothing_can_be_written_says_so),
      cmocka_unit_test(processes_lose_no_route_of_each_other),
      cmocka_unit_test(merging_takes_what_is_newer),
      cmocka_unit_test(the_default_path_follows_the_environment),
      cmocka_unit_test(stale_and_foreign_entries_are_named),
      cmocka_unit_test(the_closest_entry_is_taken),
      cmocka_unit_test(size_classes_are_powers_of_two),
  };
  return cmocka_run_group_tests(tests, scratch_dir_make, scratch_dir_remove);
}
