// SPDX-License-Identifier: MIT
//
// Which known driver bugs a device has (bugs.def) and what is done about them. Constant data: any
// thread.
#ifndef VYRE_BACKEND_OPENCL_BUGS_H
#define VYRE_BACKEND_OPENCL_BUGS_H

#include "backend/opencl/device.h"

typedef enum opencl_bug {
#define BUG(name, platform, versions, workaround, reproducer, what) BUG_##name,
#include "backend/opencl/bugs.def"
  BUG_COUNT
} opencl_bug;

typedef struct opencl_bug_info {
  const char *name, *platform, *versions, *workaround, *reproducer, *what;
} opencl_bug_info;

extern const opencl_bug_info opencl_bugs[BUG_COUNT];

// VYRE_OPENCL_WORKAROUNDS=off denies all bugs: for trying whether a new driver still has them.
bool opencl_has_bug(const opencl_device *d, opencl_bug bug);

// Whether the work-around is an option of the compiler.
bool opencl_bug_is_option(opencl_bug bug);

// Whether the bug's feature is in any of the kernels.
bool opencl_meets_bug(const opencl_source *source, opencl_bug bug);

#endif
