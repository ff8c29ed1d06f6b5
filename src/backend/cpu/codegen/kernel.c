// SPDX-License-Identifier: MIT
//
// One region becomes one function. Its entry block loads what the dispatch brings, as far as the
// body asks for it.
#include "backend/cpu/codegen/lines.h"
#include "backend/cpu/codegen/tally.h"

#include "analysis/bounds.h"
#include "base/error.h"
#include "ir/op_groups.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

// ---- what a dispatch brings ---------------------------------------------------------------------

static llval load_at(kernel *k, llval base, size_t offset, lltype type) {
  llval index = const_i64(k->u, offset);
  llval at = LLVMBuildGEP2(k->entry, k->u->i8, base, &index, 1, "");
  return LLVMBuildLoad2(k->entry, type, at, "");
}

llval kernel_param(kernel *k, uint32_t index) {
  if (k->params[index]) return k->params[index];
  unit *u = k->u;
  vyre_type type = k->p->params[index].type;
  llval params = load_at(k, k->args, offsetof(cpu_args, params), u->ptr);
  llval bits = load_at(k, params, index * sizeof(uint64_t), type_memory(u, type));
  if (type == VYRE_BOOL) bits = LLVMBuildTrunc(k->entry, bits, u->i1, "");
  return k->params[index] = bits;
}

static void load_buffer(kernel *k, uint32_t index) {
  unit *u = k->u;
  llval buffers = load_at(k, k->args, offsetof(cpu_args, buffers), u->ptr);
  size_t at = index * sizeof(bound_buffer);
  llval data = load_at(k, buffers, at + offsetof(bound_buffer, data), u->ptr);
  llval length = load_at(k, buffers, at + offsetof(bound_buffer, length), u->i64);
  llval is_empty = LLVMBuildICmp(k->entry, LLVMIntEQ, length, const_i64(u, 0), "");
  k->data[index] = LLVMBuildSelect(k->entry, is_empty, u->zeros, data, k->p->buffers[index].name);
  k->length[index] = length;
}

llval kernel_data(kernel *k, uint32_t index) {
  if (!k->data[index]) load_buffer(k, index);
  return k->data[index];
}

llval kernel_length(kernel *k, uint32_t index) {
  if (!k->data[index]) load_buffer(k, index);
  return k->length[index];
}

llval kernel_grid(kernel *k, uint32_t axis) {
  if (!k->grid[axis])
    k->grid[axis] =
        load_at(k, k->args, offsetof(cpu_args, grid) + axis * sizeof(uint64_t), k->u->i64);
  return k->grid[axis];
}

llval kernel_is_alone(kernel *k) {
  if (!k->is_alone) {
    llval flag = load_at(k, k->args, offsetof(cpu_args, is_alone), k->u->i32);
    k->is_alone = LLVMBuildICmp(k->entry, LLVMIntNE, flag, LLVMConstInt(k->u->i32, 0, false), "");
  }
  return k->is_alone;
}

llval kernel_stays(kernel *k) {
  if (!k->stays) {
    llval flag = load_at(k, k->args, offsetof(cpu_args, streams), k->u->i32);
    llval is_not = LLVMBuildICmp(k->entry, LLVMIntEQ, flag, LLVMConstInt(k->u->i32, 0, false), "");
    k->stays = LLVMBuildZExt(k->entry, is_not, k->u->i64, "");
  }
  return k->stays;
}

llval kernel_bound(kernel *k, llval array, uint32_t axis) {
  llval bound = load_at(k, array, axis * sizeof(uint32_t), k->u->i32);
  return LLVMBuildZExt(k->entry, bound, k->u->i64, "");
}

uint64_t kernel_scratch(kernel *k, uint64_t bytes) {
  uint64_t at = k->scratch_bytes;
  k->scratch_bytes = (at + bytes + 63) / 64 * 64;
  return at;
}

// Not a variable: LLVM would see that nobody reads it, and jump over the store.
llval kernel_aside(kernel *k) {
  if (k->aside) return k->aside;
  llval at = const_i64(k->u, kernel_scratch(k, sizeof(uint64_t)));
  return k->aside = LLVMBuildGEP2(k->entry, k->u->i8, k->scratch, &at, 1, "aside");
}

llval kernel_shared(kernel *k, uint32_t index) {
  return k->shared[index - k->region->shared.first];
}

// ---- alias analysis -----------------------------------------------------------------------------

static uint32_t scope_index(const kernel *k, uint32_t mem) {
  if (mem_space(mem) != MEM_SHARED) return mem_index(mem);
  return k->p->buffer_count + mem_index(mem) - k->region->shared.first;
}

static LLVMMetadataRef make_scope(kernel *k, LLVMMetadataRef domain, uint32_t index) {
  char name[32];
  int size = snprintf(name, sizeof name, "vyre.%u.%u", k->index, index);
  LLVMMetadataRef parts[2] = {LLVMMDStringInContext2(k->u->context, name, (size_t)size), domain};
  return LLVMMDNodeInContext2(k->u->context, parts, 2);
}

// Memory objects that a region uses never overlap: the launch refuses buffers that do.
static bool make_scopes(kernel *k) {
  arena *a = &k->u->arena;
  uint32_t count = k->p->buffer_count + k->region->shared.end - k->region->shared.first;
  LLVMMetadataRef name = LLVMMDStringInContext2(k->u->context, "vyre", 4);
  LLVMMetadataRef domain = LLVMMDNodeInContext2(k->u->context, &name, 1);
  LLVMMetadataRef *all = arena_alloc_array(a, count + 1u, sizeof *all);
  LLVMMetadataRef *others = arena_alloc_array(a, count + 1u, sizeof *others);
  k->scopes = arena_alloc_array(a, 2 * ((size_t)count + 1), sizeof *k->scopes);
  if (!all || !others || !k->scopes) return false;
  for (uint32_t i = 0; i < count; i++) all[i] = make_scope(k, domain, i);
  for (uint32_t i = 0; i < count; i++) {
    size_t n = 0;
    for (uint32_t j = 0; j < count; j++)
      if (j != i) others[n++] = all[j];
    k->scopes[2 * i] = LLVMMDNodeInContext2(k->u->context, &all[i], 1);
    k->scopes[2 * i + 1] = LLVMMDNodeInContext2(k->u->context, others, n);
  }
  return true;
}

llval kernel_mark(kernel *k, llval access, uint32_t mem) {
  LLVMContextRef c = k->u->context;
  uint32_t i = 2 * scope_index(k, mem);
  LLVMSetMetadata(access, k->u->scope_kind, LLVMMetadataAsValue(c, k->scopes[i]));
  LLVMSetMetadata(access, k->u->noalias_kind, LLVMMetadataAsValue(c, k->scopes[i + 1]));
  return access;
}

// ---- facts about the body -----------------------------------------------------------------------

static bool find_facts(kernel *k) {
  const vyre_program *p = k->p;
  uint32_t first = k->region->body.first;
  k->is_own = arena_alloc_array(&k->u->arena, p->buffer_count + 1u, sizeof(bool));
  k->is_used = arena_alloc_array(&k->u->arena, k->region->body.end - first + 1u, sizeof(bool));
  k->is_only_written = arena_alloc_array(&k->u->arena, p->buffer_count + 1u, sizeof(bool));
  if (!k->is_own || !k->is_used || !k->is_only_written || !updates_find(k)) return false;
  for (uint32_t i = 0; i < p->buffer_count; i++) {
    k->is_own[i] = k->region->rank == 1;
    k->is_only_written[i] = true;
  }
  for (uint32_t i = first; i < k->region->body.end; i++) {
    const inst *in = &p->code[i];
    const char *operands = op_table[in->op].operands;
    for (int n = 0; operands[n]; n++)
      if (operands[n] == 'v' && !ref_is_const(in->arg[n])) k->is_used[in->arg[n] - first] = true;
    bool writes = in->op == VYRE_OP_STORE || op_is_atomic(in->op);
    if (operands[0] == 'm' && in->op != VYRE_OP_STORE && mem_space(in->arg[0]) == MEM_BUFFER)
      k->is_only_written[mem_index(in->arg[0])] = false;
    if (writes && mem_space(in->arg[0]) == MEM_BUFFER &&
        (op_is_atomic(in->op) || bounds_global_axis(p, in->arg[1]) != 0))
      k->is_own[mem_index(in->arg[0])] = false;
  }
  return true;
}

bool is_written(const kernel *k, uint32_t mem) {
  for (uint32_t i = k->region->body.first; i < k->region->body.end; i++) {
    const inst *in = &k->p->code[i];
    if ((in->op == VYRE_OP_STORE || op_is_atomic(in->op)) && in->arg[0] == mem) return true;
  }
  return false;
}

bool may_repeat(const kernel *k) {
  for (uint32_t i = k->region->body.first; i < k->region->body.end; i++) {
    const inst *in = &k->p->code[i];
    if (op_is_atomic(in->op)) return false;
    if (in->op == VYRE_OP_LOAD && mem_space(in->arg[0]) != MEM_PRIVATE && is_written(k, in->arg[0]))
      return false;
  }
  return true;
}

enum { MOST_STEPS = 24 };

static bool is_apart_in(const kernel *k, uint32_t loop, ref r, unsigned *steps) {
  if (ref_is_const(r) || r == loop) return true;
  const inst *in = &k->p->code[r];
  if (++*steps > MOST_STEPS) return false;
  switch ((vyre_op)in->op) {
  case OPS_LAUNCH: return true;
  case OPS_COMPUTED:
    for (int i = 0; i < op_table[in->op].operand_count; i++)
      if (!is_apart_in(k, loop, in->arg[i], steps)) return false;
    return true;
  case OPS_MEMORY:
  case OPS_STATE:
  case OPS_STRUCTURE:
  case OPS_NONE: break; // changes on the way
  }
  return false;
}

bool is_apart(const kernel *k, uint32_t loop, ref r) {
  unsigned steps = 0;
  return is_apart_in(k, loop, r, &steps);
}

// ---- the function -------------------------------------------------------------------------------

static void add_attribute(unit *u, llval function, const char *name, const char *value) {
  LLVMAttributeRef a = LLVMCreateStringAttribute(u->context, name, (unsigned)strlen(name), value,
                                                 (unsigned)strlen(value));
  LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, a);
}

static void add_flag(unit *u, llval value, LLVMAttributeIndex at, const char *name) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddAttributeAtIndex(value, at, LLVMCreateEnumAttribute(u->context, kind, 0));
}

static void make_function(kernel *k, const char *symbol) {
  unit *u = k->u;
  lltype params[4] = {u->ptr, u->ptr, u->ptr, u->ptr};
  lltype type = LLVMFunctionType(u->i32, params, 4, false);
  k->function = LLVMAddFunction(u->module, symbol, type);
  add_flag(u, k->function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, "nounwind");
  if (u->target->vector_bits == 512) {
    add_attribute(u, k->function, "prefer-vector-width", "512");
    add_attribute(u, k->function, "min-legal-vector-width", "512");
  }
  if (k->is_large) { // passes that are slow on much code leave it alone
    add_flag(u, k->function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, "optnone");
    add_flag(u, k->function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, "noinline");
  }
  k->args = LLVMGetParam(k->function, 0);
  k->lo = LLVMGetParam(k->function, 1);
  k->hi = LLVMGetParam(k->function, 2);
  k->scratch = LLVMGetParam(k->function, 3);
  for (LLVMAttributeIndex i = 1; i <= 4; i++) add_flag(u, k->function, i, "noalias");
  llblock entry = LLVMAppendBasicBlockInContext(u->context, k->function, "entry");
  k->entry = LLVMCreateBuilderInContext(u->context);
  LLVMPositionBuilderAtEnd(k->entry, entry);
  k->stop = load_at(k, k->args, offsetof(cpu_args, stop), u->ptr);
  k->stopped = LLVMAppendBasicBlockInContext(u->context, k->function, "stopped");
}

void kernel_return(kernel *k, LLVMBuilderRef b, int code) {
  LLVMBuildRet(b, LLVMConstInt(k->u->i32, (uint64_t)code, false));
}

static void place_shared(kernel *k) {
  for (uint32_t i = k->region->shared.first; i < k->region->shared.end; i++) {
    const shared_array *s = &k->p->shared[i];
    llval at = const_i64(k->u, kernel_scratch(k, (uint64_t)s->length * type_bytes(s->type)));
    k->shared[i - k->region->shared.first] =
        LLVMBuildGEP2(k->entry, k->u->i8, k->scratch, &at, 1, s->name);
  }
}

static bool allocate(kernel *k) {
  arena *a = &k->u->arena;
  k->params = arena_alloc_array(a, k->p->param_count + 1u, sizeof(llval));
  k->data = arena_alloc_array(a, k->p->buffer_count + 1u, sizeof(llval));
  k->length = arena_alloc_array(a, k->p->buffer_count + 1u, sizeof(llval));
  k->shared =
      arena_alloc_array(a, k->region->shared.end - k->region->shared.first + 1u, sizeof(llval));
  return k->params && k->data && k->length && k->shared && make_scopes(k) && find_facts(k);
}

// One invocation at a time: nothing differs along x.
static bool flatten(const kernel *k, shapes from, shapes *s) {
  uint32_t count = k->region->body.end - k->region->body.first;
  *s = from;
  s->values = arena_alloc_array(&k->u->arena, count + 1u, sizeof *s->values);
  s->blocks = arena_alloc_array(&k->u->arena, count + 1u, sizeof *s->blocks);
  if (!s->values || !s->blocks) return false;
  for (uint32_t i = 0; i < count; i++) {
    s->values[i] = (shape){.axes = from.values[i].axes & ~AXIS_X};
    s->blocks[i] = from.blocks[i];
    block_shape *b = &s->blocks[i];
    b->parts &= ~AXIS_X;
    b->continues &= ~AXIS_X;
    b->returns &= ~AXIS_X;
    b->exits &= ~AXIS_X;
  }
  s->returns &= ~AXIS_X;
  return true;
}

// Under assumptions, which are checked for each phase: what lives beyond one does not rest on them.
static bool assumed_shapes(kernel *k, const plan *plan, const uint8_t *assume, shapes *out) {
  shapes_wish wish = {.assume = assume, .plain = &plan->shapes, .vector = plan->vector};
  wish.is_plain = plan->phases ? plan->phases->is_crossing : NULL;
  return shapes_compute_in_vectors(&k->u->arena, k->p, k->region, &k->known, wish, out);
}

// The phases of a workgroup are made of vectors that begin at multiples of their width. What that
// makes the same for each vector was not asked for where the phases were found: it is not the same
// for the workgroup.
static bool align_vectors(kernel *k, plan *plan) {
  bool is_power = !(plan->width & (plan->width - 1));
  if (!plan->phases || !plan->phases->is_together || plan->width == 1 || !is_power) return true;
  plan->vector = plan->width;
  shapes_wish wish = {.assume = k->voted, .vector = plan->vector};
  return shapes_compute_in_vectors(&k->u->arena, k->p, k->region, &k->known, wish, &plan->shapes) &&
         assumed_shapes(k, plan, plan->guards.assume, &plan->fast_shapes) &&
         flatten(k, plan->shapes, &plan->flat);
}

// In a workgroup as many invocations may be on one side of a condition as on the other.
static bool plan_other(kernel *k, plan *plan, guards_wish wish) {
  wish.other = true;
  plan->has_other = plan->phases && plan->width > 1 && plan->guards.conditions;
  if (!plan->has_other) return true;
  return guards_plan(k, &plan->shapes, wish, &plan->other_guards) &&
         assumed_shapes(k, plan, plan->other_guards.assume, &plan->other_shapes);
}

static bool make_plan(kernel *k, plan *plan, phases *phases) {
  arena *a = &k->u->arena;
  if (!shapes_compute(a, k->p, k->region, &k->known, NULL, &plan->shapes)) return false;
  if (k->region->has_barrier) {
    if (!phases_compute(a, k->p, k->region, &plan->shapes, phases)) return false;
    plan->phases = phases;
    if (!phases->is_together && !vote_plan(k, plan)) return false;
    if (plan->apart && !flatten(k, plan->apart_shapes, &plan->apart_flat)) return false;
  }
  bool is_resumed = plan->phases && !plan->phases->is_together;
  guards_wish wish = {.phases = plan->phases, .rows = 1, .given = k->voted};
  if (!guards_plan(k, &plan->shapes, wish, &plan->guards)) return false;
  if (is_resumed) plan->guards.count = 0;
  if (!assumed_shapes(k, plan, plan->guards.assume, &plan->fast_shapes) ||
      !flatten(k, plan->shapes, &plan->flat))
    return false;
  if (!choose_width(k, &plan->fast_shapes, plan)) return false;
  if (is_resumed) plan->width = 1;
  if (!align_vectors(k, plan)) return false;
  if (!choose_rows(k, plan) || !plan_other(k, plan, wish)) return false;
  if (!tally_plan(k, &plan->shapes)) return false;
  if (plan->width == 1) plan->shapes = plan->flat;
  return plan->width != 1 || flatten(k, plan->fast_shapes, &plan->fast_shapes);
}

// Stores that went by the caches are seen by others before what tells them that it is done.
static void fence_streams(kernel *k, LLVMBuilderRef b) {
  llblock fence = LLVMAppendBasicBlockInContext(k->u->context, k->function, "fence");
  llblock after = LLVMAppendBasicBlockInContext(k->u->context, k->function, "fenced");
  llval streams = LLVMBuildICmp(b, LLVMIntEQ, k->stays, const_i64(k->u, 0), "");
  LLVMBuildCondBr(b, streams, fence, after);
  LLVMPositionBuilderAtEnd(b, fence);
  emitter e = {.k = k, .u = k->u, .b = b, .width = 1};
#if defined(__x86_64__) // whose fences order other stores only
  build_intrinsic(&e, "llvm.x86.sse.sfence", NULL, 0, NULL, 0);
#else
  LLVMBuildFence(e.b, LLVMAtomicOrderingSequentiallyConsistent, false, "");
#endif
  LLVMBuildBr(b, after);
  LLVMPositionBuilderAtEnd(b, after);
}

bool kernel_emit(unit *u, uint32_t index, cpu_region_code *out) {
  kernel k = {.u = u, .p = u->p, .region = &u->p->regions[index], .index = index};
  plan plan = {0};
  phases phases;
  if (!allocate(&k) || !ranges_compute(&u->arena, u->p, k.region, &k.known) ||
      !make_plan(&k, &plan, &phases) || !lines_plan(&k, &plan))
    return false;
  k.is_large = plan.is_large;
  snprintf(out->symbol, sizeof out->symbol, "vyre_%u_%.40s", index, k.region->name);
  make_function(&k, out->symbol);
  debug_function(&k, out->symbol);
  place_shared(&k);
  LLVMBuilderRef b = LLVMCreateBuilderInContext(u->context);
  llblock start = LLVMAppendBasicBlockInContext(u->context, k.function, "start");
  LLVMPositionBuilderAtEnd(b, start);
  if (k.region->is_elastic)
    emit_box(&k, b, &plan);
  else
    emit_groups(&k, b, &plan);
  if (k.stays) fence_streams(&k, b);
  kernel_return(&k, b, CPU_RAN);
  LLVMPositionBuilderAtEnd(b, k.stopped);
  kernel_return(&k, b, CPU_STOPPED);
  LLVMBuildBr(k.entry, start);
  LLVMDisposeBuilder(b);
  LLVMDisposeBuilder(k.entry);
  out->width = plan.width;
  out->rows = plan.rows;
  out->packs = plan.packing.count > 0;
  out->lanes = k.region->lanes;
  out->is_merged = k.region->is_merged;
  choose_tile(&k, &plan, out->tile_hint);
  write_remarks(&k, &plan);
  out->scratch_bytes = k.scratch_bytes;
  return true;
}
