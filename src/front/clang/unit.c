// SPDX-License-Identifier: MIT
#include "front/clang/unit.h"

#include "base/error.h"
#include "front/clang/ast.h"
#include "front/clang/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void unit_bail(unit *u) {
  longjmp(u->bail, 1);
}

void unit_fail(unit *u, vyre_status status, uint32_t offset, const char *format, ...) {
  va_list args;
  va_start(args, format);
  error_setv(u->error, status, format, args);
  va_end(args);
  if (offset != NO_PLACE) source_place_error(u, offset);
  unit_bail(u);
}

void unit_fail_memory(unit *u) {
  error_out_of_memory(u->error);
  unit_bail(u);
}

void *unit_alloc(unit *u, size_t count, size_t size) {
  void *memory = arena_alloc_array(&u->arena, count, size);
  if (!memory) unit_fail_memory(u);
  return memory;
}

char *unit_copy(unit *u, const char *text, size_t size) {
  char *copy = arena_copy_string(&u->arena, text, size);
  if (!copy) unit_fail_memory(u);
  return copy;
}

char *unit_printf(unit *u, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int size = vsnprintf(NULL, 0, format, args);
  va_end(args);
  char *text = unit_alloc(u, (size_t)size + 1, 1);
  vsnprintf(text, (size_t)size + 1, format, again);
  va_end(again);
  return text;
}

const char *unit_string(unit *u, CXString string) {
  const char *text = clang_getCString(string);
  char *copy = arena_copy_string(&u->arena, text ? text : "", text ? strlen(text) : 0);
  clang_disposeString(string);
  if (!copy) unit_fail_memory(u);
  return copy;
}

void *unit_grow(unit *u, void *array, uint32_t *capacity, size_t size) {
  uint32_t wanted = *capacity ? *capacity * 2 : 8;
  void *grown = unit_alloc(u, wanted, size);
  if (*capacity) memcpy(grown, array, *capacity * size);
  *capacity = wanted;
  return grown;
}

void unit_fini(unit *u) {
  if (u->tu) clang_disposeTranslationUnit(u->tu);
  if (u->index) clang_disposeIndex(u->index);
  ast_fini(u);
  vyre_builder_free(u->builder);
  free(u->text);
  arena_free(&u->arena);
}
