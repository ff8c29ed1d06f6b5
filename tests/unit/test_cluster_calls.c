// SPDX-License-Identifier: MIT
//
// Ranks that are called otherwise than the others, or that cannot make a call: every rank gets an
// error, none waits for ever, and where nothing has begun they go on.
#include "../parsed_program.h"
#include "../thread_transport.h"

#include "cluster/calls.h"
#include "runtime/clustered.h"

enum { RANKS = 3, ELEMENTS = 64 };

// Shares stay as they are: plans that were made are replayed.
static const cluster_options split_all = {.split_least = 1, .keeps_shares = true, .depth = 1};

typedef struct rank rank;
struct rank {
  hub *h;
  uint32_t number;
  void (*calls)(rank *r);
  vyre_runtime *rt;
  vyre_program *program;
  vyre_kernel *kernel;
  vyre_buffer *buffer, *other;
  vyre_status status; // of the call that is looked at
  vyre_error error;
  pthread_t thread;
};

static vyre_status dispatch(rank *r, vyre_buffer *b, uint32_t value) {
  vyre_scalar params[] = {{VYRE_U32, value}};
  vyre_dispatch_args args = {
      .params = params, .param_count = 1, .handles = &b, .buffer_count = 1, .threads = 1};
  return vyre_kernel_dispatch(r->kernel, &args, NULL, &r->error);
}

// Asserts of cmocka belong to the thread of the test: what goes wrong here is seen there.
static void begin(rank *r) {
  vyre_runtime_options options = {.backend = "ref"};
  r->status = clustered_runtime_new(&hub_transport, 0, &options, &split_all, &r->rt, &r->error);
  if (r->status == VYRE_OK) r->status = vyre_runtime_load(r->rt, r->program, &r->kernel, &r->error);
  if (r->status == VYRE_OK)
    r->status = vyre_buffer_new(r->rt, ELEMENTS * sizeof(uint32_t), &r->buffer, &r->error);
}

static void *rank_main(void *context) {
  rank *r = context;
  hub_mine = (hub_rank){.h = r->h, .rank = r->number};
  begin(r);
  if (r->status == VYRE_OK) r->calls(r);
  vyre_runtime_free(r->rt);
  return NULL;
}

static void run_text(rank ranks[RANKS], void (*calls)(rank *r), const char *text) {
  hub h;
  vyre_program *p = parse(text);
  hub_init(&h, RANKS);
  for (uint32_t n = 0; n < RANKS; n++) {
    ranks[n] = (rank){.h = &h, .number = n, .calls = calls, .program = p};
    assert_int_equal(pthread_create(&ranks[n].thread, NULL, rank_main, &ranks[n]), 0);
  }
  for (uint32_t n = 0; n < RANKS; n++) pthread_join(ranks[n].thread, NULL);
  hub_fini(&h);
  vyre_program_release(p);
}

static void run(rank ranks[RANKS], void (*calls)(rank *r)) {
  run_text(ranks, calls,
           "program p(v: u32)\nbuffer o: u32[64] readwrite\n"
           "region r grid(64) { o[global_id.x] = o[global_id.x] + v }\n");
}

// Parts need what their neighbours have.
static void run_stencil(rank ranks[RANKS], void (*calls)(rank *r)) {
  run_text(ranks, calls,
           "program s(v: u32)\nbuffer a: u32[64] read\nbuffer b: u32[64] readwrite\n"
           "region r grid(64) { b[global_id.x] = a[global_id.x - 1] + a[global_id.x + 1] + v }\n");
}

static vyre_status step(rank *r, bool is_back, uint32_t value) {
  vyre_scalar params[] = {{VYRE_U32, value}};
  vyre_buffer *handles[] = {is_back ? r->other : r->buffer, is_back ? r->buffer : r->other};
  vyre_dispatch_args args = {
      .params = params, .param_count = 1, .handles = handles, .buffer_count = 2, .threads = 1};
  return vyre_kernel_dispatch(r->kernel, &args, NULL, &r->error);
}

// Plans of both ways and both numbers are there afterwards.
static void step_often(rank *r) {
  r->status = vyre_buffer_new(r->rt, ELEMENTS * sizeof(uint32_t), &r->other, &r->error);
  for (uint32_t n = 0; n < 12 && r->status == VYRE_OK; n++)
    r->status = step(r, n % 2, n % 3 ? 7 : 8);
}

static void expect_all(const rank ranks[RANKS], const char *text) {
  for (uint32_t n = 0; n < RANKS; n++) {
    assert_int_not_equal(ranks[n].status, VYRE_OK);
    if (!strstr(ranks[n].error.message, text)) fail_msg("rank %u: %s", n, ranks[n].error.message);
  }
}

static void call_with_other_numbers(rank *r) {
  r->status = dispatch(r, r->buffer, r->number == 2 ? 8 : 7);
}

static void numbers_that_differ_are_told(void **state) {
  (void)state;
  rank ranks[RANKS];
  run(ranks, call_with_other_numbers);
  expect_all(ranks, "rank 2 makes another call");
}

static void call_another(rank *r) {
  uint32_t number;
  r->status = r->number == 1 ? vyre_buffer_read(r->buffer, 0, &number, sizeof number, &r->error)
                             : vyre_buffer_write(r->buffer, 0, NULL, 0, &r->error);
}

static void calls_that_differ_are_told(void **state) {
  (void)state;
  rank ranks[RANKS];
  run(ranks, call_another);
  expect_all(ranks, "rank 1 makes another call");
}

static void allocate_another(rank *r) {
  vyre_buffer *b = NULL;
  r->status = vyre_buffer_new(r->rt, r->number == 1 ? 8 : 16, &b, &r->error);
}

static void sizes_that_differ_are_told(void **state) {
  (void)state;
  rank ranks[RANKS];
  run(ranks, allocate_another);
  expect_all(ranks, "rank 1 makes another call");
}

// A rank passes no buffer; after that all of them do.
static void call_wrongly_then_right(rank *r) {
  uint32_t found[ELEMENTS] = {0};
  vyre_status wrong = dispatch(r, r->number == 1 ? NULL : r->buffer, 7);
  const char *text = r->number == 1 ? "is not one of the cluster" : "rank 1 cannot make this call";
  bool is_told = wrong != VYRE_OK && strstr(r->error.message, text);
  r->status = is_told ? dispatch(r, r->buffer, 7) : VYRE_ERROR_LIMIT;
  if (r->status == VYRE_OK)
    r->status = vyre_buffer_read(r->buffer, 0, found, sizeof found, &r->error);
  for (uint32_t i = 0; i < ELEMENTS && r->status == VYRE_OK; i++)
    if (found[i] != 7) r->status = VYRE_ERROR_LIMIT;
}

static void a_rank_that_cannot_call_stops_all_once(void **state) {
  (void)state;
  rank ranks[RANKS];
  run(ranks, call_wrongly_then_right);
  for (uint32_t n = 0; n < RANKS; n++)
    if (ranks[n].status != VYRE_OK) fail_msg("rank %u: %s", n, ranks[n].error.message);
}

static void use_the_buffer_of_another(rank *r) {
  vyre_runtime *other = NULL;
  vyre_buffer *b = NULL;
  vyre_runtime_options options = {.backend = "ref"};
  r->status = clustered_runtime_new(&hub_transport, 0, &options, &split_all, &other, &r->error);
  if (r->status == VYRE_OK)
    r->status = vyre_buffer_new(other, ELEMENTS * sizeof(uint32_t), &b, &r->error);
  if (r->status == VYRE_OK) r->status = dispatch(r, b, 7);
  vyre_runtime_free(other);
}

static void buffers_of_another_cluster_are_refused(void **state) {
  (void)state;
  rank ranks[RANKS];
  run(ranks, use_the_buffer_of_another);
  expect_all(ranks, "is not one of the cluster");
}

static void read_all(rank *r) {
  uint32_t found[ELEMENTS];
  if (r->status == VYRE_OK)
    r->status = vyre_buffer_read(r->buffer, 0, found, sizeof found, &r->error);
}

static void replay_other_numbers(rank *r) {
  step_often(r);
  if (r->status == VYRE_OK) r->status = step(r, false, r->number == 2 ? 8 : 7);
  read_all(r);
}

static void numbers_of_a_replayed_dispatch_are_told(void **state) {
  (void)state;
  rank ranks[RANKS];
  run_stencil(ranks, replay_other_numbers);
  expect_all(ranks, "rank 2 makes another call than rank 0");
  expect_all(ranks, "dispatches `s`; on rank 0 `v` is 7, on rank 2 `v` is 8");
}

static void replay_for_long(rank *r) {
  step_often(r);
  for (uint32_t n = 0; n < 600 && r->status == VYRE_OK; n++)
    r->status = step(r, n % 2, n == 300 && r->number == 2 ? 8 : 7);
}

static void replayed_dispatches_are_compared_now_and_then(void **state) {
  (void)state;
  rank ranks[RANKS];
  run_stencil(ranks, replay_for_long);
  expect_all(ranks, "rank 2 makes another call than rank 0");
}

static void replay_other_buffers(rank *r) {
  step_often(r);
  if (r->status == VYRE_OK) r->status = step(r, r->number == 1, 7);
  read_all(r);
}

static void buffers_of_a_replayed_dispatch_are_told(void **state) {
  (void)state;
  rank ranks[RANKS];
  run_stencil(ranks, replay_other_buffers);
  expect_all(ranks, "on rank 1 `a` is buffer 1"); // beside rank 0 or rank 2
}

// Ranks 0 and 2 wait for what rank 1 does not send, and rank 1 waits for them.
static void read_while_others_replay(rank *r) {
  step_often(r);
  for (uint32_t n = 0; n < 2 && r->status == VYRE_OK && r->number != 1; n++)
    r->status = step(r, n % 2, 7);
  read_all(r);
}

static void ranks_that_wait_for_each_other_are_told(void **state) {
  (void)state;
  rank ranks[RANKS];
  run_stencil(ranks, read_while_others_replay);
  expect_all(ranks, "makes another call than rank");
  expect_all(ranks, "rank 1 reads from buffer 0");
}

static void end_while_others_replay(rank *r) {
  step_often(r);
  for (uint32_t n = 0; n < 2 && r->status == VYRE_OK && r->number != 1; n++)
    r->status = step(r, n % 2, 7);
}

static void a_rank_that_ends_early_is_told(void **state) {
  (void)state;
  rank ranks[RANKS];
  run_stencil(ranks, end_while_others_replay);
  for (uint32_t n = 0; n < RANKS; n += 2) {
    assert_int_not_equal(ranks[n].status, VYRE_OK);
    if (!strstr(ranks[n].error.message, "rank 1 ends its runtime"))
      fail_msg("rank %u: %s", n, ranks[n].error.message);
  }
}

// The others have made the dispatch: nothing can be taken back.
static void call_wrongly_while_others_replay(rank *r) {
  step_often(r);
  if (r->status == VYRE_OK && r->number == 1) {
    vyre_buffer *kept = r->other;
    r->other = NULL;
    r->status = step(r, false, 7);
    r->other = kept;
  } else if (r->status == VYRE_OK) {
    r->status = step(r, false, 7);
    read_all(r);
  }
}

static void a_rank_that_cannot_replay_ends_all(void **state) {
  (void)state;
  rank ranks[RANKS];
  run_stencil(ranks, call_wrongly_while_others_replay);
  assert_non_null(strstr(ranks[1].error.message, "is not one of the cluster"));
  for (uint32_t n = 0; n < RANKS; n += 2)
    if (!strstr(ranks[n].error.message, "rank 1 cannot do what it was called for"))
      fail_msg("rank %u: %s", n, ranks[n].error.message);
}

// In address space alone; a machine that does not give that much has nothing to decline.
static void use_a_buffer_that_is_too_long(rank *r) {
  vyre_buffer *b = NULL;
  r->status = vyre_buffer_new(r->rt, (size_t)UINT32_MAX + 1, &b, &r->error);
  if (r->status != VYRE_OK) return;
  vyre_dispatch_args args = {.handles = &b, .buffer_count = 1, .threads = 1};
  r->status = vyre_kernel_dispatch(r->kernel, &args, NULL, &r->error);
}

static void more_elements_than_32_bits_count_are_declined(void **state) {
  (void)state;
  rank ranks[RANKS];
  run_text(ranks, use_a_buffer_that_is_too_long,
           "program g()\nbuffer a: u8[] readwrite\nregion r grid(64) { a[global_id.x] = 1 }\n");
  for (uint32_t n = 0; n < RANKS; n++)
    if (ranks[n].status == VYRE_ERROR_MEMORY) skip(); // the others are told that it cannot call
  expect_all(ranks, "4294967296 elements");
}

// ---- what is said of a difference
// ----------------------------------------------------------------

static const vyre_program *find_program(const void *context, uint32_t kernel) {
  return kernel == 3 ? context : NULL; // any other one is gone
}

static void expect_said(const calls *a, const calls *b, const vyre_program *p,
                        const char *expected) {
  char text[400];
  calls_difference(4, &a->said, 7, &b->said, find_program, p, text, sizeof text);
  assert_string_equal(text, expected);
  assert_int_equal(calls_compare(a, &b->said), CALLS_DIFFER);
  assert_int_equal(calls_compare(b, &a->said), CALLS_DIFFER);
}

// A call of each kind after two that are alike.
static void add_call(calls *c, int kind, uint64_t fact) {
  *c = (calls){0};
  calls_add(c, CALL_ALLOCATE, 1, (uint64_t[]){64}, 1);
  calls_add(c, CALL_READ, 1, NULL, 0);
  calls_add(c, (call_kind)kind, 2, &fact, 1);
}

static void calls_are_said_in_words(void **state) {
  (void)state;
  static const struct {
    int kind;
    uint64_t fact;
    const char *text;
  } rows[] = {
      {CALL_LOAD, 0x123456789abcdef0, "loads program 9abcdef0"},
      {CALL_ALLOCATE, UINT64_MAX, "makes a buffer of 18446744073709551615 bytes"},
      {CALL_WRITE, 0, "writes to buffer 2"},
      {CALL_READ, 0, "reads from buffer 2"},
      {CALL_DISPATCH, 0, "dispatches `a kernel that is gone`"},
      {CALL_END, 0, "ends its runtime"},
  };
  enum { KINDS = sizeof rows / sizeof *rows };
  for (int i = 0; i < KINDS; i++) {
    int k = (i + 1) % KINDS;
    calls a, b;
    char expected[400];
    add_call(&a, rows[i].kind, rows[i].fact);
    add_call(&b, rows[k].kind, rows[k].fact);
    snprintf(expected, sizeof expected, "in call 3 rank 4 %s, rank 7 %s", rows[i].text,
             rows[k].text);
    expect_said(&a, &b, NULL, expected);
    b = (calls){0};
    calls_add(&b, CALL_ALLOCATE, 1, (uint64_t[]){64}, 1);
    calls_add(&b, CALL_READ, 1, NULL, 0);
    assert_int_equal(calls_compare(&a, &b.said), CALLS_SAME); // it may follow
    char text[400];
    calls_difference(4, &a.said, 7, &b.said, find_program, NULL, text, sizeof text);
    snprintf(expected, sizeof expected, "in call 3 rank 4 %s, rank 7 made no call", rows[i].text);
    assert_string_equal(text, expected);
    calls_add_wrong(&b, (call_kind)rows[i].kind, 2);
    if (rows[i].fact) continue;
    snprintf(expected, sizeof expected, "in call 3 rank 4 %s, rank 7 %s%s", rows[i].text,
             rows[i].kind == CALL_END ? "" : "cannot do what it was called for, and ",
             rows[i].text);
    expect_said(&a, &b, NULL, expected);
    calls_take_back(&b);
    assert_int_equal(calls_compare(&a, &b.said), CALLS_SAME);
  }
}

static uint64_t bits_f64(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static void facts_of_dispatches_are_said_by_name(void **state) {
  (void)state;
  vyre_program *p = parse("program p(u: u64, i: i32, f: f32, d: f64)\n"
                          "buffer a: u32[64] read\n"
                          "transient t: u32[64]\n"
                          "buffer b: u32[64] readwrite\n"
                          "region first grid(64) { t[global_id.x] = a[global_id.x] }\n"
                          "region second grid(64) { b[global_id.x] = t[global_id.x] }\n");
  static const char *says[] = {"`u` is 18446744073709551615, on rank 7 `u` is 1",
                               "`i` is -2, on rank 7 `i` is 2",
                               "`f` is 0.5, on rank 7 `f` is -1.5",
                               "`d` is 0.10000000000000001, on rank 7 `d` is -0.25",
                               "`a` is buffer 5, on rank 7 `a` is buffer 6",
                               "`b` is buffer 8, on rank 7 `b` is buffer 9"};
  const uint64_t one[] = {UINT64_MAX, (uint64_t)-2, 0x3f000000, bits_f64(0.1), 5, 8};
  const uint64_t other[] = {1, 2, 0xbfc00000, bits_f64(-0.25), 6, 9};
  enum { FACTS = sizeof one / sizeof *one };
  for (uint32_t k = 0; k < FACTS; k++) {
    uint64_t facts[FACTS];
    char expected[400];
    calls a = {0}, b = {0};
    memcpy(facts, one, sizeof facts);
    facts[k] = other[k];
    calls_add(&a, CALL_DISPATCH, 3, one, FACTS);
    calls_add(&b, CALL_DISPATCH, 3, facts, FACTS);
    snprintf(expected, sizeof expected, "call 1 dispatches `p`; on rank 4 %s", says[k]);
    expect_said(&a, &b, p, expected);
  }
  calls a = {0}, b = {0}; // another kernel is another call, whatever its numbers
  calls_add(&a, CALL_DISPATCH, 3, one, FACTS);
  calls_add(&b, CALL_DISPATCH, 2, other, FACTS);
  expect_said(&a, &b, p,
              "in call 1 rank 4 dispatches `p`, rank 7 dispatches `a kernel that is gone`");
  b = (calls){0}; // as is one with fewer
  calls_add(&b, CALL_DISPATCH, 3, one, FACTS - 1);
  expect_said(&a, &b, p, "in call 1 rank 4 dispatches `p`, rank 7 dispatches `p`");
  uint64_t many[CALLS_FACTS + 2] = {0}, last[CALLS_FACTS + 2] = {0};
  last[CALLS_FACTS] = 1; // it is known to differ, but not how
  a = b = (calls){0};
  calls_add(&a, CALL_DISPATCH, 3, many, CALLS_FACTS + 2);
  calls_add(&b, CALL_DISPATCH, 3, last, CALLS_FACTS + 2);
  expect_said(&a, &b, p, "in call 1 rank 4 dispatches `p`, rank 7 dispatches `p`");
  vyre_program_release(p);
}

// The first difference is found among those that are kept; hashes go further back than words.
static void what_is_remembered_has_an_end(void **state) {
  (void)state;
  static calls a, b;
  char text[400];
  for (uint64_t n = 1; n < 7 + CALLS_KEPT; n++) {
    calls_add(&a, CALL_ALLOCATE, 1, &n, 1);
    uint64_t other = n < 7 ? n : n + 100;
    calls_add(&b, CALL_ALLOCATE, 1, &other, 1);
    assert_int_equal(calls_compare(&a, &b.said), n < 7 ? CALLS_SAME : CALLS_DIFFER);
    if (n < 7) continue;
    calls_difference(0, &a.said, 1, &b.said, find_program, NULL, text, sizeof text);
    assert_string_equal(text,
                        "in call 7 rank 0 makes a buffer of 7 bytes, rank 1 makes a buffer of "
                        "107 bytes");
  }
  // One that is far behind cannot be compared with, but can compare.
  static calls early, late;
  for (uint64_t n = 1; n <= 40; n++) {
    calls_add(&late, CALL_ALLOCATE, 1, &n, 1);
    if (n <= 40 - CALLS_KEPT) calls_add(&early, CALL_ALLOCATE, 1, &n, 1);
  }
  assert_int_equal(calls_compare(&early, &late.said), CALLS_UNKNOWN);
  assert_int_equal(calls_compare(&late, &early.said), CALLS_SAME);
  calls_add(&early, CALL_ALLOCATE, 1, (uint64_t[]){40 - CALLS_KEPT + 1}, 1);
  assert_int_equal(calls_compare(&early, &late.said), CALLS_SAME);
  calls_take_back(&early);
  calls_add_wrong(&early, CALL_ALLOCATE, 1);
  assert_int_equal(calls_compare(&early, &late.said), CALLS_DIFFER);
  assert_int_equal(calls_compare(&late, &early.said), CALLS_DIFFER);
  for (uint64_t n = 41; n < 40 - CALLS_KEPT + 1 + CALLS_HISTORIES; n++)
    calls_add(&late, CALL_ALLOCATE, 1, &n, 1);
  assert_int_equal(calls_compare(&late, &early.said), CALLS_DIFFER);
  calls_add(&late, CALL_ALLOCATE, 1, (uint64_t[]){1}, 1);
  assert_int_equal(calls_compare(&late, &early.said), CALLS_SAME); // further than hashes go
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_that_differ_are_told),
      cmocka_unit_test(calls_that_differ_are_told),
      cmocka_unit_test(sizes_that_differ_are_told),
      cmocka_unit_test(a_rank_that_cannot_call_stops_all_once),
      cmocka_unit_test(buffers_of_another_cluster_are_refused),
      cmocka_unit_test(numbers_of_a_replayed_dispatch_are_told),
      cmocka_unit_test(replayed_dispatches_are_compared_now_and_then),
      cmocka_unit_test(buffers_of_a_replayed_dispatch_are_told),
      cmocka_unit_test(ranks_that_wait_for_each_other_are_told),
      cmocka_unit_test(a_rank_that_ends_early_is_told),
      cmocka_unit_test(a_rank_that_cannot_replay_ends_all),
      cmocka_unit_test(more_elements_than_32_bits_count_are_declined),
      cmocka_unit_test(calls_are_said_in_words),
      cmocka_unit_test(facts_of_dispatches_are_said_by_name),
      cmocka_unit_test(what_is_remembered_has_an_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
