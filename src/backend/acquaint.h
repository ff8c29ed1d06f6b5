// SPDX-License-Identifier: MIT
//
// Whether the runtime may use a backend's device that nobody named, as far as that was compared
// with the reference: once for each device, driver and version of vyre. Any thread.
#ifndef VYRE_BACKEND_ACQUAINT_H
#define VYRE_BACKEND_ACQUAINT_H

#include "backend/backend.h"

// Where a comparison is due (backend.is_compared_first) and was not made yet, it is made now, which
// may take seconds, or, when somebody waits (`may_compare` is false), left alone. Which programs
// the device may run then: conformance.h.
bool acquaint_allows(const char *backend, bool may_compare, vyre_error *error);
// Whether a device of any backend was compared by this version, here: otherwise using one costs a
// comparison first. It looks at a file, not at drivers.
bool acquaint_has_met_any(void);

#endif
