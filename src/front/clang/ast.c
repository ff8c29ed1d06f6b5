// SPDX-License-Identifier: MIT
//
// Functions and declarations of the tree, and what the other files of the tree builder share.
#include "front/clang/ast.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Far more than anybody writes; clang itself stops at 256 brackets.
enum { MOST_DEPTH = 4000 };

typedef struct decl_entry {
  decl *decl;
  CXCursor cursor;
} decl_entry;

// ---- cursors ------------------------------------------------------------------------------------

static enum CXChildVisitResult keep(CXCursor cursor, CXCursor parent, CXClientData data) {
  (void)parent;
  ast *a = data;
  if (a->scratch_count == a->scratch_capacity) {
    uint32_t wanted = a->scratch_capacity ? a->scratch_capacity * 2 : 64;
    CXCursor *grown = realloc(a->scratch, wanted * sizeof *grown);
    if (!grown) {
      a->scratch_count = UINT32_MAX;
      return CXChildVisit_Break;
    }
    a->scratch = grown;
    a->scratch_capacity = wanted;
  }
  a->scratch[a->scratch_count++] = cursor;
  return CXChildVisit_Continue;
}

cursors ast_kids(unit *u, CXCursor cursor) {
  ast *a = u->ast;
  a->scratch_count = 0;
  clang_visitChildren(cursor, keep, a);
  if (a->scratch_count == UINT32_MAX) unit_fail_memory(u);
  cursors kids = {UNIT_ARRAY(u, a->scratch_count, CXCursor), a->scratch_count};
  if (kids.count) memcpy(kids.at, a->scratch, kids.count * sizeof *kids.at);
  return kids;
}

void ast_extent(CXCursor cursor, uint32_t *first, uint32_t *end) {
  CXSourceRange range = clang_getCursorExtent(cursor);
  unsigned a = 0, b = 0;
  clang_getFileLocation(clang_getRangeStart(range), NULL, NULL, NULL, &a);
  clang_getFileLocation(clang_getRangeEnd(range), NULL, NULL, NULL, &b);
  *first = a;
  *end = b;
}

static uint32_t place_of(CXCursor cursor) {
  unsigned offset = 0;
  clang_getFileLocation(clang_getCursorLocation(cursor), NULL, NULL, NULL, &offset);
  return offset;
}

void ast_refuse(unit *u, CXCursor cursor, const char *what, const char *fix) {
  unit_fail(u, VYRE_ERROR_UNSUPPORTED, place_of(cursor), "%s is not supported. Fix: %s", what, fix);
}

void ast_enter(unit *u, CXCursor cursor) {
  if (++u->ast->depth > MOST_DEPTH)
    unit_fail(u, VYRE_ERROR_LIMIT, place_of(cursor),
              "the code is nested more than %d deep. Fix: split the expression or the statement",
              MOST_DEPTH);
}

void ast_leave(unit *u) {
  u->ast->depth--;
}

node *ast_node(unit *u, node_kind kind, CXCursor cursor, uint32_t kid_count) {
  node *n = UNIT_NEW(u, node);
  n->kind = (uint8_t)kind;
  n->offset = place_of(cursor);
  n->count = kid_count;
  n->kid = kid_count ? UNIT_ARRAY(u, kid_count, node *) : NULL;
  return n;
}

// ---- declarations -------------------------------------------------------------------------------

static decl_entry *decl_slot(decl_entry *table, uint32_t capacity, CXCursor cursor) {
  uint32_t at = clang_hashCursor(cursor) & (capacity - 1);
  while (table[at].decl && !clang_equalCursors(table[at].cursor, cursor))
    at = (at + 1) & (capacity - 1);
  return &table[at];
}

static void grow_decls(unit *u) {
  ast *a = u->ast;
  uint32_t capacity = a->decl_capacity ? a->decl_capacity * 2 : 256;
  decl_entry *table = UNIT_ARRAY(u, capacity, decl_entry);
  for (uint32_t i = 0; i < a->decl_capacity; i++)
    if (a->decls[i].decl) *decl_slot(table, capacity, a->decls[i].cursor) = a->decls[i];
  a->decls = table;
  a->decl_capacity = capacity;
}

// The space of an object is found on its type, or on the elements of an array.
static void read_qualifiers(decl *d, CXType type) {
  unsigned space = 0;
  bool is_const = false;
  for (CXType t = clang_getCanonicalType(type);; t = clang_getCanonicalType(t)) {
    if (!space) space = clang_getAddressSpace(t);
    is_const |= clang_isConstQualifiedType(t) != 0;
    if (t.kind != CXType_ConstantArray && t.kind != CXType_IncompleteArray) break;
    t = clang_getArrayElementType(t);
  }
  d->space = space_of_number(space);
  d->is_const = is_const;
}

static bool is_at_file_scope(CXCursor cursor) {
  return clang_getCursorKind(clang_getCursorSemanticParent(cursor)) == CXCursor_TranslationUnit;
}

decl *ast_decl(unit *u, CXCursor cursor) {
  ast *a = u->ast;
  if (2 * a->decl_count >= a->decl_capacity) grow_decls(u);
  decl_entry *slot = decl_slot(a->decls, a->decl_capacity, cursor);
  if (slot->decl) return slot->decl;
  decl *d = UNIT_NEW(u, decl);
  *slot = (decl_entry){d, cursor};
  a->decl_count++;
  CXType type = clang_getCursorType(cursor);
  d->offset = place_of(cursor);
  d->name = unit_string(u, clang_getCursorSpelling(cursor));
  d->type = type_of(u, type, d->offset);
  d->is_param = clang_getCursorKind(cursor) == CXCursor_ParmDecl;
  d->is_file = is_at_file_scope(cursor);
  read_qualifiers(d, type);
  if (d->is_param && d->type->kind == T_ARRAY) { // libclang shows it as it was written
    d->type = type_pointer(u, d->type->element, d->space, d->is_const);
    d->space = SPACE_PRIVATE;
  }
  CXCursor init = d->is_param ? clang_getNullCursor() : clang_Cursor_getVarDeclInitializer(cursor);
  if (!clang_Cursor_isNull(init)) d->init = ast_expr(u, init);
  return d;
}

// ---- functions ----------------------------------------------------------------------------------

static void read_sizes(const char *text, const char *name, uint32_t sizes[3]) {
  const char *at = strstr(text, name);
  unsigned x, y, z;
  if (!at || sscanf(at + strlen(name), "(%u, %u, %u)", &x, &y, &z) != 3) return;
  sizes[0] = x;
  sizes[1] = y;
  sizes[2] = z;
}

static const char *read_vector(unit *u, const char *text) {
  static const char name[] = "vec_type_hint(";
  const char *at = strstr(text, name);
  if (!at) return NULL;
  at += strlen(name);
  return unit_printf(u, "%.*s", (int)strcspn(at, ")"), at);
}

// __attribute__((reqd_work_group_size(16, 4, 1))): the values are only found in clang's printing.
static void read_workgroup(unit *u, function *f) {
  CXPrintingPolicy policy = clang_getCursorPrintingPolicy(f->cursor);
  clang_PrintingPolicy_setProperty(policy, CXPrintingPolicy_TerseOutput, 1);
  const char *text = unit_string(u, clang_getCursorPrettyPrinted(f->cursor, policy));
  clang_PrintingPolicy_dispose(policy);
  read_sizes(text, "reqd_work_group_size", f->workgroup);
  read_sizes(text, "work_group_size_hint", f->hint);
  f->vector = read_vector(u, text);
  static const char name[] = "intel_reqd_sub_group_size(";
  const char *at = strstr(text, name);
  if (at) f->subgroup = (uint32_t)strtoul(at + strlen(name), NULL, 10);
}

static void read_attributes(unit *u, function *f) {
  cursors kids = ast_kids(u, f->cursor);
  bool has_others = false;
  for (uint32_t i = 0; i < kids.count; i++) {
    if (!clang_isAttribute(clang_getCursorKind(kids.at[i]))) continue;
    if (clang_getCursorKind(kids.at[i]) == CXCursor_AnnotateAttr) {
      const char *said = unit_string(u, clang_getCursorSpelling(kids.at[i]));
      if (!strncmp(said, "grid(", 5)) f->grid = said;
    }
    uint32_t first, end;
    ast_extent(kids.at[i], &first, &end);
    const char *text = u->text + first;
    if (end > first && end <= u->size &&
        (!strncmp(text, "__kernel", 8) || !strncmp(text, "kernel", 6)))
      f->is_kernel = true;
    else
      has_others = true;
  }
  if (f->is_kernel && has_others) read_workgroup(u, f);
}

void ast_init(unit *u) {
  ast *a = u->ast = UNIT_NEW(u, ast);
  cursors top = ast_kids(u, clang_getTranslationUnitCursor(u->tu));
  for (uint32_t i = 0; i < top.count; i++) {
    if (clang_getCursorKind(top.at[i]) != CXCursor_FunctionDecl ||
        !clang_isCursorDefinition(top.at[i]))
      continue;
    function *f = UNIT_NEW(u, function);
    f->cursor = top.at[i];
    f->name = unit_string(u, clang_getCursorSpelling(f->cursor));
    f->offset = place_of(f->cursor);
    read_attributes(u, f);
    UNIT_PUSH(u, a->functions, a->function_count, a->function_capacity, f);
  }
}

void ast_fini(unit *u) {
  if (u->ast) free(u->ast->scratch);
  u->ast = NULL;
}

void ast_params(unit *u, function *f) {
  if (f->params) return;
  int count = clang_Cursor_getNumArguments(f->cursor);
  f->param_count = count > 0 ? (uint32_t)count : 0;
  f->params = UNIT_ARRAY(u, f->param_count + 1, decl *);
  for (uint32_t i = 0; i < f->param_count; i++)
    f->params[i] = ast_decl(u, clang_Cursor_getArgument(f->cursor, i));
}

void ast_function(unit *u, function *f) {
  if (f->is_built) return;
  f->is_built = true;
  CXType type = clang_getCursorType(f->cursor);
  f->result = type_of(u, clang_getResultType(type), f->offset);
  if (clang_isFunctionTypeVariadic(type))
    ast_refuse(u, f->cursor, "a function with a variable number of arguments",
               "give it a fixed list");
  ast_params(u, f);
  cursors kids = ast_kids(u, f->cursor);
  for (uint32_t i = 0; i < kids.count; i++)
    if (clang_getCursorKind(kids.at[i]) == CXCursor_CompoundStmt) f->body = ast_stmt(u, kids.at[i]);
  if (f->body) ast_structure(u, f->body);
}

const char *ast_free_name(unit *u, const function *f, const char *name) {
  for (uint32_t i = 0; i < f->param_count; i++)
    if (!strcmp(f->params[i]->name, name)) return ast_free_name(u, f, unit_printf(u, "%s_", name));
  return name;
}

const char *ast_param_name(unit *u, const function *f, uint32_t i) {
  const char *name = f->params[i]->name;
  return *name ? name : ast_free_name(u, f, unit_printf(u, "arg%u", i));
}
