// SPDX-License-Identifier: MIT
//
// A compile: a program of many regions is cut into parts, which threads compile side by side. A
// part is one LLVM context, one module with a function per region, a short list of passes, one
// object file. How a program is cut depends on nothing but the program.
#include "backend/cpu/codegen/kernel.h"
#include "backend/llvm/machine.h"
#include "base/error.h"
#include "lower/lower.h"

#include <stdlib.h>

// ---- parts --------------------------------------------------------------------------------------

typedef struct part {
  unit unit;
  target machine;
  uint64_t instructions; // of LLVM
  uint32_t largest;      // of its functions
  void *object;          // malloc'ed
  size_t object_size;
  vyre_status status;
  vyre_error error;
} part;

typedef struct job {
  const vyre_program *p;
  cpu_options *options;
  cpu_code *out;
  part *parts;
  uint32_t count;
} job;

// A part costs about half of what a small region does, and programs have at most so many of them.
enum { REGIONS_QUICK = 8, REGIONS_FULL = 2, MOST_PARTS = 32 };

static uint32_t regions_of_part(const job *j) {
  if (j->options->want_llvm || j->options->want_asm) return j->p->region_count;
  uint32_t least = j->options->tier == VYRE_TIER_QUICK ? REGIONS_QUICK : REGIONS_FULL;
  uint32_t fair = (j->p->region_count + MOST_PARTS - 1) / MOST_PARTS;
  return fair > least ? fair : least;
}

static bool cut(job *j) {
  uint32_t each = regions_of_part(j), all = j->p->region_count;
  j->count = (all + each - 1) / each;
  j->parts = calloc(j->count, sizeof *j->parts);
  for (uint32_t i = 0; j->parts && i < j->count; i++) {
    uint32_t first = i * each, end = all - first < each ? all : first + each;
    j->parts[i].unit = (unit){.p = j->p, .first = first, .end = end, .options = j->options};
  }
  return j->parts;
}

// ---- the unit -----------------------------------------------------------------------------------

static void fill_types(unit *u) {
  LLVMContextRef c = u->context;
  u->i1 = LLVMInt1TypeInContext(c);
  u->i8 = LLVMInt8TypeInContext(c);
  u->i16 = LLVMInt16TypeInContext(c);
  u->i32 = LLVMInt32TypeInContext(c);
  u->i64 = LLVMInt64TypeInContext(c);
  u->ptr = LLVMPointerTypeInContext(c, 0);
  lanewise_fill_types(c, u->scalars);
}

static void unit_open(unit *u) {
  u->context = machine_context(u->options->want_llvm);
  u->module = machine_module(u->target->machine, u->context, u->p->name);
  fill_types(u);
  u->scope_kind = LLVMGetMDKindIDInContext(u->context, "alias.scope", 11);
  u->noalias_kind = LLVMGetMDKindIDInContext(u->context, "noalias", 7);
  lltype block = LLVMArrayType2(u->i64, 8);
  u->zeros = LLVMAddGlobal(u->module, block, "zeros");
  LLVMSetInitializer(u->zeros, LLVMConstNull(block));
  LLVMSetGlobalConstant(u->zeros, true);
  LLVMSetLinkage(u->zeros, LLVMPrivateLinkage);
  LLVMSetAlignment(u->zeros, 64);
}

// All but its remarks.
static void unit_release(unit *u) {
  if (u->module) LLVMDisposeModule(u->module);
  if (u->context) LLVMContextDispose(u->context);
  u->module = NULL;
  u->context = NULL;
  arena_free(&u->arena);
}

static void part_fini(part *t) {
  unit_release(&t->unit);
  strbuf_fini(&t->unit.remarks);
  free(t->object);
}

// ---- passes and files ---------------------------------------------------------------------------

// Vectors are made here, so that nothing of LLVM's own vectorising is needed: see docs/BACKENDS.md
// for what the default pipelines cost and gain.
static const char quick_passes[] = "function(sroa,early-cse,simplifycfg)";
static const char full_passes[] =
    "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm),gvn,"
    "instcombine<no-verify-fixpoint>,loop-unroll<O2;no-runtime;no-partial>,simplifycfg)";

// Whether atomics take a lock is asked in front of the loops, not in them.
static const char atomic_passes[] =
    "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,"
    "loop-mssa(licm,simple-loop-unswitch<nontrivial>),gvn,instcombine<no-verify-fixpoint>,"
    "loop-unroll<O2;no-runtime;no-partial>,simplifycfg)";

// One lane after the other, which nothing else makes several of: loops are unrolled, and what one
// turn stores the next has in a register (a solver along its row takes 0.65 of the time).
static const char scalar_passes[] =
    "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,"
    "loop-mssa(licm,simple-loop-unswitch<nontrivial>),gvn,loop-simplify,lcssa,loop-load-elim,"
    "instcombine<no-verify-fixpoint>,loop-unroll<O2>,simplifycfg)";

static bool is_scalar_code(const unit *u, const cpu_region_code *regions) {
  for (uint32_t i = u->first; i < u->end; i++)
    if (regions[i].width > 1) return false;
  return true;
}

static const char *choose_passes(const unit *u, const cpu_region_code *regions) {
  if (u->options->tier == VYRE_TIER_QUICK) return quick_passes;
  if (is_scalar_code(u, regions)) return scalar_passes;
  for (uint32_t i = u->p->regions[u->first].body.first; i < u->p->regions[u->end - 1].body.end; i++)
    if (op_is_atomic(u->p->code[i].op)) return atomic_passes;
  return full_passes;
}

static vyre_status emit_files(part *t, cpu_code *out, vyre_error *error) {
  unit *u = &t->unit;
  size_t size;
  void *text = NULL;
  if (u->options->want_llvm) {
    out->llvm = machine_print(u->module);
    if (!out->llvm) return error_out_of_memory(error);
  }
  LLVMTargetMachineRef machine = u->target->machine;
  if (!u->options->want_llvm && !u->options->want_asm)
    return machine_emit(machine, u->module, LLVMObjectFile, &t->object, &t->object_size, error);
  vyre_status status = VYRE_OK;
  if (u->options->want_asm)
    status = machine_emit(machine, u->module, LLVMAssemblyFile, &text, &size, error);
  out->assembly = text;
  return status;
}

// ---- what is worth LLVM's time ------------------------------------------------------------------

static uint32_t count_instructions(llval function) {
  uint32_t count = 0;
  for (llblock b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
    for (llval i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) count++;
  return count;
}

static void count_all(part *t) {
  for (llval f = LLVMGetFirstFunction(t->unit.module); f; f = LLVMGetNextFunction(f)) {
    uint32_t count = count_instructions(f);
    t->instructions += count;
    if (count > t->largest) t->largest = count;
  }
}

// Measured: kernels of people have up to 1,000 instructions. The full tier takes about 40 us for
// each of them, and from some thousands in a function the time grows with their square.
static bool is_too_large(const job *j) {
  enum { MOST_IN_FUNCTION = 10000, MOST_IN_ALL = 65536 };
  uint64_t all = 0;
  uint32_t largest = 0;
  for (uint32_t i = 0; i < j->count; i++) {
    all += j->parts[i].instructions;
    if (j->parts[i].largest > largest) largest = j->parts[i].largest;
  }
  return largest > MOST_IN_FUNCTION || all > MOST_IN_ALL;
}

// The quick tier for what the full one would take too long for.
static void choose_tier(job *j) {
  if (j->options->tier == VYRE_TIER_QUICK || !is_too_large(j)) return;
  j->options->tier = VYRE_TIER_QUICK;
  strbuf_printf(&j->parts[j->count - 1].unit.remarks, "%s: compiled quickly: it is large\n",
                j->p->name);
}

// ---- the call -----------------------------------------------------------------------------------

// Nothing interrupts LLVM: between its steps it is asked whether anybody still waits.
static vyre_status check_stop(const unit *u, vyre_error *error) {
  const volatile uint32_t *stop = u->options->stop;
  if (!stop || !__atomic_load_n(stop, __ATOMIC_RELAXED)) return VYRE_OK;
  return error_set(error, VYRE_ERROR_TIMEOUT, "compiling `%s` was given up. Fix: allow more time",
                   u->p->name);
}

static vyre_status emit_regions(unit *u, cpu_code *out, vyre_error *error) {
  vyre_status status = check_stop(u, error);
  for (uint32_t i = u->first; i < u->end && status == VYRE_OK; i++) {
    if (!kernel_emit(u, i, &out->regions[i])) return error_out_of_memory(error);
    status = check_stop(u, error);
  }
  return status;
}

// From regions to instructions of LLVM.
static vyre_status begin(job *j, part *t) {
  unit *u = &t->unit;
  vyre_status status = target_open(j->options, &t->machine, &t->error);
  if (status != VYRE_OK) return status;
  u->target = &t->machine;
  unit_open(u);
  strbuf_puts(&u->remarks, "");
  debug_open(u);
  status = emit_regions(u, j->out, &t->error);
  if (status == VYRE_OK) {
    debug_close(u);
    status = machine_check(u->module, u->p->name, &t->error);
  }
  if (status == VYRE_OK) count_all(t);
  target_close(&t->machine);
  return status;
}

// From there to an object. The tier may be another one by now.
static vyre_status finish(job *j, part *t) {
  unit *u = &t->unit;
  vyre_status status = target_open(j->options, &t->machine, &t->error);
  if (status != VYRE_OK) return status;
  const char *passes = choose_passes(u, j->out->regions);
  status = machine_run(t->machine.machine, u->module, passes, &t->error);
  if (status == VYRE_OK) status = check_stop(u, &t->error);
  if (status == VYRE_OK) status = emit_files(t, j->out, &t->error);
  target_close(&t->machine);
  unit_release(u);
  return status;
}

static bool begin_parts(void *context, uint64_t first, uint64_t end) {
  job *j = context;
  for (uint64_t i = first; i < end; i++) j->parts[i].status = begin(j, &j->parts[i]);
  return true;
}

static bool finish_parts(void *context, uint64_t first, uint64_t end) {
  job *j = context;
  for (uint64_t i = first; i < end; i++) j->parts[i].status = finish(j, &j->parts[i]);
  return true;
}

static vyre_status run_parts(job *j, pool_work work, vyre_error *error) {
  if (j->options->run && j->options->threads > 1)
    (void)j->options->run(j->options->threads, j->count, 1, work, j);
  else
    (void)work(j, 0, j->count);
  for (uint32_t i = 0; i < j->count; i++) {
    if (j->parts[i].status == VYRE_OK) continue;
    if (error) *error = j->parts[i].error;
    return j->parts[i].status;
  }
  return VYRE_OK;
}

// What the parts have made, one behind the other.
static vyre_status join(const job *j, cpu_code *out, vyre_error *error) {
  strbuf objects = {0}, remarks = {0};
  out->part_bytes = calloc(j->count, sizeof *out->part_bytes);
  if (!out->part_bytes) return error_out_of_memory(error);
  out->part_count = j->count;
  strbuf_puts(&objects, "");
  strbuf_puts(&remarks, "");
  for (uint32_t i = 0; i < j->count; i++) {
    const part *t = &j->parts[i];
    for (uint32_t r = t->unit.first; r < t->unit.end; r++) out->regions[r].part = i;
    out->part_bytes[i] = t->object_size;
    if (t->object_size) strbuf_add(&objects, t->object, t->object_size);
    strbuf_add(&remarks, t->unit.remarks.at, t->unit.remarks.size);
    remarks.failed |= t->unit.remarks.failed;
  }
  size_t size;
  out->object = strbuf_take(&objects, &out->object_size);
  out->remarks = strbuf_take(&remarks, &size);
  return out->object && out->remarks ? VYRE_OK : error_out_of_memory(error);
}

static uint32_t largest_region(const vyre_program *p) {
  uint32_t largest = 0;
  for (uint32_t i = 0; i < p->region_count; i++) {
    uint32_t size = p->regions[i].body.end - p->regions[i].body.first;
    if (size > largest) largest = size;
  }
  return largest;
}

static vyre_status check_size(const vyre_program *p, vyre_error *error) {
  uint32_t size = largest_region(p);
  if (size <= MOST_OPERATIONS) return VYRE_OK;
  return error_set(error, VYRE_ERROR_UNSUPPORTED,
                   "a region of %u operations is more than the %u that the cpu backend compiles. "
                   "Fix: run it on the ref backend, or divide it",
                   size, MOST_OPERATIONS);
}

// Accesses are checked by proven stretches and masks, barriers cut the body into phases, and a
// time limit is looked at in loops that may be long: all of that is the emitter's.
static const lower_target cpu_target = {
    .name = "cpu",
    .runs_lanes_along_x = true,
    .merges_groups = true,
    .has_f64 = true,
    .has_i64 = true,
    .has_small_storage = true,
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
    .counts_by_any_step = true,
    .checks_bounds = true,
    .zeroes_shared = true,
    .has_i64_atomics = true,
    .has_i64_extended_atomics = true,
    .has_float_atomics = true,
    .parts_at_barriers = true,
};

static vyre_status compile_lowered(const vyre_program *program, cpu_options *options, cpu_code *out,
                                   vyre_error *error) {
  vyre_status status = check_size(program, error);
  if (status != VYRE_OK) return status;
  job j = {.p = program, .options = options, .out = out};
  out->regions = calloc(program->region_count, sizeof *out->regions);
  if (!out->regions || !cut(&j)) return error_out_of_memory(error);
  status = run_parts(&j, begin_parts, error);
  if (status == VYRE_OK) choose_tier(&j);
  if (status == VYRE_OK) status = run_parts(&j, finish_parts, error);
  if (status == VYRE_OK) status = join(&j, out, error);
  for (uint32_t i = 0; i < j.count; i++) part_fini(&j.parts[i]);
  free(j.parts);
  return status;
}

static vyre_status lower_and_compile(const vyre_program *program, cpu_options *options,
                                     cpu_code *out, vyre_error *error) {
  target machine;
  vyre_status status = target_open(options, &machine, error);
  if (status != VYRE_OK) return status;
  lower_target wanted = cpu_target;
  wanted.converts_f16 = machine.converts_f16;
  target_close(&machine);
  vyre_program *lowered;
  status = lower_program(program, &wanted, &lowered, error);
  if (status == VYRE_OK) status = compile_lowered(lowered, options, out, error);
  vyre_program_release(lowered);
  return status;
}

static vyre_status compile(const vyre_program *program, const cpu_options *wanted, cpu_code *out,
                           vyre_error *error) {
  cpu_options options = *wanted;
  *out = (cpu_code){.region_count = program->region_count};
  unsigned w = options.width;
  if (w > LANEWISE_MOST || (w & (w - 1)))
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "a width of %u lanes is none of 1, 2, 4, ... 64. Fix: pass one of these, or 0",
                     w);
  vyre_status status = lower_and_compile(program, &options, out, error);
  if (status != VYRE_OK) {
    free(out->object);
    free(out->part_bytes);
    free(out->regions);
    free(out->remarks);
    free(out->llvm);
    free(out->assembly);
    *out = (cpu_code){0};
  }
  return status;
}

VYRE_API extern const cpu_codegen vyre_cpu_codegen;
const cpu_codegen vyre_cpu_codegen = {
    .abi_version = CPU_ABI_VERSION,
    .llvm_version = target_llvm_version,
    .host = target_host,
    .compile = compile,
};
