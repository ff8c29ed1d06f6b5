// SPDX-License-Identifier: MIT
//
// What clang and its header define, asked of libclang: an empty source is parsed with a record of
// its preprocessing. So it is what the parse of the user's source will see, of any version.
#include "base/strbuf.h"
#include "front/clang/parse.h"
#include "front/clang/pp.h"
#include "front/clang/preprocess.h"

#include <stdlib.h>
#include <string.h>

// Names that clang answers for in ways of its own; a source that uses one is left to it.
static const char *const foreign[] = {"__COUNTER__",
                                      "__DATE__",
                                      "__TIME__",
                                      "__TIMESTAMP__",
                                      "__INCLUDE_LEVEL__",
                                      "__BASE_FILE__",
                                      "__FILE_NAME__",
                                      "__MODULE__",
                                      "_Pragma",
                                      "__pragma",
                                      "__has_include",
                                      "__has_include_next",
                                      "__has_embed",
                                      "__has_builtin",
                                      "__has_constexpr_builtin",
                                      "__has_feature",
                                      "__has_extension",
                                      "__has_attribute",
                                      "__has_cpp_attribute",
                                      "__has_c_attribute",
                                      "__has_declspec_attribute",
                                      "__has_warning",
                                      "__building_module",
                                      "__is_identifier",
                                      "__is_target_arch",
                                      "__is_target_vendor",
                                      "__is_target_os",
                                      "__is_target_environment",
                                      "__is_target_variant_os",
                                      "__is_target_variant_environment",
                                      "__FLT_EVAL_METHOD__",
                                      "__VA_OPT__"};

typedef struct collecting {
  CXTranslationUnit tu;
  strbuf text; // a line per macro, behind #define
} collecting;

static enum CXChildVisitResult collect(CXCursor cursor, CXCursor parent, CXClientData data) {
  (void)parent;
  collecting *c = data;
  if (clang_getCursorKind(cursor) != CXCursor_MacroDefinition) return CXChildVisit_Continue;
  CXToken *tokens = NULL;
  unsigned count = 0;
  clang_tokenize(c->tu, clang_getCursorExtent(cursor), &tokens, &count);
  for (unsigned i = 0; i < count; i++) {
    bool is_adjacent = i == 0 || (i == 1 && clang_Cursor_isMacroFunctionLike(cursor));
    CXString word = clang_getTokenSpelling(c->tu, tokens[i]);
    if (!is_adjacent) strbuf_putc(&c->text, ' ');
    strbuf_puts(&c->text, clang_getCString(word));
    clang_disposeString(word);
  }
  if (count) strbuf_putc(&c->text, '\n');
  clang_disposeTokens(c->tu, tokens, count);
  return CXChildVisit_Continue;
}

static void define_lines(pp *p, const char *text) {
  for (const char *end; (end = strchr(text, '\n')); text = end + 1)
    pp_define(p, text, (size_t)(end - text));
}

// "#undef NAME" lines.
static void undefine_lines(pp *p, const char *text) {
  static const char word[] = "#undef ";
  for (const char *end; (end = strchr(text, '\n')); text = end + 1)
    pp_undefine(p, text + strlen(word), (size_t)(end - text) - strlen(word));
}

// What undefines is in no record: what is defined in spite of it is clang's to say. Its header
// undefines by macros that begin with __undef.
static void check_options(pp *p) {
  for (uint32_t i = 0; i < p->u->user_count; i++) {
    const char *word = p->u->user_args[i];
    if (!strncmp(word, "-D__undef", 9)) pp_give_up(p);
    if (!strncmp(word, "-U", 2) && pp_find(p, word + 2, strlen(word + 2))) pp_give_up(p);
  }
}

void pp_define_known(pp *p) {
  collecting c = {.tu = parse_nothing(p->u)};
  if (!c.tu) pp_give_up(p);
  clang_visitChildren(clang_getTranslationUnitCursor(c.tu), collect, &c);
  clang_disposeTranslationUnit(c.tu);
  size_t size = 0;
  char *text = strbuf_take(&c.text, &size);
  const char *kept = text ? arena_copy_string(&p->u->arena, text, size) : NULL;
  free(text);
  if (!kept) unit_fail_memory(p->u);
  define_lines(p, kept);
  undefine_lines(p, preprocess_absent);
  check_options(p);
  for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
    pp_set_meaning(p, foreign[i], PP_FOREIGN);
  pp_set_meaning(p, "__LINE__", PP_LINE);
  pp_set_meaning(p, "__FILE__", PP_FILE);
}
