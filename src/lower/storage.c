// SPDX-License-Identifier: MIT
//
// Elements that a device has no type for, in 32-bit words. Those of arrays are declared anew. Those
// of buffers are where the caller put them: a small one is cut out of its word, and put into it by
// compare-exchange, so that what others write beside it meanwhile is not lost. The recipe `bounds`
// was here before: the index is inside.
#include "lower/storage.h"

#include "lower/wide.h"

uint32_t storage_words(const lower_target *t, vyre_type element) {
  if (type_is_wide(element)) return t->has_i64 ? 0 : 2;
  return type_bytes(element) < 4 && !t->has_small_storage ? 1 : 0;
}

static bool is_needed(const lower_target *t) {
  return !t->has_i64 || !t->has_small_storage;
}

static vyre_type element_of(const lowering *l, const inst *in) {
  return in->op == VYRE_OP_STORE ? lower_type(l, in->arg[2]) : (vyre_type)in->type;
}

static bool takes(const lowering *l, const inst *in) {
  if (in->op != VYRE_OP_LOAD && in->op != VYRE_OP_STORE && in->op != VYRE_OP_ARRAY) return false;
  return storage_words(l->target, element_of(l, in)) != 0;
}

static ref number(lowering *l, uint32_t value) {
  return lower_const(l, VYRE_U32, value);
}

// ---- whole words --------------------------------------------------------------------------------

static ref load_word(lowering *l, uint32_t mem, ref index) {
  bool is_buffer = mem_space(mem) == MEM_BUFFER;
  uint8_t op = is_buffer ? (uint8_t)OP_LOAD_WORD : (uint8_t)VYRE_OP_LOAD;
  return promise(l, (inst){.op = op, .type = VYRE_U32, .arg = {mem, index}});
}

static void store_word(lowering *l, uint32_t mem, ref index, ref word) {
  bool is_buffer = mem_space(mem) == MEM_BUFFER;
  uint8_t op = is_buffer ? (uint8_t)OP_STORE_WORD : (uint8_t)VYRE_OP_STORE;
  promise(l, (inst){.op = op, .arg = {mem, index, word}});
}

static ref access_pair(lowering *l, const inst *in, ref index) {
  ref lo = lower_bin(l, VYRE_OP_SHL, index, number(l, 1));
  ref hi = lower_bin(l, VYRE_OP_OR, lo, number(l, 1));
  if (in->op == VYRE_OP_LOAD) {
    pair words = {load_word(l, in->arg[0], lo), load_word(l, in->arg[0], hi)};
    return wide_make(l, (vyre_type)in->type, words);
  }
  pair words = wide_split(l, in->arg[2]);
  store_word(l, in->arg[0], lo, words.lo);
  store_word(l, in->arg[0], hi, words.hi);
  return 0;
}

// ---- parts of words -----------------------------------------------------------------------------

typedef struct place {
  ref word, shift; // where the element is
  uint32_t mask;   // of its bits
} place;

static place place_of(lowering *l, vyre_type t, ref index) {
  uint32_t bytes = type_bytes(t), in_word = 4 / bytes;
  ref part = lower_bin(l, VYRE_OP_AND, index, number(l, in_word - 1));
  return (place){lower_bin(l, VYRE_OP_SHR, index, number(l, in_word == 4 ? 2 : 1)),
                 lower_bin(l, VYRE_OP_MUL, part, number(l, 8 * bytes)), bytes == 1 ? 0xff : 0xffff};
}

static ref load_part(lowering *l, vyre_type t, uint32_t mem, ref index) {
  place at = place_of(l, t, index);
  ref word = lower_bin(l, VYRE_OP_SHR, load_word(l, mem, at.word), at.shift);
  return lower_convert(l, t, lower_bin(l, VYRE_OP_AND, word, number(l, at.mask)));
}

static void store_part(lowering *l, vyre_type t, uint32_t mem, ref index, ref value) {
  place at = place_of(l, t, index);
  ref bits = lower_bin(l, VYRE_OP_AND, lower_convert(l, VYRE_U32, value), number(l, at.mask));
  ref put = lower_bin(l, VYRE_OP_SHL, bits, at.shift);
  ref mask = lower_bin(l, VYRE_OP_SHL, number(l, at.mask), at.shift);
  ref others = lower_un(l, VYRE_OP_NOT, mask);
  vyre_var guess = lower_var(l, load_word(l, mem, at.word));
  vyre_build_while(l->b);
  ref guessed = lower_get(l, guess);
  ref wanted = lower_bin(l, VYRE_OP_OR, lower_bin(l, VYRE_OP_AND, guessed, others), put);
  ref found = promise(
      l, (inst){.op = OP_CAS_WORD, .type = VYRE_U32, .arg = {mem, at.word, guessed, wanted}});
  lower_set(l, guess, found);
  vyre_build_do(l->b, lower_bin(l, VYRE_OP_NE, found, guessed));
  lower_end(l);
}

// ---- the recipe ---------------------------------------------------------------------------------

static ref declare(lowering *l, const inst *in, uint32_t words) {
  inst array = {.op = VYRE_OP_ARRAY, .type = VYRE_U32, .arg = {in->arg[0] * words}};
  return builder_emit(l->b, &array);
}

static ref rewrite(lowering *l, const inst *in) {
  vyre_type t = element_of(l, in);
  uint32_t words = storage_words(l->target, t), mem = in->arg[0];
  if (in->op == VYRE_OP_ARRAY) return declare(l, in, words);
  ref index = wide_index(l, in->arg[1]);
  bool is_load = in->op == VYRE_OP_LOAD, is_buffer = mem_space(mem) == MEM_BUFFER;
  if (words == 2) return access_pair(l, in, index);
  if (is_load)
    return is_buffer ? load_part(l, t, mem, index) : lower_convert(l, t, load_word(l, mem, index));
  if (is_buffer)
    store_part(l, t, mem, index, in->arg[2]);
  else
    store_word(l, mem, index, lower_convert(l, VYRE_U32, in->arg[2]));
  return 0;
}

const recipe recipe_storage = {
    .name = "storage",
    .doc = "elements of 8, 16 and 64 bits in 32-bit words, small ones put there by "
           "compare-exchange",
    .is_needed = is_needed,
    .takes = takes,
    .rewrite = rewrite,
};
