// SPDX-License-Identifier: MIT
//
// What the CPU backend shows of a program: LLVM IR, assembly, remarks. Constant data: any thread.
#ifndef VYRE_BACKEND_CPU_FORMS_H
#define VYRE_BACKEND_CPU_FORMS_H

#include "backend/backend.h"

extern const backend_form cpu_forms[];

#endif
