// SPDX-License-Identifier: MIT
//
// The types of OpenCL C as the lowering needs them: unqualified, with clang's layout, and taken
// apart into leaves, which are the scalars and pointers that a value of the type consists of. Types
// are made once per unit, so that equal types are equal pointers, and live as long as the unit.
#ifndef VYRE_FRONT_CLANG_TYPES_H
#define VYRE_FRONT_CLANG_TYPES_H

#include "front/clang/unit.h"

typedef enum type_kind {
  T_VOID,
  T_SCALAR, // also enums and samplers
  T_VECTOR,
  T_POINTER,
  T_ARRAY,
  T_STRUCT,
  T_UNION,
  T_FUNCTION, //
  T_EVENT,    // of async copies, which are finished when the call returns
  T_IMAGE,    // an argument of the kernel, or what stands for it in a function
  T_OTHER,    // pipes, blocks and the like: refused where they are used
} type_kind;

typedef enum addr_space {
  SPACE_PRIVATE,
  SPACE_GLOBAL,
  SPACE_LOCAL,
  SPACE_CONSTANT,
  SPACE_GENERIC
} addr_space;

typedef struct ctype ctype;

typedef struct field {
  const char *name;
  const ctype *type;
  uint64_t offset; // bytes
} field;

typedef struct leaf {
  uint64_t offset;    // bytes
  const ctype *type;  // T_SCALAR or T_POINTER
  const char *suffix; // ".x", "_2": what is added to the name of an object
} leaf;

struct ctype {
  type_kind kind;
  vyre_type scalar;     // T_SCALAR, and of the elements of T_VECTOR
  bool is_sampler;      // T_SCALAR: the bits that CLK_... give, a constant
  uint8_t axes;         // T_IMAGE: of one layer, 1 to 3
  bool is_layered;      // T_IMAGE: an array of images
  bool is_depth;        // T_IMAGE: its pixels are numbers
  addr_space space;     // T_POINTER: of what is pointed to
  bool is_const;        // T_POINTER: to const
  uint32_t count;       // T_VECTOR lanes, T_ARRAY elements
  const ctype *element; // T_VECTOR, T_POINTER, T_ARRAY
  uint64_t size, align; // bytes; 0 for void and functions
  field *fields;        // T_STRUCT, T_UNION
  uint32_t field_count;
  const char *spelling;
  const leaf *leaves; // of aggregates made on demand: type_leaves
  uint32_t leaf_count;
  const void *key; // clang's
};

const ctype *type_of(unit *u, CXType type, uint32_t offset);
const char *type_field_name(unit *u, CXCursor field); // "" when it has none
const ctype *type_scalar(unit *u, vyre_type scalar);
const ctype *type_vector(unit *u, const ctype *element, uint32_t lanes);
const ctype *type_pointer(unit *u, const ctype *to, addr_space space, bool is_const);
// The number of leaves is in type->leaf_count afterwards. A union has one leaf per word that its
// alignment allows.
const leaf *type_leaves(unit *u, const ctype *type, uint32_t offset);

bool type_is_arithmetic(const ctype *type); // scalar or vector
static inline bool type_is_aggregate(const ctype *type) {
  return type->kind == T_STRUCT || type->kind == T_UNION || type->kind == T_ARRAY;
}
// Of what a pointer points to: void counts as bytes.
static inline uint64_t type_stride(const ctype *type) {
  return type->kind == T_VOID ? 1 : type->size;
}
addr_space space_of_number(unsigned number); // clang's, of the spir target
// The integer promotions and the usual arithmetic conversions on scalar types.
vyre_type type_promote(vyre_type scalar);
vyre_type type_common(vyre_type a, vyre_type b);
vyre_type type_unsigned(unsigned bytes); // u8 to u64
vyre_type type_signed(unsigned bytes);

#endif
