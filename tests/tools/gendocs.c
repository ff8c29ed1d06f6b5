// SPDX-License-Identifier: MIT
//
// gendocs [--write] FILE...: the tables of documents that come from the code, each between two
// markers: operations (ops.def), lowered (lowered.def), recipes (recipes.def), rules (verify.def),
// limits (limits.h), passes (opt/table.c) and selection (policy/select.h). Without --write it fails
// when a file is out of date.
//
//   <!-- generated: operations -->
//   ...
//   <!-- end -->
#include "base/file.h"
#include "base/strbuf.h"
#include "ir/types.h"
#include "ir/verify.h"
#include "lower/recipe.h"
#include "opt/pass.h"
#include "policy/select.h"

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
    [RULE_ATOMIC] = "index, elements of i32 u32 i64 u64 f32 f64; gives the element type",
    [RULE_VAR] = "any T",
    [RULE_GET] = "gives the variable's type",
    [RULE_SET] = "the variable's type",
    [RULE_ARRAY] = "any element type",
    [RULE_COND] = "bool",
    [RULE_FOR] = "integer T; k is T",
    [RULE_FLAG] = "gives bool",
    [RULE_WORD] = "u32; gives u32",
    [RULE_STORE_WORD] = "u32",
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

static void put_lowered(strbuf *out) {
  strbuf_puts(out, "| operation | form of | precondition |\n| --- | --- | --- |\n");
  for (int op = 1; op < VYRE_OP_COUNT; op++)
    if (op_forms[op].name)
      strbuf_printf(out, "| %s | %s | %s |\n", op_forms[op].name, op_table[op].name,
                    op_forms[op].precondition);
  for (int op = VYRE_OP_COUNT; op < OP_COUNT; op++)
    strbuf_printf(out, "| %s | | none: %s |\n", op_table[op].name, op_table[op].doc);
}

static void put_recipes(strbuf *out) {
  strbuf_puts(out, "| recipe | what it does |\n| --- | --- |\n");
  for (int i = 0; i < RECIPE_COUNT; i++)
    strbuf_printf(out, "| %s | %s |\n", recipe_table[i]->name, recipe_table[i]->doc);
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

static void put_names(strbuf *out, const char *const *names) {
  for (const char *const *name = names; name && *name; name++)
    strbuf_printf(out, "%s%s", name > names ? ", " : "", *name);
  strbuf_puts(out, " | ");
}

static void put_passes(strbuf *out) {
  size_t count;
  const pass *const *passes = pass_table(&count);
  strbuf_puts(out,
              "| pass | family | requires | invalidates | what it does | what it never does |\n"
              "| --- | --- | --- | --- | --- | --- |\n");
  for (size_t i = 0; i < count; i++) {
    const pass_info *info = &passes[i]->info;
    strbuf_printf(out, "| %s | %s | ", info->name, pass_family_name(info->family));
    put_names(out, info->requires);
    put_names(out, info->invalidates);
    strbuf_printf(out, "%s | %s |\n", passes[i]->summary, passes[i]->never);
  }
}

static void put_selection(strbuf *out) {
  static const char *const texts[SELECT_REASON_COUNT] = {
      [SELECT_PROFILE_REJECTED] = "none of the profiles accepts the pass",
      [SELECT_HOT_PATH_TELEMETRY] = "the region, or the program, was measured as hot",
      [SELECT_PASS_COST_REPORT] = "an earlier compile reports that the pass reduced some cost",
      [SELECT_PROGRAM_SHAPE] = "the region reaches the threshold of the pass's family",
      [SELECT_ALWAYS_ON] = "the family is scalar, sync or unknown",
      [SELECT_BELOW_THRESHOLD] = "nothing speaks for it",
      [SELECT_REQUIRED_DEPENDENCY] = "a selected pass requires it, whatever the profile says",
  };
  strbuf_puts(out, "| reason | runs | priority | when |\n| --- | --- | ---: | --- |\n");
  for (int i = 0; i < SELECT_REASON_COUNT; i++)
    strbuf_printf(out, "| %s | %s | %u | %s |\n", select_reason_name((select_reason)i),
                  i == SELECT_PROFILE_REJECTED || i == SELECT_BELOW_THRESHOLD ? "no" : "yes",
                  select_reason_priority((select_reason)i), texts[i]);
  strbuf_printf(out,
                "\n| family | runs from |\n| --- | --- |\n"
                "| scalar, sync, unknown | always |\n"
                "| loop | %d statements in the region |\n"
                "| memory | %d bytes of peak memory |\n"
                "| fusion | %d regions in the program |\n"
                "| dataflow | %d statements in the region |\n"
                "| megakernel | %d statements in the region |\n",
                SELECT_MIN_LOOP_NODES, SELECT_MIN_MEMORY_BYTES, SELECT_MIN_FUSION_REGIONS,
                SELECT_MIN_DATAFLOW_NODES, SELECT_MIN_MEGAKERNEL_NODES);
}

static const struct {
  const char *name;
  void (*put)(strbuf *out);
} sections[] = {{"operations", put_operations}, {"rules", put_rules},     {"limits", put_limits},
                {"lowered", put_lowered},       {"recipes", put_recipes}, {"passes", put_passes},
                {"selection", put_selection}};

static bool put_section(strbuf *out, const char *name, size_t length) {
  for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
    if (strlen(sections[i].name) == length && !strncmp(sections[i].name, name, length)) {
      sections[i].put(out);
      return true;
    }
  return false;
}

// Copies `text` with every generated section made anew; NULL when the markers are wrong.
static char *regenerate(const char *text) {
  static const char opening[] = "<!-- generated: ", closing[] = "<!-- end -->";
  strbuf out = {0};
  const char *begin, *rest = text;
  while ((begin = strstr(rest, opening))) {
    const char *name = begin + strlen(opening), *line = strchr(name, '\n');
    const char *end = line ? strstr(line, closing) : NULL;
    if (!end) break;
    strbuf_add(&out, rest, (size_t)(line + 1 - rest));
    if (!put_section(&out, name, strcspn(name, " "))) break;
    rest = end;
  }
  if (begin || rest == text) {
    fprintf(stderr, "gendocs: %s. Fix: each section has its two markers\n",
            begin ? "a section that is unknown or does not end" : "no generated section");
    strbuf_fini(&out);
    return NULL;
  }
  strbuf_puts(&out, rest);
  return strbuf_take(&out, NULL);
}

static int update(const char *path, bool write) {
  char *text = NULL;
  size_t size;
  vyre_error error;
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

int main(int argc, char **argv) {
  bool write = argc > 1 && !strcmp(argv[1], "--write");
  int worst = 0;
  if (argc == 1 + write) return fputs("usage: gendocs [--write] FILE...\n", stderr), 2;
  for (int i = 1 + write; i < argc; i++) {
    int status = update(argv[i], write);
    if (status > worst) worst = status;
  }
  return worst;
}
