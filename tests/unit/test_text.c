// SPDX-License-Identifier: MIT
//
// The text form: what is printed reads back as the same program, what is written means what
// docs/TEXT.md says, and comments stay. Errors are in test_text_errors.c.
#include "base/file.h"
#include "base/strbuf.h"
#include "conform/generate.h"
#include "ir/math.h"
#include "ir/program.h"
#include "../sample_programs.h"
#include "../text_programs.h"
#include "../parsed_program.h"

#include <dirent.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

static char *print(const vyre_program *p) {
  char *text = NULL;
  size_t size = 0;
  vyre_error e = {0};
  assert_int_equal(vyre_program_print(p, &text, &size, &e), VYRE_OK);
  assert_int_equal(strlen(text), size);
  return text;
}

// Equal means: the same bytes in the wire form, which has everything but comments.
static void assert_same_program(const vyre_program *x, const vyre_program *y, const char *text) {
  void *x_bytes, *y_bytes;
  size_t x_size, y_size;
  assert_int_equal(vyre_program_encode(x, &x_bytes, &x_size, NULL), VYRE_OK);
  assert_int_equal(vyre_program_encode(y, &y_bytes, &y_size, NULL), VYRE_OK);
  if (x_size != y_size || memcmp(x_bytes, y_bytes, x_size))
    fail_msg("the text reads back as another program:\n%s", text);
  vyre_free(x_bytes);
  vyre_free(y_bytes);
}

static void assert_round_trip(const vyre_program *p) {
  char *text = print(p);
  vyre_program *again = parse(text);
  assert_same_program(p, again, text);
  char *text_again = print(again);
  assert_string_equal(text, text_again);
  vyre_program_release(again);
  vyre_free(text);
  vyre_free(text_again);
}

static void assert_text_round_trips(strbuf *s) {
  char *text = strbuf_take(s, NULL);
  vyre_program *p = parse(text);
  assert_round_trip(p);
  vyre_program_release(p);
  free(text);
}

// The text parses, and prints as `wanted`.
static void assert_prints(const char *text, const char *wanted) {
  vyre_program *p = parse(text);
  char *printed = print(p);
  assert_string_equal(printed, wanted);
  assert_round_trip(p);
  vyre_program_release(p);
  vyre_free(printed);
}

// The same for a body, with a buffer of each type and a parameter.
#define HEAD                                                                                       \
  "program p(a: f32, n: u32)\nbuffer x: f32[] readwrite\nbuffer h: u32[] readwrite\n"              \
  "buffer d: f64[] readwrite\nbuffer i8s: i8[] readwrite\nbuffer c: bool[] readwrite\n"            \
  "buffer l: i64[] readwrite\n\nregion r grid(n) {\n"

static void assert_body(const char *body, const char *wanted) {
  strbuf text = {0}, want = {0};
  strbuf_printf(&text, HEAD "%s}\n", body);
  strbuf_printf(&want, HEAD "%s}\n", wanted);
  char *t = strbuf_take(&text, NULL), *w = strbuf_take(&want, NULL);
  assert_prints(t, w);
  free(t);
  free(w);
}

static void assert_kept(const char *body) {
  assert_body(body, body);
}

// ---- programs from elsewhere --------------------------------------------------------------------

static void assert_made(vyre_program *p, const vyre_error *error) {
  if (!p) fail_msg("%s", error->message);
  assert_round_trip(p);
  vyre_program_release(p);
}

static void samples_round_trip(void **state) {
  (void)state;
  vyre_error e = {0};
  assert_made(sample_saxpy(&e), &e);
  assert_made(sample_structure(&e), &e);
  assert_made(sample_every_op(&e), &e);
  for (uint64_t seed = 0; seed < 300; seed++) assert_made(sample_random(seed, 60, &e), &e);
}

static void messy_programs_round_trip(void **state) {
  (void)state;
  vyre_error e = {0};
  for (uint64_t seed = 0; seed < 4000; seed++)
    assert_made(messy_program(seed, 4 + seed % 60, &e), &e);
}

static void generated_programs_round_trip(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 500; seed++) {
    trial t;
    vyre_error e = {0};
    generate_options options = {.seed = seed, .with_math = true, .size = 20};
    if (generate_trial(&options, &t, &e) != VYRE_OK) fail_msg("%s", e.message);
    assert_round_trip(t.program);
    trial_fini(&t);
  }
}

// The examples are formatted as the printer does it, so that `fmt` changes nothing in them.
static void examples_are_canonical(void **state) {
  (void)state;
  DIR *folder = opendir(VYRE_SOURCE_DIR "/examples");
  assert_non_null(folder);
  int count = 0;
  for (const struct dirent *entry; (entry = readdir(folder));) {
    if (!strstr(entry->d_name, ".vyre")) continue;
    char path[512], *text;
    size_t size;
    snprintf(path, sizeof path, VYRE_SOURCE_DIR "/examples/%s", entry->d_name);
    assert_int_equal(file_read(path, 1 << 20, &text, &size, NULL), VYRE_OK);
    assert_prints(text, text);
    free(text);
    count++;
  }
  closedir(folder);
  assert_true(count >= 8);
}

// The program that docs/TEXT.md begins with is one, as it stands there.
static void the_page_is_right(void **state) {
  (void)state;
  char *page;
  size_t size;
  assert_int_equal(file_read(VYRE_SOURCE_DIR "/docs/TEXT.md", 1 << 20, &page, &size, NULL),
                   VYRE_OK);
  char *begin = strstr(page, "```\n") + 4;
  *strstr(begin, "```\n") = 0;
  assert_prints(begin, begin);
  free(page);
}

// ---- what is written ----------------------------------------------------------------------------

static void statements(void **state) {
  (void)state;
  assert_kept("  let i = global_id.x\n"
              "  let old = atomic_add(h[i], 1)\n"
              "  atomic_cas(h[old], 0, 7)\n"
              "  var v: f32 = 0.0\n"
              "  array t: f64[16]\n"
              "  t[i] = d[i]\n"
              "  v = v + 1.0\n"
              "  if i == 3 { return }\n"
              "  if i < 2 {\n    v = 1.0\n  } else if i < 4 {\n    v = 2.0\n  } else {\n"
              "    v = 3.0\n  }\n"
              "  for k in 0..i {\n    v = v + x[k]\n    if k > 4 { break }\n  }\n"
              "  for k in 0..i by 2 {\n    continue\n  }\n"
              "  while v < 9.0 {\n    v = v * 2.0\n  }\n"
              "  while {\n    let t1 = x[i]\n    do t1 > v && t1 < 9.0\n    v = v + t1\n  }\n"
              "  barrier\n");
  // Several on a line, and lines that go on.
  assert_body("let i = global_id.x; x[i] = a +\n 1.0; if c[0] { x[0] = min(a,\n\n 2.0) }\n",
              "  let i = global_id.x\n  x[i] = a + 1.0\n  if c[0] { x[0] = min(a, 2.0) }\n");
}

static void operators_bind(void **state) {
  (void)state;
  assert_kept("  let u = h[0]\n  let v = h[1]\n"
              "  h[0] = u + v * u - v / u % v\n"
              "  h[1] = (u + v) * (u - v) - (u - v)\n"
              "  h[2] = ((u << 3) + v) & 0xff\n"
              "  h[3] = (u & v) | (u ^ v)\n"
              "  h[4] = ~u + u * ~v\n"
              "  c[0] = u < v && (u & 1) == 0 || !c[1] && u != v\n"
              "  c[1] = (c[0] || c[2]) && (c[3] == c[4]) != true\n"
              "  x[0] = -a * -x[1] - -2.0 - (-(-a) + 1.0)\n");
  assert_body("h[0] = h[1] + 1 << 2 & h[2] ^ h[3] | 12\n",
              "  h[0] = ((((h[1] + 1) << 2) & h[2]) ^ h[3]) | 0xc\n");
  // Both sides of && are evaluated: it is `and`.
  assert_body("c[0] = and(c[1], or(c[2], xor(c[3], c[4])))\nh[0] = add(h[1], 1)\n",
              "  c[0] = c[1] && (c[2] || (c[3] ^ c[4]))\n  h[0] = h[1] + 1\n");
}

static void numbers_get_their_types(void **state) {
  (void)state;
  assert_kept("  x[0] = 1.5 + (2.0 + 3.0) * sqrt(4.0)\n"
              "  d[0] = 1.5 + (2.0 + 3.0) * sqrt(4.0)\n"
              "  x[1] = select(1.0f32 < 2.0, 3.0, 4.0)\n"
              "  let k = 7u64\n"
              "  let m = min(1.0f64, 2.0)\n"
              "  l[3 + 4] = i64(k) - 2\n"
              "  h[l[0]] = u32(1.5f32) + as_u32(1.0f32)\n"
              "  x[-1i32] = f32(2u8)\n"
              "  for j in 0u32..10 {\n    h[j] = j\n  }\n"
              "  for j in -3..l[1] by 2 {\n    l[j] = 1\n  }\n"
              "  let b = true\n"
              "  let q = b == false\n"
              "  i8s[0] = -128\n");
  // A suffix that is not needed goes; a number beside a number needs one.
  assert_body("x[0u32] = 1.0f32 + a\nlet z = 1u8 + 2u8\n", "  x[0] = 1.0 + a\n  let z = 1u8 + 2\n");
}

static void numbers_at_the_edges(void **state) {
  (void)state;
  assert_kept("  let a0 = 18446744073709551615u64\n  let a1 = -9223372036854775808i64\n"
              "  let a2 = 9223372036854775807i64\n  let a3 = 4294967295u32\n"
              "  let a4 = -2147483648i32\n  let a5 = -32768i16\n  let a6 = 65535u16\n"
              "  let a7 = -128i8\n  let a8 = 255u8\n"
              "  let f0 = 0.0f32\n  let f1 = -0.0f32\n  let f2 = 3.4028235e38f32\n"
              "  let f3 = 1e-45f32\n  let f4 = 1.1754944e-38f32\n  let f5 = 0.1f32\n"
              "  let f6 = inf_f32\n  let f7 = -inf_f32\n  let f8 = nan_f32\n"
              "  let f9 = 16777216.0f32\n  let f10 = 1e16f32\n  let f11 = 0.00001f32\n"
              "  let f12 = 0.000099999f32\n  let f13 = 9.9999e-6f32\n"
              "  let d0 = 1.7976931348623157e308f64\n  let d1 = 5e-324f64\n"
              "  let d2 = 2.2250738585072014e-308f64\n  let d3 = 0.1f64\n"
              "  let d4 = 0.30000000000000004f64\n  let d5 = -inf_f64\n  let d6 = nan_f64\n"
              "  let d7 = 1234567890123456.0f64\n  let d8 = 1e22f64\n");
  assert_body("let a0 = 0xffu8; let a1 = 0XFFFFFFFFFFFFFFFFu64; let a2 = 0x1.8p3f32\n"
              "let a3 = 0x1p-1074f64; let a4 = 1E3f32; let a5 = 00017u32; let a6 = 1.50e+2f64\n"
              "let a7 = -nan_f32; let a8 = - 1.5f32; let a9 = 1e-400f64; let b0 = -0i8\n"
              // Just above the middle of two floats: going through f64 would round down.
              "let b1 = 1.00000005960464477540f32\n",
              "  let a0 = 255u8\n  let a1 = 18446744073709551615u64\n  let a2 = 12.0f32\n"
              "  let a3 = 5e-324f64\n  let a4 = 1000.0f32\n  let a5 = 17u32\n"
              "  let a6 = 150.0f64\n  let a7 = nan_f32\n  let a8 = -1.5f32\n  let a9 = 0.0f64\n"
              "  let b0 = 0i8\n  let b1 = 1.0000001f32\n");
}

// Every float prints as the shortest text that gives it back.
static void floats_are_shortest(void **state) {
  (void)state;
  random_state r = {7};
  strbuf s = {0};
  strbuf_puts(&s, HEAD);
  for (int i = 0; i < 3000; i++) {
    uint32_t word = (uint32_t)random_bits(&r);
    if (i % 7 == 0) word &= 0x807fffffu;
    float f;
    memcpy(&f, &word, 4);
    if (f != f || f - f != 0) continue;
    strbuf_printf(&s, "  let f%d = %s%.9ef32\n", i, "", (double)f);
    double d;
    uint64_t wide = random_bits(&r);
    memcpy(&d, &wide, 8);
    if (d == d && d - d == 0) strbuf_printf(&s, "  let d%d = %.17ef64\n", i, d);
  }
  strbuf_puts(&s, "}\n");
  char *text = strbuf_take(&s, NULL);
  vyre_program *p = parse(text);
  assert_round_trip(p);
  char *printed = print(p);
  for (char *line = strstr(printed, "let f"); line; line = strstr(line + 1, "let f")) {
    char *digits = strchr(line, '=') + 2;
    float f = strtof(digits, NULL);
    int count = 0;
    for (char *c = digits; *c != 'e' && strncmp(c, "f32", 3) != 0; c++)
      count += (*c >= '1' && *c <= '9') || (*c == '0' && count);
    char fewer[40];
    if (count < 2) continue;
    snprintf(fewer, sizeof fewer, "%.*e", count - 2, (double)f);
    if (strtof(fewer, NULL) == f && !strstr(digits, ".0f32"))
      fail_msg("%.20s is not shortest", digits);
  }
  vyre_free(printed);
  free(text);
  vyre_program_release(p);
}

static void negation_of_a_number(void **state) {
  (void)state;
  assert_kept("  x[0] = neg(1.0) + -1.0\n  x[1] = neg(-1.0)\n  x[2] = -(-a)\n");
  assert_body("x[0] = -(1.0) + -  1.0\n", "  x[0] = neg(1.0) + -1.0\n");
  vyre_program *p = parse("program p()\nbuffer x: f32[] write\nregion r grid(1) {\n"
                          "  x[0] = -1.0\n  x[1] = -(1.0)\n}\n");
  assert_int_equal(p->code[1].op, VYRE_OP_STORE);
  assert_int_equal(p->consts[ref_index(p->code[1].arg[2])].bits, 0xbf800000u);
  assert_int_equal(p->code[2].op, VYRE_OP_NEG);
  vyre_program_release(p);
}

// Operations stand in the order in which they are written, operands before operators.
static void evaluation_order(void **state) {
  (void)state;
  vyre_program *p = parse("program p(n: u32)\nbuffer x: u32[] readwrite\nregion r grid(1) {\n"
                          "  x[x[0] + n] = max(x[1], global_id.x) * x[2]\n}\n");
  static const vyre_op wanted[] = {VYRE_OP_LOAD, VYRE_OP_PARAM,     VYRE_OP_ADD,
                                   VYRE_OP_LOAD, VYRE_OP_GLOBAL_ID, VYRE_OP_MAX,
                                   VYRE_OP_LOAD, VYRE_OP_MUL,       VYRE_OP_STORE};
  assert_int_equal(p->code_count, 10);
  for (uint32_t i = 1; i < 10; i++) assert_int_equal(p->code[i].op, wanted[i - 1]);
  vyre_program_release(p);
}

// A value that is not used in order gets a number for a name; one that is used twice, too.
static void values_out_of_order(void **state) {
  (void)state;
  vyre_builder *b = vyre_builder_new("p");
  vyre_mem x = vyre_build_buffer(b, "x", VYRE_F32, VYRE_READWRITE, 0);
  vyre_build_region_begin(b, "r");
  vyre_build_grid(b, 1, (vyre_value[]){vyre_build_u32(b, 4)}, (uint32_t[]){64, 1, 1});
  vyre_value first = vyre_build_load(b, x, vyre_build_u32(b, 0));
  vyre_value second = vyre_build_load(b, x, vyre_build_u32(b, 1));
  vyre_value third = vyre_build_load(b, x, vyre_build_u32(b, 2));
  vyre_value diff = vyre_build_binary(b, VYRE_OP_SUB, second, first);
  vyre_build_store(b, x, vyre_build_u32(b, 3), vyre_build_binary(b, VYRE_OP_MUL, diff, third));
  vyre_value twice = vyre_build_load(b, x, vyre_build_u32(b, 4));
  vyre_build_store(b, x, vyre_build_u32(b, 5), vyre_build_binary(b, VYRE_OP_ADD, twice, twice));
  vyre_build_load(b, x, vyre_build_u32(b, 6));
  vyre_build_region_end(b);
  vyre_error e;
  vyre_program *p = sample_finish(b, &e);
  char *text = print(p);
  assert_string_equal(text, "program p()\nbuffer x: f32[] readwrite\n\nregion r grid(4) {\n"
                            "  let $1 = x[0]\n  let $2 = x[1]\n  let $3 = x[2]\n"
                            "  x[3] = ($2 - $1) * $3\n  let $4 = x[4]\n  x[5] = $4 + $4\n"
                            "  let $5 = x[6]\n}\n");
  vyre_free(text);
  assert_made(p, &e);
}

static void names(void **state) {
  (void)state;
  // Siblings may share a name; what is visible may not, and gets a number; so do reserved words.
  assert_kept("  let t = 1u32\n  if c[0] {\n    let q = t + 1\n    h[q] = q\n  } else {\n"
              "    let q = t + 2\n    h[q] = q\n  }\n  let t$2 = t + 1\n  let t$3 = t$2 * t\n"
              "  for t$4 in t$2..t$3 {\n    let t$5 = t$4\n  }\n  let t$4 = t$3\n"
              "  let if$2 = t\n  let x$2 = if$2\n  let global_id.x$2 = x$2\n"
              "  let min = 3u32\n  let f32 = min(min, t)\n  let v.x = f32\n  let $1 = v.x + 1\n"
              "  h[$1] = $1\n");
  // A number that is not needed goes.
  assert_body("let t$9 = 1u32; let $70 = t$9 + 1; h[$70] = $70\n",
              "  let t = 1u32\n  let $1 = t + 1\n  h[$1] = $1\n");
  vyre_program *p = parse(HEAD "let t = 1u32; let t$2 = t; let $3 = t + t\n}\n");
  assert_string_equal(p->names[p->code_count - 2], "t");
  assert_null(p->names[p->code_count - 1]);
  vyre_program_release(p);
}

// Words that mean something at one place only are names everywhere else.
static void contextual_words(void **state) {
  (void)state;
  assert_prints("program program(in: f32, grid: u32, fast: u32)\nbuffer read: f32[] readwrite\n"
                "buffer workgroup: f32[] read\n\nregion region grid(grid) workgroup(1) {\n"
                "  let by = grid\n  for write in by..fast by 3 {\n    read[write] = in\n  }\n}\n",
                "program program(in: f32, grid: u32, fast: u32)\nbuffer read: f32[] readwrite\n"
                "buffer workgroup: f32[] read\n\nregion region grid(grid) workgroup(1) {\n"
                "  let by = grid\n  for write in by..fast by 3 {\n    read[write] = in\n  }\n}\n");
}

static void declarations(void **state) {
  (void)state;
  const char *text =
      "program a.b_c.1(n: u32, m: i64) fast(4)\n"
      "let area = n * n\n"
      "buffer x: f32[area] read\n"
      "buffer y: f32[area + len(z)] write\n"
      "buffer z: bool[] readwrite\n"
      "buffer w: i8[12] readwrite\n"
      "buffer v: i8[m * 2] readwrite\n"
      "transient t: u64[len(z)]\n\n"
      "region r.1 grid(let half = n / 2; half, half + 1, 7i64) workgroup(4, 2, 1) {\n"
      "  shared s: f32[256]\n  shared s2: u8[1]\n  t[0] = 1\n}\n\n"
      "region r.2 grid(len(x), 2) {\n}\n\n"
      "region r.3 grid(m) workgroup(1, 1, 8) {\n}\n";
  assert_prints(text, text);
  vyre_program *p = parse(text);
  assert_int_equal(p->fast_ulp, 4);
  assert_string_equal(p->name, "a.b_c.1");
  assert_int_equal(p->regions[1].workgroup[0], 64);
  assert_int_equal(p->regions[0].rank, 3);
  assert_int_equal(p->buffers[4].length,
                   p->code[p->header.end - 2].op == VYRE_OP_MUL ? p->header.end - 2 : 0);
  vyre_program_release(p);
}

static void copies(void **state) {
  (void)state;
  assert_kept("  let k = 1.5f32\n  let j = k\n  let i = copy(k + a)\n  let v = a\n"
              "  x[0] = copy(j) + copy(2.0)\n");
  vyre_program *p = parse(HEAD "  let k = 1.5f32\n  let j = k\n}\n");
  assert_int_equal(p->code[p->code_count - 1].op, VYRE_OP_COPY);
  assert_int_equal(p->code[p->code_count - 2].op, VYRE_OP_COPY);
  vyre_program_release(p);
}

// ---- layout -------------------------------------------------------------------------------------

static void comments_stay(void **state) {
  (void)state;
  const char *text =
      "// file\n\n// program\nprogram p(a: f32) // after program\n"
      "// before x\nbuffer x: f32[] readwrite // after x\n\n// before let\n"
      "let n = 4u32 // after let\nbuffer y: f32[n] read\n\n// before region\n\n"
      "region r grid(1) { // after region\n"
      "  // before shared\n  shared s: f32[4] // after shared\n\n"
      "  // before i\n  let i = global_id.x // after i\n\n"
      "  // before if\n  if i == 1 { // after if\n    // first\n"
      "    x[i] = a // after store\n    // last in if\n  } else { // after else\n"
      "    // only a comment\n  } // after the end\n"
      "  if i == 2 {\n    return\n  } else if i == 3 { // after else if\n"
      "    x[i] = 1.0\n    // before its end\n  } // after the chain\n"
      "  if i == 5 {\n    return\n  } else {\n    // keeps the if inside\n"
      "    if i == 6 { return }\n  }\n"
      "  if i == 4 { return } // after a short if\n"
      "  for k in 0..i { // after for\n    // empty\n  } // after for's end\n"
      "  while x[0] < 1.0 { // after while\n    break\n  }\n"
      "  while { // after open while\n    // condition\n"
      "    let t = x[i] // after t\n    // before do\n    do t < 2.0 // after do\n"
      "  }\n\n"
      "  // last of region\n} // after end of region\n\n// before r2\nregion r2 grid(1) {\n"
      "  // all of it\n}\n// end of file\n";
  assert_prints(text, text);
}

// Where the one line of a short if would have more than 80 columns, it stays three.
static void short_ifs_end_at_80_columns(void **state) {
  (void)state;
  for (int more = 0; more < 2; more++) {
    const char *condition = more ? "n == 123456789 || n == 1234567890 || n == 12345678 || a < 0.5"
                                 : "n == 123456789 || n == 1234567890 || n == 1234567 || a < 0.5";
    char line[128], lines[160];
    snprintf(line, sizeof line, "  if %s { x[0] = 1.0 }\n", condition);
    snprintf(lines, sizeof lines, "  if %s {\n    x[0] = 1.0\n  }\n", condition);
    assert_int_equal(strlen(line) - 1, 80 + more);
    assert_body(more ? line : lines, more ? lines : line);
  }
}

static void comments_inside_move_before(void **state) {
  (void)state;
  assert_body("x[0] = a + // one\n // two\n\n 1.0 // three\n",
              "  // one\n  // two\n  x[0] = a + 1.0 // three\n");
  assert_prints("program p(a: f32, // first\n  n: u32)\nregion r grid( // extents\n n) { }\n",
                "// first\nprogram p(a: f32, n: u32)\n\n// extents\nregion r grid(n) {\n}\n");
  assert_body("let $1 = a // of the part\nx[0] = $1\n", "  // of the part\n  x[0] = a\n");
  assert_body("if c[0] { x[0] = a // kept\n }\n", "  if c[0] {\n    x[0] = a // kept\n  }\n");
  assert_body("x[0] = a; // kept\n", "  x[0] = a // kept\n");
}

static size_t count_comments(const char *text) {
  size_t count = 0;
  for (const char *c = text; (c = strstr(c, "//")); c += 2) count++;
  return count;
}

// Comments and blank lines after any line, and at its end: each is printed once, and stays where it
// is from then on.
static void comments_anywhere(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 1500; seed++) {
    vyre_error e = {0};
    vyre_program *p = messy_program(seed, 4 + seed % 40, &e);
    assert_non_null(p);
    char *text = print(p), *rest = text;
    random_state r = {seed};
    strbuf s = {0};
    uint32_t percent = random_below(&r, 50);
    for (char *line; (line = strsep(&rest, "\n")) && rest;) {
      strbuf_puts(&s, line);
      if (random_chance(&r, percent)) strbuf_puts(&s, " // behind");
      strbuf_putc(&s, '\n');
      if (random_chance(&r, percent)) strbuf_puts(&s, "\n");
      if (random_chance(&r, percent)) strbuf_puts(&s, "  // between\n");
      if (random_chance(&r, percent)) strbuf_puts(&s, "\n");
    }
    char *with = strbuf_take(&s, NULL);
    vyre_program *q = parse(with);
    assert_same_program(p, q, with);
    assert_round_trip(q);
    char *printed = print(q);
    if (count_comments(printed) != count_comments(with)) fail_msg("%s\n---\n%s", with, printed);
    vyre_program_release(p);
    vyre_program_release(q);
    vyre_free(text);
    vyre_free(printed);
    free(with);
  }
}

// Where the lines of the text begin, for those who show where code came from; a copy has them too.
static void lines_are_known(void **state) {
  (void)state;
  static const char text[] = "program p()\n\nbuffer x: f32[] readwrite\nregion r grid(1) {\n"
                             "  x[0] = exp(x[1]); x[1] = 2.0\n}";
  static const uint32_t begin[] = {0, 12, 13, 39, 58, 89};
  vyre_program *p;
  vyre_error error;
  assert_int_equal(vyre_program_parse(text, sizeof text - 1, "text", &p, &error), VYRE_OK);
  assert_int_equal(p->line_count, 6);
  assert_memory_equal(p->lines, begin, sizeof begin);
  for (uint32_t i = p->regions[0].body.first; i < p->regions[0].body.end; i++)
    if (p->code[i].op == VYRE_OP_STORE)
      assert_memory_equal(text + p->places[i].offset - 1, "x[", 2);
  vyre_program *same;
  assert_int_equal(math_expand(p, &same, &error), VYRE_OK);
  assert_int_equal(same->line_count, 6);
  assert_memory_equal(same->lines, begin, sizeof begin);
  vyre_program_release(same);
  vyre_program_release(p);
}

static void blank_lines(void **state) {
  (void)state;
  assert_body("\n\n  x[0] = a\n\n\n\n  x[1] = a\n  if c[0] {\n\n    x[2] = a\n    x[3] = a\n\n  }\n"
              "\n  if c[1] {\n\n    x[4] = a\n\n  }\n\n",
              "  x[0] = a\n\n  x[1] = a\n  if c[0] {\n    x[2] = a\n    x[3] = a\n  }\n\n"
              "  if c[1] { x[4] = a }\n");
  assert_prints("\n\nprogram p()\r\nbuffer x: f32[] read\r\n\r\n\r\nbuffer y: f32[] read\r\n"
                "region r grid(1) {\r\n}\r\nregion q grid(1) { }",
                "program p()\nbuffer x: f32[] read\n\nbuffer y: f32[] read\n\nregion r grid(1) {\n"
                "}\n\nregion q grid(1) {\n}\n");
}

static void long_lines_break(void **state) {
  (void)state;
  assert_kept(
      "  let first_quite_long_name = a * 2.0\n  let second_quite_long_name = a * 3.0\n"
      "  x[0] = first_quite_long_name * second_quite_long_name + first_quite_long_name / a +\n"
      "      fma(first_quite_long_name, second_quite_long_name, 17.0)\n"
      "  if first_quite_long_name < second_quite_long_name &&\n"
      "      first_quite_long_name * second_quite_long_name > 1000.0 {\n    return\n  }\n"
      "  x[1] = select(first_quite_long_name < second_quite_long_name, first_quite_long_name,\n"
      "      select(second_quite_long_name < first_quite_long_name, 100.0, a)) // end\n");
}

static void byte_order_mark_and_comments_in_utf8(void **state) {
  (void)state;
  assert_prints("\xef\xbb\xbf// f\xc3\xbcr alle\nprogram p()\nregion r grid(1) { }\n",
                "// f\xc3\xbcr alle\nprogram p()\n\nregion r grid(1) {\n}\n");
}

// ---- limits -------------------------------------------------------------------------------------

// A chain of a million operators is no deep expression, and a deep one of unnamed values is cut.
static void long_and_deep_expressions(void **state) {
  (void)state;
  strbuf s = {0};
  strbuf_puts(&s, HEAD "  x[0] = a");
  for (int i = 0; i < 100000; i++) strbuf_puts(&s, i % 2 ? " + a" : " * 2.0 -\n a");
  strbuf_puts(&s, "\n}\n");
  assert_text_round_trips(&s);

  vyre_builder *b = vyre_builder_new("deep");
  vyre_mem x = vyre_build_buffer(b, "x", VYRE_F32, VYRE_READWRITE, 0);
  vyre_build_region_begin(b, "r");
  vyre_build_grid(b, 1, (vyre_value[]){vyre_build_u32(b, 4)}, (uint32_t[]){64, 1, 1});
  vyre_value v = vyre_build_load(b, x, vyre_build_u32(b, 0));
  for (int i = 0; i < 20000; i++) {
    if (i % 3 == 0)
      v = vyre_build_unary(b, VYRE_OP_SQRT, v);
    else if (i % 3 == 1)
      v = vyre_build_unary(b, VYRE_OP_NEG, v);
    else
      v = vyre_build_binary(b, VYRE_OP_SUB, vyre_build_f32(b, 1), v);
  }
  vyre_build_store(b, x, vyre_build_u32(b, 0), v);
  vyre_build_region_end(b);
  vyre_error e;
  assert_made(sample_finish(b, &e), &e);
}

static void nesting_up_to_the_limit(void **state) {
  (void)state;
  strbuf s = {0};
  strbuf_puts(&s, HEAD "  x[0] = ");
  for (int i = 0; i < 256; i++) strbuf_puts(&s, i % 2 ? "abs(" : "(");
  strbuf_puts(&s, "a");
  for (int i = 0; i < 256; i++) strbuf_puts(&s, ")");
  strbuf_puts(&s, "\n}\n");
  assert_text_round_trips(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(samples_round_trip),
      cmocka_unit_test(messy_programs_round_trip),
      cmocka_unit_test(generated_programs_round_trip),
      cmocka_unit_test(examples_are_canonical),
      cmocka_unit_test(the_page_is_right),
      cmocka_unit_test(statements),
      cmocka_unit_test(operators_bind),
      cmocka_unit_test(numbers_get_their_types),
      cmocka_unit_test(numbers_at_the_edges),
      cmocka_unit_test(floats_are_shortest),
      cmocka_unit_test(negation_of_a_number),
      cmocka_unit_test(evaluation_order),
      cmocka_unit_test(values_out_of_order),
      cmocka_unit_test(names),
      cmocka_unit_test(contextual_words),
      cmocka_unit_test(declarations),
      cmocka_unit_test(copies),
      cmocka_unit_test(comments_stay),
      cmocka_unit_test(short_ifs_end_at_80_columns),
      cmocka_unit_test(comments_inside_move_before),
      cmocka_unit_test(comments_anywhere),
      cmocka_unit_test(lines_are_known),
      cmocka_unit_test(blank_lines),
      cmocka_unit_test(long_lines_break),
      cmocka_unit_test(byte_order_mark_and_comments_in_utf8),
      cmocka_unit_test(long_and_deep_expressions),
      cmocka_unit_test(nesting_up_to_the_limit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
