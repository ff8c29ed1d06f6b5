// SPDX-License-Identifier: MIT
//
// gendocs [--write] FILE: the tables of docs/IR.md that come from the code: operations (ops.def),
// rules (verify.def) and limits (limits.h), each between two markers. Without --write it fails when
// the file is out of date.
//
//   <!-- generated: operations -->
//   ...
//   <!-- end -->
#include "base/file.h"
#include "base/strbuf.h"
#include "ir/types.h"
#include "ir/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const rule_texts[] = {
    [RULE_NONE] = "",
    [RULE_ARITH] = "numeric T; gives T",
    [RULE_INT] = "integer T; gives T",
    [RULE_BITS] = "integer T or bool; gives T",
    [RULE_FLOAT] = "float T; gives T",
    [RULE_EQUALITY] = "any T; gives bool",
    [RULE_ORDER] = "numeric T; gives bool",
    [RULE_SELECT] = "bool, T, T; gives T",
    [RULE_CONVERT] = "any; gives the named type",
    [RULE_BITCAST] = "same width, no bool; gives the named type",
    [RULE_COPY] = "any T; gives T",
    [RULE_PARAM] = "gives the parameter's type",
    [RULE_LEN] = "gives u32",
    [RULE_AXIS] = "gives u32",
    [RULE_LOAD] = "index; gives the element type",
    [RULE_STORE] = "index, element",
    [RULE_ATOMIC] = "index, elements of i32 u32 i64 u64; gives the element type",
    [RULE_VAR] = "any T",
    [RULE_GET] = "gives the variable's type",
    [RULE_SET] = "the variable's type",
    [RULE_ARRAY] = "any element type",
    [RULE_COND] = "bool",
    [RULE_FOR] = "integer T; k is T",
};

// A cell may not hold the bar that separates cells.
static void put_cell(strbuf *out, const char *text) {
  for (; *text; text++) strbuf_printf(out, *text == '|' ? "\\|" : "%c", *text);
}

static void put_operations(strbuf *out) {
  strbuf_puts(out, "| operation | written | types | meaning |\n| --- | --- | --- | --- |\n");
  for (int op = 1; op < VYRE_OP_COUNT; op++) {
    const op_info *info = &op_table[op];
    strbuf_printf(out, "| %s | ", info->name);
    if (*info->infix) {
      strbuf_puts(out, "`x ");
      put_cell(out, info->infix);
      strbuf_puts(out, " y`");
    }
    strbuf_printf(out, " | %s | ", rule_texts[info->rule]);
    put_cell(out, info->doc);
    strbuf_puts(out, info->flags & OPF_MATH    ? " (expanded)"
                     : info->flags & OPF_GROUP ? " (makes a region rigid)"
                                               : "");
    strbuf_puts(out, " |\n");
  }
}

static void put_rules(strbuf *out) {
  strbuf_puts(out, "| code | name | rule |\n| --- | --- | --- |\n");
  for (int i = 0; i < VERIFY_COUNT; i++) {
    strbuf_printf(out, "| %s | %s | ", verify_rules[i].code, verify_rules[i].name);
    put_cell(out, verify_rules[i].text);
    strbuf_puts(out, " |\n");
  }
}

// "1 << 24", "128", "0x7fffffffu", "((size_t)1 << 30)"
static unsigned long long value_of(const char *text) {
  const char *cast = strstr(text, "_t)");
  char *end;
  text = cast ? cast + 3 : text;
  unsigned long long value = strtoull(text + strspn(text, " ("), &end, 0);
  const char *shift = strstr(end, "<<");
  return shift ? value << strtoul(shift + 2, NULL, 10) : value;
}

// Lines of limits.h that define a limit: "  LIMIT_X = value, // what" and "#define LIMIT_X value
// //".
static void put_limits(strbuf *out) {
  vyre_error error;
  char *text;
  size_t size;
  if (file_read(VYRE_SOURCE_DIR "/src/ir/limits.h", 1 << 20, &text, &size, &error) != VYRE_OK) {
    fprintf(stderr, "gendocs: %s\n", error.message);
    exit(2);
  }
  strbuf_puts(out, "| limit | at most | of what |\n| --- | --- | --- |\n");
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
    char *name = strstr(line, "LIMIT_"), *what = strstr(line, "// ");
    bool defines = !strncmp(line, "#define ", 8) || strchr(line, '=');
    if (!name || !what || !defines) continue;
    name += strlen("LIMIT_");
    size_t length = strcspn(name, " ");
    const char *value = name + length + strspn(name + length, " =");
    strbuf_printf(out, "| %.*s | %llu | %s |\n", (int)length, name, value_of(value), what + 3);
  }
  free(text);
}

static const struct {
  const char *name;
  void (*put)(strbuf *out);
} sections[] = {{"operations", put_operations}, {"rules", put_rules}, {"limits", put_limits}};

// Copies `text` with every generated section made anew; NULL when the markers are wrong.
static char *regenerate(const char *text) {
  strbuf out = {0};
  for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
    char marker[64];
    snprintf(marker, sizeof marker, "<!-- generated: %s -->\n", sections[i].name);
    const char *begin = strstr(text, marker), *end = begin ? strstr(begin, "<!-- end -->") : NULL;
    if (!end) {
      fprintf(stderr, "gendocs: no section %s in this order. Fix: add its two markers\n",
              sections[i].name);
      strbuf_fini(&out);
      return NULL;
    }
    strbuf_add(&out, text, (size_t)(begin - text) + strlen(marker));
    sections[i].put(&out);
    text = end;
  }
  strbuf_puts(&out, text);
  return strbuf_take(&out, NULL);
}

int main(int argc, char **argv) {
  bool write = argc > 1 && !strcmp(argv[1], "--write");
  const char *path = argc == 2 + write ? argv[1 + write] : NULL;
  char *text = NULL;
  size_t size;
  vyre_error error;
  if (!path) return fputs("usage: gendocs [--write] FILE\n", stderr), 2;
  if (file_read(path, 1 << 24, &text, &size, &error) != VYRE_OK)
    return fprintf(stderr, "gendocs: %s\n", error.message), 2;
  char *fresh = regenerate(text);
  int status = fresh ? 0 : 2;
  if (fresh && strcmp(fresh, text) != 0) {
    status = 1;
    if (!write)
      fprintf(stderr, "%s is out of date. Fix: run `make docs`\n", path);
    else if (file_replace(path, fresh, strlen(fresh), &error) == VYRE_OK)
      status = 0;
    else
      fprintf(stderr, "gendocs: %s\n", error.message);
  }
  free(text);
  free(fresh);
  return status;
}
