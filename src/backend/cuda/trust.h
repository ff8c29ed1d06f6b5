// SPDX-License-Identifier: MIT
//
// No device is used before its answers were compared with the reference's on the machine that it is
// in (backend/first_use.h): one that gets anything wrong is refused, by name of what it was. What
// was found is kept in the code cache by device and driver, and asked anew where either changes.
// Any thread.
#ifndef VYRE_BACKEND_CUDA_TRUST_H
#define VYRE_BACKEND_CUDA_TRUST_H

#include "backend/cuda/device.h"

// VYRE_ERROR_UNSUPPORTED where the device gets something wrong.
vyre_status cuda_trust(cuda_device *d, vyre_error *error);

#endif
