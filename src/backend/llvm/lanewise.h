// SPDX-License-Identifier: MIT
//
// Operations of lowered programs in LLVM IR, lane by lane: on vectors of `width` invocations or on
// scalars alike, because LLVM's builder makes either of the same calls and only constants have to
// be made for one or the other. A target of one lane (a GPU, or scalar code) has a width of 1,
// where vectors are scalars. Nothing here knows where values live or who is active. One thread.
#ifndef VYRE_BACKEND_LLVM_LANEWISE_H
#define VYRE_BACKEND_LLVM_LANEWISE_H

#include "ir/program.h"

#include <llvm-c/Core.h>

typedef LLVMValueRef llval;
typedef LLVMTypeRef lltype;
typedef LLVMBasicBlockRef llblock;

enum { LANEWISE_MOST = 64 }; // lanes

typedef struct lanewise {
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMBuilderRef b;
  const lltype *scalars; // per vyre_type; bool is i1
  unsigned width;        // lanes of a vector, at most 64
} lanewise;

void lanewise_fill_types(LLVMContextRef context, lltype scalars[VYRE_TYPE_COUNT]);

lltype lanewise_vector(const lanewise *l, lltype scalar);
lltype lanewise_type(const lanewise *l, vyre_type type, bool is_vector);
llval lanewise_const(const lanewise *l, vyre_type type, uint64_t bits, bool is_vector);
llval lanewise_splat(const lanewise *l, llval scalar);
// `types` are those that the intrinsic is overloaded for, one or two; at most four arguments.
llval lanewise_intrinsic(const lanewise *l, const char *name, const lltype *types,
                         unsigned type_count, const llval *args, unsigned count);

// arithmetic.c: a pure operation. `type` is that of its operands (of the second and third for
// select).
llval lanewise_pure(const lanewise *l, const inst *in, vyre_type type, const llval args[3],
                    bool is_vector);
// divide.c: quotient, remainder and upper half of a product; what they promise holds.
llval lanewise_divide(const lanewise *l, const inst *in, llval x, llval y, bool is_vector);
llval lanewise_mulhi(const lanewise *l, vyre_type type, llval x, llval y, bool is_vector);
// convert.c
llval lanewise_convert(const lanewise *l, vyre_type to, vyre_type from, llval x, bool is_vector);
llval lanewise_bitcast(const lanewise *l, vyre_type to, vyre_type from, llval x, bool is_vector);
// atomic.c: an atomic on one element, without ordering of other accesses; and what it makes of what
// was there, for memory that nobody else is at. `y` is NULL except for compare-exchange.
llval lanewise_atomic(const lanewise *l, const inst *in, llval at, llval x, llval y);
llval lanewise_combine(const lanewise *l, const inst *in, llval old, llval x, llval y);

#endif
