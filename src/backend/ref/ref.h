// SPDX-License-Identifier: MIT
//
// The reference backend: a plain interpreter, the oracle that every other backend is compared with.
#ifndef VYRE_BACKEND_REF_REF_H
#define VYRE_BACKEND_REF_REF_H

#include "backend/backend.h"

extern const backend ref_backend;

#endif
