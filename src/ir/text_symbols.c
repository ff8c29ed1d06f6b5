// SPDX-License-Identifier: MIT
#include "ir/text_symbols.h"

#include "base/clock.h"
#include "base/hash.h"

#include <string.h>

typedef struct known_word {
  const char *text;
  uint8_t word, function, type;
  uint64_t bits;
} known_word;

static const known_word known_words[] = {
    {"program", WORD_PROGRAM, 0, 0, 0},
    {"buffer", WORD_BUFFER, 0, 0, 0},
    {"transient", WORD_TRANSIENT, 0, 0, 0},
    {"region", WORD_REGION, 0, 0, 0},
    {"shared", WORD_SHARED, 0, 0, 0},
    {"let", WORD_LET, 0, 0, 0},
    {"var", WORD_VAR, 0, 0, 0},
    {"array", WORD_ARRAY, 0, 0, 0},
    {"if", WORD_IF, 0, 0, 0},
    {"else", WORD_ELSE, 0, 0, 0},
    {"for", WORD_FOR, 0, 0, 0},
    {"while", WORD_WHILE, 0, 0, 0},
    {"do", WORD_DO, 0, 0, 0},
    {"break", WORD_BREAK, VYRE_OP_BREAK, 0, 0},
    {"continue", WORD_CONTINUE, VYRE_OP_CONTINUE, 0, 0},
    {"return", WORD_RETURN, VYRE_OP_RETURN, 0, 0},
    {"barrier", WORD_BARRIER, VYRE_OP_BARRIER, 0, 0},
    {"true", WORD_CONSTANT, 0, VYRE_BOOL, 1},
    {"false", WORD_CONSTANT, 0, VYRE_BOOL, 0},
    {"inf_f16", WORD_CONSTANT, 0, VYRE_F16, 0x7c00u},
    {"nan_f16", WORD_CONSTANT, 0, VYRE_F16, 0x7e00u},
    {"inf_f32", WORD_CONSTANT, 0, VYRE_F32, 0x7f800000u},
    {"nan_f32", WORD_CONSTANT, 0, VYRE_F32, 0x7fc00000u},
    {"inf_f64", WORD_CONSTANT, 0, VYRE_F64, 0x7ff0000000000000u},
    {"nan_f64", WORD_CONSTANT, 0, VYRE_F64, 0x7ff8000000000000u},
#define AXES(name, op)                                                                             \
  {name ".x", WORD_AXIS, op, 0, 0}, {name ".y", WORD_AXIS, op, 0, 1}, {                            \
    name ".z", WORD_AXIS, op, 0, 2                                                                 \
  }
    AXES("global_id", VYRE_OP_GLOBAL_ID),
    AXES("local_id", VYRE_OP_LOCAL_ID),
    AXES("group_id", VYRE_OP_GROUP_ID),
    AXES("global_size", VYRE_OP_GLOBAL_SIZE),
    AXES("local_size", VYRE_OP_LOCAL_SIZE),
    AXES("group_count", VYRE_OP_GROUP_COUNT),
#undef AXES
    {"in", WORD_IN, 0, 0, 0},
    {"by", WORD_BY, 0, 0, 0},
    {"fast", WORD_FAST, 0, 0, 0},
    {"grid", WORD_GRID, 0, 0, 0},
    {"workgroup", WORD_WORKGROUP, 0, 0, 0},
    {"read", WORD_READ, 0, 0, 0},
    {"write", WORD_WRITE, 0, 0, 0},
    {"readwrite", WORD_READWRITE, 0, 0, 0},
    {"tunable", WORD_TUNABLE, 0, 0, 0},
    {"where", WORD_WHERE, 0, 0, 0},
    {"const", WORD_CONST, 0, 0, 0},
    {"fn", WORD_FN, 0, 0, 0},
    {"include", WORD_INCLUDE, 0, 0, 0},
    {"printf", WORD_PRINTF, 0, 0, 0},
    {"as_i8", 0, VYRE_OP_BITCAST, VYRE_I8, 0},
    {"as_u8", 0, VYRE_OP_BITCAST, VYRE_U8, 0},
    {"as_i16", 0, VYRE_OP_BITCAST, VYRE_I16, 0},
    {"as_u16", 0, VYRE_OP_BITCAST, VYRE_U16, 0},
    {"as_i32", 0, VYRE_OP_BITCAST, VYRE_I32, 0},
    {"as_u32", 0, VYRE_OP_BITCAST, VYRE_U32, 0},
    {"as_i64", 0, VYRE_OP_BITCAST, VYRE_I64, 0},
    {"as_u64", 0, VYRE_OP_BITCAST, VYRE_U64, 0},
    {"as_f16", 0, VYRE_OP_BITCAST, VYRE_F16, 0},
    {"as_f32", 0, VYRE_OP_BITCAST, VYRE_F32, 0},
    {"as_f64", 0, VYRE_OP_BITCAST, VYRE_F64, 0},
};

typedef struct known_sugar {
  const char *text;
  uint8_t sugar;
} known_sugar;

static const known_sugar known_sugars[] = {
    {"clamp", SUGAR_CLAMP}, {"mix", SUGAR_MIX},       {"dot", SUGAR_DOT},
    {"cross", SUGAR_CROSS}, {"length", SUGAR_LENGTH}, {"normalize", SUGAR_NORMALIZE},
    {"any", SUGAR_ANY},     {"all", SUGAR_ALL},
};

// Short vectors: a type and how many.
typedef struct known_short {
  const char *text;
  uint8_t type, lanes;
} known_short;

static const known_short known_shorts[] = {
#define SHORT(name, type)                                                                          \
  {name "x2", type, 2}, {name "x3", type, 3}, {                                                    \
    name "x4", type, 4                                                                             \
  }
    SHORT("bool", VYRE_BOOL), SHORT("i8", VYRE_I8),   SHORT("u8", VYRE_U8),
    SHORT("i16", VYRE_I16),   SHORT("u16", VYRE_U16), SHORT("i32", VYRE_I32),
    SHORT("u32", VYRE_U32),   SHORT("i64", VYRE_I64), SHORT("u64", VYRE_U64),
    SHORT("f16", VYRE_F16),   SHORT("f32", VYRE_F32), SHORT("f64", VYRE_F64),
#undef SHORT
};

// Operations on nothing but values are called by their names; convert and bitcast by their types.
static bool is_callable(int op) {
  if (op == VYRE_OP_LEN || op_is_atomic((unsigned)op)) return true;
  const op_info *info = &op_table[op];
  return (info->flags & OPF_PURE) && op != VYRE_OP_CONVERT && op != VYRE_OP_BITCAST &&
         info->operand_count && strspn(info->operands, "v") == info->operand_count;
}

static symbol *intern_known(symbols *s, const char *text) {
  uint32_t size = (uint32_t)strlen(text);
  uint32_t number = symbols_intern(s, text, size, size);
  return number == UINT32_MAX ? NULL : &s->list.at[number];
}

bool symbols_init(symbols *s) {
  // Another order in the table each time: no text can be made so that its names collide.
  *s = (symbols){.seed = (clock_now_ns() ^ (uintptr_t)s) | 1};
  for (size_t i = 0; i < sizeof known_words / sizeof *known_words; i++) {
    const known_word *known = &known_words[i];
    symbol *sym = intern_known(s, known->text);
    if (!sym) return false;
    sym->word = known->word;
    sym->function = known->function;
    sym->type = known->type;
    sym->bits = known->bits;
  }
  for (int type = VYRE_BOOL; type < VYRE_TYPE_COUNT; type++) {
    symbol *sym = intern_known(s, type_table[type].name);
    if (!sym) return false;
    sym->function = VYRE_OP_CONVERT;
    sym->type = (uint8_t)type;
    sym->lanes = 1;
    sym->is_type = true;
  }
  for (size_t i = 0; i < sizeof known_shorts / sizeof *known_shorts; i++) {
    symbol *sym = intern_known(s, known_shorts[i].text);
    if (!sym) return false;
    sym->function = VYRE_OP_CONVERT;
    sym->type = known_shorts[i].type;
    sym->lanes = known_shorts[i].lanes;
    sym->is_type = true;
  }
  for (size_t i = 0; i < sizeof known_sugars / sizeof *known_sugars; i++) {
    symbol *sym = intern_known(s, known_sugars[i].text);
    if (!sym) return false;
    sym->sugar = known_sugars[i].sugar;
  }
  for (int op = 1; op < VYRE_OP_COUNT; op++) {
    symbol *sym = is_callable(op) ? intern_known(s, op_table[op].name) : NULL;
    if (sym) sym->function = (uint8_t)op;
    if (is_callable(op) && !sym) return false;
  }
  return true;
}

void symbols_fini(symbols *s) {
  vec_free(&s->list);
  free(s->table);
  *s = (symbols){0};
}

static bool grow_table(symbols *s) {
  size_t size = s->table_size ? s->table_size * 2 : 512;
  uint32_t *table = calloc(size, sizeof *table);
  if (!table) return false;
  for (uint32_t i = 0; i < s->list.count; i++) {
    size_t at = s->list.at[i].hash & (size - 1);
    while (table[at]) at = (at + 1) & (size - 1);
    table[at] = i + 1;
  }
  free(s->table);
  s->table = table;
  s->table_size = size;
  return true;
}

uint32_t symbols_intern(symbols *s, const char *text, uint32_t size, uint32_t base) {
  if (s->list.count * 2 >= s->table_size && !grow_table(s)) return UINT32_MAX;
  uint32_t hash = (uint32_t)(hash_fast(text, size) * s->seed >> 32);
  size_t mask = s->table_size - 1, at = hash & mask;
  for (; s->table[at]; at = (at + 1) & mask) {
    const symbol *old = &s->list.at[s->table[at] - 1];
    if (old->hash == hash && old->size == size && !memcmp(old->text, text, size))
      return s->table[at] - 1;
  }
  symbol made = {.text = text, .size = size, .base = base, .hash = hash};
  if (!vec_push(&s->list, made)) return UINT32_MAX;
  s->table[at] = (uint32_t)s->list.count;
  return s->table[at] - 1;
}
