// SPDX-License-Identifier: MIT
//
// Shared arrays in registers: where several phases of a workgroup follow each other whose rows are
// known, what one leaves for the next never needs memory, although the next one reads it at an
// offset (a scan, a tree). Everything is in the compile's arena.
#ifndef VYRE_BACKEND_CPU_CODEGEN_LINES_H
#define VYRE_BACKEND_CPU_CODEGEN_LINES_H

#include "backend/cpu/codegen/kernel.h"

// Chooses the arrays. False: out of memory.
bool lines_plan(kernel *k, const plan *plan);
// Whether the row of a phase is better written out, vector by vector.
bool lines_wants(const kernel *k, range code);
// From here on the arrays are in registers, or in memory. Nothing branches in between.
void lines_enter(kernel *k, LLVMBuilderRef b);
void lines_leave(kernel *k, LLVMBuilderRef b);
void lines_forget(kernel *k, LLVMBuilderRef b); // leaves, and what the arrays hold is lost

// The access `op`, where it is one of an array that is in registers now, in a place that is known.
llval lines_load(const emitter *e, uint32_t op); // as in memory; NULL: it is not
bool lines_store(const emitter *e, uint32_t op);
uint32_t lines_count(const kernel *k); // arrays that were in registers anywhere

#endif
