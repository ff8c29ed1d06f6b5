// SPDX-License-Identifier: MIT
#include "front/clang/builtin.h"

#include <string.h>

const builtin_row builtin_rows[] = {
#define EACH(name, function, what, operands)                                                       \
  {name, function, NULL, what, operands, operands, false},
#define WHOLE(name, function, what, least, most, effect)                                           \
  {name, NULL, function, what, least, most, effect},
#include "front/clang/builtins.def"
};
const uint32_t builtin_row_count = sizeof builtin_rows / sizeof *builtin_rows;

static bool starts_with(const char *text, const char *start) {
  return !strncmp(text, start, strlen(start));
}

static const builtin_row *find_row(const char *name);

// clang's own name of a function of numbers, which C has with an f behind it for float.
static const builtin_row *find_builtin(const char *name) {
  char plain[32];
  size_t size = strlen(name);
  if (size >= sizeof plain || starts_with(name, "native_") || starts_with(name, "half_"))
    return NULL;
  memcpy(plain, name, size + 1);
  const builtin_row *row = find_row(plain);
  if (!row && size && plain[size - 1] == 'f') {
    plain[size - 1] = 0;
    row = find_row(plain);
  }
  return row && row->each ? row : NULL;
}

static const builtin_row *find_row(const char *name) {
  for (uint32_t i = 0; i < builtin_row_count; i++)
    if (!strcmp(builtin_rows[i].name, name)) return &builtin_rows[i];
  if (starts_with(name, "native_")) return find_row(name + 7);
  if (starts_with(name, "half_")) return find_row(name + 5);
  if (starts_with(name, "intel_sub_group_")) return find_row(name + 6);
  if (starts_with(name, "__builtin_")) return find_builtin(name + 10);
  return NULL;
}

bool builtin_is_pure(const char *name) {
  if (name_is_conversion(name) || starts_with(name, "vload")) return true;
  const builtin_row *row = find_row(name);
  return row && !row->has_effect;
}

_Noreturn static void refuse(lowering *l, const node *n) {
  if (n->is_declared)
    unit_fail(l->u, VYRE_ERROR_UNSUPPORTED, n->offset,
              "the function `%s` is declared and not defined. Fix: define it in this source, or "
              "include the file that does",
              n->name);
  const char *fix = "use a function of docs/OPENCL.md, or write it out";
  if (strstr(n->name, "image"))
    fix = "use the functions of images of docs/OPENCL.md; there are no levels and no samples";
  else if (strstr(n->name, "pipe"))
    fix = "pass the data in a buffer";
  else if (strstr(n->name, "sub_group") || starts_with(n->name, "work_group_"))
    fix = "use local memory and barrier";
  unit_fail(l->u, VYRE_ERROR_UNSUPPORTED, n->offset, "the function `%s` is not supported. Fix: %s",
            n->name, fix);
}

// ---- half ---------------------------------------------------------------------------------------

// What is one operation of the IR, picks one of its operands or looks at the format is done in
// half; all else is computed in float and rounded once.
static bool is_done_in_half(const builtin_row *row) {
  static each_function *const each[] = {
      each_op,  each_bitselect, each_nextafter, each_class, each_copysign,      each_signbit,
      each_min, each_max,       each_clamp,     each_fmin,  each_fmax,          each_maxmag,
      each_nan, each_sign,      each_step,      each_fdim,  each_islessgreater, each_isordered};
  static whole_function *const computes[] = {
      geometric_dot,       geometric_cross, geometric_length, geometric_distance,
      geometric_normalize, with_fract,      with_modf,        with_frexp,
      with_sincos,         with_remquo,     with_lgamma_r,    image_write};
  for (size_t i = 0; row->each && i < sizeof each / sizeof *each; i++)
    if (row->each == each[i]) return true;
  for (size_t i = 0; row->whole && i < sizeof computes / sizeof *computes; i++)
    if (row->whole == computes[i]) return false;
  return row->whole != NULL;
}

static value widened_half(lowering *l, value v) {
  if (!type_is_arithmetic(v.type) || v.type->scalar != VYRE_F16) return v;
  const ctype *wide = type_scalar(l->u, VYRE_F32);
  if (v.type->kind == T_VECTOR) wide = type_vector(l->u, wide, v.type->count);
  return value_convert(l, v, wide, NO_PLACE);
}

// ---- calls --------------------------------------------------------------------------------------

static value whole(lowering *l, node *n, const value *args, const builtin_row *row) {
  value v = row->whole(l, n, args, row->what);
  if (!type_is_arithmetic(n->type) || n->type->scalar != VYRE_F16) return v;
  value made = value_new(l, n->type, n->offset);
  for (uint32_t i = 0; i < n->type->leaf_count; i++)
    made.at[i].v = e_convert(l, VYRE_F16, v.at[i].v);
  return made;
}

// Lane by lane; an operand that is a number is the same in all lanes.
static value each(lowering *l, node *n, const value *args, const builtin_row *row) {
  value made = value_new(l, n->type, n->offset);
  for (uint32_t lane = 0; lane < n->type->leaf_count; lane++) {
    ref x[MOST_OPERANDS];
    for (uint32_t i = 0; i < n->count; i++)
      x[i] = args[i].at[args[i].type->kind == T_VECTOR ? lane : 0].v;
    ref r = row->each(l, x, row->what);
    made.at[lane].v = n->type->kind == T_VECTOR ? value_lane(l, n->type->scalar, r)
                                                : e_convert(l, n->type->scalar, r);
  }
  return made;
}

// Its operands are not evaluated, or by itself.
static bool is_unevaluated(const builtin_row *row) {
  return row->whole == special_number || row->whole == no_effect || row->whole == print_call;
}

value builtin(lowering *l, node *n) {
  const builtin_row *row = find_row(n->name);
  bool is_conversion = !row && name_is_conversion(n->name);
  bool is_vload = !row && (starts_with(n->name, "vload") || starts_with(n->name, "vstore"));
  if (!row && !is_conversion && !is_vload) refuse(l, n);
  value args[MOST_OPERANDS] = {{0}};
  if (n->count > MOST_OPERANDS || (row && (n->count < row->least || n->count > row->most)))
    refuse(l, n);
  for (uint32_t i = 0; i < n->count; i++) {
    if (row && is_unevaluated(row)) continue;
    args[i] = rvalue(l, n->kid[i]);
    if (row && row->each && !type_is_arithmetic(args[i].type)) refuse(l, n);
    if (row && !is_done_in_half(row)) args[i] = widened_half(l, args[i]);
  }
  if (is_conversion) return name_conversion(l, n, args);
  if (is_vload) {
    bool found = true;
    value v = name_vload(l, n, args, &found);
    if (!found) refuse(l, n);
    return v;
  }
  return row->each ? each(l, n, args, row) : whole(l, n, args, row);
}

// ---- hints to a compiler -----------------------------------------------------------------------

// Its operands are not evaluated.
value no_effect(lowering *l, node *n, const value *args, int what) {
  (void)args, (void)what;
  return value_new(l, n->type, n->offset);
}

value first_operand(lowering *l, node *n, const value *args, int what) {
  (void)what;
  return value_convert(l, args[0], n->type, n->offset);
}

// ---- work items ---------------------------------------------------------------------------------

// The axis must be a constant: the rank of the grid follows from it.
static bool constant_axis(lowering *l, const value *args, uint64_t *axis) {
  return e_is_const(l, args[0].at[0].v, axis);
}

static ref widened(lowering *l, ref x, const ctype *type) {
  return e_convert(l, type->scalar, x);
}

// Where the global ids of an axis begin; 0 when that is zero.
static ref offset_of_axis(lowering *l, uint64_t axis, const ctype *type) {
  if (axis >= l->rank && l->options->has_offset_params) return 0;
  if (l->options->has_offset_params)
    return widened(l, vyre_build_param_value(l->b, l->offset_params[axis]), type);
  uint64_t shift = axis < 3 ? l->options->global_offset[axis] : 0;
  return shift ? e_const(l, type->scalar, shift) : 0;
}

static ref id_of_axis(lowering *l, vyre_op op, uint32_t axis, const ctype *type) {
  ref x = widened(l, vyre_build_id(l->b, op, axis), type);
  ref shift = op == VYRE_OP_GLOBAL_ID ? offset_of_axis(l, axis, type) : 0;
  return shift ? e_binary(l, VYRE_OP_ADD, x, shift) : x;
}

static void need_rank(lowering *l, uint64_t axis) {
  if (!l->options->rank && axis < 3 && axis + 1 > l->rank) {
    if (learn(l)) l->rank = (uint32_t)axis + 1;
  }
}

static bool is_size(int what) {
  return what == VYRE_OP_GLOBAL_SIZE || what == VYRE_OP_LOCAL_SIZE || what == VYRE_OP_GROUP_COUNT;
}

value item_id(lowering *l, node *n, const value *args, int what) {
  uint64_t axis;
  ref past = e_const(l, n->type->scalar, is_size(what) ? 1 : 0);
  if (constant_axis(l, args, &axis)) {
    if (axis > 2) return value_scalar(l, past);
    need_rank(l, axis);
    return value_scalar(l, id_of_axis(l, (vyre_op)what, (uint32_t)axis, n->type));
  }
  need_rank(l, 2);
  ref made = past;
  for (uint32_t i = 3; i > 0; i--) {
    ref one = id_of_axis(l, (vyre_op)what, i - 1, n->type);
    ref number = e_const(l, e_type(l, args[0].at[0].v), i - 1);
    made = e_select(l, e_binary(l, VYRE_OP_EQ, args[0].at[0].v, number), one, made);
  }
  return value_scalar(l, made);
}

value item_offset(lowering *l, node *n, const value *args, int what) {
  (void)what;
  uint64_t axis;
  ref none = e_zero(l, n->type->scalar), made = none;
  if (constant_axis(l, args, &axis)) {
    ref shift = offset_of_axis(l, axis, n->type);
    return value_scalar(l, shift ? shift : none);
  }
  for (uint32_t i = 0; i < 3; i++) {
    ref one = offset_of_axis(l, i, n->type);
    ref number = e_const(l, e_type(l, args[0].at[0].v), i);
    if (one) made = e_select(l, e_binary(l, VYRE_OP_EQ, args[0].at[0].v, number), one, made);
  }
  return value_scalar(l, made);
}

value item_rank(lowering *l, node *n, const value *args, int what) {
  (void)args, (void)what;
  return value_scalar(l, e_const(l, n->type->scalar, l->rank));
}

value item_linear(lowering *l, node *n, const value *args, int what) {
  (void)args;
  vyre_op size = what == VYRE_OP_GLOBAL_ID ? VYRE_OP_GLOBAL_SIZE : VYRE_OP_LOCAL_SIZE;
  ref made = widened(l, vyre_build_id(l->b, (vyre_op)what, l->rank - 1), n->type);
  for (uint32_t i = l->rank - 1; i > 0; i--) {
    ref extent = widened(l, vyre_build_id(l->b, size, i - 1), n->type);
    made = e_binary(l, VYRE_OP_MUL, made, extent);
    made = e_binary(l, VYRE_OP_ADD, made,
                    widened(l, vyre_build_id(l->b, (vyre_op)what, i - 1), n->type));
  }
  return value_scalar(l, made);
}

bool builtin_local_size(lowering *l, const node *call, uint64_t *size) {
  const builtin_row *row = find_row(call->name);
  if (!row || row->whole != item_id || row->what != VYRE_OP_LOCAL_SIZE || call->count != 1)
    return false;
  const node *axis = ast_skip_casts(call->kid[0]);
  if (axis->kind != N_INT || axis->bits > 2) return false;
  *size = l->workgroup[axis->bits];
  return true;
}
