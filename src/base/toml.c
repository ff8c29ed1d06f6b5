// SPDX-License-Identifier: MIT
#include "base/toml.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/toml_lex.h"
#include "base/toml_other.h"
#include "base/utf8.h"
#include "base/vec.h"

#include <string.h>

// How a table came to be, which decides who may add to it later.
enum {
  ORIGIN_IMPLIED, // on the way to a header: [a.b] implies a
  ORIGIN_HEADER,  // by its own header
  ORIGIN_DOTTED,  // by a dotted key
  ORIGIN_INLINE,  // { ... }: nobody may add
};

typedef struct parser {
  toml_lexer lex;
  unsigned depth;
  toml_table *root, *current;
} parser;

// ---- tables ------------------------------------------------------------------------------------

static toml_table *new_table(parser *s, int origin) {
  toml_table *table = arena_alloc(s->lex.memory, sizeof *table);
  if (!table)
    toml_lex_no_memory(&s->lex);
  else
    table->origin = origin;
  return table;
}

static toml_value *new_value(parser *s, toml_kind kind) {
  toml_value *value = arena_alloc(s->lex.memory, sizeof *value);
  if (!value) {
    toml_lex_no_memory(&s->lex);
    return NULL;
  }
  value->kind = kind;
  value->line = s->lex.line;
  return value;
}

static toml_entry *find_entry(const toml_table *t, const char *key, size_t size, uint64_t hash) {
  if (!t->index) return NULL;
  for (size_t at = hash;; at++) {
    toml_entry *e = t->index[at & (t->index_size - 1)];
    if (!e || (e->hash == hash && e->key_size == size && !memcmp(e->key, key, size))) return e;
  }
}

static void index_entry(toml_table *t, toml_entry *e) {
  size_t at = e->hash;
  while (t->index[at & (t->index_size - 1)]) at++;
  t->index[at & (t->index_size - 1)] = e;
}

static toml_entry *add_entry(parser *s, toml_table *t, const char *key, size_t size) {
  if (t->count * 2 >= t->index_size) {
    size_t grown = t->index_size ? t->index_size * 2 : 8;
    toml_entry **index = arena_alloc_array(s->lex.memory, grown, sizeof *index);
    if (!index) return toml_lex_no_memory(&s->lex), NULL;
    t->index = index;
    t->index_size = grown;
    for (toml_entry *e = t->first; e; e = e->next) index_entry(t, e);
  }
  toml_entry *e = arena_alloc(s->lex.memory, sizeof *e);
  if (!e) return toml_lex_no_memory(&s->lex), NULL;
  *e =
      (toml_entry){.key = key, .key_size = size, .line = s->lex.line, .hash = hash_fast(key, size)};
  if (t->last)
    t->last->next = e;
  else
    t->first = e;
  t->last = e;
  t->count++;
  index_entry(t, e);
  return e;
}

// ---- keys --------------------------------------------------------------------------------------

typedef struct key_part {
  const char *at; // in the text, for messages
  const char *key;
  size_t size;
} key_part;

static bool parse_key_part(parser *s, key_part *out) {
  out->at = s->lex.p;
  if (toml_lex_peek(&s->lex) == '"' || toml_lex_peek(&s->lex) == '\'')
    return toml_lex_string(&s->lex, true, &out->key, &out->size);
  const char *begin = s->lex.p;
  while (toml_lex_is_bare(toml_lex_peek(&s->lex))) s->lex.p++;
  out->size = (size_t)(s->lex.p - begin);
  if (!out->size)
    return toml_lex_fail(&s->lex, s->lex.p,
                         "a key is expected here. Fix: write a name, in quotes where it holds "
                         "more than letters, digits, _ and -");
  out->key = arena_copy_string(s->lex.memory, begin, out->size);
  return out->key || toml_lex_no_memory(&s->lex);
}

// a.b."c": all parts, at least one.
static bool parse_key(parser *s, key_part parts[TOML_MAX_DEPTH], size_t *count) {
  for (*count = 0;;) {
    if (*count == TOML_MAX_DEPTH)
      return toml_lex_fail(&s->lex, s->lex.p, "a key has more than %d parts. Fix: nest less",
                           TOML_MAX_DEPTH);
    if (!parse_key_part(s, &parts[(*count)++])) return false;
    toml_lex_skip_blanks(&s->lex);
    if (toml_lex_peek(&s->lex) != '.') return true;
    s->lex.p++;
    toml_lex_skip_blanks(&s->lex);
  }
}

static bool fail_duplicate(parser *s, const key_part *part, const toml_entry *old) {
  return toml_lex_fail(&s->lex, part->at,
                       "`%.80s` is already defined in line %u. Fix: remove one of them", part->key,
                       old->line);
}

static toml_table *add_table(parser *s, toml_table *t, const key_part *part, int origin) {
  toml_entry *e = add_entry(s, t, part->key, part->size);
  toml_table *table = e ? new_table(s, origin) : NULL;
  if (e && table) e->value = new_value(s, TOML_TABLE);
  if (!e || !table || !e->value) return NULL;
  e->value->table = table;
  return table;
}

static toml_value *append_table(parser *s, toml_value *array) {
  if (array->array.count == array->array.capacity) {
    size_t grown = array->array.capacity ? array->array.capacity * 2 : 4;
    toml_value **items = arena_alloc_array(s->lex.memory, grown, sizeof *items);
    if (!items) return toml_lex_no_memory(&s->lex), NULL;
    if (array->array.count) memcpy(items, array->array.items, array->array.count * sizeof *items);
    array->array.items = items;
    array->array.capacity = grown;
  }
  toml_value *item = new_value(s, TOML_TABLE);
  if (!item || !(item->table = new_table(s, ORIGIN_HEADER))) return NULL;
  return array->array.items[array->array.count++] = item;
}

// One step of a header or of a dotted key, except the last.
static toml_table *step_into(parser *s, toml_table *t, const key_part *part, int origin) {
  toml_entry *e = find_entry(t, part->key, part->size, hash_fast(part->key, part->size));
  if (!e) return add_table(s, t, part, origin);
  toml_value *v = e->value;
  if (v->kind == TOML_ARRAY && v->array.of_tables && origin == ORIGIN_IMPLIED)
    return v->array.items[v->array.count - 1]->table;
  bool open = v->kind == TOML_TABLE && v->table->origin != ORIGIN_INLINE &&
              (origin == ORIGIN_IMPLIED || v->table->origin == ORIGIN_DOTTED);
  if (open) return v->table;
  fail_duplicate(s, part, e);
  return NULL;
}

// ---- values ------------------------------------------------------------------------------------

static toml_value *parse_value(parser *s);
static bool parse_pair(parser *s, toml_table *into);

static bool ends_value(int c) {
  return c < 0 || c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' || c == ']' ||
         c == '}' || c == '#';
}

static toml_value *new_other(parser *s, const char *at, size_t size) {
  toml_value *value = new_value(s, TOML_OTHER);
  const char *copy = value ? arena_copy_string(s->lex.memory, at, size) : NULL;
  if (!copy) return toml_lex_no_memory(&s->lex), NULL;
  value->string.at = copy;
  value->string.size = size;
  return value;
}

static toml_value *parse_integer(parser *s) {
  const char *begin = s->lex.p;
  toml_value *value = new_value(s, TOML_INTEGER);
  if (!value) return NULL;
  value->integer.negative = *s->lex.p == '-';
  if (*s->lex.p == '-' || *s->lex.p == '+') s->lex.p++;
  const char *digits = s->lex.p;
  uint64_t x = 0;
  bool fits = true;
  while (toml_lex_peek(&s->lex) >= '0' && toml_lex_peek(&s->lex) <= '9') {
    fits &= !__builtin_mul_overflow(x, 10u, &x) &&
            !__builtin_add_overflow(x, (uint64_t)(*s->lex.p - '0'), &x);
    s->lex.p++;
    bool more = s->lex.p + 1 < s->lex.end && s->lex.p[1] >= '0' && s->lex.p[1] <= '9';
    if (toml_lex_peek(&s->lex) == '_' && more) s->lex.p++;
  }
  bool leading_zero = s->lex.p - digits > 1 && *digits == '0';
  if (s->lex.p == digits || leading_zero || !ends_value(toml_lex_peek(&s->lex))) {
    toml_lex_fail(&s->lex, begin,
                  "this is no value that vyre's files have. Fix: write a string in quotes, a "
                  "decimal integer, true, false, an array or a table");
    return NULL;
  }
  if (!fits || (value->integer.negative && x > (uint64_t)1 << 63))
    return new_other(s, begin, (size_t)(s->lex.p - begin));
  value->integer.magnitude = x;
  return value;
}

static toml_value *parse_number(parser *s) {
  const char *at = s->lex.p;
  size_t size = toml_other_length(at, s->lex.end);
  if (!size || !ends_value(size < (size_t)(s->lex.end - at) ? at[size] : -1))
    return parse_integer(s);
  s->lex.p += size;
  return new_other(s, at, size);
}

static bool parse_items(parser *s, toml_value *array) {
  vec(toml_value *) items = {0};
  const char *open = s->lex.p++;
  bool ok = true;
  while (ok && (ok = toml_lex_skip_space(&s->lex)) && toml_lex_peek(&s->lex) != ']') {
    if (s->lex.p >= s->lex.end) {
      ok = toml_lex_fail(&s->lex, open, "the array does not end. Fix: close it with ]");
      break;
    }
    toml_value *item = parse_value(s);
    ok = item && (vec_push(&items, item) || toml_lex_no_memory(&s->lex)) &&
         toml_lex_skip_space(&s->lex);
    if (!ok || s->lex.p >= s->lex.end || toml_lex_peek(&s->lex) == ']') continue;
    if (toml_lex_peek(&s->lex) == ',')
      s->lex.p++;
    else
      ok = toml_lex_fail(&s->lex, s->lex.p, "the array goes on without a comma. Fix: write , or ]");
  }
  if (ok) {
    s->lex.p++;
    array->array.count = items.count;
    array->array.items = arena_alloc_array(s->lex.memory, items.count, sizeof *items.at);
    if (!array->array.items)
      ok = toml_lex_no_memory(&s->lex);
    else if (items.count)
      memcpy(array->array.items, items.at, items.count * sizeof *items.at);
  }
  vec_free(&items);
  return ok;
}

// On one line, and without a comma at its end.
static bool parse_inline_table(parser *s, toml_value *value) {
  const char *open = s->lex.p++;
  if (!(value->table = new_table(s, ORIGIN_DOTTED))) return false;
  toml_lex_skip_blanks(&s->lex);
  for (bool first = true; toml_lex_peek(&s->lex) != '}' || !first; first = false) {
    if (!parse_pair(s, value->table)) return false;
    toml_lex_skip_blanks(&s->lex);
    if (toml_lex_peek(&s->lex) == '}') break;
    if (toml_lex_peek(&s->lex) != ',')
      return toml_lex_fail(&s->lex, s->lex.p < s->lex.end ? s->lex.p : open,
                           "the inline table does not end. Fix: write , or } on the same line");
    s->lex.p++;
    toml_lex_skip_blanks(&s->lex);
  }
  s->lex.p++;
  value->table->origin = ORIGIN_INLINE;
  return true;
}

static toml_value *parse_nested(parser *s, toml_kind kind) {
  if (s->depth == TOML_MAX_DEPTH) {
    toml_lex_fail(&s->lex, s->lex.p, "values are nested more than %d deep. Fix: nest less",
                  TOML_MAX_DEPTH);
    return NULL;
  }
  toml_value *value = new_value(s, kind);
  s->depth++;
  bool ok = value && (kind == TOML_ARRAY ? parse_items(s, value) : parse_inline_table(s, value));
  s->depth--;
  return ok ? value : NULL;
}

static toml_value *parse_word(parser *s, const char *word, bool is_true) {
  toml_value *value = new_value(s, TOML_BOOL);
  s->lex.p += strlen(word);
  if (value) value->boolean = is_true;
  return value;
}

static toml_value *parse_value(parser *s) {
  int c = toml_lex_peek(&s->lex);
  if (c == '[') return parse_nested(s, TOML_ARRAY);
  if (c == '{') return parse_nested(s, TOML_TABLE);
  if (c == '"' || c == '\'') {
    toml_value *value = new_value(s, TOML_STRING);
    bool ok = value && toml_lex_string(&s->lex, false, &value->string.at, &value->string.size);
    return ok ? value : NULL;
  }
  if (toml_lex_starts_with(&s->lex, "true") &&
      ends_value(s->lex.end - s->lex.p > 4 ? s->lex.p[4] : -1))
    return parse_word(s, "true", true);
  if (toml_lex_starts_with(&s->lex, "false") &&
      ends_value(s->lex.end - s->lex.p > 5 ? s->lex.p[5] : -1))
    return parse_word(s, "false", false);
  if (s->lex.p < s->lex.end) return parse_number(s);
  toml_lex_fail(&s->lex, s->lex.p, "a value is expected here. Fix: write one after the =");
  return NULL;
}

// ---- statements --------------------------------------------------------------------------------

// key = value. Nothing is entered before the value is known to be good.
static bool parse_pair(parser *s, toml_table *into) {
  key_part parts[TOML_MAX_DEPTH];
  size_t count;
  uint32_t line = s->lex.line;
  if (!parse_key(s, parts, &count)) return false;
  if (toml_lex_peek(&s->lex) != '=')
    return toml_lex_fail(&s->lex, s->lex.p, "a key has no value. Fix: write key = value");
  s->lex.p++;
  toml_lex_skip_blanks(&s->lex);
  toml_value *value = parse_value(s);
  if (!value) return false;
  for (size_t i = 0; i + 1 < count; i++)
    if (!(into = step_into(s, into, &parts[i], ORIGIN_DOTTED))) return false;
  const key_part *last = &parts[count - 1];
  toml_entry *old = find_entry(into, last->key, last->size, hash_fast(last->key, last->size));
  if (old) return fail_duplicate(s, last, old);
  toml_entry *e = add_entry(s, into, last->key, last->size);
  if (!e) return false;
  e->line = line;
  e->value = value;
  return true;
}

static bool open_table(parser *s, toml_table *in, const key_part *part) {
  toml_entry *e = find_entry(in, part->key, part->size, hash_fast(part->key, part->size));
  if (!e) return (s->current = add_table(s, in, part, ORIGIN_HEADER)) != NULL;
  if (e->value->kind != TOML_TABLE || e->value->table->origin != ORIGIN_IMPLIED)
    return fail_duplicate(s, part, e);
  s->current = e->value->table;
  s->current->origin = ORIGIN_HEADER;
  e->value->line = s->lex.line;
  return true;
}

static bool open_array_element(parser *s, toml_table *in, const key_part *part) {
  toml_entry *e = find_entry(in, part->key, part->size, hash_fast(part->key, part->size));
  if (!e) {
    if (!(e = add_entry(s, in, part->key, part->size)) || !(e->value = new_value(s, TOML_ARRAY)))
      return false;
    e->value->array.of_tables = true;
  }
  if (e->value->kind != TOML_ARRAY || !e->value->array.of_tables) return fail_duplicate(s, part, e);
  toml_value *item = append_table(s, e->value);
  if (item) s->current = item->table;
  return item != NULL;
}

static bool parse_header(parser *s) {
  key_part parts[TOML_MAX_DEPTH];
  size_t count;
  bool is_array = toml_lex_starts_with(&s->lex, "[[");
  s->lex.p += is_array ? 2 : 1;
  toml_lex_skip_blanks(&s->lex);
  if (!parse_key(s, parts, &count)) return false;
  if (!toml_lex_starts_with(&s->lex, is_array ? "]]" : "]"))
    return toml_lex_fail(&s->lex, s->lex.p, "the header does not end. Fix: close it with %s",
                         is_array ? "]]" : "]");
  s->lex.p += is_array ? 2 : 1;
  toml_table *in = s->root;
  for (size_t i = 0; i + 1 < count; i++)
    if (!(in = step_into(s, in, &parts[i], ORIGIN_IMPLIED))) return false;
  const key_part *last = &parts[count - 1];
  return is_array ? open_array_element(s, in, last) : open_table(s, in, last);
}

static bool parse_statement(parser *s) {
  bool is_header = toml_lex_peek(&s->lex) == '[';
  bool ok = is_header ? parse_header(s) : parse_pair(s, s->current);
  // What belongs to a faulty header must not go to the table before it.
  if (!ok && is_header && s->lex.status == VYRE_ERROR_SYNTAX) {
    vyre_status status = s->lex.status;
    s->current = new_table(s, ORIGIN_HEADER);
    if (s->current) s->lex.status = status;
  }
  if (!ok) return false;
  toml_lex_skip_blanks(&s->lex);
  if (!toml_lex_skip_comment(&s->lex)) return false;
  if (s->lex.p < s->lex.end && !toml_lex_at_newline(&s->lex))
    return toml_lex_fail(&s->lex, s->lex.p, "something follows on the line. Fix: begin a new line");
  return true;
}

static bool check_utf8(parser *s) {
  for (const char *p = s->lex.p; p < s->lex.end;) {
    size_t length = utf8_length(p, (size_t)(s->lex.end - p));
    if (!length)
      return toml_lex_fail(&s->lex, p, "the file is no UTF-8 here. Fix: save it as UTF-8");
    p += length;
  }
  return true;
}

static void skip_line(parser *s) {
  while (s->lex.p < s->lex.end && !toml_lex_at_newline(&s->lex)) s->lex.p++;
}

vyre_status toml_parse(arena *memory, const char *text, size_t size, const char *file,
                       toml_problem_fn on_problem, void *context, toml_table **root,
                       vyre_error *error) {
  vyre_error own;
  parser s = {.lex = {.memory = memory,
                      .file = file,
                      .text = text,
                      .p = text,
                      .end = text + size,
                      .line = 1,
                      .error = error ? error : &own}};
  toml_lexer *lex = &s.lex;
  *root = NULL;
  if (!(s.root = s.current = new_table(&s, ORIGIN_HEADER)) || !check_utf8(&s)) return lex->status;
  for (int problems = 0;;) {
    if (toml_lex_skip_space(lex) && (lex->p >= lex->end || parse_statement(&s))) {
      if (lex->p < lex->end) continue;
      *root = s.root;
      return VYRE_OK;
    }
    if (!on_problem || lex->status != VYRE_ERROR_SYNTAX || ++problems > TOML_MAX_PROBLEMS)
      return lex->status;
    on_problem(context, lex->error);
    skip_line(&s);
    s.depth = 0;
  }
}

// ---- reading -----------------------------------------------------------------------------------

const toml_value *toml_find(const toml_table *table, const char *key) {
  size_t size = strlen(key);
  const toml_entry *e = find_entry(table, key, size, hash_fast(key, size));
  return e ? e->value : NULL;
}

bool toml_get_u64(const toml_value *value, uint64_t *out) {
  if (!value || value->kind != TOML_INTEGER) return false;
  if (value->integer.negative && value->integer.magnitude) return false;
  *out = value->integer.magnitude;
  return true;
}

bool toml_get_i64(const toml_value *value, int64_t *out) {
  if (!value || value->kind != TOML_INTEGER) return false;
  uint64_t x = value->integer.magnitude;
  if (!value->integer.negative && x > INT64_MAX) return false;
  *out = value->integer.negative ? (int64_t)(0 - x) : (int64_t)x;
  return true;
}

const char *toml_get_string(const toml_value *value) {
  if (!value || value->kind != TOML_STRING) return NULL;
  return memchr(value->string.at, 0, value->string.size) ? NULL : value->string.at;
}
