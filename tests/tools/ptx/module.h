// SPDX-License-Identifier: MIT
//
// What a PTX text is read into. Private to the evaluator.
#ifndef VYRE_TESTS_PTX_MODULE_H
#define VYRE_TESTS_PTX_MODULE_H

#include "ptx.h"

typedef enum ptx_kind { KIND_NONE, KIND_PRED, KIND_B, KIND_U, KIND_S, KIND_F } ptx_kind;

typedef struct ptx_type {
  uint8_t kind, bits; // a predicate has 1
} ptx_type;

// OP(name): every instruction that is known.
// clang-format off
#define PTX_OPS(OP) \
  OP(mov) OP(ld) OP(st) OP(cvt) OP(cvta) OP(add) OP(sub) OP(mul) OP(mad) OP(fma) OP(div) \
  OP(rem) OP(addc) OP(subc) OP(neg) OP(abs) OP(min) OP(max) OP(sqrt) OP(rcp) OP(copysign) \
  OP(and) OP(or) OP(xor) OP(not) OP(shl) OP(shr) OP(shf) OP(prmt) OP(bfe) OP(bfi) OP(popc) \
  OP(clz) OP(brev) OP(bfind) OP(setp) OP(selp) OP(bra) OP(ret) OP(exit) OP(bar) OP(atom) \
  OP(red) OP(membar) OP(fence)
// clang-format on

typedef enum ptx_op {
#define OP(name) PTX_##name,
  PTX_OPS(OP)
#undef OP
      PTX_OP_COUNT
} ptx_op;

typedef enum ptx_space {
  SPACE_ANY,
  SPACE_PARAM,
  SPACE_GLOBAL,
  SPACE_SHARED,
  SPACE_LOCAL
} ptx_space;

typedef enum ptx_round {
  ROUND_NONE,
  ROUND_RN,
  ROUND_RZ,
  ROUND_RM,
  ROUND_RP,
  ROUND_RNI,
  ROUND_RZI,
  ROUND_RMI,
  ROUND_RPI
} ptx_round;

typedef enum ptx_compare {
  CMP_NONE,
  CMP_EQ,
  CMP_NE,
  CMP_LT,
  CMP_LE,
  CMP_GT,
  CMP_GE,
  CMP_EQU, // these: true where one is NaN
  CMP_NEU,
  CMP_LTU,
  CMP_LEU,
  CMP_GTU,
  CMP_GEU,
  CMP_NUM,
  CMP_NAN
} ptx_compare;

typedef enum ptx_mode { MODE_NONE, MODE_LO, MODE_HI, MODE_WIDE } ptx_mode;

typedef enum ptx_atomic {
  ATOMIC_NONE,
  ATOMIC_ADD,
  ATOMIC_MIN,
  ATOMIC_MAX,
  ATOMIC_AND,
  ATOMIC_OR,
  ATOMIC_XOR,
  ATOMIC_EXCH,
  ATOMIC_CAS
} ptx_atomic;

typedef enum operand_kind {
  OPERAND_NONE,
  OPERAND_REG,
  OPERAND_VALUE,   // a number, or the address of a variable
  OPERAND_SPECIAL, // number of ptx_special
  OPERAND_ADDRESS, // register `reg` (NO_REG: none) plus `value`
  OPERAND_VECTOR,
  OPERAND_LABEL,
} operand_kind;

typedef enum ptx_special {
  SPECIAL_TID, // and .y, .z behind it, as with the others
  SPECIAL_NTID = 3,
  SPECIAL_CTAID = 6,
  SPECIAL_NCTAID = 9,
  SPECIAL_COUNT = 12
} ptx_special;

#define NO_REG UINT32_MAX
enum { MOST_OPERANDS = 5 };

typedef struct ptx_operand {
  uint8_t kind, count; // of `parts`
  bool is_not;         // a predicate that is turned round
  uint32_t reg;
  uint64_t value;
  uint32_t parts[4]; // registers of a vector
} ptx_operand;

typedef struct ptx_inst {
  uint8_t op, space, round, compare, mode, atomic;
  bool is_left;        // of shf
  bool is_clamped;     // of shf
  bool sets_carry;     // .cc
  bool is_to;          // of cvta
  ptx_type type, from; // what it gives, and what it takes where that is another
  uint32_t guard;      // register; NO_REG: none
  bool guard_is_not;
  uint8_t operand_count;
  ptx_operand operand[MOST_OPERANDS];
  uint32_t line;
} ptx_inst;

typedef struct ptx_param {
  char *name;
  uint32_t bytes, offset;
} ptx_param;

struct ptx_kernel {
  char *name;
  ptx_param *params;
  uint32_t param_count, param_bytes;
  uint32_t most[3]; // .maxntid
  ptx_inst *code;
  uint32_t code_count;
  ptx_type *regs; // as they are declared
  uint32_t reg_count;
  uint32_t local_bytes, shared_bytes; // with FIRST_ADDRESS in front
};

struct ptx_module {
  ptx_kernel *kernels;
  uint32_t kernel_count;
};

// Addresses in shared and local memory begin here, so that 0 is none of them; as generic addresses
// they are in windows that no host memory is in.
enum { FIRST_ADDRESS = 16, OPEN_ADDRESS = 1 << 24 }; // of shared memory that the launch gives
#define SHARED_WINDOW UINT64_C(0xf100000000000000)
#define LOCAL_WINDOW  UINT64_C(0xf200000000000000)
#define WINDOW_MASK   UINT64_C(0xff00000000000000)

// compute.c: the value of an instruction that has no memory in it. False: the reason is in *why.
// add, addc, sub, subc of integers with the carry that threads have; `*carry` is 0 or 1.
uint64_t ptx_carry(const ptx_inst *in, uint64_t x, uint64_t y, uint64_t *carry);
bool ptx_compute(const ptx_inst *in, const uint64_t args[MOST_OPERANDS], uint64_t *out,
                 const char **why);
uint64_t ptx_combine(const ptx_inst *in, uint64_t old, uint64_t x, uint64_t y); // of an atomic
uint64_t ptx_extend(ptx_type type, uint64_t bits); // from the type's width to 64 bits

#endif
