// SPDX-License-Identifier: MIT
//
// PoCL keeps what it compiles in files, loads code from them, and ends the whole process when one
// cannot be written. So it is not asked to compile where there is no room for them, or where others
// can write. Any thread.
#ifndef VYRE_BACKEND_OPENCL_ROOM_H
#define VYRE_BACKEND_OPENCL_ROOM_H

#include "backend/opencl/device.h"

// VYRE_ERROR_UNSUPPORTED when the device's driver would fail for want of room, or could be fed code.
vyre_status opencl_check_room(const opencl_device *d, vyre_error *error);

#endif
