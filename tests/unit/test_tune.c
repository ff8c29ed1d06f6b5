// SPDX-License-Identifier: MIT
//
// The tuner: modes, keys byte for byte, candidates, choosing, resizing, and its cache files.
#include "policy/tune_cache.h"

#include "base/error.h"
#include "base/filename.h"
#include "ir/limits.h"

#include "../scratch_dir.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <cmocka.h>

static unsigned told, told_lines[16];
static char told_last[600], told_file[200];

static void tell(void *context, const vyre_error *note) {
  (void)context;
  if (told < 16) told_lines[told] = note->line;
  told++;
  strcpy(told_last, note->message);
  strcpy(told_file, note->file);
}

static const note_sink sink = {tell, NULL};

static void shape_is(tune_shape s, uint32_t x, uint32_t y, uint32_t z) {
  assert_int_equal(s.axis[0], x);
  assert_int_equal(s.axis[1], y);
  assert_int_equal(s.axis[2], z);
}

// ---- mode, keys, candidates --------------------------------------------------------------------

static void mode_comes_from_the_environment(void **state) {
  (void)state;
  tune_mode mode;
  vyre_error error;
  assert_int_equal(setenv("VYRE_AUTOTUNER", "on", 1), 0);
  assert_int_equal(tune_mode_from_env(&mode, &error), VYRE_OK);
  assert_int_equal(mode, TUNE_ON);
  const char *off[] = {"off", ""};
  for (int i = 0; i < 2; i++) {
    setenv("VYRE_AUTOTUNER", off[i], 1);
    assert_int_equal(tune_mode_from_env(&mode, &error), VYRE_OK);
    assert_int_equal(mode, TUNE_OFF_USE_DEFAULT);
  }
  unsetenv("VYRE_AUTOTUNER");
  assert_int_equal(tune_mode_from_env(&mode, &error), VYRE_OK);
  assert_int_equal(mode, TUNE_OFF_USE_DEFAULT);
  const char *invalid[] = {"ON", "1", "yes", "on "};
  for (int i = 0; i < 4; i++) {
    setenv("VYRE_AUTOTUNER", invalid[i], 1);
    mode = TUNE_ON;
    assert_int_equal(tune_mode_from_env(&mode, &error), VYRE_ERROR_ARGUMENT);
    assert_int_equal(mode, TUNE_OFF_USE_DEFAULT);
    assert_non_null(strstr(error.message, invalid[i]));
    assert_non_null(strstr(error.message, "Fix:"));
  }
  unsetenv("VYRE_AUTOTUNER");
}

// The expected keys were computed with another implementation of BLAKE3.
static void keys_are_derived_byte_for_byte(void **state) {
  (void)state;
  uint8_t fingerprint[32];
  for (int i = 0; i < 32; i++) fingerprint[i] = (uint8_t)i;
  tune_static_shape shape = {.workgroup = {{64, 1, 1}}, .output_bytes = 4096};
  assert_string_equal(tune_key_make(fingerprint, &shape).text,
                      "v1-d1f467ed1a21773ba906c020bb1e1bd79787ac30a70f03d594464e99996548ff");
  shape = (tune_static_shape){.workgroup = {{8, 8, 2}},
                              .has_count = true,
                              .count = {100, 70000, 1},
                              .output_bytes = UINT64_C(0x0102030405060708)};
  assert_string_equal(tune_key_make(fingerprint, &shape).text,
                      "v1-7f0edbb4d9b53625482c63fa0eb7ca31e63699fc903f5562f8cef9f6768236d3");
}

static void keys_tell_everything_apart(void **state) {
  (void)state;
  uint8_t fingerprint[32] = {0};
  tune_static_shape shapes[] = {
      {.workgroup = {{64, 1, 1}}, .output_bytes = 1},
      {.workgroup = {{1, 64, 1}}, .output_bytes = 1},
      {.workgroup = {{64, 1, 1}}, .output_bytes = 2},
      {.workgroup = {{64, 1, 1}}, .has_count = true, .output_bytes = 1},
      {.workgroup = {{64, 1, 1}}, .has_count = true, .count = {1, 0, 0}, .output_bytes = 1},
  };
  enum { COUNT = sizeof shapes / sizeof *shapes };
  tune_key keys[COUNT + 1];
  for (int i = 0; i < COUNT; i++) keys[i] = tune_key_make(fingerprint, &shapes[i]);
  fingerprint[31] = 1;
  keys[COUNT] = tune_key_make(fingerprint, &shapes[0]);
  for (int i = 0; i <= COUNT; i++) {
    assert_int_equal(strlen(keys[i].text), 67);
    for (int k = 0; k < i; k++) assert_string_not_equal(keys[i].text, keys[k].text);
  }
}

static void candidates_are_bounded_by_the_device(void **state) {
  (void)state;
  uint32_t sizes[TUNE_SIZES];
  assert_int_equal(tune_sizes(31, sizes), 0);
  assert_int_equal(tune_sizes(32, sizes), 1);
  assert_int_equal(tune_sizes(255, sizes), 3);
  assert_int_equal(tune_sizes(UINT32_MAX, sizes), 6);
  const uint32_t all[] = {32, 64, 128, 256, 512, 1024};
  assert_memory_equal(sizes, all, sizeof all);

  tune_shape shapes[TUNE_MAX_CANDIDATES];
  tune_limits limits = {.max_invocations = 1024};
  uint32_t grid[3] = {1000, 1, 1};
  assert_int_equal(tune_shapes(1, grid, &limits, shapes), 6);
  for (int i = 0; i < 6; i++) shape_is(shapes[i], all[i], 1, 1);
  limits.max_axis[0] = 128;
  assert_int_equal(tune_shapes(1, grid, &limits, shapes), 3);
}

static void shapes_cover_the_axes_of_the_grid(void **state) {
  (void)state;
  for (uint32_t rank = 2; rank <= 3; rank++) {
    for (uint32_t y = 0; y < 40; y += 3) {
      tune_shape shapes[TUNE_MAX_CANDIDATES];
      tune_limits limits = {.max_invocations = 512, .max_axis = {512, 512, 2}};
      uint32_t grid[3] = {640, y, 7};
      uint32_t count = tune_shapes(rank, grid, &limits, shapes), folded = 0, deep = 0;
      assert_in_range(count, 5, TUNE_MAX_CANDIDATES);
      for (uint32_t i = 0; i < count; i++) {
        assert_true(tune_shape_is_valid(shapes[i]));
        uint32_t total = shapes[i].axis[0] * shapes[i].axis[1] * shapes[i].axis[2];
        assert_in_range(total, 32, 512);
        assert_int_equal(total & (total - 1), 0);
        assert_in_range(shapes[i].axis[2], 1, rank == 3 ? 2 : 1);
        if (y) assert_true(shapes[i].axis[1] < 2 * y || shapes[i].axis[1] == 1);
        folded += shapes[i].axis[1] > 1;
        deep += shapes[i].axis[2] > 1;
        for (uint32_t k = 0; k < i; k++) assert_false(tune_shape_equal(shapes[i], shapes[k]));
      }
      assert_true(y == 1 || folded > 0);
      assert_int_equal(deep > 0, rank == 3);
    }
  }
  tune_shape shapes[TUNE_MAX_CANDIDATES];
  uint32_t grid[3] = {64, 64, 64}, count;
  bool has_8x8 = false, has_16x16 = false;
  count = tune_shapes(2, grid, &(tune_limits){.max_invocations = 1024}, shapes);
  for (uint32_t i = 0; i < count; i++) {
    has_8x8 |= tune_shape_equal(shapes[i], (tune_shape){{8, 8, 1}});
    has_16x16 |= tune_shape_equal(shapes[i], (tune_shape){{16, 16, 1}});
  }
  assert_true(has_8x8 && has_16x16);
  // Nothing is cut off at the end of the array.
  count = tune_shapes(3, grid, &(tune_limits){.max_invocations = 1024}, shapes);
  assert_in_range(count, 20, TUNE_MAX_CANDIDATES - 1);
  assert_int_equal(
      shapes[count - 1].axis[0] * shapes[count - 1].axis[1] * shapes[count - 1].axis[2], 1024);
}

static void valid_shapes(void **state) {
  (void)state;
  assert_true(tune_shape_is_valid(TUNE_DEFAULT_SHAPE));
  shape_is(TUNE_DEFAULT_SHAPE, 64, 1, 1);
  assert_true(tune_shape_is_valid((tune_shape){{LIMIT_WORKGROUP, 1, 1}}));
  assert_false(tune_shape_is_valid((tune_shape){{LIMIT_WORKGROUP, 2, 1}}));
  assert_false(tune_shape_is_valid((tune_shape){{1, 0, 1}}));
  assert_false(tune_shape_is_valid((tune_shape){{UINT32_MAX, UINT32_MAX, UINT32_MAX}}));
}

// ---- choosing ----------------------------------------------------------------------------------

typedef struct bench {
  uint64_t ns[8]; // by log2 of x / 32
  int fails_on;   // x
  int wrong;      // x
  uint32_t calls, limit;
  const uint64_t *earlier; // one sample per size, thrice
} bench;

static int slot_of(tune_shape s) {
  int slot = 0;
  while ((32u << slot) < s.axis[0]) slot++;
  return slot;
}

static vyre_status measure(void *context, tune_shape s, uint64_t *ns, vyre_error *error) {
  bench *b = context;
  b->calls++;
  if ((int)s.axis[0] == b->fails_on)
    return error_set(error, VYRE_ERROR_BACKEND, "no timer. Fix: add one");
  *ns = b->ns[slot_of(s)];
  return VYRE_OK;
}

static vyre_status compare(void *context, tune_shape s, vyre_error *error) {
  bench *b = context;
  if ((int)s.axis[0] != b->wrong) return VYRE_OK;
  return error_set(error, VYRE_ERROR_BACKEND, "element 0 differs. Fix: report it");
}

static bool go_on(void *context, uint32_t done, uint32_t expected) {
  bench *b = context;
  assert_true(expected > 0);
  return !b->limit || done < b->limit;
}

static uint32_t remember(void *context, tune_shape s, uint64_t *samples, uint32_t capacity) {
  bench *b = context;
  if (!b->earlier || !b->earlier[slot_of(s)]) return 0;
  assert_true(capacity >= 3);
  for (int i = 0; i < 3; i++) samples[i] = b->earlier[slot_of(s)];
  return 3;
}

static const tune_shape four[] = {{{32, 1, 1}}, {{64, 1, 1}}, {{128, 1, 1}}, {{256, 1, 1}}};

static void best_of_takes_the_first_fastest(void **state) {
  (void)state;
  bench b = {.ns = {50, 20, 20, 90}};
  tune_timer timer = {measure, &b};
  tune_measurement best;
  bool found;
  vyre_error error;
  assert_int_equal(tune_best_of(four, 4, &timer, &best, &found, &error), VYRE_OK);
  assert_true(found);
  shape_is(best.shape, 64, 1, 1);
  assert_int_equal(best.elapsed_ns, 20);
  assert_int_equal(b.calls, 4);
  assert_int_equal(tune_best_of(four, 0, &timer, &best, &found, &error), VYRE_OK);
  assert_false(found);
  b.fails_on = 128;
  b.calls = 0;
  assert_int_equal(tune_best_of(four, 4, &timer, &best, &found, &error), VYRE_ERROR_BACKEND);
  assert_int_equal(b.calls, 3);
}

static tune_sweep_result sweep(bench *b) {
  tune_sweep_options o = {.usual = TUNE_DEFAULT_SHAPE,
                          .run = measure,
                          .check = compare,
                          .earlier = remember,
                          .keep_going = go_on,
                          .context = b};
  tune_sweep_result r;
  vyre_error error;
  assert_int_equal(tune_sweep(four, 4, &o, &r, &error), VYRE_OK);
  return r;
}

static void a_sweep_proves_repeats_and_keeps_the_default_in_doubt(void **state) {
  (void)state;
  bench clear = {.ns = {50, 40, 20, 90}};
  tune_sweep_result r = sweep(&clear);
  assert_int_equal(r.count, 4); // the default is among the candidates and not tried twice
  assert_int_equal(r.decision.reason, TRIAL_FASTEST);
  shape_is(r.rows[r.decision.winner].shape, 128, 1, 1);
  assert_string_equal(r.rows[r.decision.winner].name, "128x1x1");
  assert_int_equal(clear.calls, 16);
  tune_sweep_free(&r);

  bench close = {.ns = {5000, 4000, 3950, 9000}};
  r = sweep(&close);
  assert_int_equal(r.decision.reason, TRIAL_WITHIN_NOISE);
  shape_is(r.rows[r.decision.winner].shape, 64, 1, 1);
  tune_sweep_free(&r);

  bench wrong = {.ns = {50, 40, 20, 90}, .wrong = 128, .fails_on = 32};
  r = sweep(&wrong);
  shape_is(r.rows[r.decision.winner].shape, 64, 1, 1);
  assert_int_equal(r.decision.reason, TRIAL_DEFAULT_FASTEST);
  int rejected = 0;
  for (uint32_t i = 0; i < r.count; i++) rejected += r.trials[i].rejected;
  assert_int_equal(rejected, 2);
  tune_sweep_free(&r);

  bench stopped = {.ns = {50, 40, 20, 90}, .limit = 6};
  r = sweep(&stopped);
  assert_int_equal(stopped.calls, 6);
  assert_true(r.decision.winner >= 0);
  tune_sweep_free(&r);
}

static void a_new_candidate_measures_only_itself(void **state) {
  (void)state;
  const uint64_t earlier[8] = {50, 40, 0, 90};
  bench b = {.ns = {1, 1, 20, 1}, .earlier = earlier};
  tune_sweep_result r = sweep(&b);
  assert_int_equal(b.calls, 4); // a warm-up and three samples of one shape
  shape_is(r.rows[r.decision.winner].shape, 128, 1, 1);
  for (uint32_t i = 0; i < r.count; i++)
    assert_int_equal(r.rows[i].earlier_samples, r.rows[i].shape.axis[0] == 128 ? 0 : 3);
  tune_sweep_free(&r);
}

static void resizing_follows_the_policy(void **state) {
  (void)state;
  tune_resize_policy p = TUNE_RESIZE_DEFAULT;
  assert_int_equal(p.adapter_max_workgroup_size_x, 1024);
  assert_int_equal(p.minimum_workgroup_size_x, 32);
  assert_true(p.saturation_threshold_per_us == 1.0);
  assert_int_equal(p.idle_shrink_us, 100000);
  struct {
    uint64_t idle_us;
    uint32_t size;
    double throughput;
    uint32_t suggested; // 0: none
  } rows[] = {
      {100001, 128, 0.5, 64},                       // idle comes before throughput
      {100001, 64, 0.5, 32},  {100001, 63, 0.5, 0}, // not below the floor
      {100001, 32, 0.5, 0},   {100000, 128, 2.0, 0}, {100000, 128, 0.5, 256},
      {0, 512, 0.99, 1024},   {0, 513, 0.5, 0},      {0, 1024, 0.5, 0}, // not above the ceiling
      {0, 128, 1.0, 0}, // at the threshold it is saturated
      {0, 0, 0.5, 2},         {100001, 0, 0.5, 0},   {0, UINT32_MAX, 0.5, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tune_feedback f = {.idle_us = rows[i].idle_us,
                       .observed_workgroup_size_x = rows[i].size,
                       .observed_throughput_per_us = rows[i].throughput};
    uint32_t size = 0;
    bool suggested = tune_suggest_resize(&p, &f, &size);
    assert_int_equal(suggested, rows[i].suggested != 0);
    if (suggested) assert_int_equal(size, rows[i].suggested);
  }
}

// ---- the cache ---------------------------------------------------------------------------------

static tune_cache *load(const char *path) {
  tune_cache *cache = tune_cache_new();
  vyre_error error;
  told = 0;
  if (tune_cache_load(cache, path, &sink, &error) != VYRE_OK) fail_msg("%s", error.message);
  return cache;
}

static void must_save(tune_cache *cache, const char *path) {
  vyre_error error;
  if (tune_cache_save(cache, path, &sink, &error) != VYRE_OK) fail_msg("%s", error.message);
}

static void must_set(tune_cache *cache, const char *key, uint32_t x, uint32_t y, uint32_t z) {
  vyre_error error;
  assert_int_equal(tune_cache_set(cache, key, (tune_shape){{x, y, z}}, &error), VYRE_OK);
}

static void text_is(const char *path, const char *expected) {
  char *text = scratch_read(path);
  assert_non_null(text);
  assert_string_equal(text, expected);
  free(text);
}

static void the_cache_is_saved_in_the_layout_of_the_original(void **state) {
  (void)state;
  char *path = scratch_path("deep/er/adapter.toml");
  tune_cache *cache = load(path);
  assert_int_equal(tune_cache_count(cache), 0);
  must_set(cache, "v1-b", 128, 1, 1);
  must_set(cache, "v1-a", 8, 8, 1);
  must_set(cache, "with \"quotes\"", 1, 2, 3);
  must_set(cache, "v1-b", 256, 1, 1);
  must_save(cache, path);
  text_is(path, "version = 1\n\"v1-a\" = [8, 8, 1]\n\"v1-b\" = [256, 1, 1]\n"
                "\"with \\\"quotes\\\"\" = [1, 2, 3]\n");
  tune_cache_free(cache);
  cache = load(path);
  assert_int_equal(told, 0);
  assert_int_equal(tune_cache_count(cache), 3);
  tune_shape s;
  assert_true(tune_cache_get(cache, "v1-b", &s));
  shape_is(s, 256, 1, 1);
  assert_true(tune_cache_get(cache, "with \"quotes\"", &s));
  assert_false(tune_cache_get(cache, "v1-c", &s));
  vyre_error error;
  assert_int_equal(tune_cache_set(cache, "k", (tune_shape){{0, 1, 1}}, &error),
                   VYRE_ERROR_ARGUMENT);
  assert_int_equal(tune_cache_set(cache, "k", (tune_shape){{512, 3, 1}}, &error),
                   VYRE_ERROR_ARGUMENT);
  assert_non_null(strstr(error.message, "[512, 3, 1]"));
  assert_int_equal(tune_cache_count(cache), 3);
  tune_cache_free(cache);
  // What the original wrote: no version.
  scratch_write(path, "\"v1-x\" = [64, 1, 1]\n\"v1-y\" = [32, 1, 1]\n");
  cache = load(path);
  assert_int_equal(told, 0);
  assert_int_equal(tune_cache_count(cache), 2);
  tune_cache_free(cache);
}

static void faulty_entries_are_told_and_the_file_is_set_aside(void **state) {
  (void)state;
  char *path = scratch_path("faulty.toml");
  const char *text = "\"good\" = [64, 1, 1]\n"
                     "\"two\" = [64, 1]\n"
                     "\"text\" = [\"64\", 1, 1]\n"
                     "\"minus\" = [-1, 1, 1]\n"
                     "\"zero\" = [0, 1, 1]\n"
                     "\"huge\" = [4294967297, 1, 1]\n"
                     "\"many\" = [1024, 1024, 1]\n"
                     "\"float\" = [1.5, 1, 1]\n"
                     "\"date\" = 2025-01-31\n"
                     "\"hex\" = [0x40, 1, 1]\n"
                     "nonsense\n"
                     "\"scalar\" = 7\n"
                     "\"fine\" = [32, 2, 1]\n";
  scratch_write(path, text);
  tune_cache *cache = load(path);
  assert_int_equal(told, 11);
  const unsigned lines[] = {11, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12}; // syntax is found first
  assert_memory_equal(told_lines, lines, sizeof lines);
  assert_string_equal(told_file, path);
  assert_non_null(strstr(told_last, "`scalar`"));
  assert_non_null(strstr(told_last, "Fix:"));
  assert_int_equal(tune_cache_count(cache), 2);
  text_is(path, text); // reading changes nothing
  must_set(cache, "new", 16, 1, 1);
  told = 0;
  must_save(cache, path);
  assert_int_equal(told, 1);
  assert_non_null(strstr(told_last, "faulty.toml.corrupt-1"));
  text_is(scratch_path("faulty.toml.corrupt-1"), text);
  text_is(path,
          "version = 1\n\"fine\" = [32, 2, 1]\n\"good\" = [64, 1, 1]\n\"new\" = [16, 1, 1]\n");
  tune_cache_free(cache);
}

static void a_file_that_is_no_text_is_set_aside_too(void **state) {
  (void)state;
  char *path = scratch_path("binary.toml");
  scratch_write(path, "\xff\xfe binary");
  tune_cache *cache = tune_cache_new();
  vyre_error error;
  assert_int_equal(tune_cache_load(cache, path, &sink, &error), VYRE_ERROR_SYNTAX);
  must_set(cache, "a", 64, 1, 1);
  must_save(cache, path);
  text_is(scratch_path("binary.toml.corrupt-1"), "\xff\xfe binary");
  text_is(path, "version = 1\n\"a\" = [64, 1, 1]\n");
  tune_cache_free(cache);
}

static void a_newer_format_is_left_alone(void **state) {
  (void)state;
  char *path = scratch_path("newer.toml");
  const char *text = "version = 2\n\"a\" = [64, 1, 1]\n";
  scratch_write(path, text);
  tune_cache *cache = tune_cache_new();
  vyre_error error;
  assert_int_equal(tune_cache_load(cache, path, &sink, &error), VYRE_ERROR_UNSUPPORTED);
  assert_non_null(strstr(error.message, "Fix:"));
  must_set(cache, "b", 64, 1, 1);
  assert_int_equal(tune_cache_save(cache, path, &sink, &error), VYRE_ERROR_UNSUPPORTED);
  text_is(path, text);
  tune_cache_free(cache);
}

static void saving_merges_with_what_others_saved(void **state) {
  (void)state;
  char *path = scratch_path("merged.toml");
  tune_cache *one = load(path), *two = load(path);
  must_set(one, "a", 32, 1, 1);
  must_set(one, "shared", 32, 1, 1);
  must_set(two, "b", 64, 1, 1);
  must_set(two, "shared", 64, 1, 1);
  must_save(one, path);
  must_save(two, path);
  text_is(path, "version = 1\n\"a\" = [32, 1, 1]\n\"b\" = [64, 1, 1]\n\"shared\" = [64, 1, 1]\n");
  must_save(one, path); // nothing is unsaved, so what another decided later stays
  text_is(path, "version = 1\n\"a\" = [32, 1, 1]\n\"b\" = [64, 1, 1]\n\"shared\" = [64, 1, 1]\n");
  tune_cache_free(one);
  tune_cache_free(two);
}

// Configurations stand beside shapes, by keys of their own.
static void choices_are_kept(void **state) {
  (void)state;
  vyre_error error;
  char *path = scratch_path("choices.toml");
  tune_cache *first = tune_cache_new(), *second = tune_cache_new();
  tune_choice made = {"mm", "TILE=8 \"X\"=a", "fastest"}, got;
  tune_shape shape;
  assert_int_equal(tune_cache_choose(first, "c1-b", &made, &error), VYRE_OK);
  must_set(first, "v1-a", 8, 8, 1);
  assert_int_equal(tune_cache_save(first, path, NULL, &error), VYRE_OK);
  text_is(path, "version = 1\n"
                "\"c1-b\" = [\"mm\", \"TILE=8 \\\"X\\\"=a\", \"fastest\"]\n"
                "\"v1-a\" = [8, 8, 1]\n");
  assert_int_equal(tune_cache_load(second, path, NULL, &error), VYRE_OK);
  assert_true(tune_cache_choice(second, 0, &got));
  assert_string_equal(got.configuration, made.configuration);
  assert_string_equal(got.op, "mm");
  assert_string_equal(got.reason, "fastest");
  assert_false(tune_cache_choice(second, 1, &got));
  assert_false(tune_cache_get(second, "c1-b", &shape));
  assert_true(tune_cache_get(second, "v1-a", &shape));
  // Another decision takes its place; one of a shape is no choice any more.
  assert_int_equal(
      tune_cache_choose(second, "c1-b", &(tune_choice){"mm", "TILE=4", "within-noise"}, &error),
      VYRE_OK);
  assert_true(tune_cache_choice(second, 0, &got));
  assert_string_equal(got.configuration, "TILE=4");
  must_set(second, "c1-b", 4, 4, 1);
  assert_false(tune_cache_choice(second, 0, &got));
  tune_cache_free(first);
  tune_cache_free(second);
}

static void eight_processes_lose_no_entry(void **state) {
  (void)state;
  enum { PROCESSES = 8, ENTRIES = 20 };
  char *path = scratch_path("eight.toml");
  pid_t children[PROCESSES];
  for (int i = 0; i < PROCESSES; i++) {
    if ((children[i] = fork())) continue;
    for (int k = 0; k < ENTRIES; k++) {
      char key[32];
      snprintf(key, sizeof key, "p%d-%d", i, k);
      tune_cache *cache = tune_cache_new();
      vyre_error error;
      bool ok = tune_cache_load(cache, path, NULL, &error) == VYRE_OK &&
                tune_cache_set(cache, key, (tune_shape){{32, 1, 1}}, &error) == VYRE_OK &&
                tune_cache_save(cache, path, NULL, &error) == VYRE_OK;
      tune_cache_free(cache);
      if (!ok) _exit(1);
    }
    _exit(0);
  }
  for (int i = 0; i < PROCESSES; i++) {
    int status;
    waitpid(children[i], &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  tune_cache *cache = load(path);
  assert_int_equal(told, 0);
  assert_int_equal(tune_cache_count(cache), PROCESSES * ENTRIES);
  tune_cache_free(cache);
}

static void a_file_of_odd_bytes_never_crashes(void **state) {
  (void)state;
  char path[256];
  strcpy(path, scratch_path("odd.toml"));
  uint64_t random = 3;
  for (int round = 0; round < 100; round++) {
    char text[200] = "\"a\" = [64, 1, 1]\n\"b\" = [8, 8, 1]\nversion = 1\n";
    size_t size = strlen(text);
    for (int k = 0; k < 3; k++) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      text[(random >> 40) % size] = "\"[]=,0a\n#"[(random >> 33) % 9];
    }
    scratch_write(path, text);
    tune_cache *cache = tune_cache_new();
    vyre_error error;
    (void)tune_cache_load(cache, path, &sink, &error);
    must_set(cache, "kept", 64, 1, 1);
    if (tune_cache_save(cache, path, NULL, &error) == VYRE_OK) {
      tune_cache *again = load(path);
      assert_int_equal(told, 0);
      tune_shape s;
      assert_true(tune_cache_get(again, "kept", &s));
      tune_cache_free(again);
    } else {
      assert_int_equal(error.status, VYRE_ERROR_UNSUPPORTED); // version = 61 and the like
    }
    tune_cache_free(cache);
    for (int i = 1; i < 100; i++) {
      char name[32];
      snprintf(name, sizeof name, "odd.toml.corrupt-%d", i);
      if (unlink(scratch_path(name))) break;
    }
  }
}

// ---- the tuner ---------------------------------------------------------------------------------

static void the_tuner_resolves_records_and_persists(void **state) {
  (void)state;
  setenv("VYRE_HOME", scratch_path("home"), 1);
  tuner *t = tuner_new("cpu-zen-llvm19", TUNE_ON, &sink);
  assert_non_null(t);
  assert_int_equal(tuner_mode(t), TUNE_ON);
  assert_string_equal(tuner_path(t), scratch_path("home/cache/tuner/cpu-zen-llvm19.toml"));
  assert_false(tuner_is_decided(t, "k"));
  shape_is(tuner_resolve(t, "k"), 64, 1, 1);
  vyre_error error;
  assert_int_equal(tuner_record_decision(t, "k", (tune_shape){{16, 4, 1}}, &error), VYRE_OK);
  assert_int_equal(tuner_record_decision(t, "z", (tune_shape){{0, 4, 1}}, &error),
                   VYRE_ERROR_ARGUMENT);
  shape_is(tuner_resolve(t, "k"), 16, 4, 1);
  assert_int_equal(tuner_persist(t, &sink, &error), VYRE_OK);
  tuner_free(t);
  t = tuner_new("cpu-zen-llvm19", TUNE_OFF_USE_DEFAULT, &sink);
  assert_true(tuner_is_decided(t, "k"));
  shape_is(tuner_resolve(t, "k"), 16, 4, 1);
  tuner_free(t);
  // A cache that cannot be read is told, and tuning goes on.
  scratch_write(scratch_path("home/cache/tuner/cpu-zen-llvm19.toml"), "\xff");
  told = 0;
  t = tuner_new("cpu-zen-llvm19", TUNE_ON, &sink);
  assert_int_equal(told, 1);
  shape_is(tuner_resolve(t, "k"), 64, 1, 1);
  tuner_free(t);
  unsetenv("VYRE_HOME");
}

static void paths_follow_xdg(void **state) {
  (void)state;
  setenv("XDG_CACHE_HOME", "/x", 1);
  char *path = tuner_path_for_adapter("a", NULL);
  assert_string_equal(path, "/x/vyre/tuner/a.toml");
  free(path);
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", "/h", 1);
  path = tuner_path_for_adapter("../../etc/passwd", NULL);
  assert_memory_equal(path, "/h/.cache/vyre/tuner/_.", 23);
  assert_null(strstr(path + 21, "/"));
  free(path);
}

static void names_become_safe_and_stay_apart(void **state) {
  (void)state;
  char a[FILENAME_SAFE], b[FILENAME_SAFE], name[500];
  filename_make_safe("nvidia-rtx_4090+535.1", a);
  assert_string_equal(a, "nvidia-rtx_4090+535.1");
  const char *odd[] = {"a/b", "a\\b", "a b", ".hidden", "", "a\nb", "\xc3\xa9", "a:b", ".."};
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    filename_make_safe(odd[i], a);
    assert_true(strlen(a) > 16);
    assert_int_equal(strspn(a, "abcdefghijklmnopqrstuvwxyz0123456789._-"), strlen(a));
    assert_int_not_equal(a[0], '.');
    for (size_t k = 0; k < i; k++) {
      filename_make_safe(odd[k], b);
      assert_string_not_equal(a, b);
    }
  }
  memset(name, 'n', sizeof name);
  name[499] = 0;
  filename_make_safe(name, a);
  assert_true(strlen(a) < FILENAME_SAFE);
  name[498] = 'm';
  filename_make_safe(name, b);
  assert_string_not_equal(a, b);
}

int main(void) {
  unsetenv("VYRE_HOME");
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mode_comes_from_the_environment),
      cmocka_unit_test(keys_are_derived_byte_for_byte),
      cmocka_unit_test(keys_tell_everything_apart),
      cmocka_unit_test(candidates_are_bounded_by_the_device),
      cmocka_unit_test(shapes_cover_the_axes_of_the_grid),
      cmocka_unit_test(valid_shapes),
      cmocka_unit_test(best_of_takes_the_first_fastest),
      cmocka_unit_test(a_sweep_proves_repeats_and_keeps_the_default_in_doubt),
      cmocka_unit_test(a_new_candidate_measures_only_itself),
      cmocka_unit_test(resizing_follows_the_policy),
      cmocka_unit_test(the_cache_is_saved_in_the_layout_of_the_original),
      cmocka_unit_test(faulty_entries_are_told_and_the_file_is_set_aside),
      cmocka_unit_test(a_file_that_is_no_text_is_set_aside_too),
      cmocka_unit_test(a_newer_format_is_left_alone),
      cmocka_unit_test(saving_merges_with_what_others_saved),
      cmocka_unit_test(choices_are_kept),
      cmocka_unit_test(eight_processes_lose_no_entry),
      cmocka_unit_test(a_file_of_odd_bytes_never_crashes),
      cmocka_unit_test(the_tuner_resolves_records_and_persists),
      cmocka_unit_test(paths_follow_xdg),
      cmocka_unit_test(names_become_safe_and_stay_apart),
  };
  return cmocka_run_group_tests(tests, scratch_dir_make, scratch_dir_remove);
}
