// SPDX-License-Identifier: MIT
//
// What NVIDIA's assembler says of a program's kernels: registers, spills, and how many of a
// multiprocessor's threads they let run at once. Any thread.
#ifndef VYRE_BACKEND_CUDA_REMARKS_H
#define VYRE_BACKEND_CUDA_REMARKS_H

#include "backend/backend.h"

// A backend_form's function. VYRE_ERROR_UNSUPPORTED where ptxas is not on the PATH.
vyre_status cuda_remarks(vyre_program *program, const backend_form_options *options, char **text,
                         size_t *size, vyre_error *error);

// The share of a multiprocessor's threads, in percent: of sm_90, with this many registers in each
// thread and bytes of shared memory in each workgroup.
uint32_t cuda_occupancy(uint32_t registers, uint32_t threads, uint32_t shared);

#endif
