// SPDX-License-Identifier: MIT
//
// Any bytes are a table of routes or an error. What was read can be written, and reading that gives
// the same again without a fault.
#include "policy/route_text.h"
#include "require.h"

#include <string.h>

static vyre_status add(void *context, const route_entry *entry) {
  REQUIRE(*entry->op_id && *entry->backend);
  return route_table_put(context, entry, NULL);
}

static vyre_status add_wrong(void *context, const route_wrong *wrong) {
  REQUIRE(strlen(wrong->code) == 64);
  return route_table_put_wrong(context, wrong, NULL);
}

static char *printed(route_table *table, size_t *size) {
  strbuf out = {0};
  route_text_write(&out, table);
  return strbuf_take(&out, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  route_table *table = route_table_new(), *again = route_table_new();
  vyre_error error = {0};
  unsigned problems;
  route_sink to_table = {add, add_wrong, table}, to_again = {add, add_wrong, again};
  vyre_status status =
      route_text_read((const char *)data, size, "fuzz", &to_table, NULL, &problems, &error);
  REQUIRE(status == VYRE_OK || strstr(error.message, "Fix:"));
  size_t first_size, second_size;
  char *first = printed(table, &first_size);
  status = route_text_read(first, first_size, "again", &to_again, NULL, &problems, &error);
  REQUIRE(status == VYRE_OK && problems == 0);
  char *second = printed(again, &second_size);
  REQUIRE(first_size == second_size && !memcmp(first, second, first_size));
  free(first);
  free(second);
  route_table_free(table);
  route_table_free(again);
  return 0;
}
