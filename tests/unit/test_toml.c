// SPDX-License-Identifier: MIT
//
// TOML: what is accepted, what it means, and where each fault is found.
#include "base/toml.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static arena memory;

static int teardown(void **state) {
  (void)state;
  arena_free(&memory);
  return 0;
}

static toml_table *parse(const char *text) {
  toml_table *root;
  vyre_error error;
  if (toml_parse(&memory, text, strlen(text), "t.toml", NULL, NULL, &root, &error) != VYRE_OK)
    fail_msg("%u:%u: %s\n%s", error.line, error.column, error.message, error.excerpt);
  return root;
}

static void fails_size(const char *text, size_t size, unsigned line, unsigned column,
                       const char *part) {
  toml_table *root;
  vyre_error error = {0};
  vyre_status status = toml_parse(&memory, text, size, "t.toml", NULL, NULL, &root, &error);
  if (status == VYRE_OK) fail_msg("accepted: %s", text);
  assert_int_equal(status, VYRE_ERROR_SYNTAX);
  assert_null(root);
  if (!strstr(error.message, part)) fail_msg("`%s` lacks `%s`", error.message, part);
  assert_non_null(strstr(error.message, "Fix:"));
  assert_string_equal(error.file, "t.toml");
  if (error.line != line || error.column != column)
    fail_msg("%s: at %u:%u, not %u:%u", error.message, error.line, error.column, line, column);
}

static void fails(const char *text, unsigned line, unsigned column, const char *part) {
  fails_size(text, strlen(text), line, column, part);
}

static const char *string_of(const toml_table *t, const char *key) {
  const toml_value *v = toml_find(t, key);
  assert_non_null(v);
  return toml_get_string(v);
}

static uint64_t u64_of(const toml_table *t, const char *key) {
  uint64_t x = 0;
  assert_true(toml_get_u64(toml_find(t, key), &x));
  return x;
}

static const toml_table *table_of(const toml_table *t, const char *key) {
  const toml_value *v = toml_find(t, key);
  assert_non_null(v);
  assert_int_equal(v->kind, TOML_TABLE);
  return v->table;
}

static void scalars(void **state) {
  (void)state;
  toml_table *t = parse("# a file\n"
                        "zero = 0\nplus = +7\t# seven\nminus=-12\n"
                        "grouped = 1_000_000\nlargest = 18446744073709551615\n"
                        "least = -9223372036854775808\nyes = true\nno = false\r\n\r\n");
  assert_int_equal(t->count, 8);
  assert_int_equal(u64_of(t, "zero"), 0);
  assert_int_equal(u64_of(t, "plus"), 7);
  assert_int_equal(u64_of(t, "grouped"), 1000000);
  assert_true(u64_of(t, "largest") == UINT64_MAX);
  uint64_t u;
  int64_t i;
  assert_false(toml_get_u64(toml_find(t, "minus"), &u));
  assert_true(toml_get_i64(toml_find(t, "minus"), &i));
  assert_int_equal(i, -12);
  assert_true(toml_get_i64(toml_find(t, "least"), &i));
  assert_true(i == INT64_MIN);
  assert_false(toml_get_i64(toml_find(t, "largest"), &i));
  assert_false(toml_get_u64(toml_find(t, "yes"), &u));
  assert_false(toml_get_u64(NULL, &u));
  assert_true(toml_find(t, "yes")->boolean);
  assert_false(toml_find(t, "no")->boolean);
  assert_int_equal(toml_find(t, "no")->line, 9);
  assert_null(toml_find(t, "nothing"));
  assert_null(toml_get_string(toml_find(t, "zero")));
  assert_int_equal(parse("")->count, 0);
  assert_int_equal(parse("\n \t\n# only a comment")->count, 0);
}

static void strings(void **state) {
  (void)state;
  toml_table *t = parse("basic = \"a\\tb\\n\\\"\\\\ \\u00e9 \\U0001F600\"\n"
                        "literal = 'a\\tb\"'\n"
                        "empty = \"\"\nnone = ''\n"
                        "long = \"\"\"\nfirst\n  second \\\n\n   joined \"\"quoted\"\"\"\"\"\n"
                        "raw = '''\nC:\\dir\n'it''s'''\n"
                        "after = 1\n"
                        "nul = \"a\\u0000b\"\n");
  assert_string_equal(string_of(t, "basic"), "a\tb\n\"\\ \xc3\xa9 \xf0\x9f\x98\x80");
  assert_string_equal(string_of(t, "literal"), "a\\tb\"");
  assert_string_equal(string_of(t, "empty"), "");
  assert_string_equal(string_of(t, "none"), "");
  assert_string_equal(string_of(t, "long"), "first\n  second joined \"\"quoted\"\"");
  assert_string_equal(string_of(t, "raw"), "C:\\dir\n'it''s");
  assert_int_equal(toml_find(t, "after")->line, 13);
  assert_null(toml_get_string(toml_find(t, "nul")));
  assert_int_equal(toml_find(t, "nul")->string.size, 3);
}

static void keys(void **state) {
  (void)state;
  toml_table *t = parse("bare-key_1 = 1\n\"quoted key\" = 2\n'lit.eral' = 3\n\"\" = 4\n"
                        "a . \"b.c\" .d = 5\na.e = 6\n123 = 7\n\"\\u0041\" = 8\n");
  assert_int_equal(u64_of(t, "bare-key_1"), 1);
  assert_int_equal(u64_of(t, "quoted key"), 2);
  assert_int_equal(u64_of(t, "lit.eral"), 3);
  assert_int_equal(u64_of(t, ""), 4);
  assert_int_equal(u64_of(table_of(table_of(t, "a"), "b.c"), "d"), 5);
  assert_int_equal(u64_of(table_of(t, "a"), "e"), 6);
  assert_int_equal(u64_of(t, "123"), 7);
  assert_int_equal(u64_of(t, "A"), 8);
}

static void arrays(void **state) {
  (void)state;
  toml_table *t = parse("empty = []\nthree = [64, 1, 1]\n"
                        "lines = [ # one\n  1,\n\n  2, # two\n]\n"
                        "nested = [[1], ['a', true], []]\n"
                        "tables = [{ backend = \"cpu\", latency_ns = 12 }, {}, {a.b = 1}]\n");
  assert_int_equal(toml_find(t, "empty")->array.count, 0);
  const toml_value *three = toml_find(t, "three"), *lines = toml_find(t, "lines");
  assert_int_equal(three->array.count, 3);
  assert_int_equal(three->array.items[0]->integer.magnitude, 64);
  assert_int_equal(lines->array.count, 2);
  assert_int_equal(lines->line, 3);
  assert_int_equal(lines->array.items[1]->line, 6);
  assert_int_equal(toml_find(t, "nested")->array.items[1]->array.count, 2);
  const toml_value *tables = toml_find(t, "tables");
  assert_int_equal(tables->array.count, 3);
  assert_false(tables->array.of_tables);
  assert_int_equal(u64_of(tables->array.items[0]->table, "latency_ns"), 12);
  assert_int_equal(tables->array.items[1]->table->count, 0);
  assert_int_equal(u64_of(table_of(tables->array.items[2]->table, "a"), "b"), 1);
}

static void tables_and_arrays_of_tables(void **state) {
  (void)state;
  toml_table *t = parse("version = 1\n"
                        "[routes.\"primitive.test\"]\nbackend = \"cpu\"\n\n"
                        "[[routes.\"primitive.test\".observations]]\nbackend = 'cpu'\n"
                        "latency_ns = 10\n\n"
                        "[[routes.\"primitive.test\".observations]]\nbackend = 'ref'\n"
                        "latency_ns = 20\n"
                        "[[routes.\"primitive.test\".observations.extra]]\nx = 1\n"
                        "[ routes . other ]\nbackend = \"ref\"\n"
                        "[top]\n[routes.third.deep]\n[routes.third]\ny = 2\n");
  const toml_table *routes = table_of(t, "routes");
  assert_int_equal(routes->count, 3);
  assert_string_equal(routes->first->key, "primitive.test");
  const toml_table *route = table_of(routes, "primitive.test");
  assert_string_equal(string_of(route, "backend"), "cpu");
  const toml_value *seen = toml_find(route, "observations");
  assert_int_equal(seen->kind, TOML_ARRAY);
  assert_true(seen->array.of_tables);
  assert_int_equal(seen->array.count, 2);
  assert_int_equal(seen->array.items[1]->line, 9);
  assert_int_equal(u64_of(seen->array.items[1]->table, "latency_ns"), 20);
  assert_int_equal(toml_find(seen->array.items[1]->table, "extra")->array.count, 1);
  assert_null(toml_find(seen->array.items[0]->table, "extra"));
  assert_string_equal(string_of(table_of(routes, "other"), "backend"), "ref");
  assert_int_equal(u64_of(table_of(routes, "third"), "y"), 2);
}

static void faults_are_found_where_they_are(void **state) {
  (void)state;
  fails("a = 1\na = 2\n", 2, 1, "already defined in line 1");
  fails("a = 1\n\"\\u0061\" = 2\n", 2, 1, "already defined");
  fails("[t]\nx=1\n[t]\n", 3, 2, "already defined in line 1");
  fails("[a.b]\n[a]\n[a]\n", 3, 2, "already defined");
  fails("a.b = 1\n[a]\n", 2, 2, "already defined");
  fails("[a]\nb.c = 1\n[a.b]\n", 3, 4, "already defined");
  fails("[a.b]\nx=1\n[a]\nb.y = 2\n", 4, 1, "already defined");
  fails("a = { x = 1 }\na.y = 2\n", 2, 1, "already defined");
  fails("a = { x = 1 }\n[a.b]\n", 2, 2, "already defined");
  fails("a = [1]\n[[a]]\n", 2, 3, "already defined");
  fails("[[a]]\n[a]\n", 2, 2, "already defined");
  fails("a = 1\na.b = 2\n", 2, 1, "already defined");
  fails("a = 1 b = 2\n", 1, 7, "something follows");
  fails("[a] b = 2\n", 1, 5, "something follows");
  fails("a\n", 1, 2, "has no value");
  fails("a =\n", 1, 4, "no value that vyre's files have");
  fails("a =", 1, 4, "a value is expected");
  fails("= 1\n", 1, 1, "a key is expected");
  fails("a. = 1\n", 1, 4, "a key is expected");
  fails("[]\n", 1, 2, "a key is expected");
  fails("[a\n", 1, 3, "header does not end");
  fails("[[a]\n", 1, 4, "header does not end");
  fails("\"\"\"k\"\"\" = 1\n", 1, 1, "no multi-line string");
  fails("a = 012\n", 1, 5, "no value that vyre's files have");
  fails("a = 1__0\n", 1, 5, "no value that vyre's files have");
  fails("a = 1_\n", 1, 5, "no value that vyre's files have");
  fails("a = _1\n", 1, 5, "no value that vyre's files have");
  fails("a = truely\n", 1, 5, "no value that vyre's files have");
  fails("a = -\n", 1, 5, "no value that vyre's files have");
  fails("a = [1 2]\n", 1, 8, "without a comma");
  fails("a = [1,\n2\n", 1, 5, "array does not end");
  fails("a = [,]\n", 1, 6, "no value");
  fails("a = {x = 1,}\n", 1, 12, "a key is expected");
  fails("a = {x = 1\n}\n", 1, 11, "inline table does not end");
  fails("a = {x = 1, x = 2}\n", 1, 13, "already defined");
  fails("a = \"x\n", 1, 5, "string does not end");
  fails("a = 'x", 1, 5, "string does not end");
  fails("a = '''x''\n", 1, 5, "string does not end");
  fails("a = \"\\q\"\n", 1, 6, "unknown escape");
  fails("a = \"\\u12g4\"\n", 1, 10, "hexadecimal");
  fails("a = \"\\ud800\"\n", 1, 6, "no character");
  fails("a = \"\\udfff\"\n", 1, 6, "no character");
  fails("a = \"\\U00110000\"\n", 1, 6, "no character");
  fails("a = \"\x01\"\n", 1, 6, "control character");
  fails("a = 1 # \x7f\n", 1, 9, "control character");
  fails("a = \"x\ry\"\n", 1, 7, "control character");
  fails("ok = 1\na = \"\xff\"\n", 2, 6, "no UTF-8");
  fails("a = \"\xed\xa0\x80\"\n", 1, 6, "no UTF-8");
  fails("a = \"\xc0\x80\"\n", 1, 6, "no UTF-8");
  fails("a = \"\xf4\x90\x80\x80\"\n", 1, 6, "no UTF-8");
  fails("a = \"\xe2\x82", 1, 6, "no UTF-8");
  fails_size("a = \"\0\"\n", 8, 1, 6, "control character");
  fails_size("\0", 1, 1, 1, "a key is expected");
}

static void nesting_is_limited(void **state) {
  (void)state;
  char text[256] = "a = ";
  memset(text + 4, '[', TOML_MAX_DEPTH);
  memset(text + 4 + TOML_MAX_DEPTH, ']', TOML_MAX_DEPTH);
  parse(text);
  memset(text + 4, '[', TOML_MAX_DEPTH + 1);
  fails(text, 1, 5 + TOML_MAX_DEPTH, "nested more than");
  memset(text, 0, sizeof text);
  for (int i = 0; i <= TOML_MAX_DEPTH; i++) strcat(text, "k.");
  fails(text, 1, 1 + 2 * TOML_MAX_DEPTH, "more than 32 parts");
}

typedef struct told {
  unsigned count, lines[128];
} told;

static void note(void *context, const vyre_error *problem) {
  told *t = context;
  assert_int_equal(problem->status, VYRE_ERROR_SYNTAX);
  if (t->count < 128) t->lines[t->count] = problem->line;
  t->count++;
}

// What TOML has and vyre's files do not is a value like others; what looks like it is a mistake.
static void other_values_are_told_from_mistakes(void **state) {
  (void)state;
  static const char *const others[] = {
      "1.5",
      "-0.0",
      "+1e5",
      "6.626e-34",
      "1_0.2_5E+0_7",
      "inf",
      "+inf",
      "-nan",
      "0xdead_BEEF",
      "0o755",
      "0b1101",
      "1979-05-27",
      "2024-02-29",
      "1979-05-27T07:32:00Z",
      "1979-05-27 07:32:00.999-07:00",
      "1979-05-27t00:32:00",
      "07:32:60",
      "00:00:00.5",
      "18446744073709551616",
      "-9223372036854775809",
  };
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    char text[200];
    snprintf(text, sizeof text, "before = 1\na = %s # comment\nb = [%s, 2]\nc = { d = %s }\n",
             others[i], others[i], others[i]);
    const toml_table *root = parse(text);
    const toml_value *a = toml_find(root, "a");
    assert_int_equal(a->kind, TOML_OTHER);
    assert_int_equal(a->line, 2);
    assert_string_equal(a->string.at, others[i]);
    uint64_t u;
    int64_t s;
    assert_false(toml_get_u64(a, &u) || toml_get_i64(a, &s) || toml_get_string(a));
    assert_int_equal(toml_find(root, "b")->array.count, 2);
    assert_int_equal(toml_find(table_of(root, "c"), "d")->kind, TOML_OTHER);
  }
  static const char *const mistakes[] = {
      "1.",
      ".5",
      "1.e5",
      "1e",
      "1.5e+",
      "1._5",
      "1_.5",
      "00.5",
      "+0x10",
      "0x",
      "0x_1",
      "0xg",
      "0b2",
      "0o8",
      "infinity",
      "nano",
      "+ 1.5",
      "1.5f",
      "1979-5-27",
      "1979-05",
      "1979-13-01",
      "1979-02-29",
      "1979-05-27T",
      "1979-05-27T07:32",
      "1979-05-27T24:00:00",
      "07:60:00",
      "07:32",
      "1979-05-27T07:32:00+25:00",
      "1979-05-27T07:32:00.",
      "1.5 2.5",
  };
  for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
    char text[60];
    toml_table *root;
    snprintf(text, sizeof text, "a = %s\n", mistakes[i]);
    if (toml_parse(&memory, text, strlen(text), "t.toml", NULL, NULL, &root, NULL) == VYRE_OK)
      fail_msg("accepted: %s", mistakes[i]);
  }
}

static void the_rest_is_kept_when_asked_for(void **state) {
  (void)state;
  const char *text = "good = 1\nbad = \nalso bad\nfloat = 2.5.\n'fine' = [1, 2]\n"
                     "[broken\nlost = 1\n[t]\nx = 1\nx = 2\ny = 3\n";
  told t = {0};
  toml_table *root;
  vyre_error error;
  assert_int_equal(toml_parse(&memory, text, strlen(text), "t.toml", note, &t, &root, &error),
                   VYRE_OK);
  const unsigned lines[] = {2, 3, 4, 6, 10};
  assert_int_equal(t.count, 5);
  assert_memory_equal(t.lines, lines, sizeof lines);
  assert_int_equal(root->count, 3);
  assert_int_equal(u64_of(root, "good"), 1);
  assert_int_equal(toml_find(root, "fine")->array.count, 2);
  assert_int_equal(u64_of(table_of(root, "t"), "x"), 1);
  assert_int_equal(u64_of(table_of(root, "t"), "y"), 3);

  char many[1024] = "";
  for (int i = 0; i <= TOML_MAX_PROBLEMS; i++) strcat(many, "?\n");
  t.count = 0;
  assert_int_equal(toml_parse(&memory, many, strlen(many), "t.toml", note, &t, &root, &error),
                   VYRE_ERROR_SYNTAX);
  assert_int_equal(t.count, TOML_MAX_PROBLEMS);
}

static void what_is_written_is_read_again(void **state) {
  (void)state;
  const char *texts[] = {"plain",
                         "",
                         "with space",
                         "quo\"te\\back",
                         "tab\tnew\nline\r\b\f",
                         "\x01\x1f\x7f",
                         "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
                         "a.b",
                         "'"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    strbuf out = {0};
    toml_write_key(&out, texts[i]);
    strbuf_puts(&out, " = ");
    toml_write_string(&out, texts[i]);
    strbuf_putc(&out, '\n');
    char *text = strbuf_take(&out, NULL);
    assert_string_equal(string_of(parse(text), texts[i]), texts[i]);
    free(text);
  }
  strbuf out = {0};
  toml_write_key(&out, "Bare_-9");
  toml_write_string(&out, "x\xff\xfey\xc3");
  char *text = strbuf_take(&out, NULL);
  assert_string_equal(text, "Bare_-9\"x\xef\xbf\xbd\xef\xbf\xbdy\xef\xbf\xbd\"");
  free(text);
}

static void many_keys_stay_fast_to_find(void **state) {
  (void)state;
  enum { MANY = 50000 };
  strbuf out = {0};
  for (int i = 0; i < MANY; i++) strbuf_printf(&out, "\"key %d\" = [%d, 1, 1]\n", i, i);
  size_t size;
  char *text = strbuf_take(&out, &size), key[32];
  toml_table *root;
  assert_int_equal(toml_parse(&memory, text, size, "t", NULL, NULL, &root, NULL), VYRE_OK);
  assert_int_equal(root->count, MANY);
  for (int i = 0; i < MANY; i += 777) {
    snprintf(key, sizeof key, "key %d", i);
    const toml_value *v = toml_find(root, key);
    assert_int_equal(v->array.items[0]->integer.magnitude, i);
    assert_int_equal(v->line, i + 1);
  }
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(scalars, teardown),
      cmocka_unit_test_teardown(strings, teardown),
      cmocka_unit_test_teardown(keys, teardown),
      cmocka_unit_test_teardown(arrays, teardown),
      cmocka_unit_test_teardown(tables_and_arrays_of_tables, teardown),
      cmocka_unit_test_teardown(faults_are_found_where_they_are, teardown),
      cmocka_unit_test_teardown(nesting_is_limited, teardown),
      cmocka_unit_test_teardown(other_values_are_told_from_mistakes, teardown),
      cmocka_unit_test_teardown(the_rest_is_kept_when_asked_for, teardown),
      cmocka_unit_test_teardown(what_is_written_is_read_again, teardown),
      cmocka_unit_test_teardown(many_keys_stay_fast_to_find, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
