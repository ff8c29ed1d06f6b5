// SPDX-License-Identifier: MIT
#include "backend/llvm/machine.h"

#include "base/error.h"
#include "base/strbuf.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// ---- machines -----------------------------------------------------------------------------------

// Of those that were opened last: whoever compiles holds fork() back, so that no child finds the
// lock taken.
typedef struct kept_machine {
  LLVMTargetMachineRef machine; // NULL: a free place
  char *name;                   // all of its options
  bool is_taken;
} kept_machine;

enum { MOST_KEPT = 16 };

static kept_machine kept[MOST_KEPT];
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

static char *name_of(const machine_options *o) {
  strbuf name = {0};
  size_t size;
  strbuf_printf(&name, "%s %s %s %d", o->triple, o->cpu, o->features, o->is_quick);
  return strbuf_take(&name, &size);
}

static LLVMTargetMachineRef take_kept(const char *name) {
  LLVMTargetMachineRef machine = NULL;
  pthread_mutex_lock(&kept_lock);
  for (int i = 0; i < MOST_KEPT && !machine; i++) {
    if (!kept[i].machine || kept[i].is_taken || strcmp(kept[i].name, name)) continue;
    kept[i].is_taken = true;
    machine = kept[i].machine;
  }
  pthread_mutex_unlock(&kept_lock);
  return machine;
}

// Takes the name. Where all places are taken the machine ends with its use.
static void keep(LLVMTargetMachineRef machine, char *name) {
  kept_machine before = {.name = name};
  pthread_mutex_lock(&kept_lock);
  for (int i = 0; i < MOST_KEPT; i++) {
    if (kept[i].is_taken) continue;
    before = kept[i];
    kept[i] = (kept_machine){machine, name, true};
    break;
  }
  pthread_mutex_unlock(&kept_lock);
  if (before.machine) LLVMDisposeTargetMachine(before.machine);
  free(before.name);
}

void machine_close(LLVMTargetMachineRef machine) {
  if (!machine) return;
  bool is_kept = false;
  pthread_mutex_lock(&kept_lock);
  for (int i = 0; i < MOST_KEPT && !is_kept; i++) {
    if (kept[i].machine != machine) continue;
    kept[i].is_taken = false;
    is_kept = true;
  }
  pthread_mutex_unlock(&kept_lock);
  if (!is_kept) LLVMDisposeTargetMachine(machine);
}

static vyre_status make_machine(const machine_options *o, LLVMTargetMachineRef *out,
                                vyre_error *error) {
  LLVMTargetRef found;
  char *message = NULL;
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

vyre_status machine_open(const machine_options *o, LLVMTargetMachineRef *out, vyre_error *error) {
  char *name = name_of(o);
  *out = name ? take_kept(name) : NULL;
  if (*out) {
    free(name);
    return VYRE_OK;
  }
  vyre_status status = make_machine(o, out, error);
  if (status == VYRE_OK && name)
    keep(*out, name);
  else
    free(name);
  return status;
}

// ---- modules ------------------------------------------------------------------------------------

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
  if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, type, &message, &buffer)) {
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
