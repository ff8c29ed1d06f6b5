// SPDX-License-Identifier: MIT
#include "backend/vulkan/module.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

enum { KNOWN_FIRST = 128, OFFSET_BITS = 28, HEADER_WORDS = 5 };

void spirv_fini(spirv_module *m) {
  for (int i = 0; i < SECTION_COUNT; i++) vec_free(&m->sections[i]);
  free(m->known);
  *m = (spirv_module){0};
}

// ---- instructions -------------------------------------------------------------------------------

static void push(spirv_module *m, spirv_section to, const uint32_t *words, size_t count) {
  spirv_words *list = &m->sections[to];
  if (m->failed || !vec_reserve(list, count + 1)) {
    m->failed = true;
    return;
  }
  if (count) memcpy(list->at + list->count, words, count * sizeof *words);
  list->count += count;
}

static void push_head(spirv_module *m, spirv_section to, SpvOp op, size_t operands) {
  uint32_t head = (uint32_t)(operands + 1) << SpvWordCountShift | (uint32_t)op;
  push(m, to, &head, 1);
}

void spirv_put_words(spirv_module *m, spirv_section to, SpvOp op, const uint32_t *words,
                     uint32_t count) {
  push_head(m, to, op, count);
  push(m, to, words, count);
}

void spirv_put_text(spirv_module *m, spirv_section to, SpvOp op, const uint32_t *before,
                    uint32_t before_count, const char *text, const uint32_t *after,
                    uint32_t after_count) {
  size_t size = strlen(text), words = size / 4 + 1; // with a NUL, in whole words
  push_head(m, to, op, before_count + words + after_count);
  push(m, to, before, before_count);
  for (size_t i = 0; i < words; i++) {
    uint32_t word = 0;
    memcpy(&word, text + 4 * i, size - 4 * i < 4 ? size - 4 * i : 4);
    push(m, to, &word, 1);
  }
  push(m, to, after, after_count);
}

uint32_t spirv_make_words(spirv_module *m, SpvOp op, uint32_t type, const uint32_t *words,
                          uint32_t count) {
  uint32_t made = spirv_id(m);
  spirv_section to = m->is_at_entry ? SECTION_ENTRY : SECTION_BODY;
  push_head(m, to, op, 2 + (size_t)count);
  push(m, to, (const uint32_t[]){type, made}, 2);
  push(m, to, words, count);
  return made;
}

// ---- what is declared once ----------------------------------------------------------------------

static uint64_t hash_of(SpvOp op, uint32_t type, const uint32_t *words, uint32_t count) {
  uint64_t of_words = count ? hash_fast(words, count * sizeof *words) : 0;
  return (of_words ^ op ^ (uint64_t)type << 20) * UINT64_C(0x9e3779b97f4a7c15);
}

// The instruction at an entry of the table, without its number.
static SpvOp entry_at(const spirv_module *m, uint32_t entry, uint32_t *type, const uint32_t **words,
                      uint32_t *count, uint32_t *made) {
  spirv_section section = (spirv_section)(entry >> OFFSET_BITS);
  const uint32_t *at = &m->sections[section].at[(entry & ((1u << OFFSET_BITS) - 1)) - 1];
  SpvOp op = (SpvOp)(at[0] & SpvOpCodeMask);
  bool has_type = op >= SpvOpConstantTrue && op <= SpvOpSpecConstantOp;
  bool has_number = section != SECTION_CAPABILITIES;
  *type = has_type ? at[1] : 0;
  *made = has_number ? at[1 + has_type] : 0;
  *words = at + 1 + has_type + has_number;
  *count = (at[0] >> SpvWordCountShift) - 1 - has_type - has_number;
  return op;
}

static uint32_t find_slot(const spirv_module *m, SpvOp op, uint32_t type, const uint32_t *words,
                          uint32_t count) {
  uint32_t mask = m->known_capacity - 1, made, its_type, its_count;
  const uint32_t *its_words;
  uint32_t i = (uint32_t)(hash_of(op, type, words, count) >> 32) & mask;
  for (; m->known[i]; i = (i + 1) & mask) {
    SpvOp its_op = entry_at(m, m->known[i], &its_type, &its_words, &its_count, &made);
    if (its_op == op && its_type == type && its_count == count &&
        (!count || !memcmp(its_words, words, count * sizeof *words)))
      break;
  }
  return i;
}

static bool grow(spirv_module *m) {
  if (m->known_count * 2 < m->known_capacity) return true;
  uint32_t *old = m->known, capacity = m->known_capacity;
  uint32_t *bigger = calloc(capacity ? capacity * 2 : KNOWN_FIRST, sizeof *bigger);
  if (!bigger) return false;
  m->known = bigger;
  m->known_capacity = capacity ? capacity * 2 : KNOWN_FIRST;
  for (uint32_t i = 0; i < capacity; i++) {
    uint32_t type, count, made;
    const uint32_t *words;
    if (!old[i]) continue;
    SpvOp op = entry_at(m, old[i], &type, &words, &count, &made);
    m->known[find_slot(m, op, type, words, count)] = old[i];
  }
  free(old);
  return true;
}

// The number of the instruction that has these words, which is put where it is not there yet.
static uint32_t declare(spirv_module *m, spirv_section to, SpvOp op, uint32_t type,
                        const uint32_t *words, uint32_t count, bool *is_new) {
  uint32_t its_type, its_count, made;
  const uint32_t *its_words;
  if (is_new) *is_new = false;
  if (m->failed || !grow(m)) {
    m->failed = true;
    return 0;
  }
  uint32_t slot = find_slot(m, op, type, words, count);
  if (m->known[slot]) {
    entry_at(m, m->known[slot], &its_type, &its_words, &its_count, &made);
    return made;
  }
  size_t offset = m->sections[to].count;
  if (offset + 1 >= (size_t)1 << OFFSET_BITS) m->failed = true;
  bool has_number = to != SECTION_CAPABILITIES;
  made = has_number ? spirv_id(m) : 0;
  push_head(m, to, op, (size_t)count + has_number + (type != 0));
  if (type) push(m, to, &type, 1);
  if (has_number) push(m, to, &made, 1);
  push(m, to, words, count);
  if (m->failed) return 0;
  m->known[slot] = (uint32_t)to << OFFSET_BITS | (uint32_t)(offset + 1);
  m->known_count++;
  if (is_new) *is_new = true;
  return made;
}

uint32_t spirv_declare_words(spirv_module *m, SpvOp op, uint32_t type, const uint32_t *words,
                             uint32_t count, bool *is_new) {
  return declare(m, SECTION_GLOBALS, op, type, words, count, is_new);
}

void spirv_require(spirv_module *m, SpvCapability capability) {
  uint32_t word = capability;
  declare(m, SECTION_CAPABILITIES, SpvOpCapability, 0, &word, 1, NULL);
}

void spirv_extension(spirv_module *m, const char *name) {
  spirv_put_text(m, SECTION_EXTENSIONS, SpvOpExtension, NULL, 0, name, NULL, 0);
}

// ---- the whole ----------------------------------------------------------------------------------

void spirv_end_function(spirv_module *m, uint32_t function, uint32_t result, uint32_t type) {
  spirv_put(m, SECTION_FUNCTIONS, SpvOpFunction, result, function, SpvFunctionControlMaskNone,
            type);
  spirv_put(m, SECTION_FUNCTIONS, SpvOpLabel, spirv_id(m));
  for (int i = SECTION_LOCALS; i <= SECTION_BODY; i++) {
    push(m, SECTION_FUNCTIONS, m->sections[i].at, m->sections[i].count);
    m->sections[i].count = 0;
  }
  push_head(m, SECTION_FUNCTIONS, SpvOpFunctionEnd, 0);
}

uint32_t *spirv_finish(spirv_module *m, uint32_t version, size_t *count) {
  size_t total = HEADER_WORDS;
  for (int i = 0; i < SECTION_LOCALS; i++) total += m->sections[i].count;
  uint32_t *all = m->failed ? NULL : malloc(total * sizeof *all);
  if (!all) return NULL;
  const uint32_t header[HEADER_WORDS] = {SpvMagicNumber, version, 0, m->bound + 1, 0};
  memcpy(all, header, sizeof header);
  size_t used = HEADER_WORDS;
  for (int i = 0; i < SECTION_LOCALS; i++) {
    if (m->sections[i].count)
      memcpy(all + used, m->sections[i].at, m->sections[i].count * sizeof *all);
    used += m->sections[i].count;
  }
  *count = total;
  return all;
}
