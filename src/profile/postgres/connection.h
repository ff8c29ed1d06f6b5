// SPDX-License-Identifier: MIT
//
// A connection to the server of a fleet: how it is made, asked, and what its faults mean to a
// person. Over a network it is encrypted or not made. Private to the module; one thread.
#ifndef VYRE_PROFILE_POSTGRES_CONNECTION_H
#define VYRE_PROFILE_POSTGRES_CONNECTION_H

#include "profile/fleet.h"

#include <libpq-fe.h>

struct fleet_connection {
  PGconn *server;
  bool is_checked;  // its format is ours
  bool is_prepared; // the question about one program
};

vyre_status connection_open(const char *url, const atomic_bool *stop, fleet_connection **out,
                            vyre_error *error);
void connection_close(fleet_connection *c);
void connection_interrupt(fleet_connection *c);

// What the last result says, as an error; the result is cleared.
vyre_status connection_fail(const fleet_connection *c, PGresult *result, const char *what,
                            vyre_error *error);
// One or several statements without a result.
vyre_status connection_run(fleet_connection *c, const char *sql, const char *what,
                           vyre_error *error);
// A statement with parameters in text form; *out is cleared by the caller, also after a fault (it
// is NULL then).
vyre_status connection_ask(fleet_connection *c, const char *sql, int count,
                           const char *const *values, const char *what, PGresult **out,
                           vyre_error *error);
// A result that was asked for, or its error.
vyre_status connection_take(fleet_connection *c, PGresult *result, const char *what, PGresult **out,
                            vyre_error *error);
// That the server has our tables.
vyre_status connection_check(fleet_connection *c, vyre_error *error);

#endif
