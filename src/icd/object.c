// SPDX-License-Identifier: MIT
//
// Objects live in one reserved range of addresses, cut into chunks that each hold objects of one
// kind: whether a handle is one follows from its number alone, without reading what it points to.
#include "icd/object.h"

#include "icd/context.h"
#include "icd/device.h"
#include "icd/event.h"
#include "icd/kernel.h"
#include "icd/memory.h"
#include "icd/platform.h"
#include "icd/program.h"
#include "icd/queue.h"
#include "icd/sampler.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

// A freed object waits until so many of its kind have been freed after it.
enum { CHUNK_BYTES = 1 << 16, MOST_CHUNKS = 1 << 15, LEAST_WAITING = 64, ALIGN_BYTES = 64 };

typedef struct kind_row {
  size_t size;
  void (*fini)(void *object); // releases what it holds
} kind_row;

static const kind_row kinds[OBJECT_KINDS] = {
    [OBJECT_PLATFORM] = {sizeof(struct _cl_platform_id), NULL},
    [OBJECT_DEVICE] = {sizeof(struct _cl_device_id), NULL},
    [OBJECT_CONTEXT] = {sizeof(struct _cl_context), context_fini},
    [OBJECT_QUEUE] = {sizeof(struct _cl_command_queue), queue_fini},
    [OBJECT_EVENT] = {sizeof(struct _cl_event), event_fini},
    [OBJECT_MEMORY] = {sizeof(struct _cl_mem), memory_fini},
    [OBJECT_SAMPLER] = {sizeof(struct _cl_sampler), sampler_fini},
    [OBJECT_PROGRAM] = {sizeof(struct _cl_program), program_fini},
    [OBJECT_KERNEL] = {sizeof(struct _cl_kernel), kernel_fini},
};

static struct {
  pthread_mutex_t lock;
  char *range;
  size_t chunk_limit;
  _Atomic uint32_t chunk_count;
  _Atomic uint8_t chunk_kind[MOST_CHUNKS];
  struct {
    object *first, *last; // freed, the oldest first
    size_t waiting;
    char *fresh, *fresh_end; // of the newest chunk
  } of[OBJECT_KINDS];
} heap = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t stride(object_kind kind) {
  return (kinds[kind].size + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
}

// Where addresses are scarce (a limit, a sanitizer) less is reserved.
static bool reserve(void) {
  for (heap.chunk_limit = MOST_CHUNKS; heap.chunk_limit >= 16; heap.chunk_limit /= 2) {
    void *at = mmap(NULL, heap.chunk_limit * CHUNK_BYTES, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) continue;
    heap.range = at;
    return true;
  }
  return false;
}

static bool add_chunk(object_kind kind) {
  uint32_t number = atomic_load(&heap.chunk_count);
  if (!heap.range && !reserve()) return false;
  if (number >= heap.chunk_limit) return false;
  char *at = heap.range + (size_t)number * CHUNK_BYTES;
  if (mprotect(at, CHUNK_BYTES, PROT_READ | PROT_WRITE)) return false;
  atomic_store(&heap.chunk_kind[number], (uint8_t)kind);
  atomic_store(&heap.chunk_count, number + 1);
  heap.of[kind].fresh = at;
  heap.of[kind].fresh_end = at + CHUNK_BYTES / stride(kind) * stride(kind);
  return true;
}

static object *take(object_kind kind) {
  object *made = NULL;
  pthread_mutex_lock(&heap.lock);
  bool is_fresh = heap.of[kind].fresh < heap.of[kind].fresh_end;
  if (heap.of[kind].waiting > LEAST_WAITING || (heap.of[kind].waiting && !is_fresh)) {
    made = heap.of[kind].first;
    heap.of[kind].first = made->next_free;
    if (!--heap.of[kind].waiting) heap.of[kind].last = NULL;
  } else if (is_fresh || add_chunk(kind)) {
    made = (object *)(void *)heap.of[kind].fresh;
    heap.of[kind].fresh += stride(kind);
  }
  pthread_mutex_unlock(&heap.lock);
  return made;
}

void *object_new(object_kind kind) {
  object *made = take(kind);
  if (!made) return NULL;
  memset((char *)made + sizeof *made, 0, kinds[kind].size - sizeof *made);
  made->dispatch = &icd_dispatch;
  made->next_free = NULL;
  atomic_store_explicit(&made->refs, 1, memory_order_relaxed);
  atomic_store_explicit(&made->holds, 1, memory_order_relaxed);
  atomic_store_explicit(&made->kind, (uint32_t)kind, memory_order_release);
  return made;
}

bool object_is(const void *handle, object_kind kind) {
  size_t at = (size_t)((const char *)handle - heap.range);
  if (!handle || !heap.range || (const char *)handle < heap.range) return false;
  size_t chunk = at / CHUNK_BYTES;
  if (chunk >= atomic_load_explicit(&heap.chunk_count, memory_order_acquire)) return false;
  if (atomic_load_explicit(&heap.chunk_kind[chunk], memory_order_relaxed) != kind) return false;
  if (at % CHUNK_BYTES % stride(kind)) return false;
  const object *o = handle;
  return atomic_load_explicit(&o->kind, memory_order_acquire) == (uint32_t)kind;
}

static void put_back(object *o, object_kind kind) {
  pthread_mutex_lock(&heap.lock);
  o->next_free = NULL;
  if (heap.of[kind].last)
    heap.of[kind].last->next_free = o;
  else
    heap.of[kind].first = o;
  heap.of[kind].last = o;
  heap.of[kind].waiting++;
  pthread_mutex_unlock(&heap.lock);
}

void *object_hold(void *handle) {
  object *o = handle;
  if (o) atomic_fetch_add_explicit(&o->holds, 1, memory_order_relaxed);
  return handle;
}

void object_drop(void *handle) {
  object *o = handle;
  if (!o || atomic_fetch_sub_explicit(&o->holds, 1, memory_order_acq_rel) != 1) return;
  object_kind kind = (object_kind)atomic_load(&o->kind);
  if (!kinds[kind].fini) return; // platforms and devices stay
  kinds[kind].fini(o);
  atomic_store_explicit(&o->kind, OBJECT_NONE, memory_order_release);
  put_back(o, kind);
}

cl_int object_retain(void *handle, object_kind kind, cl_int invalid) {
  object *o = handle;
  if (!object_is(handle, kind)) return invalid;
  if (atomic_fetch_add(&o->refs, 1) == 0) object_hold(o);
  return CL_SUCCESS;
}

cl_int object_release(void *handle, object_kind kind, cl_int invalid) {
  object *o = handle;
  if (!object_is(handle, kind)) return invalid;
  unsigned refs = atomic_load(&o->refs);
  do {
    if (!refs) return invalid;
  } while (!atomic_compare_exchange_weak(&o->refs, &refs, refs - 1));
  if (refs == 1) object_drop(o);
  return CL_SUCCESS;
}

cl_uint object_count(const void *handle) {
  return atomic_load(&((const object *)handle)->refs);
}
