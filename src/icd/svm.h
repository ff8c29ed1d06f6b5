// SPDX-License-Identifier: MIT
//
// Shared virtual memory of coarse grain: memory of the process, like all buffers. Each allocation
// is a buffer that no client has a handle of, found by address, so that kernels and commands hold
// it like any other: freeing it while a command runs ends when that does. Any thread.
#ifndef VYRE_ICD_SVM_H
#define VYRE_ICD_SVM_H

#include "icd/memory.h"

// The allocation that has the address, not held; NULL when there is none.
cl_mem svm_find(const void *at);
// The same, held for the caller.
cl_mem svm_hold(const void *at);
// Called when an allocation goes.
void svm_forget(cl_mem memory);

#endif
