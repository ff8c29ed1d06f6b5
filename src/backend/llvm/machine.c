// SPDX-License-Identifier: MIT
#include "backend/llvm/machine.h"

#include "base/error.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <stdlib.h>
#include <string.h>

vyre_status machine_open(const machine_options *o, LLVMTargetMachineRef *out, vyre_error *error) {
  LLVMTargetRef found;
  char *message = NULL;
  *out = NULL;
  if (LLVMGetTargetFromTriple(o->triple, &found, &message)) {
    error_set(error, VYRE_ERROR_UNSUPPORTED,
              "LLVM has no code generator for %s: %s. Fix: install LLVM with this target",
              o->triple, message);
    LLVMDisposeMessage(message);
    return VYRE_ERROR_UNSUPPORTED;
  }
  LLVMCodeGenOptLevel level = o->is_quick ? LLVMCodeGenLevelNone : LLVMCodeGenLevelDefault;
  *out = LLVMCreateTargetMachine(found, o->triple, o->cpu, o->features, level, LLVMRelocPIC,
                                 LLVMCodeModelSmall);
  if (*out) return VYRE_OK;
  return error_set(error, VYRE_ERROR_BACKEND,
                   "LLVM knows no CPU `%s`. Fix: use a name that llc -mcpu=help lists", o->cpu);
}

// LLVM prints warnings to stderr unless someone takes them.
static void ignore_diagnostic(LLVMDiagnosticInfoRef info, void *context) {
  (void)info;
  (void)context;
}

LLVMContextRef machine_context(bool keeps_names) {
  LLVMContextRef context = LLVMContextCreate();
  LLVMContextSetDiagnosticHandler(context, ignore_diagnostic, NULL);
  LLVMContextSetDiscardValueNames(context, !keeps_names);
  return context;
}

LLVMModuleRef machine_module(LLVMTargetMachineRef machine, LLVMContextRef context,
                             const char *name) {
  LLVMModuleRef module = LLVMModuleCreateWithNameInContext(name, context);
  char *triple = LLVMGetTargetMachineTriple(machine);
  LLVMSetTarget(module, triple);
  LLVMDisposeMessage(triple);
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
  LLVMSetModuleDataLayout(module, layout);
  LLVMDisposeTargetData(layout);
  return module;
}

vyre_status machine_check(LLVMModuleRef module, const char *name, vyre_error *error) {
  char *message = NULL;
  bool is_broken = LLVMVerifyModule(module, LLVMReturnStatusAction, &message);
  if (is_broken)
    error_set(error, VYRE_ERROR_BACKEND,
              "the code made for `%s` is not valid: %.400s. Fix: report this with the program",
              name, message);
  LLVMDisposeMessage(message);
  return is_broken ? VYRE_ERROR_BACKEND : VYRE_OK;
}

vyre_status machine_run(LLVMTargetMachineRef machine, LLVMModuleRef module, const char *passes,
                        vyre_error *error) {
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef failed = LLVMRunPasses(module, passes, machine, options);
  LLVMDisposePassBuilderOptions(options);
  if (!failed) return VYRE_OK;
  char *message = LLVMGetErrorMessage(failed);
  error_set(error, VYRE_ERROR_BACKEND,
            "LLVM's passes failed: %.300s. Fix: report this with the program", message);
  LLVMDisposeErrorMessage(message);
  return VYRE_ERROR_BACKEND;
}

static void *copy_bytes(const void *from, size_t size) {
  char *to = malloc(size + 1);
  if (!to) return NULL;
  memcpy(to, from, size);
  to[size] = 0;
  return to;
}

vyre_status machine_emit(LLVMTargetMachineRef machine, LLVMModuleRef module,
                         LLVMCodeGenFileType type, void **out, size_t *size, vyre_error *error) {
  char *message = NULL;
  LLVMMemoryBufferRef buffer;
  // Emitting changes the module, and there may be a second file to emit.
  LLVMModuleRef copy = LLVMCloneModule(module);
  bool failed = LLVMTargetMachineEmitToMemoryBuffer(machine, copy, type, &message, &buffer);
  LLVMDisposeModule(copy);
  if (failed) {
    error_set(error, VYRE_ERROR_BACKEND,
              "LLVM emitted no code: %.300s. Fix: report this with the program", message);
    LLVMDisposeMessage(message);
    return VYRE_ERROR_BACKEND;
  }
  *size = LLVMGetBufferSize(buffer);
  *out = copy_bytes(LLVMGetBufferStart(buffer), *size);
  LLVMDisposeMemoryBuffer(buffer);
  return *out ? VYRE_OK : error_out_of_memory(error);
}

char *machine_print(LLVMModuleRef module) {
  char *printed = LLVMPrintModuleToString(module);
  char *text = copy_bytes(printed, strlen(printed));
  LLVMDisposeMessage(printed);
  return text;
}
