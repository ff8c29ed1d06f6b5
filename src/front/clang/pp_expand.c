// SPDX-License-Identifier: MIT
//
// Macros and their expansion, as clang does it: arguments are expanded on their own, the result is
// read again together with what follows, and the name of a macro whose expansion is being read is
// blocked for good.
#include "base/hash.h"
#include "front/clang/pp.h"

#include <string.h>

// What goes beyond is left to clang, which runs in a child with limits.
enum { MOST_TOKENS = 2000000, MOST_NESTING = 400 };

void pp_push(pp *p, pp_list *list, pp_token token) {
  if (++p->tokens > MOST_TOKENS) pp_give_up(p);
  UNIT_PUSH(p->u, list->at, list->count, list->capacity, token);
}

// ---- the table ----------------------------------------------------------------------------------

static pp_macro **bucket_of(const pp *p, const char *name, size_t size) {
  return &p->buckets[hash_fast(name, size) % PP_BUCKETS];
}

static pp_macro *find_entry(const pp *p, const char *name, size_t size) {
  pp_macro *m = *bucket_of(p, name, size);
  while (m && (m->name_size != size || memcmp(m->name, name, size) != 0)) m = m->next;
  return m;
}

pp_macro *pp_find(const pp *p, const char *name, size_t size) {
  pp_macro *m = find_entry(p, name, size);
  return m && m->is_defined ? m : NULL;
}

// A new record: expansions that are under way keep the old one.
static pp_macro *add_entry(pp *p, const char *name, size_t size) {
  pp_macro *old = find_entry(p, name, size), *m = UNIT_NEW(p->u, pp_macro);
  if (old && (old->is_open || old->meaning != PP_BODY)) pp_give_up(p);
  if (old) old->name_size = 0; // no name is empty
  pp_macro **bucket = bucket_of(p, name, size);
  *m = (pp_macro){.name = name, .name_size = (uint32_t)size, .is_defined = true, .next = *bucket};
  return *bucket = m;
}

void pp_set_meaning(pp *p, const char *name, pp_meaning meaning) {
  add_entry(p, name, strlen(name))->meaning = meaning;
}

void pp_undefine(pp *p, const char *name, size_t size) {
  pp_macro *m = find_entry(p, name, size);
  if (m && (m->is_open || m->meaning != PP_BODY)) pp_give_up(p);
  if (m) m->is_defined = false;
}

static int param_of(const pp_macro *m, const pp_token *t) {
  for (uint32_t i = 0; t->kind == PP_WORD && i < m->param_count; i++)
    if (m->params[i].size == t->size && !memcmp(m->params[i].text, t->text, t->size)) return (int)i;
  return -1;
}

// Behind the opening parenthesis.
static void read_params(pp *p, pp_macro *m, const char **at, const char *end) {
  pp_list params = {0};
  pp_token t = pp_lex(p, at, end);
  while (!pp_is(&t, ")")) {
    if (pp_is(&t, "...")) {
      static const pp_token rest = {.text = "__VA_ARGS__", .size = 11, .kind = PP_WORD};
      m->is_variadic = true;
      t = rest;
    }
    if (t.kind != PP_WORD || param_of(m, &t) >= 0) pp_give_up(p);
    pp_push(p, &params, t);
    m->params = params.at;
    m->param_count = params.count;
    t = pp_lex(p, at, end);
    bool is_last = pp_is(&t, ")");
    if (!is_last && (!pp_is(&t, ",") || m->is_variadic)) pp_give_up(p);
    if (is_last) break;
    t = pp_lex(p, at, end);
    if (pp_is(&t, ")")) pp_give_up(p);
  }
}

static void check_body(pp *p, const pp_macro *m) {
  const pp_list *b = &m->body;
  for (uint32_t i = 0; i < b->count; i++) {
    const pp_token *t = &b->at[i];
    bool is_rest = pp_is(t, "__VA_ARGS__") || pp_is(t, "__VA_OPT__");
    if (is_rest && (param_of(m, t) < 0 || pp_is(t, "__VA_OPT__"))) pp_give_up(p);
    if (pp_is(t, "##") && (i == 0 || i + 1 == b->count)) pp_give_up(p);
    if (m->is_function && pp_is(t, "#") && (i + 1 == b->count || param_of(m, t + 1) < 0))
      pp_give_up(p);
  }
}

void pp_define(pp *p, const char *text, size_t size) {
  const char *at = text, *end = text + size;
  pp_token name = pp_lex(p, &at, end);
  if (name.kind != PP_WORD || pp_is(&name, "defined") || !strncmp(name.text, "__VA_", 5))
    pp_give_up(p);
  pp_macro *m = add_entry(p, name.text, name.size);
  m->is_function = at < end && *at == '(';
  if (m->is_function) {
    at++;
    read_params(p, m, &at, end);
  }
  for (pp_token t; (t = pp_lex(p, &at, end)).kind != PP_END;) {
    if (!m->body.count) t.has_space = false;
    pp_push(p, &m->body, t);
  }
  check_body(p, m);
}

// ---- reading ------------------------------------------------------------------------------------

static void enter(pp *p, const pp_list *list, pp_macro *macro, bool is_wall) {
  pp_context *c = UNIT_NEW(p->u, pp_context);
  *c = (pp_context){list->at, list->count, 0, macro, is_wall, p->top};
  if (macro) macro->is_open = true;
  p->top = c;
}

static void leave(pp *p) {
  if (p->top->macro) p->top->macro->is_open = false;
  p->top = p->top->below;
}

// Leaves what was read to its end.
static pp_context *context_with_more(pp *p) {
  while (p->top && p->top->at == p->top->count && !p->top->is_wall) leave(p);
  return p->top;
}

// The next token of the file inside of arguments, where lines end like spaces do.
static pp_token file_token(pp *p) {
  pp_input *in = p->input;
  bool crossed = false;
  for (;;) {
    uint32_t lines = 0;
    const char *start = in->at;
    in->at = pp_skip_space(p, start, in->end, &lines);
    crossed |= in->at > start;
    p->owed_lines += lines;
    in->line += lines;
    if (in->at == in->end) pp_give_up(p);
    if (*in->at != '\n') break;
    crossed = true;
    p->owed_lines++;
    in->line++;
    in->at++;
    uint32_t none = 0;
    const char *next = pp_skip_space(p, in->at, in->end, &none);
    if (next < in->end && *next == '#') pp_give_up(p);
  }
  pp_token t = pp_lex(p, &in->at, in->end);
  t.has_space |= crossed;
  return t;
}

static pp_token raw_token(pp *p) {
  pp_context *c = context_with_more(p);
  if (c && c->at == c->count) return (pp_token){.kind = PP_END};
  return c ? c->tokens[c->at++] : file_token(p);
}

static bool is_paren_next_in_file(pp *p) {
  uint32_t lines = 0;
  const char *at = p->input->at, *end = p->input->end;
  for (;;) {
    at = pp_skip_space(p, at, end, &lines);
    if (at == end || *at != '\n') return at < end && *at == '(';
    at++;
  }
}

static bool is_paren_next(pp *p) {
  for (const pp_context *c = p->top; c; c = c->below) {
    if (c->at < c->count) return pp_is(&c->tokens[c->at], "(");
    if (c->is_wall) return false;
  }
  return is_paren_next_in_file(p);
}

// ---- arguments ----------------------------------------------------------------------------------

typedef struct call {
  pp_list *raw, *expanded;
  bool *is_expanded;
  uint32_t count;
} call;

// Reads "(a, b)".
static call read_call(pp *p, const pp_macro *m) {
  uint32_t room = m->param_count ? m->param_count : 1, depth = 0;
  call c = {.raw = UNIT_ARRAY(p->u, room, pp_list),
            .expanded = UNIT_ARRAY(p->u, room, pp_list),
            .is_expanded = UNIT_ARRAY(p->u, room, bool),
            .count = 1};
  raw_token(p); // the parenthesis
  for (;;) {
    pp_token t = raw_token(p);
    if (t.kind == PP_END) pp_give_up(p);
    if (pp_is(&t, ")") && depth-- == 0) break;
    if (pp_is(&t, "(")) depth++;
    bool is_rest = m->is_variadic && c.count == m->param_count;
    if (pp_is(&t, ",") && !depth && !is_rest) {
      if (c.count == room) pp_give_up(p);
      c.count++;
    } else {
      pp_push(p, &c.raw[c.count - 1], t);
    }
  }
  // Without its last parameter a variadic macro may be called; clang has rules of its own for that.
  if (m->param_count && c.count != m->param_count) pp_give_up(p);
  if (!m->param_count && c.raw[0].count) pp_give_up(p);
  return c;
}

static const pp_list *expanded_argument(pp *p, call *c, uint32_t i) {
  if (!c->is_expanded[i]) c->expanded[i] = pp_expand(p, &c->raw[i]);
  c->is_expanded[i] = true;
  return &c->expanded[i];
}

static pp_token stringified(pp *p, const pp_list *list) {
  size_t room = 3;
  for (uint32_t i = 0; i < list->count; i++) room += 2 * (size_t)list->at[i].size + 1;
  char *text = unit_alloc(p->u, room, 1), *out = text;
  *out++ = '"';
  for (uint32_t i = 0; i < list->count; i++) {
    const pp_token *t = &list->at[i];
    bool is_quoted = t->kind == PP_STRING || t->kind == PP_CHAR;
    if (i && t->has_space) *out++ = ' ';
    for (uint32_t k = 0; k < t->size; k++) {
      if (is_quoted && (t->text[k] == '"' || t->text[k] == '\\')) *out++ = '\\';
      *out++ = t->text[k];
    }
  }
  *out++ = '"';
  return (pp_token){.text = text, .size = (uint32_t)(out - text), .kind = PP_STRING};
}

static pp_token pasted(pp *p, const pp_token *a, const pp_token *b) {
  pp_token t = a->kind == PP_NOTHING ? *b : *a;
  t.has_space = a->has_space;
  if (a->kind == PP_NOTHING || b->kind == PP_NOTHING) return t;
  size_t size = (size_t)a->size + b->size;
  char *text = unit_alloc(p->u, size + 1, 1);
  memcpy(text, a->text, a->size);
  memcpy(text + a->size, b->text, b->size);
  const char *at = text;
  t = pp_lex(p, &at, text + size);
  if (t.kind == PP_END || at != text + size) pp_give_up(p);
  t.has_space = a->has_space;
  return t;
}

// ---- the replacement ----------------------------------------------------------------------------

// What stands at body[i] before ## is done; `*i` moves behind it.
static pp_list element(pp *p, const pp_macro *m, call *c, uint32_t *i, bool is_pasted) {
  const pp_token *t = &m->body.at[(*i)++];
  pp_list made = {0};
  if (m->is_function && pp_is(t, "#")) {
    pp_token text = stringified(p, &c->raw[param_of(m, &m->body.at[*i])]);
    (*i)++;
    text.has_space = t->has_space;
    pp_push(p, &made, text);
    return made;
  }
  int param = m->is_function ? param_of(m, t) : -1;
  if (param < 0) {
    pp_push(p, &made, *t);
    return made;
  }
  is_pasted |= *i < m->body.count && pp_is(&m->body.at[*i], "##");
  const pp_list *from = is_pasted ? &c->raw[param] : expanded_argument(p, c, (uint32_t)param);
  for (uint32_t k = 0; k < from->count; k++) pp_push(p, &made, from->at[k]);
  if (!made.count) pp_push(p, &made, (pp_token){.kind = PP_NOTHING, .text = ""});
  made.at[0].has_space = t->has_space;
  return made;
}

static pp_list replacement(pp *p, const pp_macro *m, call *c) {
  pp_list made = {0};
  for (uint32_t i = 0; i < m->body.count;) {
    bool is_paste = made.count && pp_is(&m->body.at[i], "##");
    if (is_paste) {
      i++;
      bool is_rest = m->is_variadic && param_of(m, &m->body.at[i]) == (int)m->param_count - 1;
      if (is_rest && pp_is(&made.at[made.count - 1], ",")) pp_give_up(p); // GNU's own rule
    }
    pp_list next = element(p, m, c, &i, is_paste);
    for (uint32_t k = 0; k < next.count; k++) {
      if (is_paste && !k)
        made.at[made.count - 1] = pasted(p, &made.at[made.count - 1], &next.at[0]);
      else
        pp_push(p, &made, next.at[k]);
    }
  }
  pp_list kept = {0};
  bool has_space = false;
  for (uint32_t i = 0; i < made.count; i++) {
    has_space |= made.at[i].has_space;
    if (made.at[i].kind == PP_NOTHING) continue;
    made.at[i].has_space = has_space;
    has_space = false;
    pp_push(p, &kept, made.at[i]);
  }
  return kept;
}

static pp_token quoted_name(pp *p, const char *name) {
  pp_token whole = {.text = name, .size = (uint32_t)strlen(name), .kind = PP_STRING};
  // The name has no quotes of its own, so that this escapes it as clang does.
  pp_list list = {&whole, 1, 1};
  return stringified(p, &list);
}

// Lines that were joined are followed by empty ones, and have several numbers; so have arguments
// and directives that go over several lines.
static bool is_line_doubtful(const pp *p) {
  const pp_input *in = p->input;
  const char *stop = memchr(in->at, '\n', (size_t)(in->end - in->at));
  bool is_joined = in->has_splices && stop && stop + 1 < in->end && stop[1] == '\n';
  return is_joined || in->is_long || p->owed_lines;
}

static pp_list place(pp *p, const pp_macro *m) {
  pp_list made = {0};
  if (m->meaning == PP_FOREIGN || is_line_doubtful(p)) pp_give_up(p);
  if (m->meaning == PP_FILE) {
    pp_push(p, &made, quoted_name(p, p->input->name));
    return made;
  }
  char *number = unit_printf(p->u, "%u", p->input->line);
  pp_push(p, &made,
          (pp_token){.text = number, .size = (uint32_t)strlen(number), .kind = PP_NUMBER});
  return made;
}

// Begins the expansion of `t`; false when it stays as it is.
static bool expand_one(pp *p, pp_token *t) {
  pp_macro *m = t->kind == PP_WORD && !t->is_blocked ? pp_find(p, t->text, t->size) : NULL;
  if (!m) return false;
  if (m->is_open) {
    t->is_blocked = true;
    return false;
  }
  if (m->is_function && !is_paren_next(p)) return false;
  call c = {0};
  if (m->is_function) c = read_call(p, m);
  pp_list made = m->meaning == PP_BODY ? replacement(p, m, &c) : place(p, m);
  if (made.count) made.at[0].has_space = t->has_space;
  enter(p, &made, m, false);
  return true;
}

pp_list pp_expand(pp *p, const pp_list *list) {
  pp_list made = {0};
  if (++p->nesting > MOST_NESTING) pp_give_up(p);
  pp_context *before = p->top;
  enter(p, list, NULL, true);
  for (;;) {
    pp_token t = raw_token(p);
    if (t.kind == PP_END) break;
    if (!expand_one(p, &t)) pp_push(p, &made, t);
  }
  leave(p);
  if (p->top != before) pp_give_up(p);
  p->nesting--;
  return made;
}

bool pp_expand_file(pp *p, const pp_token *token, pp_list *out) {
  pp_token t = *token;
  if (!expand_one(p, &t)) return false;
  while (context_with_more(p)) {
    t = raw_token(p);
    if (!expand_one(p, &t)) pp_push(p, out, t);
  }
  return true;
}
