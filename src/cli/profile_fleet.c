// SPDX-License-Identifier: MIT
#include "cli/profile_fleet.h"

#include "base/strbuf.h"
#include "cli/show.h"
#include "policy/variant_name.h"
#include "profile/fleet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 32 };

// Figures of devices that this machine does not have are of no use to it.
static uint32_t find_devices(vyre_device out[DEVICES]) {
  uint32_t count = 0;
  for (uint32_t i = 0; vyre_backend_name(i); i++) {
    uint32_t found = 0, room = DEVICES - count;
    if (vyre_backend_devices(vyre_backend_name(i), out + count, room, &found, NULL) != VYRE_OK)
      continue;
    count += found < room ? found : room;
  }
  return count;
}

vyre_status profile_sync(const cli *c, store *s, const char *url, vyre_error *error) {
  static vyre_device devices[DEVICES];
  const char *names[DEVICES];
  char build[BUILD_TEXT], sent[SHOW_TEXT], got[SHOW_TEXT], wrong[SHOW_TEXT];
  fleet_session session = {0};
  fleet_got counts = {0};
  uint64_t rows = 0;
  uint32_t count = find_devices(devices);
  for (uint32_t i = 0; i < count; i++) names[i] = devices[i].adapter;
  build_name(build);
  fleet_wish wish = {.devices = names, .device_count = count, .build = build};
  vyre_status status = fleet_begin(&session, s, url, NULL, error);
  if (status == VYRE_OK) status = fleet_push(&session, &rows, error);
  if (status == VYRE_OK) status = fleet_pull(&session, &wish, &counts, error);
  fleet_end(&session);
  if (status != VYRE_OK) return status;
  if (c->json)
    cli_json(json_pack("{s:I, s:I, s:I}", "pushed", (json_int_t)rows, "pulled",
                       (json_int_t)counts.latencies, "wrong", (json_int_t)counts.wrongs));
  else
    printf(
        "sent %s rows that the server did not have; got %s figures of machines of this kind, and "
        "%s codes that are wrong somewhere\n",
        show_count(rows, sent), show_count(counts.latencies, got),
        show_count(counts.wrongs, wrong));
  return VYRE_OK;
}

// ---- server -------------------------------------------------------------------------------------

typedef struct telling {
  json_t *list; // NULL: text
} telling;

static void tell_role(void *context, const char *role, const char *password) {
  telling *t = context;
  json_t *name = cli_text(role);
  if (t->list)
    json_array_append_new(t->list, json_pack("{s:O, s:s*}", "role", name, "password", password));
  else if (password)
    printf("%s: password %s (it is shown once; put it into that machine's ~/.pgpass)\n",
           json_string_value(name), password);
  else
    printf("%s: was there; its password stays\n", json_string_value(name));
  json_decref(name);
}

vyre_status profile_server(const cli *c, const char *url, const char *const *machines,
                           uint32_t machine_count, const char *const *readers,
                           uint32_t reader_count, vyre_error *error) {
  const fleet_server *server;
  fleet_connection *connection = NULL;
  uint32_t format = 0;
  telling t = {.list = c->json ? json_array() : NULL};
  fleet_roles roles = {.machines = machines,
                       .machine_count = machine_count,
                       .readers = readers,
                       .reader_count = reader_count};
  vyre_status status = fleet_find(&server, error);
  if (status == VYRE_OK) status = server->open(url, NULL, &connection, error);
  if (status == VYRE_OK)
    status = server->prepare(connection, &roles, tell_role, &t, &format, error);
  if (connection) server->close(connection);
  if (status == VYRE_OK && t.list)
    cli_json(
        json_pack("{s:i, s:i, s:O}", "format", FLEET_FORMAT, "had", (int)format, "roles", t.list));
  else if (status == VYRE_OK)
    printf("the server has format %d%s\n", FLEET_FORMAT,
           format == FLEET_FORMAT ? ", as before"
           : format               ? ", migrated"
                                  : ", new");
  json_decref(t.list);
  return status;
}
