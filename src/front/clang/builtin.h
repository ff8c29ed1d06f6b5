// SPDX-License-Identifier: MIT
//
// The built-in functions of OpenCL C. One table (builtins.def) says which function does each: EACH
// rows work on the scalars of their operands lane by lane, WHOLE rows on whole values.
#ifndef VYRE_FRONT_CLANG_BUILTIN_H
#define VYRE_FRONT_CLANG_BUILTIN_H

#include "front/clang/lower.h"

enum { MOST_OPERANDS = 64 };

// Kinds of products of four 8-bit integers: of vectors, or packed into one of 32 bits.
enum { DOT_SATURATES = 1, DOT_PACKED = 2, DOT_SIGNED_X = 4, DOT_SIGNED_Y = 8 };

// Beside the operation of functions that a workgroup has, too: who does it, and whether the numbers
// are only true or false.
enum { OF_SUBGROUP = 1 << 12, OF_CLUSTER = 1 << 13, OF_TRUTH = 1 << 14 };
enum { SUBGROUP_SIZE = 32 }; // of a kernel that does not say it

typedef enum subgroup_facts {
  SUBGROUP_COUNT,
  SUBGROUP_LARGEST,
  SUBGROUP_LENGTH,
  SUBGROUP_ID,
  SUBGROUP_LOCAL_ID,
} subgroup_facts;

typedef enum subgroup_masks { MASK_EQ, MASK_GE, MASK_GT, MASK_LE, MASK_LT } subgroup_masks;
typedef enum subgroup_counts { COUNT_ALL, COUNT_UP_TO, COUNT_BELOW } subgroup_counts;
typedef enum subgroup_moves {
  MOVE_TO,
  MOVE_XOR,
  MOVE_UP,
  MOVE_DOWN,
  MOVE_ROUND,
  MOVE_IN_CLUSTER,
} subgroup_moves;

// `x` are the operands of one lane; `what` is the row's number, for functions that serve several.
typedef ref each_function(lowering *l, const ref *x, int what);
typedef value whole_function(lowering *l, node *n, const value *args, int what);

typedef struct builtin_row {
  const char *name;
  each_function *each;
  whole_function *whole;
  int what;
  uint8_t least, most; // operands
  bool has_effect;
} builtin_row;

extern const builtin_row builtin_rows[];
extern const uint32_t builtin_row_count;

// Declares the functions of all rows.
#define EACH(name, function, what, operands)             each_function function;
#define WHOLE(name, function, what, least, most, effect) whole_function function;
#include "front/clang/builtins.def"

// Shared between the files of builtins.
ref group_linear_id(lowering *l, vyre_type type); // of the invocation in its workgroup
ref each_ldexp(lowering *l, const ref *x, int what);
ref e_is_nan(lowering *l, ref x);
ref e_sign_bit(lowering *l, ref x); // whether it is set
ref e_infinity(lowering *l, vyre_type type);
ref e_clamp(lowering *l, ref x, ref lo, ref hi);
value name_conversion(lowering *l, node *n, const value *args); // convert_int4_sat_rte
bool name_is_conversion(const char *name);
value name_vload(lowering *l, node *n, const value *args, bool *found); // vload4, vstore_half...

#endif
