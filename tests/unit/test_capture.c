// SPDX-License-Identifier: MIT
//
// Copied inputs: what is copied and what is borrowed, what runs leave alone, and when two answers
// are the same, which is what everything that is adopted rests on.
#include "runtime/capture.h"

#include "backend/backend.h"

#include "../parsed_program.h"

#include <stdio.h>
#include <stdlib.h>

#define SHOWN 160

// ---- the same answer ----------------------------------------------------------------------------

typedef struct pair {
  uint64_t found, wanted;
  bool is_same;
} pair;

// A program that writes one element of a type, and may be off by so many units in the last place.
static vyre_program *writer(const char *type, const char *fast) {
  char text[200];
  snprintf(text, sizeof text,
           "program p()%s\nbuffer x: %s[] read\nbuffer y: %s[] write\nregion r grid(len(y)) {\n"
           "y[global_id.x] = x[global_id.x]\n}\n",
           fast, type, type);
  return parse(text);
}

static void compare_pairs(const char *type, const char *fast, const pair *pairs, size_t count) {
  vyre_program *p = writer(type, fast);
  size_t bytes = vyre_type_size(vyre_type_from_name(type));
  for (size_t i = 0; i < count; i++) {
    // Only the second element differs, so that a place is told.
    uint64_t x[2] = {0}, y[2] = {0};
    vyre_span spans[] = {{x, 2 * bytes}, {y, 2 * bytes}};
    vyre_dispatch_args args = {.buffers = spans, .buffer_count = 2};
    capture c;
    char text[SHOWN] = "", expected[SHOWN];
    assert_int_equal(capture_take(&c, p, &args), CAPTURE_TAKEN);
    memcpy((char *)c.work[0].data + bytes, "garbage", bytes); // it is only read: of no matter
    memset(c.work[1].data, 0, 2 * bytes);
    memcpy((char *)c.work[1].data + bytes, &pairs[i].wanted, bytes);
    memcpy((char *)y + bytes, &pairs[i].found, bytes);
    bool is_same = capture_matches_spans(&c, spans, text, sizeof text);
    if (is_same != pairs[i].is_same)
      fail_msg("%s%s: 0x%llx and 0x%llx", type, fast, (unsigned long long)pairs[i].found,
               (unsigned long long)pairs[i].wanted);
    snprintf(expected, sizeof expected, "y[1] is 0x%llx, expected 0x%llx",
             (unsigned long long)pairs[i].found, (unsigned long long)pairs[i].wanted);
    assert_string_equal(text, is_same ? "" : expected);
    // The other way: the answer is in the work memory, what is wanted was kept.
    capture_output kept;
    assert_true(capture_keep(&c, &kept));
    memcpy((char *)c.work[1].data + bytes, &pairs[i].found, bytes);
    assert_int_equal(capture_matches(&c, &kept, text, sizeof text), pairs[i].is_same);
    capture_output_fini(&kept);
    capture_fini(&c);
  }
  vyre_program_release(p);
}

#define COMPARE(type, fast, ...)                                                                   \
  compare_pairs(type, fast, (const pair[]){__VA_ARGS__},                                           \
                sizeof((const pair[]){__VA_ARGS__}) / sizeof(pair))

static void answers_are_compared_bit_for_bit(void **state) {
  (void)state;
  COMPARE("u8", "", {3, 3, true}, {3, 2, false}, {0x83, 3, false});
  COMPARE("i32", "", {0xffffffff, 0xffffffff, true}, {0xffffffff, 0x7fffffff, false});
  COMPARE("u64", "", {1ull << 63, 1ull << 63, true}, {1ull << 63, 0, false});
  COMPARE("f32", "", {0x3f800000, 0x3f800000, true}, {0x3f800000, 0x3f800001, false},
          {0x80000000, 0, false}, {0x7f800000, 0xff800000, false});
  COMPARE("f64", "", {0x3ff0000000000000, 0x3ff0000000000000, true},
          {0x3ff0000000000001, 0x3ff0000000000000, false}, {1ull << 63, 0, false});
}

static void any_nan_equals_any_nan_and_nothing_else(void **state) {
  (void)state;
  COMPARE("f32", "", {0x7fc00000, 0xffc00000, true}, {0x7f800001, 0x7fffffff, true},
          {0x7fc00000, 0x7f800000, false}, {0x7f800000, 0x7fc00000, false}, {0x7fc00000, 0, false});
  COMPARE("f64", "", {0x7ff8000000000000, 0xfff8000000000001, true},
          {0x7ff0000000000001, 0x7fffffffffffffff, true},
          {0x7ff8000000000000, 0x7ff0000000000000, false});
  // The same bits are just numbers where no float is meant.
  COMPARE("u32", "", {0x7fc00000, 0xffc00000, false});
  // And no budget makes one a number.
  COMPARE("f32", " fast(1048576)", {0x7f800001, 0x7f800000, false},
          {0x7f800000, 0x7f800001, false});
}

static void a_budget_is_kept_to_the_last_unit(void **state) {
  (void)state;
  COMPARE("f32", " fast(4)", {0x3f800004, 0x3f800000, true}, {0x3f800000, 0x3f800004, true},
          {0x3f800005, 0x3f800000, false}, {0x3f800000, 0x3f800005, false}, {0x80000002, 2, true},
          {2, 0x80000002, true}, {0x80000003, 2, false}, {0x80000000, 0, true},
          {0xbf800000, 0x3f800000, false}, {0xff7fffff, 0x7f7fffff, false});
  COMPARE("f64", " fast(1)", {0x3ff0000000000001, 0x3ff0000000000000, true},
          {0x3ff0000000000002, 0x3ff0000000000000, false}, {1ull << 63, 1, true},
          {(1ull << 63) + 1, 1, false}, {0xffefffffffffffff, 0x7fefffffffffffff, false});
  COMPARE("i32", " fast(4)", {1, 2, false}); // integers have none
}

// ---- what is taken ------------------------------------------------------------------------------

static const char sums[] = "program sums(n: u32, m: u32)\n"
                           "buffer x: u32[] read\n"
                           "transient t: u32[len(x) + n]\n"
                           "buffer y: u32[] readwrite\n"
                           "region a grid(len(x), 3) { t[global_id.x] = x[global_id.x] * n }\n"
                           "region b grid(len(y), n, m) workgroup(1) {\n"
                           "  if global_id.y + global_id.z == 0 {\n"
                           "    y[global_id.x] = y[global_id.x] + t[global_id.x]\n  }\n}\n";

typedef struct sums_call {
  uint32_t x[4], y[5];
  vyre_scalar params[2];
  vyre_span spans[2];
  vyre_dispatch_args args;
} sums_call;

static sums_call *make_call(sums_call *s) {
  *s = (sums_call){.x = {1, 2, 3, 4}, .y = {10, 20, 30, 40, 50}};
  s->params[0] = (vyre_scalar){VYRE_U32, 2};
  s->params[1] = (vyre_scalar){VYRE_U32, 5};
  s->spans[0] = (vyre_span){s->x, sizeof s->x};
  s->spans[1] = (vyre_span){s->y, sizeof s->y};
  s->args = (vyre_dispatch_args){
      .params = s->params, .param_count = 2, .buffers = s->spans, .buffer_count = 2};
  return s;
}

static void only_what_fits_the_program_is_taken(void **state) {
  (void)state;
  vyre_program *p = parse(sums);
  sums_call s;
  assert_true(capture_can_take(p, &make_call(&s)->args));
  make_call(&s)->args.buffer_count = 1;
  assert_false(capture_can_take(p, &s.args));
  make_call(&s)->args.param_count = 1;
  assert_false(capture_can_take(p, &s.args));
  make_call(&s)->args.params = NULL;
  assert_false(capture_can_take(p, &s.args));
  make_call(&s)->spans[1].data = NULL;
  assert_false(capture_can_take(p, &s.args));
  make_call(&s)->spans[1] = (vyre_span){NULL, 0}; // empty
  assert_true(capture_can_take(p, &s.args));
  vyre_program_release(p);
}

static void too_much_is_not_copied(void **state) {
  (void)state;
  vyre_program *p = parse(sums);
  sums_call s;
  capture c;
  make_call(&s)->spans[0].size_bytes = CAPTURE_MAX_BYTES;
  assert_int_equal(capture_take(&c, p, &s.args), CAPTURE_TOO_LARGE);
  assert_null(c.inputs);
  make_call(&s)->spans[0].size_bytes = SIZE_MAX - 3; // the sum would be small
  assert_int_equal(capture_take(&c, p, &s.args), CAPTURE_TOO_LARGE);
  vyre_program_release(p);
}

static void the_caller_goes_on_with_its_own(void **state) {
  (void)state;
  vyre_program *p = parse(sums);
  vyre_executable *e;
  vyre_error error;
  assert_int_equal(vyre_compile(p, "ref", NULL, &e, &error), VYRE_OK);
  for (int borrows = 0; borrows < 2; borrows++) {
    sums_call s;
    capture c;
    make_call(&s);
    uint32_t stop = 1; // the caller's, of its own dispatch
    s.args.stop = &stop;
    assert_int_equal(borrows ? capture_borrow(&c, p, &s.args) : capture_take(&c, p, &s.args),
                     CAPTURE_TAKEN);
    assert_int_equal(c.bytes, sizeof s.x + sizeof s.y);
    assert_int_equal(c.work[0].data == s.x, borrows); // it is only read
    assert_ptr_not_equal(c.work[1].data, s.y);
    s.params[0].bits = 100;
    s.y[0] = 999;
    static const uint32_t right[] = {12, 24, 36, 48, 50};
    for (int again = 0; again < 2; again++) { // each run begins with the inputs
      assert_int_equal(capture_run(&c, e, NULL, NULL, &error), VYRE_OK);
      assert_memory_equal(c.work[1].data, right, sizeof right);
    }
    assert_int_equal(s.y[0], 999);
    capture_output kept;
    assert_true(capture_keep(&c, &kept));
    assert_null(kept.buffers[0].data);
    memset(c.work[1].data, 0, sizeof right);
    capture_put(&c, &kept);
    assert_memory_equal(c.work[1].data, right, sizeof right);
    capture_output_fini(&kept);
    capture_give(&c, s.spans);
    assert_memory_equal(s.y, right, sizeof right);
    assert_int_equal(s.x[3], 4);
    capture_fini(&c);
  }
  vyre_executable_release(e);
  vyre_program_release(p);
}

static void lengths_and_grids_are_those_of_the_dispatch(void **state) {
  (void)state;
  vyre_program *p = parse(sums);
  sums_call s;
  capture c, other;
  uint64_t lengths[LIMIT_BUFFERS];
  uint32_t grid[3];
  assert_int_equal(capture_take(&c, p, &make_call(&s)->args), CAPTURE_TAKEN);
  assert_true(capture_lengths(&c, lengths));
  assert_int_equal(lengths[0], 4);
  assert_int_equal(lengths[1], 6); // the transient one
  assert_int_equal(lengths[2], 5);
  assert_true(capture_grid(&c, 1, grid));
  assert_memory_equal(grid, ((uint32_t[]){5, 2, 5}), sizeof grid);
  assert_true(capture_grid(&c, 0, grid));
  assert_memory_equal(grid, ((uint32_t[]){4, 3, 1}), sizeof grid);
  // Others: parameters, then a length for each buffer. Data is repeated, or cut.
  static const uint64_t key[] = {7, 1, 10, 0, 3};
  assert_int_equal(capture_resize(&c, key, &other), CAPTURE_TAKEN);
  assert_int_equal(other.params[0].bits, 7);
  assert_int_equal(other.params[1].bits, 1);
  static const uint32_t repeated[] = {1, 2, 3, 4, 1, 2, 3, 4, 1, 2}, cut[] = {10, 20, 30};
  assert_int_equal(other.inputs[0].size_bytes, sizeof repeated);
  assert_memory_equal(other.inputs[0].data, repeated, sizeof repeated);
  assert_int_equal(other.inputs[1].size_bytes, sizeof cut);
  assert_memory_equal(other.inputs[1].data, cut, sizeof cut);
  capture_fini(&other);
  static const uint64_t large[] = {7, 1, CAPTURE_MAX_BYTES / 4, 0, 1};
  assert_int_equal(capture_resize(&c, large, &other), CAPTURE_TOO_LARGE);
  capture_fini(&c);
  vyre_program_release(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(answers_are_compared_bit_for_bit),
      cmocka_unit_test(any_nan_equals_any_nan_and_nothing_else),
      cmocka_unit_test(a_budget_is_kept_to_the_last_unit),
      cmocka_unit_test(only_what_fits_the_program_is_taken),
      cmocka_unit_test(too_much_is_not_copied),
      cmocka_unit_test(the_caller_goes_on_with_its_own),
      cmocka_unit_test(lengths_and_grids_are_those_of_the_dispatch),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
