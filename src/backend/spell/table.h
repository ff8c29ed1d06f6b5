// SPDX-License-Identifier: MIT
//
// How each operation is written: values as expressions (value.c, where the table is), statements as
// lines (statement.c). Private to this folder.
#ifndef VYRE_BACKEND_SPELL_TABLE_H
#define VYRE_BACKEND_SPELL_TABLE_H

#include "backend/spell/spell.h"

typedef struct spelling {
  void (*put)(speller *s, uint32_t op, const char *text);
  const char *text;
} spelling;
extern const spelling spellings[OP_COUNT];

bool spell_is_value(const inst *in);
void put_store(speller *s, uint32_t op, const char *text);
void put_var(speller *s, uint32_t op, const char *text);
void put_set(speller *s, uint32_t op, const char *text);
void put_array(speller *s, uint32_t op, const char *text);
void put_if(speller *s, uint32_t op, const char *text);
void put_else(speller *s, uint32_t op, const char *text);
void put_for(speller *s, uint32_t op, const char *text);
void put_while(speller *s, uint32_t op, const char *text);
void put_do(speller *s, uint32_t op, const char *text);
void put_end(speller *s, uint32_t op, const char *text);
void put_jump(speller *s, uint32_t op, const char *text);
void put_return(speller *s, uint32_t op, const char *text);
void put_barrier(speller *s, uint32_t op, const char *text);

#endif
