// SPDX-License-Identifier: MIT
//
// Linking puts preprocessed texts behind one another. Each is a unit of its own, so several of them
// may say the same: a header that they include is there once, and so are types, and functions of
// the unit alone, that are spelled alike token for token. What has one name and differs stays, and
// is refused by whoever reads the text.
#include "icd/program.h"

#include "base/strbuf.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

// ---- headers ------------------------------------------------------------------------------------

static bool is_marker(const char *line) {
  return line[0] == '#' && line[1] == ' ' && line[2] >= '0' && line[2] <= '9';
}

static const char *line_end(const char *at, const char *end) {
  const char *stop = memchr(at, '\n', (size_t)(end - at));
  return stop ? stop + 1 : end;
}

// Whether the line has a word.
static bool line_has(const char *at, const char *word, const char *end) {
  return memmem(at, (size_t)(line_end(at, end) - at), word, strlen(word)) != NULL;
}

// A marker without its flags: they say where includes begin and end, of which some are left out.
static const char *add_marker(strbuf *out, const char *at, const char *end) {
  const char *stop = line_end(at, end);
  const char *quote = memchr(at, '"', (size_t)(stop - at));
  const char *last = quote ? memrchr(at, '"', (size_t)(stop - at)) : NULL;
  if (last && last > quote) strbuf_add(out, at, (size_t)(last + 1 - at));
  strbuf_putc(out, '\n');
  return stop;
}

// Adds a text, without the parts of other files (a marker and what follows) that are there already.
static void add_text(strbuf *all, const char *text, size_t size) {
  const char *end = text + size;
  for (const char *start = text; start < end;) {
    strbuf part = {0};
    bool is_other = is_marker(start) && !line_has(start, "\"program.cl\"", end);
    const char *body = is_marker(start) ? add_marker(&part, start, end) : start, *stop = body;
    while (stop < end && !is_marker(stop)) stop = line_end(stop, end);
    strbuf_add(&part, body, (size_t)(stop - body));
    bool is_there =
        is_other && all->size && part.size && memmem(all->at, all->size, part.at, part.size);
    if (!is_there) strbuf_add(all, part.at, part.size);
    all->failed |= part.failed;
    strbuf_fini(&part);
    start = stop;
  }
  strbuf_putc(all, '\n');
}

// ---- what is said again -------------------------------------------------------------------------

typedef vec(char *) spellings; // owned

typedef struct scanner {
  const char *at, *end;
  size_t size;  // of the last token
  int brackets; // that are open behind it
} scanner;

static bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static const char *literal_end(const char *at, const char *end) {
  char quote = *at++;
  while (at < end && *at != quote) at += *at == '\\' && at + 1 < end ? 2 : 1;
  return at < end ? at + 1 : end;
}

// The next word, literal or character; NULL at the end. Markers and pragmas are none.
static const char *next_token(scanner *s) {
  while (s->at < s->end && (strchr(" \t\r\n\f\v", *s->at) || *s->at == '#'))
    s->at = *s->at == '#' ? line_end(s->at, s->end) : s->at + 1;
  if (s->at >= s->end) return NULL;
  const char *token = s->at++;
  if (*token == '"' || *token == '\'')
    s->at = literal_end(token, s->end);
  else
    while (is_word_char(*token) && s->at < s->end && is_word_char(*s->at)) s->at++;
  s->brackets += *token == '(' || *token == '{' || *token == '[';
  s->brackets -= *token == ')' || *token == '}' || *token == ']';
  s->size = (size_t)(s->at - token);
  return token;
}

static bool is_one_of(const char *token, size_t size, const char *const *words) {
  for (; *words; words++)
    if (strlen(*words) == size && !memcmp(*words, token, size)) return true;
  return false;
}

// Behind the declaration that begins at `s`: a body that follows a closing parenthesis ends it.
static const char *declaration_end(scanner s) {
  bool has_body = false;
  char last = 0;
  for (const char *token; (token = next_token(&s)); last = *token) {
    if (*token == '{' && s.brackets == 1) has_body = last == ')';
    if (s.brackets == 0 && (*token == ';' || (*token == '}' && has_body))) return s.at;
  }
  return NULL;
}

// Behind the body of `struct NAME {`, of which `s` has read the first word; NULL when it is none.
static const char *type_end(scanner s, const char **name_end) {
  const char *token = next_token(&s);
  if (!token || !is_word_char(*token)) return NULL;
  *name_end = s.at;
  token = next_token(&s);
  if (!token || *token != '{') return NULL;
  while (s.brackets > 0 && (token = next_token(&s))) continue;
  return token ? s.at : NULL;
}

// Whether the tokens were there before; they are from now on.
static bool is_known(spellings *known, const char *from, const char *to) {
  strbuf made = {0};
  scanner s = {.at = from, .end = to};
  for (const char *token; (token = next_token(&s));) {
    strbuf_add(&made, token, s.size);
    strbuf_putc(&made, ' ');
  }
  char *text = strbuf_take(&made, NULL);
  for (size_t i = 0; text && i < known->count; i++)
    if (!strcmp(known->at[i], text)) {
      free(text);
      return true;
    }
  if (!text || !vec_push(known, text)) free(text);
  return false;
}

// The text up to `from`, and of what is left out up to `to` its lines and markers.
static void leave_out(strbuf *out, const char **copied, const char *from, const char *to) {
  strbuf_add(out, *copied, (size_t)(from - *copied));
  for (const char *at = from, *stop; at < to; at = stop) {
    stop = line_end(at, to);
    if (at > from && is_marker(at)) strbuf_add(out, at, (size_t)(stop - at - 1));
    if (stop[-1] == '\n') strbuf_putc(out, '\n');
  }
  *copied = to;
}

static void add_once(strbuf *out, const char *text, size_t size) {
  static const char *const local[] = {"typedef", "static", "inline", NULL};
  static const char *const types[] = {"struct", "union", "enum", NULL};
  spellings known = {0};
  scanner s = {.at = text, .end = text + size};
  const char *copied = text, *name_end = NULL;
  bool is_first = true; // of a declaration
  for (const char *token; (token = next_token(&s));) {
    const char *stop = NULL;
    bool is_whole = is_first && is_one_of(token, s.size, local);
    if (is_whole) {
      stop = declaration_end((scanner){.at = token, .end = s.end});
      if (stop && is_known(&known, token, stop))
        leave_out(out, &copied, token, stop);
      else
        stop = NULL;
    } else if (s.brackets == 0 && is_one_of(token, s.size, types)) {
      stop = type_end(s, &name_end);
      if (stop && is_known(&known, token, stop))
        leave_out(out, &copied, name_end, stop);
      else
        stop = NULL;
    }
    is_first = s.brackets == 0 && (stop ? is_whole : *token == ';' || *token == '}');
    if (stop) s.at = stop;
  }
  strbuf_add(out, copied, (size_t)(s.end - copied));
  for (size_t i = 0; i < known.count; i++) free(known.at[i]);
  vec_free(&known);
}

cl_int program_link(cl_program p, cl_uint count, const cl_program *inputs) {
  strbuf all = {0}, once = {0};
  for (cl_uint i = 0; i < count; i++) add_text(&all, inputs[i]->text, inputs[i]->text_size);
  if (!all.failed) add_once(&once, all.at, all.size);
  once.failed |= all.failed;
  strbuf_fini(&all);
  p->text = strbuf_take(&once, &p->text_size);
  p->flags = strdup(inputs[0]->flags);
  return p->text && p->flags ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}
