// SPDX-License-Identifier: MIT
//
// A kernel of OpenCL C on an OpenCL driver as a person would call it by hand: the source as it is
// built by the driver, its arguments set by name, a launch and a wait. For `vyre bench`. One
// thread.
#ifndef VYRE_CLI_BENCH_PEER_H
#define VYRE_CLI_BENCH_PEER_H

#include "cli/measure.h"

typedef struct bench_peer bench_peer;

// VYRE_ERROR_UNSUPPORTED, with the reason, for sources in another language, images, and machines
// without OpenCL. `name` gets the platform's name, of 64 bytes.
vyre_status bench_peer_new(const measure *m, bench_peer **out, char name[64], vyre_error *error);
void bench_peer_free(bench_peer *p);
// Puts the inputs back and runs it once.
vyre_status bench_peer_run(bench_peer *p, uint64_t *elapsed_ns, vyre_error *error);

#endif
