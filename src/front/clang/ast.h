// SPDX-License-Identifier: MIT
//
// A small typed tree of OpenCL C: what libclang shows, with what it hides put back (kinds of casts,
// swizzles, as_type, empty parts of a for). Functions are built when something first asks for them.
// Nodes live as long as the unit. An unknown construct ends the reading with its name and place.
#ifndef VYRE_FRONT_CLANG_AST_H
#define VYRE_FRONT_CLANG_AST_H

#include "front/clang/types.h"

typedef enum node_kind {
  // Expressions
  N_INT,        // bits
  N_FLOAT,      // bits, of the type
  N_STRING,     // name: its bytes, as many as its type has
  N_NAME,       // decl
  N_BINARY,     // op; kids: left, right. Assignments included
  N_UNARY,      // op; kid
  N_CHOICE,     // c ? a : b
  N_INDEX,      // kids: base, index
  N_MEMBER,     // field_offset; kid is a record, or a pointer to one when `arrow`
  N_SWIZZLE,    // lanes; kid is a vector, or a pointer to one when `arrow`
  N_VECTOR,     // (float4)(a, b): kids fill the lanes
  N_CAST,       // written or implied
  N_AS_TYPE,    //
  N_CALL,       // callee or `name` of a builtin; kids: arguments
  N_INIT,       // { ... }
  N_DESIGNATOR, // in N_INIT: path; the last kid is the value
  N_COMPOUND,   // (T){ ... }: kid is N_INIT
  N_STATEMENT,  // ({ ... }): kid is S_BLOCK, whose last statement gives the value
  // Statements
  S_BLOCK,
  S_DECL, // decl
  S_EXPR,
  S_IF,     // kids: condition, then, else or NULL
  S_FOR,    // kids: init, condition, step, body; all but the last may be NULL
  S_WHILE,  // kids: condition, body
  S_DO,     // kids: body, condition
  S_SWITCH, // kids: value, body
  S_CASE,   // bits; kid
  S_DEFAULT,
  S_BREAK,
  S_CONTINUE,
  S_RETURN, // kid or none
  S_LABEL,  // name, jumps; kid. Only jumped to from before it, in its block
  S_GOTO,   // name
  S_STATES, // what became of other gotos: declarations of what it uses, then its loop
} node_kind;

typedef struct node node;
typedef struct function function;

typedef struct decl {
  const char *name;
  const ctype *type;
  addr_space space; // of the object itself
  bool is_const;    // so declared
  bool is_param;
  bool is_file; // at file scope, or as long-lived
  node *init;
  uint32_t offset;
  // Counted over the functions that have been built.
  uint32_t writes;    // assignments other than the initialiser
  uint32_t uses;      // all mentions
  uint32_t loop_uses; // mentions inside of for statements that count with it
  bool address_taken; // by &
  bool is_late;       // gets its only value from a statement of the block that declares it
} decl;

// A for statement that counts: for (i = lo; i < hi; i += step), and i is not changed elsewhere.
typedef struct counting {
  decl *counter;
  node *lo, *hi, *step;  // step is NULL for 1
  bool is_down;          // i > hi or i >= hi, i -= step
  bool is_inclusive;     // <= or >=
  bool declares;         // the counter is declared in the statement
  const ctype *compared; // the type in which i is compared
} counting;

typedef struct designator {
  bool is_index;
  uint64_t at;       // index
  const char *field; // never of a member without a name: its fields are named instead
} designator;

struct node {
  uint8_t kind; // node_kind
  uint8_t op;   // CXBinaryOperatorKind or CXUnaryOperatorKind
  bool arrow;
  bool is_declared; // N_CALL: by the source, not by the language
  uint8_t lane_count;
  uint32_t offset; // in the preprocessed text
  uint32_t count;
  const ctype *type;
  node **kid;
  union {
    uint64_t bits;
    decl *decl;
    uint64_t field_offset;
    uint8_t lanes[16];
    struct {
      function *callee;
      const char *name;
      uint32_t jumps; // S_LABEL: gotos that lead to it
    };
    struct {
      designator *path;
      uint32_t path_count;
    };
    counting *counts; // S_FOR; NULL when it does not count
  };
};

struct function {
  const char *name;
  CXCursor cursor; // of the definition
  const ctype *result;
  decl **params;
  uint32_t param_count;
  node *body;
  bool is_kernel, is_built;
  uint32_t workgroup[3]; // reqd_work_group_size, zeros where there is none
  uint32_t hint[3];      // work_group_size_hint, likewise
  const char *vector;    // vec_type_hint; NULL where there is none
  uint32_t subgroup;     // intel_reqd_sub_group_size, 0 where there is none
  const char *grid;      // annotate("grid(n)"); NULL: not stated
  uint32_t offset;
  // Of together.c: 0 not looked at yet, or an answer.
  uint8_t has_team, can_be_guarded;
};

typedef struct ast {
  function **functions; // definitions, in the order of the source
  uint32_t function_count, function_capacity;
  struct decl_entry *decls; // a hash table
  uint32_t decl_count, decl_capacity;
  uint32_t depth;
  CXCursor *scratch; // malloc'ed
  uint32_t scratch_count, scratch_capacity;
} ast;

// Finds the functions of the unit; their bodies are built by ast_function.
void ast_init(unit *u);
void ast_fini(unit *u);
void ast_function(unit *u, function *f);
void ast_params(unit *u, function *f); // only these
// The name of a parameter of a kernel: its own, or `arg2` of the third when it has none.
const char *ast_param_name(unit *u, const function *f, uint32_t i);
// `name`, with underscores when a parameter has it.
const char *ast_free_name(unit *u, const function *f, const char *name);

// ---- between the files of the tree builder ------------------------------------------------------

typedef struct cursors {
  CXCursor *at;
  uint32_t count;
} cursors;

cursors ast_kids(unit *u, CXCursor cursor);
void ast_extent(CXCursor cursor, uint32_t *first, uint32_t *end);
node *ast_node(unit *u, node_kind kind, CXCursor cursor, uint32_t kid_count);
node *ast_expr(unit *u, CXCursor cursor);
node *ast_stmt(unit *u, CXCursor cursor);
void ast_structure(unit *u, node *body);  // replaces gotos of a function that are no way out
bool ast_leaves(const node *s);           // whether a jump in it leads out of it
node *ast_skip_casts(node *n);            // the expression under casts
decl *ast_decl(unit *u, CXCursor cursor); // of a variable or parameter, made on first sight
_Noreturn void ast_refuse(unit *u, CXCursor cursor, const char *what, const char *fix);
void ast_enter(unit *u, CXCursor cursor); // counts the nesting
void ast_leave(unit *u);

#endif
