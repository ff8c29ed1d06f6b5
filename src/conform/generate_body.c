// SPDX-License-Identifier: MIT
#include "conform/generate_state.h"
#include "ir/eval.h"

#include <stdio.h>
#include <string.h>

// Statements run at most this often per invocation, private arrays take at most these bytes.
enum { MAX_WEIGHT = 60, MAX_BLOCKS = 5, MAX_PRIVATE = 512, DEPTH = 3 };

static void block(generator *g, uint32_t count);

static const char *new_name(generator *g, char prefix, char out[16]) {
  snprintf(out, 16, "%c%u", prefix, g->name_count++);
  return out;
}

// ---- plain statements ---------------------------------------------------------------------------

static void let_value(generator *g) {
  vyre_type type = generator_type(g);
  bool uniform = g->is_uniform && random_chance(&g->random, 30);
  vyre_value v = generator_expr(g, type, uniform, DEPTH);
  if (random_chance(&g->random, 60)) {
    char name[16];
    vyre_build_name(g->b, v, new_name(g, 'v', name));
  }
  generator_know(g, v, type, uniform);
}

static void declare_var(generator *g) {
  vyre_type type = generator_type(g);
  bool uniform = g->is_uniform && random_chance(&g->random, 30);
  vyre_value first = generator_expr(g, type, uniform, DEPTH - 1);
  char name[16];
  vyre_var var = vyre_build_var(g->b, new_name(g, 'x', name), first);
  generator_keep(g, &g->vars, (known_var){var, type, uniform, false});
}

static void set_var(generator *g) {
  if (!g->vars.count) {
    declare_var(g);
    return;
  }
  known_var v = g->vars.at[random_below(&g->random, (uint32_t)g->vars.count)];
  if (v.is_counter || (v.is_uniform && !g->is_uniform)) return;
  vyre_build_set(g->b, v.var, generator_expr(g, v.type, v.is_uniform, DEPTH));
}

static void declare_array(generator *g) {
  vyre_type type = generator_type(g);
  uint32_t length = random_range(&g->random, 1, 9);
  if (g->private_bytes + length * type_bytes(type) > MAX_PRIVATE) return;
  g->private_bytes += length * type_bytes(type);
  char name[16];
  vyre_mem mem = vyre_build_array(g->b, new_name(g, 'a', name), type, length);
  generator_keep(g, &g->arrays, (known_array){mem, type, length});
}

static void store_array(generator *g) {
  if (!g->arrays.count) {
    declare_array(g);
    return;
  }
  known_array a = g->arrays.at[random_below(&g->random, (uint32_t)g->arrays.count)];
  vyre_value index = generator_index(g, a.length, false, DEPTH - 1);
  vyre_value value = generator_expr(g, a.type, false, DEPTH);
  uint32_t way = random_below(&g->random, 100);
  if (way < 40 && a.type != VYRE_BOOL) { // in place, as one counts
    static const vyre_op ops[] = {VYRE_OP_ADD, VYRE_OP_ADD, VYRE_OP_SUB, VYRE_OP_MUL};
    vyre_value old = vyre_build_load(g->b, a.mem, index);
    bool is_first = way % 2;
    value = vyre_build_binary(g->b, ops[random_below(&g->random, 4)], is_first ? old : value,
                              is_first ? value : old);
  }
  vyre_build_store(g->b, a.mem, index, value);
}

// ---- memory that others see ---------------------------------------------------------------------

static bool can_be_atomic(const generator *g, const memory_state *m) {
  return m->access == VYRE_READWRITE && generator_has_atomics(g, m);
}

// So small that the sum of all is below 2^24, and exact on the way.
static vyre_value whole_number(generator *g, vyre_type type) {
  vyre_value any = generator_expr(g, VYRE_I8, false, DEPTH - 1);
  vyre_value eight = vyre_build_const(g->b, VYRE_I8, 8);
  return vyre_build_convert(g->b, type, vyre_build_binary(g->b, VYRE_OP_REM, any, eight));
}

// Everybody, anywhere, one kind of operation; what it returns must not matter.
static void commutative_atomic(generator *g, memory_state *m) {
  vyre_op op = m->atomic;
  if (op <= VYRE_OP_ATOMIC_SUB) op = (vyre_op)(VYRE_OP_ATOMIC_ADD + random_below(&g->random, 2));
  vyre_value index = generator_index(g, m->length, false, DEPTH - 1);
  vyre_value value =
      m->is_whole ? whole_number(g, m->type) : generator_expr(g, m->type, false, DEPTH - 1);
  vyre_value old = vyre_build_atomic(g->b, op, m->mem, index, value);
  if (type_is_float(m->type) || !random_chance(&g->random, 20)) return;
  vyre_value zero = vyre_build_binary(g->b, VYRE_OP_XOR, old, old);
  generator_know(g, zero, m->type, false);
}

static void own_atomic(generator *g, memory_state *m) {
  vyre_op op;
  do op = (vyre_op)(VYRE_OP_ATOMIC_ADD + random_below(&g->random, 9));
  while (type_is_float(m->type) && op_is_bit_atomic(op));
  vyre_value index = generator_own_index(g, m, DEPTH - 1);
  vyre_value value = generator_expr(g, m->type, false, DEPTH - 1), old;
  if (op == VYRE_OP_ATOMIC_CAS) {
    vyre_value expected = random_chance(&g->random, 50) && (m->access & VYRE_READ)
                              ? vyre_build_load(g->b, m->mem, index)
                              : generator_expr(g, m->type, false, 1);
    old = vyre_build_atomic_cas(g->b, m->mem, index, expected, value);
  } else {
    old = vyre_build_atomic(g->b, op, m->mem, index, value);
  }
  generator_know(g, old, m->type, false);
}

static void store_own(generator *g, memory_state *m) {
  vyre_value index = generator_own_index(g, m, DEPTH - 1);
  vyre_value value = generator_expr(g, m->type, false, DEPTH);
  vyre_build_store(g->b, m->mem, index, value);
}

static void write_memory(generator *g, memory_state *m) {
  if (m->is_shared || m->is_tile) generator_take_role(g, m);
  if (m->role == ROLE_ATOMIC)
    commutative_atomic(g, m);
  else if (m->role == ROLE_OWN && can_be_atomic(g, m) && random_chance(&g->random, 35))
    own_atomic(g, m);
  else if (m->role == ROLE_OWN)
    store_own(g, m);
}

static void write_buffer(generator *g) {
  uint32_t count = (uint32_t)g->buffers.count, from = random_below(&g->random, count);
  for (uint32_t i = 0; i < count; i++) {
    memory_state *m = &g->buffers.at[(from + i) % count];
    if (!(m->access & VYRE_WRITE) || (m->role == ROLE_READ && !m->is_tile)) continue;
    write_memory(g, m);
    return;
  }
}

static void write_shared(generator *g) {
  if (g->shared.count)
    write_memory(g, &g->shared.at[random_below(&g->random, (uint32_t)g->shared.count)]);
  else
    write_buffer(g);
}

// What everybody reads from one place of a shared array is uniform.
static void broadcast(generator *g) {
  if (!g->shared.count || !g->is_uniform) return;
  memory_state *m = &g->shared.at[random_below(&g->random, (uint32_t)g->shared.count)];
  if (m->role == ROLE_FREE) m->role = ROLE_READ;
  if (m->role != ROLE_READ) return;
  vyre_value index = generator_index(g, m->length, true, 1);
  vyre_value value = vyre_build_load(g->b, m->mem, index);
  generator_know(g, value, m->type, !g->options->only_provable);
}

// ---- barriers and phases ------------------------------------------------------------------------

static void barrier(generator *g) {
  vyre_build_barrier(g->b);
  for (size_t i = 0; i < g->shared.count; i++) g->shared.at[i].role = ROLE_FREE;
  for (size_t i = 0; i < g->buffers.count; i++)
    if (g->buffers.at[i].is_tile) g->buffers.at[i].role = ROLE_FREE;
}

static bool can_have_barrier(const generator *g) {
  return g->has_barriers && g->is_uniform;
}

// After either side of a uniform if: what was used in one way on one side and in another on the
// other waits for the next barrier.
static void merge_roles(memory_state *now, const memory_state *other) {
  if (other->role == ROLE_FREE || (now->role == other->role && now->atomic == other->atomic))
    return;
  if (now->role == ROLE_FREE) {
    *now = *other;
    return;
  }
  bool is_same = now->role == other->role && now->role != ROLE_ATOMIC;
  if (!is_same) now->role = ROLE_BUSY;
}

enum { MAX_PHASED = 16 };

typedef struct phase_roles {
  memory_state shared[MAX_PHASED], buffers[MAX_PHASED];
} phase_roles;

static void save_roles(const generator *g, phase_roles *out) {
  for (size_t i = 0; i < g->shared.count && i < MAX_PHASED; i++) out->shared[i] = g->shared.at[i];
  for (size_t i = 0; i < g->buffers.count && i < MAX_PHASED; i++)
    out->buffers[i] = g->buffers.at[i];
}

static void merge_all_roles(generator *g, const phase_roles *other) {
  for (size_t i = 0; i < g->shared.count && i < MAX_PHASED; i++)
    merge_roles(&g->shared.at[i], &other->shared[i]);
  for (size_t i = 0; i < g->buffers.count && i < MAX_PHASED; i++)
    if (g->buffers.at[i].is_tile) merge_roles(&g->buffers.at[i], &other->buffers[i]);
}

static void restore_roles(generator *g, const phase_roles *from) {
  for (size_t i = 0; i < g->shared.count && i < MAX_PHASED; i++) g->shared.at[i] = from->shared[i];
  for (size_t i = 0; i < g->buffers.count && i < MAX_PHASED; i++)
    if (g->buffers.at[i].is_tile) g->buffers.at[i] = from->buffers[i];
}

// ---- blocks -------------------------------------------------------------------------------------

static void if_block(generator *g) {
  bool outer = g->is_uniform, uniform = outer && random_chance(&g->random, 40);
  vyre_build_if(g->b, generator_expr(g, VYRE_BOOL, uniform, DEPTH - 1));
  bool merges = uniform && g->has_barriers;
  phase_roles before, after;
  if (merges) save_roles(g, &before);
  g->is_uniform = uniform;
  block(g, random_range(&g->random, 1, 3));
  if (merges) save_roles(g, &after);
  if (random_chance(&g->random, 40)) {
    vyre_build_else(g->b);
    if (merges) restore_roles(g, &before);
    block(g, random_range(&g->random, 1, 3));
    before = after;
  }
  if (merges) merge_all_roles(g, &before);
  vyre_build_end(g->b);
  g->is_uniform = outer;
}

// The body of a loop. Where there may be barriers, one stands at its beginning or end and one after
// the loop, so that an iteration never meets what the one before it left unfinished.
static void loop_body(generator *g, bool uniform, uint32_t trips) {
  bool outer = g->is_uniform, is_phased = uniform && g->has_barriers;
  bool barrier_first = random_chance(&g->random, 60);
  uint32_t weight = g->weight;
  g->is_uniform = uniform;
  g->weight *= trips ? trips : 1;
  g->loops[g->loop_count++] = (loop_state){uniform, !is_phased || barrier_first};
  if (is_phased && barrier_first) barrier(g);
  block(g, random_range(&g->random, 1, 4));
  if (is_phased && !barrier_first) barrier(g);
  vyre_build_end(g->b);
  if (is_phased) barrier(g);
  g->loop_count--;
  g->weight = weight;
  g->is_uniform = outer;
}

static bool can_open_loop(const generator *g, uint32_t trips) {
  return g->loop_count < MAX_LOOPS && g->depth < MAX_BLOCKS && g->weight * trips <= MAX_WEIGHT;
}

// lo..hi at the end of the type's range: the trip count must not overflow.
static void extreme_bounds(generator *g, vyre_type type, uint64_t out[3]) {
  unsigned bits = type_bits(type);
  uint64_t top = type_is_signed(type) ? (1ull << (bits - 1)) - 1 : ~0ull >> (64 - bits);
  uint64_t bottom = type_is_signed(type) ? ~top : 0;
  uint64_t span = ~0ull >> (64 - bits);
  bool is_whole = random_chance(&g->random, 40);
  uint64_t back = random_below(&g->random, 6);
  out[0] = is_whole ? bottom : top - back;
  out[1] = top;
  out[2] = is_whole ? span / 3 : 1 + random_below(&g->random, 4);
  if (type_is_signed(type) && out[2] > top) out[2] = top;
  if (!out[2]) out[2] = 1;
}

static void for_loop(generator *g) {
  vyre_type type;
  do type = generator_type(g);
  while (!type_is_int(type));
  bool uniform = g->is_uniform && random_chance(&g->random, 60);
  uint32_t way = random_below(&g->random, 100), trips = 0;
  if (!can_open_loop(g, 5)) return;
  vyre_builder *b = g->b;
  vyre_value lo, hi, step = 0;
  if (way < 45) {
    uint64_t first = random_below(&g->random, 20);
    trips = random_below(&g->random, 6);
    lo = vyre_build_const(b, type, first - 4 * type_is_signed(type));
    hi = vyre_build_const(b, type, first - 4 * type_is_signed(type) + trips);
    if (random_chance(&g->random, 30))
      step = vyre_build_const(b, type, random_range(&g->random, 1, 3));
  } else if (way < 60) {
    uint64_t bounds[3];
    extreme_bounds(g, type, bounds);
    uint64_t count =
        eval_trip_count(type, type_canonical_bits(type, bounds[0]),
                        type_canonical_bits(type, bounds[1]), type_canonical_bits(type, bounds[2]));
    trips = count < 8 ? (uint32_t)count : 8;
    lo = vyre_build_const(b, type, bounds[0]);
    hi = vyre_build_const(b, type, bounds[1]);
    step = vyre_build_const(b, type, bounds[2]);
  } else {
    lo = generator_expr(g, type, uniform, DEPTH - 1);
    hi = generator_expr(g, type, uniform, DEPTH - 1);
    hi = vyre_build_binary(b, VYRE_OP_AND, hi, vyre_build_const(b, type, 3));
    hi = vyre_build_binary(b, VYRE_OP_ADD, lo, hi);
    trips = 3;
  }
  vyre_value k = vyre_build_for(b, lo, hi, step);
  size_t values = g->values.count;
  char name[16];
  if (random_chance(&g->random, 50)) vyre_build_name(b, k, new_name(g, 'k', name));
  generator_know(g, k, type, uniform);
  loop_body(g, uniform, trips);
  g->values.count = values;
}

static void count_up(generator *g, vyre_var counter) {
  vyre_value now = vyre_build_get(g->b, counter);
  vyre_build_set(g->b, counter, vyre_build_binary(g->b, VYRE_OP_ADD, now, vyre_build_u32(g->b, 1)));
}

// The counter is set behind the condition, or in it.
static void while_loop(generator *g) {
  uint32_t trips = random_range(&g->random, 1, 5);
  if (!can_open_loop(g, trips)) return;
  bool uniform = g->is_uniform && random_chance(&g->random, 50);
  bool counts_first = random_chance(&g->random, 25), returns = random_chance(&g->random, 6);
  vyre_builder *b = g->b;
  char name[16];
  vyre_var counter = vyre_build_var(b, new_name(g, 'c', name), vyre_build_u32(b, 0));
  generator_keep(g, &g->vars, (known_var){counter, VYRE_U32, uniform, true});
  vyre_build_while(b);
  if (counts_first) count_up(g, counter);
  if (returns && !g->has_barriers) {
    bool is_for_some = random_chance(&g->random, 90);
    if (is_for_some) vyre_build_if(b, generator_expr(g, VYRE_BOOL, uniform, DEPTH - 1));
    vyre_build_return(b);
    if (is_for_some) vyre_build_end(b);
  }
  vyre_value count = vyre_build_get(b, counter);
  vyre_value goes_on = vyre_build_binary(b, VYRE_OP_LT, count, vyre_build_u32(b, trips));
  if (random_chance(&g->random, 50)) {
    vyre_value more = generator_expr(g, VYRE_BOOL, uniform, DEPTH - 1);
    goes_on = vyre_build_binary(b, VYRE_OP_AND, goes_on, more);
  }
  vyre_build_do(b, goes_on);
  if (!counts_first) count_up(g, counter);
  loop_body(g, uniform, trips);
}

// ---- jumps --------------------------------------------------------------------------------------

// In uniform control flow only the whole workgroup may leave, because barriers may follow.
static void jump(generator *g) {
  bool must_be_uniform = g->is_uniform && g->has_barriers;
  bool uniform = must_be_uniform || (g->is_uniform && random_chance(&g->random, 30));
  const loop_state *loop = g->loop_count ? &g->loops[g->loop_count - 1] : NULL;
  uint32_t way = random_below(&g->random, 100);
  bool can_return = !g->has_barriers || g->is_uniform;
  if (loop && loop->is_uniform && !g->is_uniform && g->has_barriers) loop = NULL;
  if (!loop && (!can_return || way < 60)) return;
  vyre_build_if(g->b, generator_expr(g, VYRE_BOOL, uniform, DEPTH - 1));
  if (loop && way < 55)
    vyre_build_break(g->b);
  else if (loop && way < 92 && loop->allows_continue)
    vyre_build_continue(g->b);
  else if (can_return && (!loop || way >= 92))
    vyre_build_return(g->b);
  vyre_build_end(g->b);
}

// ---- one statement, a block, a body -------------------------------------------------------------

static void statement(generator *g) {
  uint32_t way = random_below(&g->random, 100);
  g->budget--;
  if (way < 24)
    let_value(g);
  else if (way < 38)
    write_buffer(g);
  else if (way < 44)
    declare_var(g);
  else if (way < 54)
    set_var(g);
  else if (way < 58)
    declare_array(g);
  else if (way < 64)
    store_array(g);
  else if (way < 76 && g->depth < MAX_BLOCKS)
    if_block(g);
  else if (way < 83)
    for_loop(g);
  else if (way < 88)
    while_loop(g);
  else if (way < 91)
    jump(g);
  else if (way < 94)
    write_shared(g);
  else if (can_have_barrier(g) && way < 98)
    barrier(g);
  else if (g->has_barriers && g->is_uniform)
    broadcast(g);
  else
    write_shared(g);
}

static void block(generator *g, uint32_t count) {
  size_t values = g->values.count, vars = g->vars.count, arrays = g->arrays.count;
  g->depth++;
  for (uint32_t i = 0; i < count && (g->budget > 0 || i == 0); i++) statement(g);
  g->depth--;
  g->values.count = values;
  g->vars.count = vars;
  g->arrays.count = arrays;
}

// Makes what was computed visible: variables and late values go to own elements.
static void sink(generator *g) {
  for (size_t i = 0; i < g->buffers.count; i++) {
    memory_state *m = &g->buffers.at[i];
    if (!(m->access & VYRE_WRITE) || m->is_tile || m->role != ROLE_OWN) continue;
    vyre_value index = generator_own_index(g, m, 1), value = 0;
    for (size_t k = g->vars.count; k-- && !value;)
      if (g->vars.at[k].type == m->type) value = vyre_build_get(g->b, g->vars.at[k].var);
    for (size_t k = g->values.count; k-- && !value;)
      if (g->values.at[k].type == m->type) value = g->values.at[k].value;
    if (!value) value = generator_expr(g, m->type, false, DEPTH);
    vyre_build_store(g->b, m->mem, index, value);
  }
}

void generator_body(generator *g) {
  uint32_t size = g->options->size ? g->options->size : 12;
  bool had_barriers = g->has_barriers;
  g->budget = (int32_t)size;
  while (g->budget > (int32_t)size / 4) statement(g);
  g->has_barriers = false; // from here on an invocation may leave alone
  while (g->budget > 0) statement(g);
  sink(g);
  g->has_barriers = had_barriers;
}
