// SPDX-License-Identifier: MIT
//
// Declarations, and the text as a whole: the program's line, its buffers, its regions.
#include "base/fpenv.h"
#include "ir/limits.h"
#include "ir/text_names.h"
#include "ir/text_stmt.h"

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
  mark_title(p, p->builder ? "region" : "program");
  parser_next(p);
  return true;
}

// A vector is as many parameters as it has parts.
static bool bind_param(parser *p, uint32_t number, const char *name, vyre_type type, uint8_t lanes,
                       uint32_t offset) {
  uint32_t at[MOST_LANES];
  char part[LIMIT_NAME + 1];
  if (lanes == 1) {
    parser_bind(p, number, NAME_PARAM, type, vyre_build_param(p->builder, name, type), offset);
    return true;
  }
  for (uint32_t k = 0; k < lanes; k++) {
    if (!parser_lane_name(p, number, k, part))
      return parser_fail(p, TEXT_P003, offset,
                         "the name is too long for its parts. Fix: use at "
                         "most %d bytes",
                         LIMIT_NAME - 2);
    at[k] = vyre_build_param(p->builder, part, type);
  }
  parser_bind_vector(p, number, NAME_PARAM, type, at, lanes, offset);
  return true;
}

static bool read_params(parser *p) {
  if (!parser_expect(p, TOKEN_LPAREN, "`(`")) return false;
  parser_skip_newlines(p);
  while (p->token.kind != TOKEN_RPAREN) {
    uint32_t number;
    uint32_t offset = p->token.offset;
    char name[LIMIT_NAME + 1];
    vyre_type type;
    uint8_t lanes;
    if (!parser_declared_name(p, &number, name) || !parser_expect(p, TOKEN_COLON, "`:`") ||
        !parser_short_type(p, &type, &lanes) || !bind_param(p, number, name, type, lanes, offset))
      return false;
    if (!parser_behind_param(p)) return false;
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

// A length counts vectors, where the elements are some.
static bool read_length(parser *p, uint8_t lanes, ref *length) {
  uint32_t root;
  *length = 0;
  if (!parser_expect(p, TOKEN_LBRACKET, "`[`")) return false;
  parser_skip_newlines(p);
  if (p->token.kind != TOKEN_RBRACKET) {
    expression_begin(p);
    if (!expression_read(p, true, &root)) return false;
    uint32_t offset = p->token.offset;
    if (lanes > 1) root = node_op2(p, VYRE_OP_MUL, root, node_number(p, lanes, offset), offset);
    if (root == UINT32_MAX) return false;
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
  uint8_t lanes;
  uint32_t offset = p->token.offset;
  parser_comments_before(p, COMMENT_BEFORE_ITEM, p->items, true);
  parser_next(p);
  uint32_t name_offset = p->token.offset;
  if (!parser_declared_name(p, &number, name)) return false;
  uint32_t index = p->buffers++;
  if (!parser_expect(p, TOKEN_COLON, "`:`") || !parser_short_type(p, &type, &lanes) ||
      !read_length(p, lanes, &length))
    return false;
  if (!is_transient && !read_access(p, &access)) return false;
  parser_at(p, offset);
  if (is_transient)
    vyre_build_transient(p->builder, name, type, length);
  else
    vyre_build_buffer(p->builder, name, type, access, length);
  parser_bind_memory(p, number, type, lanes, MEM_REF(MEM_BUFFER, index), name_offset);
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
    if (!parser_number(p, "a number of invocations", 1, &workgroup[i])) return false;
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

// Where functions that nothing calls are read, their parameters need something to stand for.
static void build_spare_buffers(parser *p) {
  if (!p->checks_rest) return;
  p->spare = p->buffers;
  for (int type = VYRE_BOOL; type < VYRE_TYPE_COUNT; type++)
    vyre_build_buffer(p->builder, "", (vyre_type)type, VYRE_READWRITE, 0);
}

static bool build_print_buffer(parser *p) {
  if (!printf_is_ahead(p)) return p->status == VYRE_OK;
  uint32_t number = symbols_intern(&p->symbols, "printf", 6, 6);
  if (number == UINT32_MAX) return parser_fail_memory(p);
  const symbol *s = &p->symbols.list.at[number];
  bool is_there = s->kind != NAME_NONE;
  if (is_there && (s->kind != NAME_MEMORY || s->named_type != VYRE_U32))
    return parser_fail(
        p, TEXT_P031, p->token.offset,
        "`printf` needs its name for its buffer. Fix: rename what has it, or declare "
        "it as buffer printf: u32[] readwrite");
  p->print = is_there ? mem_index(s->at) : p->buffers++;
  if (!is_there) {
    vyre_build_buffer(p->builder, "printf", VYRE_U32, VYRE_READWRITE, 0);
    p->items++;
  }
  p->has_print = true;
  return true;
}

// What `let` named between the buffers is for their lengths only.
static bool end_header(parser *p) {
  size_t kept = 0;
  for (size_t i = 0; i < p->scope.count; i++) {
    symbol *s = &p->symbols.list.at[p->scope.at[i].number];
    bool is_let = (s->kind == NAME_VALUE && !ref_is_const(s->at)) ||
                  (s->kind == NAME_VECTOR && p->parts.at[s->at].kind == NAME_VALUE);
    if (is_let) {
      s->kind = NAME_NONE;
      s->past = PAST_HEADER;
    } else {
      p->scope.at[kept++] = p->scope.at[i];
    }
  }
  p->scope.count = kept;
  p->in_header = false;
  bool ok = build_print_buffer(p);
  build_spare_buffers(p);
  return ok;
}

static bool read_region_head(parser *p, uint32_t *rank, ref *extents, ref *workgroup) {
  size_t scope = p->scope.count;
  if (!read_grid(p, rank, extents) || !read_workgroup(p, workgroup)) return false;
  parser_end_scope(p, scope);
  if (p->token.kind == TOKEN_LBRACE) return true;
  return parser_fail_expected(p, "`{`", "open the region's body on this line");
}

static bool read_region(parser *p) {
  uint32_t offset = p->token.offset, rank = 0;
  ref extents[3] = {0}, workgroup[3];
  char name[LIMIT_NAME + 1];
  if (p->in_header && !end_header(p)) return false;
  parser_comments_before(p, COMMENT_BEFORE_ITEM, p->items, true);
  parser_next(p);
  uint32_t title = p->token.symbol, title_offset = p->token.offset;
  if (!read_title(p, "the region's name", name)) return false;
  if (p->symbols.list.at[title].is_region)
    return parser_fail(p, TEXT_P031, title_offset,
                       "there is another region `%.200s`. Fix: choose another name", name);
  p->symbols.list.at[title].is_region = true;
  parser_at(p, offset);
  vyre_build_region_begin(p->builder, name);
  p->frame = 1;
  if (!read_region_head(p, &rank, extents, workgroup)) {
    // What is wrong with the head leaves the body to be looked at.
    if (!parser_recover(p)) return false;
    parser_resync(p);
    if (p->token.kind != TOKEN_LBRACE) return false;
    rank = 1;
    extents[0] = workgroup[0] = workgroup[1] = workgroup[2] = vyre_build_u32(p->builder, 1);
  }
  vyre_build_grid_of(p->builder, rank, extents, workgroup);
  parser_comments_before(p, COMMENT_BEFORE_ITEM, p->items, false);
  parser_next(p);
  parser_comment_after(p, COMMENT_AFTER_ITEM, p->items++);
  parser_skip_newlines(p);
  p->has_code = false;
  bool ok = parser_block(p, BLOCK_REGION, offset) && close_region(p);
  p->frame = 0;
  return ok;
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
  case WORD_CONST: return parser_const(p);
  case WORD_FN: return function_declare(p);
  case WORD_INCLUDE: return include_read(p);
  case WORD_PROGRAM:
    return parser_fail(p, TEXT_P014, p->token.offset,
                       "a second program begins here. Fix: put it into a text of its own");
  default:
    return parser_fail_expected(
        p, "a declaration",
        "declare a tunable, buffer, transient, const, fn or region; statements stand inside a "
        "region");
  }
  return parser_fail(p, TEXT_P014, p->token.offset,
                     "this stands after a region. Fix: declare it before the first region");
}

// Goes on behind a wrong declaration; false when that cannot be.
static bool recover_declaration(parser *p) {
  uint32_t name = p->declaring;
  p->declaring = 0;
  bool is_end = p->token.kind == TOKEN_END; // of a block that is not closed
  if (!parser_recover(p)) return false;
  parser_end_scope(p, p->frame ? p->globals : p->scope.count);
  p->blocks.count = 0;
  if (p->frame) vyre_build_region_end(p->builder);
  p->frame = 0;
  parser_resync_declaration(p);
  if (name && p->symbols.list.at[name - 1].kind == NAME_NONE)
    parser_bind(p, name - 1, NAME_BROKEN, VYRE_VOID, 0, p->token.offset);
  parser_drop_comments(p);
  return !is_end && p->status == VYRE_OK;
}

static bool read_declarations(parser *p) {
  for (;;) {
    while (p->token.kind == TOKEN_NEWLINE || p->token.kind == TOKEN_SEMICOLON) parser_next(p);
    if (p->token.kind == TOKEN_END) return true;
    p->globals = p->scope.count;
    if (!read_declaration(p) && !recover_declaration(p)) return p->token.kind == TOKEN_END;
  }
}

static bool read_text(parser *p) {
  if (p->size >= 3 && !memcmp(p->text, "\xef\xbb\xbf", 3)) p->at = 3; // byte order mark
  p->token.kind = TOKEN_NEWLINE;                                      // the text begins like a line
  parser_next(p);
  if (!read_program(p) && !recover_declaration(p)) return false;
  p->in_header = true;
  if (!read_declarations(p) || p->status != VYRE_OK) return false;
  parser_comments_before(p, COMMENT_BEFORE_ITEM, p->items, true);
  if (!parser_all_given(p) && !parser_recover(p)) return false;
  if (!p->checks_rest) return p->status == VYRE_OK;
  p->is_silent = p->is_read_again = false;
  return (!p->in_header || end_header(p)) && function_check_rest(p);
}

static void parser_fini(parser *p) {
  for (size_t i = 0; i < p->sources.count; i++) free(p->sources.at[i].owned);
  vec_free(&p->sources);
  symbols_fini(&p->symbols);
  vec_free(&p->comments);
  vec_free(&p->scope);
  vec_free(&p->parts);
  vec_free(&p->literals);
  vec_free(&p->blocks);
  vec_free(&p->functions);
  vec_free(&p->told);
  expression_fini(&p->expr);
  vyre_builder_free(p->builder);
}

static void place_fault(const parser *p, size_t offset, vyre_error *error) {
  error_place(error, p->file, p->text, p->size, offset ? offset - 1 : 0);
  if (!offset) error->line = error->column = error->excerpt[0] = 0; // only the file
}

// A fault of the program, where every mistake is wanted.
static void tell_fault(void *data, size_t offset, const vyre_error *fault) {
  parser *p = data;
  p->scratch = *fault;
  place_fault(p, offset, &p->scratch);
  if (p->mistakes >= TEXT_MOST_MISTAKES) return;
  if (!p->mistakes++ && p->error) *p->error = p->scratch;
  p->options->mistake(p->options->data, &p->scratch);
}

static vyre_status finish(parser *p, vyre_program **out) {
  size_t offset = 0;
  vyre_error first;
  builder_source(p->builder,
                 &(builder_source_text){.name = p->file, .text = p->text, .size = p->size});
  if (p->options->mistake) {
    vyre_status status = builder_finish_each(p->builder, out, p->is_broken, tell_fault, p, &first);
    if (status != VYRE_OK && !p->mistakes) {
      place_fault(p, 0, &first);
      tell_fault(p, 0, &first);
    }
    return status;
  }
  vyre_status status = builder_finish(p->builder, out, &offset, p->error);
  if (status != VYRE_OK && p->error) place_fault(p, offset, p->error);
  return status;
}

static bool has_rest(const parser *p) {
  for (size_t i = 0; i < p->functions.count; i++)
    if (!p->functions.at[i].was_called) return true;
  return false;
}

// Reads the text once. `checks_rest`: for the sake of functions that nothing calls; *has_some says
// whether there are such.
static vyre_status read_once(const char *text, size_t size, const char *name,
                             const text_options *options, bool checks_rest, bool *has_some,
                             vyre_program **out, vyre_error *error) {
  parser p = {.text = text ? text : "",
              .file = name,
              .size = (uint32_t)size,
              .options = options,
              .frames = 1,
              .seen_order = UINT32_MAX,
              .checks_rest = checks_rest,
              .is_silent = checks_rest,
              .is_read_again = checks_rest,
              .error = error};
  text_source self = {.text = p.text, .file = name, .size = p.size};
  if (!symbols_init(&p.symbols) || !vec_push(&p.sources, self)) parser_fail_memory(&p);
  bool ok = p.status == VYRE_OK && read_text(&p);
  // A builder that has failed says so when it is finished.
  bool is_finished = (ok || p.status == VYRE_OK) && p.builder && !checks_rest;
  vyre_status status = is_finished ? finish(&p, out) : p.status;
  if (p.mistakes && (status == VYRE_OK || p.status == VYRE_OK)) {
    vyre_program_release(*out);
    *out = NULL;
    status = error ? error->status : VYRE_ERROR_SYNTAX;
  }
  if (status != VYRE_OK && !p.mistakes && p.options->mistake && !p.is_silent) {
    if (error && status != VYRE_ERROR_MEMORY && p.status != VYRE_OK) *error = p.scratch;
    if (status != VYRE_ERROR_MEMORY) p.options->mistake(p.options->data, &p.scratch);
  }
  *has_some = has_rest(&p);
  parser_fini(&p);
  return status;
}

vyre_status text_read(const char *text, size_t size, const char *name, const text_options *options,
                      vyre_program **out, vyre_error *error) {
  vyre_error unused;
  bool has_some = false;
  *out = NULL;
  if (size > LIMIT_SOURCE_BYTES) {
    error_set(error, text_rules[TEXT_P004].status,
              "the text has %zu bytes, above %zu. Fix: split the program, or store it in the wire "
              "form",
              size, LIMIT_SOURCE_BYTES);
    error_code(error, text_rules[TEXT_P004].code);
    return text_rules[TEXT_P004].status;
  }
  if (!error) error = &unused;
  vyre_status status = read_once(text, size, name, options, false, &has_some, out, error);
  if (!has_some || status == VYRE_ERROR_MEMORY) return status;
  if (status != VYRE_OK && !options->mistake) return status;
  vyre_program *nothing = NULL;
  vyre_status rest = read_once(text, size, name, options, true, &has_some, &nothing,
                               status == VYRE_OK ? error : &unused);
  if (rest == VYRE_OK || status != VYRE_OK) return status;
  vyre_program_release(*out);
  *out = NULL;
  return rest;
}

vyre_status text_parse(const char *text, size_t size, const char *name, const tunable_given *given,
                       uint32_t given_count, vyre_program **out, vyre_error *error) {
  text_options options = {.given = given, .given_count = given_count};
  if (!out || (!text && size))
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "vyre_program_parse was called with NULL. Fix: pass the text and where the "
                     "program goes");
  return text_read(text, size, name, &options, out, error);
}

vyre_status vyre_program_parse(const char *text, size_t size, const char *name, vyre_program **out,
                               vyre_error *error) {
  FPENV_SCOPE;
  return text_parse(text, size, name, NULL, 0, out, error);
}
