// SPDX-License-Identifier: MIT
//
// What every target of LLVM needs around its code, whatever the width: a target machine, a module
// for it, a list of passes over that, and the files that come out. Whoever opens closes. One thread
// per machine and context.
#ifndef VYRE_BACKEND_LLVM_MACHINE_H
#define VYRE_BACKEND_LLVM_MACHINE_H

#include <vyre/vyre.h>

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

typedef struct machine_options {
  const char *triple, *cpu, *features;
  bool is_quick; // code at once instead of good code
} machine_options;

// The target must be initialised. A machine that was closed is kept for the next one who wants its
// like: to make one takes longer than a small kernel's code. Its text options are read here only.
vyre_status machine_open(const machine_options *options, LLVMTargetMachineRef *out,
                         vyre_error *error);
void machine_close(LLVMTargetMachineRef machine); // NULL is fine

// A context that prints nothing; values keep their names where somebody will read them.
LLVMContextRef machine_context(bool keeps_names);
LLVMModuleRef machine_module(LLVMTargetMachineRef machine, LLVMContextRef context,
                             const char *name);

vyre_status machine_check(LLVMModuleRef module, const char *name, vyre_error *error);
vyre_status machine_run(LLVMTargetMachineRef machine, LLVMModuleRef module, const char *passes,
                        vyre_error *error);
// *out is malloc'ed, with a NUL behind it. Changes the module: it is good for nothing else then.
vyre_status machine_emit(LLVMTargetMachineRef machine, LLVMModuleRef module,
                         LLVMCodeGenFileType type, void **out, size_t *size, vyre_error *error);
char *machine_print(LLVMModuleRef module); // malloc'ed text; NULL when out of memory

#endif
