// SPDX-License-Identifier: MIT
//
// The CPU backend: kernels vectorised across invocations, workgroups spread over a thread pool.
#ifndef VYRE_BACKEND_CPU_CPU_H
#define VYRE_BACKEND_CPU_CPU_H

#include "backend/backend.h"

extern const backend cpu_backend;

#endif
