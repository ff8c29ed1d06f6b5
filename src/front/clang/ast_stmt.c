// SPDX-License-Identifier: MIT
//
// Statements, and what can be told about them from the tree alone: which for statements count, and
// which variables get their only value from one statement.
#include "front/clang/ast.h"

#include "ir/types.h"

#include <string.h>

static void ast_count_loop(unit *u, node *loop); // fills n->counts
static void ast_find_late(node *block);          // marks variables

static node *optional(unit *u, CXCursor cursor) {
  return clang_isExpression(clang_getCursorKind(cursor)) ? ast_expr(u, cursor)
                                                         : ast_stmt(u, cursor);
}

static void want(unit *u, CXCursor cursor, cursors kids, uint32_t count) {
  if (kids.count != count)
    ast_refuse(u, cursor, "a statement of unknown shape", "write it in a simpler way");
}

static node *block(unit *u, CXCursor cursor) {
  cursors kids = ast_kids(u, cursor);
  node *n = ast_node(u, S_BLOCK, cursor, kids.count);
  for (uint32_t i = 0; i < kids.count; i++) n->kid[i] = ast_stmt(u, kids.at[i]);
  ast_find_late(n);
  return n;
}

static bool is_static(CXCursor cursor) {
  return clang_Cursor_getStorageClass(cursor) == CX_SC_Static;
}

static node *declarations(unit *u, CXCursor cursor) {
  cursors kids = ast_kids(u, cursor);
  uint32_t count = 0;
  for (uint32_t i = 0; i < kids.count; i++)
    if (clang_getCursorKind(kids.at[i]) == CXCursor_VarDecl) kids.at[count++] = kids.at[i];
  node *n = ast_node(u, S_BLOCK, cursor, count);
  for (uint32_t i = 0; i < count; i++) {
    node *one = n->kid[i] = ast_node(u, S_DECL, kids.at[i], 0);
    one->decl = ast_decl(u, kids.at[i]);
    // One for all calls, as what stands outside of functions.
    if (is_static(kids.at[i]) && one->decl->space == SPACE_GLOBAL) one->decl->is_file = true;
  }
  return count == 1 ? n->kid[0] : n;
}

// The semicolons and the closing bracket of a for, because libclang leaves empty parts out.
static void for_marks(unit *u, uint32_t first, uint32_t end, uint32_t marks[3]) {
  int depth = 0, found = 0;
  for (uint32_t at = first; at < end && found < 3; at++) {
    char c = u->text[at];
    if (c == '\'' || c == '"') {
      for (at++; at < end && u->text[at] != c; at++)
        if (u->text[at] == '\\') at++;
    } else if (strchr("([{", c) && c) {
      depth++;
    } else if (strchr(")]}", c) && c) {
      if (--depth == 0) {
        marks[2] = at;
        return;
      }
    } else if (c == ';' && depth == 1 && found < 2) {
      marks[found++] = at;
    }
  }
}

static node *for_loop(unit *u, CXCursor cursor) {
  cursors kids = ast_kids(u, cursor);
  uint32_t first, end, marks[3] = {0};
  ast_extent(cursor, &first, &end);
  for_marks(u, first, end, marks);
  node *n = ast_node(u, S_FOR, cursor, 4);
  for (uint32_t i = 0; i < kids.count; i++) {
    uint32_t from, to;
    ast_extent(kids.at[i], &from, &to);
    int part = from <= marks[0] ? 0 : from <= marks[1] ? 1 : from <= marks[2] ? 2 : 3;
    if (n->kid[part])
      ast_refuse(u, cursor, "a for statement of unknown shape", "write it in a simpler way");
    n->kid[part] = part == 3 ? ast_stmt(u, kids.at[i]) : optional(u, kids.at[i]);
  }
  if (!n->kid[3])
    ast_refuse(u, cursor, "a for statement of unknown shape", "write it in a simpler way");
  ast_count_loop(u, n);
  return n;
}

static uint64_t case_value(unit *u, CXCursor cursor, CXCursor value) {
  CXEvalResult result = clang_Cursor_Evaluate(value);
  if (!result) ast_refuse(u, cursor, "a case that clang does not evaluate", "write its value");
  uint64_t bits = clang_EvalResult_isUnsignedInt(result)
                      ? clang_EvalResult_getAsUnsigned(result)
                      : (uint64_t)clang_EvalResult_getAsLongLong(result);
  clang_EvalResult_dispose(result);
  return bits;
}

// A range, `case 1 ... 5:`, is as many labels.
static node *case_label(unit *u, CXCursor cursor) {
  enum { MOST_OF_RANGE = 1024 };
  cursors kids = ast_kids(u, cursor);
  bool is_range = kids.count == 3;
  want(u, cursor, kids, is_range ? 3 : 2);
  uint64_t first = case_value(u, cursor, kids.at[0]);
  uint64_t last = is_range ? case_value(u, cursor, kids.at[1]) : first;
  if (last - first >= MOST_OF_RANGE) // also where it ends before it begins
    ast_refuse(u, cursor, "a range of more than 1,024 cases, or of none", "compare in an if");
  node *s = ast_stmt(u, kids.at[is_range ? 2 : 1]);
  for (uint64_t bits = last;; bits--) {
    node *n = ast_node(u, S_CASE, cursor, 1);
    n->bits = bits;
    n->kid[0] = s;
    s = n;
    if (bits == first) return s;
  }
}

static node *expression(unit *u, CXCursor cursor) {
  node *n = ast_node(u, S_EXPR, cursor, 1);
  n->kid[0] = ast_expr(u, cursor);
  return n;
}

// A statement with attributes, such as #pragma unroll, which are hints and not needed.
static node *attributed(unit *u, CXCursor cursor) {
  cursors kids = ast_kids(u, cursor);
  for (uint32_t i = kids.count; i > 0; i--)
    if (!clang_isAttribute(clang_getCursorKind(kids.at[i - 1]))) return ast_stmt(u, kids.at[i - 1]);
  ast_refuse(u, cursor, "a statement of unknown shape", "write it in a simpler way");
}

static node *simple(unit *u, node_kind kind, CXCursor cursor, uint32_t least, uint32_t most,
                    int statements_from) {
  cursors kids = ast_kids(u, cursor);
  if (kids.count < least || kids.count > most) want(u, cursor, kids, least);
  node *n = ast_node(u, kind, cursor, most);
  for (uint32_t i = 0; i < kids.count; i++)
    n->kid[i] = (int)i >= statements_from ? ast_stmt(u, kids.at[i]) : ast_expr(u, kids.at[i]);
  return n;
}

static node *do_loop(unit *u, CXCursor cursor) {
  cursors kids = ast_kids(u, cursor);
  want(u, cursor, kids, 2);
  node *n = ast_node(u, S_DO, cursor, 2);
  n->kid[0] = ast_stmt(u, kids.at[0]);
  n->kid[1] = ast_expr(u, kids.at[1]);
  return n;
}

static node *jump(unit *u, CXCursor cursor) {
  cursors kids = ast_kids(u, cursor);
  want(u, cursor, kids, 1);
  node *n = ast_node(u, S_GOTO, cursor, 0);
  n->name = unit_string(u, clang_getCursorSpelling(kids.at[0]));
  return n;
}

static node *label(unit *u, CXCursor cursor) {
  node *n = simple(u, S_LABEL, cursor, 1, 1, 0);
  n->name = unit_string(u, clang_getCursorSpelling(cursor));
  return n;
}

static node *stmt(unit *u, CXCursor cursor) {
  enum CXCursorKind kind = clang_getCursorKind(cursor);
  if (clang_isExpression(kind)) return expression(u, cursor);
  switch (kind) {
  case CXCursor_CompoundStmt: return block(u, cursor);
  case CXCursor_DeclStmt: return declarations(u, cursor);
  case CXCursor_IfStmt: return simple(u, S_IF, cursor, 2, 3, 1);
  case CXCursor_WhileStmt: return simple(u, S_WHILE, cursor, 2, 2, 1);
  case CXCursor_SwitchStmt: return simple(u, S_SWITCH, cursor, 2, 2, 1);
  case CXCursor_ReturnStmt: return simple(u, S_RETURN, cursor, 0, 1, 1);
  case CXCursor_DefaultStmt: return simple(u, S_DEFAULT, cursor, 1, 1, 0);
  case CXCursor_DoStmt: return do_loop(u, cursor);
  case CXCursor_ForStmt: return for_loop(u, cursor);
  case CXCursor_CaseStmt: return case_label(u, cursor);
  case CXCursor_BreakStmt: return ast_node(u, S_BREAK, cursor, 0);
  case CXCursor_ContinueStmt: return ast_node(u, S_CONTINUE, cursor, 0);
  case CXCursor_NullStmt: return ast_node(u, S_BLOCK, cursor, 0);
  case CXCursor_UnexposedStmt: return attributed(u, cursor);
  case CXCursor_GotoStmt: return jump(u, cursor);
  case CXCursor_LabelStmt: return label(u, cursor);
  case CXCursor_IndirectGotoStmt:
    ast_refuse(u, cursor, "a goto to a computed place", "use goto with a label, or switch");
  case CXCursor_GCCAsmStmt:
  case CXCursor_MSAsmStmt: ast_refuse(u, cursor, "assembly", "write it in OpenCL C");
  default: {
    const char *spelling = unit_string(u, clang_getCursorKindSpelling(kind));
    ast_refuse(u, cursor, unit_printf(u, "a statement that is not understood (%s)", spelling),
               "write it in a simpler way");
  }
  }
}

node *ast_stmt(unit *u, CXCursor cursor) {
  ast_enter(u, cursor);
  node *n = stmt(u, cursor);
  ast_leave(u);
  return n;
}

// ---- variables that get one value ---------------------------------------------------------------

static decl *assigned_alone(node *s) {
  if (s->kind != S_EXPR || s->kid[0]->kind != N_BINARY || s->kid[0]->op != CXBinaryOperator_Assign)
    return NULL;
  node *to = s->kid[0]->kid[0];
  return to->kind == N_NAME ? to->decl : NULL;
}

static void mark_late(node *block, uint32_t from, decl *d) {
  if (d->init || d->writes != 1 || d->address_taken || d->space != SPACE_PRIVATE ||
      type_is_aggregate(d->type))
    return;
  for (uint32_t i = from; i < block->count; i++)
    if (assigned_alone(block->kid[i]) == d) d->is_late = true;
}

static void ast_find_late(node *block) {
  for (uint32_t i = 0; i < block->count; i++) {
    node *s = block->kid[i];
    if (s->kind == S_DECL) mark_late(block, i + 1, s->decl);
    for (uint32_t k = 0; s->kind == S_BLOCK && k < s->count; k++)
      if (s->kid[k]->kind == S_DECL) mark_late(block, i + 1, s->kid[k]->decl);
  }
}

// ---- loops that count ---------------------------------------------------------------------------

static uint32_t mentions(const node *n, const decl *d) {
  if (!n) return 0;
  uint32_t count = n->kind == N_NAME && n->decl == d;
  for (uint32_t i = 0; i < n->count; i++) count += mentions(n->kid[i], d);
  if (n->kind == S_DECL && n->decl->init) count += mentions(n->decl->init, d);
  return count;
}

static bool writes_to(node *n, const decl *d) {
  if (!n) return false;
  bool writes =
      (n->kind == N_BINARY && n->op >= CXBinaryOperator_Assign &&
       n->op <= CXBinaryOperator_OrAssign) ||
      (n->kind == N_UNARY && n->op >= CXUnaryOperator_PostInc && n->op <= CXUnaryOperator_AddrOf);
  if (writes && mentions(n->kid[0], d) && ast_skip_casts(n->kid[0])->kind == N_NAME) return true;
  for (uint32_t i = 0; i < n->count; i++)
    if (writes_to(n->kid[i], d)) return true;
  return n->kind == S_DECL && n->decl->init && writes_to(n->decl->init, d);
}

static bool is_name(node *n, const decl *d) {
  return n && n->kind == N_NAME && n->decl == d;
}

// What is under casts that lose nothing of the counter: a narrower integer begins over where the
// counter goes on, as in (uchar)i < 10.
static node *without_casts(node *n, const decl *counter) {
  while (n && n->kind == N_CAST && n->type->kind == T_SCALAR && type_is_int(n->type->scalar) &&
         n->type->size >= counter->type->size)
    n = n->kid[0];
  return n;
}

static bool is_counter(node *n, const decl *counter) {
  return is_name(without_casts(n, counter), counter);
}

// i++, i += c, i = i + c and downwards.
static bool read_step(node *step, counting *c) {
  if (!step) return false;
  if (step->kind == N_UNARY && is_name(step->kid[0], c->counter)) {
    c->is_down = step->op == CXUnaryOperator_PostDec || step->op == CXUnaryOperator_PreDec;
    return c->is_down || step->op == CXUnaryOperator_PostInc || step->op == CXUnaryOperator_PreInc;
  }
  if (step->kind != N_BINARY || !is_name(step->kid[0], c->counter)) return false;
  if (step->op == CXBinaryOperator_AddAssign || step->op == CXBinaryOperator_SubAssign) {
    c->is_down = step->op == CXBinaryOperator_SubAssign;
    c->step = step->kid[1];
    return true;
  }
  node *sum = without_casts(step->kid[1], c->counter);
  if (step->op != CXBinaryOperator_Assign || sum->kind != N_BINARY) return false;
  if (sum->op != CXBinaryOperator_Add && sum->op != CXBinaryOperator_Sub) return false;
  c->is_down = sum->op == CXBinaryOperator_Sub;
  if (is_counter(sum->kid[0], c->counter))
    c->step = sum->kid[1];
  else if (!c->is_down && is_counter(sum->kid[1], c->counter))
    c->step = sum->kid[0];
  return c->step != NULL;
}

static bool read_condition(node *condition, counting *c) {
  if (!condition || condition->kind != N_BINARY) return false;
  static const uint8_t turned[] = {[CXBinaryOperator_LT] = CXBinaryOperator_GT,
                                   [CXBinaryOperator_GT] = CXBinaryOperator_LT,
                                   [CXBinaryOperator_LE] = CXBinaryOperator_GE,
                                   [CXBinaryOperator_GE] = CXBinaryOperator_LE};
  uint8_t op = condition->op;
  if (op < CXBinaryOperator_LT || op > CXBinaryOperator_GE) return false;
  int side = is_counter(condition->kid[0], c->counter) ? 0 : 1;
  if (!is_counter(condition->kid[side], c->counter)) return false;
  if (side == 1) op = turned[op];
  bool goes_down = op == CXBinaryOperator_GT || op == CXBinaryOperator_GE;
  if (goes_down != c->is_down) return false;
  c->is_inclusive = op == CXBinaryOperator_LE || op == CXBinaryOperator_GE;
  c->hi = condition->kid[1 - side];
  c->compared = condition->kid[side]->type;
  return !mentions(c->hi, c->counter);
}

static bool read_start(node *init, counting *c) {
  if (!init) return false;
  if (init->kind == S_DECL && init->decl->init) {
    c->counter = init->decl;
    c->lo = init->decl->init;
    c->declares = true;
  } else if (init->kind == N_BINARY && init->op == CXBinaryOperator_Assign &&
             init->kid[0]->kind == N_NAME) {
    c->counter = init->kid[0]->decl;
    c->lo = init->kid[1];
  } else {
    return false;
  }
  return c->counter->type->kind == T_SCALAR && c->counter->space == SPACE_PRIVATE &&
         !mentions(c->lo, c->counter);
}

static void ast_count_loop(unit *u, node *loop) {
  counting c = {0};
  if (!read_start(loop->kid[0], &c) || !read_step(loop->kid[2], &c) ||
      !read_condition(loop->kid[1], &c) || writes_to(loop->kid[3], c.counter))
    return;
  loop->counts = UNIT_NEW(u, counting);
  *loop->counts = c;
  for (int i = 0; i < 4; i++) c.counter->loop_uses += mentions(loop->kid[i], c.counter);
}
