// SPDX-License-Identifier: MIT
#include "front/clang/parse.h"

#include "base/error.h"
#include "front/clang/guard.h"
#include "front/clang/intel.h"
#include "front/clang/preprocess.h"
#include "front/clang/resource.h"
#include "front/clang/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What both parses share. The header is named by its path: a user's folder may have one of its
// name.
static const char *const shared_args[] = {"-x",
                                          "cl",
                                          "-target",
                                          "spir64-unknown-unknown",
                                          "-w",
                                          "-ferror-limit=0",
                                          "-cl-no-stdinc",
                                          "-Xclang",
                                          "-fdeclare-opencl-builtins"};
enum { SHARED_ARGS = sizeof shared_args / sizeof *shared_args };

// A file that only exists here, read after clang's header: half is a type also where the source
// does not ask for it.
#define HEAD_NAME "/vyre-head.h"
#define HEAD      "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"

static const char **parse_args(unit *u, const char *const *more, uint32_t more_count,
                               bool all_of_user, bool has_head, uint32_t *count) {
  uint32_t capacity = 0;
  const char **args = NULL;
  *count = 0;
  for (int i = 0; i < SHARED_ARGS; i++) UNIT_PUSH(u, args, *count, capacity, shared_args[i]);
  UNIT_PUSH(u, args, *count, capacity, "-resource-dir");
  UNIT_PUSH(u, args, *count, capacity, resource_folder(u));
  UNIT_PUSH(u, args, *count, capacity, "-include");
  UNIT_PUSH(u, args, *count, capacity, resource_header(u));
  if (has_head) UNIT_PUSH(u, args, *count, capacity, "-include");
  if (has_head) UNIT_PUSH(u, args, *count, capacity, HEAD_NAME);
  for (uint32_t i = 0; intel_macros[i]; i++) UNIT_PUSH(u, args, *count, capacity, intel_macros[i]);
  UNIT_PUSH(u, args, *count, capacity, u->standard);
  for (uint32_t i = 0; i < more_count; i++) UNIT_PUSH(u, args, *count, capacity, more[i]);
  for (uint32_t i = 0; i < u->user_count; i++)
    if (all_of_user || !strncmp(u->user_args[i], "-cl-", 4))
      UNIT_PUSH(u, args, *count, capacity, u->user_args[i]);
  return args;
}

static CXTranslationUnit parse_text(unit *u, const char *name, const char *text, size_t size,
                                    const char *const *args, uint32_t count) {
  if (!u->index) u->index = clang_createIndex(0, 0);
  const char *head = unit_printf(u, HEAD "%s", intel_declarations(u));
  struct CXUnsavedFile files[] = {{name, text, size}, {HEAD_NAME, head, strlen(head)}};
  CXTranslationUnit tu = NULL;
  enum CXErrorCode code =
      clang_parseTranslationUnit2(u->index, name, args, (int)count, files, 2, 0, &tu);
  if (code == CXError_Crashed)
    unit_fail(u, VYRE_ERROR_BACKEND, NO_PLACE,
              "libclang crashed on `%s`. Fix: this is a fault of clang; change the source, or try "
              "another version of clang 19",
              u->source.name);
  if (code != CXError_Success || !tu)
    unit_fail(u, VYRE_ERROR_BACKEND, NO_PLACE,
              "libclang could not read `%s` (code %d). Fix: check the build options",
              u->source.name, (int)code);
  return tu;
}

CXTranslationUnit parse_nothing(unit *u) {
  const char *const more[] = {preprocess_version(u)};
  uint32_t count;
  const char **args = parse_args(u, more, sizeof more / sizeof *more, true, false, &count);
  if (!u->index) u->index = clang_createIndex(0, 0);
  struct CXUnsavedFile nothing = {"nothing.cl", "", 0};
  CXTranslationUnit tu = NULL;
  clang_parseTranslationUnit2(u->index, nothing.Filename, args, (int)count, &nothing, 1,
                              CXTranslationUnit_DetailedPreprocessingRecord, &tu);
  return tu;
}

static uint32_t count_errors(CXTranslationUnit tu) {
  unsigned count = clang_getNumDiagnostics(tu);
  uint32_t errors = 0;
  for (unsigned i = 0; i < count; i++) {
    CXDiagnostic d = clang_getDiagnostic(tu, i);
    errors += clang_getDiagnosticSeverity(d) >= CXDiagnostic_Error;
    clang_disposeDiagnostic(d);
  }
  return errors;
}

// ---- clang's messages ---------------------------------------------------------------------------

// What clang itself proposes, or advice for what is common.
static const char *fix_of(unit *u, CXDiagnostic d, const char *message) {
  if (clang_getDiagnosticNumFixIts(d) > 0) {
    CXSourceRange range;
    const char *text = unit_string(u, clang_getDiagnosticFixIt(d, 0, &range));
    if (*text) return unit_printf(u, "write `%.80s` there", text);
  }
  if (strstr(message, "file not found")) return "pass -I with the folder that holds it";
  if (strstr(message, "recursi")) return "write the recursion as a loop";
  return "correct the source; the message is clang's";
}

static void report(unit *u, CXDiagnostic d) {
  const char *message = unit_string(u, clang_getDiagnosticSpelling(d));
  const char *fix = fix_of(u, d, message);
  CXFile file;
  unsigned line = 0, column = 0;
  clang_getExpansionLocation(clang_getDiagnosticLocation(d), &file, &line, &column, NULL);
  const char *name = file ? unit_string(u, clang_getFileName(file)) : "";
  error_set(u->error, VYRE_ERROR_SYNTAX, "%.400s. Fix: %s", message, fix);
  if (!line) return;
  source_place_line(u, name, line, column);
}

// Parses the source as the user wrote it, so that places are the user's own; only ever done to find
// words for a mistake.
static bool explain(unit *u) {
  const char *const more[] = {preprocess_version(u)};
  uint32_t count;
  const char **args = parse_args(u, more, sizeof more / sizeof *more, true, true, &count);
  CXTranslationUnit tu = parse_text(u, u->source.name, u->source.text, u->source.size, args, count);
  bool found = false;
  unsigned diagnostics = clang_getNumDiagnostics(tu);
  for (unsigned i = 0; i < diagnostics && !found; i++) {
    CXDiagnostic d = clang_getDiagnostic(tu, i);
    found = clang_getDiagnosticSeverity(d) >= CXDiagnostic_Error;
    if (found) report(u, d);
    clang_disposeDiagnostic(d);
  }
  clang_disposeTranslationUnit(tu);
  return found;
}

// ---- the standards ------------------------------------------------------------------------------

static void forget(unit *u) {
  if (u->tu) clang_disposeTranslationUnit(u->tu);
  free(u->text);
  u->tu = NULL;
  u->text = NULL;
  u->marks = NULL;
  u->mark_count = 0;
}

// The number of errors; UINT32_MAX when the source cannot even be preprocessed.
static uint32_t try_standard(unit *u, const char *standard, const char **said) {
  forget(u);
  u->standard = standard;
  if (!preprocess(u, said)) return UINT32_MAX;
  guard_nesting(u);
  uint32_t count;
  const char **args = parse_args(u, NULL, 0, false, true, &count);
  u->tu = parse_text(u, "preprocessed.cl", u->text, u->size, args, count);
  return count_errors(u->tu);
}

// What clang said about the preprocessed text, when it finds nothing wrong with the source itself.
static void report_preprocessed(unit *u) {
  unsigned count = u->tu ? clang_getNumDiagnostics(u->tu) : 0;
  for (unsigned i = 0; i < count; i++) {
    CXDiagnostic d = clang_getDiagnostic(u->tu, i);
    bool is_error = clang_getDiagnosticSeverity(d) >= CXDiagnostic_Error;
    unsigned offset = 0;
    clang_getFileLocation(clang_getDiagnosticLocation(d), NULL, NULL, NULL, &offset);
    const char *message = is_error ? unit_string(u, clang_getDiagnosticSpelling(d)) : "";
    clang_disposeDiagnostic(d);
    if (is_error)
      unit_fail(u, VYRE_ERROR_SYNTAX, offset,
                "%.400s. Fix: correct the source; the message is clang's", message);
  }
}

// A source in a later language is full of errors in an earlier one, so that the mistake to tell
// about is one of the standard that finds the fewest.
static void choose_standard(unit *u, const char *const *standards, uint32_t count) {
  uint32_t fewest = UINT32_MAX, best = 0;
  const char *said = "", *said_best = "";
  for (uint32_t i = 0; i < count; i++) {
    uint32_t errors = try_standard(u, standards[i], &said);
    if (!errors) return;
    if (i == 0 || errors < fewest) {
      fewest = errors;
      best = i;
      said_best = said;
    }
  }
  if (u->standard != standards[best]) try_standard(u, standards[best], &said_best);
  if (explain(u)) unit_bail(u);
  report_preprocessed(u);
  unit_fail(u, VYRE_ERROR_SYNTAX, NO_PLACE, "clang refuses `%s`: %.300s. Fix: correct the source",
            u->source.name, *said_best ? said_best : "no reason given");
}

// A source with words that begin so is hardly OpenCL C 1.2: that is tried second then, which saves
// reading most of these twice.
static bool has_later_words(const unit *u) {
  static const char *const words[] = {
      "memory_order_",        "memory_scope_",        "work_group_reduce_", "work_group_scan_",
      "work_group_barrier",   "work_group_broadcast", "work_group_all",     "work_group_any",
      "get_global_linear_id", "get_local_linear_id",  "atomic_fetch_",      "atomic_load",
      "atomic_store",         "atomic_compare_exch",  "atomic_init",        "sub_group_",
  };
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (memmem(u->source.text, u->source.size, words[i], strlen(words[i]))) return true;
  return false;
}

void parse_source(unit *u, const char *build_options) {
  static const char *const first[] = {"-cl-std=CL1.2", "-cl-std=CL2.0", "-cl-std=CL3.0"};
  static const char *const later[] = {"-cl-std=CL2.0", "-cl-std=CL1.2", "-cl-std=CL3.0"};
  preprocess_options(u, build_options);
  const char *wanted = u->standard;
  if (wanted)
    choose_standard(u, &wanted, 1);
  else
    choose_standard(u, has_later_words(u) ? later : first, 3);
  u->has_teams = strstr(u->text, "sub_group_") != NULL;
}
