// SPDX-License-Identifier: MIT
//
// Values, places and objects of the lowering. A pointer is a set of memory objects (usually one),
// the number of the one it points into, and an offset. Every value is taken apart into cells, one
// per leaf of its type. All of it lives in the unit's arena.
#ifndef VYRE_FRONT_CLANG_VALUE_H
#define VYRE_FRONT_CLANG_VALUE_H

#include "front/clang/ast.h"
#include "front/clang/emit.h"

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
  bool is_global;    // a variable in global memory: the program has a buffer for it
  bool holds;        // pointers are read from it
  bool is_patched;   // and numbers were stored into it, which may be pointers
  bool is_kept;      // `held` is one of the sets with words of one size
  vyre_type access;  // the type that it is accessed as; VYRE_VOID: not yet
  vyre_type order;   // as which it is compared by atomics; VYRE_VOID: not
  vyre_type bits;    // as which its bits are exchanged by atomics; VYRE_VOID: not
  vyre_type pixel;   // of an image: as which it is read and written; VYRE_VOID: not yet
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
  uint64_t size;             // bytes; 0: unknown
  const struct image *image; // of an argument that is one
  cell *cells;
  var_cell *vars;
  vyre_mem mem;
  bool has_buffer;     // B_TABLE: `mem` is one
  vyre_type word;      // of `mem`
  uint32_t word_bytes; // also for pointers into B_VARS
  bool is_hoisted;     // declared before the switch that declares it
  bool is_declaring;   // its initialiser is being lowered
  base *self;          // a set of one
  base_set alone;
  uint32_t offset;
};

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
// A variable in global memory: a buffer of the next round. In this one, which is thrown away,
// something stands in for it.
void base_stand_in(lowering *l, base *b, const char *name, const ctype *type, uint32_t offset);
void base_begin_global(lowering *l, base *b); // the same of a table, which its buffer begins with
uint64_t base_word_total(const base *b);      // of its buffer
void base_declare_shared(lowering *l, base *b, const char *name, const ctype *type,
                         uint64_t size_bytes, uint32_t offset);
vyre_access base_access(const base *b);                // what the kernel does with a buffer
void base_grain(lowering *l, base *b, uint64_t bytes); // a size, stride or displacement
void base_indexed(lowering *l, base *b);      // its address is computed: registers do not do
vyre_type leaf_word(const ctype *type);       // what a leaf is in memory
vyre_type base_first_type(const ctype *type); // the words that memory of the type consists of
void base_words(base *b);                     // chooses the word of this round from the facts

// ---- access.c: loads and stores -----------------------------------------------------------------

value load(lowering *l, const place *from, uint32_t offset);
void store(lowering *l, const place *to, value v, uint32_t offset);
// Word by word in a loop, for what is too large to be taken apart.
bool copies_in_loop(const ctype *type);
void copy_in_loop(lowering *l, const place *to, const place *from);
ref load_scalar(lowering *l, const pointer *p, int64_t disp, vyre_type type, uint32_t offset);
void store_scalar(lowering *l, const pointer *p, int64_t disp, ref v, uint32_t offset);
// The memory and index of an atomic access to one of the objects of a pointer.
typedef enum atomic_kind {
  ATOMIC_BITS,  // exchanges: any type of the size does
  ATOMIC_SUM,   // integers of any sign, or floats
  ATOMIC_ORDER, // exactly this type
} atomic_kind;
vyre_mem atomic_place(lowering *l, const pointer *p, uint32_t which, vyre_type type,
                      atomic_kind kind, ref *index, uint32_t offset);

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
ref pointer_is_set(lowering *l, const pointer *p);                 // not null
ref pointer_is_in(lowering *l, const pointer *p, uint32_t number); // points into that of its set
ref pointer_index(lowering *l, const pointer *p, int64_t disp);    // in words, never 0
// The same of a word of what is accessed there: words may be larger in the next round.
ref pointer_piece(lowering *l, const pointer *p, int64_t disp);
ref pointer_sel(lowering *l, const pointer *p, const base_set *in); // its number in another set
// A pointer as a number: every object has 2^40 bytes of addresses, null is 0.
ref pointer_number(lowering *l, const pointer *p);
// The same of one that no number of the source is made of, and back to one of a set.
ref pointer_address(lowering *l, const pointer *p);
pointer pointer_of_address(lowering *l, ref number, base_set *set);
void pointer_expose(lowering *l, const base_set *set); // numbers of the source may point there
// And back: refuses a number that comes from elsewhere.
pointer pointer_of_number(lowering *l, ref number, addr_space space, uint32_t offset);
const pointer *pointer_keep(lowering *l, pointer p); // a copy in the arena
bool pointer_is_small(const pointer *p);

// ---- value.c ------------------------------------------------------------------------------------

value value_new(lowering *l, const ctype *type, uint32_t offset);
value value_zero(lowering *l, const ctype *type, uint32_t offset);
value value_scalar(lowering *l, ref v); // of the type of `v`
value value_number(lowering *l, const ctype *type, ref v);
value value_pointer(lowering *l, const ctype *type, pointer p);
value value_convert(lowering *l, value v, const ctype *to, uint32_t offset);
ref value_lane(lowering *l, vyre_type type, ref x); // as e_convert, but true is -1
value value_select(lowering *l, ref c, value x, value y);
uint32_t type_leaf_count(lowering *l, const ctype *type, uint32_t offset);

#endif
