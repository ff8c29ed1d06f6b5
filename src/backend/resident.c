// SPDX-License-Identifier: MIT
#include "backend/resident.h"

#include "backend/backend.h"
#include "base/fork.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

bool resident_init(vyre_buffer *r, size_t size_bytes) {
  size_t padded = (size_bytes + 4095) / 4096 * 4096; // whole pages: some devices use them in place
  *r = (vyre_buffer){
      .size_bytes = size_bytes, .is_host_current = true, .generation = fork_generation()};
  if (padded < size_bytes) return false;
  r->host = aligned_alloc(4096, padded ? padded : 4096);
  if (!r->host) return false;
  memset(r->host, 0, padded);
  pthread_mutex_init(&r->lock, NULL);
  return true;
}

bool resident_init_mapped(vyre_buffer *r, size_t size_bytes) {
  *r = (vyre_buffer){.size_bytes = size_bytes,
                     .is_host_current = true,
                     .generation = fork_generation(),
                     .is_mapped = true};
  r->host = mmap(NULL, size_bytes ? size_bytes : 1, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (r->host == MAP_FAILED) return false;
  pthread_mutex_init(&r->lock, NULL);
  return true;
}

void resident_fini(vyre_buffer *r) {
  if (r->backend) r->backend->drop(r);
  pthread_mutex_destroy(&r->lock);
  if (r->is_mapped)
    munmap(r->host, r->size_bytes ? r->size_bytes : 1);
  else
    free(r->host);
}

vyre_status resident_to_host(vyre_buffer *r, vyre_error *error) {
  vyre_status status = VYRE_OK;
  pthread_mutex_lock(&r->lock);
  if (!r->is_host_current) {
    status = r->backend->fetch(r, error);
    if (status == VYRE_OK) {
      r->is_host_current = true;
      r->moved_bytes += r->size_bytes;
    }
  }
  pthread_mutex_unlock(&r->lock);
  return status;
}

void resident_host_written(vyre_buffer *r) {
  pthread_mutex_lock(&r->lock);
  r->is_host_current = true;
  r->is_device_current = false;
  pthread_mutex_unlock(&r->lock);
}

resident_way resident_distance(vyre_buffer *r, const struct backend *b) {
  resident_way way = {0};
  pthread_mutex_lock(&r->lock);
  bool is_there = r->backend == b && r->is_device_current;
  way.owner = r->backend;
  if (!is_there && !r->is_host_current) way.back = r->size_bytes;
  if (!is_there && b->keeps_memory && b->keeps_memory(b)) way.there = r->size_bytes;
  pthread_mutex_unlock(&r->lock);
  return way;
}
