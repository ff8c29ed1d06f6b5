// SPDX-License-Identifier: MIT
//
// Compile latency, cached load and the cost of a tiny dispatch, beside an OpenCL driver's.
#ifndef VYRE_BENCH_LATENCY_H
#define VYRE_BENCH_LATENCY_H

#include "kernels/opencl.h"

#include <vyre/vyre.h>

double latency_cpu_ms(void); // of this process so far

// Prints and says whether all bars were reached; `driver` may be NULL.
bool latency_show(const char *vyre_path, const char *cl_path, cl_driver *driver);

#endif
