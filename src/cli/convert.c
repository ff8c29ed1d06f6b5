// SPDX-License-Identifier: MIT
#include "cli/args.h"
#include "cli/load.h"
#include "cli/save.h"

#include <string.h>

static const args_option convert_options[] = {
    {'o', "output", "a file"}, {'t', "to", "text or wire"}, {0, NULL, NULL}};

static vyre_status convert(const char *from, const char *path, save_form to, size_t *size,
                           vyre_error *error) {
  loaded l;
  vyre_status status = load_program(from, NULL, &l, error);
  if (status != VYRE_OK) return status;
  status = save_program(l.program, path, to, size, error);
  load_free(&l);
  return status;
}

static int run(cli *c, int argc, char **argv) {
  const char *from = NULL, *path = NULL;
  save_form to = SAVE_BY_NAME;
  args a = args_begin(c, convert_options, argc, argv);
  for (int letter; (letter = args_next(&a)) != ARGS_END;) {
    if (letter == ARGS_ERROR) return EXIT_USAGE;
    if (letter == 'o')
      path = a.value;
    else if (letter == 't') {
      to = !strcmp(a.value, "text") ? SAVE_TEXT : !strcmp(a.value, "wire") ? SAVE_WIRE : to;
      if (to == SAVE_BY_NAME) return cli_usage(c, "--to wants text or wire, not `%s`", a.value);
    } else if (from)
      return cli_usage(c, "one program at a time: `%s` is too many", a.value);
    else
      from = a.value;
  }
  if (!from) return cli_usage(c, "no program is named. Fix: run `vyre convert IN -o OUT`");
  if (!path) {
    path = "-";
    if (to == SAVE_BY_NAME) to = SAVE_TEXT;
  }
  if (to == SAVE_BY_NAME) to = save_form_of(path);
  if (to == SAVE_BY_NAME)
    return cli_usage(c,
                     "`%s` does not say which form it is. Fix: end it in .vyre (text) or .vyreb "
                     "(wire), or add --to",
                     path);
  vyre_error error;
  size_t size;
  if (c->json && !strcmp(path, "-"))
    return cli_usage(c, "--json and the program cannot both go to standard output. Fix: name a "
                        "file with -o");
  if (convert(from, path, to, &size, &error) != VYRE_OK) return cli_error(c, &error);
  if (c->json)
    cli_json(json_pack("{s:o, s:o, s:s, s:I}", "from", cli_text(from), "to", cli_text(path), "form",
                       to == SAVE_WIRE ? "wire" : "text", "bytes", (json_int_t)size));
  return EXIT_FINE;
}

const command convert_command = {
    "convert", "turn text form into wire form and back",
    "usage: vyre convert IN [-o OUT] [--to text|wire] [--json]\n"
    "\n"
    "Reads a program in either form and writes it in the form that the name of OUT asks for:\n"
    ".vyre is text, .vyreb is wire. Without -o the text goes to standard output. Nothing is lost\n"
    "but comments, which the wire form has no room for.\n"
    "\n"
    "options:\n"
    "  -o, --output OUT      where to write; - is standard output\n"
    "  -t, --to text|wire    the form, whatever the name says\n"
    "      --json            say what was written, as JSON\n"
    "\n"
    "examples:\n"
    "  vyre convert saxpy.vyre -o saxpy.vyreb\n"
    "  vyre convert saxpy.vyreb                # shows it as text\n",
    run};
