// SPDX-License-Identifier: MIT
//
// vyre explain: reads decisions and evidence, and says for each decision what was decided, why,
// what it rests on, how old that is, and what would change it. It decides nothing itself.
#include "cli/explain.h"

#include "cli/args.h"
#include "cli/load.h"
#include "policy/route.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const args_option explain_options[] = {{0, NULL, NULL}};

// ---- gathering ----------------------------------------------------------------------------------

bool explain_read_print(const char *hex, uint8_t out[HASH_BYTES]) {
  for (int i = 0; i < HASH_BYTES; i++) {
    unsigned byte;
    if (sscanf(hex + 2 * i, "%2x", &byte) != 1) return false;
    out[i] = (uint8_t)byte;
  }
  return true;
}

const program_evidence *explain_find_print(const explaining *e, const char *hex) {
  for (uint32_t i = 0; i < e->program_count; i++)
    if (!strcmp(e->programs[i].print, hex)) return &e->programs[i];
  return NULL;
}

static void add_print(explaining *e, const char *hex) {
  if (explain_find_print(e, hex) || e->program_count == MAX_PRINTS || strlen(hex) + 1 != HASH_HEX)
    return;
  memcpy(e->programs[e->program_count++].print, hex, HASH_HEX);
}

static bool find_prints(void *context, const store_line *l) {
  explaining *e = context;
  if (!l->origin && !strcmp(l->kind, "latency") && !strcmp(l->op, e->op))
    add_print(e, l->fingerprint);
  return true;
}

static bool take_line(void *context, const store_line *l) {
  explaining *e = context;
  bool is_ours =
      l->fingerprint[0] ? explain_find_print(e, l->fingerprint) != NULL : !strcmp(l->op, e->op);
  if (l->origin || !is_ours) return true;
  evidence_line copy = {
      .count = l->count, .total_ns = l->total_ns, .extreme_ns = l->extreme_ns, .date = l->date};
  snprintf(copy.kind, sizeof copy.kind, "%s", l->kind);
  snprintf(copy.device, sizeof copy.device, "%s", l->device);
  snprintf(copy.subject, sizeof copy.subject, "%s", l->subject);
  snprintf(copy.detail, sizeof copy.detail, "%s", l->detail);
  return vec_push(&e->lines, copy);
}

static void load_program_evidence(explaining *e, program_evidence *p) {
  uint8_t print[HASH_BYTES];
  vyre_error error;
  if (!explain_read_print(p->print, print)) return;
  if (store_load_latencies(e->store, print, &e->memory, &p->latencies, &p->latency_count, &error) !=
          VYRE_OK ||
      store_load_decisions(e->store, print, &e->memory, &p->decisions, &p->decision_count,
                           &error) != VYRE_OK)
    note_tell(&e->notes, &error);
}

static void gather_routes(explaining *e) {
  vyre_error error;
  size_t first = 0, count;
  e->routes_path = route_default_path(&error);
  e->routes = route_table_new();
  if (!e->routes_path ||
      (e->routes && route_table_load(e->routes, e->routes_path, &e->notes, &error) != VYRE_OK))
    note_tell(&e->notes, &error);
  count = e->routes ? route_table_find(e->routes, e->op, &first) : 0;
  for (size_t i = 0; i < count && !e->is_one_program; i++) {
    const route_entry *entry = route_table_at(e->routes, first + i);
    if (entry->fingerprint) add_print(e, entry->fingerprint);
  }
}

static void gather(explaining *e) {
  vyre_error error;
  gather_routes(e);
  if (store_open(NULL, &e->notes, &e->store, &error) != VYRE_OK) {
    note_tell(&e->notes, &error);
    return;
  }
  if ((!e->is_one_program && store_visit(e->store, find_prints, e, &error) != VYRE_OK) ||
      store_visit(e->store, take_line, e, &error) != VYRE_OK)
    note_tell(&e->notes, &error);
  for (uint32_t i = 0; i < e->program_count; i++) load_program_evidence(e, &e->programs[i]);
}

// ---- the command --------------------------------------------------------------------------------

static int explain(explaining *e) {
  gather(e);
  if (e->cli->json) e->json = json_pack("{s:o}", "op", cli_text(e->op));
  if (!e->json) printf("%s\n", e->op);
  explain_backend(e);
  explain_wrong(e);
  explain_shape(e);
  explain_choices(e);
  explain_passes(e);
  explain_variants(e);
  if (e->json) cli_json(e->json);
  bool is_known = e->found_any || e->lines.count;
  if (!is_known && !e->json)
    fprintf(stderr,
            "vyre: note: nothing was measured or decided for `%s` yet. Fix: run it with `vyre run "
            "FILE --repeat 100 --explain`; `vyre profile show` lists what is known\n",
            e->op);
  store_close(e->store);
  route_table_free(e->routes);
  free(e->routes_path);
  arena_free(&e->memory);
  vec_free(&e->lines);
  return is_known ? EXIT_FINE : EXIT_INPUT;
}

static int run(cli *c, int argc, char **argv) {
  explaining e = {.cli = c, .notes = cli_notes(), .memory = ARENA_INIT};
  loaded l = {0};
  vyre_error error;
  args a = args_begin(c, explain_options, argc, argv);
  for (int letter; (letter = args_next(&a)) != ARGS_END;) {
    if (letter == ARGS_ERROR) return EXIT_USAGE;
    if (e.op) return cli_usage(c, "one op at a time: `%s` is too many", a.value);
    e.op = a.value;
  }
  if (!e.op) return cli_usage(c, "no op is named. Fix: run `vyre explain OP`, or name its file");
  // The file of a program stands for the program.
  if (access(e.op, F_OK) == 0 || load_language(e.op, NULL).has_launch) {
    if (load_program(e.op, NULL, &l, &error) != VYRE_OK) return cli_error(c, &error);
    uint8_t print[HASH_BYTES];
    char hex[HASH_HEX];
    vyre_program_fingerprint(l.program, print);
    hash_hex(print, hex);
    add_print(&e, hex);
    e.is_one_program = true;
    e.op = vyre_program_name(l.program);
  }
  int code = explain(&e);
  load_free(&l);
  return code;
}

const command explain_command = {
    "explain", "say what was decided for a program, why, and what would change it",
    "usage: vyre explain OP | FILE[:ENTRY] [--json]\n"
    "\n"
    "OP is the name of a program, as `vyre info` shows it; a file stands for its program. Says\n"
    "which backend runs it at which size, with which launch shape, what each optimizer pass did\n"
    "in its last compile, and which variants were prepared ahead: each with its reason, the\n"
    "evidence and its age, and what would change it. It only reads. For what a running process\n"
    "decides by itself, see `vyre run --repeat N --explain`.\n"
    "\n"
    "exit status: 0; 1 nothing is known of it\n"
    "\n"
    "examples:\n"
    "  vyre explain saxpy\n"
    "  vyre explain kernels.cl:blur --json\n",
    run};
