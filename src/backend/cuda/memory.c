// SPDX-License-Identifier: MIT
#include "backend/cuda/memory.h"

#include <stdlib.h>

struct cuda_piece {
  cuda_piece *next;
  cuda_memory_kind kind;
  cu_address address;
  void *host;
  size_t size;
};

// Small sizes are powers of two, larger ones whole megabytes: what differs a little fits again.
static size_t round_size(size_t size) {
  const size_t unit = (size_t)1 << 20;
  if (size > unit) return size > SIZE_MAX - unit ? SIZE_MAX : (size + unit - 1) / unit * unit;
  size_t power = 256;
  while (power < size) power *= 2;
  return power;
}

// A piece of which less than half would lie idle.
static cuda_piece *find_kept(cuda_device *d, cuda_memory_kind kind, size_t size) {
  cuda_piece **best = NULL;
  for (cuda_piece **at = &d->pieces[kind]; *at; at = &(*at)->next)
    if ((*at)->size >= size && (*at)->size / 2 <= size && (!best || (*at)->size < (*best)->size))
      best = at;
  if (!best) return NULL;
  cuda_piece *found = *best;
  *best = found->next;
  return found;
}

static cu_result allocate(cuda_device *d, cuda_piece *p) {
  if (p->kind == CUDA_DEVICE_MEMORY) return d->api.MemAlloc(&p->address, p->size);
  cu_result code =
      d->api.MemHostAlloc(&p->host, p->size, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
  if (code != CU_SUCCESS) return code;
  code = d->api.MemHostGetDevicePointer(&p->address, p->host, 0);
  if (code != CU_SUCCESS) d->api.MemFreeHost(p->host);
  return code;
}

static void free_piece(cuda_device *d, cuda_piece *p) {
  if (p->kind == CUDA_DEVICE_MEMORY)
    d->api.MemFree(p->address);
  else
    d->api.MemFreeHost(p->host);
  free(p);
}

void cuda_memory_trim(cuda_device *d) {
  pthread_mutex_lock(&d->memory_lock);
  for (int kind = 0; kind < 2; kind++)
    for (cuda_piece *next; d->pieces[kind]; d->pieces[kind] = next) {
      next = d->pieces[kind]->next;
      free_piece(d, d->pieces[kind]);
    }
  pthread_mutex_unlock(&d->memory_lock);
}

cu_result cuda_memory_take(cuda_device *d, cuda_memory_kind kind, size_t size, cuda_memory *out) {
  cu_result code = CU_SUCCESS;
  size = round_size(size);
  *out = (cuda_memory){0};
  pthread_mutex_lock(&d->memory_lock);
  cuda_piece *p = find_kept(d, kind, size);
  pthread_mutex_unlock(&d->memory_lock);
  if (!p) {
    p = calloc(1, sizeof *p);
    if (!p) return CU_ERROR_OUT_OF_MEMORY;
    p->kind = kind;
    p->size = size;
    code = allocate(d, p);
    if (code == CU_ERROR_OUT_OF_MEMORY) {
      cuda_memory_trim(d);
      code = allocate(d, p);
    }
    if (code != CU_SUCCESS) {
      free(p);
      return code;
    }
  }
  *out = (cuda_memory){p, p->address, p->host, p->size};
  return CU_SUCCESS;
}

void cuda_memory_give(cuda_device *d, cuda_memory *m) {
  cuda_piece *p = m->piece;
  *m = (cuda_memory){0};
  if (!p) return;
  pthread_mutex_lock(&d->memory_lock);
  p->next = d->pieces[p->kind];
  d->pieces[p->kind] = p;
  pthread_mutex_unlock(&d->memory_lock);
}
