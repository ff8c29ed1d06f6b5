// SPDX-License-Identifier: MIT
//
// Mistakes in building: each is reported when the builder finishes, the first one with its own
// words, whatever is called after it, and no program comes out.
#include <vyre/vyre.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

typedef struct site { // a builder inside of a region, and what may be used there
  vyre_builder *b;
  vyre_mem x;
  vyre_value i, one;
  vyre_var v;
} site;

static site begin(void) {
  site s = {.b = vyre_builder_new("p")};
  s.x = vyre_build_buffer(s.b, "x", VYRE_U32, VYRE_READWRITE, 0);
  vyre_build_region_begin(s.b, "r");
  vyre_value grid = vyre_build_len(s.b, s.x);
  vyre_build_grid(s.b, 1, &grid, (uint32_t[3]){64, 1, 1});
  s.i = vyre_build_id(s.b, VYRE_OP_GLOBAL_ID, 0);
  s.one = vyre_build_u32(s.b, 1);
  s.v = vyre_build_var(s.b, "v", s.one);
  return s;
}

#define MISTAKE(name, code)                                                                        \
  static uint32_t name(site *s) {                                                                  \
    code;                                                                                          \
    return 0;                                                                                      \
  }
// Of a call that gives a value, a variable or memory.
#define MISTAKEN_VALUE(name, value)                                                                \
  static uint32_t name(site *s) {                                                                  \
    return value;                                                                                  \
  }
MISTAKEN_VALUE(no_type, vyre_build_const(s->b, VYRE_VOID, 1))
MISTAKEN_VALUE(type_too_large, vyre_build_const(s->b, VYRE_TYPE_COUNT, 1))
MISTAKE(value_of_nobody, vyre_build_store(s->b, s->x, 12345, s->one))
MISTAKEN_VALUE(second_of_nobody, vyre_build_binary(s->b, VYRE_OP_ADD, s->one, 12345))
MISTAKE(variable_of_nobody, vyre_build_set(s->b, 12345, s->one))
MISTAKEN_VALUE(no_variable, vyre_build_get(s->b, 0))
MISTAKEN_VALUE(memory_of_nobody, vyre_build_load(s->b, (vyre_mem){7}, s->i))
MISTAKEN_VALUE(wrong_count, vyre_build_op(s->b, VYRE_OP_ADD, VYRE_VOID, 1, &s->one))
MISTAKEN_VALUE(wrong_op, vyre_build_op(s->b, VYRE_OP_COUNT, VYRE_VOID, 0, NULL))
MISTAKEN_VALUE(length_of_an_array, vyre_build_len(s->b, vyre_build_array(s->b, "a", VYRE_U32, 4)))
MISTAKEN_VALUE(id_before, vyre_build_id(s->b, (vyre_op)(VYRE_OP_GLOBAL_ID - 1), 0))
MISTAKEN_VALUE(id_behind, vyre_build_id(s->b, (vyre_op)(VYRE_OP_GROUP_COUNT + 1), 0))
MISTAKEN_VALUE(atomic_before,
               vyre_build_atomic(s->b, (vyre_op)(VYRE_OP_ATOMIC_ADD - 1), s->x, s->i, s->one))
MISTAKEN_VALUE(atomic_behind, vyre_build_atomic(s->b, VYRE_OP_ATOMIC_CAS, s->x, s->i, s->one))
MISTAKEN_VALUE(buffer_in_a_region, vyre_build_buffer(s->b, "y", VYRE_U32, VYRE_READ, 0).id)
MISTAKE(region_in_a_region, vyre_build_region_begin(s->b, "s"))
MISTAKE(second_grid, vyre_build_grid(s->b, 1, &s->one, (uint32_t[3]){1, 1, 1}))
MISTAKE(between_regions, vyre_build_region_end(s->b); vyre_build_store(s->b, s->x, s->i, s->one))
MISTAKEN_VALUE(shared_between_regions,
               (vyre_build_region_end(s->b), vyre_build_shared(s->b, "a", VYRE_U32, 4).id))
MISTAKEN_VALUE(value_between_regions,
               (vyre_build_region_end(s->b), vyre_build_unary(s->b, VYRE_OP_NOT, s->i)))
MISTAKE(end_of_nothing, vyre_build_region_end(s->b); vyre_build_region_end(s->b))
MISTAKE(grid_of_nobody, vyre_build_region_end(s->b); vyre_build_region_begin(s->b, "s");
        vyre_build_grid(s->b, 1, (vyre_value[]){12345}, (uint32_t[3]){1, 1, 1}))
MISTAKE(grid_without_extents, vyre_build_region_end(s->b); vyre_build_region_begin(s->b, "s");
        vyre_build_grid(s->b, 1, NULL, (uint32_t[3]){1, 1, 1}))
MISTAKE(block_not_closed, vyre_build_if(s->b, vyre_build_bool(s->b, true)))
MISTAKE(end_of_no_block, vyre_build_end(s->b))
MISTAKE(else_without_if, vyre_build_else(s->b))
MISTAKE(do_without_while, vyre_build_do(s->b, vyre_build_bool(s->b, true)))
MISTAKE(break_outside, vyre_build_break(s->b))
MISTAKE(continue_outside, vyre_build_continue(s->b))

static void mistakes_are_reported_in_the_end(void **state) {
  (void)state;
  static const struct {
    uint32_t (*make)(site *s);
    const char *said;
  } rows[] = {
      {no_type, "no valid type"},
      {type_too_large, "no valid type"},
      {value_of_nobody, "operand 2 of `store`"},
      {second_of_nobody, "operand 2 of `add`"},
      {variable_of_nobody, "operand 1 of `set`"},
      {no_variable, "operand 1 of `get`"},
      {memory_of_nobody, "operand 1 of `load`"},
      {wrong_count, "vyre_build_op"},
      {wrong_op, "vyre_build_op"},
      {length_of_an_array, "vyre_build_len takes a buffer"},
      {id_before, "vyre_build_id takes"},
      {id_behind, "vyre_build_id takes"},
      {atomic_before, "vyre_build_atomic takes"},
      {atomic_behind, "vyre_build_atomic takes"},
      {buffer_in_a_region, "buffer `y` was declared inside a region"},
      {region_in_a_region, "region `s` was begun inside another one"},
      {second_grid, "wrong place"},
      {between_regions, "`store` was built between two regions"},
      {shared_between_regions, ""},
      {value_between_regions, "`not` was built between two regions"},
      {end_of_nothing, "wrong place"},
      {grid_of_nobody, "extent 1 of a grid"},
      {grid_without_extents, "called with NULL"},
      {block_not_closed, ""},
      {end_of_no_block, ""},
      {else_without_if, ""},
      {do_without_while, ""},
      {break_outside, ""},
      {continue_outside, ""},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    site s = begin();
    uint32_t made = rows[i].make(&s);
    if (made) fail_msg("row %zu gives %u", i, made);
    // Another one: the first is told. Nothing is made any more, once a mistake is known.
    assert_int_equal(vyre_build_binary(s.b, VYRE_OP_ADD, 99999, 99999), 0);
    assert_int_equal(vyre_build_u32(s.b, 77), 0);
    assert_int_equal(vyre_build_len(s.b, s.x), 0);
    assert_int_equal(vyre_build_load(s.b, s.x, s.i), 0);
    vyre_build_region_end(s.b);
    vyre_error error = {0};
    vyre_program *p = (vyre_program *)&error;
    vyre_status status = vyre_builder_finish(s.b, &p, &error);
    bool is_told = strstr(error.message, rows[i].said) && strstr(error.message, "Fix:");
    if (status == VYRE_OK || error.status != status || p || !is_told)
      fail_msg("row %zu: status %d: %s", i, (int)status, error.message);
    vyre_builder_free(s.b);
  }
}

static void the_last_region_must_end_and_a_builder_finishes_once(void **state) {
  (void)state;
  site s = begin();
  vyre_error error;
  vyre_program *p;
  assert_int_equal(vyre_builder_finish(s.b, &p, &error), VYRE_ERROR_ARGUMENT);
  assert_non_null(strstr(error.message, "not ended"));
  vyre_builder_free(s.b);
  s = begin();
  vyre_build_store(s.b, s.x, s.i, s.one);
  vyre_build_region_end(s.b);
  assert_int_equal(vyre_builder_finish(s.b, &p, &error), VYRE_OK);
  vyre_program_release(p);
  assert_int_equal(vyre_builder_finish(s.b, &p, &error), VYRE_ERROR_ARGUMENT);
  assert_non_null(strstr(error.message, "finished twice"));
  assert_int_equal(vyre_build_u32(s.b, 1), 0);
  vyre_builder_free(s.b);
}

// Types follow from operands; what is of no builder has none.
static void types_follow_from_operands(void **state) {
  (void)state;
  site s = begin();
  vyre_value f = vyre_build_f32(s.b, 1.5f), d = vyre_build_f64(s.b, 1.5);
  vyre_value c = vyre_build_binary(s.b, VYRE_OP_LT, f, f);
  const struct {
    vyre_value value;
    vyre_type type;
  } rows[] = {
      {f, VYRE_F32},
      {d, VYRE_F64},
      {c, VYRE_BOOL},
      {s.i, VYRE_U32},
      {vyre_build_bool(s.b, false), VYRE_BOOL},
      {vyre_build_i32(s.b, -1), VYRE_I32},
      {vyre_build_select(s.b, c, d, d), VYRE_F64},
      {vyre_build_fma(s.b, f, f, f), VYRE_F32},
      {vyre_build_convert(s.b, VYRE_I8, f), VYRE_I8},
      {vyre_build_bitcast(s.b, VYRE_U32, f), VYRE_U32},
      {vyre_build_unary(s.b, VYRE_OP_NEG, d), VYRE_F64},
      {vyre_build_load(s.b, s.x, s.i), VYRE_U32},
      {vyre_build_get(s.b, s.v), VYRE_U32},
      {vyre_build_len(s.b, s.x), VYRE_U32},
      {vyre_build_atomic(s.b, VYRE_OP_ATOMIC_ADD, s.x, s.i, s.one), VYRE_U32},
      {vyre_build_atomic_cas(s.b, s.x, s.i, s.one, s.one), VYRE_U32},
      {0, VYRE_VOID},
      {54321, VYRE_VOID},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (vyre_build_type_of(s.b, rows[i].value) != rows[i].type) fail_msg("row %zu", i);
  assert_int_equal(vyre_build_type_of(NULL, f), VYRE_VOID);
  vyre_build_region_end(s.b);
  vyre_program *p;
  vyre_error error;
  if (vyre_builder_finish(s.b, &p, &error) != VYRE_OK) fail_msg("%s", error.message);
  vyre_program_release(p);
  vyre_builder_free(s.b);
}

// Equal constants are one value, and those of different types or bits are not.
static void constants_are_shared(void **state) {
  (void)state;
  site s = begin();
  vyre_value seen[200];
  for (uint32_t i = 0; i < 200; i++) seen[i] = vyre_build_u32(s.b, i * 77);
  for (uint32_t i = 0; i < 200; i++) {
    assert_int_equal(vyre_build_u32(s.b, i * 77), seen[i]);
    for (uint32_t k = 0; k < i; k++) assert_true(seen[k] != seen[i]);
  }
  assert_true(vyre_build_i32(s.b, 77) != seen[1]);
  assert_true(vyre_build_f32(s.b, 0.0f) != vyre_build_f32(s.b, -0.0f));
  assert_int_equal(vyre_build_const(s.b, VYRE_U8, 0x1ff), vyre_build_const(s.b, VYRE_U8, 0xff));
  vyre_builder_free(s.b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mistakes_are_reported_in_the_end),
      cmocka_unit_test(the_last_region_must_end_and_a_builder_finishes_once),
      cmocka_unit_test(types_follow_from_operands),
      cmocka_unit_test(constants_are_shared),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
