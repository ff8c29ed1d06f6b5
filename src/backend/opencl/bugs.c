// SPDX-License-Identifier: MIT
#include "backend/opencl/bugs.h"

#include "base/environment.h"

#include <string.h>

const opencl_bug_info opencl_bugs[BUG_COUNT] = {
#define BUG(name, platform, versions, workaround, reproducer, what)                                \
  [BUG_##name] = {#name, platform, versions, workaround, reproducer, what},
#include "backend/opencl/bugs.def"
};

static bool matches_version(const char *list, const char *version) {
  if (!*list) return true;
  while (*list) {
    size_t size = strcspn(list, ",");
    if (!strncmp(version, list, size)) return true;
    list += size + (list[size] == ',');
  }
  return false;
}

bool opencl_has_bug(const opencl_device *d, opencl_bug bug) {
  const opencl_bug_info *b = &opencl_bugs[bug];
  if (environment_is("VYRE_OPENCL_WORKAROUNDS", "off")) return false;
  return !strncmp(d->platform_name, b->platform, strlen(b->platform)) &&
         matches_version(b->versions, d->driver);
}

bool opencl_bug_is_option(opencl_bug bug) {
  return opencl_bugs[bug].workaround[0] == '-';
}

bool opencl_meets_bug(const opencl_source *source, opencl_bug bug) {
  for (uint32_t i = 0; i < source->kernel_count; i++)
    if (bug == BUG_BARRIER_IN_LOOP && source->kernels[i].has_barrier_in_loop) return true;
  return false;
}
