// SPDX-License-Identifier: MIT
#include "backend/executable.h"
#include "base/error.h"
#include "cli/args.h"
#include "cli/load.h"
#include "cli/nearest.h"
#include "cli/save.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct options {
  const char *file, *path, *emit;
  uint32_t form; // that `emit` names: first the stored ones, then the backends'
  uint64_t width;
  bool is_quick, is_polled, has_lines, wants_list;
  bool is_plain; // without the optimizer
  bool has_all;  // the remarks of all backends that have some
  source_words words;
} options;

static const args_option compile_options[] = {
    {'e', "emit", "a form that --list shows"},
    {'o', "output", "a file"},
    {'w', "width", "a number of lanes"},
    {'q', "quick", NULL},
    {'P', "polled", NULL},
    {'r', "remarks", NULL},
    {'g', "lines", NULL},
    {'l', "list", NULL},
    {'O', "no-opt", NULL},
    SOURCE_OPTIONS,
    {0, NULL, NULL},
};

// ---- forms --------------------------------------------------------------------------------------

// The two stored forms of a program come before those of the backends.
static const struct {
  const char *name, *summary;
  save_form form;
} stored_forms[] = {{"text", "the program itself, as text", SAVE_TEXT},
                    {"wire", "the same in wire form", SAVE_WIRE}};

enum { STORED_FORMS = sizeof stored_forms / sizeof *stored_forms };

static const char *form_name(uint32_t i, const char **summary) {
  const backend_form *f = i < STORED_FORMS ? NULL : backend_form_at(i - STORED_FORMS);
  if (!f && i >= STORED_FORMS) return NULL;
  *summary = f ? f->summary : stored_forms[i].summary;
  return f ? f->name : stored_forms[i].name;
}

static int list_forms(const cli *c) {
  json_t *list = json_array();
  const char *name, *summary;
  for (uint32_t i = 0; (name = form_name(i, &summary)); i++) {
    if (c->json)
      json_array_append_new(list, json_pack("{s:s, s:s}", "form", name, "summary", summary));
    else
      printf("%-9s %s\n", name, summary);
  }
  if (c->json)
    cli_json(json_pack("{s:o}", "forms", list));
  else
    json_decref(list);
  return EXIT_FINE;
}

static bool find_form(const cli *c, options *o) {
  const char *name, *summary;
  nearest n = nearest_begin(o->emit);
  for (o->form = 0; (name = form_name(o->form, &summary)); o->form++) {
    if (!strcmp(name, o->emit)) return true;
    nearest_offer(&n, name);
  }
  cli_usage(c, "`%s` is not a form that can be emitted. Fix: %s%s%s", o->emit,
            n.best ? "did you mean `" : "use one that `vyre compile --list` shows",
            n.best ? n.best : "", n.best ? "`?" : "");
  return false;
}

static bool is_remarks(const options *o) {
  return o->form >= STORED_FORMS && backend_form_at(o->form - STORED_FORMS)->is_remarks;
}

// {"region": ..., "remark": ...} of each line "region: remark".
static json_t *remarks_json(char *text) {
  json_t *all = json_array();
  char *rest = text;
  for (char *line; (line = strsep(&rest, "\n"));) {
    char *remark = strstr(line, ": ");
    if (!remark) continue;
    *remark = 0;
    json_array_append_new(all,
                          json_pack("{s:o, s:s}", "region", cli_text(line), "remark", remark + 2));
  }
  return all;
}

// Those of the other backends, behind the first one's; what has none here is left out.
static vyre_status add_remarks(vyre_program *program, const options *o,
                               const backend_form_options *how, char **text, size_t *size,
                               vyre_error *error) {
  const backend_form *form;
  strbuf all = {0};
  strbuf_add(&all, *text, *size);
  for (uint32_t i = 0; (form = backend_form_at(i)); i++) {
    char *more = NULL;
    size_t bytes = 0;
    if (!form->is_remarks || i == o->form - STORED_FORMS) continue;
    if (form->emit(program, how, &more, &bytes, NULL) == VYRE_OK) strbuf_add(&all, more, bytes);
    free(more);
  }
  free(*text);
  *text = strbuf_take(&all, size);
  return *text ? VYRE_OK : error_out_of_memory(error);
}

static vyre_status write_code(vyre_program *program, const options *o, json_t **remarks,
                              size_t *size, vyre_error *error) {
  backend_form_options how = {.tier = o->is_quick ? VYRE_TIER_QUICK : VYRE_TIER_FULL,
                              .vector_width = (uint32_t)o->width,
                              .has_lines = o->has_lines,
                              .is_polled = o->is_polled,
                              .source_name = o->file};
  char *text = NULL;
  const backend_form *form = backend_form_at(o->form - STORED_FORMS);
  vyre_status status = form->emit(program, &how, &text, size, error);
  if (status == VYRE_OK && o->has_all) status = add_remarks(program, o, &how, &text, size, error);
  if (status == VYRE_OK && remarks)
    *remarks = remarks_json(text);
  else if (status == VYRE_OK)
    status = save_text(o->path, text, *size, error);
  free(text);
  return status;
}

// What is to be said in JSON has its remarks in *remarks instead of in a file.
static vyre_status emit(const options *o, json_t **remarks, size_t *size, vyre_error *error) {
  loaded l;
  vyre_program *made = NULL;
  vyre_compile_options how = {.tier = o->is_quick ? VYRE_TIER_QUICK : VYRE_TIER_FULL,
                              .optimize = o->is_plain ? VYRE_OPTIMIZE_NONE : VYRE_OPTIMIZE_DEFAULT};
  vyre_status status = load_program(o->file, &o->words, &l, error);
  if (status != VYRE_OK) return status;
  status = executable_optimize(l.program, NULL, &how, &made, error);
  if (status == VYRE_OK && o->form < STORED_FORMS)
    status = save_program(made, o->path, stored_forms[o->form].form, size, error);
  else if (status == VYRE_OK)
    status = write_code(made, o, remarks, size, error);
  vyre_program_release(made);
  load_free(&l);
  return status;
}

// ---- the command --------------------------------------------------------------------------------

static bool read_options(const cli *c, int argc, char **argv, options *o) {
  *o = (options){.path = "-"};
  args a = args_begin(c, compile_options, argc, argv);
  a.takes_build = true;
  for (int letter; (letter = args_next(&a)) != ARGS_END;) {
    bool ok = true;
    if (source_take(&o->words, &a, letter, &ok)) {
      if (!ok) return false;
      continue;
    }
    switch (letter) {
    case 'e': o->emit = a.value; break;
    case 'o': o->path = a.value; break;
    case 'w': ok = args_u64(&a, "--width", &o->width); break;
    case 'q': o->is_quick = true; break;
    case 'P': o->is_polled = true; break;
    case 'r':
      o->emit = "remarks";
      o->has_all = true;
      break;
    case 'g': o->has_lines = true; break;
    case 'l': o->wants_list = true; break;
    case 'O': o->is_plain = true; break;
    case ARGS_WORD:
      if (o->file) {
        cli_usage(c, "one program at a time: `%s` is too many", a.value);
        return false;
      }
      o->file = a.value;
      break;
    default: ok = false;
    }
    if (!ok) return false;
  }
  if (o->wants_list) return true;
  if (!o->file || !o->emit) {
    cli_usage(c, "no %s is named. Fix: run `vyre compile FILE --emit=opencl`",
              o->file ? "form" : "program");
    return false;
  }
  if (o->width > 64 || (o->width & (o->width - 1))) {
    cli_usage(c, "--width wants a power of two up to 64, or 0");
    return false;
  }
  return find_form(c, o);
}

static int write_form(const cli *c, const options *o) {
  vyre_error error;
  size_t size = 0;
  json_t *remarks = NULL;
  bool is_told = c->json && is_remarks(o) && !strcmp(o->path, "-");
  if (c->json && !strcmp(o->path, "-") && !is_told)
    return cli_usage(c, "--json and the code cannot both go to standard output. Fix: name a file "
                        "with -o");
  if (emit(o, is_told ? &remarks : NULL, &size, &error) != VYRE_OK) return cli_error(c, &error);
  if (is_told)
    cli_json(json_pack("{s:o, s:o}", "from", cli_text(o->file), "remarks", remarks));
  else if (c->json)
    cli_json(json_pack("{s:o, s:s, s:o, s:I}", "from", cli_text(o->file), "emit", o->emit, "to",
                       cli_text(o->path), "bytes", (json_int_t)size));
  return EXIT_FINE;
}

static int run(cli *c, int argc, char **argv) {
  options o;
  int code = EXIT_USAGE;
  if (read_options(c, argc, argv, &o)) code = o.wants_list ? list_forms(c) : write_form(c, &o);
  source_words_free(&o.words);
  return code;
}

const command compile_command = {
    "compile", "show what a program becomes: OpenCL C, LLVM, assembly",
    "usage: vyre compile FILE[:KERNEL] --emit=FORM [-o OUT] [--json]\n"
    "       vyre compile --list [--json]\n"
    "\n"
    "Writes what a program becomes: after the optimizer's passes, as text or wire, or in a form\n"
    "that a backend offers, such as opencl, llvm and asm. remarks say what was done with each "
    "region: what runs in vectors, what was\n"
    "checked once for many, which rows were jammed, and what was declined and why.\n"
    "\n"
    "options:\n"
    "  -e, --emit FORM       one that --list shows\n"
    "  -l, --list            the forms that there are\n"
    "  -r, --remarks         --emit=remarks, and where ptxas is there --emit=ptx-remarks\n"
    "  -o, --output OUT      where to write; standard output otherwise\n"
    "  -w, --width N         lanes for llvm and asm; 0: as the backend chooses\n"
    "  -q, --quick           as the first, quick compilation does, without passes\n"
    "      --no-opt          the program as it is, without passes\n"
    "  -g, --lines           llvm and asm: with the lines of the program's text\n"
    "      --polled          opencl, spirv, ptx: with the stop flag that time limits need\n"
    "      --json            say what was written, as JSON\n"
    "\n" SOURCE_HELP "\n"
    "examples:\n"
    "  vyre compile saxpy.vyre --emit=opencl\n"
    "  vyre compile saxpy.vyre --remarks\n"
    "  vyre compile saxpy.vyre --emit=asm -o saxpy.s\n",
    run};
