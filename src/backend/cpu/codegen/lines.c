// SPDX-License-Identifier: MIT
//
// LLVM forwards what was stored to a load of the same vector, but not to one that lies across two
// vectors, as those of a scan do (s[l - 1]); and a CPU waits there until both have left for memory.
// So an array is a row of whole vectors here, in variables that LLVM takes for registers, and an
// access in a place that is known takes one of them, or lanes of two neighbours.
//
// Between these phases arrays are in memory: before them all is read, which costs nothing where
// nobody looks at it, and behind them what may have been written is written.
#include "backend/cpu/codegen/lines.h"

#include "backend/cpu/codegen/access.h"

enum {
  MOST_LINES = 32,  // vectors of an array
  MOST_VECTORS = 8, // of a workgroup
  MOST_CODE = 2048, // operations of the body, for all vectors of a workgroup
  FEWEST_LANES = 4,
};

typedef struct held {
  llval lines;    // variable: the vectors
  llval memory;   // where the array is otherwise
  uint64_t dirty; // vectors that may differ from those in memory
  bool is_wanted, is_used;
} held;

struct lines {
  held *arrays; // per shared array of the region
  bool is_in;   // registers
  unsigned width;
};

// ---- which arrays -------------------------------------------------------------------------------

static uint32_t slot_of(const kernel *k, uint32_t mem) {
  return mem_index(mem) - k->region->shared.first;
}

// Neighbours from a place that ids and arguments give, or one element.
static bool is_along(const kernel *k, const shapes *shapes, ref index) {
  if (ref_is_const(index)) return true;
  const shape *s = shape_at(shapes, index);
  return (!(s->axes & AXIS_X) || (s->is_linear && s->stride == 1)) && is_apart(k, 0, index);
}

static void refuse_others(kernel *k, const shapes *shapes) {
  for (uint32_t i = k->region->body.first; i < k->region->body.end; i++) {
    const inst *in = &k->p->code[i];
    if (op_table[in->op].operands[0] != 'm' || mem_space(in->arg[0]) != MEM_SHARED) continue;
    bool is_plain = in->op == VYRE_OP_LOAD || in->op == VYRE_OP_STORE;
    if (!is_plain || !is_along(k, shapes, in->arg[1]))
      k->lines->arrays[slot_of(k, in->arg[0])].is_wanted = false;
  }
}

static bool is_known_group(const kernel *k, const plan *plan) {
  const uint32_t *size = k->region->workgroup;
  uint64_t operations = k->region->body.end - k->region->body.first;
  if (!plan->phases || !plan->phases->is_together || plan->phases->has_return) return false;
  if (k->u->options->tier == VYRE_TIER_QUICK || plan->is_large) return false;
  if (plan->width < FEWEST_LANES || plan->rows > 1 || size[1] * size[2] != 1) return false;
  uint32_t vectors = size[0] / plan->width;
  return size[0] % plan->width == 0 && vectors <= MOST_VECTORS && vectors * operations <= MOST_CODE;
}

bool lines_plan(kernel *k, const plan *plan) {
  uint32_t count = k->region->shared.end - k->region->shared.first, wanted = 0;
  k->lines = NULL;
  if (!count || !is_known_group(k, plan)) return true;
  k->lines = arena_alloc(&k->u->arena, sizeof *k->lines);
  if (!k->lines) return false;
  *k->lines = (struct lines){.width = plan->width};
  k->lines->arrays = arena_alloc_array(&k->u->arena, count, sizeof(held));
  if (!k->lines->arrays) return false;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t length = k->p->shared[k->region->shared.first + i].length;
    k->lines->arrays[i].is_wanted = length % plan->width == 0 && length / plan->width <= MOST_LINES;
  }
  refuse_others(k, plan->guards.count ? &plan->fast_shapes : &plan->shapes);
  for (uint32_t i = 0; i < count; i++) wanted += k->lines->arrays[i].is_wanted;
  if (!wanted) k->lines = NULL;
  return true;
}

bool lines_wants(const kernel *k, range code) {
  bool has_access = false;
  if (!k->lines) return false;
  for (uint32_t i = code.first; i < code.end; i++) {
    const inst *in = &k->p->code[i];
    if (in->op == VYRE_OP_FOR || in->op == VYRE_OP_WHILE) return false;
    if (op_table[in->op].operands[0] == 'm' && mem_space(in->arg[0]) == MEM_SHARED)
      has_access |= k->lines->arrays[slot_of(k, in->arg[0])].is_wanted;
  }
  return has_access;
}

uint32_t lines_count(const kernel *k) {
  uint32_t used = 0;
  for (uint32_t i = 0; k->lines && i < k->region->shared.end - k->region->shared.first; i++)
    used += k->lines->arrays[i].is_used;
  return used;
}

// ---- to registers and back ----------------------------------------------------------------------

static uint32_t line_count(const kernel *k, uint32_t slot) {
  return k->p->shared[k->region->shared.first + slot].length / k->lines->width;
}

static lltype line_type(const kernel *k, uint32_t slot) {
  vyre_type type = k->p->shared[k->region->shared.first + slot].type;
  return LLVMVectorType(type_memory(k->u, type), k->lines->width);
}

static llval line_at(const kernel *k, LLVMBuilderRef b, uint32_t slot, llval base, uint64_t i) {
  llval index = const_i64(k->u, i);
  return LLVMBuildGEP2(b, line_type(k, slot), base, &index, 1, "");
}

// An array begins at a multiple of 64 bytes, wherever it is.
static void move_line(kernel *k, LLVMBuilderRef b, uint32_t slot, llval from, llval to,
                      uint64_t i) {
  uint32_t mem = MEM_REF(MEM_SHARED, k->region->shared.first + slot);
  unsigned bytes = type_bytes(k->p->shared[k->region->shared.first + slot].type);
  llval v = LLVMBuildLoad2(b, line_type(k, slot), line_at(k, b, slot, from, i), "");
  LLVMSetAlignment(kernel_mark(k, v, mem), bytes);
  llval stored = LLVMBuildStore(b, v, line_at(k, b, slot, to, i));
  LLVMSetAlignment(kernel_mark(k, stored, mem), bytes);
}

void lines_enter(kernel *k, LLVMBuilderRef b) {
  if (!k->lines || k->lines->is_in) return;
  k->lines->is_in = true;
  for (uint32_t i = 0; i < k->region->shared.end - k->region->shared.first; i++) {
    held *h = &k->lines->arrays[i];
    if (!h->is_wanted) continue;
    if (!h->lines) {
      lltype all = LLVMArrayType2(line_type(k, i), line_count(k, i));
      h->lines = LLVMBuildAlloca(k->entry, all, "lines");
    }
    h->memory = k->shared[i];
    h->dirty = 0;
    for (uint64_t n = 0; n < line_count(k, i); n++) move_line(k, b, i, h->memory, h->lines, n);
    k->shared[i] = h->lines;
  }
}

void lines_leave(kernel *k, LLVMBuilderRef b) {
  if (!k->lines || !k->lines->is_in) return;
  k->lines->is_in = false;
  for (uint32_t i = 0; i < k->region->shared.end - k->region->shared.first; i++) {
    held *h = &k->lines->arrays[i];
    if (!h->is_wanted) continue;
    k->shared[i] = h->memory;
    for (uint64_t n = 0; n < line_count(k, i); n++)
      if (h->dirty >> n & 1) move_line(k, b, i, h->lines, h->memory, n);
  }
}

void lines_forget(kernel *k, LLVMBuilderRef b) {
  for (uint32_t i = 0; k->lines && i < k->region->shared.end - k->region->shared.first; i++)
    k->lines->arrays[i].dirty = 0;
  lines_leave(k, b);
}

// ---- accesses -----------------------------------------------------------------------------------

static held *held_of(const emitter *e, uint32_t op) {
  const struct lines *l = e->k->lines;
  uint32_t mem = e->p->code[op].arg[0];
  if (!l || !l->is_in || mem_space(mem) != MEM_SHARED) return NULL;
  held *h = &l->arrays[slot_of(e->k, mem)];
  return h->is_wanted ? h : NULL;
}

// Where a vector of neighbours is: lane 0 is `lane` lanes behind the beginning of `line`.
typedef struct position {
  uint32_t slot;
  int64_t line;
  unsigned lane;
} position;

// Indices of 32 bits wrap there, which is where signed ones are outside, too.
static bool find_position(const emitter *e, uint32_t op, position *out) {
  ref index = e->p->code[op].arg[1];
  int64_t width = e->width;
  if (e->width != e->k->lines->width || e->aside || is_uniform(e, index)) return false;
  if (access_class_of(e, op) != ACCESS_CONTIGUOUS) return false;
  llval first = index_scalar(e, op, 0);
  if (!LLVMIsAConstantInt(first)) return false;
  int64_t at = LLVMConstIntGetSExtValue(first);
  if (type_bits(ref_type(e->p, index)) == 32) at = (int32_t)(uint32_t)at;
  if (at <= -width || at >= MOST_LINES * width) return false;
  out->slot = slot_of(e->k, e->p->code[op].arg[0]);
  out->line = (at + width) / width - 1;
  out->lane = (unsigned)((at + width) % width);
  return true;
}

static bool is_line_there(const emitter *e, const position *p, int64_t line) {
  return line >= 0 && line < (int64_t)line_count(e->k, p->slot);
}

static llval load_line(const emitter *e, const position *p, const held *h, int64_t line) {
  lltype type = line_type(e->k, p->slot);
  if (!is_line_there(e, p, line)) return LLVMConstNull(type); // what is outside gives zero
  return LLVMBuildLoad2(e->b, type, line_at(e->k, e->b, p->slot, h->lines, (uint64_t)line), "");
}

// Lanes from..from + width - 1 of two vectors that follow each other.
static llval cut(const emitter *e, llval low, llval high, unsigned from) {
  llval lanes[LANEWISE_MOST];
  if (!from) return low;
  for (unsigned i = 0; i < e->width; i++) lanes[i] = LLVMConstInt(e->u->i32, from + i, false);
  return LLVMBuildShuffleVector(e->b, low, high, LLVMConstVector(lanes, e->width), "");
}

llval lines_load(const emitter *e, uint32_t op) {
  position p;
  held *h = held_of(e, op);
  if (!h || !find_position(e, op, &p)) return NULL;
  h->is_used = true;
  note_access(e, ACCESS_CONTIGUOUS, false);
  llval low = load_line(e, &p, h, p.line);
  return p.lane ? cut(e, low, load_line(e, &p, h, p.line + 1), p.lane) : low;
}

// One of the two vectors that are written: `from` says which lane of the value its first one is, in
// a row of zeros, value and zeros. No invocation but those of this thread sees the array, so that
// lanes which are not written may be written back.
static void store_line(const emitter *e, const position *p, held *h, int64_t line, llval value,
                       llval bits) {
  if (!is_line_there(e, p, line)) return; // what is outside is not written
  llval old = load_line(e, p, h, line), all = bits;
  bool is_second = line > p->line;
  unsigned from = e->width - p->lane; // in (zeros, value), or in (value, zeros)
  if (p->lane) {
    llval none = LLVMConstNull(LLVMTypeOf(value)), no = LLVMConstNull(LLVMTypeOf(bits));
    value = is_second ? cut(e, value, none, from) : cut(e, none, value, from);
    all = is_second ? cut(e, bits, no, from) : cut(e, no, bits, from);
  }
  llval at = line_at(e->k, e->b, p->slot, h->lines, (uint64_t)line);
  LLVMBuildStore(e->b, LLVMBuildSelect(e->b, all, value, old, ""), at);
  h->dirty |= (uint64_t)1 << line;
}

bool lines_store(const emitter *e, uint32_t op) {
  position p;
  held *h = held_of(e, op);
  if (!h) return false;
  if (!find_position(e, op, &p)) {
    h->dirty = UINT64_MAX; // anywhere
    return false;
  }
  const inst *in = &e->p->code[op];
  vyre_type type = e->p->shared[mem_index(in->arg[0])].type;
  llval value = to_memory(e, type, value_vector(e, in->arg[2], 0));
  llval bits = e->exec ? mask_test(e, e->exec) : LLVMConstAllOnes(type_vector_of(e, e->u->i1));
  h->is_used = true;
  note_access(e, ACCESS_CONTIGUOUS, false);
  store_line(e, &p, h, p.line, value, bits);
  if (p.lane) store_line(e, &p, h, p.line + 1, value, bits);
  return true;
}
