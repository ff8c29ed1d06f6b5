// SPDX-License-Identifier: MIT
//
// What bench/kernels.c needs around its table: PoCL driven by hand, and the times from a program to
// its first answer.
#ifndef VYRE_BENCH_PEER_H
#define VYRE_BENCH_PEER_H

#include <vyre/vyre.h>

// One kernel of the OpenCL file with its buffers and arguments.
typedef struct cl_peer cl_peer;

bool cl_peer_open(const char *source_path); // false: no OpenCL here
cl_peer *cl_peer_new(const char *kernel, const uint32_t grid[2], const uint32_t group[2],
                     bool one_thread);
void cl_peer_buffer(cl_peer *p, void *data, size_t bytes); // shared with the host, in order
void cl_peer_scalar(cl_peer *p, const void *value);        // of four bytes, after the buffers
void cl_peer_run(cl_peer *p);                              // enqueue and finish
void cl_peer_free(cl_peer *p);

vyre_status peer_read_file(const char *path, char **text, size_t *size, vyre_error *error);
// As the runtime compiles what is hot: passes by selection, then the full tier.
vyre_status peer_compile(vyre_program *program, const vyre_compile_options *options,
                         vyre_executable **out, vyre_error *error);

// Compile latency, cached load and the cost of a tiny dispatch, beside PoCL's.
void peer_latency(const char *vyre_path);

#endif
