// SPDX-License-Identifier: MIT
//
// From the tree to a program. The lowering runs in rounds: each round builds the whole program with
// what is known about its memory, and records what it finds out on the way: which objects have
// their address computed and must be arrays, which types a buffer is accessed as, which objects a
// pointer variable may point into. When a round finds something new, its program is thrown away and
// the next begins; facts only grow, so the rounds end. This way there is no second, approximate
// description of what the lowering will do.
//
// A pointer is a set of memory objects (usually one), the number of the one it points into, and an
// offset. Every value is taken apart into cells, one per leaf of its type.
#ifndef VYRE_FRONT_CLANG_LOWER_H
#define VYRE_FRONT_CLANG_LOWER_H

#include "front/clang/ast.h"
#include "ir/builder.h"

typedef struct base base;

typedef struct base_set {
  base **at;
  uint32_t count, capacity;
} base_set;

typedef struct pointer {
  base_set *set;
  ref sel;      // which of several, u32; 0 when there is only one
  ref index;    // in words of the bases; 0: none
  int64_t disp; // bytes
} pointer;

typedef struct cell {
  ref v;            // the value of a scalar
  const pointer *p; // the value of a pointer
} cell;

typedef struct value {
  const ctype *type;
  cell *at; // one per leaf
} value;

// Where an lvalue is.
typedef struct place {
  const ctype *type;
  pointer at;
  uint8_t lane_count; // not 0: these lanes of the vector `whole` that is at `at`
  uint8_t lanes[16];
  const ctype *whole;
} place;

typedef enum base_kind {
  B_NONE,   // not declared yet in this round
  B_VALUE,  // cells hold values
  B_PARAM,  // parameters of the program: cells hold their numbers
  B_VARS,   // cells hold variables
  B_MEMORY, // an array or a buffer
  B_TABLE,  // constants: cells hold them, `mem` a buffer with the same content once it is needed
  B_NULL,   // the null pointer
} base_kind;

typedef struct var_cell { // of B_VARS: a scalar's variable, or the variables of a pointer
  vyre_var v;             // scalar, or the pointer's index
  vyre_var sel;           // of a pointer with several bases
} var_cell;

// One object of the source in one place of the inlined program.
struct base {
  // Facts; they only grow.
  bool is_read, is_written, is_atomic;
  bool in_memory;    // private: variables do not do
  bool is_mutable;   // private: values do not do
  bool is_dynamic;   // a table is indexed by a value
  bool is_mixed;     // accessed as several types
  vyre_type access;  // the type that it is accessed as; VYRE_VOID: not yet
  vyre_type order;   // as which it is compared by atomics; VYRE_VOID: not
  uint64_t grain;    // greatest common divisor of sizes, strides and displacements; 0: none yet
  base_set **stored; // per leaf that is a pointer: what was stored there
  base_set held;     // of an object in memory: all pointers that were stored into it
  uint32_t number;   // in order of creation
  uint64_t *table;   // of a constant object: the bits of its leaves

  // Of this round.
  base_kind kind;
  const char *name;
  const ctype *type;
  addr_space space;
  uint64_t size; // bytes; 0: unknown
  cell *cells;
  var_cell *vars;
  vyre_mem mem;
  bool has_buffer;     // B_TABLE: `mem` is one
  vyre_type word;      // of `mem`
  uint32_t word_bytes; // also for pointers into B_VARS
  bool is_hoisted;     // declared before the switch that declares it
  base *self;          // a set of one
  base_set alone;
  uint32_t offset;
};

// A call in the inlined program: together with a declaration it names an object.
typedef struct context {
  struct context *outer;
  const node *call;
  function *f;
  uint32_t number;
} context;

// Where a jump leads that the IR does not have. The jump skips what follows by nesting it into
// `else`, or by a flag that is tested.
typedef enum label_kind { LABEL_RETURN, LABEL_BREAK, LABEL_CONTINUE } label_kind;

typedef struct label {
  struct label *outer;
  label_kind kind;
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

typedef struct lowering {
  unit *u;
  vyre_builder *b;
  const vyre_opencl_options *options;
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
  uint32_t grid_params[3];
  base *null;
  base_set *loaded; // what is loaded from, while someone wants to know
} lowering;

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

void lower_kernel(unit *u, function *kernel, const vyre_opencl_options *options,
                  vyre_program **out);

// ---- emit.c: operations, folded where all operands are constants --------------------------------

ref e_const(lowering *l, vyre_type type, uint64_t bits);
ref e_int(lowering *l, vyre_type type, int64_t value);
ref e_float(lowering *l, vyre_type type, double value);
ref e_zero(lowering *l, vyre_type type);
bool e_is_const(lowering *l, ref r, uint64_t *bits);
bool e_is_int(lowering *l, ref r, int64_t value);
vyre_type e_type(lowering *l, ref r);
ref e_unary(lowering *l, vyre_op op, ref x);
ref e_binary(lowering *l, vyre_op op, ref x, ref y);
ref e_add_const(lowering *l, ref x, int64_t c); // of integers; joins sums with constants
ref e_select(lowering *l, ref c, ref x, ref y);
ref e_fma(lowering *l, ref x, ref y, ref z);
ref e_convert(lowering *l, vyre_type type, ref x); // as C converts, to bool too
ref e_bits(lowering *l, vyre_type type, ref x);    // the same bits as another type of the width
ref e_true(lowering *l, ref x);                    // x != 0
ref e_not(lowering *l, ref x);                     // of a bool
ref e_and(lowering *l, ref x, ref y);              // of bools
ref e_or(lowering *l, ref x, ref y);
void e_name(lowering *l, ref r, const char *name);
bool e_is_named(lowering *l, ref r);
void e_mark_named(lowering *l, ref r); // it is printed by a name that it has already
// Gives the value a name: its own when it was made since `since` and has none, else a copy's.
ref e_let(lowering *l, ref r, uint32_t since, const char *name);
void e_suggest(lowering *l, ref r, uint32_t since, const char *name); // its own name, or none

// ---- base.c: objects ----------------------------------------------------------------------------

base *base_of_decl(lowering *l, const decl *d);
base *base_new(lowering *l, const void *key, int kind);
// Gives a private object its storage of this round. `init` may have no cells: all zero. A constant
// has its own name; a parameter of an inlined function is what it was called with.
typedef enum base_use { BASE_MUTABLE, BASE_CONSTANT, BASE_PARAMETER } base_use;
void base_declare(lowering *l, base *b, const char *name, const ctype *type, base_use use,
                  const value *init, uint32_t since, uint32_t offset);
void base_declare_table(lowering *l, base *b, const char *name, const ctype *type,
                        const value *init, uint32_t offset);
void base_fill_table(lowering *l, base *b); // its region
void base_declare_shared(lowering *l, base *b, const char *name, const ctype *type,
                         uint64_t size_bytes, uint32_t offset);
void base_grain(lowering *l, base *b, uint64_t bytes); // a size, stride or displacement
void base_indexed(lowering *l, base *b); // its address is computed: registers do not do
void base_words(lowering *l, base *b);   // chooses the word of this round from the facts
vyre_type base_first_type(lowering *l, const ctype *type, uint32_t offset);

// ---- access.c: loads and stores -----------------------------------------------------------------

value load(lowering *l, const place *from, uint32_t offset);
void store(lowering *l, const place *to, value v, uint32_t offset);
ref load_scalar(lowering *l, const pointer *p, int64_t disp, vyre_type type, uint32_t offset);
void store_scalar(lowering *l, const pointer *p, int64_t disp, ref v, uint32_t offset);
// The memory and index of an atomic access; both must be single and exact.
// `is_order`: the sign of the elements matters.
vyre_mem atomic_place(lowering *l, const pointer *p, vyre_type type, bool is_order, ref *index,
                      uint32_t offset);

// ---- bits.c: the same bytes cut differently -----------------------------------------------------

// A scalar that stands at byte `at` of something.
typedef struct piece {
  uint64_t at;
  ref v;
} piece;
// The scalar of `type` at byte `at`, cut from little-endian pieces; zero where there are none.
ref bits_cut(lowering *l, const piece *pieces, uint32_t count, uint64_t at, vyre_type type);
// Bytes from `at` on of the value, as `type`.
value bits_as(lowering *l, value v, uint64_t at, const ctype *type, uint32_t offset);

// ---- pointer.c ----------------------------------------------------------------------------------

pointer pointer_to(lowering *l, base *b);
pointer pointer_null(lowering *l);
pointer pointer_add(lowering *l, pointer p, ref i, uint64_t stride);
pointer pointer_select(lowering *l, ref c, const pointer *x, const pointer *y);
ref pointer_compare(lowering *l, vyre_op op, const pointer *x, const pointer *y);
ref pointer_difference(lowering *l, const pointer *x, const pointer *y, uint64_t stride);
ref pointer_is_set(lowering *l, const pointer *p);                  // not null
ref pointer_is_in(lowering *l, const pointer *p, uint32_t number);  // points into that of its set
ref pointer_index(lowering *l, const pointer *p, int64_t disp);     // in words, never 0
ref pointer_sel(lowering *l, const pointer *p, const base_set *in); // its number in another set
uint32_t pointer_word(lowering *l, const pointer *p);
const pointer *pointer_keep(lowering *l, pointer p); // a copy in the arena
bool pointer_is_small(const pointer *p);

// ---- value.c ------------------------------------------------------------------------------------

value value_new(lowering *l, const ctype *type, uint32_t offset);
value value_zero(lowering *l, const ctype *type, uint32_t offset);
value value_scalar(lowering *l, ref v); // of the type of `v`
value value_pointer(lowering *l, const ctype *type, pointer p);
value value_convert(lowering *l, value v, const ctype *to, uint32_t offset);
ref value_lane(lowering *l, vyre_type type, ref x); // as e_convert, but true is -1
value value_select(lowering *l, ref c, value x, value y);
uint32_t type_leaf_count(lowering *l, const ctype *type, uint32_t offset);

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
void jump(lowering *l, label *to);
bool completes(const node *s);
void lower_decl(lowering *l, decl *d);

// ---- prune.c ------------------------------------------------------------------------------------

// A copy of the program without what does nothing.
vyre_status prune(const vyre_program *program, vyre_program **out, vyre_error *error);

#endif
