// SPDX-License-Identifier: MIT
//
// What `vyre compile --emit` shows of this backend.
#ifndef VYRE_BACKEND_CUDA_FORMS_H
#define VYRE_BACKEND_CUDA_FORMS_H

#include "backend/backend.h"

extern const backend_form cuda_forms[];

#endif
