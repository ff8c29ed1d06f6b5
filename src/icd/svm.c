// SPDX-License-Identifier: MIT
#include "icd/svm.h"

#include <stdlib.h>
#include <string.h>

static struct {
  pthread_mutex_t lock;
  cl_mem *at; // by address
  size_t count, capacity;
} list = {.lock = PTHREAD_MUTEX_INITIALIZER};

// ---- the list -----------------------------------------------------------------------------------

// The first allocation behind the address.
static size_t place_of(const void *at) {
  size_t low = 0, high = list.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (list.at[middle]->data <= (const char *)at)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static cl_mem find(const void *at) {
  size_t place = place_of(at);
  cl_mem m = place ? list.at[place - 1] : NULL;
  return m && (const char *)at < m->data + m->size ? m : NULL;
}

static bool insert(cl_mem m) {
  if (list.count == list.capacity) {
    size_t capacity = list.capacity ? 2 * list.capacity : 16;
    cl_mem *more = realloc(list.at, capacity * sizeof(cl_mem));
    if (!more) return false;
    list.at = more;
    list.capacity = capacity;
  }
  size_t place = place_of(m->data);
  memmove(&list.at[place + 1], &list.at[place], (list.count - place) * sizeof(cl_mem));
  list.at[place] = m;
  list.count++;
  return true;
}

static void take_out(cl_mem m) {
  size_t place = place_of(m->data);
  if (!place || list.at[place - 1] != m) return;
  list.count--;
  memmove(&list.at[place - 1], &list.at[place], (list.count - place + 1) * sizeof(cl_mem));
}

cl_mem svm_find(const void *at) {
  pthread_mutex_lock(&list.lock);
  cl_mem m = find(at);
  pthread_mutex_unlock(&list.lock);
  return m;
}

cl_mem svm_hold(const void *at) {
  pthread_mutex_lock(&list.lock);
  cl_mem m = object_hold(find(at));
  pthread_mutex_unlock(&list.lock);
  return m;
}

void svm_forget(cl_mem m) {
  pthread_mutex_lock(&list.lock);
  take_out(m);
  pthread_mutex_unlock(&list.lock);
}

// ---- the client's calls -------------------------------------------------------------------------

void *clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t size, cl_uint alignment) {
  const cl_svm_mem_flags access = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
  if (!object_is(context, OBJECT_CONTEXT) || (flags & ~access)) return NULL;
  if ((flags & access) & ((flags & access) - 1)) return NULL;
  if (!size || size > context_most_bytes(context)) return NULL;
  if (alignment > DEVICE_ALIGN_BYTES || (alignment & (alignment - 1))) return NULL;
  cl_mem made = memory_new(context, CL_MEM_OBJECT_BUFFER, flags ? flags : CL_MEM_READ_WRITE, size);
  if (!made) return NULL;
  bool is_made = memory_allocate(made, NULL) == CL_SUCCESS;
  if (is_made) {
    pthread_mutex_lock(&list.lock);
    is_made = made->is_svm = insert(made);
    pthread_mutex_unlock(&list.lock);
  }
  if (is_made) return made->data;
  clReleaseMemObject(made);
  return NULL;
}

void clSVMFree(cl_context context, void *at) {
  if (!object_is(context, OBJECT_CONTEXT) || !at) return;
  pthread_mutex_lock(&list.lock);
  cl_mem m = find(at);
  bool is_whole = m && m->data == at && m->context == context;
  if (is_whole) take_out(m); // nobody finds it again, also while a command still holds it
  pthread_mutex_unlock(&list.lock);
  if (is_whole) clReleaseMemObject(m);
}
