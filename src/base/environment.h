// SPDX-License-Identifier: MIT
//
// Settings from the environment. A process that runs with other rights than whoever started it
// (setuid, setgid, capabilities) does not believe the environment: there, nothing is set. All of
// the library asks here, so that no variable can choose code or files for such a process. Any
// thread that does not change the environment meanwhile; the text is the environment's.
#ifndef VYRE_BASE_ENVIRONMENT_H
#define VYRE_BASE_ENVIRONMENT_H

#include <stdbool.h>

const char *environment_get(const char *name);            // NULL when unset or empty
bool environment_is(const char *name, const char *value); // whether it is set to that
const char *environment_get_absolute(const char *name);   // NULL for a relative path, too
bool environment_is_foreign(void); // whether whoever started the process has other rights

#endif
