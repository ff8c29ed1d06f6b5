// SPDX-License-Identifier: MIT
//
// Any bytes give a tree or an error with a place. What a tree holds can be written and read again,
// and reading with the wish to keep the rest accepts whatever strict reading accepts, equally.
#include "base/toml.h"
#include "require.h"

#include <string.h>

static void write_table(strbuf *out, const toml_table *t);

static void write_value(strbuf *out, const toml_value *v) {
  switch (v->kind) {
  case TOML_STRING: toml_write_string(out, v->string.at); break;
  case TOML_INTEGER:
    strbuf_printf(out, "%s%llu", v->integer.negative ? "-" : "",
                  (unsigned long long)v->integer.magnitude);
    break;
  case TOML_BOOL: strbuf_puts(out, v->boolean ? "true" : "false"); break;
  case TOML_OTHER: strbuf_puts(out, v->string.at); break;
  case TOML_TABLE: write_table(out, v->table); break;
  case TOML_ARRAY:
    strbuf_putc(out, '[');
    for (size_t i = 0; i < v->array.count; i++) {
      write_value(out, v->array.items[i]);
      strbuf_putc(out, ',');
    }
    strbuf_putc(out, ']');
    break;
  }
}

// As an inline table. Texts are cut at a NUL by the writer, here as there.
static void write_table(strbuf *out, const toml_table *t) {
  strbuf_putc(out, '{');
  for (const toml_entry *e = t->first; e; e = e->next) {
    if (e != t->first) strbuf_putc(out, ',');
    REQUIRE(e->value && e->line > 0);
    toml_write_key(out, e->key);
    strbuf_putc(out, '=');
    write_value(out, e->value);
  }
  strbuf_putc(out, '}');
}

static char *printed(const toml_table *t, size_t *size) {
  strbuf out = {0};
  strbuf_puts(&out, "x=");
  write_table(&out, t);
  return strbuf_take(&out, size);
}

static void count_problem(void *context, const vyre_error *problem) {
  REQUIRE(problem->status == VYRE_ERROR_SYNTAX && problem->line > 0);
  REQUIRE(strstr(problem->message, "Fix:"));
  ++*(unsigned *)context;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  arena memory = ARENA_INIT;
  toml_table *root, *kept, *again;
  vyre_error error = {0};
  unsigned problems = 0;
  const char *text = (const char *)data;
  vyre_status status = toml_parse(&memory, text, size, "fuzz", NULL, NULL, &root, &error);
  vyre_status lenient =
      toml_parse(&memory, text, size, "fuzz", count_problem, &problems, &kept, NULL);
  if (status == VYRE_OK) {
    REQUIRE(lenient == VYRE_OK && problems == 0);
    size_t first_size, kept_size, again_size;
    char *first = printed(root, &first_size), *same = printed(kept, &kept_size);
    REQUIRE(first && same && !strcmp(first, same));
    // Nesting and keys that a NUL makes equal may be refused the second time, nothing else.
    if (toml_parse(&memory, first, first_size, "again", NULL, NULL, &again, &error) == VYRE_OK) {
      char *second = printed(toml_find(again, "x")->table, &again_size);
      REQUIRE(second && !strcmp(first, second));
      free(second);
    } else {
      REQUIRE(strstr(error.message, "nested") || strstr(error.message, "already defined"));
    }
    free(first);
    free(same);
  } else {
    REQUIRE(status == VYRE_ERROR_SYNTAX && error.line > 0 && strstr(error.message, "Fix:"));
    REQUIRE(lenient != VYRE_OK || problems > 0);
  }
  arena_free(&memory);
  return 0;
}
