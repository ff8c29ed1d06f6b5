// SPDX-License-Identifier: MIT
//
// Ranks that are called otherwise than the others, or that cannot make a call: every rank gets an
// error, none waits for ever, and where nothing has begun they go on.
#include "../parsed_program.h"
#include "../thread_transport.h"

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
  if (ranks[0].status == VYRE_ERROR_MEMORY) skip();
  expect_all(ranks, "4294967296 elements");
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
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
