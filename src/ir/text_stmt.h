// SPDX-License-Identifier: MIT
//
// Statements of the text form. Part of the parser (text_parser.h), one thread.
#ifndef VYRE_IR_TEXT_STMT_H
#define VYRE_IR_TEXT_STMT_H

#include "ir/text_parser.h"

bool parser_let(parser *p);                           // up to what ends it
bool parser_end_statement(parser *p, uint32_t first); // `first`: where the statement's code began
bool parser_end_item(parser *p);
// The end of what has no place in the program: a constant, a function, an included file.
bool parser_end_extra(parser *p);
// Behind `{` of a region or function, up to its `}`, which is the current token then.
bool parser_block(parser *p, block_kind kind, uint32_t offset);
// Behind a mistake that was told: goes to what ends the statement or opens its block.
void parser_resync(parser *p);
// The same for a declaration: past its block, too.
void parser_resync_declaration(parser *p);

// ---- text_printf.c ------------------------------------------------------------------------------

bool printf_read(parser *p); // a statement, from `printf` on
// Whether a printf follows somewhere in the text, or stands in a function.
bool printf_is_ahead(parser *p);

// ---- text_include.c -----------------------------------------------------------------------------

bool include_read(parser *p); // a declaration, from `include` on

#endif
