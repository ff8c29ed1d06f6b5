// SPDX-License-Identifier: MIT
//
// The functions of a fleet's server that is a PostgreSQL: rows are copied into a table of the
// session and merged from there, so that a batch is one round trip and all of it or nothing of it
// happens.
#include "base/error.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "profile/postgres/connection.h"
#include "profile/postgres/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

// ---- for the administrator ----------------------------------------------------------------------

static bool make_password(char out[40]) {
  uint8_t bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) return false;
  for (size_t i = 0; i < sizeof bytes; i++) snprintf(out + 2 * i, 3, "%02x", bytes[i]);
  return true;
}

static vyre_status role_exists(fleet_connection *c, const char *name, bool *is_there,
                               vyre_error *error) {
  PGresult *r;
  vyre_status status = connection_ask(c, "SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = $1", 1,
                                      &name, "look for roles", &r, error);
  if (status != VYRE_OK) return status;
  *is_there = PQntuples(r) > 0;
  PQclear(r);
  return VYRE_OK;
}

// The server gets only what passwords are checked with, so that no log of it has the password.
static vyre_status make_role(fleet_connection *c, const char *name, const char *group,
                             fleet_told told, void *context, vyre_error *error) {
  bool is_there;
  char password[40] = "";
  vyre_status status = role_exists(c, name, &is_there, error);
  if (status != VYRE_OK) return status;
  if (!is_there && !make_password(password))
    return error_set(error, VYRE_ERROR_IO,
                     "there are no random numbers for a password. Fix: try again");
  char *quoted = PQescapeIdentifier(c->server, name, strlen(name));
  char *hashed =
      is_there ? NULL : PQencryptPasswordConn(c->server, password, name, "scram-sha-256");
  char *literal = hashed ? PQescapeLiteral(c->server, hashed, strlen(hashed)) : NULL;
  strbuf sql = {0};
  if (literal)
    strbuf_printf(&sql, "CREATE ROLE %s LOGIN CONNECTION LIMIT 16 PASSWORD %s;", quoted, literal);
  strbuf_printf(&sql, "GRANT %s TO %s", group, quoted ? quoted : "");
  char *text = strbuf_take(&sql, NULL);
  if (!quoted || !text || (!is_there && !literal))
    status = error_out_of_memory(error);
  else
    status = connection_run(c, text, "make roles", error);
  if (status == VYRE_OK) told(context, name, is_there ? NULL : password);
  free(text);
  PQfreemem(literal);
  PQfreemem(hashed);
  PQfreemem(quoted);
  return status;
}

static vyre_status migrate(fleet_connection *c, uint32_t *format, vyre_error *error) {
  PGresult *r;
  char text[96];
  vyre_status status = connection_run(c, schema_roles, "make its schema", error);
  if (status == VYRE_OK)
    status = connection_ask(c, "SELECT coalesce(max(version), 0) FROM vyre.format", 0, NULL,
                            "tell which format it has", &r, error);
  if (status != VYRE_OK) return status;
  *format = (uint32_t)strtoul(PQgetvalue(r, 0, 0), NULL, 10);
  PQclear(r);
  if (*format > FLEET_FORMAT)
    return error_set(error, VYRE_ERROR_IO,
                     "the fleet's server has format %u, this version of vyre has %d. Fix: run this "
                     "with a newer vyre",
                     *format, FLEET_FORMAT);
  for (uint32_t i = *format; status == VYRE_OK && i < FLEET_FORMAT; i++)
    status = connection_run(c, schema_migrations[i], "make its tables", error);
  snprintf(text, sizeof text, "DELETE FROM vyre.format; INSERT INTO vyre.format VALUES (%d)",
           FLEET_FORMAT);
  return status == VYRE_OK ? connection_run(c, text, "note its format", error) : status;
}

static vyre_status prepare(fleet_connection *c, const fleet_roles *roles, fleet_told told,
                           void *context, uint32_t *format, vyre_error *error) {
  // Two administrators at once take turns.
  vyre_status status =
      connection_run(c, "BEGIN; SELECT pg_advisory_xact_lock(8677410)", "begin", error);
  if (status == VYRE_OK) status = migrate(c, format, error);
  for (uint32_t i = 0; status == VYRE_OK && i < roles->machine_count; i++)
    status = make_role(c, roles->machines[i], "vyre_machine", told, context, error);
  for (uint32_t i = 0; status == VYRE_OK && i < roles->reader_count; i++)
    status = make_role(c, roles->readers[i], "vyre_reader", told, context, error);
  if (status == VYRE_OK) return connection_run(c, "COMMIT", "commit", error);
  PQclear(PQexec(c->server, "ROLLBACK"));
  return status;
}

// ---- there --------------------------------------------------------------------------------------

// A role that may only read has nothing to push.
static vyre_status may_push(fleet_connection *c, bool *may, vyre_error *error) {
  PGresult *r;
  vyre_status status = connection_ask(c, "SELECT has_table_privilege('vyre.pushed', 'INSERT')", 0,
                                      NULL, "tell what the role may do", &r, error);
  if (status != VYRE_OK) return status;
  *may = PQgetvalue(r, 0, 0)[0] == 't';
  PQclear(r);
  return VYRE_OK;
}

static vyre_status pushed(fleet_connection *c, const char *store, uint64_t *sequence,
                          vyre_error *error) {
  PGresult *r;
  bool may = false;
  *sequence = 0;
  vyre_status status = connection_check(c, error);
  if (status == VYRE_OK) status = may_push(c, &may, error);
  if (status == VYRE_OK && !may) *sequence = UINT64_MAX;
  if (status == VYRE_OK && may)
    status = connection_ask(
        c, "SELECT sequence FROM vyre.pushed WHERE origin = current_user AND store = $1", 1, &store,
        "tell what it has", &r, error);
  if (status != VYRE_OK || !may) return status;
  if (PQntuples(r)) *sequence = strtoull(PQgetvalue(r, 0, 0), NULL, 10);
  PQclear(r);
  return VYRE_OK;
}

// What the server would refuse, and with it all of the batch, is left out.
static bool is_sendable(const char *text) {
  size_t size = strlen(text), at = 0, length = 1;
  while (at < size && (length = utf8_length(text + at, size - at)) > 0) at += length;
  return size <= SCHEMA_TEXT && length > 0;
}

static void put_text(strbuf *out, const char *text) {
  for (; *text; text++) {
    if (*text == '\\')
      strbuf_puts(out, "\\\\");
    else if (*text == '\t')
      strbuf_puts(out, "\\t");
    else if (*text == '\n')
      strbuf_puts(out, "\\n");
    else if (*text == '\r')
      strbuf_puts(out, "\\r");
    else
      strbuf_putc(out, *text);
  }
  strbuf_putc(out, '\t');
}

static void put_hash(strbuf *out, const uint8_t *hash) {
  strbuf_puts(out, "\\\\x");
  for (int i = 0; i < STORE_FINGERPRINT; i++) strbuf_printf(out, "%02x", hash[i]);
  strbuf_putc(out, '\t');
}

static uint64_t within_bigint(uint64_t x) {
  return x > INT64_MAX ? INT64_MAX : x;
}

static void put_latency(strbuf *out, const fleet_latency *l) {
  const char *texts[] = {l->device, l->build, l->op, l->work, l->variant};
  for (int i = 0; i < 5; i++)
    if (!is_sendable(texts[i])) return;
  if (l->size_class > 64 || !l->count) return;
  put_hash(out, l->fingerprint);
  for (int i = 0; i < 5; i++) put_text(out, texts[i]);
  strbuf_printf(out, "%u\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", l->size_class,
                within_bigint(l->count), within_bigint(l->min_ns), within_bigint(l->median_ns));
}

static void put_wrong(strbuf *out, const fleet_wrong *w) {
  const char *texts[] = {w->op, w->variant, w->device, w->detail};
  for (int i = 0; i < 4; i++)
    if (!is_sendable(texts[i])) return;
  put_hash(out, w->hash);
  for (int i = 0; i < 3; i++) put_text(out, texts[i]);
  put_text(out, w->detail);
  if (!out->failed) out->at[out->size - 1] = '\n'; // in place of the last tab
}

static vyre_status copy_lines(fleet_connection *c, const char *sql, strbuf *lines,
                              vyre_error *error) {
  size_t size;
  char *text = strbuf_take(lines, &size);
  if (!text) return error_out_of_memory(error);
  PGresult *r = PQexec(c->server, sql);
  vyre_status status = VYRE_OK;
  if (PQresultStatus(r) != PGRES_COPY_IN) {
    status = connection_fail(c, r, "take rows", error);
  } else {
    PQclear(r);
    bool ok = true;
    for (size_t done = 0; ok && done < size;) {
      size_t part = size - done > 1 << 20 ? 1 << 20 : size - done;
      ok = PQputCopyData(c->server, text + done, (int)part) == 1;
      done += part;
    }
    if (!ok || PQputCopyEnd(c->server, NULL) != 1)
      status = connection_fail(c, NULL, "take rows", error);
    while ((r = PQgetResult(c->server)))
      if (status == VYRE_OK && PQresultStatus(r) != PGRES_COMMAND_OK)
        status = connection_fail(c, r, "take rows", error);
      else
        PQclear(r);
  }
  free(text);
  return status;
}

static const char stage_tables[] =
    "BEGIN;"
    "CREATE TEMP TABLE IF NOT EXISTS staged_latency (fingerprint bytea, device text, build text,"
    " op text, work text, variant text, size_class smallint, count bigint, min_ns bigint,"
    " median_ns bigint) ON COMMIT DELETE ROWS;"
    "CREATE TEMP TABLE IF NOT EXISTS staged_wrong (hash bytea, op text, variant text, device text,"
    " detail text) ON COMMIT DELETE ROWS";

// A row that comes again with as many samples is the same row.
static const char merge_latencies[] =
    "INSERT INTO vyre.latency AS l (store, fingerprint, device, build, op, work, variant,"
    " size_class, count, min_ns, median_ns) SELECT $1, fingerprint, device, build, op, work,"
    " variant, size_class, count, min_ns, median_ns FROM staged_latency"
    " ON CONFLICT (fingerprint, device, build, size_class, work, variant, op, origin, store)"
    " DO UPDATE SET count = excluded.count, min_ns = excluded.min_ns,"
    " median_ns = excluded.median_ns, received = now() WHERE l.count < excluded.count";
static const char merge_wrongs[] =
    "INSERT INTO vyre.wrong (hash, op, variant, device, detail)"
    " SELECT hash, op, variant, device, detail FROM staged_wrong ON CONFLICT DO NOTHING";
static const char merge_pushed[] =
    "INSERT INTO vyre.pushed AS p (store, sequence) VALUES ($1, $2)"
    " ON CONFLICT (origin, store) DO UPDATE SET sequence = greatest(p.sequence, excluded.sequence),"
    " received = now()";

static vyre_status merge(fleet_connection *c, const fleet_batch *batch, vyre_error *error) {
  char number[24];
  const char *values[2] = {batch->store, number};
  PGresult *r;
  snprintf(number, sizeof number, "%" PRIu64, within_bigint(batch->sequence));
  vyre_status status = connection_ask(c, merge_latencies, 1, values, "take rows", &r, error);
  if (status != VYRE_OK) return status;
  PQclear(r);
  status = connection_run(c, merge_wrongs, "take rows", error);
  if (status == VYRE_OK)
    status = connection_ask(c, merge_pushed, 2, values, "note what it has", &r, error);
  if (status != VYRE_OK) return status;
  PQclear(r);
  return connection_run(c, "COMMIT", "commit", error);
}

static vyre_status push(fleet_connection *c, const fleet_batch *batch, vyre_error *error) {
  strbuf latencies = {0}, wrongs = {0};
  for (uint32_t i = 0; i < batch->latency_count; i++) put_latency(&latencies, &batch->latencies[i]);
  for (uint32_t i = 0; i < batch->wrong_count; i++) put_wrong(&wrongs, &batch->wrongs[i]);
  vyre_status status = connection_check(c, error);
  if (status == VYRE_OK) status = connection_run(c, stage_tables, "begin", error);
  if (status == VYRE_OK)
    status = copy_lines(c, "COPY staged_latency FROM STDIN", &latencies, error);
  if (status == VYRE_OK) status = copy_lines(c, "COPY staged_wrong FROM STDIN", &wrongs, error);
  if (status == VYRE_OK) status = merge(c, batch, error);
  if (status != VYRE_OK) PQclear(PQexec(c->server, "ROLLBACK"));
  strbuf_fini(&latencies);
  strbuf_fini(&wrongs);
  return status;
}

// ---- back ---------------------------------------------------------------------------------------

// One figure of each key: the median of the stores that measured it, so that one machine that is
// slow, broken or hostile does not speak for the rest.
#define FIGURE                                                                                     \
  "SELECT fingerprint, device, build, op, work, variant, size_class,"                              \
  " least(sum(count), 9223372036854775807)::bigint,"                                               \
  " percentile_disc(0.5) WITHIN GROUP (ORDER BY min_ns),"                                          \
  " percentile_disc(0.5) WITHIN GROUP (ORDER BY median_ns) FROM vyre.latency l"
#define KEY "fingerprint, device, build, op, work, variant, size_class"

static const char figures_of_program[] =
    FIGURE " WHERE fingerprint = $5::bytea AND build = $2"
           " AND (cardinality($1::text[]) = 0 OR device = ANY($1::text[]))"
           " AND store <> $3 GROUP BY " KEY " ORDER BY 9 LIMIT $4::bigint";
static const char figures_since[] =
    FIGURE " JOIN (SELECT " KEY ", max(received) AS latest FROM vyre.latency"
           " WHERE received >= to_timestamp($5::bigint / 1e6) AND device = ANY($1::text[])"
           " AND build = $2 AND store <> $3 GROUP BY " KEY " ORDER BY latest DESC"
           " LIMIT $4::bigint) AS fresh USING (" KEY ") WHERE store <> $3 GROUP BY " KEY;
static const char wrongs_since[] =
    "SELECT DISTINCT ON (hash) hash, op, variant, device, detail FROM vyre.wrong"
    " WHERE received >= to_timestamp($1::bigint / 1e6) ORDER BY hash, received LIMIT $2::bigint";

// {"a","b"}: an array as text.
static char *array_of(const char *const *texts, uint32_t count) {
  strbuf out = {0};
  strbuf_putc(&out, '{');
  for (uint32_t i = 0; i < count; i++) {
    strbuf_puts(&out, i ? ",\"" : "\"");
    for (const char *p = texts[i]; *p; p++) {
      if (*p == '"' || *p == '\\') strbuf_putc(&out, '\\');
      strbuf_putc(&out, *p);
    }
    strbuf_putc(&out, '"');
  }
  strbuf_putc(&out, '}');
  return strbuf_take(&out, NULL);
}

static bool read_hash(PGresult *r, int row, uint8_t out[STORE_FINGERPRINT]) {
  const char *text = PQgetvalue(r, row, 0);
  if (strlen(text) != 2 + 2 * STORE_FINGERPRINT || strncmp(text, "\\x", 2)) return false;
  for (int i = 0; i < STORE_FINGERPRINT; i++) {
    unsigned byte;
    if (sscanf(text + 2 + 2 * i, "%2x", &byte) != 1) return false;
    out[i] = (uint8_t)byte;
  }
  return true;
}

static void give_latencies(PGresult *r, fleet_take_latency take, void *context) {
  for (int i = 0; i < PQntuples(r); i++) {
    uint8_t hash[STORE_FINGERPRINT];
    fleet_latency l = {.fingerprint = hash,
                       .device = PQgetvalue(r, i, 1),
                       .build = PQgetvalue(r, i, 2),
                       .op = PQgetvalue(r, i, 3),
                       .work = PQgetvalue(r, i, 4),
                       .variant = PQgetvalue(r, i, 5),
                       .size_class = (uint32_t)strtoul(PQgetvalue(r, i, 6), NULL, 10),
                       .count = strtoull(PQgetvalue(r, i, 7), NULL, 10),
                       .min_ns = strtoull(PQgetvalue(r, i, 8), NULL, 10),
                       .median_ns = strtoull(PQgetvalue(r, i, 9), NULL, 10)};
    if (read_hash(r, i, hash) && l.min_ns && l.size_class <= 64 && !take(context, &l)) return;
  }
}

static void give_wrongs(PGresult *r, fleet_take_wrong take, void *context) {
  for (int i = 0; i < PQntuples(r); i++) {
    uint8_t hash[STORE_FINGERPRINT];
    fleet_wrong w = {.hash = hash,
                     .op = PQgetvalue(r, i, 1),
                     .variant = PQgetvalue(r, i, 2),
                     .device = PQgetvalue(r, i, 3),
                     .detail = PQgetvalue(r, i, 4)};
    if (read_hash(r, i, hash) && !take(context, &w)) return;
  }
}

static vyre_status get_now(fleet_connection *c, int64_t *now_us, vyre_error *error) {
  PGresult *r;
  vyre_status status = connection_ask(c, "SELECT floor(extract(epoch FROM now()) * 1e6)::bigint", 0,
                                      NULL, "tell the time", &r, error);
  if (status != VYRE_OK) return status;
  *now_us = strtoll(PQgetvalue(r, 0, 0), NULL, 10);
  PQclear(r);
  return VYRE_OK;
}

static void hex_of(const uint8_t *hash, char out[2 * STORE_FINGERPRINT + 3]) {
  strcpy(out, "\\x");
  for (int i = 0; i < STORE_FINGERPRINT; i++) snprintf(out + 2 + 2 * i, 3, "%02x", hash[i]);
}

// What is asked again and again is planned once.
static vyre_status ask_program(fleet_connection *c, const char *const values[5], PGresult **out,
                               vyre_error *error) {
  static const char what[] = "tell what it knows", name[] = "figures_of_program";
  PGresult *r;
  if (!c->is_prepared) {
    vyre_status status = connection_take(c, PQprepare(c->server, name, figures_of_program, 5, NULL),
                                         what, &r, error);
    if (status != VYRE_OK) return status;
    PQclear(r);
    c->is_prepared = true;
  }
  r = PQexecPrepared(c->server, name, 5, values, NULL, NULL, 0);
  return connection_take(c, r, what, out, error);
}

static vyre_status pull_latencies(fleet_connection *c, const fleet_query *query,
                                  fleet_take_latency take, void *context, vyre_error *error) {
  char limit[16], last[2 * STORE_FINGERPRINT + 3];
  PGresult *r;
  char *devices = array_of(query->devices, query->device_count);
  if (!devices) return error_out_of_memory(error);
  snprintf(limit, sizeof limit, "%u", query->limit);
  if (query->fingerprint)
    hex_of(query->fingerprint, last);
  else
    snprintf(last, sizeof last, "%" PRId64, query->since_us);
  const char *values[] = {devices, query->build, query->store, limit, last};
  vyre_status status = query->fingerprint ? ask_program(c, values, &r, error)
                                          : connection_ask(c, figures_since, 5, values,
                                                           "tell what it knows", &r, error);
  free(devices);
  if (status != VYRE_OK) return status;
  give_latencies(r, take, context);
  PQclear(r);
  return VYRE_OK;
}

static vyre_status pull_wrongs(fleet_connection *c, const fleet_query *query, fleet_take_wrong take,
                               void *context, vyre_error *error) {
  char limit[16], since[24];
  PGresult *r;
  snprintf(limit, sizeof limit, "%u", query->limit);
  snprintf(since, sizeof since, "%" PRId64, query->since_us);
  const char *values[] = {since, limit};
  vyre_status status = connection_ask(c, wrongs_since, 2, values, "tell what was wrong", &r, error);
  if (status != VYRE_OK) return status;
  give_wrongs(r, take, context);
  PQclear(r);
  return VYRE_OK;
}

static vyre_status pull(fleet_connection *c, const fleet_query *query, fleet_take_latency latency,
                        fleet_take_wrong wrong, void *context, int64_t *now_us, vyre_error *error) {
  *now_us = 0;
  vyre_status status = connection_check(c, error);
  if (status == VYRE_OK && !query->fingerprint) status = get_now(c, now_us, error);
  if (status == VYRE_OK && !query->only_wrong)
    status = pull_latencies(c, query, latency, context, error);
  if (status == VYRE_OK && !query->fingerprint)
    status = pull_wrongs(c, query, wrong, context, error);
  return status;
}

__attribute__((visibility("default"))) extern const fleet_server vyre_fleet_postgres;
const fleet_server vyre_fleet_postgres = {
    .version = FLEET_VERSION,
    .open = connection_open,
    .close = connection_close,
    .interrupt = connection_interrupt,
    .prepare = prepare,
    .pushed = pushed,
    .push = push,
    .pull = pull,
};
