// SPDX-License-Identifier: MIT
//
// The words of `vyre profile` that speak with the server of a fleet. One thread.
#ifndef VYRE_CLI_PROFILE_FLEET_H
#define VYRE_CLI_PROFILE_FLEET_H

#include "cli/cli.h"
#include "profile/store.h"

// `vyre profile sync URL`
vyre_status profile_sync(const cli *c, store *s, const char *url, vyre_error *error);
// `vyre profile server URL --machine NAME ... --reader NAME ...`
vyre_status profile_server(const cli *c, const char *url, const char *const *machines,
                           uint32_t machine_count, const char *const *readers,
                           uint32_t reader_count, vyre_error *error);

#endif
