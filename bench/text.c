// SPDX-License-Identifier: MIT
//
// The text form's time per operation from 10^3 to 10^6 operations: it should stay flat. The program
// is long rather than deep, and has a name, a number and a memory access on most lines.
#include "base/clock.h"
#include "base/strbuf.h"
#include "ir/program.h"

#include <stdio.h>
#include <stdlib.h>

static char *make_text(unsigned lines, size_t *size) {
  strbuf s = {0};
  strbuf_puts(&s, "program long(a: f32, n: u32)\nbuffer x: f32[] readwrite\n\n"
                  "region r grid(n) {\n  let i = global_id.x\n  var v: f32 = 0.0\n");
  for (unsigned i = 0; i < lines; i++) {
    switch (i % 4) {
    case 0: strbuf_printf(&s, "  let value_%u = x[i + %u] * 2.5 + a // step\n", i, i); break;
    case 1: strbuf_printf(&s, "  v = fma(v, value_%u, %u.25)\n", i - 1, i); break;
    case 2: strbuf_printf(&s, "  if v < %u.5 { v = v - 1.0 }\n", i); break;
    default: strbuf_printf(&s, "  x[i * 3 + %u] = max(v, -1e-3) / 3.0\n", i); break;
    }
  }
  strbuf_puts(&s, "}\n");
  return strbuf_take(&s, size);
}

static int measure(unsigned lines) {
  size_t size, printed_size;
  vyre_error error;
  char *text = make_text(lines, &size), *printed = NULL;
  double best_parse = 1e30, best_print = 1e30;
  uint32_t operations = 0;
  int rounds = lines < 100000 ? 9 : 3;
  for (int i = 0; text && i < rounds; i++) {
    vyre_program *p;
    uint64_t t0 = clock_thread_cpu_ns();
    if (vyre_program_parse(text, size, "bench", &p, &error) != VYRE_OK) {
      fprintf(stderr, "%s\n", error.message);
      return 1;
    }
    uint64_t t1 = clock_thread_cpu_ns();
    if (vyre_program_print(p, &printed, &printed_size, &error) != VYRE_OK) return 1;
    uint64_t t2 = clock_thread_cpu_ns();
    operations = p->code_count;
    if ((double)(t1 - t0) < best_parse) best_parse = (double)(t1 - t0);
    if ((double)(t2 - t1) < best_print) best_print = (double)(t2 - t1);
    vyre_free(printed);
    vyre_program_release(p);
  }
  printf("%8u lines %8u operations: parse %6.1f ns/op (%7.1f ms), print %6.1f ns/op\n", lines,
         operations, best_parse / operations, best_parse / 1e6, best_print / operations);
  free(text);
  return 0;
}

int main(void) {
  for (unsigned lines = 250; lines <= 1000000; lines *= lines == 250000 ? 4 : 10)
    if (measure(lines)) return 1;
  return 0;
}
