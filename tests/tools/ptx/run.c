// SPDX-License-Identifier: MIT
//
// Threads, memory and barriers of a launch. Registers, local and shared memory begin with garbage
// that the seed chooses, so that what relies on zeros is found out.
#include "module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum thread_state { READY, WAITING, ENDED } thread_state;

typedef struct thread {
  uint32_t pc;
  uint8_t state;
  uint32_t tid[3];
  uint64_t carry;
  uint64_t *regs;
  unsigned char *local;
} thread;

typedef struct machine {
  const ptx_kernel *k;
  const ptx_launch *l;
  char *message;
  unsigned char *params, *shared, *open; // `open`: what the launch gives
  thread *threads;
  uint32_t thread_count, waiting, ended;
  uint32_t ctaid[3];
  uint64_t random;
} machine;

static uint64_t draw(machine *m) {
  m->random = m->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return m->random ^ m->random >> 29;
}

static void fill(machine *m, void *to, size_t bytes) {
  unsigned char *at = to;
  for (size_t i = 0; i < bytes; i += 8) {
    uint64_t word = draw(m);
    memcpy(at + i, &word, bytes - i < 8 ? bytes - i : 8);
  }
}

static bool complain(machine *m, const ptx_inst *in, const char *what) {
  snprintf(m->message, PTX_MESSAGE, "line %u: %s", in->line, what);
  return false;
}

// ---- registers ----------------------------------------------------------------------------------

static uint64_t special(const machine *m, const thread *t, uint64_t which) {
  uint32_t axis = (uint32_t)(which % 3);
  switch ((ptx_special)(which - axis)) {
  case SPECIAL_TID: return t->tid[axis];
  case SPECIAL_NTID: return m->l->block[axis];
  case SPECIAL_CTAID: return m->ctaid[axis];
  case SPECIAL_NCTAID: return m->l->grid[axis];
  case SPECIAL_COUNT: break;
  }
  return 0;
}

static uint64_t value_of(const machine *m, const thread *t, const ptx_operand *o) {
  switch ((operand_kind)o->kind) {
  case OPERAND_REG: return o->is_not ? !(t->regs[o->reg] & 1) : t->regs[o->reg];
  case OPERAND_VALUE: return o->value;
  case OPERAND_SPECIAL: return special(m, t, o->value);
  case OPERAND_ADDRESS: return o->value + (o->reg == NO_REG ? 0 : t->regs[o->reg]);
  case OPERAND_NONE:
  case OPERAND_VECTOR:
  case OPERAND_LABEL: break;
  }
  return 0;
}

// A value of the type, extended to what the register holds.
static void set(const machine *m, thread *t, uint32_t reg, ptx_type type, uint64_t value) {
  if (reg == NO_REG) return;
  unsigned bits = m->k->regs[reg].bits;
  value = ptx_extend(type, value);
  t->regs[reg] = bits < 64 ? value & ((UINT64_C(1) << bits) - 1) : value;
}

// ---- memory -------------------------------------------------------------------------------------

static unsigned char *inside(unsigned char *base, uint64_t first, uint64_t end, uint64_t at,
                             uint32_t bytes) {
  return at >= first && at <= end && bytes <= end - at ? base + (at - first) : NULL;
}

static unsigned char *shared_place(const machine *m, uint64_t at, uint32_t bytes) {
  if (at >= OPEN_ADDRESS)
    return inside(m->open, OPEN_ADDRESS, (uint64_t)OPEN_ADDRESS + m->l->dynamic_shared, at, bytes);
  return inside(m->shared, FIRST_ADDRESS, m->k->shared_bytes, at, bytes);
}

// NULL: nobody gave it.
static unsigned char *find_place(const machine *m, const thread *t, uint8_t space, uint64_t at,
                                 uint32_t bytes) {
  if (space == SPACE_ANY && (at & WINDOW_MASK) == SHARED_WINDOW)
    return shared_place(m, at & ~WINDOW_MASK, bytes);
  if (space == SPACE_ANY && (at & WINDOW_MASK) == LOCAL_WINDOW)
    return inside(t->local, FIRST_ADDRESS, m->k->local_bytes, at & ~WINDOW_MASK, bytes);
  switch ((ptx_space)space) {
  case SPACE_PARAM: return inside(m->params, 0, m->k->param_bytes, at, bytes);
  case SPACE_SHARED: return shared_place(m, at, bytes);
  case SPACE_LOCAL: return inside(t->local, FIRST_ADDRESS, m->k->local_bytes, at, bytes);
  case SPACE_ANY:
  case SPACE_GLOBAL: break;
  }
  return m->l->is_given(m->l->context, at, bytes) ? (unsigned char *)(uintptr_t)at : NULL;
}

static unsigned char *access_place(machine *m, const thread *t, const ptx_inst *in,
                                   const ptx_operand *o, uint32_t bytes) {
  uint64_t at = value_of(m, t, o);
  if (at % bytes) {
    complain(m, in, "an access that is not aligned");
    return NULL;
  }
  unsigned char *place = find_place(m, t, in->space, at, bytes);
  if (!place) complain(m, in, "an access to memory that nobody gave");
  return place;
}

// The host writes some of it meanwhile, so it is read at once.
static uint64_t read_bits(const unsigned char *from, uint32_t bytes) {
  uint64_t word = 0;
  if (bytes == 4) return __atomic_load_n((const uint32_t *)(const void *)from, __ATOMIC_RELAXED);
  memcpy(&word, from, bytes);
  return word;
}

static bool run_access(machine *m, thread *t, const ptx_inst *in) {
  bool is_load = in->op == PTX_ld;
  const ptx_operand *address = &in->operand[is_load ? 1 : 0], *data = &in->operand[is_load ? 0 : 1];
  bool is_vector = data->kind == OPERAND_VECTOR;
  uint32_t bytes = in->type.bits / 8u, count = is_vector ? data->count : 1;
  unsigned char *place = access_place(m, t, in, address, bytes * count);
  if (!place) return false;
  for (uint32_t i = 0; i < count; i++) {
    unsigned char *at = place + i * bytes;
    uint32_t reg = is_vector ? data->parts[i] : data->reg;
    if (is_load) {
      set(m, t, reg, in->type, read_bits(at, bytes));
    } else {
      uint64_t value = is_vector ? t->regs[reg] : value_of(m, t, data);
      memcpy(at, &value, bytes);
    }
  }
  return true;
}

static bool run_atomic(machine *m, thread *t, const ptx_inst *in) {
  uint32_t first = in->op == PTX_atom ? 1 : 0, bytes = in->type.bits / 8u;
  if (in->space == SPACE_LOCAL || in->space == SPACE_PARAM)
    return complain(m, in, "an atomic on memory that has none");
  unsigned char *place = access_place(m, t, in, &in->operand[first], bytes);
  if (!place) return false;
  uint64_t old = read_bits(place, bytes), x = value_of(m, t, &in->operand[first + 1]);
  uint64_t y = in->atomic == ATOMIC_CAS ? value_of(m, t, &in->operand[first + 2]) : 0;
  uint64_t made = ptx_combine(in, old, x, y);
  memcpy(place, &made, bytes);
  if (in->op == PTX_atom) set(m, t, in->operand[0].reg, in->type, old);
  return true;
}

// From a space to the generic one, or back.
static bool run_cvta(machine *m, thread *t, const ptx_inst *in) {
  uint64_t at = value_of(m, t, &in->operand[1]);
  uint64_t window = in->space == SPACE_SHARED  ? SHARED_WINDOW
                    : in->space == SPACE_LOCAL ? LOCAL_WINDOW
                                               : 0;
  if (in->space == SPACE_PARAM || in->space == SPACE_ANY)
    return complain(m, in, "an address of this space");
  set(m, t, in->operand[0].reg, in->type, in->is_to ? at - window : at + window);
  return true;
}

static void run_mov(machine *m, thread *t, const ptx_inst *in) {
  const ptx_operand *to = &in->operand[0], *from = &in->operand[1];
  if (to->kind == OPERAND_VECTOR) {
    ptx_type part = {KIND_B, (uint8_t)(in->type.bits / to->count)};
    for (uint32_t i = 0; i < to->count; i++)
      set(m, t, to->parts[i], part, t->regs[from->reg] >> i * part.bits);
  } else if (from->kind == OPERAND_VECTOR) {
    uint32_t bits = in->type.bits / from->count;
    uint64_t all = 0;
    for (uint32_t i = 0; i < from->count; i++) all |= t->regs[from->parts[i]] << i * bits;
    set(m, t, to->reg, in->type, all);
  } else {
    set(m, t, to->reg, in->type, value_of(m, t, from));
  }
}

// ---- instructions -------------------------------------------------------------------------------

static bool run_compute(machine *m, thread *t, const ptx_inst *in) {
  uint64_t args[MOST_OPERANDS] = {0}, out;
  const char *why;
  for (uint32_t i = 1; i < in->operand_count; i++) args[i - 1] = value_of(m, t, &in->operand[i]);
  if (in->sets_carry || in->op == PTX_addc || in->op == PTX_subc)
    out = ptx_carry(in, args[0], args[1], &t->carry);
  else if (!ptx_compute(in, args, &out, &why))
    return complain(m, in, why);
  set(m, t, in->operand[0].reg, in->type, out);
  return true;
}

static void end_thread(machine *m, thread *t) {
  t->state = ENDED;
  m->ended++;
}

static bool run_inst(machine *m, thread *t) {
  const ptx_inst *in = &m->k->code[t->pc++];
  if (in->guard != NO_REG && (t->regs[in->guard] & 1) == in->guard_is_not) return true;
  switch ((ptx_op)in->op) {
  case PTX_mov: run_mov(m, t, in); return true;
  case PTX_ld:
  case PTX_st: return run_access(m, t, in);
  case PTX_atom:
  case PTX_red: return run_atomic(m, t, in);
  case PTX_cvta: return run_cvta(m, t, in);
  case PTX_bra: t->pc = (uint32_t)in->operand[0].value; return true;
  case PTX_ret:
  case PTX_exit: end_thread(m, t); return true;
  case PTX_bar:
    t->state = WAITING;
    m->waiting++;
    return true;
  case PTX_membar:
  case PTX_fence: return true;
  default: return run_compute(m, t, in);
  }
}

// ---- a cooperative thread array -----------------------------------------------------------------

static bool release_barrier(machine *m) {
  if (m->ended) {
    snprintf(m->message, PTX_MESSAGE, "a barrier that %u of %u threads never reach", m->ended,
             m->thread_count);
    return false;
  }
  for (uint32_t i = 0; i < m->thread_count; i++) m->threads[i].state = READY;
  m->waiting = 0;
  return true;
}

static bool run_slice(machine *m, thread *t) {
  for (uint64_t n = 1 + draw(m) % 97; n && t->state == READY; n--) {
    if (t->pc >= m->k->code_count) {
      snprintf(m->message, PTX_MESSAGE, "`%s` has no end", m->k->name);
      return false;
    }
    if (!run_inst(m, t)) return false;
  }
  return true;
}

static void begin_array(machine *m) {
  const uint32_t *block = m->l->block;
  m->waiting = m->ended = 0;
  fill(m, m->shared, m->k->shared_bytes);
  fill(m, m->open, m->l->dynamic_shared);
  for (uint32_t i = 0; i < m->thread_count; i++) {
    thread *t = &m->threads[i];
    t->pc = 0;
    t->carry = draw(m) & 1;
    t->state = READY;
    t->tid[0] = i % block[0];
    t->tid[1] = i / block[0] % block[1];
    t->tid[2] = i / block[0] / block[1];
    fill(m, t->regs, m->k->reg_count * sizeof *t->regs);
    for (uint32_t k = 0; k < m->k->reg_count; k++) set(m, t, k, m->k->regs[k], t->regs[k]);
    fill(m, t->local, m->k->local_bytes);
  }
}

static bool is_aborted(const machine *m) {
  return m->l->abort && __atomic_load_n(m->l->abort, __ATOMIC_RELAXED);
}

static bool run_array(machine *m) {
  begin_array(m);
  while (m->ended < m->thread_count) {
    if (is_aborted(m)) return true;
    if (m->waiting + m->ended == m->thread_count && !release_barrier(m)) return false;
    uint32_t first = (uint32_t)(draw(m) % m->thread_count);
    for (uint32_t i = 0; i < m->thread_count; i++) {
      uint32_t n = i + first < m->thread_count ? i + first : i + first - m->thread_count;
      if (!run_slice(m, &m->threads[n])) return false;
    }
  }
  return true;
}

// ---- launches -----------------------------------------------------------------------------------

static bool run_arrays(machine *m) {
  const uint32_t *grid = m->l->grid;
  for (m->ctaid[2] = 0; m->ctaid[2] < grid[2]; m->ctaid[2]++)
    for (m->ctaid[1] = 0; m->ctaid[1] < grid[1]; m->ctaid[1]++)
      for (m->ctaid[0] = 0; m->ctaid[0] < grid[0]; m->ctaid[0]++) {
        if (!run_array(m)) return false;
        if (is_aborted(m)) return true;
      }
  return true;
}

static void copy_params(machine *m) {
  for (uint32_t i = 0; i < m->k->param_count; i++)
    memcpy(m->params + m->k->params[i].offset, m->l->params[i], m->k->params[i].bytes);
}

static bool machine_open(machine *m) {
  const ptx_kernel *k = m->k;
  size_t threads = m->thread_count;
  m->params = calloc(1, k->param_bytes + 8u);
  m->shared = calloc(1, k->shared_bytes + 8u);
  m->open = calloc(1, m->l->dynamic_shared + 8u);
  m->threads = calloc(threads, sizeof *m->threads);
  uint64_t *regs = calloc(threads * k->reg_count + 1, sizeof *regs);
  size_t local_bytes = (k->local_bytes + 15u) / 16 * 16;
  unsigned char *local = calloc(threads, local_bytes);
  if (m->threads) {
    m->threads[0].regs = regs;
    m->threads[0].local = local;
  }
  if (!m->params || !m->shared || !m->open || !m->threads || !regs || !local) {
    if (!m->threads) {
      free(regs);
      free(local);
    }
    return false;
  }
  for (size_t i = 0; i < threads; i++) {
    m->threads[i].regs = regs + i * k->reg_count;
    m->threads[i].local = local + i * local_bytes;
  }
  return true;
}

static void machine_close(machine *m) {
  if (m->threads) {
    free(m->threads[0].regs);
    free(m->threads[0].local);
  }
  free(m->threads);
  free(m->params);
  free(m->shared);
  free(m->open);
}

bool ptx_run(const ptx_kernel *kernel, const ptx_launch *launch, char message[PTX_MESSAGE]) {
  const uint32_t *block = launch->block;
  machine m = {.k = kernel, .l = launch, .message = message, .random = launch->seed};
  uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
  if (!threads || threads > ptx_most_threads(kernel)) {
    snprintf(message, PTX_MESSAGE, "`%s` is launched with %llu threads", kernel->name,
             (unsigned long long)threads);
    return false;
  }
  m.thread_count = (uint32_t)threads;
  message[0] = 0;
  bool ok = machine_open(&m);
  if (ok) {
    copy_params(&m);
    ok = run_arrays(&m);
  } else {
    snprintf(message, PTX_MESSAGE, "out of memory");
  }
  machine_close(&m);
  return ok;
}
