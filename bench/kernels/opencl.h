// SPDX-License-Identifier: MIT
//
// OpenCL drivers by hand, beside vyre. For one thread; a driver stays open until the process ends,
// and a failure of one ends the process with a message.
#ifndef VYRE_BENCH_OPENCL_H
#define VYRE_BENCH_OPENCL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cl_driver cl_driver; // one device of a platform, all its cores
typedef struct cl_peer cl_peer;     // a kernel with its buffers and arguments

// The CPU of the first platform whose name contains `platform`; NULL: there is none.
cl_driver *cl_driver_open(const char *platform);
const char *cl_driver_version(const cl_driver *d);

// k_KERNEL of a file, which is built when it is first asked for. NULL where the driver cannot build
// it or cannot run such groups. Zeros in `grid` end it; a group of zeros is the driver's choice.
cl_peer *cl_peer_new(cl_driver *d, const char *source_path, const char *options, const char *kernel,
                     const uint32_t grid[3], const uint32_t group[3]);
void cl_peer_buffer(cl_peer *p, void *data, size_t bytes); // shared with the host, in order
void cl_peer_scalar(cl_peer *p, const void *value);        // of four bytes, after the buffers
bool cl_peer_run(cl_peer *p);                              // enqueue and finish; false: refused
void cl_peer_free(cl_peer *p);

// CPU milliseconds from a source text to the first result, the best of several.
double cl_first_ms(cl_driver *d);

#endif
