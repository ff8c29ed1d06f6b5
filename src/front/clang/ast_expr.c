// SPDX-License-Identifier: MIT
//
// Expressions. What libclang does not expose is recovered from the types on both sides of a cursor
// and from the text between its extent and that of its child: the text is preprocessed, so extents
// are exact.
#include "front/clang/ast.h"

#include "base/half.h"

#include <string.h>

// ---- children -----------------------------------------------------------------------------------

// Child expressions: without the references to types and fields that libclang shows among them.
static cursors operands(unit *u, CXCursor cursor) {
  cursors kids = ast_kids(u, cursor);
  uint32_t count = 0;
  for (uint32_t i = 0; i < kids.count; i++) {
    enum CXCursorKind kind = clang_getCursorKind(kids.at[i]);
    if (!clang_isReference(kind) && !clang_isAttribute(kind) && !clang_isDeclaration(kind))
      kids.at[count++] = kids.at[i];
  }
  kids.count = count;
  return kids;
}

static node *with_operands(unit *u, node_kind kind, CXCursor cursor, uint32_t wanted) {
  cursors kids = operands(u, cursor);
  if (kids.count != wanted)
    ast_refuse(u, cursor, "an expression of unknown shape", "write it in a simpler way");
  node *n = ast_node(u, kind, cursor, wanted);
  n->type = type_of(u, clang_getCursorType(cursor), n->offset);
  for (uint32_t i = 0; i < wanted; i++) n->kid[i] = ast_expr(u, kids.at[i]);
  return n;
}

static node *leaf_node(unit *u, node_kind kind, CXCursor cursor) {
  node *n = ast_node(u, kind, cursor, 0);
  n->type = type_of(u, clang_getCursorType(cursor), n->offset);
  return n;
}

// What is computed from a parameter that is written as an array is shown as one; it is a pointer.
static node *undecayed(node *n) {
  for (uint32_t i = n->count; i-- > 0 && n->type->kind == T_ARRAY;)
    if (n->kid[i]->type->kind == T_POINTER) n->type = n->kid[i]->type;
  return n;
}

node *ast_skip_casts(node *n) {
  while (n && n->kind == N_CAST) n = n->kid[0];
  return n;
}

// ---- literals and names -------------------------------------------------------------------------

static node *evaluated(unit *u, CXCursor cursor) {
  node *n = leaf_node(u, N_INT, cursor);
  CXEvalResult result = clang_Cursor_Evaluate(cursor);
  if (!result) ast_refuse(u, cursor, "a constant that clang does not evaluate", "write its value");
  if (clang_EvalResult_getKind(result) == CXEval_Int) {
    n->bits = clang_EvalResult_isUnsignedInt(result)
                  ? clang_EvalResult_getAsUnsigned(result)
                  : (uint64_t)clang_EvalResult_getAsLongLong(result);
  } else if (clang_EvalResult_getKind(result) == CXEval_Float) {
    double value = clang_EvalResult_getAsDouble(result);
    float narrow = (float)value;
    uint32_t narrow_bits;
    n->kind = N_FLOAT;
    memcpy(&narrow_bits, &narrow, sizeof narrow_bits);
    memcpy(&n->bits, &value, sizeof value);
    if (n->type->scalar == VYRE_F32) n->bits = narrow_bits;
    if (n->type->scalar == VYRE_F16) n->bits = half_round(value);
  } else {
    clang_EvalResult_dispose(result);
    ast_refuse(u, cursor, "a constant that is no number", "write it as a number");
  }
  clang_EvalResult_dispose(result);
  return n;
}

static int digit_of(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : 99;
}

static node *integer_literal(unit *u, CXCursor cursor) {
  uint32_t first, end;
  ast_extent(cursor, &first, &end);
  const char *p = u->text + first, *stop = u->text + (end <= u->size ? end : u->size);
  if (p >= stop || *p < '0' || *p > '9') return evaluated(u, cursor);
  int base = 10;
  if (p[0] == '0' && p + 1 < stop) {
    base = (p[1] | 32) == 'x' ? 16 : (p[1] | 32) == 'b' ? 2 : 8;
    p += base == 8 ? 1 : 2;
  }
  node *n = leaf_node(u, N_INT, cursor);
  for (; p < stop && digit_of(*p) < base; p++)
    n->bits = n->bits * (unsigned)base + (unsigned)digit_of(*p);
  return n;
}

// One character of a literal as clang prints it: \\n, \\001, \\x1f, or itself.
static char literal_char(const char **p) {
  static const char letters[] = "abfnrtv", meanings[] = "\a\b\f\n\r\t\v";
  if (**p != '\\' || !(*p)[1]) return *(*p)++;
  const char *letter = strchr(letters, *++*p);
  int base = **p == 'x' ? 16 : 8, made = 0;
  if (letter || (digit_of(**p) >= 8 && base == 8))
    return ++*p, letter ? meanings[letter - letters] : (*p)[-1];
  if (base == 16) ++*p;
  for (int n = 0; digit_of(**p) < base && (base == 16 || n < 3); n++)
    made = made * base + digit_of(*(*p)++);
  return (char)made;
}

// clang prints the parts of a literal as one.
static node *string_literal(unit *u, CXCursor cursor) {
  node *n = leaf_node(u, N_STRING, cursor);
  const char *spelled = unit_string(u, clang_getCursorSpelling(cursor)), *p = strchr(spelled, '"');
  const char *end = strrchr(spelled, '"');
  size_t size = strlen(spelled) + 1;
  if (n->type->kind == T_ARRAY && size < n->type->count) size = n->type->count;
  char *text = unit_alloc(u, size, 1), *out = text;
  for (p = p ? p + 1 : end; p && p < end;) *out++ = literal_char(&p);
  n->name = text;
  return n;
}

static node *name(unit *u, CXCursor cursor) {
  CXCursor to = clang_getCursorReferenced(cursor);
  switch (clang_getCursorKind(to)) {
  case CXCursor_EnumConstantDecl: {
    node *n = leaf_node(u, N_INT, cursor);
    n->bits = (uint64_t)clang_getEnumConstantDeclValue(to);
    return n;
  }
  case CXCursor_VarDecl:
  case CXCursor_ParmDecl: {
    node *n = leaf_node(u, N_NAME, cursor);
    CXCursor definition = clang_getCursorDefinition(to); // of an extern, elsewhere in the file
    n->decl = ast_decl(u, clang_Cursor_isNull(definition) ? to : definition);
    n->type = n->decl->type;
    n->decl->uses++;
    return n;
  }
  case CXCursor_FunctionDecl:
    ast_refuse(u, cursor, "a function used as a value",
               "call it directly: there are no function pointers in OpenCL C");
  default: ast_refuse(u, cursor, "a name of unknown kind", "use variables and functions");
  }
}

// ---- operators ----------------------------------------------------------------------------------

// The declared object that is changed when `n` is assigned to; NULL when it is reached by a
// pointer.
static decl *changed_object(node *n) {
  for (;;) {
    switch (n->kind) {
    case N_NAME: return n->decl;
    case N_MEMBER:
    case N_SWIZZLE:
      if (n->arrow) return NULL;
      n = n->kid[0];
      break;
    case N_INDEX:
      n = n->kid[0];
      if (n->kind == N_CAST && n->kid[0]->type->kind == T_ARRAY)
        n = n->kid[0];
      else if (n->type->kind == T_POINTER)
        return NULL;
      break;
    default: return NULL;
    }
  }
}

static void ast_wrote(node *lvalue) {
  decl *d = changed_object(lvalue);
  if (d) d->writes++;
}

static node *binary(unit *u, CXCursor cursor) {
  node *n = undecayed(with_operands(u, N_BINARY, cursor, 2));
  n->op = (uint8_t)clang_getCursorBinaryOperatorKind(cursor);
  if (n->op >= CXBinaryOperator_Assign && n->op <= CXBinaryOperator_OrAssign) ast_wrote(n->kid[0]);
  if (n->op == CXBinaryOperator_Invalid)
    ast_refuse(u, cursor, "an unknown operator", "use the operators of OpenCL C");
  return n;
}

static node *unary(unit *u, CXCursor cursor) {
  node *n = with_operands(u, N_UNARY, cursor, 1);
  n->op = (uint8_t)clang_getCursorUnaryOperatorKind(cursor);
  switch (n->op) {
  case CXUnaryOperator_PostInc:
  case CXUnaryOperator_PostDec:
  case CXUnaryOperator_PreInc:
  case CXUnaryOperator_PreDec: ast_wrote(n->kid[0]); return undecayed(n);
  case CXUnaryOperator_AddrOf: {
    decl *d = changed_object(n->kid[0]);
    if (d) d->address_taken = true;
    return n;
  }
  case CXUnaryOperator_Extension: return n->kid[0];
  case CXUnaryOperator_Deref:
  case CXUnaryOperator_Plus:
  case CXUnaryOperator_Minus:
  case CXUnaryOperator_Not:
  case CXUnaryOperator_LNot: return n;
  default: ast_refuse(u, cursor, "an unknown operator", "use the operators of OpenCL C");
  }
}

// libclang leaves out the members without a name that lead to a field.
static bool find_field(const ctype *type, const char *name, uint64_t *offset) {
  for (uint32_t i = 0; i < type->field_count; i++) {
    const field *f = &type->fields[i];
    uint64_t inner = 0;
    if (!*f->name ? !find_field(f->type, name, &inner) : strcmp(f->name, name)) continue;
    *offset = f->offset + inner;
    return true;
  }
  return false;
}

static node *member(unit *u, CXCursor cursor) {
  CXCursor to = clang_getCursorReferenced(cursor);
  if (clang_getCursorKind(to) != CXCursor_FieldDecl)
    ast_refuse(u, cursor, "a member of unknown kind", "use the fields of structures");
  node *n = with_operands(u, N_MEMBER, cursor, 1);
  long long bits = clang_Cursor_getOffsetOfField(to);
  if (bits < 0) ast_refuse(u, cursor, "a field without a place", "use a complete structure");
  n->field_offset = (uint64_t)bits / 8;
  n->arrow = n->kid[0]->type->kind == T_POINTER;
  const char *name = type_field_name(u, to);
  if (*name)
    find_field(n->arrow ? n->kid[0]->type->element : n->kid[0]->type, name, &n->field_offset);
  return n;
}

static node *call(unit *u, CXCursor cursor) {
  CXCursor to = clang_getCursorReferenced(cursor);
  if (clang_getCursorKind(to) != CXCursor_FunctionDecl)
    ast_refuse(u, cursor, "a call through a pointer",
               "call the function by its name: there are no function pointers in OpenCL C");
  int count = clang_Cursor_getNumArguments(cursor);
  node *n = ast_node(u, N_CALL, cursor, count > 0 ? (uint32_t)count : 0);
  uint32_t end;
  ast_extent(cursor, &n->offset, &end);
  n->type = type_of(u, clang_getCursorType(cursor), n->offset);
  for (uint32_t i = 0; i < n->count; i++)
    n->kid[i] = ast_expr(u, clang_Cursor_getArgument(cursor, i));
  n->name = unit_string(u, clang_getCursorSpelling(to));
  unsigned declared = 0; // an implicit declaration stands where the call is
  clang_getFileLocation(clang_getCursorLocation(to), NULL, NULL, NULL, &declared);
  n->is_declared =
      clang_Location_isFromMainFile(clang_getCursorLocation(to)) != 0 && declared != n->offset;
  CXCursor definition = clang_getCursorDefinition(to);
  if (!clang_Cursor_isNull(definition))
    for (uint32_t i = 0; i < u->ast->function_count && !n->callee; i++)
      if (clang_equalCursors(u->ast->functions[i]->cursor, definition))
        n->callee = u->ast->functions[i];
  return n;
}

// ---- initialisers -------------------------------------------------------------------------------

// .x[2] = value: libclang shows the fields as references and the indices as expressions.
static node *designated(unit *u, CXCursor cursor, cursors kids) {
  node *n = ast_node(u, N_DESIGNATOR, cursor, 1);
  n->type = type_of(u, clang_getCursorType(cursor), n->offset);
  n->path = UNIT_ARRAY(u, kids.count, designator);
  for (uint32_t i = 0; i + 1 < kids.count; i++) {
    if (clang_getCursorKind(kids.at[i]) == CXCursor_MemberRef) {
      CXCursor to = clang_getCursorReferenced(kids.at[i]);
      const char *name = type_field_name(u, to);
      if (*name) n->path[n->path_count++] = (designator){false, 0, name};
    } else {
      n->path[n->path_count++] = (designator){true, evaluated(u, kids.at[i])->bits, NULL};
    }
  }
  n->kid[0] = ast_expr(u, kids.at[kids.count - 1]);
  return n;
}

static bool is_designated(unit *u, CXCursor cursor) {
  uint32_t first, end;
  ast_extent(cursor, &first, &end);
  if (first >= u->size) return false;
  char next = u->text[first + 1];
  return u->text[first] == '[' || (u->text[first] == '.' && !(next >= '0' && next <= '9'));
}

static node *init_list(unit *u, CXCursor cursor) {
  cursors kids = operands(u, cursor);
  const ctype *type = type_of(u, clang_getCursorType(cursor), 0);
  node *n = ast_node(u, type->kind == T_VECTOR ? N_VECTOR : N_INIT, cursor, kids.count);
  n->type = type;
  for (uint32_t i = 0; i < kids.count; i++) n->kid[i] = ast_expr(u, kids.at[i]);
  return n;
}

static node *compound_literal(unit *u, CXCursor cursor) {
  node *n = with_operands(u, N_COMPOUND, cursor, 1);
  if (n->type->kind == T_VECTOR && (n->kid[0]->kind == N_VECTOR || n->kid[0]->kind == N_INIT)) {
    n->kid[0]->kind = N_VECTOR;
    n->kid[0]->type = n->type;
    return n->kid[0];
  }
  n->kid[0]->type = n->type;
  return n;
}

// ---- what libclang does not expose --------------------------------------------------------------

static bool ast_lanes(const char *text, size_t size, uint32_t width, uint8_t lanes[16],
                      uint8_t *count) {
  uint32_t even_width = width == 3 ? 4 : width, half = even_width / 2;
  uint32_t n = 0;
  struct {
    const char *name;
    uint32_t first, step;
  } const halves[] = {{"lo", 0, 1}, {"hi", half, 1}, {"even", 0, 2}, {"odd", 1, 2}};
  for (int h = 0; h < 4; h++)
    if (strlen(halves[h].name) == size && !memcmp(text, halves[h].name, size))
      for (; n < half; n++) lanes[n] = (uint8_t)(halves[h].first + n * halves[h].step);
  if (!n && size > 1 && (text[0] | 32) == 's' && digit_of(text[1]) < 16) {
    for (size_t i = 1; i < size && n < 16; i++) lanes[n++] = (uint8_t)digit_of(text[i]);
  } else if (!n) {
    for (size_t i = 0; i < size && n < 16; i++) {
      const char *xyzw = "xyzw", *rgba = "rgba", *at = strchr(xyzw, text[i]);
      if (!at) at = strchr(rgba, text[i]);
      if (!at || !*at) return false;
      lanes[n++] = (uint8_t)(at - (strchr(xyzw, text[i]) ? xyzw : rgba));
    }
  }
  *count = (uint8_t)n;
  return n > 0;
}

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// v.xy or p->xy: the text after the child.
static node *swizzle(unit *u, CXCursor cursor, node *kid, uint32_t at, uint32_t end) {
  node *n = ast_node(u, N_SWIZZLE, cursor, 1);
  n->kid[0] = kid;
  n->type = type_of(u, clang_getCursorType(cursor), n->offset);
  while (at < end && is_blank(u->text[at])) at++;
  if (u->text[at] == '-' && u->text[at + 1] == '>') {
    n->arrow = true;
    at += 2;
  } else if (u->text[at] == '.') {
    at++;
  } else {
    ast_refuse(u, cursor, "an expression of unknown shape", "write it in a simpler way");
  }
  while (at < end && is_blank(u->text[at])) at++;
  while (end > at && is_blank(u->text[end - 1])) end--;
  const ctype *base = n->arrow ? kid->type->element : kid->type;
  if (base->kind != T_VECTOR ||
      !ast_lanes(u->text + at, end - at, base->count, n->lanes, &n->lane_count))
    ast_refuse(u, cursor, "a component of unknown name", "use .xyzw, .s0 to .sf, .lo, .hi");
  return n;
}

static node *cast(unit *u, CXCursor cursor, node *kid) {
  const ctype *type = type_of(u, clang_getCursorType(cursor), kid->offset);
  if (type == kid->type && kid->type->kind != T_POINTER) return kid;
  // An array that decays for a parameter written as an array is shown with the parameter's type.
  if (type->kind == T_ARRAY && kid->type->kind == T_ARRAY) return kid;
  if (type->kind == T_ARRAY && kid->type->kind == T_POINTER) return kid;
  node *n = ast_node(u, N_CAST, cursor, 1);
  n->type = type;
  n->kid[0] = kid;
  n->offset = kid->offset;
  return n;
}

static node *unexposed(unit *u, CXCursor cursor) {
  cursors all = ast_kids(u, cursor);
  if (all.count >= 2 && is_designated(u, cursor)) return designated(u, cursor, all);
  cursors kids = operands(u, cursor);
  if (kids.count == 0) return evaluated(u, cursor);
  if (kids.count != 1)
    ast_refuse(u, cursor, "an expression of unknown shape", "write it in a simpler way");
  uint32_t first, end, kid_first, kid_end;
  ast_extent(cursor, &first, &end);
  ast_extent(kids.at[0], &kid_first, &kid_end);
  node *kid = ast_expr(u, kids.at[0]);
  if (kid_first == first && kid_end == end) return cast(u, cursor, kid);
  if (kid_first == first && kid_end < end) return swizzle(u, cursor, kid, kid_end, end);
  if (first < kid_first && !strncmp(u->text + first, "__builtin_astype", 16)) {
    node *n = ast_node(u, N_AS_TYPE, cursor, 1);
    n->kid[0] = kid;
    n->type = type_of(u, clang_getCursorType(cursor), n->offset);
    return n;
  }
  ast_refuse(u, cursor, "an expression of unknown shape", "write it in a simpler way");
}

static node *statement(unit *u, CXCursor cursor) {
  cursors kids = ast_kids(u, cursor);
  node *n = leaf_node(u, N_STATEMENT, cursor);
  n->count = 1;
  n->kid = UNIT_ARRAY(u, 1, node *);
  if (kids.count != 1)
    ast_refuse(u, cursor, "an expression of unknown shape", "write it in a simpler way");
  n->kid[0] = ast_stmt(u, kids.at[0]);
  if (ast_leaves(n->kid[0]))
    ast_refuse(u, cursor, "a jump in a statement that is used as an expression",
               "put the statement before the expression");
  return n;
}

static node *expr(unit *u, CXCursor cursor) {
  switch (clang_getCursorKind(cursor)) {
  case CXCursor_IntegerLiteral: return integer_literal(u, cursor);
  case CXCursor_CharacterLiteral:
  case CXCursor_CXXBoolLiteralExpr:
  case CXCursor_FloatingLiteral:
  case CXCursor_UnaryExpr: return evaluated(u, cursor); // sizeof and its like
  case CXCursor_StringLiteral: return string_literal(u, cursor);
  case CXCursor_DeclRefExpr: return name(u, cursor);
  case CXCursor_ParenExpr: return with_operands(u, N_CAST, cursor, 1)->kid[0];
  case CXCursor_BinaryOperator:
  case CXCursor_CompoundAssignOperator: return binary(u, cursor);
  case CXCursor_UnaryOperator: return unary(u, cursor);
  case CXCursor_ConditionalOperator: return undecayed(with_operands(u, N_CHOICE, cursor, 3));
  case CXCursor_ArraySubscriptExpr: return with_operands(u, N_INDEX, cursor, 2);
  case CXCursor_MemberRefExpr: return member(u, cursor);
  case CXCursor_CStyleCastExpr: {
    cursors kids = operands(u, cursor); // those of the type first: lengths of arrays
    if (kids.count == 0)
      ast_refuse(u, cursor, "an expression of unknown shape", "write it in a simpler way");
    return cast(u, cursor, ast_expr(u, kids.at[kids.count - 1]));
  }
  case CXCursor_CompoundLiteralExpr: return compound_literal(u, cursor);
  case CXCursor_InitListExpr: return init_list(u, cursor);
  case CXCursor_CallExpr: return call(u, cursor);
  case CXCursor_UnexposedExpr: return unexposed(u, cursor);
  case CXCursor_StmtExpr: return statement(u, cursor);
  case CXCursor_BlockExpr: ast_refuse(u, cursor, "a block", "put it into a function");
  case CXCursor_AddrLabelExpr: ast_refuse(u, cursor, "the address of a label", "use if and loops");
  default: {
    const char *kind = unit_string(u, clang_getCursorKindSpelling(clang_getCursorKind(cursor)));
    ast_refuse(u, cursor, unit_printf(u, "an expression that is not understood (%s)", kind),
               "write it in a simpler way");
  }
  }
}

node *ast_expr(unit *u, CXCursor cursor) {
  ast_enter(u, cursor);
  node *n = expr(u, cursor);
  ast_leave(u);
  return n;
}
