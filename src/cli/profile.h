// SPDX-License-Identifier: MIT
//
// What `vyre profile show --json` and the page of `vyre report` have in common. One thread.
#ifndef VYRE_CLI_PROFILE_H
#define VYRE_CLI_PROFILE_H

#include "profile/store.h"

#include <jansson.h>

json_t *profile_line_json(const store_line *l);

#endif
