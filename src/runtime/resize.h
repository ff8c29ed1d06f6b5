// SPDX-License-Identifier: MIT
//
// What the resize policy makes of a plan that is in use; see resize.c. Any thread.
#ifndef VYRE_RUNTIME_RESIZE_H
#define VYRE_RUNTIME_RESIZE_H

#include "runtime/plan.h"

// Asks the resize policy about a plan, in the background with the kernel's lock; and follows a
// suggestion up with a dispatch's inputs.
void resize_consider(vyre_kernel *k, plan *p);
void resize_begin(vyre_kernel *k, plan *p, const vyre_dispatch_args *args);

#endif
