// SPDX-License-Identifier: MIT
#include "ir/text.h"

const text_rule text_rules[TEXT_CODE_COUNT] = {
#define TEXT(code, status, name, text) {#code, name, text, VYRE_ERROR_##status},
#include "ir/text.def"
};

text_demand text_slot_demand(vyre_op op, int slot) {
  switch ((op_rule)op_table[op].rule) {
  case RULES_IN_ONE_TYPE:
  case RULE_EQUALITY:
  case RULE_ORDER:
  case RULE_COPY:
  case RULE_FOR: return DEMAND_GROUP;
  case RULE_SELECT: return slot == 0 ? DEMAND_BOOL : DEMAND_GROUP;
  case RULE_LOAD:
  case RULE_STORE:
  case RULE_ATOMIC: return slot == 1 ? DEMAND_INDEX : DEMAND_ELEMENT;
  case RULE_VAR:
  case RULE_SET: return DEMAND_ELEMENT;
  case RULE_COND: return DEMAND_BOOL;
  case RULE_NONE:
  case RULE_CONVERT:
  case RULE_BITCAST:
  case RULES_LAUNCH:
  case RULE_GET:
  case RULE_ARRAY:
  case RULES_LOWERED: break;
  }
  return DEMAND_NONE;
}

bool text_result_in_group(vyre_op op) {
  switch ((op_rule)op_table[op].rule) {
  case RULES_IN_ONE_TYPE:
  case RULE_COPY:
  case RULE_SELECT: return true;
  case RULE_NONE:
  case RULE_EQUALITY:
  case RULE_ORDER:
  case RULE_CONVERT:
  case RULE_BITCAST:
  case RULES_LAUNCH:
  case RULE_LOAD:
  case RULE_ATOMIC:
  case RULE_GET:
  case RULES_STATEMENT:
  case RULES_LOWERED: break;
  }
  return false;
}

int text_binding(vyre_op op, vyre_type type) {
  switch (op) {
  case VYRE_OP_MUL:
  case VYRE_OP_DIV:
  case VYRE_OP_REM: return 9;
  case VYRE_OP_ADD:
  case VYRE_OP_SUB: return 8;
  case VYRE_OP_SHL:
  case VYRE_OP_SHR: return 7;
  case VYRE_OP_AND: return type == VYRE_BOOL ? 2 : 6;
  case VYRE_OP_XOR: return 5;
  case VYRE_OP_OR: return type == VYRE_BOOL ? 1 : 4;
  case VYRE_OP_EQ:
  case VYRE_OP_NE:
  case VYRE_OP_LT:
  case VYRE_OP_LE:
  case VYRE_OP_GT:
  case VYRE_OP_GE: return BIND_COMPARISON;
  default: return 0; // written as a call
  }
}

const char *text_operator(vyre_op op, vyre_type type) {
  if (type == VYRE_BOOL && op == VYRE_OP_AND) return "&&";
  if (type == VYRE_BOOL && op == VYRE_OP_OR) return "||";
  return op_table[op].infix;
}
