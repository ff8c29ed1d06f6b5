// SPDX-License-Identifier: MIT
//
// Functions that touch memory: vload and vstore, atomics, barriers, copies by the workgroup.
#include "front/clang/builtin.h"
#include "front/clang/half.h"

#include <stdlib.h>
#include <string.h>

static ref two(lowering *l, vyre_op op, ref x, ref y) {
  return e_binary(l, op, x, y);
}

static const pointer *pointer_arg(lowering *l, node *n, const value *arg) {
  if (!arg->at || !arg->at[0].p)
    lower_refuse(l, n->offset, "a call that should have a pointer", "pass a pointer");
  return arg->at[0].p;
}

// ---- order --------------------------------------------------------------------------------------

value memory_barrier(lowering *l, node *n, const value *args, int what) {
  (void)args, (void)what;
  vyre_build_barrier(l->b);
  return value_new(l, n->type, n->offset);
}

// An invocation sees its own accesses in order, and sees those of others only past a barrier.
value memory_fence(lowering *l, node *n, const value *args, int what) {
  (void)args, (void)what;
  return value_new(l, n->type, n->offset);
}

// ---- hints about caches -------------------------------------------------------------------------

static place pointed(lowering *l, node *n, const value *arg) {
  const pointer *at = pointer_arg(l, n, arg);
  return (place){.type = arg->type->element, .at = *at};
}

value memory_nontemporal_load(lowering *l, node *n, const value *args, int what) {
  (void)what;
  place from = pointed(l, n, &args[0]);
  return value_convert(l, load(l, &from, n->offset), n->type, n->offset);
}

value memory_nontemporal_store(lowering *l, node *n, const value *args, int what) {
  (void)what;
  place to = pointed(l, n, &args[1]);
  store(l, &to, value_convert(l, args[0], to.type, n->offset), n->offset);
  return value_new(l, n->type, n->offset);
}

// ---- atomics ------------------------------------------------------------------------------------

static vyre_type atomic_type(lowering *l, node *n, const ctype *pointer_type) {
  const ctype *of = pointer_type->kind == T_POINTER ? pointer_type->element : pointer_type;
  if (of->kind != T_SCALAR || of->size < 4)
    lower_refuse(l, n->offset, "an atomic operation on this type",
                 "use int, uint, long, ulong, float or double");
  return of->scalar;
}

static atomic_kind kind_of(vyre_op op) {
  if (op == VYRE_OP_ATOMIC_EXCHANGE) return ATOMIC_BITS;
  return op == VYRE_OP_ATOMIC_MIN || op == VYRE_OP_ATOMIC_MAX ? ATOMIC_ORDER : ATOMIC_SUM;
}

// An atomic operation: `expected` is 0 but for a compare and exchange.
typedef struct atomic_work {
  vyre_op op;
  vyre_type type;
  ref operand, expected;
} atomic_work;

static ref atomic_one(lowering *l, node *n, const pointer *p, uint32_t which,
                      const atomic_work *w) {
  ref index;
  atomic_kind kind = w->expected ? ATOMIC_BITS : kind_of(w->op);
  vyre_mem mem = atomic_place(l, p, which, w->type, kind, &index, n->offset);
  vyre_type element = p->set->at[which]->word;
  ref operand = e_bits(l, element, w->operand);
  return e_bits(l, w->type,
                w->expected ? vyre_build_atomic_cas(l->b, mem, index,
                                                    e_bits(l, element, w->expected), operand)
                            : vyre_build_atomic(l->b, w->op, mem, index, operand));
}

// On the one of its objects that the pointer points into; what is null has no element.
static ref atomic_work_on(lowering *l, node *n, const value *arg, atomic_work w) {
  const pointer *p = pointer_arg(l, n, arg);
  if (p->set->count == 1 && p->set->at[0]->kind != B_NULL) return atomic_one(l, n, p, 0, &w);
  vyre_var found = vyre_build_var(l->b, "found", e_zero(l, w.type));
  for (uint32_t i = 0; i < p->set->count; i++) {
    if (p->set->at[i]->kind == B_NULL) continue;
    base_indexed(l, p->set->at[i]);
    vyre_build_if(l->b, pointer_is_in(l, p, i));
    vyre_build_set(l->b, found, atomic_one(l, n, p, i, &w));
    vyre_build_end(l->b);
  }
  return vyre_build_get(l->b, found);
}

static value atomic(lowering *l, node *n, const value *args, vyre_op op, ref operand) {
  vyre_type type = atomic_type(l, n, args[0].type);
  ref old = atomic_work_on(l, n, &args[0], (atomic_work){op, type, operand, 0});
  return value_convert(l, value_scalar(l, old), n->type, n->offset);
}

value memory_atomic(lowering *l, node *n, const value *args, int what) {
  vyre_type type = atomic_type(l, n, args[0].type);
  return atomic(l, n, args, (vyre_op)what, e_convert(l, type, args[1].at[0].v));
}

value memory_atomic_one(lowering *l, node *n, const value *args, int what) {
  vyre_type type = atomic_type(l, n, args[0].type);
  return atomic(l, n, args, (vyre_op)what, e_int(l, type, 1));
}

value memory_atomic_store(lowering *l, node *n, const value *args, int what) {
  (void)what;
  vyre_type type = atomic_type(l, n, args[0].type);
  atomic(l, n, args, VYRE_OP_ATOMIC_EXCHANGE, e_convert(l, type, args[1].at[0].v));
  return value_new(l, n->type, n->offset);
}

static ref compare_and_swap(lowering *l, node *n, const value *args, ref expected, ref desired) {
  vyre_type type = atomic_type(l, n, args[0].type);
  atomic_work w = {VYRE_OP_ATOMIC_CAS, type, e_convert(l, type, desired),
                   e_convert(l, type, expected)};
  return atomic_work_on(l, n, &args[0], w);
}

value memory_atomic_load(lowering *l, node *n, const value *args, int what) {
  (void)what;
  vyre_type type = atomic_type(l, n, args[0].type);
  // A zero for a zero: nothing changes, whatever is there.
  ref zero = e_zero(l, type);
  ref old = type_is_float(type) ? compare_and_swap(l, n, args, zero, zero) : 0;
  return old ? value_scalar(l, old) : atomic(l, n, args, VYRE_OP_ATOMIC_OR, zero);
}

value memory_cmpxchg(lowering *l, node *n, const value *args, int what) {
  (void)what;
  ref old = compare_and_swap(l, n, args, args[1].at[0].v, args[2].at[0].v);
  return value_convert(l, value_scalar(l, old), n->type, n->offset);
}

// As in C11: what was expected is in memory, and becomes what was found.
value memory_compare_exchange(lowering *l, node *n, const value *args, int what) {
  (void)what;
  vyre_type type = atomic_type(l, n, args[0].type);
  const pointer *at = pointer_arg(l, n, &args[1]);
  ref expected = load_scalar(l, at, 0, type, n->offset);
  ref old = compare_and_swap(l, n, args, expected, args[2].at[0].v);
  store_scalar(l, at, 0, old, n->offset);
  vyre_type bits = type_unsigned(type_bytes(type)); // of floats too
  ref is_done = two(l, VYRE_OP_EQ, e_bits(l, bits, old), e_bits(l, bits, expected));
  return value_convert(l, value_scalar(l, is_done), n->type, n->offset);
}

// An atomic_flag is an int that is 0 or 1.
value memory_flag(lowering *l, node *n, const value *args, int what) {
  value old = atomic(l, n, args, VYRE_OP_ATOMIC_EXCHANGE, e_int(l, VYRE_I32, what));
  return what ? old : value_new(l, n->type, n->offset);
}

// ---- address spaces -----------------------------------------------------------------------------

static addr_space space_of(const base *b) {
  return b->kind == B_NULL ? SPACE_GENERIC : b->space;
}

// Whether the pointer points into memory of the space.
static ref is_in_space(lowering *l, const pointer *p, addr_space space) {
  ref any = vyre_build_bool(l->b, false);
  for (uint32_t i = 0; i < p->set->count; i++) {
    if (space_of(p->set->at[i]) != space) continue;
    if (p->set->count == 1) return vyre_build_bool(l->b, true);
    any = e_or(l, any, pointer_is_in(l, p, i));
  }
  return any;
}

// to_global, to_local, to_private: the pointer, or null when it points elsewhere.
value memory_to_space(lowering *l, node *n, const value *args, int what) {
  const pointer *p = pointer_arg(l, n, &args[0]);
  ref is_it = is_in_space(l, p, (addr_space)what);
  uint64_t known;
  pointer null = pointer_null(l);
  if (e_is_const(l, is_it, &known)) return value_pointer(l, n->type, known ? *p : null);
  return value_pointer(l, n->type, pointer_select(l, is_it, p, &null));
}

value memory_get_fence(lowering *l, node *n, const value *args, int what) {
  (void)what;
  enum { LOCAL_FENCE = 1, GLOBAL_FENCE = 2 };
  const pointer *p = pointer_arg(l, n, &args[0]);
  vyre_type type = n->type->scalar;
  ref made =
      e_select(l, is_in_space(l, p, SPACE_GLOBAL), e_const(l, type, GLOBAL_FENCE), e_zero(l, type));
  return value_scalar(
      l, e_select(l, is_in_space(l, p, SPACE_LOCAL), e_const(l, type, LOCAL_FENCE), made));
}

// ---- copies by the workgroup --------------------------------------------------------------------

// Each invocation copies its share now; the barrier is where the events are waited for.
value memory_copy(lowering *l, node *n, const value *args, int what) {
  const pointer *to = pointer_arg(l, n, &args[0]), *from = pointer_arg(l, n, &args[1]);
  const ctype *type = args[0].type->element;
  ref count = args[2].at[0].v;
  vyre_type index = e_type(l, count);
  uint64_t step = (uint64_t)l->workgroup[0] * l->workgroup[1] * l->workgroup[2];
  ref k = vyre_build_for(l->b, group_linear_id(l, index), count, e_const(l, index, step));
  ref far = what ? two(l, VYRE_OP_MUL, k, e_convert(l, index, args[3].at[0].v)) : k;
  bool is_gather = args[0].type->space == SPACE_LOCAL; // the stride is that of global memory
  place source = {.type = type, .at = pointer_add(l, *from, is_gather ? far : k, type->size)};
  place target = {.type = type, .at = pointer_add(l, *to, is_gather ? k : far, type->size)};
  store(l, &target, load(l, &source, n->offset), n->offset);
  vyre_build_end(l->b);
  return value_new(l, n->type, n->offset);
}

// ---- vload and vstore ---------------------------------------------------------------------------

typedef struct vector_name { // vload4, vstorea_half8_rtz
  bool is_store, is_half, is_aligned;
  uint32_t lanes;
  char mode; // of rounding: e, z, p, n
} vector_name;

static bool read_name(const char *name, vector_name *out) {
  *out = (vector_name){.lanes = 1, .mode = 'e'};
  out->is_store = !strncmp(name, "vstore", 6);
  name += out->is_store ? 6 : 5;
  out->is_aligned = *name == 'a';
  name += out->is_aligned;
  out->is_half = !strncmp(name, "_half", 5);
  name += out->is_half ? 5 : 0;
  if (*name >= '1' && *name <= '9') {
    char *end;
    out->lanes = (uint32_t)strtoul(name, &end, 10);
    name = end;
  }
  if (out->is_half && out->is_store && !strncmp(name, "_rt", 3) && name[3] && !name[4]) {
    out->mode = name[3];
    name += 4;
  }
  return !*name && out->lanes <= 16;
}

value name_vload(lowering *l, node *n, const value *args, bool *found) {
  vector_name name;
  uint32_t first = 0;
  *found = read_name(n->name, &name) && n->count == (name.is_store ? 3u : 2u);
  if (!*found) return (value){0};
  first = name.is_store ? 1 : 0;
  const pointer *p = pointer_arg(l, n, &args[first + 1]);
  uint64_t bytes = name.is_half ? 2 : args[first + 1].type->element->size;
  uint64_t stride = bytes * (name.is_aligned && name.lanes == 3 ? 4 : name.lanes);
  pointer at = pointer_add(l, *p, args[first].at[0].v, stride);
  value made = name.is_store ? args[0] : value_new(l, n->type, n->offset);
  const ctype *element = args[first + 1].type->element;
  for (uint32_t i = 0; i < name.lanes; i++) {
    int64_t disp = (int64_t)(i * bytes);
    if (name.is_store && name.is_half)
      store_scalar(l, &at, disp, half_from(l, made.at[i].v, name.mode), n->offset);
    else if (name.is_store)
      store_scalar(l, &at, disp, made.at[i].v, n->offset);
    else if (name.is_half)
      made.at[i].v = e_convert(l, n->type->scalar, load_scalar(l, &at, disp, VYRE_F16, n->offset));
    else
      made.at[i].v = load_scalar(l, &at, disp, element->scalar, n->offset);
  }
  return name.is_store ? value_new(l, n->type, n->offset) : made;
}
