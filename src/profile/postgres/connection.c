// SPDX-License-Identifier: MIT
#include "profile/postgres/connection.h"

#include "base/clock.h"
#include "base/environment.h"
#include "base/error.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

// ---- what it says
// ---------------------------------------------------------------------------------

// libpq's messages have several lines, and end with one.
static void one_line(const char *text, char *out, size_t size) {
  size_t n = 0;
  for (; *text && n + 1 < size; text++) {
    bool is_space = *text == '\n' || *text == '\t' || *text == '\r';
    if (is_space && (n == 0 || out[n - 1] == ' ')) continue;
    out[n++] = is_space ? ' ' : *text;
  }
  while (n && out[n - 1] == ' ') n--;
  out[n] = 0;
}

// ---- whether it may be made ---------------------------------------------------------------------

static const char *option(const PQconninfoOption *all, const char *name) {
  for (; all && all->keyword; all++)
    if (!strcmp(all->keyword, name)) return all->val && *all->val ? all->val : NULL;
  return NULL;
}

// A socket in the file system, or the machine itself.
static bool is_local(const char *host) {
  return !host || *host == '/' || *host == '@' || !strcmp(host, "localhost") ||
         !strcmp(host, "::1") || !strncmp(host, "127.", 4);
}

// Of several hosts, any may be the one that answers.
static bool are_local(const char *hosts) {
  char one[256];
  while (hosts && *hosts) {
    size_t size = strcspn(hosts, ",");
    if (size >= sizeof one) return false;
    memcpy(one, hosts, size);
    one[size] = 0;
    if (!is_local(one)) return false;
    hosts += size + (hosts[size] == ',');
  }
  return true;
}

static bool is_encrypted(const char *mode) {
  static const char *const modes[] = {"require", "verify-ca", "verify-full"};
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
    if (!strcmp(mode, modes[i])) return true;
  return false;
}

// libpq's own default falls back to a connection that everybody on the way can read. *mode is what
// is to be added to the address; NULL: nothing.
static vyre_status check_address(const char *url, const char **mode, vyre_error *error) {
  char *why = NULL;
  PQconninfoOption *all = PQconninfoParse(url, &why);
  vyre_status status = VYRE_OK;
  *mode = NULL;
  if (!all) {
    char text[200];
    one_line(why ? why : "out of memory", text, sizeof text);
    status = error_set(error, VYRE_ERROR_ARGUMENT,
                       "this is no address of a PostgreSQL server: %s. Fix: write it as "
                       "postgresql://USER@HOST/DATABASE",
                       text);
    PQfreemem(why);
    return status;
  }
  const char *host = option(all, "host"), *address = option(all, "hostaddr");
  const char *given = option(all, "sslmode"), *set = environment_get("PGSSLMODE");
  const char *wanted = given ? given : set;
  if (!are_local(host) || !are_local(address)) {
    if (!wanted)
      *mode = "verify-full";
    else if (!is_encrypted(wanted))
      status = error_set(error, VYRE_ERROR_ARGUMENT,
                         "sslmode=%.20s would let others read and change what is sent to %.100s. "
                         "Fix: use sslmode=verify-full (or require), or leave it out",
                         wanted, host ? host : address);
  }
  PQconninfoFree(all);
  return status;
}

// ---- making it ----------------------------------------------------------------------------------

// In steps, so that a process that ends does not wait for a server that does not answer.
static PGconn *connect_until(const char *const *names, const char *const *values,
                             const atomic_bool *stop, uint64_t limit_ns) {
  enum { STEP_MS = 50 };
  uint64_t begun = clock_now_ns();
  PGconn *server = PQconnectStartParams(names, values, 1);
  PostgresPollingStatusType want = PGRES_POLLING_WRITING;
  while (server && PQstatus(server) != CONNECTION_BAD && want != PGRES_POLLING_OK &&
         want != PGRES_POLLING_FAILED) {
    struct pollfd wait = {.fd = PQsocket(server),
                          .events = want == PGRES_POLLING_READING ? POLLIN : POLLOUT};
    if ((stop && atomic_load(stop)) || clock_now_ns() - begun > limit_ns) break;
    int ready = poll(&wait, 1, STEP_MS);
    if (ready > 0) want = PQconnectPoll(server);
    if (ready < 0 && errno != EINTR) break;
  }
  return server;
}

// Likewise a statement without a result: a server may take a connection and say nothing more.
static bool run_until(PGconn *server, const char *sql, const atomic_bool *stop, uint64_t limit_ns) {
  enum { STEP_MS = 50 };
  uint64_t begun = clock_now_ns();
  bool ok = PQsendQuery(server, sql) == 1;
  while (ok && PQisBusy(server)) {
    struct pollfd wait = {.fd = PQsocket(server), .events = POLLIN};
    if ((stop && atomic_load(stop)) || clock_now_ns() - begun > limit_ns) return false;
    int ready = poll(&wait, 1, STEP_MS);
    if (ready > 0) ok = PQconsumeInput(server) == 1;
    if (ready < 0 && errno != EINTR) return false;
  }
  for (PGresult *r; ok && (r = PQgetResult(server)); PQclear(r))
    ok = PQresultStatus(r) == PGRES_COMMAND_OK;
  return ok;
}

static vyre_status unreachable(const PGconn *server, bool is_verified, vyre_error *error) {
  char why[300];
  one_line(server ? PQerrorMessage(server) : "out of memory", why, sizeof why);
  return error_set(
      error, VYRE_ERROR_IO,
      "cannot reach the fleet's server: %s. Fix: check the address, the network and the "
      "role%s; nothing that was measured is lost",
      why[0] ? why : "it does not answer",
      is_verified ? ", and that ~/.postgresql/root.crt has the server's authority" : "");
}

vyre_status connection_open(const char *url, const atomic_bool *stop, fleet_connection **out,
                            vyre_error *error) {
  const uint64_t LIMIT_NS = 5000000000;
  const char *mode;
  *out = NULL;
  vyre_status status = check_address(url, &mode, error);
  if (status != VYRE_OK) return status;
  fleet_connection *c = calloc(1, sizeof *c);
  if (!c) return error_out_of_memory(error);
  // Later ones win: what the address says about the first two stays.
  const char *names[] = {"application_name", "tcp_user_timeout", "dbname", mode ? "sslmode" : NULL,
                         NULL};
  const char *values[] = {"vyre", "10000", url, mode, NULL};
  c->server = connect_until(names, values, stop, LIMIT_NS);
  // Nobody waits longer for a server than that, and names mean what they say.
  bool ok = c->server && PQstatus(c->server) == CONNECTION_OK &&
            run_until(c->server,
                      "SET statement_timeout = '60s'; SET lock_timeout = '20s'; "
                      "SET client_min_messages = warning; SET client_encoding = 'UTF8'; "
                      "SET search_path = pg_catalog, pg_temp",
                      stop, LIMIT_NS);
  if (!ok) status = unreachable(c->server, mode != NULL, error);
  if (status == VYRE_OK)
    *out = c;
  else
    connection_close(c);
  return status;
}

void connection_interrupt(fleet_connection *c) {
  (void)shutdown(PQsocket(c->server), SHUT_RDWR);
}

void connection_close(fleet_connection *c) {
  if (!c) return;
  PQfinish(c->server);
  free(c);
}

// ---- asking -------------------------------------------------------------------------------------

static const char *fix_of(const char *state) {
  if (!strcmp(state, "42P01") || !strcmp(state, "3F000"))
    return "let its administrator run `vyre profile server ADDRESS`";
  if (!strcmp(state, "42501"))
    return "let its administrator run `vyre profile server ADDRESS --machine ROLE` for this role";
  if (!strcmp(state, "57014")) return "try again when the server has less to do";
  return "check the server; nothing that was measured is lost";
}

vyre_status connection_fail(const fleet_connection *c, PGresult *result, const char *what,
                            vyre_error *error) {
  char why[300];
  const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
  const char *text = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
  one_line(text ? text : PQerrorMessage(c->server), why, sizeof why);
  vyre_status status = error_set(error, VYRE_ERROR_IO, "the fleet's server cannot %s: %s. Fix: %s",
                                 what, why, fix_of(state ? state : ""));
  PQclear(result);
  return status;
}

vyre_status connection_run(fleet_connection *c, const char *sql, const char *what,
                           vyre_error *error) {
  PGresult *result = PQexec(c->server, sql);
  ExecStatusType kind = PQresultStatus(result);
  if (kind != PGRES_COMMAND_OK && kind != PGRES_TUPLES_OK)
    return connection_fail(c, result, what, error);
  PQclear(result);
  return VYRE_OK;
}

vyre_status connection_take(fleet_connection *c, PGresult *result, const char *what, PGresult **out,
                            vyre_error *error) {
  ExecStatusType kind = PQresultStatus(result);
  *out = kind == PGRES_TUPLES_OK || kind == PGRES_COMMAND_OK ? result : NULL;
  return *out ? VYRE_OK : connection_fail(c, result, what, error);
}

vyre_status connection_ask(fleet_connection *c, const char *sql, int count,
                           const char *const *values, const char *what, PGresult **out,
                           vyre_error *error) {
  PGresult *result = PQexecParams(c->server, sql, count, NULL, values, NULL, NULL, 0);
  return connection_take(c, result, what, out, error);
}

vyre_status connection_check(fleet_connection *c, vyre_error *error) {
  PGresult *r;
  if (c->is_checked) return VYRE_OK;
  vyre_status status = connection_ask(c, "SELECT max(version) FROM vyre.format", 0, NULL,
                                      "tell which format it has", &r, error);
  if (status != VYRE_OK) return status;
  long format = strtol(PQgetvalue(r, 0, 0), NULL, 10);
  PQclear(r);
  c->is_checked = format == FLEET_FORMAT;
  if (c->is_checked) return VYRE_OK;
  return error_set(error, VYRE_ERROR_IO,
                   "the fleet's server has format %ld, this version of vyre has %d. Fix: %s",
                   format, FLEET_FORMAT,
                   format > FLEET_FORMAT
                       ? "install a newer vyre here"
                       : "let its administrator run `vyre profile server ADDRESS`");
}
