// SPDX-License-Identifier: MIT
#include "cli/args.h"
#include "cli/load.h"
#include "cli/save.h"

#include <string.h>

static const args_option convert_options[] = {
    {'o', "output", "a file"},
    {'t', "to", "text or wire"},
    SOURCE_OPTIONS,
    {0, NULL, NULL},
};

typedef struct wanted {
  const char *from, *path;
  save_form to;
  source_words words;
} wanted;

static vyre_status convert(const wanted *w, size_t *size, vyre_error *error) {
  loaded l;
  vyre_status status = load_program(w->from, &w->words, &l, error);
  if (status != VYRE_OK) return status;
  status = save_program(l.program, w->path, w->to, size, error);
  load_free(&l);
  return status;
}

static int read_options(const cli *c, int argc, char **argv, wanted *w) {
  args a = args_begin(c, convert_options, argc, argv);
  a.takes_build = true;
  for (int letter; (letter = args_next(&a)) != ARGS_END;) {
    bool ok = letter != ARGS_ERROR;
    if (!ok || source_take(&w->words, &a, letter, &ok)) {
      if (!ok) return EXIT_USAGE;
      continue;
    }
    if (letter == 'o')
      w->path = a.value;
    else if (letter == 't') {
      bool is_text = !strcmp(a.value, "text");
      w->to = is_text ? SAVE_TEXT : SAVE_WIRE;
      if (!is_text && strcmp(a.value, "wire"))
        return cli_usage(c, "--to wants text or wire, not `%s`", a.value);
    } else if (w->from)
      return cli_usage(c, "one program at a time: `%s` is too many", a.value);
    else
      w->from = a.value;
  }
  return EXIT_FINE;
}

static int run_wanted(const cli *c, wanted *w) {
  if (!w->from) return cli_usage(c, "no program is named. Fix: run `vyre convert IN -o OUT`");
  if (!w->path) {
    w->path = "-";
    if (w->to == SAVE_BY_NAME) w->to = SAVE_TEXT;
  }
  if (w->to == SAVE_BY_NAME) w->to = save_form_of(w->path);
  if (w->to == SAVE_BY_NAME)
    return cli_usage(c,
                     "`%s` does not say which form it is. Fix: end it in .vyre (text) or .vyreb "
                     "(wire), or add --to",
                     w->path);
  vyre_error error;
  size_t size;
  if (c->json && !strcmp(w->path, "-"))
    return cli_usage(c, "--json and the program cannot both go to standard output. Fix: name a "
                        "file with -o");
  if (convert(w, &size, &error) != VYRE_OK) return cli_error(c, &error);
  if (c->json)
    cli_json(json_pack("{s:o, s:o, s:s, s:I}", "from", cli_text(w->from), "to", cli_text(w->path),
                       "form", w->to == SAVE_WIRE ? "wire" : "text", "bytes", (json_int_t)size));
  return EXIT_FINE;
}

static int run(cli *c, int argc, char **argv) {
  wanted w = {.to = SAVE_BY_NAME};
  int code = read_options(c, argc, argv, &w);
  if (code == EXIT_FINE) code = run_wanted(c, &w);
  source_words_free(&w.words);
  return code;
}

const command convert_command = {
    "convert", "turn OpenCL C, text form or wire form into text or wire form",
    "usage: vyre convert IN[:KERNEL] [-o OUT] [--to text|wire] [--json]\n"
    "\n"
    "Reads a program in either form, or a kernel from OpenCL C (.cl), and writes it in the form\n"
    "that the name of OUT asks for: .vyre is text, .vyreb is wire. Without -o the text goes to\n"
    "standard output. Nothing is lost but comments, which the wire form has no room for.\n"
    "\n"
    "options:\n"
    "  -o, --output OUT      where to write; - is standard output\n"
    "  -t, --to text|wire    the form, whatever the name says\n"
    "      --json            say what was written, as JSON\n"
    "\n" SOURCE_HELP "\n"
    "examples:\n"
    "  vyre convert saxpy.vyre -o saxpy.vyreb\n"
    "  vyre convert saxpy.vyreb                # shows it as text\n"
    "  vyre convert kernels.cl:saxpy           # shows what became of a kernel\n",
    run};
