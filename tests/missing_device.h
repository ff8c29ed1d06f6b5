// SPDX-License-Identifier: MIT
//
// When a test of a device may be skipped: where the machine has no driver of the kind. One that is
// installed and runs everywhere (lavapipe, PoCL), and still gives no device that can be used, is
// what the test is there to find.
#ifndef VYRE_TESTS_MISSING_DEVICE_H
#define VYRE_TESTS_MISSING_DEVICE_H

#include "sanitized.h"

#include <glob.h>
#include <stdbool.h>
#include <stdlib.h>

// Include it behind cmocka.h. `driver` is a pattern of the file that says that the driver is there,
// `variables` are those that can put others in its place.
static inline void skip_without(const char *kind, const char *driver,
                                const char *const *variables) {
  glob_t found = {0};
  bool is_here = !SANITIZED && glob(driver, 0, NULL, &found) == 0;
  globfree(&found);
  for (; *variables; variables++) is_here = is_here && !getenv(*variables);
  if (is_here) fail_msg("%s is there, and no %s device can be used", driver, kind);
  print_message("no %s device\n", kind);
  skip();
}

static inline void skip_without_vulkan(void) {
  skip_without("Vulkan", "/usr/share/vulkan/icd.d/lvp_icd*.json",
               (const char *const[]){"VK_DRIVER_FILES", "VK_ICD_FILENAMES", NULL});
}

static inline void skip_without_opencl(void) {
  skip_without("OpenCL", "/etc/OpenCL/vendors/pocl.icd",
               (const char *const[]){"OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", NULL});
}

#endif
