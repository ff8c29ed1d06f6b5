// SPDX-License-Identifier: MIT
//
// The C backend: the emitted file, compiled by the C compiler of the machine and opened as a
// module. It is the simplest backend there is, an example and a second opinion, and never chosen by
// itself.
#ifndef VYRE_BACKEND_C_C_H
#define VYRE_BACKEND_C_C_H

#include "backend/backend.h"

extern const backend c_backend;

#endif
