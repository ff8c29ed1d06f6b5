// SPDX-License-Identifier: MIT
//
// The CUDA devices of the machine, asked once per process. Each has its primary context, which is
// kept until the process ends; whoever calls the driver for a device is between cuda_enter and
// cuda_leave, which leave the calling thread's own context as it was. Any thread.
#ifndef VYRE_BACKEND_CUDA_DEVICE_H
#define VYRE_BACKEND_CUDA_DEVICE_H

#include "backend/cuda/api.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct cuda_piece cuda_piece;

typedef enum cuda_verdict { VERDICT_OPEN, VERDICT_RIGHT, VERDICT_WRONG } cuda_verdict;

typedef struct cuda_device {
  cuda_api api; // its own copy: tests put calls in front of it
  cu_device handle;
  cu_context context;
  vyre_device info;
  char name[128];
  int major, minor; // of its architecture
  uint32_t most_threads, most_block[3], most_grid[3], most_shared;
  atomic_bool is_lost;
  pthread_mutex_t memory_lock;
  cuda_piece *pieces[2]; // memory that nobody uses, by kind; see memory.h
  pthread_mutex_t trust_lock;
  cuda_verdict verdict; // see trust.h
  char failed[96];      // what it got wrong
} cuda_device;

// NULL with an error where there are none.
cuda_device *cuda_devices(uint32_t *count, vyre_error *error);
// By the adapter's name, or the first that can be used when that is NULL.
cuda_device *cuda_device_find(const char *adapter, vyre_error *error);
// Fails in a child of the process that has used devices.
vyre_status cuda_check_process(vyre_error *error);

cu_result cuda_enter(cuda_device *d);
void cuda_leave(cuda_device *d);

// The error of a call; a device that is lost by it is remembered.
vyre_status cuda_device_error(cuda_device *d, vyre_error *error, cu_result code, const char *what);

#endif
