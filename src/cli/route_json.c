// SPDX-License-Identifier: MIT
#include "cli/route_json.h"

json_t *route_json(const route_entry *e) {
  json_t *seen = json_array(), *rejected = json_array();
  for (uint32_t i = 0; i < e->observation_count; i++)
    json_array_append_new(seen, json_pack("{s:s, s:I}", "backend", e->observations[i].backend,
                                          "latency_ns", (json_int_t)e->observations[i].latency_ns));
  for (uint32_t i = 0; i < e->rejection_count; i++)
    json_array_append_new(rejected, json_pack("{s:s, s:o}", "backend", e->rejections[i].backend,
                                              "reason", cli_text(e->rejections[i].reason)));
  json_t *o = json_pack("{s:s, s:s?, s:s?, s:I, s:o, s:o}", "backend", e->backend, "reason",
                        e->reason, "device", e->device, "date", (json_int_t)e->date, "observations",
                        seen, "rejected", rejected);
  if (e->has_size_class) json_object_set_new(o, "size_class", json_integer(e->size_class));
  return o;
}
