// SPDX-License-Identifier: MIT
//
// Bodies with barriers cut into phases, against literals: a line for what follows one another in a
// phase, and behind an operation what it is: c cheap, x crossing, s steering, = common to the group.
#include "analysis/phases.h"
#include "base/strbuf.h"
#include "ir/program.h"

#include "../parsed_program.h"

#include <stdio.h>
#include <stdlib.h>

// Of the whole body: name, phase and marks, with the partings of phases as new lines.
static char *shown(const vyre_program *p, const phases *f) {
  strbuf s = {0};
  strbuf_puts(&s, f->is_together ? "together" : "apart");
  if (f->has_return) strbuf_puts(&s, " returns");
  uint32_t last = UINT32_MAX;
  for (uint32_t i = p->regions[0].body.first; i < p->regions[0].body.end; i++) {
    uint32_t k = i - f->first;
    if (f->phase[k] != last) strbuf_printf(&s, "\n%u:", f->phase[k]);
    last = f->phase[k];
    strbuf_printf(&s, " %s%s%s%s%s", op_table[p->code[i].op].name, f->is_cheap[k] ? "c" : "",
                  f->is_crossing[k] ? "x" : "", f->is_steering[k] ? "s" : "",
                  f->is_common[k] ? "=" : "");
  }
  strbuf_putc(&s, '\n');
  return strbuf_take(&s, NULL);
}

static void expect(const char *body, const char *wanted) {
  char text[1500];
  snprintf(text, sizeof text,
           "program p(n: u32)\nbuffer x: u32[] read\nbuffer y: u32[] readwrite\n"
           "region r grid(64) workgroup(16) {\n  shared s: u32[16]\n  let l = local_id.x\n"
           "  let i = global_id.x\n%s}\n",
           body);
  vyre_program *p = parse(text);
  arena a = ARENA_INIT;
  ranges known;
  shapes s;
  phases f;
  assert_true(ranges_compute(&a, p, &p->regions[0], &known) &&
              shapes_compute(&a, p, &p->regions[0], &known, NULL, &s) &&
              phases_compute(&a, p, &p->regions[0], &s, &f));
  char *found = shown(p, &f);
  if (strcmp(found, wanted)) fail_msg("%s\nis\n%s\nnot\n%s", body, found, wanted);
  free(found);
  arena_free(&a);
  vyre_program_release(p);
}

static void values_cross_barriers(void **state) {
  (void)state;
  expect("  let v = x[i] * 2\n  s[l] = v\n  barrier\n  y[i] = s[15 - l] + v\n",
         "together\n"
         "1: local_idc global_idc load mulx store\n"
         "0: barrier\n"
         "2: subc load add store\n");
  expect("  let d = l / 3 + n\n  s[l] = d\n  barrier\n  y[i] = s[15 - l] + d\n",
         "together\n"
         "1: local_idc global_idc div paramc= addx store\n"
         "0: barrier\n"
         "2: subc load add store\n");
  expect("  let d = ((l * 3 + n) ^ i) * 5 + (l & 7) - (i | 1)\n  s[l] = d\n  barrier\n"
         "  y[i] = s[15 - l] + d\n",
         "together\n"
         "1: local_idc global_idc mulc paramc= addc xorc mulc andc add orc subx store\n"
         "0: barrier\n"
         "2: subc load add store\n");
}

static void loops_of_the_workgroup(void **state) {
  (void)state;
  expect("  var k: u32 = 8\n  s[l] = x[i]\n  barrier\n  while k > 0 {\n"
         "    if l < k { s[l] = s[l] + s[l + k] }\n    barrier\n    k = k >> 1\n  }\n"
         "  y[i] = s[0]\n",
         "together\n"
         "1: local_idc global_idc var= load store\n"
         "0: barrier while\n"
         "2: get= gts=\n"
         "0: do\n"
         "3: get= lt if load get= add load add store end\n"
         "0: barrier\n"
         "4: get= shr= set\n"
         "0: end\n"
         "5: load store\n");
  expect("  var v: u32 = l\n  for k in 0..n {\n    s[l] = v\n    barrier\n    v = v + s[k]\n"
         "    barrier\n    if k == 3 { break }\n  }\n  y[i] = v\n",
         "together\n"
         "1: local_idc global_idc varx paramcs=\n"
         "0: for=\n"
         "2: get store\n"
         "0: barrier\n"
         "3: get load add set\n"
         "0: barrier\n"
         "4: eqs=\n"
         "0: if break end end\n"
         "5: get store\n");
  expect("  for k in 0..n {\n    if n > 7 {\n      s[l] = k\n      barrier\n    }\n"
         "    if l == k { y[i] = s[k] }\n  }\n",
         "together\n"
         "1: local_idc global_idc paramcs=\n"
         "0: for=\n"
         "2: paramc= gtcs=\n"
         "0: if\n"
         "3: store\n"
         "0: barrier end\n"
         "4: eq if load store end\n"
         "0: end\n");
}

static void what_parts_the_workgroup(void **state) {
  (void)state;
  expect("  if l < n {\n    s[l] = i\n    barrier\n    y[i] = s[15 - l]\n  }\n",
         "apart\n"
         "1: local_idcx global_idcx paramc ltcxs\n"
         "0: if\n"
         "2: store\n"
         "0: barrier\n"
         "3: subc load store\n"
         "0: end\n");
  expect("  if i > 40 { return }\n  s[l] = i\n",
         "together returns\n"
         "1: local_idc global_idc gtc if return end store\n");
  expect("  for k in 0..l {\n    barrier\n    s[l] = k\n  }\n  y[i] = s[l]\n",
         "apart\n"
         "1: local_idcxs global_idcx\n"
         "0: forx barrier\n"
         "2: store\n"
         "0: end\n"
         "3: load store\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_cross_barriers),
      cmocka_unit_test(loops_of_the_workgroup),
      cmocka_unit_test(what_parts_the_workgroup),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
