// SPDX-License-Identifier: MIT
//
// A compile: one LLVM context, one module with a kernel per region, a short list of passes, one PTX
// text. Arithmetic is exact because nothing here allows LLVM anything else: it then writes div.rn,
// sqrt.rn and fma.rn, sums and products with .rn, which assemblers must not contract, and no .ftz.
#include "backend/cuda/codegen/emit.h"

#include "backend/llvm/machine.h"
#include "base/ascii.h"
#include "base/error.h"
#include "lower/lower.h"

#include <llvm-c/Target.h>

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// atom.add of f32 flushes subnormals in global memory, so floats are exchanged until nobody came
// between (backend/llvm). NaN is 0x7fffffff on these devices, and a conversion of what is outside
// of a 64-bit integer is not what the IR asks for.
static const lower_target cuda_target = {
    .name = "cuda",
    .has_f64 = true,
    .has_i64 = true,
    .has_small_storage = true,
    .converts_f16 = true,
    .keeps_f32_subnormals = true,
    .keeps_f64_subnormals = true,
    .rounds_f32_division = true,
    .rounds_f64_division = true,
    .has_f32_fma = true,
    .has_f64_fma = true,
    .converts_any = true,
    .has_float_minmax = true,
    .has_f32_rounding = true,
    .has_f64_rounding = true,
    .has_rint = true,
    .has_rotate = true,
    .has_integer_minmax = true,
    .has_integer_abs = true,
    .has_bit_counts = true,
    .has_trailing_zeros = true,
    .has_mulhi = true,
    .has_i64_atomics = true,
    .has_i64_extended_atomics = true,
    .has_float_atomics = true,
    .pads_grid = true,
};

// ---- the interface of a kernel ------------------------------------------------------------------

// What a launch may pass. Each argument lies at a multiple of its size: with the widest first there
// is nothing between them, and the most that a program can have fits.
enum { MOST_ARGUMENT_BYTES = 4096 };
static_assert((8 + 4) * LIMIT_BUFFERS + 8 * LIMIT_PARAMS + 4 * 6 + 8 <= MOST_ARGUMENT_BYTES,
              "buffers and lengths, parameters, grid and base, flag");

static void add_argument(emitter *e, cuda_fact kind, uint32_t index, uint32_t bytes) {
  for (uint32_t i = 0; i < e->argument_count; i++)
    if (e->arguments[i].kind == kind && e->arguments[i].index == index) return;
  uint32_t at = e->argument_count++;
  for (; at && e->arguments[at - 1].bytes < bytes; at--) e->arguments[at] = e->arguments[at - 1];
  e->arguments[at] = (cuda_argument){(uint8_t)kind, (uint8_t)bytes, (uint16_t)index};
}

// What the region reads of the launch, and how it uses buffers.
static void collect(emitter *e) {
  e->argument_count = 0;
  memset(e->uses, 0, e->p->buffer_count);
  for (uint32_t i = e->r->body.first; i < e->r->body.end; i++) {
    const inst *in = &e->p->code[i];
    uint32_t n = in->arg[0];
    if (in->op == VYRE_OP_PARAM) {
      add_argument(e, CUDA_PARAM, n, type_bytes(in->type));
    } else if (in->op == VYRE_OP_LEN) {
      add_argument(e, CUDA_LENGTH, n, 4);
    } else if (in->op == OP_STOP_ASKED) {
      add_argument(e, CUDA_STOP, 0, 8);
    } else if (in->op == VYRE_OP_GLOBAL_SIZE || in->op == VYRE_OP_GROUP_COUNT) {
      if (n < e->r->rank) add_argument(e, CUDA_GRID, n, 4);
    } else if (in->op == VYRE_OP_GLOBAL_ID || in->op == VYRE_OP_GROUP_ID) {
      if (n < e->r->rank) add_argument(e, CUDA_BASE, n, 4);
    } else if (op_table[in->op].operands[0] == 'm' && mem_space(n) == MEM_BUFFER) {
      add_argument(e, CUDA_BUFFER, mem_index(n), 8);
      e->uses[mem_index(n)] |= (uint8_t)(op_table[in->op].flags & (OPF_READS | OPF_WRITES));
    }
  }
}

static lltype argument_type(const emitter *e, const cuda_argument *a) {
  switch ((cuda_fact)a->kind) {
  case CUDA_BUFFER:
  case CUDA_STOP: return LLVMPointerTypeInContext(e->l.context, SPACE_GLOBAL);
  case CUDA_PARAM: return emit_memory_type(e, e->p->params[a->index].type);
  case CUDA_LENGTH:
  case CUDA_GRID:
  case CUDA_BASE: return e->scalars[VYRE_U32];
  case CUDA_FACTS: break;
  }
  VYRE_BUG("cuda", "argument of kind %d", a->kind);
}

static void mark(const emitter *e, uint32_t argument, const char *attribute) {
  unsigned kind = LLVMGetEnumAttributeKindForName(attribute, strlen(attribute));
  LLVMAddAttributeAtIndex(e->function, argument + 1,
                          LLVMCreateEnumAttribute(e->l.context, kind, 0));
}

// Nobody binds twice what is written. LLVM takes that to mean that a barrier does not change it,
// which is wrong for what a workgroup hands on there: such buffers are left alone.
static void mark_buffers(const emitter *e) {
  for (uint32_t i = 0; i < e->argument_count; i++) {
    if (e->arguments[i].kind != CUDA_BUFFER) continue;
    bool is_written = e->uses[e->arguments[i].index] & OPF_WRITES;
    if (!is_written || !e->r->has_barrier) mark(e, i, "noalias");
    if (!is_written) mark(e, i, "readonly");
  }
}

// Registers are given out for so many threads: a workgroup of that size can always be launched.
static void limit_threads(const emitter *e) {
  const uint32_t *size = e->r->workgroup;
  LLVMContextRef c = e->l.context;
  if (e->r->is_elastic) return;
  static const char *const names[] = {"maxntidx", "maxntidy", "maxntidz"};
  for (int k = 0; k < 3; k++) {
    LLVMMetadataRef row[] = {
        LLVMValueAsMetadata(e->function),
        LLVMMDStringInContext2(c, names[k], strlen(names[k])),
        LLVMValueAsMetadata(LLVMConstInt(e->scalars[VYRE_U32], size[k], false)),
    };
    LLVMAddNamedMetadataOperand(e->l.module, "nvvm.annotations",
                                LLVMMetadataAsValue(c, LLVMMDNodeInContext2(c, row, 3)));
  }
}

// ---- shared memory ------------------------------------------------------------------------------

static void name_shared(char *out, size_t size, uint32_t region, uint32_t array) {
  snprintf(out, size, "vyre_%u_shared_%u", region, array);
}

static void declare_shared(emitter *e, uint32_t region) {
  char name[64];
  for (uint32_t i = e->r->shared.first; i < e->r->shared.end; i++) {
    const shared_array *s = &e->p->shared[i];
    lltype type = LLVMArrayType2(emit_memory_type(e, s->type), s->length);
    name_shared(name, sizeof name, region, i - e->r->shared.first);
    e->shared[i] = LLVMAddGlobalInAddressSpace(e->l.module, type, name, SPACE_SHARED);
    LLVMSetLinkage(e->shared[i], LLVMInternalLinkage);
    LLVMSetInitializer(e->shared[i], LLVMGetUndef(type));
    LLVMSetAlignment(e->shared[i], 8);
  }
}

static uint32_t padded_bytes(const shared_array *s) {
  return (s->length * type_bytes(s->type) + 7) / 8 * 8;
}

static uint32_t shared_bytes(const emitter *e) {
  uint32_t bytes = 0;
  for (uint32_t i = e->r->shared.first; i < e->r->shared.end; i++)
    bytes += padded_bytes(&e->p->shared[i]);
  return bytes;
}

// More than every device grants by itself: the launch says how much, and arrays are parts of it.
static void place_shared(emitter *e) {
  static const char name[] = "vyre_launch_shared";
  lltype byte = e->scalars[VYRE_U8], open = LLVMArrayType2(byte, 0);
  llval all = LLVMGetNamedGlobal(e->l.module, name);
  if (!all) {
    all = LLVMAddGlobalInAddressSpace(e->l.module, open, name, SPACE_SHARED);
    LLVMSetLinkage(all, LLVMExternalLinkage);
    LLVMSetAlignment(all, 16);
  }
  uint32_t at = 0;
  for (uint32_t i = e->r->shared.first; i < e->r->shared.end; i++) {
    llval offset = LLVMConstInt(e->scalars[VYRE_U64], at, false);
    e->shared[i] = LLVMConstInBoundsGEP2(byte, all, &offset, 1);
    at += padded_bytes(&e->p->shared[i]);
  }
}

// ---- kernels ------------------------------------------------------------------------------------

// Letters, digits and underscores: what every assembler takes.
static void name_kernel(char *out, size_t size, uint32_t number, const char *region) {
  int used = snprintf(out, size, "vyre_%u_", number);
  size_t at = (size_t)used;
  for (; *region && at + 1 < size; region++) out[at++] = ascii_is_word(*region) ? *region : '_';
  out[at] = 0;
}

static bool emit_kernel(emitter *e, uint32_t number, cuda_kernel *out) {
  lltype types[CUDA_MOST_ARGUMENTS];
  e->r = &e->p->regions[number];
  e->depth = 0;
  collect(e);
  for (uint32_t i = 0; i < e->argument_count; i++) types[i] = argument_type(e, &e->arguments[i]);
  name_kernel(out->entry, sizeof out->entry, number, e->r->name);
  lltype type = LLVMFunctionType(e->scalars[VYRE_VOID], types, e->argument_count, false);
  e->function = LLVMAddFunction(e->l.module, out->entry, type);
  LLVMSetFunctionCallConv(e->function, LLVMPTXKernelCallConv);
  mark_buffers(e);
  limit_threads(e);
  uint32_t shared = shared_bytes(e);
  if (shared > STATIC_SHARED_BYTES) {
    place_shared(e);
    out->dynamic_shared = shared;
  } else {
    declare_shared(e, number);
  }
  e->entry = LLVMAppendBasicBlockInContext(e->l.context, e->function, "");
  llblock first = LLVMAppendBasicBlockInContext(e->l.context, e->function, "");
  LLVMPositionBuilderAtEnd(e->l.b, e->entry);
  LLVMBuildBr(e->l.b, first);
  LLVMPositionBuilderAtEnd(e->l.b, first);
  for (uint32_t i = e->r->body.first; i < e->r->body.end; i++) emit_operation(e, i);
  LLVMBuildRetVoid(e->l.b);
  out->argument_count = e->argument_count;
  out->arguments = malloc((e->argument_count + 1u) * sizeof *out->arguments);
  if (!out->arguments) return false;
  memcpy(out->arguments, e->arguments, e->argument_count * sizeof *out->arguments);
  return true;
}

// ---- the module ---------------------------------------------------------------------------------

static const char quick_passes[] = "function(sroa,early-cse,simplifycfg)";
static const char full_passes[] =
    "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm),gvn,"
    "instcombine<no-verify-fixpoint>,loop-unroll<O2;no-runtime;no-partial>,simplifycfg)";

static bool is_stopped(const cuda_options *o) {
  return o->stop && __atomic_load_n(o->stop, __ATOMIC_RELAXED);
}

static vyre_status check_stop(const emitter *e, vyre_error *error) {
  if (!is_stopped(e->options)) return VYRE_OK;
  return error_set(error, VYRE_ERROR_TIMEOUT, "compiling `%s` was given up. Fix: allow more time",
                   e->p->name);
}

static vyre_status emit_kernels(emitter *e, cuda_code *out, vyre_error *error) {
  vyre_status status = check_stop(e, error);
  for (uint32_t i = 0; i < e->p->region_count && status == VYRE_OK; i++) {
    if (!emit_kernel(e, i, &out->kernels[i])) return error_out_of_memory(error);
    status = check_stop(e, error);
  }
  return status;
}

static vyre_status write_text(emitter *e, LLVMTargetMachineRef machine, cuda_code *out,
                              vyre_error *error) {
  void *text = NULL;
  vyre_status status = machine_check(e->l.module, e->p->name, error);
  if (status == VYRE_OK)
    status =
        machine_run(machine, e->l.module, e->options->is_quick ? quick_passes : full_passes, error);
  if (status == VYRE_OK) status = check_stop(e, error);
  if (status == VYRE_OK) emit_hide_choices(e->l.context, e->l.module);
  if (status == VYRE_OK)
    status = machine_emit(machine, e->l.module, LLVMAssemblyFile, &text, &out->ptx_size, error);
  out->ptx = text;
  return status;
}

static vyre_status build(emitter *e, LLVMTargetMachineRef machine, cuda_code *out,
                         vyre_error *error) {
  const vyre_program *p = e->p;
  e->values = calloc(p->code_count + 1u, sizeof *e->values);
  e->shared = calloc(p->shared_count + 1u, sizeof *e->shared);
  e->uses = calloc(p->buffer_count + 1u, 1);
  out->kernels = calloc(p->region_count + 1u, sizeof *out->kernels);
  out->kernel_count = p->region_count;
  vyre_status status = VYRE_OK;
  if (!e->values || !e->shared || !e->uses || !out->kernels) {
    status = error_out_of_memory(error);
  } else {
    LLVMContextRef context = machine_context(e->options->keeps_names);
    e->l = (lanewise){.context = context, .scalars = e->scalars, .width = 1};
    e->l.module = machine_module(machine, context, p->name);
    e->l.b = LLVMCreateBuilderInContext(context);
    lanewise_fill_types(context, e->scalars);
    status = emit_kernels(e, out, error);
    if (status == VYRE_OK) status = write_text(e, machine, out, error);
    LLVMDisposeBuilder(e->l.b);
    LLVMDisposeModule(e->l.module);
    LLVMContextDispose(context);
  }
  free(e->values);
  free(e->shared);
  free(e->uses);
  return status;
}

static void initialize_once(void) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
}

static pthread_once_t initialized = PTHREAD_ONCE_INIT;

static vyre_status compile_lowered(const vyre_program *lowered, const cuda_options *options,
                                   cuda_code *out, vyre_error *error) {
  LLVMTargetMachineRef machine;
  char cpu[16], features[16];
  snprintf(cpu, sizeof cpu, "sm_%d", CUDA_OLDEST);
  snprintf(features, sizeof features, "+ptx%d", CUDA_PTX);
  pthread_once(&initialized, initialize_once);
  machine_options how = {.triple = "nvptx64-nvidia-cuda",
                         .cpu = cpu,
                         .features = features,
                         .is_quick = options->is_quick};
  vyre_status status = machine_open(&how, &machine, error);
  if (status != VYRE_OK) return status;
  emitter *e = calloc(1, sizeof *e);
  if (e) {
    e->p = lowered;
    e->options = options;
    status = build(e, machine, out, error);
  } else {
    status = error_out_of_memory(error);
  }
  free(e);
  machine_close(machine);
  return status;
}

// The caller frees what a failed compile has made.
static vyre_status compile(const vyre_program *program, const cuda_options *options, cuda_code *out,
                           vyre_error *error) {
  lower_target wanted = cuda_target;
  vyre_program *lowered;
  wanted.polls_stop = options->is_polled;
  vyre_status status = lower_program(program, &wanted, &lowered, error);
  if (status == VYRE_OK) status = compile_lowered(lowered, options, out, error);
  if (lowered) vyre_program_release(lowered);
  return status;
}

VYRE_API extern const cuda_codegen vyre_cuda_codegen;
const cuda_codegen vyre_cuda_codegen = {.abi_version = CUDA_ABI_VERSION, .compile = compile};
