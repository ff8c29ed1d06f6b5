// SPDX-License-Identifier: MIT
//
// Statistics: counts of a program whose numbers are counted by hand, and register pressure against
// a plain reading of its definition on random programs.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../raw_listing.h"
#include "../sample_programs.h"
#include "ir/stats.h"

#define START                                                                                      \
  "program p\nparam n u32\nbuffer x u32 readwrite\nconst u32 1\nconst bool 1\nconst u32 100\n"     \
  "region main 1 c0 c0 c0 64 1 1\nbody\n"

static vyre_program *listed(const char *listing) {
  char *text = strdup(listing);
  vyre_program *p = raw_parse(text);
  free(text);
  vyre_error error = {0};
  if (!p || program_freeze(p, NULL, &error) != VYRE_OK) fail_msg("%s:\n%s", error.message, listing);
  return p;
}

static void test_counts(void **state) {
  (void)state;
  vyre_program *p = listed(START "shared s f32 8\n"
                                 "op array u8 3\n"              // 1
                                 "op var u32 c0\n"              // 2
                                 "op while void\n"              // 3
                                 "op get u32 %2\n"              // 4
                                 "op lt bool %4 c0\n"           // 5
                                 "op do void %5\n"              // 6
                                 "op load u32 b0 %4\n"          // 7
                                 "op atomic_add u32 b0 %4 %7\n" // 8
                                 "op store void b0 c0 %8\n"     // 9
                                 "op if void c1\n"              // 10
                                 "op break void\n"              // 11
                                 "op else void\n"               // 12
                                 "op continue void\n"           // 13
                                 "op end void\n"                // 14
                                 "op end void\n"                // 15
                                 "op barrier void\n"            // 16
                                 "op return void\n"             // 17
                                 "region next 1 c0 c0 c0 1 1 1\n"
                                 "body\n"
                                 "op store void b0 c0 c0\n"); // 18
  vyre_stats s = vyre_program_stats(p);
  // array, var, while, atomic, store, if, break, continue, barrier, return, store; two regions
  assert_int_equal(s.node_count, 13);
  assert_int_equal(s.instruction_count, 8); // 1, 2, 4, 5, 7, 8, 9, 18
  assert_int_equal(s.memory_op_count, 3);
  assert_int_equal(s.atomic_op_count, 1);
  assert_int_equal(s.control_flow_count, 6);
  assert_int_equal(s.top_level_regions, 2);
  assert_int_equal(s.static_storage_bytes, 35);
  assert_false(p->regions[0].is_elastic);
  assert_true(p->regions[0].has_barrier);
  assert_true(p->regions[1].is_elastic);
  vyre_program_release(p);
}

static void test_peak_memory(void **state) {
  (void)state;
  // Two transient buffers that are never alive together, beside one that is bound.
  vyre_program *p = listed("program p\nbuffer x u32 read c0\nbuffer a u8 readwrite c1 transient\n"
                           "buffer b u8 readwrite c2 transient\nconst u32 10\nconst u32 100\n"
                           "const u32 300\n"
                           "region r1 1 c0 c0 c0 1 1 1\nbody\nop load u8 b1 c0\n"
                           "region r2 1 c0 c0 c0 1 1 1\nbody\nop load u8 b2 c0\n");
  assert_int_equal(vyre_program_stats(p).peak_memory_bytes, 340);
  assert_int_equal(vyre_program_peak_memory(p, (uint64_t[]){1, 7, 5}), 11);
  vyre_program_release(p);
}

// ---- register pressure --------------------------------------------------------------------------

static uint32_t end_of(const vyre_program *p, uint32_t loop) {
  return p->code[loop].arg[p->code[loop].op == VYRE_OP_FOR ? 3 : 2];
}

// The definition: a use counts where it stands, or at the end of the outermost loop around it that
// began after the value was made.
static uint32_t last_use(const vyre_program *p, range body, uint32_t value) {
  uint32_t last = p->code[value].op == VYRE_OP_FOR ? end_of(p, value) : 0;
  for (uint32_t i = value + 1; i < body.end; i++) {
    const char *operands = op_table[p->code[i].op].operands;
    for (int k = 0; operands[k]; k++) {
      if ((operands[k] != 'v' && operands[k] != 'x') || p->code[i].arg[k] != value) continue;
      uint32_t at = i;
      for (uint32_t loop = i; loop > value; loop--) {
        bool is_loop = p->code[loop].op == VYRE_OP_FOR || p->code[loop].op == VYRE_OP_WHILE;
        if (is_loop && loop < i && end_of(p, loop) > i) at = end_of(p, loop);
      }
      if (at > last) last = at;
    }
  }
  return last;
}

static uint64_t pressure(const vyre_program *p, range body) {
  uint64_t most = 0;
  for (uint32_t i = body.first; i < body.end; i++) {
    uint64_t live = 0;
    for (uint32_t v = body.first; v <= i; v++) live += last_use(p, body, v) >= i;
    if (live > most) most = live;
  }
  return most;
}

static void assert_pressure(const vyre_program *p) {
  uint64_t most = 0;
  for (uint32_t r = 0; r < p->region_count; r++) {
    uint64_t here = pressure(p, p->regions[r].body);
    if (here > most) most = here;
  }
  assert_int_equal(p->stats.register_pressure, most);
}

static void test_register_pressure(void **state) {
  (void)state;
  static const struct {
    const char *body;
    uint64_t pressure;
  } cases[] = {
      {START, 0},
      {START "op param u32 0\n", 0}, // used by nobody
      {START "op param u32 0\nop param u32 0\nop add u32 %1 %2\nop store void b0 c0 %3\n", 3},
      // A value from before a loop is needed until its last iteration.
      {START "op param u32 0\nop for u32 c0 c2 c0\nop copy u32 %1\nop store void b0 c0 %3\n"
             "op param u32 0\nop store void b0 c0 %5\nop end void\n",
       3},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    vyre_program *p = listed(cases[i].body);
    assert_int_equal(p->stats.register_pressure, cases[i].pressure);
    assert_pressure(p);
    vyre_program_release(p);
  }
  vyre_error error;
  for (uint64_t seed = 1; seed <= 100; seed++) {
    vyre_program *p = sample_random(seed, 10, &error);
    assert_non_null(p);
    assert_pressure(p);
    vyre_program_release(p);
  }
  vyre_program *p = sample_structure(&error);
  assert_pressure(p);
  vyre_program_release(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_counts),
      cmocka_unit_test(test_peak_memory),
      cmocka_unit_test(test_register_pressure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
