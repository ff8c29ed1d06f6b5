// SPDX-License-Identifier: MIT
#include "base/hash.h"
#include "base/strbuf.h"
#include "cli/args.h"
#include "cli/load.h"
#include "cli/show.h"
#include "ir/text_literal.h"
#include "ir/tunable.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const args_option info_options[] = {SOURCE_OPTIONS, {0, NULL, NULL}};

static const char *access_name(vyre_access access) {
  return access == VYRE_READ ? "read" : access == VYRE_WRITE ? "write" : "readwrite";
}

static const struct {
  const char *name, *text;
  size_t offset;
} stat_rows[] = {
#define STAT(field, text)                                                                          \
  { #field, text, offsetof(vyre_stats, field) }
    STAT(node_count, "statements and regions"),
    STAT(instruction_count, "operations"),
    STAT(memory_op_count, "loads and stores"),
    STAT(atomic_op_count, "atomics"),
    STAT(control_flow_count, "control flow"),
    STAT(register_pressure, "most values live at once"),
    STAT(static_storage_bytes, "fixed storage, bytes"),
    STAT(peak_memory_bytes, "peak memory of fixed buffers, bytes"),
#undef STAT
};

static uint64_t stat_value(const vyre_stats *stats, size_t row) {
  return *(const uint64_t *)((const char *)stats + stat_rows[row].offset);
}

// How often each operation stands in a region's body.
static void count_operations(const vyre_program *p, uint32_t index, uint32_t counts[OP_COUNT]) {
  const region *r = &p->regions[index];
  for (uint32_t i = 0; i < OP_COUNT; i++) counts[i] = 0;
  for (uint32_t i = r->body.first; i < r->body.end; i++) counts[p->code[i].op]++;
}

// ---- text ---------------------------------------------------------------------------------------

static void show_tunables(const vyre_program *p) {
  char list[160];
  for (uint32_t i = 0; i < p->tunable_count; i++) {
    const tunable *t = &p->tunables[i];
    strbuf value = {0};
    literal_print(&value, t->type, t->values[t->chosen], false);
    char *text = strbuf_take(&value, NULL);
    printf("  %-16s %-4s %s of %s\n", t->name, vyre_type_name(t->type), text ? text : "",
           tunable_list(t, list));
    free(text);
  }
}

static void show_buffers(const vyre_program *p) {
  for (uint32_t i = 0; i < vyre_program_buffer_count(p); i++) {
    vyre_buffer_info b = vyre_program_buffer(p, i);
    printf("  %-16s %s", b.name, vyre_type_name(b.type));
    if (b.has_fixed_length)
      printf("[%" PRIu64 "]", b.fixed_length);
    else
      fputs(b.has_length ? "[...]" : "[]", stdout);
    printf(" %s%s\n", b.is_transient ? "transient" : access_name(b.access),
           b.has_fixed_length ? ""
           : b.has_length     ? ", length computed from parameters and lengths"
                              : ", length as bound");
  }
}

static void show_operations(const vyre_program *p, uint32_t region) {
  uint32_t counts[OP_COUNT];
  count_operations(p, region, counts);
  const char *between = "    ";
  for (uint32_t i = 0; i < OP_COUNT; i++) {
    if (!counts[i]) continue;
    printf("%s%s %u", between, op_table[i].name, counts[i]);
    between = ", ";
  }
  if (*between == ',') putchar('\n');
}

static void show_regions(const vyre_program *p) {
  for (uint32_t i = 0; i < vyre_program_region_count(p); i++) {
    vyre_region_info r = vyre_program_region(p, i);
    printf("  %-16s rank %u, workgroup %u x %u x %u, ", r.name, r.rank, r.workgroup[0],
           r.workgroup[1], r.workgroup[2]);
    if (r.is_elastic)
      fputs("elastic", stdout);
    else
      printf("rigid: its body uses %s", r.rigid_because);
    if (r.shared_bytes) printf(", %u bytes shared", r.shared_bytes);
    putchar('\n');
    show_operations(p, i);
  }
}

static void show_program(const char *path, const loaded *l) {
  const vyre_program *p = l->program;
  uint8_t fingerprint[HASH_BYTES];
  char hex[HASH_HEX];
  vyre_program_fingerprint(p, fingerprint);
  hash_hex(fingerprint, hex);
  printf("program %s (%s, %s)\n", vyre_program_name(p), path, l->language.title);
  printf("fingerprint %s\n", hex);
  uint32_t ulp = vyre_program_fast_ulp(p);
  if (ulp) printf("arithmetic fast, within %u ULP\n", ulp);
  if (vyre_program_param_count(p)) printf("\nparameters\n");
  for (uint32_t i = 0; i < vyre_program_param_count(p); i++) {
    vyre_param_info info = vyre_program_param(p, i);
    printf("  %-16s %s\n", info.name, vyre_type_name(info.type));
  }
  if (vyre_program_tunable_count(p)) printf("\ntunables\n");
  show_tunables(p);
  if (vyre_program_buffer_count(p)) printf("\nbuffers\n");
  show_buffers(p);
  printf("\nregions\n");
  show_regions(p);
  printf("\nstatistics\n");
  vyre_stats stats = vyre_program_stats(p);
  char text[SHOW_TEXT];
  for (size_t i = 0; i < sizeof stat_rows / sizeof *stat_rows; i++)
    printf("  %-36s %s\n", stat_rows[i].text, show_count(stat_value(&stats, i), text));
}

// ---- JSON ---------------------------------------------------------------------------------------

static json_t *buffers_json(const vyre_program *p) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < vyre_program_buffer_count(p); i++) {
    vyre_buffer_info b = vyre_program_buffer(p, i);
    json_t *o =
        json_pack("{s:s, s:s, s:s, s:b, s:s}", "name", b.name, "type", vyre_type_name(b.type),
                  "access", access_name(b.access), "transient", b.is_transient, "length",
                  b.has_fixed_length ? "fixed"
                  : b.has_length     ? "computed"
                                     : "as bound");
    if (b.has_fixed_length)
      json_object_set_new(o, "fixed_length", json_integer((json_int_t)b.fixed_length));
    json_array_append_new(list, o);
  }
  return list;
}

static json_t *operations_json(const vyre_program *p, uint32_t region) {
  uint32_t counts[OP_COUNT];
  json_t *o = json_object();
  count_operations(p, region, counts);
  for (uint32_t i = 0; i < OP_COUNT; i++)
    if (counts[i]) json_object_set_new(o, op_table[i].name, json_integer(counts[i]));
  return o;
}

static json_t *regions_json(const vyre_program *p) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < vyre_program_region_count(p); i++) {
    vyre_region_info r = vyre_program_region(p, i);
    json_t *o =
        json_pack("{s:s, s:i, s:[iii], s:b, s:i}", "name", r.name, "rank", (int)r.rank, "workgroup",
                  (int)r.workgroup[0], (int)r.workgroup[1], (int)r.workgroup[2], "elastic",
                  r.is_elastic, "shared_bytes", (int)r.shared_bytes);
    if (!r.is_elastic) json_object_set_new(o, "rigid_because", json_string(r.rigid_because));
    json_object_set_new(o, "operations", operations_json(p, i));
    json_array_append_new(list, o);
  }
  return list;
}

static json_t *tunables_json(const vyre_program *p) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < p->tunable_count; i++) {
    const tunable *t = &p->tunables[i];
    json_t *values = json_array();
    for (uint32_t k = 0; k < t->count; k++) {
      strbuf value = {0};
      literal_print(&value, t->type, t->values[k], false);
      char *text = strbuf_take(&value, NULL);
      json_array_append_new(values, cli_text(text ? text : ""));
      free(text);
    }
    json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:i}", "name", t->name, "type",
                                          vyre_type_name(t->type), "values", values, "chosen",
                                          (int)t->chosen));
  }
  return list;
}

static json_t *program_json(const char *path, const loaded *l) {
  const vyre_program *p = l->program;
  json_t *params = json_array(), *stats = json_object();
  for (uint32_t i = 0; i < vyre_program_param_count(p); i++) {
    vyre_param_info info = vyre_program_param(p, i);
    json_array_append_new(
        params, json_pack("{s:s, s:s}", "name", info.name, "type", vyre_type_name(info.type)));
  }
  vyre_stats values = vyre_program_stats(p);
  for (size_t i = 0; i < sizeof stat_rows / sizeof *stat_rows; i++)
    json_object_set_new(stats, stat_rows[i].name, json_integer((json_int_t)stat_value(&values, i)));
  uint8_t fingerprint[HASH_BYTES];
  char hex[HASH_HEX];
  vyre_program_fingerprint(p, fingerprint);
  hash_hex(fingerprint, hex);
  return json_pack("{s:o, s:s, s:s, s:s, s:i, s:o, s:o, s:o, s:o, s:o}", "file", cli_text(path),
                   "form", l->language.name, "program", vyre_program_name(p), "fingerprint", hex,
                   "fast_ulp", (int)vyre_program_fast_ulp(p), "params", params, "tunables",
                   tunables_json(p), "buffers", buffers_json(p), "regions", regions_json(p),
                   "statistics", stats);
}

static int show(const cli *c, const char *path, const source_words *words) {
  loaded l;
  vyre_error error;
  if (load_program(path, words, &l, &error) != VYRE_OK) return cli_error(c, &error);
  if (c->json)
    cli_json(program_json(path, &l));
  else
    show_program(path, &l);
  load_free(&l);
  return EXIT_FINE;
}

static int run(cli *c, int argc, char **argv) {
  const char *path = NULL;
  source_words words = {0};
  int code = EXIT_FINE;
  args a = args_begin(c, info_options, argc, argv);
  a.takes_build = true;
  for (int letter; (letter = args_next(&a)) != ARGS_END && code == EXIT_FINE;) {
    bool ok = letter != ARGS_ERROR;
    if (!ok || source_take(&words, &a, letter, &ok))
      code = ok ? EXIT_FINE : EXIT_USAGE;
    else if (path)
      code = cli_usage(c, "one program at a time: `%s` is too many", a.value);
    else
      path = a.value;
  }
  if (code == EXIT_FINE && !path)
    code = cli_usage(c, "no program is named. Fix: run `vyre info FILE`");
  if (code == EXIT_FINE) code = show(c, path, &words);
  source_words_free(&words);
  return code;
}

const command info_command = {
    "info", "parameters, buffers, regions, statistics, fingerprint",
    "usage: vyre info FILE[:KERNEL] [--json]\n"
    "\n"
    "Shows what a program takes and how it is made. A region is elastic when its workgroup is\n"
    "only a launch shape, and rigid when its body depends on it; what it depends on is named.\n"
    "Below each region stands how many operations of each kind its body has.\n"
    "The fingerprint is the program's identity: names of values and comments do not count.\n"
    "\n" SOURCE_HELP "\n"
    "examples:\n"
    "  vyre info saxpy.vyre\n"
    "  vyre info saxpy.vyreb --json\n",
    run};
