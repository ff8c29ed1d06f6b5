// SPDX-License-Identifier: MIT
//
// Backends from outside of the tree (vyre/extend.h). They are in the table like any other, but the
// runtime takes one by itself only when it was examined. Any thread.
#ifndef VYRE_BACKEND_OUTSIDE_H
#define VYRE_BACKEND_OUTSIDE_H

#include "backend/backend.h"

// Whether it may be taken without being asked for: those of the tree always, one from outside after
// it was compared with the reference.
bool outside_is_examined(const backend *b);
void outside_set_examined(const backend *b);

#endif
