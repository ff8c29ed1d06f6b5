// SPDX-License-Identifier: MIT
//
// What the frontends and passes use of the builder beyond the public vyre_build_* calls. One
// builder, one thread.
#ifndef VYRE_IR_BUILDER_H
#define VYRE_IR_BUILDER_H

#include "ir/program.h"

// Where the operations built from now on come from: a byte offset in the source text, for messages.
void builder_at(vyre_builder *b, size_t source_offset);

// Notes the path of the source text (NULL: it has none) and where its lines begin, for debug
// information and findings. `begins_undefined`: arrays of that language have no value at first.
// `lines` are where they begin, when that is known: many programs of one source look for them once.
typedef struct builder_source_text {
  const char *name, *text;
  size_t size;
  bool begins_undefined;
  const uint32_t *lines; // borrowed; NULL: not known
  uint32_t line_count;
} builder_source_text;
void builder_source(vyre_builder *b, const builder_source_text *source);

// Appends one operation as it is: operands already refer to the new program. The type is computed
// from the rule when `in->type` is VYRE_VOID.
ref builder_emit(vyre_builder *b, const inst *in);
const inst *builder_inst(const vyre_builder *b, ref r); // borrowed until the next call
// The constant's bits when `r` is one.
bool builder_const_bits(const vyre_builder *b, ref r, uint64_t *bits);
uint32_t builder_code_count(const vyre_builder *b);
uint32_t builder_shared_count(const vyre_builder *b);

// What is built is a lowered program for this lower_target, which is copied: from now on operations
// may promise preconditions (lowered.def). For src/lower alone.
void builder_lower_for(vyre_builder *b, const void *target, size_t size);
// The open region's x was this axis before it was lowered (analysis/axis.h).
// Of a parameter that is declared.
void builder_set_param_type(vyre_builder *b, uint32_t index, vyre_type type);
void builder_set_lanes(vyre_builder *b, uint32_t lanes);
// An invocation of the open region was a workgroup before it was lowered.
void builder_set_merged(vyre_builder *b);

// Declares what `from` declares (name, fast, parameters, buffers with their header code), so that a
// pass can go on with the regions. Parameter and buffer numbers stay the same.
void builder_copy_interface(vyre_builder *b, const vyre_program *from);
// The same with transient buffers as ones that are bound, to read and to write.
void builder_copy_interface_bound(vyre_builder *b, const vyre_program *from);
// The first part of it: name, fast and parameters, without buffers. What is built is derived from a
// program that was taken, so that V066 is not asked again: passes can prove more than the verifier.
void builder_copy_head(vyre_builder *b, const vyre_program *from);
// Copies a whole region unchanged; `map` as below.
void builder_copy_region(vyre_builder *b, const vyre_program *from, uint32_t region, ref *map);
// Copies one operation; `map` (code_count entries, zeroed) says what became of the old values and
// is updated. Shared arrays of the region must have been declared in the same order; `shared_shift`
// is added to their numbers.
ref builder_copy_inst(vyre_builder *b, const vyre_program *from, uint32_t index, ref *map,
                      uint32_t shared_shift);
ref builder_map_ref(vyre_builder *b, const vyre_program *from, ref old, const ref *map);
// The operation with its operands mapped, not yet emitted.
inst builder_map_inst(vyre_builder *b, const vyre_program *from, uint32_t index, const ref *map,
                      uint32_t shared_shift);
// Begins a region like one of `from`: name, grid, workgroup, shared arrays. Returns what is to be
// added to the numbers of its shared arrays.
uint32_t builder_begin_like(vyre_builder *b, const vyre_program *from, uint32_t region, ref *map);
void builder_name_if_unnamed(vyre_builder *b, ref value, const char *name);

// As vyre_build_name, with a name that need not end in a NUL.
void builder_name(vyre_builder *b, ref value, const char *name, size_t size);

// The first mistake, or VYRE_OK; builder_fail sets it unless there is one.
vyre_status builder_status(const vyre_builder *b);
void builder_fail(vyre_builder *b, vyre_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// A formula over tunables, from its terms in postfix order; a reference that can stand where
// vyre_build_formula's can.
ref builder_formula(vyre_builder *b, const formula_term *terms, uint32_t count);
// Whether the reference is a tunable alone, and which.
bool builder_is_tunable(const vyre_builder *b, ref r, uint32_t *number);
uint32_t builder_tunable_count(const vyre_builder *b);
const tunable *builder_tunable(const vyre_builder *b, uint32_t index); // until the next is declared

// Keeps a comment of the text form.
void builder_comment(vyre_builder *b, uint32_t kind, uint32_t anchor, const char *text,
                     size_t size);

// As vyre_builder_finish, with the place of a fault: *offset is the source offset plus 1 that
// builder_at gave for the operation or declaration at fault, 0 when there is none.
vyre_status builder_finish(vyre_builder *b, vyre_program **out, size_t *offset, vyre_error *error);

// The same, telling every operation at fault and not only the first. `is_partial`: what is built is
// not whole, and only operations are looked at. The error is the first fault.
typedef void builder_visit(void *data, size_t offset, const vyre_error *fault);
vyre_status builder_finish_each(vyre_builder *b, vyre_program **out, bool is_partial,
                                builder_visit *visit, void *data, vyre_error *error);

#endif
