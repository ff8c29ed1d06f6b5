// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "cli/args.h"
#include "cli/load.h"
#include "cli/nearest.h"
#include "cli/opt_report.h"
#include "cli/save.h"
#include "profile/store.h"

#include <stdio.h>
#include <string.h>

static const args_option opt_options[] = {
    {'o', "output", "a file"},
    {'p', "passes", "names of passes, separated by commas"},
    {'f', "profile", "release, dataflow or megakernel, or several with commas"},
    {'e', "everything", NULL},
    {'L', "learned", NULL},
    {'r', "report", NULL},
    {'D', "dump-after", "the name of a pass"},
    {'S', "stop-after", "a number of runs"},
    {'l', "list", NULL},
    SOURCE_OPTIONS,
    {0, NULL, NULL},
};

typedef struct job {
  const cli *cli;
  const char *path, *output, *dump_after;
  bool wants_report, wants_list, is_learned;
  const char *names[PASS_LIMIT + 1];
  optimize_options options;
  uint32_t dumps;
  source_words words;
} job;

// ---- reading the call ---------------------------------------------------------------------------

static bool known_pass(const cli *c, const char *name) {
  if (pass_find(name)) return true;
  size_t count;
  const pass *const *passes = pass_table(&count);
  nearest n = nearest_begin(name);
  for (size_t i = 0; i < count; i++) nearest_offer(&n, passes[i]->info.name);
  if (n.best)
    cli_usage(c, "there is no pass `%s`. Fix: did you mean `%s`?", name, n.best);
  else
    cli_usage(c, "there is no pass `%s`. Fix: `vyre opt --list` shows them", name);
  return false;
}

static bool read_passes(job *j, char *text) {
  size_t count = 0;
  for (char *rest, *name = strtok_r(text, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
    if (!known_pass(j->cli, name)) return false;
    if (count == PASS_LIMIT) {
      cli_usage(j->cli, "--passes takes at most %d names", PASS_LIMIT);
      return false;
    }
    j->names[count++] = name;
  }
  if (!count) cli_usage(j->cli, "--passes names no pass. Fix: `vyre opt --list` shows them");
  j->options.mode = OPTIMIZE_NAMED;
  j->options.names = j->names;
  return count;
}

static bool read_profiles(job *j, char *text) {
  static const struct {
    const char *name;
    unsigned bit;
  } profiles[] = {{"release", PASS_PROFILE_RELEASE},
                  {"dataflow", PASS_PROFILE_DATAFLOW},
                  {"megakernel", PASS_PROFILE_MEGAKERNEL}};
  for (char *rest, *name = strtok_r(text, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
    size_t i = 0;
    while (i < 3 && strcmp(profiles[i].name, name) != 0) i++;
    if (i == 3) {
      cli_usage(j->cli, "there is no profile `%s`. Fix: use release, dataflow or megakernel", name);
      return false;
    }
    j->options.profiles |= profiles[i].bit;
  }
  if (!j->options.profiles)
    cli_usage(j->cli, "--profile names none. Fix: use release, dataflow or megakernel");
  return j->options.profiles;
}

static bool read_stop(job *j, const args *a) {
  uint64_t runs;
  if (!args_u64(a, "--stop-after", &runs)) return false;
  if (!runs || runs > UINT32_MAX) {
    cli_usage(j->cli, "--stop-after wants a number of runs from 1 on, not `%s`", a->value);
    return false;
  }
  j->options.stop_after = (uint32_t)runs;
  return true;
}

static bool read_option(job *j, args *a, int letter) {
  bool ok;
  if (source_take(&j->words, a, letter, &ok)) return ok;
  switch (letter) {
  case 'o': j->output = a->value; return true;
  case 'p': return read_passes(j, a->value);
  case 'f': return read_profiles(j, a->value);
  case 'e': j->options.mode = OPTIMIZE_EVERYTHING; return true;
  case 'L': j->is_learned = true; return true;
  case 'r': j->wants_report = true; return true;
  case 'l': j->wants_list = true; return true;
  case 'S': return read_stop(j, a);
  case 'D': j->dump_after = a->value; return known_pass(j->cli, a->value);
  case ARGS_WORD:
    if (!j->path) {
      j->path = a->value;
      return true;
    }
    cli_usage(j->cli, "one program at a time: `%s` is too many", a->value);
    return false;
  default: return false; // the message was printed
  }
}

static bool read_call(job *j, int argc, char **argv) {
  args a = args_begin(j->cli, opt_options, argc, argv);
  a.takes_build = true;
  bool wants_everything = false;
  for (int letter; (letter = args_next(&a)) != ARGS_END;) {
    wants_everything |= letter == 'e';
    if (!read_option(j, &a, letter)) return false;
  }
  if (j->options.names && (wants_everything || j->options.profiles)) {
    cli_usage(j->cli, "--passes says exactly what runs. Fix: leave out --everything and --profile");
    return false;
  }
  if (!j->path && !j->wants_list)
    cli_usage(j->cli, "no program is named. Fix: run `vyre opt FILE`");
  return j->path || j->wants_list;
}

// ---- doing it -----------------------------------------------------------------------------------

// Dumps go to standard error: standard output holds the result alone.
static void dump(void *context, const pass *pass, uint32_t run, const vyre_program *program) {
  job *j = context;
  char *text;
  size_t size;
  vyre_error error;
  if (strcmp(pass->info.name, j->dump_after) != 0) return;
  j->dumps++;
  if (vyre_program_print(program, &text, &size, &error) != VYRE_OK) {
    cli_error(j->cli, &error);
    return;
  }
  fprintf(stderr, "// after run %u, %s\n%s", run, pass->info.name, text);
  vyre_free(text);
}

static int show_json(const job *j, const loaded *l, const optimize_result *r, vyre_error *error) {
  json_t *o = opt_report_json(l->program, r);
  char *text = NULL;
  size_t size;
  if (!j->output) {
    if (vyre_program_print(r->program, &text, &size, error) != VYRE_OK) {
      json_decref(o);
      return cli_error(j->cli, error);
    }
    json_object_set_new(o, "text", json_stringn(text, size));
    vyre_free(text);
  } else {
    json_object_set_new(o, "output", cli_text(j->output));
  }
  return cli_json(o);
}

static int deliver(const job *j, const loaded *l, const optimize_result *r) {
  vyre_error error;
  size_t size;
  if (j->dump_after && !j->dumps) fprintf(stderr, "// %s changed nothing\n", j->dump_after);
  const char *path = j->output ? j->output : "-";
  save_form form = save_form_of(path);
  bool writes = j->output || (!j->wants_report && !j->cli->json);
  if (writes && save_program(r->program, path, form == SAVE_BY_NAME ? SAVE_TEXT : form, &size,
                             &error) != VYRE_OK)
    return cli_error(j->cli, &error);
  if (j->cli->json) return show_json(j, l, r, &error);
  if (j->wants_report) opt_report_show(l->program, r, j->options.mode == OPTIMIZE_EVERYTHING);
  return EXIT_FINE;
}

// What runs on this machine have shown: which regions are hot, and what passes gained.
typedef struct learned {
  store *store;
  hints *hints;
  arena memory;
  opt_report previous;
} learned;

static vyre_status learned_load(const vyre_program *p, learned *out, vyre_error *error) {
  vyre_status status = store_open(NULL, NULL, &out->store, error);
  if (status != VYRE_OK) return status;
  out->hints = hints_new(&HINTS_RUNTIME);
  if (!out->hints) return error_out_of_memory(error);
  status = store_load_regions(out->store, NULL, HINTS_RUNTIME.capacity, out->hints, error);
  if (status != VYRE_OK) return status;
  uint8_t fingerprint[32];
  vyre_program_fingerprint(p, fingerprint);
  return store_load_passes(out->store, fingerprint, &out->memory, &out->previous, error);
}

static void learned_fini(learned *l) {
  hints_free(l->hints);
  store_close(l->store);
  opt_report_free(&l->previous);
  arena_free(&l->memory);
}

static int optimize_loaded(job *j, const loaded *l) {
  vyre_error error;
  optimize_result result = {0};
  learned evidence = {0};
  vyre_status status = j->is_learned ? learned_load(l->program, &evidence, &error) : VYRE_OK;
  j->options.hints = evidence.hints;
  if (evidence.previous.rows.count) j->options.previous = &evidence.previous;
  if (status == VYRE_OK) status = optimize_program(l->program, &j->options, &result, &error);
  int code = status == VYRE_OK ? deliver(j, l, &result) : cli_error(j->cli, &error);
  optimize_result_fini(&result);
  learned_fini(&evidence);
  return code;
}

static int optimize(job *j) {
  loaded l;
  vyre_error error;
  if (load_program(j->path, &j->words, &l, &error) != VYRE_OK) return cli_error(j->cli, &error);
  if (j->dump_after) {
    j->options.watch = dump;
    j->options.watch_context = j;
  }
  int code = optimize_loaded(j, &l);
  load_free(&l);
  return code;
}

static int serve(job *j) {
  bool goes_to_stdout = j->output && !strcmp(j->output, "-");
  if (goes_to_stdout && (j->cli->json || j->wants_report))
    return cli_usage(j->cli, "the report and the program cannot both go to standard output. Fix: "
                             "name a file with -o");
  if (!j->wants_list) return optimize(j);
  if (j->cli->json) return cli_json(opt_list_json());
  opt_list_show();
  return EXIT_FINE;
}

static int run(cli *c, int argc, char **argv) {
  job j = {.cli = c};
  int code = read_call(&j, argc, argv) ? serve(&j) : EXIT_USAGE;
  source_words_free(&j.words);
  return code;
}

const command opt_command = {
    "opt", "optimize a program, and say what was done and why",
    "usage: vyre opt FILE[:KERNEL] [options] [-o OUT]\n"
    "       vyre opt --list\n"
    "\n"
    "Prints the program as the optimizer leaves it; every bit that it computes stays the same.\n"
    "Cheap passes always run. The others run where the program's shape says that they pay; when\n"
    "a runtime has measured a region as hot, there too. --report shows which, and why.\n"
    "\n"
    "options:\n"
    "  -p, --passes A,B,C     exactly these passes, until none changes anything\n"
    "  -f, --profile P,...    release (the default), dataflow, megakernel, or several\n"
    "  -e, --everything       every pass that the profiles have, whether it pays or not\n"
    "      --learned          also where runs on this machine have shown that it pays: regions\n"
    "                         that are hot, and what passes gained (vyre profile show)\n"
    "  -r, --report           instead of the program: each pass, whether it was selected for each\n"
    "                         region and why; then each run, its outcome, time and gain\n"
    "      --dump-after NAME  print the program to standard error each time NAME changed it\n"
    "      --stop-after N     stop after N runs of passes: halve N to find a run that is wrong\n"
    "  -l, --list             the passes in the order in which they run\n"
    "  -o, --output OUT       where to write the program; .vyreb is wire form, all else text\n"
    "      --json             the report and the program's text as JSON\n"
    "\n" SOURCE_HELP "\n"
    "examples:\n"
    "  vyre opt saxpy.vyre\n"
    "  vyre opt --report saxpy.vyre\n"
    "  vyre opt --passes=cse,dce saxpy.vyre\n"
    "  vyre opt --profile=release,dataflow,megakernel --everything net.vyre -o net.vyreb\n"
    "  vyre opt --dump-after=licm matmul.vyre > /dev/null\n",
    run};
