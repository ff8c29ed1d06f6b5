// SPDX-License-Identifier: MIT
#include "front/clang/source.h"

#include "base/ascii.h"
#include "base/error.h"
#include "base/file.h"
#include "front/clang/resource.h"
#include "ir/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// # 12 "file name" 1 3
static bool read_marker(unit *u, const char *line, line_mark *out) {
  if (line[0] != '#' || line[1] != ' ' || line[2] < '0' || line[2] > '9') return false;
  char *end;
  unsigned long number = strtoul(line + 2, &end, 10);
  if (end[0] != ' ' || end[1] != '"') return false;
  const char *name = end + 2;
  size_t size = 0;
  char *file = unit_alloc(u, strcspn(name, "\n") + 1, 1);
  for (; *name && *name != '"' && *name != '\n'; name++) {
    if (*name == '\\' && name[1]) name++;
    file[size++] = *name;
  }
  bool is_system = false;
  for (; *name && *name != '\n'; name++) is_system |= *name == '3';
  is_system |= !strcmp(file, resource_header(u));
  *out = (line_mark){0, (uint32_t)number, file, is_system};
  return true;
}

static line_index index_lines(unit *u, const char *text, size_t size) {
  uint32_t capacity = 0;
  line_index lines = {0};
  const char *end = text + size;
  for (const char *at = text; at;) {
    UNIT_PUSH(u, lines.start, lines.count, capacity, (uint32_t)(at - text));
    at = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    if (at) at++;
  }
  return lines;
}

// The line, 0-based, that holds `offset`.
static uint32_t line_at(const line_index *lines, uint32_t offset) {
  uint32_t low = 0, high = lines->count;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (lines->start[middle] <= offset)
      low = middle;
    else
      high = middle;
  }
  return low;
}

// clang's own header is read again with its macros, which say what else is declared.
static void blank_headers(unit *u) {
  for (uint32_t i = 0; i < u->mark_count; i++) {
    uint32_t end = i + 1 < u->mark_count ? u->marks[i + 1].offset : (uint32_t)u->size;
    for (uint32_t at = u->marks[i].offset; u->marks[i].is_system && at < end; at++)
      if (u->text[at] != '\n') u->text[at] = ' ';
  }
}

static bool starts_with(const char *text, const char *start) {
  return !strncmp(text, start, strlen(start));
}

// Hints about loops are not needed, and the preprocessor leaves the macros in them as they are.
static void blank_hints(unit *u) {
  static const char *const hints[] = {"unroll", "nounroll", "clang loop", "GCC unroll",
                                      "GCC ivdep"};
  for (uint32_t i = 0; i < u->lines.count; i++) {
    char *line = u->text + u->lines.start[i];
    if (!starts_with(line, "#pragma ")) continue;
    bool is_hint = false;
    for (size_t h = 0; h < sizeof hints / sizeof *hints; h++)
      is_hint |= starts_with(line + strlen("#pragma "), hints[h]);
    for (char *at = line; is_hint && *at && *at != '\n'; at++) *at = ' ';
  }
}

void source_map(unit *u) {
  u->lines = index_lines(u, u->text, u->size);
  u->user_lines = index_lines(u, u->source.text, u->source.size);
  uint32_t capacity = 0;
  line_mark mark = {0, 1, u->source.name, false};
  UNIT_PUSH(u, u->marks, u->mark_count, capacity, mark);
  for (uint32_t i = 0; i < u->lines.count; i++) {
    if (!read_marker(u, u->text + u->lines.start[i], &mark)) continue;
    const char *last = u->marks[u->mark_count - 1].file;
    if (!strcmp(last, mark.file)) mark.file = last;
    mark.offset = i + 1 < u->lines.count ? u->lines.start[i + 1] : (uint32_t)u->size;
    UNIT_PUSH(u, u->marks, u->mark_count, capacity, mark);
  }
  blank_headers(u);
  blank_hints(u);
}

static size_t line_length(const char *at, const char *end) {
  const char *stop = memchr(at, '\n', (size_t)(end - at));
  return (size_t)((stop ? stop : end) - at);
}

// Where column `column` (0-based) of a preprocessed line is in the user's line: the same where both
// begin alike, counted from the end where both end alike, else the start of the macro between.
static size_t map_column(const char *made, size_t made_size, const char *user, size_t user_size,
                         size_t column) {
  size_t head = 0, tail = 0;
  size_t least = made_size < user_size ? made_size : user_size;
  while (head < least && made[head] == user[head]) head++;
  if (column < head) return column;
  while (tail < least - head && made[made_size - 1 - tail] == user[user_size - 1 - tail]) tail++;
  if (column >= made_size - tail) return user_size - (made_size - column);
  // Back to the start of the word, which is the macro's name.
  while (head > 0 && head < user_size && ascii_is_word(user[head - 1])) head--;
  return head;
}

source_spot source_find(const unit *u, uint32_t offset) {
  if (offset > u->size) offset = (uint32_t)u->size;
  uint32_t low = 0, high = u->mark_count;
  while (high - low > 1) {
    uint32_t middle = (low + high) / 2;
    if (u->marks[middle].offset <= offset)
      low = middle;
    else
      high = middle;
  }
  const line_mark *mark = &u->marks[low];
  uint32_t here = line_at(&u->lines, offset);
  uint32_t line = mark->line + here - line_at(&u->lines, mark->offset);
  const char *made = u->text + u->lines.start[here];
  size_t column = (size_t)(u->text + offset - made);
  source_spot spot = {mark->file, line, (uint32_t)column + 1, NO_PLACE};
  if (strcmp(mark->file, u->source.name) || line == 0 || line > u->user_lines.count) return spot;
  const char *user = u->source.text + u->user_lines.start[line - 1];
  const char *user_end = u->source.text + u->source.size;
  column = map_column(made, line_length(made, u->text + u->size), user, line_length(user, user_end),
                      column);
  spot.column = (uint32_t)column + 1;
  spot.offset = u->user_lines.start[line - 1] + (uint32_t)column;
  return spot;
}

// The start of line `line`, or NULL.
static const char *find_line(const char *text, size_t size, uint32_t line) {
  const char *at = text, *end = text + size;
  for (uint32_t i = 1; i < line; i++) {
    at = memchr(at, '\n', (size_t)(end - at));
    if (!at) return NULL;
    at++;
  }
  return at;
}

// `made` is the line as it was preprocessed, in which the column is; NULL: in the file's own.
static void place_in_file(unit *u, const char *file, uint32_t line, uint32_t column,
                          const char *made) {
  const char *text = u->source.text;
  size_t size = u->source.size;
  char *read = NULL;
  if (strcmp(file, u->source.name)) {
    while (file[0] == '.' && file[1] == '/') file += 2; // as clang names what is beside the source
    vyre_error ignored; // a file that cannot be read has no excerpt, and that is all
    if (file_read(file, LIMIT_SOURCE_BYTES, &read, &size, &ignored) != VYRE_OK) size = 0;
    text = read;
  }
  const char *at = text ? find_line(text, size, line) : NULL;
  if (at && made)
    column = 1 + (uint32_t)map_column(made, line_length(made, u->text + u->size), at,
                                      line_length(at, text + size), column ? column - 1 : 0);
  if (at) {
    size_t length = line_length(at, text + size), back = column ? column - 1 : 0;
    if (back > length) back = length;
    error_place(u->error, file, text, size, (size_t)(at - text) + back);
  } else {
    snprintf(u->error->file, sizeof u->error->file, "%s", file);
  }
  u->error->line = line;
  u->error->column = column;
  free(read);
}

void source_place_line(unit *u, const char *file, uint32_t line, uint32_t column) {
  place_in_file(u, file, line, column, NULL);
}

void source_place_error(unit *u, uint32_t offset) {
  source_spot spot = source_find(u, offset);
  if (offset > u->size) offset = (uint32_t)u->size;
  // The lines that markers count are those of a file that is not there: the text itself is shown.
  if (u->is_preprocessed) {
    error_place(u->error, spot.file, u->text, u->size, offset);
    u->error->line = spot.line;
    return;
  }
  bool is_mapped = spot.offset != NO_PLACE;
  const char *made = u->text + u->lines.start[line_at(&u->lines, offset)];
  place_in_file(u, spot.file, spot.line, spot.column, is_mapped ? NULL : made);
}
