// SPDX-License-Identifier: MIT
//
// Ways to share work out that change who computes what, and never the bits: parts by weight, halos
// of any depth, what needs no message first. Decisions from what ranks measured.
#include "../parsed_program.h"
#include "../thread_transport.h"

#include "cluster/balance.h"
#include "runtime/clustered.h"

enum { MOST_RANKS = 4, WIDTH = 8, HEIGHT = 32, COUNT = WIDTH * HEIGHT, TURNS = 7 };

typedef struct rank {
  hub *h;
  uint32_t number;
  vyre_program *program;
  const cluster_options *how;
  uint32_t found[2][COUNT];
  char *explained[TURNS];
  vyre_status status;
  vyre_error error;
  pthread_t thread;
} rank;

static void *rank_main(void *context) {
  rank *r = context;
  vyre_runtime *rt = NULL;
  vyre_kernel *k = NULL;
  vyre_buffer *b[2] = {0};
  vyre_runtime_options options = {.backend = "ref"};
  uint32_t first[COUNT];
  hub_mine = (hub_rank){.h = r->h, .rank = r->number};
  for (uint32_t i = 0; i < COUNT; i++) first[i] = i * 2654435761u;
  r->status = clustered_runtime_new(&hub_transport, 0, &options, r->how, &rt, &r->error);
  if (r->status == VYRE_OK) r->status = vyre_runtime_load(rt, r->program, &k, &r->error);
  for (int i = 0; i < 2 && r->status == VYRE_OK; i++) {
    r->status = vyre_buffer_new(rt, sizeof first, &b[i], &r->error);
    if (r->status == VYRE_OK)
      r->status = vyre_buffer_write(b[i], 0, first, r->number ? 0 : sizeof first, &r->error);
  }
  for (int n = 0; n < TURNS && r->status == VYRE_OK; n++) {
    vyre_buffer *handles[] = {b[n % 2], b[1 - n % 2]};
    vyre_dispatch_args args = {.handles = handles, .buffer_count = 2, .threads = 1};
    r->status = vyre_kernel_dispatch(k, &args, NULL, &r->error);
    if (r->status == VYRE_OK) vyre_kernel_explain(k, &r->explained[n], NULL);
  }
  for (int i = 0; i < 2 && r->status == VYRE_OK; i++)
    r->status = vyre_buffer_read(b[i], 0, r->found[i], sizeof first, &r->error);
  vyre_runtime_free(rt);
  return NULL;
}

// Every rank reads what one rank reads; `ranks` keeps what they said.
static void compare(const char *text, uint32_t count, const cluster_options *how, rank *ranks) {
  vyre_program *p = parse(text);
  static rank alone;
  hub h;
  for (uint32_t n = 0; n <= count; n++) {
    rank *r = n < count ? &ranks[n] : &alone;
    *r = (rank){.h = &h, .number = n < count ? n : 0, .program = p, .how = how};
  }
  hub_init(&h, 1);
  rank_main(&alone);
  hub_fini(&h);
  if (alone.status != VYRE_OK) fail_msg("%s", alone.error.message);
  hub_init(&h, count);
  for (uint32_t n = 0; n < count; n++)
    assert_int_equal(pthread_create(&ranks[n].thread, NULL, rank_main, &ranks[n]), 0);
  for (uint32_t n = 0; n < count; n++) pthread_join(ranks[n].thread, NULL);
  hub_fini(&h);
  for (uint32_t n = 0; n < count; n++) {
    if (ranks[n].status != VYRE_OK) fail_msg("rank %u: %s", n, ranks[n].error.message);
    assert_memory_equal(ranks[n].found, alone.found, sizeof alone.found);
  }
  for (int n = 0; n < TURNS; n++) vyre_free(alone.explained[n]);
  vyre_program_release(p);
}

static bool has_said(const rank *r, int turn, const char *text) {
  return r->explained[turn] && strstr(r->explained[turn], text);
}

static void forget(rank *ranks, uint32_t count) {
  for (uint32_t n = 0; n < count; n++)
    for (int i = 0; i < TURNS; i++) vyre_free(ranks[n].explained[i]);
}

static const char stencil[] = "program s()\nbuffer a: u32[256] read\nbuffer b: u32[256] readwrite\n"
                              "region r grid(8, 32) {\n  let i = global_id.y * 8 + global_id.x\n"
                              "  b[i] = a[i] * 3 + a[i - 8] + a[i + 8] + a[i - 1] + a[i + 1]\n}\n";

// A halo of three rows serves three dispatches: parts overlap by two rows, then by one, then not.
static void deep_halos_travel_less_often(void **state) {
  (void)state;
  static rank ranks[MOST_RANKS];
  cluster_options how = {.split_least = 1, .depth = 3, .keeps_shares = true};
  compare(stencil, 2, &how, ranks);
  static const char *const said[] = {"overlap by 2", "overlap by 1", "here\n"};
  for (int n = 0; n < TURNS; n++)
    if (!has_said(&ranks[0], n, said[n % 3])) fail_msg("turn %d: %s", n, ranks[0].explained[n]);
  forget(ranks, 2);
}

static void any_shares_depths_and_orders_give_the_same_bits(void **state) {
  (void)state;
  static rank ranks[MOST_RANKS];
  static const uint32_t weights[MOST_RANKS] = {7, 1, 300, 40};
  for (uint32_t depth = 1; depth < 5; depth++)
    for (uint32_t count = 2; count <= MOST_RANKS; count++) {
      cluster_options how = {.split_least = 1,
                             .depth = depth,
                             .weights = count % 2 ? weights : NULL,
                             .keeps_shares = true,
                             .interior = depth % 2 ? INTERIOR_FIRST : INTERIOR_LAST};
      compare(stencil, count, &how, ranks);
      forget(ranks, count);
    }
}

// What the middle of the part does not wait for.
static void the_interior_runs_first(void **state) {
  (void)state;
  static rank ranks[MOST_RANKS];
  cluster_options how = {.split_least = 1, .depth = 1, .interior = INTERIOR_FIRST};
  compare(stencil, 3, &how, ranks);
  assert_true(has_said(&ranks[1], 2, "what needs no message first"));
  forget(ranks, 3);
}

// Which of four elements an invocation writes is not known: a part that goes on into another by one
// row may write what the rest of that one writes, so that parts must not overlap.
static void what_others_may_write_is_not_computed_twice(void **state) {
  (void)state;
  static rank ranks[MOST_RANKS];
  cluster_options how = {.split_least = 1, .depth = 2, .keeps_shares = true};
  compare(
      "program w()\nbuffer a: u32[256] read\nbuffer b: u32[256] readwrite\n"
      "region r grid(256) {\n  let x = global_id.x\n"
      "  let turn = min(u32(a[x] != 0) * 3, 3)\n"
      "  b[(x / 4) * 4 + min((x % 4) ^ (a[256] & 3), 3)] = a[x] + a[x - 1] + a[x + 1] + turn\n}\n",
      2, &how, ranks);
  for (int n = 0; n < TURNS; n++) {
    if (!has_said(&ranks[0], n, "split along x")) fail_msg("%s", ranks[0].explained[n]);
    assert_false(has_said(&ranks[0], n, "overlap"));
  }
  forget(ranks, 2);
}

static void shares_follow_speed(void **state) {
  (void)state;
  balance_said all[3] = {{.whole_ns = 1000000}, {.whole_ns = 3000000}, {.whole_ns = 0}};
  uint32_t weights[3] = {1, 1, 1};
  assert_true(balance_weights(all, 2, 0.05, weights));
  assert_int_equal(weights[0], BALANCE_MOST);
  assert_in_range(weights[1], BALANCE_MOST / 3 - 1, BALANCE_MOST / 3 + 1);
  assert_false(balance_weights(all, 2, 0.05, weights)); // nothing more to gain
  weights[0] = weights[1] = weights[2] = 1;
  assert_true(balance_weights(all, 3, 0.05, weights)); // one that ran nothing counts as usual
  assert_in_range(weights[2], BALANCE_MOST / 3, BALANCE_MOST);
  balance_said none[2] = {{0}, {0}};
  assert_false(balance_weights(none, 2, 0.05, weights));
  balance_said slow[2] = {{.whole_ns = 1000000}, {.whole_ns = UINT64_MAX}};
  uint32_t two[2] = {1, 1};
  assert_true(balance_weights(slow, 2, 0.05, two));
  assert_in_range(two[1], BALANCE_MOST / 200, BALANCE_MOST / 50); // it is measured again
}

static void depth_follows_the_time_of_messages(void **state) {
  (void)state;
  balance_travel seen = {0};
  balance_said hidden = {
      .busy_ns = 150000, .travel_ns = 100000, .travels = 1, .dispatches = 1, .rows = 512};
  assert_int_equal(balance_depth(&hidden, 1, 1, &seen), 1); // less than what runs meanwhile
  balance_said slow = hidden;
  slow.travel_ns = 600000;
  seen = (balance_travel){0};
  uint32_t depth = balance_depth(&slow, 1, 1, &seen);
  assert_in_range(depth, 8, 32);
  balance_said deep = slow; // all of it is bytes: it takes as many times as long
  deep.travel_ns = 600000 * (uint64_t)depth;
  assert_int_equal(balance_depth(&deep, 1, depth, &seen), 1);
  // Of three depths the oldest is forgotten: messages of the other two lie on a flat line.
  seen = (balance_travel){{4, 8}, {1, 600000}};
  slow.travel_ns = 600000;
  (void)balance_depth(&slow, 1, 16, &seen);
  assert_int_equal(seen.depth[0], 8);
  assert_int_equal(seen.depth[1], 16);
  assert_true(seen.ns[0] == 600000 && seen.ns[1] == 600000);
  (void)balance_depth(&slow, 1, 8, &seen); // a depth that is known gets the newer time
  slow.travel_ns = 500000;
  (void)balance_depth(&slow, 1, 8, &seen);
  assert_int_equal(seen.depth[0], 8);
  assert_int_equal(seen.depth[1], 16);
  assert_true(seen.ns[0] == 500000 && seen.ns[1] == 600000);
  // A message that took longer when it was shorter says nothing of others.
  seen = (balance_travel){{1, 2}, {6000000, 3000000}};
  slow.travel_ns = 3000000;
  assert_int_equal(balance_depth(&slow, 1, 2, &seen), 32);
  seen = (balance_travel){{1, 2}, {1000000, 3000000}}; // and here it does: back to the shorter
  assert_int_equal(balance_depth(&slow, 1, 2, &seen), 1);
  slow.travel_ns = 600000;
  // What no rank knows anything of stays as it is.
  balance_said unknown[] = {slow, slow, slow};
  unknown[0].dispatches = 0;
  unknown[1].rows = 0;
  unknown[2].travels = 0;
  for (int k = 0; k < 3; k++)
    assert_int_equal(balance_depth(&unknown[k], 1, 5, &(balance_travel){0}), 5);
  slow.rows = 7; // parts are too thin
  assert_int_equal(balance_depth(&slow, 1, 1, &(balance_travel){0}), 1);
  slow.rows = 8;
  assert_int_equal(balance_depth(&slow, 1, 1, &(balance_travel){0}), 2);
  slow.rows = 4;
  assert_int_equal(balance_depth(&slow, 1, 1, &(balance_travel){0}), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(deep_halos_travel_less_often),
      cmocka_unit_test(any_shares_depths_and_orders_give_the_same_bits),
      cmocka_unit_test(the_interior_runs_first),
      cmocka_unit_test(what_others_may_write_is_not_computed_twice),
      cmocka_unit_test(shares_follow_speed),
      cmocka_unit_test(depth_follows_the_time_of_messages),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
