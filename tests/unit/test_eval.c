// SPDX-License-Identifier: MIT
//
// What operations mean, against literals: every row of op_edges.txt, the trip counts of loops, and
// that the table leaves out no operation. Backends are compared with ref elsewhere; this is what
// ref is compared with.
#include "ir/eval.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct edge { // a row of the table
  vyre_op op;
  vyre_type result, operand;
  uint64_t args[3], want;
  bool wants_nan;
} edge;

// Stored bits have the width of their type; values travel with their sign extended.
static uint64_t travelling(vyre_type type, uint64_t bits) {
  return type_is_float(type) ? bits : type_canonical_bits(type, bits);
}

static edge read_edge(char *line) {
  edge e = {0};
  char *words[8] = {0};
  int count = 0;
  for (char *word = strtok(line, " \n"); word && count < 8; word = strtok(NULL, " \n"))
    words[count++] = word;
  assert_true(count >= 6);
  e.op = op_from_name(words[0], strlen(words[0]));
  if (e.op == VYRE_OP_NONE) fail_msg("no operation %s", words[0]);
  e.result = vyre_type_from_name(words[1]);
  e.operand = vyre_type_from_name(words[2]);
  assert_int_equal(count, 5 + strlen(op_table[e.op].operands));
  assert_string_equal(words[count - 2], "=");
  for (int i = 3; i < count - 2; i++) {
    bool is_condition = e.op == VYRE_OP_SELECT && i == 3;
    e.args[i - 3] = travelling(is_condition ? VYRE_BOOL : e.operand, strtoull(words[i], NULL, 16));
  }
  e.wants_nan = !strcmp(words[count - 1], "nan");
  if (!e.wants_nan) e.want = travelling(e.result, strtoull(words[count - 1], NULL, 16));
  return e;
}

static bool is_nan(vyre_type type, uint64_t bits) {
  return type == VYRE_F32 ? (bits & 0x7fffffff) > 0x7f800000
                          : (bits & ~(UINT64_C(1) << 63)) > UINT64_C(0x7ff0000000000000);
}

static void operations_mean_what_the_table_says(void **state) {
  (void)state;
  bool seen[VYRE_OP_COUNT] = {0};
  FILE *f = fopen(VYRE_SOURCE_DIR "/tests/unit/op_edges.txt", "r");
  assert_non_null(f);
  char line[200], copy[200];
  int wrong = 0;
  while (fgets(line, sizeof line, f)) {
    if (*line == '#') continue;
    strcpy(copy, line);
    edge e = read_edge(line);
    seen[e.op] = true;
    uint64_t got = eval_op(e.op, e.result, e.operand, e.args);
    bool ok = e.wants_nan ? is_nan(e.result, got) : got == e.want;
    if (ok) continue;
    wrong++;
    print_error("got %llx: %s", (unsigned long long)got, copy);
  }
  fclose(f);
  assert_int_equal(wrong, 0);
  for (int op = 0; op < VYRE_OP_COUNT; op++)
    if (seen[op] != eval_can((vyre_op)op)) fail_msg("%s is not in the table", op_table[op].name);
}

static void trip_counts_reach_the_ends_of_their_types(void **state) {
  (void)state;
  static const struct {
    vyre_type type;
    int64_t lo, hi, step;
    uint64_t want;
  } rows[] = {
      {VYRE_U32, 0, 0, 1, 0},
      {VYRE_U32, 5, 4, 1, 0},
      {VYRE_U32, 0, 1, 1, 1},
      {VYRE_U32, 0, 10, 3, 4},
      {VYRE_U32, 1, 10, 3, 3},
      {VYRE_U32, 0, 9, 10, 1},
      {VYRE_U32, 0, UINT32_MAX, 1, UINT32_MAX},
      {VYRE_I32, -1, 1, 1, 2},
      {VYRE_I32, 1, -1, 1, 0},
      {VYRE_I32, -5, -5, 1, 0},
      {VYRE_I32, INT32_MIN, INT32_MAX, 1, UINT32_MAX},
      {VYRE_I64, INT64_MIN, INT64_MAX, 1, UINT64_MAX},
      {VYRE_I64, INT64_MIN, INT64_MAX, 2, UINT64_C(1) << 63},
      {VYRE_U64, 0, -1, 1, UINT64_MAX},
      {VYRE_U64, -2, 1, 1, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    assert_int_equal(eval_trip_count(rows[i].type, (uint64_t)rows[i].lo, (uint64_t)rows[i].hi,
                                     (uint64_t)rows[i].step),
                     rows[i].want);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(operations_mean_what_the_table_says),
      cmocka_unit_test(trip_counts_reach_the_ends_of_their_types),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
