// SPDX-License-Identifier: MIT
#include "backend/pieces.h"

void pieces_begin(pieces *p, const size_t global[3], const size_t local[3], uint64_t most) {
  *p = (pieces){.is_over = false};
  uint64_t left = most / local[0] / local[1] / local[2]; // workgroups that a piece may have
  if (!left) left = 1;
  for (int k = 0; k < 3; k++) {
    uint64_t groups = global[k] / local[k];
    uint64_t taken = groups < left ? groups : left;
    p->global[k] = global[k];
    p->piece[k] = taken * local[k];
    left = taken ? left / taken : 1;
    if (!groups) p->is_over = true;
  }
}

bool pieces_next(pieces *p, size_t offset[3], size_t size[3]) {
  if (p->is_over) return false;
  for (int k = 0; k < 3; k++) {
    size_t rest = p->global[k] - p->at[k];
    offset[k] = p->at[k];
    size[k] = rest < p->piece[k] ? rest : p->piece[k];
  }
  int k = 0;
  while (k < 3 && p->global[k] - p->at[k] <= p->piece[k]) p->at[k++] = 0;
  if (k == 3)
    p->is_over = true;
  else
    p->at[k] += p->piece[k];
  return true;
}

uint64_t pieces_weight(const vyre_program *p, const region *r) {
  enum { WORD = 4 };
  uint64_t bytes = 0, size = (uint64_t)r->workgroup[0] * r->workgroup[1] * r->workgroup[2];
  for (uint32_t i = r->shared.first; i < r->shared.end; i++)
    bytes += (uint64_t)p->shared[i].length * type_bytes(p->shared[i].type);
  return 1 + bytes / (WORD * size);
}

bool pieces_are_many(const pieces *p) {
  for (int k = 0; k < 3; k++)
    if (p->piece[k] < p->global[k]) return true;
  return false;
}
