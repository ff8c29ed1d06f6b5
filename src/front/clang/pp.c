// SPDX-License-Identifier: MIT
//
// Files, lines and directives. What is written keeps the lines of the source, and its columns up to
// the first macro of a line; comments become spaces.
#include "front/clang/pp.h"

#include "base/ascii.h"
#include "base/file.h"
#include "front/clang/preprocess.h"
#include "ir/limits.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// Beyond these clang goes on, in a child.
enum { MOST_OUT = 1 << 26, MOST_INCLUDED = 1 << 26, MOST_FILES_DEEP = 100 };

void pp_give_up(pp *p) {
  longjmp(p->give_up, 1);
}

// ---- what is written ----------------------------------------------------------------------------

static void put(pp *p, const char *text, size_t size) {
  if (size > MOST_OUT || p->out_size + size > MOST_OUT) pp_give_up(p);
  if (p->out_size + size > p->out_capacity) {
    size_t wanted = (size_t)p->out_capacity * 2 + size + 4096;
    char *grown = unit_alloc(p->u, wanted, 1);
    if (p->out_size) memcpy(grown, p->out, p->out_size);
    p->out = grown;
    p->out_capacity = (uint32_t)wanted;
  }
  memcpy(p->out + p->out_size, text, size);
  p->out_size += (uint32_t)size;
}

static void put_lines(pp *p, uint32_t count) {
  for (; count; count--) put(p, "\n", 1);
}

// White space and comments, which keep their lines and columns.
static void put_space(pp *p, const char *from, const char *to) {
  for (; from < to; from++) put(p, ascii_is_space(*from) ? from : " ", 1);
}

// Whether two tokens would become another one side by side; yes, where that is not plain.
static bool would_join(char last, char first) {
  static const char alone[] = "()[]{},;~?";
  if (ascii_is_space(last) || strchr(alone, last) || strchr(alone, first)) return false;
  bool is_word = ascii_is_word(last) || last == '$' || last == '"' || last == '\'';
  bool is_next = ascii_is_word(first) || first == '$' || first == '"' || first == '\'';
  return is_word == is_next || last == '.' || first == '.' || first == '-' || first == '+';
}

static void put_token(pp *p, const pp_token *t, bool has_space) {
  bool is_joined = p->out_size && would_join(p->out[p->out_size - 1], t->text[0]);
  if (has_space || is_joined) put(p, " ", 1);
  put(p, t->text, t->size);
}

// # LINE "NAME" FLAG
static void put_marker(pp *p, uint32_t line, const char *name, const char *flag) {
  if (p->out_size && p->out[p->out_size - 1] != '\n') put(p, "\n", 1);
  char *head = unit_printf(p->u, "# %u \"", line);
  put(p, head, strlen(head));
  for (const char *c = name; *c; c++) {
    if (*c == '"' || *c == '\\') put(p, "\\", 1);
    put(p, c, 1);
  }
  put(p, "\" ", 2);
  put(p, flag, strlen(flag));
  put(p, "\n", 1);
}

// ---- text ---------------------------------------------------------------------------------------

// The rest of a line, and of those below where a macro's arguments go on.
static void text_line(pp *p) {
  pp_input *in = p->input;
  bool is_made = false; // the token before came from a macro
  for (;;) {
    uint32_t lines = 0;
    const char *start = pp_skip_space(p, in->at, in->end, &lines);
    put_space(p, in->at, start);
    in->line += lines;
    in->at = start;
    if (start == in->end || *start == '\n') return;
    pp_token t = pp_lex(p, &in->at, in->end);
    pp_list made = {0};
    if (t.kind == PP_WORD && pp_expand_file(p, &t, &made)) {
      for (uint32_t i = 0; i < made.count; i++)
        put_token(p, &made.at[i], i && made.at[i].has_space);
      put_lines(p, p->owed_lines);
      p->owed_lines = 0;
      is_made = true;
    } else if (is_made) {
      put_token(p, &t, false);
      is_made = false;
    } else {
      put(p, t.text, t.size);
    }
  }
}

// ---- conditions ---------------------------------------------------------------------------------

typedef struct condition { // one #if and what belongs to it
  bool is_active;          // what follows is read
  bool was_active;         // one of its parts was, or what is around it is not
  bool has_else;
} condition;

typedef struct conditions {
  condition *at;
  uint32_t count, capacity;
} conditions;

static bool is_active(const conditions *c) {
  return !c->count || c->at[c->count - 1].is_active;
}

static bool is_defined(pp *p, const char **at, const char *end) {
  pp_token name = pp_lex(p, at, end);
  if (name.kind != PP_WORD) pp_give_up(p);
  const pp_macro *m = pp_find(p, name.text, name.size);
  if (m && m->meaning == PP_FOREIGN) pp_give_up(p);
  return m != NULL;
}

// True when the directive is one of them.
static bool do_condition(pp *p, conditions *c, const pp_token *word, const char *at,
                         const char *end) {
  bool is_if = pp_is(word, "if"), is_ifdef = pp_is(word, "ifdef");
  bool active = is_active(c);
  if (is_if || is_ifdef || pp_is(word, "ifndef")) {
    condition made = {.was_active = true};
    if (active) {
      made.is_active = is_if      ? pp_condition(p, at, end)
                       : is_ifdef ? is_defined(p, &at, end)
                                  : !is_defined(p, &at, end);
      made.was_active = made.is_active;
    }
    UNIT_PUSH(p->u, c->at, c->count, c->capacity, made);
    return true;
  }
  bool is_elif = pp_is(word, "elif"), is_else = pp_is(word, "else"), is_end = pp_is(word, "endif");
  if (pp_is(word, "elifdef") || pp_is(word, "elifndef")) pp_give_up(p);
  if (!is_elif && !is_else && !is_end) return false;
  if (!c->count) pp_give_up(p);
  condition *last = &c->at[c->count - 1];
  if (!is_end && last->has_else) pp_give_up(p);
  if (is_end) {
    c->count--;
  } else {
    last->is_active = !last->was_active && (is_else || pp_condition(p, at, end));
    last->was_active |= last->is_active;
    last->has_else |= is_else;
  }
  return true;
}

// ---- other directives ---------------------------------------------------------------------------

static void read_file(pp *p, pp_input *in);

static bool is_regular(const char *path) {
  struct stat s;
  return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

static const char *find_include(pp *p, const char *name, bool is_quoted) {
  if (*name == '/') return is_regular(name) ? name : NULL;
  const char *path = unit_printf(p->u, "%s/%s", p->input->folder, name);
  if (is_quoted && is_regular(path)) return path;
  const char *of_source = preprocess_folder(p->u);
  path = unit_printf(p->u, "%s/%s", of_source, name);
  if (is_quoted && is_regular(path)) return path;
  for (uint32_t i = 0; i < p->u->user_count; i++) {
    if (strncmp(p->u->user_args[i], "-I", 2) != 0) continue;
    path = unit_printf(p->u, "%s/%s", p->u->user_args[i] + 2, name);
    if (is_regular(path)) return path;
  }
  return NULL;
}

// "name" or <name>, which macros may have made.
static const char *include_name(pp *p, const char *at, const char *end, bool *is_quoted) {
  uint32_t lines = 0;
  at = pp_skip_space(p, at, end, &lines);
  const char *stop = at < end && *at == '<' ? memchr(at, '>', (size_t)(end - at)) : NULL;
  *is_quoted = !stop;
  if (stop) return unit_copy(p->u, at + 1, (size_t)(stop - at - 1));
  pp_list words = {0};
  for (pp_token t; (t = pp_lex(p, &at, end)).kind != PP_END;) pp_push(p, &words, t);
  pp_list made = pp_expand(p, &words);
  if (made.count != 1 || made.at[0].kind != PP_STRING || made.at[0].size < 3 ||
      memchr(made.at[0].text, '\\', made.at[0].size))
    pp_give_up(p);
  return unit_copy(p->u, made.at[0].text + 1, made.at[0].size - 2);
}

static bool is_once(pp *p, const char *path) {
  char *real = realpath(path, NULL);
  bool found = false;
  for (uint32_t i = 0; real && i < p->once_count; i++) found |= !strcmp(p->once[i], real);
  free(real);
  return found;
}

static void set_once(pp *p) {
  if (!p->input->depth) return;
  char *real = realpath(p->input->name, NULL);
  char *kept = real ? arena_copy_string(&p->u->arena, real, strlen(real)) : NULL;
  free(real);
  if (!kept) pp_give_up(p);
  UNIT_PUSH(p->u, p->once, p->once_count, p->once_capacity, kept);
}

static const char *folder_of(pp *p, const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? unit_copy(p->u, path, (size_t)(slash - path)) : ".";
}

static void do_include(pp *p, const char *at, const char *end) {
  bool is_quoted = false;
  const char *name = include_name(p, at, end, &is_quoted);
  const char *path = find_include(p, name, is_quoted);
  if (!path || p->input->depth == MOST_FILES_DEEP || strchr(path, '\n')) pp_give_up(p);
  if (is_once(p, path)) return;
  char *text = NULL;
  size_t size = 0;
  vyre_error error;
  if (file_read(path, LIMIT_SOURCE_BYTES, &text, &size, &error) != VYRE_OK) pp_give_up(p);
  p->included += size;
  bool is_too_much = p->included > MOST_INCLUDED;
  const char *kept = is_too_much ? NULL : arena_copy_string(&p->u->arena, text, size);
  free(text);
  if (is_too_much) pp_give_up(p);
  if (!kept) unit_fail_memory(p->u);
  if (size >= 3 && !memcmp(kept, "\xef\xbb\xbf", 3)) pp_give_up(p);
  pp_input in = {.name = path,
                 .folder = folder_of(p, path),
                 .at = kept,
                 .end = kept + size,
                 .depth = p->input->depth + 1};
  put_marker(p, 1, path, "1");
  read_file(p, &in);
  put_marker(p, p->input->line, p->input->name, "2");
}

// Written as it is: what it asks for is read by the parser. Those that concern the preprocessor
// itself are left to clang.
static void do_pragma(pp *p, const char *at, const char *end) {
  static const char *const foreign[] = {
      "push_macro", "pop_macro", "include_alias", "poison", "dependency",    "system_header",
      "warning",    "error",     "message",       "region", "endregion",     "module",
      "mark",       "hdrstop",   "push",          "pop",    "assume_nonnull"};
  pp_token t = pp_lex(p, &at, end);
  if (pp_is(&t, "once")) {
    set_once(p);
    return;
  }
  put(p, "#pragma", 7);
  for (bool is_first = true; t.kind != PP_END; t = pp_lex(p, &at, end), is_first = false) {
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
      if (pp_is(&t, foreign[i])) pp_give_up(p);
    put_token(p, &t, t.has_space || is_first);
  }
}

static void do_undef(pp *p, const char *at, const char *end) {
  pp_token name = pp_lex(p, &at, end);
  if (name.kind != PP_WORD || pp_is(&name, "defined")) pp_give_up(p);
  pp_undefine(p, name.text, name.size);
}

// `at` is behind the #.
static void do_directive(pp *p, conditions *c, const char *at, const char *end) {
  pp_token word = pp_lex(p, &at, end);
  if (do_condition(p, c, &word, at, end) || !is_active(c)) return;
  if (word.kind == PP_END) return;
  if (pp_is(&word, "define"))
    pp_define(p, at, (size_t)(end - at));
  else if (pp_is(&word, "undef"))
    do_undef(p, at, end);
  else if (pp_is(&word, "pragma"))
    do_pragma(p, at, end);
  else if (pp_is(&word, "include"))
    do_include(p, at, end);
  else if (!pp_is(&word, "warning"))
    pp_give_up(p);
}

// ---- files --------------------------------------------------------------------------------------

// The end of a logical line: comments in it may go on below, and quotes hide them.
static const char *line_end(pp *p, const char *at, const char *end, uint32_t *lines) {
  while (at < end && *at != '\n') {
    const char *next = pp_skip_space(p, at, end, lines);
    if (next > at) {
      at = next;
    } else if (*at == '"' || *at == '\'') {
      char quote = *at++;
      while (at < end && *at != quote && *at != '\n') at += *at == '\\' && at[1] != '\n' ? 2 : 1;
      at += at < end && *at == quote;
    } else {
      at++;
    }
  }
  return at;
}

// One line, from its start up to its newline.
static void read_line(pp *p, conditions *c) {
  pp_input *in = p->input;
  uint32_t lines = 0;
  const char *start = pp_skip_space(p, in->at, in->end, &lines);
  bool is_directive = start < in->end && *start == '#';
  if (!is_directive && is_active(c)) {
    text_line(p);
    return;
  }
  const char *end = line_end(p, start, in->end, &lines);
  in->at = end;
  in->line += lines;
  if (!is_directive) {
    put_lines(p, lines);
    return;
  }
  // Behind an include the marker tells the line that is being read, from its start.
  uint32_t before = p->out_size;
  in->is_long = lines > 0;
  do_directive(p, c, start + 1, end);
  in->is_long = false;
  if (p->out_size == before)
    put_lines(p, lines);
  else if (lines)
    put_marker(p, in->line, in->name, "");
}

static void read_file(pp *p, pp_input *in) {
  pp_input *outer = p->input;
  conditions open = {0};
  size_t size = (size_t)(in->end - in->at);
  const char *text = in->at;
  p->input = in;
  in->at = pp_unspliced(p, text, &size);
  in->has_splices = in->at != text;
  in->end = in->at + size;
  in->line = 1;
  while (in->at < in->end) {
    read_line(p, &open);
    if (in->at == in->end) break;
    put(p, "\n", 1);
    in->line++;
    in->at++;
  }
  if (open.count) pp_give_up(p);
  p->input = outer;
}

static void run(pp *p) {
  unit *u = p->u;
  const char *text = u->source.text;
  pp_input in = {.name = u->source.name,
                 .folder = preprocess_folder(u),
                 .at = text,
                 .end = text + u->source.size};
  if (strchr(u->source.name, '\n')) pp_give_up(p);
  pp_define_known(p);
  read_file(p, &in);
  u->text = malloc((size_t)p->out_size + 1);
  if (!u->text) unit_fail_memory(u);
  if (p->out_size) memcpy(u->text, p->out, p->out_size);
  u->text[p->out_size] = 0;
  u->size = p->out_size;
}

bool pp_run(unit *u) {
  pp *p = UNIT_NEW(u, pp);
  p->u = u;
  p->buckets = UNIT_ARRAY(u, PP_BUCKETS, pp_macro *);
  if (setjmp(p->give_up)) return false;
  run(p);
  return true;
}
