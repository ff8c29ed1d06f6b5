// SPDX-License-Identifier: MIT
#include "base/environment.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

const char *environment_get(const char *name) {
  const char *value = secure_getenv(name);
  return value && *value ? value : NULL;
}

bool environment_is(const char *name, const char *value) {
  const char *set = environment_get(name);
  return set && !strcmp(set, value);
}

const char *environment_get_absolute(const char *name) {
  const char *value = environment_get(name);
  return value && *value == '/' ? value : NULL;
}

bool environment_is_foreign(void) {
  return getauxval(AT_SECURE) != 0;
}
