// SPDX-License-Identifier: MIT
//
// Dispatches that are waited for later; see submit.c. Any thread.
#ifndef VYRE_RUNTIME_SUBMIT_H
#define VYRE_RUNTIME_SUBMIT_H

#include <vyre/vyre.h>

// Waits until no submitted dispatch of the kernel is left.
void submit_wait(vyre_kernel *k);

#endif
