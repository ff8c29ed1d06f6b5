// SPDX-License-Identifier: MIT
//
// Included files: constants and functions that several texts share. A file is read once, however
// often it is included; it is looked for beside the file that includes it, then in the folders of
// -I. A text that has no file can include from those only.
#include "base/file.h"
#include "base/strbuf.h"
#include "ir/limits.h"
#include "ir/text_stmt.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_file(const char *path) {
  struct stat s;
  return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

static bool is_same(const char *a, const char *b) {
  struct stat x, y;
  return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

// `folder` and `path` as one; malloc'ed, NULL when there is no such file.
static char *join(const char *folder, size_t size, const char *path, size_t path_size) {
  strbuf s = {0};
  if (path[0] != '/' && size) {
    strbuf_add(&s, folder, size);
    if (folder[size - 1] != '/') strbuf_putc(&s, '/');
  }
  strbuf_add(&s, path, path_size);
  char *made = strbuf_take(&s, NULL);
  if (made && is_file(made)) return made;
  free(made);
  return NULL;
}

// A name in angle brackets, as <text> and <stdin>, is of no file.
static bool has_file(const parser *p) {
  return p->file && p->file[0] && p->file[0] != '<' && strcmp(p->file, "-") != 0;
}

static char *find(const parser *p, const char *path, size_t size) {
  if (path[0] == '/') return join("", 0, path, size);
  if (has_file(p)) {
    const char *slash = strrchr(p->file, '/');
    char *found = join(p->file, slash ? (size_t)(slash - p->file) + 1 : 0, path, size);
    if (found) return found;
  }
  for (uint32_t i = 0; i < p->options->folder_count; i++) {
    const char *folder = p->options->folders[i];
    char *found = join(folder, strlen(folder), path, size);
    if (found) return found;
  }
  return NULL;
}

static bool fail_missing(parser *p, uint32_t offset, const char *path, size_t size) {
  int shown = size < 100 ? (int)size : 100;
  if (!has_file(p) && !p->options->folder_count)
    return parser_fail(p, TEXT_P022, offset,
                       "this text is of no file, so that nothing can be included beside it. Fix: "
                       "give the text the name of its file, or a folder with -I");
  return parser_fail(p, TEXT_P022, offset,
                     "there is no file `%.*s` here or in the folders of -I. Fix: see that the path "
                     "is right from this text's folder",
                     shown, path);
}

// Whether the file is open already, and whether it was read.
static bool check_again(parser *p, const char *path, uint32_t offset, bool *was_read) {
  *was_read = false;
  uint32_t depth = 0;
  for (uint32_t i = p->source;; i = p->sources.at[i].parent, depth++) {
    const char *file = p->sources.at[i].file;
    if (file && file[0] != '<' && is_same(file, path))
      return parser_fail(p, TEXT_P022, offset,
                         "this file is included by itself. Fix: put what both need into a file of "
                         "its own");
    if (!i) break;
  }
  if (depth >= LIMIT_INCLUDES || p->sources.count > LIMIT_SOURCES)
    return parser_fail(
        p, TEXT_P022, offset,
        "files are included too deeply or too many: at most %d in one another, %d in "
        "all. Fix: include fewer",
        LIMIT_INCLUDES, LIMIT_SOURCES);
  for (size_t i = 1; i < p->sources.count; i++) *was_read |= is_same(p->sources.at[i].file, path);
  return true;
}

// Text and name in one block, which the source owns.
static bool load(parser *p, const char *path, uint32_t offset, text_source *out) {
  char *text = NULL;
  size_t size = 0, used = p->size, path_size = strlen(path) + 1;
  vyre_error error;
  for (size_t i = 0; i < p->sources.count; i++) used += p->sources.at[i].size;
  if (file_read(path, LIMIT_SOURCE_BYTES - used, &text, &size, &error) != VYRE_OK)
    return parser_fail(p, TEXT_P022, offset, "%.300s", error.message);
  char *owned = realloc(text, size + path_size);
  if (!owned) {
    free(text);
    return parser_fail_memory(p);
  }
  memcpy(owned + size, path, path_size);
  *out = (text_source){.text = owned,
                       .file = owned + size,
                       .size = (uint32_t)size,
                       .owned = owned,
                       .parent = p->source};
  return true;
}

static bool include_declarations(parser *p);

static bool read_source(parser *p, const text_source *s, uint32_t offset) {
  text_cursor cursor = parser_cursor(p);
  uint32_t place = p->place;
  if (!p->source) p->place = offset;
  p->text = s->text;
  p->file = s->file;
  p->size = s->size;
  p->at = s->size >= 3 && !memcmp(s->text, "\xef\xbb\xbf", 3) ? 3 : 0;
  p->source = (uint32_t)p->sources.count - 1;
  p->token = (token){.kind = TOKEN_NEWLINE};
  parser_next(p);
  bool ok = include_declarations(p);
  p->place = place;
  parser_set_cursor(p, &cursor);
  parser_drop_comments(p);
  return ok;
}

bool include_read(parser *p) {
  bool was_read = false;
  text_source made;
  parser_drop_comments(p);
  parser_next(p);
  uint32_t offset = p->token.offset;
  if (p->token.kind != TOKEN_STRING)
    return parser_fail_expected(p, "the file in quotes", "write include \"path.vyre\"");
  const char *path = p->text + offset + 1;
  size_t size = p->token.size - 2;
  char *found = size && !memchr(path, 0, size) ? find(p, path, size) : NULL;
  if (!found) return fail_missing(p, offset, path, size);
  parser_next(p);
  bool ok = check_again(p, found, offset, &was_read);
  if (ok && !was_read)
    ok = load(p, found, offset, &made) &&
         (vec_push(&p->sources, made) || (free(made.owned), parser_fail_memory(p))) &&
         read_source(p, &made, offset);
  free(found);
  return ok && parser_end_extra(p);
}

static bool read_shared_declaration(parser *p) {
  word w = p->token.kind == TOKEN_WORD ? (word)parser_symbol(p)->word : WORD_NONE;
  if (w == WORD_CONST) return parser_const(p);
  if (w == WORD_FN) return function_declare(p);
  if (w == WORD_INCLUDE) return include_read(p);
  return parser_fail_expected(p, "const, fn or include",
                              "leave all else to the text that includes this file");
}

static bool include_declarations(parser *p) {
  for (;;) {
    while (p->token.kind == TOKEN_NEWLINE || p->token.kind == TOKEN_SEMICOLON) parser_next(p);
    if (p->token.kind == TOKEN_END) return true;
    if (read_shared_declaration(p)) continue;
    if (!parser_recover(p)) return false;
    parser_resync_declaration(p);
  }
}
