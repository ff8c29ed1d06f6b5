// SPDX-License-Identifier: MIT
//
// The rules of a well-formed program, one stable code each (verify.def). Linking gives blocks their
// links and is the first half of verification: after it, code can be walked without looking at
// anything but the links. Pure functions of the program: any thread.
#ifndef VYRE_IR_VERIFY_H
#define VYRE_IR_VERIFY_H

#include "ir/program.h"

#include <stdarg.h>

typedef enum verify_code {
#define RULE(code, name, text) VERIFY_##code,
#include "ir/verify.def"
  VERIFY_COUNT
} verify_code;

typedef struct verify_rule {
  const char *code, *name, *text;
} verify_rule;

extern const verify_rule verify_rules[VERIFY_COUNT];

// Fills the links of structure operations (see program.h). On failure *fault is the operation at
// fault, or 0 when it is in none; see program_freeze.
vyre_status verify_link(vyre_program *program, uint32_t *fault, vyre_error *error);
// Checks all rules on a linked program and fills what regions derive (is_elastic and the like).
vyre_status verify_program(vyre_program *program, uint32_t *fault, vyre_error *error);

// Tells each operation that breaks a rule by itself, and how many; one that takes what was told is
// passed over. For programs that are not well-formed: nothing is filled.
typedef void verify_visit(void *data, uint32_t fault, const vyre_error *error);
uint32_t verify_each(vyre_program *program, verify_visit *visit, void *data);

// The part of it about tunables (verify_tunable.c), when the rest of the program has been checked.
vyre_status verify_tunables(const vyre_program *program, uint32_t *fault, vyre_error *error);
// Fills the error with the rule's code; always VYRE_ERROR_VERIFY.
vyre_status verify_refuse(vyre_error *error, verify_code code, const char *format, va_list args)
    __attribute__((format(printf, 3, 0), cold));

#endif
