// SPDX-License-Identifier: MIT
//
// A routing decision as JSON, the same in every command that shows one. The caller owns the result.
#ifndef VYRE_CLI_ROUTE_JSON_H
#define VYRE_CLI_ROUTE_JSON_H

#include "cli/cli.h"
#include "policy/route_table.h"

// backend, reason, device, size_class, date, observations, rejected.
json_t *route_json(const route_entry *entry);

#endif
