// SPDX-License-Identifier: MIT
//
// Two accesses are of one run when their indices are sums of the same value and of constants. In
// between nothing else may touch what is accessed, and all of them have the same lanes active: so a
// load may be made early and a store late.
//
// Elements are side by side where all of them are inside: from one index to the next it is one
// more, or both are at the ends of the type, of which one is outside of every memory object.
#include "backend/cpu/codegen/run.h"

#include "analysis/residue.h"
#include "backend/cpu/codegen/access.h"
#include "backend/cpu/codegen/guard.h"
#include "ir/op_groups.h"

// Operations in which a run is looked for.
enum { NEAR = 64 };

typedef struct run {
  uint32_t op[RUN_MOST]; // by element
  unsigned count, place; // of the access that was asked about
  uint32_t last;         // in the code
} run;

// ---- finding ------------------------------------------------------------------------------------

typedef struct sum {
  ref root;
  uint64_t more;
} sum;

static sum take_apart(const vyre_program *p, ref r) {
  sum s = {.root = r};
  while (!ref_is_const(s.root)) {
    const inst *in = &p->code[s.root];
    if (in->op == VYRE_OP_ADD && ref_is_const(in->arg[1])) {
      s.more += p->consts[ref_index(in->arg[1])].bits;
      s.root = in->arg[0];
    } else if (in->op == VYRE_OP_COPY) {
      s.root = in->arg[0];
    } else {
      break;
    }
  }
  return s;
}

static bool is_straight(const inst *in) {
  switch ((vyre_op)in->op) {
  case OPS_COMPUTED:
  case OPS_LAUNCH:
  case OPS_MEMORY:
  case OPS_STATE: return true;
  case OPS_STRUCTURE:
  case OPS_NONE: break;
  }
  return false;
}

// The accesses around i, by their distance from it plus RUN_MOST - 1; itself in the middle. A store
// must be the only one of its element, and nothing else may look at the memory.
static void collect(const vyre_program *p, const region *r, uint32_t i,
                    uint32_t found[2 * RUN_MOST - 1]) {
  const inst *in = &p->code[i];
  bool is_store = in->op == VYRE_OP_STORE;
  sum own = take_apart(p, in->arg[1]);
  found[RUN_MOST - 1] = i;
  for (uint32_t k = i + 1; k < r->body.end && k < i + NEAR; k++) {
    const inst *other = &p->code[k];
    if (!is_straight(other)) break;
    if (op_table[other->op].operands[0] != 'm' || other->arg[0] != in->arg[0]) continue;
    sum s = take_apart(p, other->arg[1]);
    uint64_t distance = s.more - own.more + RUN_MOST - 1;
    bool is_same = other->op == in->op && s.root == own.root && distance < 2 * RUN_MOST - 1 &&
                   ref_type(p, other->arg[1]) == ref_type(p, in->arg[1]);
    if (is_store && (!is_same || found[distance])) break;
    if (!is_store && other->op != VYRE_OP_LOAD) break;
    if (is_same && !found[distance]) found[distance] = k;
  }
}

// As many as `wanted`, with i among them.
static bool find_run(const vyre_program *p, const region *r, uint32_t i, unsigned wanted,
                     run *out) {
  uint32_t found[2 * RUN_MOST - 1] = {0};
  unsigned low = RUN_MOST - 1, high = RUN_MOST - 1;
  collect(p, r, i, found);
  while (low > 0 && found[low - 1]) low--;
  while (high + 1 < 2 * RUN_MOST - 1 && found[high + 1]) high++;
  if (high - low + 1 < wanted) return false;
  if (low + wanted <= RUN_MOST - 1) low = RUN_MOST - wanted;
  *out = (run){.count = wanted, .place = RUN_MOST - 1 - low};
  for (unsigned k = 0; k < wanted; k++) {
    out->op[k] = found[low + k];
    if (out->op[k] > out->last) out->last = out->op[k];
  }
  return true;
}

// ---- vectors ------------------------------------------------------------------------------------

static llval shuffle(const emitter *e, llval x, llval y, const unsigned *from, unsigned count) {
  llval lanes[RUN_MOST * LANEWISE_MOST];
  for (unsigned i = 0; i < count; i++) lanes[i] = LLVMConstInt(e->u->i32, from[i], false);
  return LLVMBuildShuffleVector(e->b, x, y, LLVMConstVector(lanes, count), "");
}

// Two of as many elements, one behind the other.
static llval join(const emitter *e, llval x, llval y, unsigned count) {
  unsigned from[RUN_MOST * LANEWISE_MOST];
  for (unsigned i = 0; i < 2 * count; i++) from[i] = i;
  return shuffle(e, x, y, from, 2 * count);
}

// Elements x0 y0 x1 y1 ... of two vectors, in two.
static void alternate(const emitter *e, llval x, llval y, llval out[2]) {
  unsigned from[LANEWISE_MOST];
  for (unsigned half = 0; half < 2; half++) {
    for (unsigned i = 0; i < e->width; i++)
      from[i] = (half * e->width + i) / 2 + (i % 2) * e->width;
    out[half] = shuffle(e, x, y, from, e->width);
  }
}

// ---- where runs are -----------------------------------------------------------------------------

// Elements that an index of this type can reach, as i64.
static llval reach(const emitter *e, const place *p, vyre_type type) {
  llval top = const_i64(e->u, type == VYRE_I32 ? (uint64_t)1 << 31 : (uint64_t)1 << 32);
  llval is_more = LLVMBuildICmp(e->b, LLVMIntUGT, p->length, top, "");
  return LLVMBuildSelect(e->b, is_more, top, p->length, "");
}

// The indices of the first elements, from those of the element in this place.
static llval firsts(const emitter *e, const run *r, vyre_type type, llval indices) {
  if (!r->place) return indices;
  llval before = LLVMConstInt(e->u->scalars[type], r->place, false);
  return LLVMBuildSub(e->b, indices, build_splat(e, before), "");
}

// Lanes of which nothing is known may turn out to follow each other, as they do in a transform
// whose pieces are longer than a vector. Whether the runs of all lanes are one piece of memory that
// is inside (i1), and where it begins; every lane is active then.
static llval runs_are_line(const emitter *e, const place *p, const run *r, vyre_type type,
                           llval first, llval *address) {
  uint64_t size = (uint64_t)r->count * e->width;
  llval limit = reach(e, p, type), lane = build_extract(e, first, 0);
  llval low = build_extend(e, type, lane);
  llval steps = build_lane_numbers(e, e->u->scalars[type], r->count);
  llval line = LLVMBuildAdd(e->b, build_splat(e, lane), steps, "");
  llval strays = LLVMBuildICmp(e->b, LLVMIntNE, first, line, "");
  if (e->exec)
    strays = LLVMBuildOr(e->b, strays, LLVMBuildNot(e->b, mask_test(e, e->exec), ""), "");
  // low < limit, and size - 1 < limit - low: the sum of low and size could wrap.
  llval starts = LLVMBuildICmp(e->b, LLVMIntULT, low, limit, "");
  llval rest = LLVMBuildSub(e->b, limit, low, "");
  llval ends = LLVMBuildICmp(e->b, LLVMIntULT, const_i64(e->u, size - 1), rest, "");
  llval is_inside = LLVMBuildAnd(e->b, starts, ends, "");
  *address = place_at(e, p, low);
  return LLVMBuildAnd(e->b, LLVMBuildNot(e->b, bits_any(e, strays), ""), is_inside, "");
}

// Whether the runs of all lanes are inside: not even inactive lanes may touch anything else.
static llval all_inside(const emitter *e, const place *p, const run *r, vyre_type type,
                        llval first) {
  llval limit = reach(e, p, type), count = const_i64(e->u, r->count);
  llval is_long = LLVMBuildICmp(e->b, LLVMIntUGE, limit, count, "");
  llval last = LLVMBuildSub(e->b, limit, count, "");
  if (type_bits(type) < 64) last = LLVMBuildTrunc(e->b, last, e->u->scalars[type], "");
  llval strays = LLVMBuildICmp(e->b, LLVMIntUGT, first, build_splat(e, last), "");
  return LLVMBuildAnd(e->b, is_long, LLVMBuildNot(e->b, bits_any(e, strays), ""), "");
}

// Two elements that are one for the machine's gathers and scatters.
static bool is_pair(const emitter *e, const place *p, const run *r) {
  return r->count == 2 && type_bytes(p->type) == 4 && can_gather(e, VYRE_U64, true);
}

// Of indices that are inside.
static llval addresses(const emitter *e, const place *p, llval first) {
  llval wide = LLVMBuildZExtOrBitCast(e->b, first, type_vector_of(e, e->u->i64), "");
  return LLVMBuildGEP2(e->b, p->element, p->data, &wide, 1, "");
}

// ---- loads --------------------------------------------------------------------------------------

// The runs of all lanes, one behind the other: each is one access.
static llval load_runs(const emitter *e, const place *p, uint32_t i, const run *r, llval indices) {
  lltype type = LLVMVectorType(p->element, r->count);
  llval pieces[LANEWISE_MOST];
  for (unsigned lane = 0; lane < e->width; lane++) {
    llval at = lane_index(e, i, 0, lane, indices);
    if (r->place) at = LLVMBuildSub(e->b, at, const_i64(e->u, r->place), "");
    pieces[lane] = LLVMBuildLoad2(e->b, type, place_at(e, p, at), "");
    LLVMSetAlignment(pieces[lane], type_bytes(p->type));
    kernel_mark(e->k, pieces[lane], p->mem);
  }
  unsigned size = r->count;
  for (unsigned left = e->width; left > 1; left /= 2, size *= 2)
    for (unsigned k = 0; k < left / 2; k++)
      pieces[k] = join(e, pieces[2 * k], pieces[2 * k + 1], size);
  return pieces[0];
}

static llval load_pairs(const emitter *e, const place *p, llval first) {
  llval pairs = build_gather(e, VYRE_U64, addresses(e, p, first), NULL);
  kernel_mark(e->k, pairs, p->mem);
  return LLVMBuildBitCast(e->b, pairs, LLVMVectorType(p->element, 2 * e->width), "");
}

static llval load_line(const emitter *e, const place *p, const run *r, llval address) {
  llval all = LLVMBuildLoad2(e->b, LLVMVectorType(p->element, r->count * e->width), address, "");
  LLVMSetAlignment(all, type_bytes(p->type));
  return kernel_mark(e->k, all, p->mem);
}

// One element of each run, where some are outside.
static llval load_each(const emitter *e, const place *p, vyre_type type, llval first,
                       uint64_t more) {
  llval step = build_splat(e, LLVMConstInt(e->u->scalars[type], more, false));
  llval at = LLVMBuildAdd(e->b, first, step, ""), bits = inside_vector(e, p, type, at);
  at = LLVMBuildSelect(e->b, bits, at, LLVMConstNull(LLVMTypeOf(at)), "");
  llval zero = LLVMConstNull(type_vector_of(e, p->element)), result = zero;
  for (unsigned lane = 0; lane < e->width; lane++) {
    llval k = build_extend(e, type, build_extract(e, at, lane));
    llval one = LLVMBuildLoad2(e->b, p->element, place_at(e, p, k), "");
    result = build_insert(e, result, kernel_mark(e->k, one, p->mem), lane);
  }
  return LLVMBuildSelect(e->b, bits, result, zero, "");
}

// By element instead of by run.
static llval turned(const emitter *e, llval runs, unsigned count) {
  unsigned from[RUN_MOST * LANEWISE_MOST];
  for (unsigned k = 0; k < count; k++)
    for (unsigned lane = 0; lane < e->width; lane++) from[k * e->width + lane] = lane * count + k;
  return shuffle(e, runs, LLVMGetPoison(LLVMTypeOf(runs)), from, count * e->width);
}

static llval load_each_of(const emitter *e, const place *p, const run *r, vyre_type type,
                          llval first) {
  llval values[RUN_MOST] = {NULL};
  for (unsigned k = 0; k < r->count; k++) values[k] = load_each(e, p, type, first, k);
  llval all = join(e, values[0], values[1], e->width);
  return r->count == 2 ? all : join(e, all, join(e, values[2], values[3], e->width), 2 * e->width);
}

// Runs that nothing is known of, by element.
static llval load_looking(const emitter *e, const place *p, uint32_t i, const run *r,
                          llval indices) {
  vyre_type type = ref_type(e->p, e->p->code[i].arg[1]);
  llval first = firsts(e, r, type, indices), address;
  bool may_be_line = is_line_by_chance(e, i);
  either line = {0};
  if (may_be_line) {
    line = either_begin(e, runs_are_line(e, p, r, type, first, &address));
    either_else(e, &line, turned(e, load_line(e, p, r, address), r->count));
  }
  either x = either_begin(e, all_inside(e, p, r, type, first));
  llval runs = is_pair(e, p, r) ? load_pairs(e, p, first) : load_runs(e, p, i, r, indices);
  either_else(e, &x, turned(e, runs, r->count));
  llval all = either_end(e, &x, load_each_of(e, p, r, type, first));
  return may_be_line ? either_end(e, &line, all) : all;
}

// Indices of which some lowest bits are known are no neighbours; others may be, by chance.
static bool can_run(const emitter *e, const place *p, uint32_t i) {
  access_class class = access_class_of(e, i);
  if (e->width < 4 || e->rows > 1 || p->type == VYRE_BOOL || e->packing || e->ahead) return false;
  if (class == ACCESS_STEPS) return true;
  return class == ACCESS_LANES && e->guards &&
         type_bits(ref_type(e->p, e->p->code[i].arg[1])) >= 32 &&
         (!is_line_by_chance(e, i) || residue_of(e->p, e->p->code[i].arg[1]).bits);
}

bool run_load(emitter *e, uint32_t i) {
  place p = place_of(e, e->p->code[i].arg[0]);
  run r;
  if (!can_run(e, &p, i) ||
      (!find_run(e->p, e->k->region, i, 4, &r) && !find_run(e->p, e->k->region, i, 2, &r)))
    return false;
  bool is_stepping = access_class_of(e, i) == ACCESS_STEPS, is_proven = true;
  for (unsigned k = 0; k < r.count; k++) is_proven &= is_assumed(e, r.op[k]);
  if (is_stepping && !is_proven) return false;
  llval indices = is_stepping ? NULL : value_vector(e, e->p->code[i].arg[1], 0);
  llval all = is_proven ? turned(e, load_runs(e, &p, i, &r, indices), r.count)
                        : load_looking(e, &p, i, &r, indices);
  for (unsigned k = 0; k < r.count; k++) {
    unsigned from[LANEWISE_MOST];
    for (unsigned lane = 0; lane < e->width; lane++) from[lane] = k * e->width + lane;
    llval value = shuffle(e, all, LLVMGetPoison(LLVMTypeOf(all)), from, e->width);
    value_set(e, r.op[k], 0, value);
    if (r.op[k] != i) e->early[r.op[k] - e->first] = r.op[k];
    note_access(e, ACCESS_RECORD, !is_proven);
  }
  return true;
}

bool run_is_loaded(emitter *e, uint32_t i) {
  bool is_early = e->early[i - e->first];
  e->early[i - e->first] = 0;
  return is_early;
}

// ---- stores -------------------------------------------------------------------------------------

// Vectors of the elements of all runs, one behind the other.
static void interleave(const emitter *e, const llval *values, unsigned count, llval *out) {
  llval even[2], odd[2];
  if (count == 2) {
    alternate(e, values[0], values[1], out);
    return;
  }
  alternate(e, values[0], values[2], even);
  alternate(e, values[1], values[3], odd);
  alternate(e, even[0], odd[0], out);
  alternate(e, even[1], odd[1], out + 2);
}

// All of it is written by this vector, every lane of which is active.
static bool is_whole(const emitter *e, const run *r) {
  for (unsigned k = 0; k < r->count; k++) {
    uint32_t op = r->op[k];
    if (access_class_of(e, op) != ACCESS_RECORD || e->guards->field[op - e->first] != k ||
        e->guards->record[op - e->first] != r->count)
      return false;
  }
  return !e->exec && e->rows == 1;
}

static void store_line(const emitter *e, const place *p, const run *r, const llval *all,
                       llval address) {
  lltype vector = type_vector_of(e, p->element);
  for (unsigned k = 0; k < r->count; k++) {
    llval behind = const_i64(e->u, k);
    store_wide(e, p, LLVMBuildGEP2(e->b, vector, address, &behind, 1, ""), all[k]);
  }
}

static void store_pairs(const emitter *e, const place *p, const llval all[2], llval first) {
  llval pairs = join(e, all[0], all[1], e->width);
  pairs = LLVMBuildBitCast(e->b, pairs, type_vector_of(e, e->u->i64), "");
  llval bits = e->exec ? mask_test(e, e->exec) : NULL;
  llval stored = build_scatter(e, VYRE_U64, addresses(e, p, first), pairs, bits);
  kernel_mark(e->k, stored, p->mem);
}

// Runs that nothing is known of.
static void store_looking(emitter *e, const place *p, const run *r, const llval *values,
                          const llval *all) {
  ref index = e->p->code[r->op[0]].arg[1];
  vyre_type type = ref_type(e->p, index);
  llval first = value_vector(e, index, 0), address;
  bool may_be_line = is_line_by_chance(e, r->op[0]), pairs = is_pair(e, p, r);
  either line = {0}, x = {0};
  if (may_be_line) {
    line = either_begin(e, runs_are_line(e, p, r, type, first, &address));
    store_line(e, p, r, all, address);
    either_else(e, &line, NULL);
  }
  if (pairs) {
    x = either_begin(e, all_inside(e, p, r, type, first));
    store_pairs(e, p, all, first);
    either_else(e, &x, NULL);
  }
  for (unsigned k = 0; k < r->count; k++) store_checked(e, p, r->op[k], 0, values[k]);
  if (pairs) either_end(e, &x, NULL);
  if (may_be_line) either_end(e, &line, NULL);
}

static void write_run(emitter *e, const run *r) {
  place p = place_of(e, e->p->code[r->op[0]].arg[0]);
  llval values[RUN_MOST] = {NULL}, all[RUN_MOST];
  for (unsigned k = 0; k < r->count; k++)
    values[k] = value_vector(e, e->p->code[r->op[k]].arg[2], 0);
  interleave(e, values, r->count, all);
  bool is_known = access_class_of(e, r->op[0]) == ACCESS_RECORD;
  for (unsigned k = 0; k < r->count; k++) note_access(e, ACCESS_RECORD, !is_known);
  if (is_known)
    store_line(e, &p, r, all, place_at(e, &p, index_scalar(e, r->op[0], 0)));
  else
    store_looking(e, &p, r, values, all);
}

// All of it may be written at once: each lane is anywhere, and has its run.
static bool is_anywhere(const emitter *e, const run *r) {
  for (unsigned k = 0; k < r->count; k++)
    if (access_class_of(e, r->op[k]) != ACCESS_LANES) return false;
  return true;
}

// The run that the store `i` is the first one of.
static bool find_stored(const emitter *e, uint32_t i, run *r) {
  const region *region = e->k->region;
  access_class class = access_class_of(e, i);
  if (class == ACCESS_RECORD)
    return find_run(e->p, region, i, e->guards->record[i - e->first], r) && is_whole(e, r);
  place p = place_of(e, e->p->code[i].arg[0]);
  return class == ACCESS_LANES && can_run(e, &p, i) &&
         (find_run(e->p, region, i, 4, r) || find_run(e->p, region, i, 2, r)) &&
         is_anywhere(e, r) && (is_line_by_chance(e, i) || is_pair(e, &p, r));
}

// Some of its stores wait for another run: x[k], x[k + 2] and x[k + 1] are two pairs by their
// places.
static bool is_taken(const emitter *e, uint32_t i, const run *r) {
  for (unsigned k = 0; k < r->count; k++)
    if (r->op[k] != i && e->early[r->op[k] - e->first]) return true;
  return false;
}

bool run_store(emitter *e, uint32_t i) {
  uint32_t *early = &e->early[i - e->first], first = *early;
  run r;
  *early = 0;
  if (is_uniform(e, e->p->code[i].arg[1])) return false;
  if (first == i) return true; // the last one writes it
  if (!first) {
    if (!find_stored(e, i, &r) || is_taken(e, i, &r)) return false;
    for (unsigned k = 0; k < r.count; k++)
      if (r.op[k] != i) e->early[r.op[k] - e->first] = r.op[k] == r.last ? i : r.op[k];
    return true;
  }
  if (find_stored(e, first, &r)) write_run(e, &r);
  return true;
}

bool run_is_stored(const vyre_program *p, const region *r, uint32_t i, unsigned size,
                   uint32_t members[RUN_MOST]) {
  run found;
  bool is_wide = type_bits(ref_type(p, p->code[i].arg[1])) >= 32;
  bool is_bool = ref_type(p, p->code[i].arg[2]) == VYRE_BOOL;
  if (!is_wide || is_bool || (size != 2 && size != RUN_MOST) || !find_run(p, r, i, size, &found))
    return false;
  for (unsigned k = 0; k < size; k++) members[k] = found.op[k];
  return true;
}
