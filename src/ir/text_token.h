// SPDX-License-Identifier: MIT
//
// The tokens of the text form, as text_lex.c makes them. Plain values.
#ifndef VYRE_IR_TEXT_TOKEN_H
#define VYRE_IR_TEXT_TOKEN_H

#include "ir/text_literal.h"

typedef enum token_kind {
  TOKEN_END,
  TOKEN_BAD, // the failure is set
  TOKEN_NEWLINE,
  TOKEN_WORD,
  TOKEN_NUMBER,
  TOKEN_STRING, // with its quotes
  TOKEN_LPAREN,
  TOKEN_RPAREN,
  TOKEN_LBRACKET,
  TOKEN_RBRACKET,
  TOKEN_LBRACE,
  TOKEN_RBRACE,
  TOKEN_COMMA,
  TOKEN_COLON,
  TOKEN_SEMICOLON,
  TOKEN_DOTS,
  TOKEN_DOT, // before a letter
  TOKEN_ARROW,
  TOKEN_QUESTION,
  TOKEN_ASSIGN,
  TOKEN_NOT,
  TOKEN_TILDE,
  // Binary operators from here on.
  TOKEN_PLUS,
  TOKEN_MINUS,
  TOKEN_STAR,
  TOKEN_SLASH,
  TOKEN_PERCENT,
  TOKEN_SHL,
  TOKEN_SHR,
  TOKEN_AND,
  TOKEN_XOR,
  TOKEN_OR,
  TOKEN_EQ,
  TOKEN_NE,
  TOKEN_LT,
  TOKEN_LE,
  TOKEN_GT,
  TOKEN_GE,
  TOKEN_AND_AND,
  TOKEN_OR_OR
} token_kind;

typedef struct token {
  token_kind kind;
  uint32_t offset, size;
  uint32_t symbol; // of a word
  literal literal; // of a number
} token;

#endif
