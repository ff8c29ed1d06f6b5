// SPDX-License-Identifier: MIT
//
// From the tree to a program. The lowering runs in rounds: each round builds the whole program with
// what is known about its memory, and records what it finds out on the way: which objects have
// their address computed and must be arrays, which types a buffer is accessed as, which objects a
// pointer variable may point into. When a round finds something new, its program is thrown away and
// the next begins; facts only grow, so the rounds end. This way there is no second, approximate
// description of what the lowering will do.
#ifndef VYRE_FRONT_CLANG_LOWER_H
#define VYRE_FRONT_CLANG_LOWER_H

#include "front/clang/value.h"

// A call in the inlined program: together with a declaration it names an object.
typedef struct context {
  struct context *outer;
  const node *call;
  function *f;
  uint32_t number;
} context;

// Where a jump leads that the IR does not have. The jump skips what follows by nesting it into
// `else`, or by a flag that is tested.
typedef enum label_kind { LABEL_RETURN, LABEL_BREAK, LABEL_CONTINUE, LABEL_GOTO } label_kind;

typedef struct label {
  struct label *outer;
  label_kind kind;
  const context *ctx;
  const char *name; // LABEL_GOTO
  bool *needs_flag; // a fact
  vyre_var flag;
  uint32_t loop_depth;
  uint32_t jumps; // so far in this round
  base *result;   // LABEL_RETURN: where the value goes
} label;

typedef struct fact_entry {
  const context *ctx;
  const void *key;
  int kind;
  void *fact;
} fact_entry;

struct lowering {
  unit *u;
  vyre_builder *b;
  const vyre_source_options *options;
  function *kernel;
  uint32_t workgroup[3];

  // Facts.
  fact_entry *facts; // a hash table
  uint32_t fact_count, fact_capacity;
  base **bases;
  uint32_t base_count, base_capacity;
  base_set **sets; // with several bases, which must have words of one size
  uint32_t set_count, set_capacity;
  uint32_t rank;
  bool prints;                     // calls printf
  base_set exposed[SPACE_GENERIC]; // objects whose addresses became numbers, by their space
  uint32_t contexts;
  bool changed; // something new was found in this round

  // Of this round.
  context *ctx;
  label *labels;
  label *break_to, *continue_to; // NULL: of the loop of the IR
  label *tail;                   // what is being lowered ends where this label is
  uint32_t loop_depth;           // of loops of the IR
  uint32_t depth;                // of calls
  uint8_t *is_named;             // per operation
  uint32_t named_capacity;
  uint32_t grid_params[3], offset_params[3];
  bool has_own_grid; // the kernel's annotation says it
  base *null;
  bool has_print; // `print` is the buffer of printf
  vyre_mem print;
  base_set *loaded; // what is loaded from, while someone wants to know
  ref *numbers;     // that pointers became
  uint32_t number_count, number_capacity;
  ref guard; // what is lowered is done by those for whom this is true; 0: by all
};

_Noreturn void lower_refuse(lowering *l, uint32_t offset, const char *what, const char *fix);

// ---- lower.c: facts -----------------------------------------------------------------------------

// The fact record of `size` bytes for `key` in the present context, zeroed when it is new.
enum { FACT_BASE, FACT_BUFFER, FACT_RESULT, FACT_TEMP, FACT_CONTEXT, FACT_LABEL };
void *fact(lowering *l, const void *key, int kind, size_t size);
void note(lowering *l, bool *flag); // sets a fact
// Says that something new was found. False when nothing is to be learned any more in this round,
// because it went wrong on what it did not know.
bool learn(lowering *l);
void set_add(lowering *l, base_set *set, base *b);  // a fact
void set_push(lowering *l, base_set *set, base *b); // the same, of a set of this round
base_set *set_union(lowering *l, const base_set *a, const base_set *b);
uint32_t set_find(const base_set *set, const base *b); // UINT32_MAX when it is not there
void lower_at(lowering *l, uint32_t offset);

// ---- grid.c: of a kernel with an annotation -----------------------------------------------------

uint32_t grid_rank(lowering *l);
void grid_extents(lowering *l, const uint32_t *first_param, ref *grid);

void lower_kernel(unit *u, function *kernel, const vyre_source_options *options,
                  vyre_program **out);

// ---- expr.c, place.c, init.c, operator.c --------------------------------------------------------

value rvalue(lowering *l, node *n);
ref rvalue_scalar(lowering *l, node *n);
ref condition(lowering *l, node *n);
void effects(lowering *l, node *n);       // for its side effects
bool is_pure(lowering *l, const node *n); // can be evaluated where it is not needed
bool is_lvalue(const node *n);
place lvalue(lowering *l, node *n);
place temporary(lowering *l, node *n, const ctype *type, const value *init);
value init_value(lowering *l, const ctype *type, node *init);
value operate(lowering *l, uint8_t op, value x, value y, const ctype *type, uint32_t offset);
value assign(lowering *l, node *n);
value compound_assign(lowering *l, node *n);
value increment(lowering *l, node *n);
void assign_under(lowering *l, node *n, ref guard); // the value for all, the assignment for some

// ---- call.c, builtin.c --------------------------------------------------------------------------

value call(lowering *l, node *n);
value builtin(lowering *l, node *n);
bool builtin_is_pure(const char *name);
// Whether the call is get_local_size of an axis; *size is then what it gives.
bool builtin_local_size(lowering *l, const node *call, uint64_t *size);

// ---- stmt.c, loop.c, choice.c -------------------------------------------------------------------

// Each returns whether control can come out at the end.
bool lower_stmt(lowering *l, node *s);
bool lower_list(lowering *l, node **list, uint32_t count);
bool lower_for(lowering *l, node *s);
bool lower_while(lowering *l, node *s);
bool lower_do(lowering *l, node *s);
bool lower_switch(lowering *l, node *s);
void lower_hoist(lowering *l, node *s); // declares what a declaration declares, with no value yet
// What the labels were when a statement began.
typedef struct pending {
  uint32_t *jumps;
  uint32_t count;
  label *tail; // of a loop: what it was outside
} pending;
pending pending_begin(lowering *l);
// Whether a jump since then was taken that leads past what follows; 0 when there is none.
ref pending_flag(lowering *l, const pending *p);
// Around the body of a loop of the IR: loop_end goes on with jumps that lead further out.
pending loop_begin(lowering *l);
void loop_end(lowering *l, const pending *p);
label label_begin(lowering *l, label_kind kind, const void *key);
void label_end(lowering *l, label *made);
bool completes(const node *s);
void lower_decl(lowering *l, decl *d);

// ---- tidy.c -------------------------------------------------------------------------------------

// A copy of the program without what does nothing, in an order that reads well.
vyre_status tidy(const vyre_program *program, vyre_program **out, vyre_error *error);

#endif
