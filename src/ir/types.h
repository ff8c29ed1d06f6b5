// SPDX-License-Identifier: MIT
//
// Facts about the scalar types and the rows of ops.def, as tables. Constant data: any thread.
#ifndef VYRE_IR_TYPES_H
#define VYRE_IR_TYPES_H

#include <vyre/vyre.h>

// How an operation's operands relate to its result; ops.def names one per row.
typedef enum op_rule {
  RULE_NONE,       // no operands that have types, no result
  RULE_ARITH,      // same numeric type throughout
  RULE_INT,        // same integer type throughout
  RULE_BITS,       // same integer type or bool throughout
  RULE_FLOAT,      // same float type throughout
  RULE_EQUALITY,   // two of any one type, gives bool
  RULE_ORDER,      // two of one numeric type, gives bool
  RULE_SELECT,     // bool, T, T gives T
  RULE_CONVERT,    // any type to the operation's type
  RULE_BITCAST,    // same width, neither is bool, to the operation's type
  RULE_COPY,       // T gives T
  RULE_PARAM,      // the parameter's type
  RULE_LEN,        // u32
  RULE_AXIS,       // u32
  RULE_LOAD,       // index; gives the element type
  RULE_STORE,      // index, element
  RULE_ATOMIC,     // index, elements of 32 or 64 bits; gives the element type
  RULE_VAR,        // T; declares a variable of T
  RULE_GET,        // the variable's type
  RULE_SET,        // the variable's type
  RULE_ARRAY,      // the operation's type is the element type
  RULE_COND,       // bool
  RULE_FOR,        // same integer type: lo, hi, step; gives it
  RULE_FLAG,       // no operands; gives bool
  RULE_WORD,       // u32 operands; gives u32
  RULE_STORE_WORD, // u32 operands
} op_rule;

// For switches that treat these alike, or have nothing to say about them. A new rule is a warning
// in every switch all the same.
// clang-format off
#define RULES_IN_ONE_TYPE RULE_ARITH: case RULE_INT: case RULE_BITS: case RULE_FLOAT
#define RULES_LAUNCH RULE_PARAM: case RULE_LEN: case RULE_AXIS
#define RULES_LOWERED RULE_FLAG: case RULE_WORD: case RULE_STORE_WORD
#define RULES_STATEMENT \
  RULE_STORE: case RULE_VAR: case RULE_SET: case RULE_ARRAY: case RULE_COND: case RULE_FOR
// clang-format on

enum {
  OPF_PURE = 1 << 0,
  OPF_COMM = 1 << 1,
  OPF_READS = 1 << 2,
  OPF_WRITES = 1 << 3,
  OPF_STMT = 1 << 4,
  OPF_OPEN = 1 << 5,
  OPF_CLOSE = 1 << 6,
  OPF_ID = 1 << 7,
  OPF_GROUP = 1 << 8,
  OPF_MATH = 1 << 9,
};

typedef struct op_info {
  const char *name;  // "add"
  const char *infix; // "+", or "" when it is written as a call
  const char *doc;
  char operands[5];      // one letter per argument slot, see ops.def
  uint8_t operand_count; // strlen(operands)
  uint8_t rule;          // op_rule
  uint16_t flags;        // OPF_*
} op_info;

// The operations of lowered programs come behind the public ones (lowered.def).
enum {
  OP_BEFORE_LOWERED = VYRE_OP_COUNT - 1,
#define FORM(op, text, precondition)
#define LOWERED(op, text, args, type_rule, bits, text_doc) OP_##op,
#include "ir/lowered.def"
  OP_COUNT
};

extern const op_info op_table[OP_COUNT];

// What an operation is called, and promised, in a lowered program; NULL when it has no such form.
typedef struct op_form {
  const char *name; // "div_nonzero"
  const char *precondition;
} op_form;

extern const op_form op_forms[OP_COUNT];

// Every slot from this one to the last is a value: only the first may be something else.
static inline int op_first_value(const op_info *op) {
  return op->operands[0] != 'v';
}

static inline bool op_is_structure(unsigned op) {
  return op >= VYRE_OP_IF && op <= VYRE_OP_BARRIER;
}
static inline bool op_is(vyre_op op, unsigned flags) {
  return (op_table[op].flags & flags) != 0;
}
static inline bool op_is_atomic(unsigned op) {
  return op >= VYRE_OP_ATOMIC_ADD && op <= VYRE_OP_ATOMIC_CAS;
}
// Bits are combined by and, or, xor.
static inline bool op_is_bit_atomic(unsigned op) {
  return op >= VYRE_OP_ATOMIC_AND && op <= VYRE_OP_ATOMIC_XOR;
}
// Of a buffer, as 32-bit words.
static inline bool op_is_word_access(unsigned op) {
  return op >= OP_LOAD_WORD && op <= OP_CAS_WORD;
}
// VYRE_OP_NONE when no operation has this name.
vyre_op op_from_name(const char *name, size_t size);

typedef struct type_info {
  const char *name;
  uint8_t bytes; // in memory
  uint8_t bits;  // of the value: 1 for bool
  bool is_int, is_signed, is_float;
  uint8_t fraction_bits; // of a float
} type_info;

extern const type_info type_table[VYRE_TYPE_COUNT];

static inline bool type_is_int(unsigned t) {
  return type_table[t].is_int;
}
static inline bool type_is_signed(unsigned t) {
  return type_table[t].is_signed;
}
static inline bool type_is_float(unsigned t) {
  return type_table[t].is_float;
}
static inline bool type_is_numeric(unsigned t) {
  return t > VYRE_BOOL && t < VYRE_TYPE_COUNT;
}
static inline bool type_is_index(unsigned t) {
  return t >= VYRE_I32 && t <= VYRE_U64;
}
static inline unsigned type_bits(unsigned t) {
  return type_table[t].bits;
}
static inline unsigned type_bytes(unsigned t) {
  return type_table[t].bytes;
}
// The unsigned integer type of the same width; other types are themselves.
static inline vyre_type type_to_unsigned(vyre_type t) {
  return type_is_int(t) && type_is_signed(t) ? (vyre_type)(t + 1) : t;
}
// Of floats.
static inline uint64_t type_sign_bit(unsigned t) {
  return (uint64_t)1 << (type_bits(t) - 1);
}
static inline unsigned type_fraction_bits(unsigned t) {
  return type_table[t].fraction_bits;
}
static inline uint64_t type_exponents(unsigned t) { // the largest, which is not a number's
  return ((uint64_t)1 << (type_bits(t) - 1 - type_fraction_bits(t))) - 1;
}
static inline uint64_t type_exponent(unsigned t, uint64_t bits) {
  return bits >> type_fraction_bits(t) & type_exponents(t);
}
static inline uint64_t type_one_bits(unsigned t) { // of any numeric type
  return type_is_float(t) ? type_exponents(t) >> 1 << type_fraction_bits(t) : 1;
}
static inline bool type_is_nan(unsigned t, uint64_t bits) {
  return type_is_float(t) && (bits & (type_sign_bit(t) - 1)) > type_exponents(t)
                                                                   << type_fraction_bits(t);
}
vyre_type type_from_name(const char *name, size_t size);

// The one representation of a value in 64 bits: unsigned and bool zero-extended, signed
// sign-extended, floats by their bits with every NaN made the quiet one.
uint64_t type_canonical_bits(vyre_type type, uint64_t bits);

#endif
