// SPDX-License-Identifier: MIT
#include "backend/cpu/compile.h"
#include "backend/opencl/emit.h"
#include "base/error.h"
#include "cli/args.h"
#include "cli/load.h"
#include "cli/nearest.h"
#include "cli/save.h"
#include "ir/math.h"

#include <stdlib.h>
#include <string.h>

typedef struct options {
  const char *file, *path, *emit;
  uint64_t width;
  bool is_quick, is_polled, has_lines;
  opencl_words words;
} options;

static const args_option compile_options[] = {
    {'e', "emit", "text, wire, opencl, llvm, asm or remarks"},
    {'o', "output", "a file"},
    {'w', "width", "a number of lanes"},
    {'q', "quick", NULL},
    {'P', "polled", NULL},
    {'r', "remarks", NULL},
    {'g', "lines", NULL},
    OPENCL_WORKGROUP_OPTION,
    {0, NULL, NULL},
};

// ---- forms --------------------------------------------------------------------------------------

static vyre_status emit_opencl(const vyre_program *p, const options *o, char **text, size_t *size,
                               vyre_error *error) {
  opencl_source source;
  vyre_status status = opencl_emit(p, &opencl_full_target, o->is_polled, &source, error);
  if (status != VYRE_OK) return status;
  *text = source.text;
  *size = source.size;
  source.text = NULL;
  opencl_source_fini(&source);
  return VYRE_OK;
}

static vyre_status emit_cpu(const vyre_program *p, const options *o, char **text, size_t *size,
                            vyre_error *error) {
  const cpu_codegen *codegen;
  bool is_llvm = !strcmp(o->emit, "llvm");
  cpu_options wanted = {.width = (uint32_t)o->width,
                        .tier = o->is_quick ? VYRE_TIER_QUICK : VYRE_TIER_FULL,
                        .want_llvm = is_llvm,
                        .want_asm = !strcmp(o->emit, "asm"),
                        .debug_lines = o->has_lines,
                        .source_name = o->file};
  cpu_code code = {0};
  vyre_status status = cpu_codegen_get(&codegen, error);
  if (status == VYRE_OK) status = codegen->compile(p, &wanted, &code, error);
  if (status != VYRE_OK) return status;
  char **made = is_llvm ? &code.llvm : !strcmp(o->emit, "asm") ? &code.assembly : &code.remarks;
  *text = *made;
  *made = NULL;
  *size = *text ? strlen(*text) : 0;
  cpu_code_free(&code);
  return *text ? VYRE_OK : error_out_of_memory(error);
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

// What is to be said in JSON has its remarks in *remarks instead of in a file.
static vyre_status emit(const options *o, json_t **remarks, size_t *size, vyre_error *error) {
  loaded l;
  vyre_program *expanded = NULL;
  char *text = NULL;
  vyre_status status = load_program(o->file, &o->words, &l, error);
  if (status != VYRE_OK) return status;
  if (!strcmp(o->emit, "text") || !strcmp(o->emit, "wire")) {
    save_form form = o->emit[0] == 't' ? SAVE_TEXT : SAVE_WIRE;
    status = save_program(l.program, o->path, form, size, error);
  } else {
    status = math_expand(l.program, &expanded, error);
    if (status == VYRE_OK)
      status = !strcmp(o->emit, "opencl") ? emit_opencl(expanded, o, &text, size, error)
                                          : emit_cpu(expanded, o, &text, size, error);
    if (status == VYRE_OK && remarks)
      *remarks = remarks_json(text);
    else if (status == VYRE_OK)
      status = save_text(o->path, text, *size, error);
  }
  free(text);
  vyre_program_release(expanded);
  load_free(&l);
  return status;
}

// ---- the command --------------------------------------------------------------------------------

static bool check_form(const cli *c, const char *form) {
  static const char *const forms[] = {"text", "wire", "opencl", "llvm", "asm", "remarks"};
  nearest n = nearest_begin(form);
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    if (!strcmp(form, forms[i])) return true;
    nearest_offer(&n, forms[i]);
  }
  cli_usage(c, "`%s` is not a form that can be emitted. Fix: %s%s%s", form,
            n.best ? "did you mean `" : "use text, wire, opencl, llvm, asm or remarks",
            n.best ? n.best : "", n.best ? "`?" : "");
  return false;
}

static bool read_options(const cli *c, int argc, char **argv, options *o) {
  *o = (options){.path = "-"};
  args a = args_begin(c, compile_options, argc, argv);
  a.takes_build = true;
  for (int letter; (letter = args_next(&a)) != ARGS_END;) {
    bool ok = true;
    if (opencl_take(&o->words, &a, letter, &ok)) {
      if (!ok) return false;
      continue;
    }
    switch (letter) {
    case 'e': o->emit = a.value; break;
    case 'o': o->path = a.value; break;
    case 'w': ok = args_u64(&a, "--width", &o->width); break;
    case 'q': o->is_quick = true; break;
    case 'P': o->is_polled = true; break;
    case 'r': o->emit = "remarks"; break;
    case 'g': o->has_lines = true; break;
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
  if (!o->file || !o->emit) {
    cli_usage(c, "no %s is named. Fix: run `vyre compile FILE --emit=opencl`",
              o->file ? "form" : "program");
    return false;
  }
  if (o->width > 64) {
    cli_usage(c, "--width wants 0 to 64");
    return false;
  }
  return check_form(c, o->emit);
}

static int write_form(const cli *c, const options *o) {
  vyre_error error;
  size_t size = 0;
  json_t *remarks = NULL;
  bool is_told = c->json && !strcmp(o->emit, "remarks") && !strcmp(o->path, "-");
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
  int code = read_options(c, argc, argv, &o) ? write_form(c, &o) : EXIT_USAGE;
  opencl_free(&o.words);
  return code;
}

const command compile_command = {
    "compile", "show what a program becomes: OpenCL C, LLVM, assembly",
    "usage: vyre compile FILE[:KERNEL] --emit=text|wire|opencl|llvm|asm|remarks [-o OUT] [--json]\n"
    "\n"
    "Writes a program in another form. opencl is the OpenCL C that the opencl backend gives to a\n"
    "driver, for a device that has everything; llvm and asm are what the cpu backend makes for\n"
    "this machine, and remarks say what it did with each region: what runs in vectors, what was\n"
    "checked once for many, which rows were jammed, and what was declined and why.\n"
    "\n"
    "options:\n"
    "  -e, --emit FORM       text, wire, opencl, llvm, asm or remarks\n"
    "  -r, --remarks         the same as --emit=remarks\n"
    "  -o, --output OUT      where to write; standard output otherwise\n"
    "  -w, --width N         lanes for llvm and asm; 0: as the backend chooses\n"
    "  -q, --quick           as the first, quick compilation does\n"
    "  -g, --lines           llvm and asm: with the lines of the program's text\n"
    "      --polled          opencl: with the stop flag that time limits need\n"
    "      --json            say what was written, as JSON\n"
    "\n" OPENCL_HELP "\n"
    "examples:\n"
    "  vyre compile saxpy.vyre --emit=opencl\n"
    "  vyre compile saxpy.vyre --remarks\n"
    "  vyre compile saxpy.vyre --emit=asm -o saxpy.s\n",
    run};
