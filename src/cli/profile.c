// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "cli/args.h"
#include "cli/measure.h"
#include "cli/nearest.h"
#include "cli/profile.h"
#include "cli/profile_fleet.h"
#include "cli/show.h"
#include "profile/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const args_option profile_options[] = {
    {'y', "yes", NULL},
    {'m', "machine", "ROLE"},
    {'r', "reader", "ROLE"},
    {0, NULL, NULL},
};

typedef struct profile {
  const cli *cli;
  char **words; // after the verb
  uint32_t word_count;
  vec(const char *) machines, readers; // roles of a server
  bool is_sure;
  note_sink notes;
} profile;

// ---- show ---------------------------------------------------------------------------------------

typedef struct showing {
  const char *wanted; // NULL: everything
  json_t *list;       // NULL: text
  uint64_t shown;
} showing;

json_t *profile_line_json(const store_line *l) {
  return json_pack("{s:s, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:b}", "kind", l->kind, "device",
                   cli_text(l->device), "subject", cli_text(l->subject), "detail",
                   cli_text(l->detail), "op", cli_text(l->op), "count", (json_int_t)l->count,
                   "total_ns", (json_int_t)l->total_ns, "extreme_ns", (json_int_t)l->extreme_ns,
                   "date", (json_int_t)l->date, "foreign", l->origin != NULL);
}

static void print_text(const char *text, int width) {
  json_t *clean = cli_text(text);
  printf("%-*s", width, json_string_value(clean));
  json_decref(clean);
}

static bool show_line(void *context, const store_line *l) {
  showing *s = context;
  char mean[SHOW_TEXT], extreme[SHOW_TEXT], age[SHOW_TEXT], count[SHOW_TEXT];
  if (s->wanted && strcmp(s->wanted, l->subject) && strcmp(s->wanted, l->op)) return true;
  s->shown++;
  if (s->list) {
    json_array_append_new(s->list, profile_line_json(l));
    return true;
  }
  printf("%-11s ", l->kind);
  print_text(l->subject, 28);
  putchar(' ');
  print_text(l->detail, 14);
  if (!strcmp(l->kind, "speculation"))
    printf(" %8s variants, %llu used, %s spent", show_count(l->count, count),
           (unsigned long long)l->extreme_ns, show_time(l->total_ns, mean));
  else
    printf(" %8s samples, mean %s, %s %s", show_count(l->count, count),
           show_time(l->count ? l->total_ns / l->count : 0, mean),
           strcmp(l->kind, "region") ? "fastest" : "longest", show_time(l->extreme_ns, extreme));
  printf(", %s, on ", measure_age(l->date, age));
  print_text(l->device, 0);
  puts(l->origin ? ", from another machine" : "");
  return true;
}

static vyre_status show(const profile *p, store *s, vyre_error *error) {
  store_counts n;
  char size[SHOW_TEXT];
  showing state = {.wanted = p->word_count ? p->words[0] : NULL,
                   .list = p->cli->json ? json_array() : NULL};
  vyre_status status = store_count(s, &n, error);
  if (status == VYRE_OK && !state.list)
    printf("%s: %s; %llu regions, %llu latencies, %llu codes, %llu decisions, %llu tunings, %llu "
           "speculations, %llu pass rows; %llu from other machines\n",
           store_path(s), show_bytes(n.size_bytes, size), (unsigned long long)n.regions,
           (unsigned long long)n.latencies, (unsigned long long)n.codes,
           (unsigned long long)n.decisions, (unsigned long long)n.tunings,
           (unsigned long long)n.speculations, (unsigned long long)n.pass_rows,
           (unsigned long long)n.foreign);
  if (status == VYRE_OK) status = store_visit(s, show_line, &state, error);
  if (status == VYRE_OK && state.list)
    cli_json(json_pack("{s:o, s:I, s:I, s:O}", "file", cli_text(store_path(s)), "bytes",
                       (json_int_t)n.size_bytes, "foreign", (json_int_t)n.foreign, "lines",
                       state.list));
  if (status == VYRE_OK && !state.list && state.wanted && !state.shown)
    printf("nothing is known of `%s`\n", state.wanted);
  json_decref(state.list);
  return status;
}

// ---- the others ---------------------------------------------------------------------------------

static vyre_status export_to(const profile *p, store *s, vyre_error *error) {
  vyre_status status = store_export(s, p->words[0], error);
  if (status != VYRE_OK) return status;
  if (p->cli->json)
    cli_json(json_pack("{s:o}", "file", cli_text(p->words[0])));
  else
    printf("written to %s\n", p->words[0]);
  return VYRE_OK;
}

static vyre_status take_files(const profile *p, store *s, uint32_t first, vyre_error *error) {
  uint64_t all = 0;
  for (uint32_t i = first; i < p->word_count; i++) {
    uint64_t taken;
    vyre_status status = store_import(s, p->words[i], &taken, error);
    if (status != VYRE_OK) return status;
    all += taken;
    if (!p->cli->json)
      printf("%s: %llu keys were new or had more samples\n", p->words[i],
             (unsigned long long)taken);
  }
  if (p->cli->json)
    cli_json(json_pack("{s:o, s:I}", "file", cli_text(store_path(s)), "taken", (json_int_t)all));
  return VYRE_OK;
}

static vyre_status import_from(const profile *p, store *s, vyre_error *error) {
  return take_files(p, s, 0, error);
}

static vyre_status merge_into(const profile *p, store *s, vyre_error *error) {
  return take_files(p, s, 1, error);
}

// A person at a terminal is asked by having to say --yes.
static vyre_status clear(const profile *p, store *s, vyre_error *error) {
  store_counts n;
  if (!p->is_sure && isatty(STDIN_FILENO))
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "this forgets everything that was measured. Fix: say --yes, or keep it first "
                     "with `vyre profile export`");
  vyre_status status = store_count(s, &n, error);
  if (status == VYRE_OK) status = store_clear(s, error);
  if (status != VYRE_OK) return status;
  uint64_t keys = n.regions + n.latencies + n.tunings + n.speculations;
  if (p->cli->json)
    cli_json(json_pack("{s:I}", "forgotten", (json_int_t)keys));
  else
    printf("%s: forgot %llu keys; decisions in pgo.toml and tuner files stay\n", store_path(s),
           (unsigned long long)keys);
  return VYRE_OK;
}

static vyre_status sync_with(const profile *p, store *s, vyre_error *error) {
  return profile_sync(p->cli, s, p->words[0], error);
}

static vyre_status prepare_server(const profile *p, store *s, vyre_error *error) {
  (void)s; // the administrator's own evidence has nothing to do with it
  return profile_server(p->cli, p->words[0], p->machines.at, (uint32_t)p->machines.count,
                        p->readers.at, (uint32_t)p->readers.count, error);
}

typedef struct verb {
  const char *name;
  uint32_t fewest, most; // words after it
  const char *usage;
  vyre_status (*run)(const profile *p, store *s, vyre_error *error);
} verb;

static const verb verbs[] = {
    {"show", 0, 1, "vyre profile show [OP]", show},
    {"export", 1, 1, "vyre profile export FILE", export_to},
    {"import", 1, UINT32_MAX, "vyre profile import FILE ...", import_from},
    {"merge", 2, UINT32_MAX, "vyre profile merge OUT FILE ...", merge_into},
    {"clear", 0, 0, "vyre profile clear [--yes]", clear},
    {"sync", 1, 1, "vyre profile sync postgresql://ROLE@HOST/DATABASE", sync_with},
    {"server", 1, 1, "vyre profile server postgresql://ADMIN@HOST/DATABASE [--machine ROLE]",
     prepare_server},
};
enum { VERB_COUNT = sizeof verbs / sizeof *verbs };

static const verb *find_verb(const cli *c, const char *name) {
  nearest n = nearest_begin(name);
  for (size_t i = 0; i < VERB_COUNT; i++) {
    if (!strcmp(verbs[i].name, name)) return &verbs[i];
    nearest_offer(&n, verbs[i].name);
  }
  if (n.best)
    cli_usage(c, "a profile cannot be `%s`. Fix: did you mean `vyre profile %s`?", name, n.best);
  else
    cli_usage(c,
              "a profile cannot be `%s`. Fix: it can be shown, exported, imported, merged, "
              "synced and cleared; see `vyre help profile`",
              name);
  return NULL;
}

static int run_verb(profile *p, const verb *v) {
  vyre_error error;
  store *s = NULL;
  store_options options = {.path = v->run == merge_into ? p->words[0] : NULL};
  vyre_status status =
      v->run == prepare_server ? VYRE_OK : store_open(&options, &p->notes, &s, &error);
  if (status == VYRE_OK) status = v->run(p, s, &error);
  store_close(s);
  return status == VYRE_OK ? EXIT_FINE : cli_error(p->cli, &error);
}

static int run(cli *c, int argc, char **argv) {
  profile p = {.cli = c, .notes = cli_notes()};
  vec(char *) words = {0};
  int code = EXIT_USAGE;
  bool ok = true;
  args a = args_begin(c, profile_options, argc, argv);
  for (int letter; ok && (letter = args_next(&a)) != ARGS_END;) {
    if (letter == 'y')
      p.is_sure = true;
    else if (letter == 'm')
      ok = vec_push(&p.machines, a.value);
    else if (letter == 'r')
      ok = vec_push(&p.readers, a.value);
    else
      ok = letter == ARGS_WORD && vec_push(&words, a.value);
  }
  if (ok && !words.count) {
    cli_usage(c, "nothing to do is named. Fix: begin with `vyre profile show`");
  } else if (ok) {
    const verb *v = find_verb(c, words.at[0]);
    p.words = words.at + 1;
    p.word_count = (uint32_t)words.count - 1;
    if (v && (p.word_count < v->fewest || p.word_count > v->most))
      cli_usage(c, "`vyre profile %s` got %u words. Fix: run `%s`", v->name, p.word_count,
                v->usage);
    else if (v && v->run != prepare_server && p.machines.count + p.readers.count)
      cli_usage(c, "roles are made by `vyre profile server` alone. Fix: leave out --machine and "
                   "--reader");
    else if (v)
      code = run_verb(&p, v);
  }
  vec_free(&words);
  vec_free(&p.machines);
  vec_free(&p.readers);
  return code;
}

const command profile_command = {
    "profile", "look at, ship or forget what was measured",
    "usage: vyre profile show [OP]\n"
    "       vyre profile export FILE\n"
    "       vyre profile import FILE ...\n"
    "       vyre profile merge OUT FILE ...\n"
    "       vyre profile clear [--yes]\n"
    "       vyre profile sync postgresql://ROLE@HOST/DATABASE\n"
    "       vyre profile server postgresql://ADMIN@HOST/DATABASE [--machine ROLE] [--reader ROLE]\n"
    "\n"
    "Every dispatch of the runtime is measured, and what was measured is kept in evidence.db in\n"
    "the state directory (VYRE_HOME, XDG_STATE_HOME or ~/.local/state/vyre).\n"
    "\n"
    "  show      a line per key: regions, latencies by backend and size class, launch shapes,\n"
    "            variants; with OP, only that op, region or key\n"
    "  export    everything into one file, whole or not at all\n"
    "  import    take over what exported files have; importing twice is importing once\n"
    "  merge     join exported files into OUT, without touching this machine's evidence\n"
    "  clear     forget everything; decisions (pgo.toml, tuner files) stay\n"
    "\n"
    "  sync      send what is new to the server of a fleet, and get what machines of this kind\n"
    "            measured; VYRE_FLEET=postgresql://... makes runtimes do it in the background\n"
    "  server    make or migrate what such a server needs, and roles for machines and readers\n"
    "\n"
    "What another machine measured is kept apart; it says what to try first, and decides nothing.\n"
    "\n"
    "options:\n"
    "  -y, --yes           clear without asking, at a terminal\n"
    "  -m, --machine ROLE  a role that may write its own rows; as often as needed\n"
    "  -r, --reader ROLE   a role that may only read\n"
    "      --json          the same as JSON\n"
    "\n"
    "examples:\n"
    "  vyre profile show saxpy\n"
    "  vyre profile export evidence-of-today.db\n"
    "  vyre profile merge fleet.db host1.db host2.db host3.db\n"
    "  vyre profile server postgresql://postgres@db/fleet --machine node1 --machine node2\n"
    "  vyre profile sync postgresql://node1@db/fleet\n",
    run};
