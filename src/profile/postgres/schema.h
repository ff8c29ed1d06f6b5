// SPDX-License-Identifier: MIT
//
// What a PostgreSQL server needs to serve a fleet, as migrations: number i brings a server of
// format i to format i + 1. Everything is in a schema of its own, `vyre`. A machine is a role in
// `vyre_machine`: it writes rows of its own name and no others, which the server itself sees to by
// row security; a role in `vyre_reader` reads. Texts and numbers have bounds there, too: a client
// that lies can waste room and its readers' time, and no more.
#ifndef VYRE_PROFILE_POSTGRES_SCHEMA_H
#define VYRE_PROFILE_POSTGRES_SCHEMA_H

#include "profile/fleet.h"

// Of the texts of a row, in bytes; rows with longer ones are not pushed. The server allows as much.
enum { SCHEMA_TEXT = 512 };

extern const char schema_roles[]; // made before the first migration, where they are not there
extern const char *const schema_migrations[FLEET_FORMAT];

#endif
