// SPDX-License-Identifier: MIT
//
// x < y ? x : y is not min.f32: of two zeros that takes the negative one, and the choice takes y.
// LLVM's code generator makes min and max of such choices where it knows that nothing is NaN, with
// zeros or without (it looks at signed zeros for <= and >= only). So choices between floats by a
// comparison of floats are made between their bits, when all other passes have run: none of them
// puts the floats back.
#include "backend/cuda/codegen/emit.h"

static lltype bits_type(LLVMContextRef context, lltype type) {
  switch (LLVMGetTypeKind(type)) {
  case LLVMHalfTypeKind: return LLVMInt16TypeInContext(context);
  case LLVMFloatTypeKind: return LLVMInt32TypeInContext(context);
  case LLVMDoubleTypeKind: return LLVMInt64TypeInContext(context);
  default: return NULL;
  }
}

static void hide(LLVMContextRef context, LLVMBuilderRef b, llval select) {
  lltype type = LLVMTypeOf(select), bits = bits_type(context, type);
  llval condition = LLVMGetOperand(select, 0);
  if (!bits || !LLVMIsAFCmpInst(condition)) return;
  LLVMPositionBuilderBefore(b, select);
  llval x = LLVMBuildBitCast(b, LLVMGetOperand(select, 1), bits, "");
  llval y = LLVMBuildBitCast(b, LLVMGetOperand(select, 2), bits, "");
  llval made = LLVMBuildBitCast(b, LLVMBuildSelect(b, condition, x, y, ""), type, "");
  LLVMReplaceAllUsesWith(select, made);
  LLVMInstructionEraseFromParent(select);
}

void emit_hide_choices(LLVMContextRef context, LLVMModuleRef module) {
  LLVMBuilderRef b = LLVMCreateBuilderInContext(context);
  for (llval f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    for (llblock k = LLVMGetFirstBasicBlock(f); k; k = LLVMGetNextBasicBlock(k))
      for (llval next, i = LLVMGetFirstInstruction(k); i; i = next) {
        next = LLVMGetNextInstruction(i);
        if (LLVMIsASelectInst(i)) hide(context, b, i);
      }
  LLVMDisposeBuilder(b);
}
