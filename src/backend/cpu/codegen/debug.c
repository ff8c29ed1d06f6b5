// SPDX-License-Identifier: MIT
//
// DWARF lines, so that debuggers and profilers show the source of a kernel: one function per
// region, and for each operation the line that it came from.
#include "backend/cpu/codegen/emit.h"

#include <string.h>

enum { DWARF_VERSION = 4 };

static void add_flag(unit *u, const char *name, unsigned value) {
  LLVMMetadataRef number = LLVMValueAsMetadata(LLVMConstInt(u->i32, value, false));
  LLVMAddModuleFlag(u->module, LLVMModuleFlagBehaviorWarning, name, strlen(name), number);
}

void debug_open(unit *u) {
  if (!u->options->debug_lines || !u->p->lines || !u->p->places) return;
  const char *name = u->options->source_name ? u->options->source_name : u->p->name;
  static const char maker[] = "vyre";
  add_flag(u, "Debug Info Version", LLVMDebugMetadataVersion());
  add_flag(u, "Dwarf Version", DWARF_VERSION);
  u->debug = LLVMCreateDIBuilder(u->module);
  u->file = LLVMDIBuilderCreateFile(u->debug, name, strlen(name), ".", 1);
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

// Line and column of a byte of the source, from 1.
static unsigned line_of(const vyre_program *p, uint32_t offset, unsigned *column) {
  uint32_t low = 0, high = p->line_count;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (p->lines[middle] <= offset)
      low = middle;
    else
      high = middle;
  }
  *column = offset - p->lines[low] + 1;
  return low + 1;
}

// The first operation of the body that has a place.
static unsigned first_line(const kernel *k) {
  unsigned column;
  for (uint32_t i = k->region->body.first; i < k->region->body.end; i++)
    if (k->p->places[i].offset) return line_of(k->p, k->p->places[i].offset - 1, &column);
  return 1;
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
  if (!e->u->debug || !e->p->places[i].offset) return;
  unsigned column, line = line_of(e->p, e->p->places[i].offset - 1, &column);
  LLVMMetadataRef at =
      LLVMDIBuilderCreateDebugLocation(e->u->context, line, column, e->k->subprogram, NULL);
  LLVMSetCurrentDebugLocation2(e->b, at);
}
