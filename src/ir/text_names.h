// SPDX-License-Identifier: MIT
//
// Names of the text form: where they are declared, what they name, and the parts of vectors. Part
// of the parser (text_parser.h), one thread.
#ifndef VYRE_IR_TEXT_NAMES_H
#define VYRE_IR_TEXT_NAMES_H

#include "ir/text_parser.h"

// Reads `name` where one is declared, without declaring it yet.
bool parser_new_name(parser *p, uint32_t *symbol, uint32_t *offset);
// The same for parameters, buffers and tunables, which cannot do without one; `name` has
// LIMIT_NAME + 1 bytes.
bool parser_declared_name(parser *p, uint32_t *symbol, char *name);
void parser_bind(parser *p, uint32_t symbol, name_kind kind, vyre_type type, uint32_t at,
                 uint32_t offset);
// The same for a vector, whose parts are of the kind.
void parser_bind_vector(parser *p, uint32_t symbol, name_kind kind, vyre_type type,
                        const uint32_t *at, uint8_t lanes, uint32_t offset);
void parser_bind_memory(parser *p, uint32_t symbol, vyre_type type, uint8_t lanes, uint32_t at,
                        uint32_t offset);
void parser_end_scope(parser *p, size_t count);
// The name without its `$`, in `buffer` of LIMIT_NAME + 1 bytes.
const char *parser_name_text(const parser *p, uint32_t symbol, char *buffer);
// Gives a value its name; `lane` below 0 when it is no part of a vector.
void parser_name_value(parser *p, ref value, uint32_t symbol, int lane);
// The name of a vector's part; false when it is too long. `buffer` has LIMIT_NAME + 1 bytes.
bool parser_lane_name(const parser *p, uint32_t symbol, uint32_t lane, char *buffer);

bool parser_type(parser *p, vyre_type *type);                       // of single numbers
bool parser_short_type(parser *p, vyre_type *type, uint8_t *lanes); // or of a vector

// A word such as v.xz, where v is a vector.
typedef struct name_split {
  uint32_t symbol; // of the vector
  unsigned count;
  uint8_t lanes[MOST_LANES];
} name_split;
bool name_swizzle(parser *p, uint32_t symbol, name_split *out);

// For editors: a name is used, or a function called.
void mark_use(const parser *p, uint32_t symbol, uint32_t offset);
void mark_call(const parser *p, uint32_t function, uint32_t offset);
// The current token is the name of the program or of a region.
void mark_title(const parser *p, const char *what);
void mark_function(const parser *p, uint32_t function);

#endif
