// SPDX-License-Identifier: MIT
//
// The table of mathematical functions and the pass that expands them.
#include "ir/math.h"

#include "base/error.h"
#include "ir/math_build.h"

#include <stdlib.h>

static const mathb FORMATS[2] = {
    {.t = VYRE_F32,
     .u = VYRE_U32,
     .i = VYRE_I32,
     .width = 32,
     .mantissa = 23,
     .one_bits = 0x3f800000,
     .sign_bit = 0x80000000,
     .min_normal = 0x1p-126,
     .magic = 0x1.8p23},
    {.t = VYRE_F64,
     .u = VYRE_U64,
     .i = VYRE_I64,
     .width = 64,
     .mantissa = 52,
     .one_bits = 0x3ff0000000000000,
     .sign_bit = 0x8000000000000000,
     .min_normal = 0x1p-1022,
     .magic = 0x1.8p52},
};

typedef struct recipe {
  ref (*unary)(const mathb *m, ref x);
  ref (*binary)(const mathb *m, ref x, ref y);
} recipe;

static const recipe RECIPES[VYRE_OP_COUNT] = {
    [VYRE_OP_EXP] = {math_build_exp, NULL},     [VYRE_OP_EXP2] = {math_build_exp2, NULL},
    [VYRE_OP_EXPM1] = {math_build_expm1, NULL}, [VYRE_OP_LOG] = {math_build_log, NULL},
    [VYRE_OP_LOG2] = {math_build_log2, NULL},   [VYRE_OP_LOG10] = {math_build_log10, NULL},
    [VYRE_OP_LOG1P] = {math_build_log1p, NULL}, [VYRE_OP_SIN] = {math_build_sin, NULL},
    [VYRE_OP_COS] = {math_build_cos, NULL},     [VYRE_OP_TAN] = {math_build_tan, NULL},
    [VYRE_OP_ASIN] = {math_build_asin, NULL},   [VYRE_OP_ACOS] = {math_build_acos, NULL},
    [VYRE_OP_ATAN] = {math_build_atan, NULL},   [VYRE_OP_ATAN2] = {NULL, math_build_atan2},
    [VYRE_OP_SINH] = {math_build_sinh, NULL},   [VYRE_OP_COSH] = {math_build_cosh, NULL},
    [VYRE_OP_TANH] = {math_build_tanh, NULL},   [VYRE_OP_POW] = {NULL, math_build_pow},
    [VYRE_OP_CBRT] = {math_build_cbrt, NULL},   [VYRE_OP_HYPOT] = {NULL, math_build_hypot},
    [VYRE_OP_FMOD] = {NULL, math_build_fmod},   [VYRE_OP_RSQRT] = {math_build_rsqrt, NULL},
};

// Builds the expansion of one operation at the builder's position; `y` is ignored by functions of
// one argument. The operands have type `t`, a float.
static ref math_build(vyre_builder *b, vyre_op op, vyre_type t, ref x, ref y) {
  const recipe *r = &RECIPES[op];
  if (!r->unary && !r->binary) VYRE_BUG("math", "`%s` has no expansion", op_table[op].name);
  if (!type_is_float(t)) {
    builder_fail(b, VYRE_ERROR_ARGUMENT,
                 "`%s` was expanded for a type that is no float. Fix: verify the program first",
                 op_table[op].name);
    return 0;
  }
  // That of f16 is that of f32, rounded.
  bool is_half = t == VYRE_F16;
  if (is_half) x = vyre_build_convert(b, VYRE_F32, x);
  if (is_half && y) y = vyre_build_convert(b, VYRE_F32, y);
  mathb m = FORMATS[t == VYRE_F64];
  m.b = b;
  ref made = r->unary ? r->unary(&m, x) : r->binary(&m, x, y);
  return is_half ? vyre_build_convert(b, VYRE_F16, made) : made;
}

static bool has_math(const vyre_program *p) {
  for (uint32_t i = 1; i < p->code_count; i++)
    if (op_is((vyre_op)p->code[i].op, OPF_MATH)) return true;
  return false;
}

static void expand_inst(vyre_builder *b, const vyre_program *from, uint32_t i, ref *map,
                        uint32_t shared_shift) {
  const inst *in = &from->code[i];
  if (!op_is((vyre_op)in->op, OPF_MATH)) {
    builder_copy_inst(b, from, i, map, shared_shift);
    return;
  }
  if (from->places && from->places[i].offset) builder_at(b, from->places[i].offset - 1);
  ref x = builder_map_ref(b, from, in->arg[0], map);
  bool is_binary = op_table[in->op].operand_count == 2;
  ref y = is_binary ? builder_map_ref(b, from, in->arg[1], map) : 0;
  map[i] = math_build(b, (vyre_op)in->op, (vyre_type)in->type, x, y);
  if (from->names && from->names[i]) vyre_build_name(b, map[i], from->names[i]);
}

static void expand_region(vyre_builder *b, const vyre_program *from, const region *r, ref *map) {
  vyre_build_region_begin(b, r->name);
  for (uint32_t i = r->grid_code.first; i < r->grid_code.end; i++)
    builder_copy_inst(b, from, i, map, 0);
  ref grid[3];
  for (int i = 0; i < 3; i++) grid[i] = builder_map_ref(b, from, r->grid[i], map);
  vyre_build_grid(b, r->rank, grid, r->workgroup);
  for (uint32_t i = r->shared.first; i < r->shared.end; i++)
    vyre_build_shared(b, from->shared[i].name, from->shared[i].type, from->shared[i].length);
  for (uint32_t i = r->body.first; i < r->body.end; i++) expand_inst(b, from, i, map, 0);
  vyre_build_region_end(b);
}

vyre_status math_expand(const vyre_program *program, vyre_program **out, vyre_error *error) {
  *out = NULL;
  if (!has_math(program)) {
    *out = vyre_program_retain((vyre_program *)program); // the count is the only part that changes
    return VYRE_OK;
  }
  vyre_builder *b = vyre_builder_new(program->name);
  ref *map = calloc(program->code_count, sizeof *map);
  if (!b || !map) {
    free(map);
    vyre_builder_free(b);
    return error_out_of_memory(error);
  }
  builder_copy_interface(b, program);
  for (uint32_t i = 0; i < program->region_count; i++)
    expand_region(b, program, &program->regions[i], map);
  vyre_status status = vyre_builder_finish(b, out, error);
  vyre_builder_free(b);
  free(map);
  return status;
}

static mathb fast_in(vyre_builder *b) {
  mathb m = FORMATS[0];
  m.b = b;
  return m;
}

ref math_fast_rsqrt(vyre_builder *b, ref x) {
  mathb m = fast_in(b);
  return math_build_fast_rsqrt(&m, x);
}

ref math_fast_exp(vyre_builder *b, ref x) {
  mathb m = fast_in(b);
  return math_build_fast_exp(&m, x);
}

ref math_fast_log(vyre_builder *b, ref x) {
  mathb m = fast_in(b);
  return math_build_fast_log(&m, x);
}
