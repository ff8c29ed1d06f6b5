// SPDX-License-Identifier: MIT
//
// DWARF lines, so that debuggers and profilers show the source of a kernel: one function per
// region, and for each operation the line that it came from.
#include "backend/cpu/codegen/emit.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

enum { DWARF_VERSION = 4 };

static void add_flag(unit *u, const char *name, unsigned value) {
  LLVMMetadataRef number = LLVMValueAsMetadata(LLVMConstInt(u->i32, value, false));
  LLVMAddModuleFlag(u->module, LLVMModuleFlagBehaviorWarning, name, strlen(name), number);
}

void debug_open(unit *u) {
  if (!u->options->debug_lines || !u->p->lines || !u->p->places) return;
  const char *name = u->options->source_name ? u->options->source_name : u->p->name;
  static const char maker[] = "vyre";
  char folder[PATH_MAX]; // what a debugger looks for a relative name in
  if (!getcwd(folder, sizeof folder)) strcpy(folder, ".");
  add_flag(u, "Debug Info Version", LLVMDebugMetadataVersion());
  add_flag(u, "Dwarf Version", DWARF_VERSION);
  u->debug = LLVMCreateDIBuilder(u->module);
  u->file = LLVMDIBuilderCreateFile(u->debug, name, strlen(name), folder, strlen(folder));
  LLVMDIBuilderCreateCompileUnit(u->debug, LLVMDWARFSourceLanguageC99, u->file, maker,
                                 sizeof maker - 1, true, "", 0, 0, "", 0,
                                 LLVMDWARFEmissionLineTablesOnly, 0, false, false, "", 0, "", 0);
}

void debug_close(unit *u) {
  if (!u->debug) return;
  LLVMDIBuilderFinalize(u->debug);
  LLVMDisposeDIBuilder(u->debug);
  u->debug = NULL;
}

// The first operation of the body that has a place.
static unsigned first_line(const kernel *k) {
  uint32_t line = 0;
  for (uint32_t i = k->region->body.first; i < k->region->body.end && !line; i++)
    line = program_line(k->p, i, NULL);
  return line ? line : 1;
}

void debug_function(kernel *k, const char *symbol) {
  unit *u = k->u;
  if (!u->debug) return;
  unsigned line = first_line(k);
  LLVMMetadataRef type =
      LLVMDIBuilderCreateSubroutineType(u->debug, u->file, NULL, 0, LLVMDIFlagZero);
  k->subprogram = LLVMDIBuilderCreateFunction(
      u->debug, u->file, k->region->name, strlen(k->region->name), symbol, strlen(symbol), u->file,
      line, type, false, true, line, LLVMDIFlagZero, true);
  LLVMSetSubprogram(k->function, k->subprogram);
}

void debug_at(const emitter *e, uint32_t i) {
  uint32_t column, line = e->u->debug ? program_line(e->p, i, &column) : 0;
  if (!line) return;
  LLVMMetadataRef at =
      LLVMDIBuilderCreateDebugLocation(e->u->context, line, column, e->k->subprogram, NULL);
  LLVMSetCurrentDebugLocation2(e->b, at);
}
