// SPDX-License-Identifier: MIT
#include "ir/types.h"

#include <string.h>

#define PURE   OPF_PURE
#define COMM   OPF_COMM
#define READS  OPF_READS
#define WRITES OPF_WRITES
#define STMT   OPF_STMT
#define OPEN   OPF_OPEN
#define CLOSE  OPF_CLOSE
#define ID     OPF_ID
#define GROUP  OPF_GROUP
#define MATH   OPF_MATH

const op_info op_table[OP_COUNT] = {
    [VYRE_OP_NONE] = {.name = "none", .infix = "", .operands = "", .doc = ""},
#define OP(op, text, sign, args, type_rule, bits, text_doc)                                        \
  [VYRE_OP_##op] = {.name = text,                                                                  \
                    .infix = sign,                                                                 \
                    .operands = args,                                                              \
                    .doc = text_doc,                                                               \
                    .operand_count = sizeof args - 1,                                              \
                    .rule = RULE_##type_rule,                                                      \
                    .flags = bits},
#include <vyre/ops.def>
#define FORM(op, text, precondition)
#define LOWERED(op, text, args, type_rule, bits, text_doc)                                         \
  [OP_##op] = {.name = text,                                                                       \
               .infix = "",                                                                        \
               .operands = args,                                                                   \
               .doc = text_doc,                                                                    \
               .operand_count = sizeof args - 1,                                                   \
               .rule = RULE_##type_rule,                                                           \
               .flags = bits},
#include "ir/lowered.def"
};

const op_form op_forms[OP_COUNT] = {
#define FORM(op, text, condition) [VYRE_OP_##op] = {.name = text, .precondition = condition},
#define LOWERED(op, text, args, type_rule, bits, text_doc)                                         \
  [OP_##op] = {.name = text, .precondition = text_doc},
#include "ir/lowered.def"
};

vyre_op op_from_name(const char *name, size_t size) {
  for (int op = 1; op < VYRE_OP_COUNT; op++)
    if (!strncmp(op_table[op].name, name, size) && !op_table[op].name[size]) return (vyre_op)op;
  return VYRE_OP_NONE;
}

const type_info type_table[VYRE_TYPE_COUNT] = {
    [VYRE_VOID] = {"void", 0, 0, false, false, false, 0},
    [VYRE_BOOL] = {"bool", 1, 1, false, false, false, 0},
    [VYRE_I8] = {"i8", 1, 8, true, true, false, 0},
    [VYRE_U8] = {"u8", 1, 8, true, false, false, 0},
    [VYRE_I16] = {"i16", 2, 16, true, true, false, 0},
    [VYRE_U16] = {"u16", 2, 16, true, false, false, 0},
    [VYRE_I32] = {"i32", 4, 32, true, true, false, 0},
    [VYRE_U32] = {"u32", 4, 32, true, false, false, 0},
    [VYRE_I64] = {"i64", 8, 64, true, true, false, 0},
    [VYRE_U64] = {"u64", 8, 64, true, false, false, 0},
    [VYRE_F32] = {"f32", 4, 32, false, true, true, 23},
    [VYRE_F64] = {"f64", 8, 64, false, true, true, 52},
    [VYRE_F16] = {"f16", 2, 16, false, true, true, 10},
};

vyre_type type_from_name(const char *name, size_t size) {
  for (int t = VYRE_BOOL; t < VYRE_TYPE_COUNT; t++)
    if (!strncmp(type_table[t].name, name, size) && !type_table[t].name[size]) return (vyre_type)t;
  return VYRE_VOID;
}

const char *vyre_type_name(vyre_type type) {
  return (unsigned)type < VYRE_TYPE_COUNT ? type_table[type].name : "invalid";
}

size_t vyre_type_size(vyre_type type) {
  return (unsigned)type < VYRE_TYPE_COUNT ? type_table[type].bytes : 0;
}

vyre_type vyre_type_from_name(const char *name) {
  return name ? type_from_name(name, strlen(name)) : VYRE_VOID;
}

uint64_t type_canonical_bits(vyre_type type, uint64_t bits) {
  switch (type) {
  case VYRE_BOOL: return bits != 0;
  case VYRE_I8: return (uint64_t)(int64_t)(int8_t)bits;
  case VYRE_U8: return (uint8_t)bits;
  case VYRE_I16: return (uint64_t)(int64_t)(int16_t)bits;
  case VYRE_U16: return (uint16_t)bits;
  case VYRE_I32: return (uint64_t)(int64_t)(int32_t)bits;
  case VYRE_U32: return (uint32_t)bits;
  case VYRE_F16: return type_is_nan(type, bits) ? 0x7e00u : (uint16_t)bits;
  case VYRE_F32: return type_is_nan(type, bits) ? 0x7fc00000u : (uint32_t)bits;
  case VYRE_F64: return type_is_nan(type, bits) ? 0x7ff8000000000000u : bits;
  case VYRE_VOID:
  case VYRE_I64:
  case VYRE_U64:
  case VYRE_TYPE_COUNT: break;
  }
  return bits;
}
