// SPDX-License-Identifier: MIT
//
// The grid that a kernel names itself: annotate("grid(n, 2, len(x))") has integer arguments,
// numbers, lengths of buffers in elements and extents of images (picture.width), one to three of
// them.
#include "front/clang/image.h"

#include "base/ascii.h"

#include <stdlib.h>
#include <string.h>

_Noreturn static void refuse(lowering *l, const char *what, size_t size) {
  unit_fail(l->u, VYRE_ERROR_BINDING, l->kernel->offset,
            "`%.*s` in the annotation of `%s` is no extent. Fix: write grid(...) with one to three "
            "integer arguments, numbers or lengths of buffers, as in grid(n, 2, len(x))",
            (int)size, what, l->kernel->name);
}

// The items between the parentheses.
static uint32_t split(lowering *l, const char **items, size_t *sizes) {
  const char *text = l->kernel->grid, *at = text + strlen("grid("), *end = strrchr(at, ')');
  uint32_t count = 0;
  if (!end) refuse(l, text, strlen(text));
  for (const char *p = at;; p++) {
    if (p < end && *p != ',') continue;
    while (at < p && ascii_is_space(*at)) at++;
    size_t size = (size_t)(p - at);
    while (size && ascii_is_space(at[size - 1])) size--;
    if (!size || count == 3) refuse(l, text, strlen(text));
    items[count] = at;
    sizes[count++] = size;
    at = p + 1;
    if (p == end) return count;
  }
}

uint32_t grid_rank(lowering *l) {
  const char *items[3];
  size_t sizes[3];
  return split(l, items, sizes);
}

static const decl *find_argument(lowering *l, const char *name, size_t size, uint32_t *number) {
  for (uint32_t i = 0; i < l->kernel->param_count; i++) {
    const decl *d = l->kernel->params[i];
    *number = i;
    if (strlen(d->name) == size && !strncmp(d->name, name, size)) return d;
  }
  return NULL;
}

static ref length_of(lowering *l, const decl *d) {
  base *b = base_new(l, d, FACT_BUFFER);
  uint64_t words = d->type->element->size / b->word_bytes;
  ref length = vyre_build_len(l->b, b->mem);
  return words > 1 ? e_binary(l, VYRE_OP_DIV, length, e_const(l, VYRE_U32, words)) : length;
}

static ref extent(lowering *l, const char *text, size_t size, const uint32_t *first_param) {
  uint32_t number;
  const decl *d;
  if (ascii_is_digit(*text)) {
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    if (end != text + size || value > INT32_MAX) refuse(l, text, size);
    return e_const(l, VYRE_U32, value);
  }
  if (size > 5 && !strncmp(text, "len(", 4) && text[size - 1] == ')') {
    d = find_argument(l, text + 4, size - 5, &number);
    bool is_buffer = d && d->type->kind == T_POINTER &&
                     (d->type->space == SPACE_GLOBAL || d->type->space == SPACE_CONSTANT);
    if (!is_buffer) refuse(l, text, size);
    return length_of(l, d);
  }
  ref of_image = image_extent_named(l, text, size);
  if (of_image) return of_image;
  d = find_argument(l, text, size, &number);
  if (!d || d->type->kind != T_SCALAR || !type_is_int(d->type->scalar) || d->type->is_sampler)
    refuse(l, text, size);
  return e_convert(l, VYRE_U32, vyre_build_param_value(l->b, first_param[number]));
}

void grid_extents(lowering *l, const uint32_t *first_param, ref *grid) {
  const char *items[3];
  size_t sizes[3];
  uint32_t count = split(l, items, sizes);
  for (uint32_t i = 0; i < 3; i++)
    grid[i] = i < count ? extent(l, items[i], sizes[i], first_param) : e_const(l, VYRE_U32, 1);
}
