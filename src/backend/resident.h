// SPDX-License-Identifier: MIT
//
// Memory that may live on a device between dispatches: host memory, and a copy that one backend
// keeps on its device. Which of the two is current is known, and nothing is copied before somebody
// needs it. The runtime owns residents; a backend with memory of its own fills `device`. The lock
// is for these facts and for copying, not for the content: that is the caller's, as with spans.
#ifndef VYRE_BACKEND_RESIDENT_H
#define VYRE_BACKEND_RESIDENT_H

#include <vyre/vyre.h>

#include <pthread.h>

struct backend;

struct vyre_buffer {
  pthread_mutex_t lock;
  void *host;
  size_t size_bytes;
  const struct backend *backend; // that keeps a copy; NULL: none does
  void *device;                  // the backend's
  bool is_host_current, is_device_current;
  uint64_t moved_bytes; // between host and devices, ever
  vyre_runtime *runtime;
  vyre_buffer *next;     // of the runtime's
  unsigned generation;   // see base/fork.h
  bool is_mapped;        // pages are there when they are touched
  struct layout *layout; // in a cluster: which bytes each rank has
  uint32_t number;       // there: the same on every rank
};

bool resident_init(vyre_buffer *r, size_t size_bytes); // zeroed; false: out of memory
// The same in address space: only what is touched takes memory.
bool resident_init_mapped(vyre_buffer *r, size_t size_bytes);
void resident_fini(vyre_buffer *r);

// Makes the host's memory current.
vyre_status resident_to_host(vyre_buffer *r, vyre_error *error);
// The host's memory was written: a copy on a device is not current any more.
void resident_host_written(vyre_buffer *r);
// What would be copied if the backend used it next.
typedef struct resident_way {
  const struct backend *owner; // of the device that has it
  uint64_t back, there;        // bytes from that device to the host, and to the backend's own
} resident_way;
resident_way resident_distance(vyre_buffer *r, const struct backend *b);

#endif
