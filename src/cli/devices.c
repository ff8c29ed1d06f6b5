// SPDX-License-Identifier: MIT
#include "backend/numbered.h"
#include "base/error.h"
#include "cli/args.h"
#include "cli/nearest.h"
#include "cli/show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const args_option devices_options[] = {{0, NULL, NULL}};

// The id that a device is chosen by: its driver's own for the first that can be used.
static const char *id_of(const backend *b, const vyre_device *devices, uint32_t index) {
  uint32_t usable = 0;
  for (uint32_t i = 0; i < index; i++) usable += !devices[i].unusable[0];
  const backend *further = usable && b->has_devices ? numbered_find(b, index + 1) : NULL;
  return further ? further->id : b->id;
}

// What the backend says of the device beyond the facts that all have, a line each.
static char *describe(const backend *b, const vyre_device *d) {
  strbuf lines = {0};
  vyre_error error;
  if (!b->describe || d->unusable[0]) return NULL;
  if (b->describe(d->adapter, &lines, &error) != VYRE_OK)
    strbuf_printf(&lines, "cannot be used: %s\n", error.message);
  return strbuf_take(&lines, NULL);
}

static json_t *device_json(const backend *b, const char *id, const vyre_device *d) {
  json_t *o = json_object();
  json_object_set_new(o, "id", json_string(id));
  json_object_set_new(o, "adapter", cli_text(d->adapter));
  json_object_set_new(o, "description", cli_text(d->description));
  json_object_set_new(o, "memory_bytes", json_integer((json_int_t)d->memory_bytes));
  json_object_set_new(o, "compute_units", json_integer(d->compute_units));
  json_object_set_new(o, "max_workgroup", json_integer(d->max_workgroup));
  json_object_set_new(o, "f64", json_boolean(d->has_f64));
  json_object_set_new(o, "i64", json_boolean(d->has_i64));
  json_object_set_new(o, "i64_atomics", json_boolean(d->has_i64_atomics));
  json_object_set_new(o, "usable", json_boolean(!d->unusable[0]));
  if (d->unusable[0]) json_object_set_new(o, "unusable", cli_text(d->unusable));
  char *lines = describe(b, d), *rest = lines;
  if (lines) {
    json_t *notes = json_array();
    for (char *line; (line = strsep(&rest, "\n")) && *line;)
      json_array_append_new(notes, cli_text(line));
    json_object_set_new(o, "notes", notes);
  }
  free(lines);
  return o;
}

static void show_device(const backend *b, const char *id, const vyre_device *d) {
  char memory[SHOW_TEXT];
  printf("    %s\n      adapter %s, %u compute unit%s, %s, workgroup up to %u\n", d->description,
         d->adapter, d->compute_units, d->compute_units == 1 ? "" : "s",
         show_bytes(d->memory_bytes, memory), d->max_workgroup);
  printf("      f64 %s, i64 %s, i64 atomics %s\n", d->has_f64 ? "yes" : "no",
         d->has_i64 ? "yes" : "no", d->has_i64_atomics ? "yes" : "no");
  if (strcmp(id, b->id)) printf("      chosen as `%s`\n", id);
  if (d->unusable[0]) printf("      cannot be used: %s\n", d->unusable);
  char *lines = describe(b, d), *rest = lines;
  for (char *line; rest && (line = strsep(&rest, "\n")) && *line;) printf("      %s\n", line);
  free(lines);
}

// One backend: its devices, or why it has none. Returns whether it can be used.
static bool show_backend(const char *id, json_t *list) {
  vyre_device devices[NUMBERED_MOST];
  uint32_t count = 0;
  vyre_error error;
  vyre_status status = vyre_backend_devices(id, devices, NUMBERED_MOST, &count, &error);
  const backend *b = backend_find(id);
  if (status == VYRE_OK && b->check) status = b->check(&error);
  if (status != VYRE_OK) count = 0;
  if (status == VYRE_OK && !count)
    status = error_set(&error, VYRE_ERROR_BACKEND, "it found no device. Fix: install a driver");
  if (list) {
    json_t *found = json_array(), *o = json_object();
    json_object_set_new(o, "backend", json_string(id));
    json_object_set_new(o, "usable", json_boolean(status == VYRE_OK));
    for (uint32_t i = 0; i < count && i < NUMBERED_MOST; i++)
      json_array_append_new(found, device_json(b, id_of(b, devices, i), &devices[i]));
    json_object_set_new(o, "devices", found);
    if (status != VYRE_OK) json_object_set_new(o, "error", cli_error_json(&error));
    json_array_append_new(list, o);
    return status == VYRE_OK;
  }
  printf("%s: ", id);
  if (status != VYRE_OK)
    printf("not usable: %s\n", error.message);
  else
    printf("%u device%s\n", count, count == 1 ? "" : "s");
  for (uint32_t i = 0; i < count && i < NUMBERED_MOST; i++)
    show_device(b, id_of(b, devices, i), &devices[i]);
  return status == VYRE_OK;
}

static int show_one(const cli *c, const char *wanted, json_t *list) {
  nearest n = nearest_begin(wanted);
  if (backend_find(wanted))
    return show_backend(backend_find(wanted)->id, list) ? EXIT_FINE : EXIT_ENVIRONMENT;
  for (uint32_t i = 0; i < vyre_backend_count(); i++) nearest_offer(&n, vyre_backend_name(i));
  vyre_error error;
  error_set(&error, VYRE_ERROR_UNSUPPORTED, "there is no backend `%s`. Fix: %s%s%s", wanted,
            n.best ? "did you mean `" : "see `vyre devices`", n.best ? n.best : "",
            n.best ? "`?" : "");
  return cli_error(c, &error);
}

static int run(cli *c, int argc, char **argv) {
  const char *wanted = NULL;
  args a = args_begin(c, devices_options, argc, argv);
  for (int letter; (letter = args_next(&a)) != ARGS_END;) {
    if (letter == ARGS_ERROR) return EXIT_USAGE;
    if (wanted) return cli_usage(c, "one backend at a time: `%s` is too many", a.value);
    wanted = a.value;
  }
  json_t *list = c->json ? json_array() : NULL;
  int code = EXIT_FINE;
  if (wanted)
    code = show_one(c, wanted, list);
  else
    for (uint32_t i = 0; i < vyre_backend_count(); i++) show_backend(vyre_backend_name(i), list);
  if (list && json_array_size(list))
    cli_json(json_pack("{s:o}", "backends", list));
  else
    json_decref(list);
  return code;
}

const command devices_command = {
    "devices", "list backends and devices, and why one is missing",
    "usage: vyre devices [BACKEND] [--json]\n"
    "\n"
    "Lists every backend with its devices, or the reason why it cannot be used here. With the\n"
    "name of a backend, only that one.\n"
    "\n"
    "exit status: 0; with BACKEND, 3 when it cannot be used\n"
    "\n"
    "examples:\n"
    "  vyre devices\n"
    "  vyre devices opencl > /dev/null && echo there is OpenCL\n",
    run};
