// SPDX-License-Identifier: MIT
//
// One region becomes one function. Its entry block loads what the dispatch brings, as far as the
// body asks for it.
#include "backend/cpu/codegen/kernel.h"

#include "base/error.h"

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

llval kernel_bound(kernel *k, llval array, uint32_t axis) {
  llval bound = load_at(k, array, axis * sizeof(uint32_t), k->u->i32);
  return LLVMBuildZExt(k->entry, bound, k->u->i64, "");
}

uint64_t kernel_scratch(kernel *k, uint64_t bytes) {
  uint64_t at = k->scratch_bytes;
  k->scratch_bytes = (at + bytes + 63) / 64 * 64;
  return at;
}

llval kernel_shared(kernel *k, uint32_t index) {
  return k->shared[index];
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
    k->shared[i] = LLVMBuildGEP2(k->entry, k->u->i8, k->scratch, &at, 1, s->name);
  }
}

static bool allocate(kernel *k) {
  arena *a = &k->u->arena;
  k->params = arena_alloc_array(a, k->p->param_count + 1u, sizeof(llval));
  k->data = arena_alloc_array(a, k->p->buffer_count + 1u, sizeof(llval));
  k->length = arena_alloc_array(a, k->p->buffer_count + 1u, sizeof(llval));
  k->shared = arena_alloc_array(a, k->p->shared_count + 1u, sizeof(llval));
  return k->params && k->data && k->length && k->shared;
}

static unsigned choose_width(const kernel *k) {
  if (k->u->options->width) return k->u->options->width;
  return k->u->target->vector_bits / 32;
}

// One invocation at a time: nothing differs along x.
static void flatten(const kernel *k, shapes *s) {
  for (uint32_t i = 0; i < k->region->body.end - k->region->body.first; i++) {
    s->values[i] = (shape){.axes = s->values[i].axes & ~AXIS_X};
    block_shape *b = &s->blocks[i];
    b->parts &= ~AXIS_X;
    b->continues &= ~AXIS_X;
    b->returns &= ~AXIS_X;
    b->exits &= ~AXIS_X;
  }
  s->returns &= ~AXIS_X;
}

bool kernel_emit(unit *u, uint32_t index, cpu_region_code *out) {
  kernel k = {.u = u, .p = u->p, .region = &u->p->regions[index], .index = index};
  plan plan = {0};
  if (!allocate(&k) || !ranges_compute(&u->arena, u->p, k.region, &k.known) ||
      !shapes_compute(&u->arena, u->p, k.region, &k.known, NULL, &plan.shapes))
    return false;
  plan.width = choose_width(&k);
  phases phases;
  if (k.region->has_barrier) {
    if (!phases_compute(&u->arena, u->p, k.region, &plan.shapes, &phases)) return false;
    plan.phases = &phases;
    if (!phases.is_together) plan.width = 1;
  }
  if (plan.width == 1) flatten(&k, &plan.shapes);
  snprintf(out->symbol, sizeof out->symbol, "vyre_%u_%.40s", index, k.region->name);
  make_function(&k, out->symbol);
  place_shared(&k);
  LLVMBuilderRef b = LLVMCreateBuilderInContext(u->context);
  llblock start = LLVMAppendBasicBlockInContext(u->context, k.function, "start");
  LLVMPositionBuilderAtEnd(b, start);
  if (k.region->is_elastic)
    emit_box(&k, b, &plan);
  else
    emit_groups(&k, b, &plan);
  kernel_return(&k, b, CPU_RAN);
  LLVMPositionBuilderAtEnd(b, k.stopped);
  kernel_return(&k, b, CPU_STOPPED);
  LLVMBuildBr(k.entry, start);
  LLVMDisposeBuilder(b);
  LLVMDisposeBuilder(k.entry);
  out->width = plan.width;
  out->scratch_bytes = k.scratch_bytes;
  return true;
}
