// SPDX-License-Identifier: MIT
#include "front/declared.h"

#include "base/ascii.h"

#include <string.h>

static const char marker[] = "vyre tunable ";

text_piece text_piece_trim(const char *at, size_t size) {
  while (size && ascii_is_space(*at)) at++, size--;
  while (size && ascii_is_space(at[size - 1])) size--;
  return (text_piece){at, size};
}

// What follows the marker in the next line of a comment that has it.
static bool next_line(text_piece *rest, text_piece *out) {
  while (rest->size) {
    const char *end = memchr(rest->at, '\n', rest->size);
    size_t size = end ? (size_t)(end - rest->at) : rest->size;
    text_piece line = text_piece_trim(rest->at, size);
    rest->at += size + (end != NULL);
    rest->size -= size + (end != NULL);
    if (line.size < 2 || (memcmp(line.at, "//", 2) && line.at[0] != '#')) continue;
    size_t skip = line.at[0] == '#' ? 1 : 2;
    line = text_piece_trim(line.at + skip, line.size - skip);
    if (line.size <= sizeof marker - 1 || memcmp(line.at, marker, sizeof marker - 1)) continue;
    *out = text_piece_trim(line.at + sizeof marker - 1, line.size - (sizeof marker - 1));
    return true;
  }
  return false;
}

// The word with spaces around it, or the end.
static size_t find_word(text_piece in, const char *word) {
  size_t size = strlen(word);
  for (size_t i = 1; i + size < in.size; i++)
    if (!memcmp(in.at + i, word, size) && ascii_is_space(in.at[i - 1]) &&
        ascii_is_space(in.at[i + size]))
      return i;
  return in.size;
}

bool declared_next(text_piece *rest, declared_tunable *out) {
  *out = (declared_tunable){.is_whole = false};
  if (!next_line(rest, &out->line)) return false;
  text_piece line = out->line;
  size_t in = find_word(line, "in"), where = find_word(line, "where");
  if (in >= line.size || where < in) return true;
  out->is_whole = true;
  out->name = text_piece_trim(line.at, in);
  out->values = text_piece_trim(line.at + in + 2, where - in - 2);
  if (where < line.size) out->where = text_piece_trim(line.at + where + 5, line.size - where - 5);
  return true;
}

bool declared_has_any(const char *text, size_t size) {
  text_piece rest = {text, size}, line;
  return next_line(&rest, &line);
}
