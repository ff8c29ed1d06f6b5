// SPDX-License-Identifier: MIT
//
// Declarations, and the text as a whole: the program's line, its buffers, its regions.
#include "ir/text_parser.h"

#include "base/fpenv.h"
#include "ir/limits.h"
#include "ir/tunable.h"

#include <string.h>

// ---- the program's line -------------------------------------------------------------------------

// A program's or region's name may be any word: it stands where nothing else can.
static bool read_title(parser *p, const char *what, char *name) {
  if (p->token.kind != TOKEN_WORD) return parser_fail_expected(p, what, "write one");
  const symbol *s = parser_symbol(p);
  if (s->base != s->size)
    return parser_fail(p, TEXT_P003, p->token.offset,
                       "the name of a program or region has a `$`. Fix: remove it");
  parser_name_text(p, p->token.symbol, name);
  parser_next(p);
  return true;
}

bool parser_declared_name(parser *p, uint32_t *number, char *name) {
  uint32_t offset;
  if (!parser_new_name(p, number, &offset)) return false;
  if (!p->symbols.list.at[*number].base)
    return parser_fail(p, TEXT_P003, offset,
                       "parameters, buffers and tunables need a name. Fix: begin it with a letter");
  parser_name_text(p, *number, name);
  return true;
}

static bool read_params(parser *p) {
  if (!parser_expect(p, TOKEN_LPAREN, "`(`")) return false;
  parser_skip_newlines(p);
  while (p->token.kind != TOKEN_RPAREN) {
    uint32_t number;
    char name[LIMIT_NAME + 1];
    vyre_type type;
    if (!parser_declared_name(p, &number, name) || !parser_expect(p, TOKEN_COLON, "`:`") ||
        !parser_type(p, &type))
      return false;
    parser_bind(p, number, NAME_PARAM, type, vyre_build_param(p->builder, name, type));
    parser_skip_newlines(p);
    if (p->token.kind == TOKEN_COMMA) {
      parser_next(p);
      parser_skip_newlines(p);
    } else if (p->token.kind != TOKEN_RPAREN) {
      return parser_fail_expected(p, "`,` or `)`", "put a comma between parameters");
    }
  }
  parser_next(p);
  return true;
}

static bool read_program(parser *p) {
  char name[LIMIT_NAME + 1];
  uint32_t ulp;
  if (!parser_take_word(p, WORD_PROGRAM))
    return parser_fail_expected(p, "`program`", "begin with program NAME()");
  if (!read_title(p, "the program's name", name)) return false;
  p->builder = vyre_builder_new(name);
  if (!p->builder) return parser_fail_memory(p);
  parser_comments_before(p, COMMENT_BEFORE_ITEM, 0, true);
  if (!read_params(p)) return false;
  if (parser_take_word(p, WORD_FAST)) {
    if (!parser_expect(p, TOKEN_LPAREN, "`(`") || !parser_u32(p, "a number of ULP", &ulp) ||
        !parser_expect(p, TOKEN_RPAREN, "`)`"))
      return false;
    vyre_build_fast(p->builder, ulp);
  }
  return parser_end_item(p);
}

// ---- buffers ------------------------------------------------------------------------------------

static bool read_length(parser *p, ref *length) {
  uint32_t root;
  *length = 0;
  if (!parser_expect(p, TOKEN_LBRACKET, "`[`")) return false;
  parser_skip_newlines(p);
  if (p->token.kind != TOKEN_RBRACKET) {
    expression_begin(p);
    if (!expression_read(p, true, &root)) return false;
    expression_demand(p, root, VYRE_U32);
    if (!expression_emit(p)) return false;
    *length = expression_result(p, root);
  }
  return parser_expect(p, TOKEN_RBRACKET, "`]`");
}

static bool read_access(parser *p, vyre_access *access) {
  if (parser_take_word(p, WORD_READ))
    *access = VYRE_READ;
  else if (parser_take_word(p, WORD_WRITE))
    *access = VYRE_WRITE;
  else if (parser_take_word(p, WORD_READWRITE))
    *access = VYRE_READWRITE;
  else
    return parser_fail_expected(p, "the buffer's access", "write read, write or readwrite");
  return true;
}

static bool read_buffer(parser *p, bool is_transient) {
  uint32_t number;
  char name[LIMIT_NAME + 1];
  vyre_type type;
  ref length;
  vyre_access access = VYRE_READWRITE;
  uint32_t offset = p->token.offset;
  parser_comments_before(p, COMMENT_BEFORE_ITEM, p->items, true);
  parser_next(p);
  if (!parser_declared_name(p, &number, name)) return false;
  uint32_t index = p->buffers++;
  if (!parser_expect(p, TOKEN_COLON, "`:`") || !parser_type(p, &type) || !read_length(p, &length))
    return false;
  if (!is_transient && !read_access(p, &access)) return false;
  builder_at(p->builder, offset);
  if (is_transient)
    vyre_build_transient(p->builder, name, type, length);
  else
    vyre_build_buffer(p->builder, name, type, access, length);
  parser_bind(p, number, NAME_MEMORY, type, MEM_REF(MEM_BUFFER, index));
  return parser_end_item(p);
}

// ---- regions ------------------------------------------------------------------------------------

// `let` before the extents names what several of them share.
static bool read_grid(parser *p, uint32_t *rank, ref *extents) {
  uint32_t roots[3] = {0};
  if (!parser_take_word(p, WORD_GRID))
    return parser_fail_expected(p, "`grid`", "give the region one to three extents: grid(n)");
  if (!parser_expect(p, TOKEN_LPAREN, "`(`")) return false;
  parser_skip_newlines(p);
  while (p->token.kind == TOKEN_WORD && parser_symbol(p)->word == WORD_LET) {
    if (!parser_let(p)) return false;
    parser_skip_newlines(p);
    if (!parser_expect(p, TOKEN_SEMICOLON, "`;`")) return false;
    parser_skip_newlines(p);
  }
  expression_begin(p);
  for (*rank = 0; *rank == 0 || p->token.kind == TOKEN_COMMA; ++*rank) {
    if (*rank == 3) return parser_fail_expected(p, "`)`", "a grid has at most three extents");
    if (*rank) parser_next(p);
    if (!expression_read(p, true, &roots[*rank])) return false;
    expression_demand(p, roots[*rank], VYRE_U32);
  }
  if (!parser_expect(p, TOKEN_RPAREN, "`)`") || !expression_emit(p)) return false;
  for (uint32_t i = 0; i < *rank; i++) extents[i] = expression_result(p, roots[i]);
  return true;
}

static bool read_workgroup(parser *p, ref *workgroup) {
  workgroup[0] = vyre_build_u32(p->builder, TEXT_WORKGROUP);
  workgroup[1] = workgroup[2] = vyre_build_u32(p->builder, 1);
  if (!parser_take_word(p, WORD_WORKGROUP)) return true;
  if (!parser_expect(p, TOKEN_LPAREN, "`(`")) return false;
  for (int i = 0;; i++) {
    parser_skip_newlines(p);
    if (!parser_number(p, "a number of invocations", &workgroup[i])) return false;
    parser_skip_newlines(p);
    if (p->token.kind != TOKEN_COMMA || i == 2) break;
    parser_next(p);
  }
  return parser_expect(p, TOKEN_RPAREN, "`)`");
}

static bool close_region(parser *p) {
  parser_comments_before(p, COMMENT_BEFORE_ITEM, p->items, true);
  parser_next(p);
  vyre_build_region_end(p->builder);
  return parser_end_item(p);
}

// What `let` named between the buffers is for their lengths only.
static void end_header(parser *p) {
  size_t kept = 0;
  for (size_t i = 0; i < p->scope.count; i++) {
    symbol *s = &p->symbols.list.at[p->scope.at[i]];
    if (s->kind == NAME_VALUE)
      s->kind = NAME_NONE;
    else
      p->scope.at[kept++] = p->scope.at[i];
  }
  p->scope.count = kept;
  p->in_header = false;
}

static bool read_region(parser *p) {
  uint32_t offset = p->token.offset, rank = 0;
  ref extents[3] = {0}, workgroup[3];
  char name[LIMIT_NAME + 1];
  if (p->in_header) end_header(p);
  parser_comments_before(p, COMMENT_BEFORE_ITEM, p->items, true);
  parser_next(p);
  uint32_t title = p->token.symbol, title_offset = p->token.offset;
  if (!read_title(p, "the region's name", name)) return false;
  if (p->symbols.list.at[title].is_region)
    return parser_fail(p, TEXT_P031, title_offset,
                       "there is another region `%.200s`. Fix: choose another name", name);
  p->symbols.list.at[title].is_region = true;
  builder_at(p->builder, offset);
  vyre_build_region_begin(p->builder, name);
  size_t scope = p->scope.count;
  if (!read_grid(p, &rank, extents) || !read_workgroup(p, workgroup)) return false;
  parser_end_scope(p, scope);
  vyre_build_grid_of(p->builder, rank, extents, workgroup);
  if (p->token.kind != TOKEN_LBRACE)
    return parser_fail_expected(p, "`{`", "open the region's body on this line");
  parser_comments_before(p, COMMENT_BEFORE_ITEM, p->items, false);
  parser_next(p);
  parser_comment_after(p, COMMENT_AFTER_ITEM, p->items++);
  parser_skip_newlines(p);
  return parser_body(p, offset) && close_region(p);
}

// ---- the whole ----------------------------------------------------------------------------------

static bool read_declaration(parser *p) {
  word w = p->token.kind == TOKEN_WORD ? (word)parser_symbol(p)->word : WORD_NONE;
  uint32_t first = builder_code_count(p->builder);
  bool is_late = !p->in_header;
  switch (w) {
  case WORD_BUFFER:
  case WORD_TRANSIENT:
    if (is_late) break;
    return read_buffer(p, w == WORD_TRANSIENT);
  case WORD_TUNABLE:
    if (is_late) break;
    if (p->buffers || first > 1)
      return parser_fail(p, TEXT_P014, p->token.offset,
                         "a tunable stands after a buffer. Fix: declare it right after the "
                         "program's line");
    return parser_tunable(p);
  case WORD_LET:
    if (is_late) break;
    parser_comments_before(p, COMMENT_BEFORE_OP, first, true);
    return parser_let(p) && parser_end_statement(p, first);
  case WORD_REGION: return read_region(p);
  case WORD_PROGRAM:
    return parser_fail(p, TEXT_P014, p->token.offset,
                       "a second program begins here. Fix: put it into a text of its own");
  default:
    return parser_fail_expected(
        p, "a declaration",
        "declare a tunable, buffer, transient or region; statements stand inside "
        "a region");
  }
  return parser_fail(p, TEXT_P014, p->token.offset,
                     "this stands after a region. Fix: declare it before the first region");
}

static bool read_text(parser *p) {
  if (p->size >= 3 && !memcmp(p->text, "\xef\xbb\xbf", 3)) p->at = 3; // byte order mark
  p->token.kind = TOKEN_NEWLINE;                                      // the text begins like a line
  parser_next(p);
  if (!read_program(p)) return false;
  p->in_header = true;
  for (;;) {
    while (p->token.kind == TOKEN_NEWLINE || p->token.kind == TOKEN_SEMICOLON) parser_next(p);
    if (p->token.kind == TOKEN_END) break;
    if (!read_declaration(p)) return false;
  }
  parser_comments_before(p, COMMENT_BEFORE_ITEM, p->items, true);
  return parser_all_given(p) && p->status == VYRE_OK;
}

static void parser_fini(parser *p) {
  symbols_fini(&p->symbols);
  vec_free(&p->comments);
  vec_free(&p->scope);
  vec_free(&p->blocks);
  vec_free(&p->nodes);
  vec_free(&p->operands);
  vec_free(&p->opens);
  vyre_builder_free(p->builder);
}

static vyre_status finish(parser *p, vyre_program **out) {
  size_t offset = 0;
  builder_source(p->builder,
                 &(builder_source_text){.name = p->file, .text = p->text, .size = p->size});
  vyre_status status = builder_finish(p->builder, out, &offset, p->error);
  if (status == VYRE_OK || !p->error) return status;
  error_place(p->error, p->file, p->text, p->size, offset ? offset - 1 : 0);
  if (!offset) p->error->line = p->error->column = p->error->excerpt[0] = 0; // only the file
  return status;
}

vyre_status vyre_program_parse(const char *text, size_t size, const char *name, vyre_program **out,
                               vyre_error *error) {
  FPENV_SCOPE;
  return text_parse(text, size, name, NULL, 0, out, error);
}

vyre_status text_parse(const char *text, size_t size, const char *name, const tunable_given *given,
                       uint32_t given_count, vyre_program **out, vyre_error *error) {
  if (!out || (!text && size))
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "vyre_program_parse was called with NULL. Fix: pass the text and where the "
                     "program goes");
  *out = NULL;
  if (size > LIMIT_SOURCE_BYTES) {
    error_set(error, text_rules[TEXT_P004].status,
              "the text has %zu bytes, above %zu. Fix: split the program, or store it in the wire "
              "form",
              size, LIMIT_SOURCE_BYTES);
    error_code(error, text_rules[TEXT_P004].code);
    return text_rules[TEXT_P004].status;
  }
  parser p = {.text = text ? text : "",
              .file = name,
              .size = (uint32_t)size,
              .given = given,
              .given_count = given_count,
              .error = error};
  if (!symbols_init(&p.symbols)) parser_fail_memory(&p);
  if (p.status == VYRE_OK) read_text(&p);
  vyre_status status = p.status == VYRE_OK ? finish(&p, out) : p.status;
  parser_fini(&p);
  return status;
}
