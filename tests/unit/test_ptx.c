// SPDX-License-Identifier: MIT
//
// The evaluator of PTX by itself: small kernels written here by hand, with the results that the
// ISA's documentation gives, and texts that it must not accept.
#include "ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

typedef struct given {
  void *at;
  size_t bytes;
} given;

static bool is_given(void *context, uint64_t address, uint32_t bytes) {
  const given *g = context;
  uint64_t first = (uint64_t)(uintptr_t)g->at;
  return address >= first && address + bytes <= first + g->bytes;
}

// A kernel with the address of `memory` in %rd1, run by `threads` in one array; NULL: it went well.
static const char *run_in(const char *declarations, const char *body, void *memory, size_t bytes,
                          uint32_t threads, uint32_t arrays) {
  static char message[PTX_MESSAGE];
  char text[8000];
  snprintf(text, sizeof text,
           ".version 6.3\n.target sm_75\n.address_size 64\n.visible .entry k(\n"
           ".param .u64 k_param_0\n)\n{\n.reg .pred %%p<8>;\n.reg .b16 %%rs<8>;\n"
           ".reg .b32 %%r<16>;\n.reg .f32 %%f<8>;\n.reg .b64 %%rd<16>;\n.reg .f64 %%fd<8>;\n%s\n"
           "ld.param.u64 %%rd1, [k_param_0];\nmov.u32 %%r1, %%tid.x;\n%s\nret;\n}\n",
           declarations, body);
  ptx_module *m = ptx_parse(text, strlen(text), message);
  if (!m) return message;
  given g = {memory, bytes};
  const void *params[] = {&memory};
  ptx_launch l = {.grid = {arrays, 1, 1},
                  .block = {threads, 1, 1},
                  .params = params,
                  .is_given = is_given,
                  .context = &g,
                  .seed = 7};
  const ptx_kernel *k = ptx_find(m, "k");
  assert_int_equal(ptx_param_count(k), 1);
  bool ok = ptx_run(k, &l, message);
  ptx_free(m);
  return ok ? NULL : message;
}

static const char *run(const char *body, void *memory, size_t bytes, uint32_t threads) {
  return run_in("", body, memory, bytes, threads, 1);
}

static void expect_words(const char *body, const uint32_t *in, uint32_t ins, const uint32_t *out,
                         uint32_t outs) {
  uint32_t memory[16] = {0};
  memcpy(memory, in, ins * sizeof *in);
  const char *why = run(body, memory, sizeof memory, 1);
  if (why) fail_msg("%s\n%s", why, body);
  for (uint32_t i = 0; i < outs; i++)
    if (memory[i] != out[i]) fail_msg("word %u is %#x, not %#x\n%s", i, memory[i], out[i], body);
}

#define WORDS(...)                                                                                 \
  (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)

#define LOAD2  "ld.global.u32 %r2, [%rd1]; ld.global.u32 %r3, [%rd1+4];"
#define STORE  "st.global.u32 [%rd1], %r4;"
#define FLOAT2 "ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd1+4];"
#define FSTORE "st.global.f32 [%rd1], %f3;"

// ---- instructions -------------------------------------------------------------------------------

static void test_integers(void **state) {
  (void)state;
  expect_words(LOAD2 "add.s32 %r4, %r2, %r3;" STORE, WORDS(0xffffffff, 2), WORDS(1));
  expect_words(LOAD2 "mul.hi.s32 %r4, %r2, %r3;" STORE, WORDS(0x80000000, 2), WORDS(0xffffffff));
  expect_words(LOAD2 "mul.hi.u32 %r4, %r2, %r3;" STORE, WORDS(0x80000000, 2), WORDS(1));
  expect_words(LOAD2 "mul.wide.s32 %rd2, %r2, %r3; st.global.u64 [%rd1], %rd2;",
               WORDS(0xffffffff, 3), WORDS(0xfffffffd, 0xffffffff));
  expect_words(LOAD2 "mul.wide.u32 %rd2, %r2, %r3; st.global.u64 [%rd1], %rd2;",
               WORDS(0xffffffff, 3), WORDS(0xfffffffd, 2));
  expect_words(LOAD2 "div.s32 %r4, %r2, %r3;" STORE, WORDS(0xfffffff9, 2), WORDS(0xfffffffd));
  expect_words(LOAD2 "rem.s32 %r4, %r2, %r3;" STORE, WORDS(0xfffffff9, 2), WORDS(0xffffffff));
  expect_words(LOAD2 "div.s32 %r4, %r2, %r3;" STORE, WORDS(0x80000000, 0xffffffff),
               WORDS(0x80000000));
  expect_words(LOAD2 "min.s32 %r4, %r2, %r3;" STORE, WORDS(0xffffffff, 1), WORDS(0xffffffff));
  expect_words(LOAD2 "min.u32 %r4, %r2, %r3;" STORE, WORDS(0xffffffff, 1), WORDS(1));
  expect_words(LOAD2 "mad.lo.s32 %r4, %r2, %r3, 7;" STORE, WORDS(5, 6), WORDS(37));
  expect_words(LOAD2 "abs.s32 %r4, %r2;" STORE, WORDS(0x80000000, 0), WORDS(0x80000000));
}

// 2^64 - 1 and 1 as numbers of two words: the carry goes on, and is borrowed again.
static void test_carries(void **state) {
  (void)state;
  expect_words(LOAD2 "add.cc.u32 %r4, %r2, 1; addc.cc.u32 %r5, %r3, 0; addc.u32 %r6, 0, 0;"
                     "st.global.u32 [%rd1], %r4; st.global.u32 [%rd1+4], %r5;"
                     "st.global.u32 [%rd1+8], %r6;",
               WORDS(0xffffffff, 0xffffffff), WORDS(0, 0, 1));
  expect_words(LOAD2 "sub.cc.s32 %r4, %r2, 1; subc.s32 %r5, %r3, 0;"
                     "st.global.u32 [%rd1], %r4; st.global.u32 [%rd1+4], %r5;",
               WORDS(0, 7), WORDS(0xffffffff, 6));
  expect_words("ld.global.u64 %rd2, [%rd1]; mov.u64 %rd3, 0; sub.cc.s64 %rd4, %rd3, %rd2;"
               "subc.s64 %rd5, %rd3, 0; st.global.u64 [%rd1], %rd4; st.global.u64 [%rd1+8], %rd5;",
               WORDS(1, 0), WORDS(0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff));
}

static void test_bits(void **state) {
  (void)state;
  expect_words(LOAD2 "shl.b32 %r4, %r2, %r3;" STORE, WORDS(1, 31), WORDS(0x80000000));
  expect_words(LOAD2 "shl.b32 %r4, %r2, %r3;" STORE, WORDS(1, 32), WORDS(0));
  expect_words(LOAD2 "shr.s32 %r4, %r2, %r3;" STORE, WORDS(0x80000000, 77), WORDS(0xffffffff));
  expect_words(LOAD2 "shr.u32 %r4, %r2, %r3;" STORE, WORDS(0x80000000, 77), WORDS(0));
  expect_words(LOAD2 "shf.l.wrap.b32 %r4, %r2, %r3, 36;" STORE, WORDS(0xa0000000, 0x0bcdef12),
               WORDS(0xbcdef12a));
  expect_words(LOAD2 "shf.r.wrap.b32 %r4, %r2, %r3, 4;" STORE, WORDS(0x1234567a, 0xb),
               WORDS(0xb1234567));
  expect_words(LOAD2 "shf.l.clamp.b32 %r4, %r2, %r3, 99;" STORE, WORDS(0x12345678, 1),
               WORDS(0x12345678));
  expect_words(LOAD2 "prmt.b32 %r4, %r2, %r3, 0x5410;" STORE, WORDS(0x33221100, 0x77665544),
               WORDS(0x55441100));
  expect_words(LOAD2 "prmt.b32 %r4, %r2, %r3, 0x8880;" STORE, WORDS(0x80, 0), WORDS(0xffffff80));
  expect_words(LOAD2 "bfe.s32 %r4, %r2, 4, 4;" STORE, WORDS(0x80, 0), WORDS(0xfffffff8));
  expect_words(LOAD2 "bfe.u32 %r4, %r2, 28, 9;" STORE, WORDS(0xa0000000, 0), WORDS(10));
  expect_words(LOAD2 "bfi.b32 %r4, %r2, %r3, 8, 4;" STORE, WORDS(0xff, 0x11111111),
               WORDS(0x11111f11));
  expect_words(LOAD2 "popc.b32 %r4, %r2;" STORE, WORDS(0xf0f0, 0), WORDS(8));
  expect_words(LOAD2 "clz.b32 %r4, %r2;" STORE, WORDS(0, 0), WORDS(32));
  expect_words(LOAD2 "brev.b32 %r4, %r2;" STORE, WORDS(1, 0), WORDS(0x80000000));
  expect_words("ld.global.u64 %rd2, [%rd1]; mov.b64 {%r2, %r3}, %rd2; mov.b64 %rd3, {%r3, %r2};"
               "clz.b64 %r4, %rd2; st.global.u64 [%rd1], %rd3; st.global.u32 [%rd1+8], %r4;",
               WORDS(5, 0x10), WORDS(0x10, 5, 27));
  expect_words(LOAD2 "{ .reg .b16 low; mov.b32 {low, %rs1}, %r2; } cvt.u32.u16 %r4, %rs1;" STORE,
               WORDS(0xabcd1234, 0), WORDS(0xabcd));
}

static void test_floats(void **state) {
  (void)state;
  expect_words(FLOAT2 "add.rn.f32 %f3, %f1, %f2;" FSTORE, WORDS(0x3f800000, 0x33800000),
               WORDS(0x3f800000));
  expect_words(FLOAT2 "fma.rn.f32 %f3, %f1, %f1, %f2;" FSTORE, WORDS(0x3f800001, 0xbf800002),
               WORDS(0x28800000));
  expect_words(FLOAT2 "mul.rn.f32 %f3, %f1, %f2;" FSTORE, WORDS(0x00000003, 0x3f000000),
               WORDS(0x00000002)); // subnormal, halfway, to even
  expect_words(FLOAT2 "div.rn.f32 %f3, %f1, %f2;" FSTORE, WORDS(0x3f800000, 0x40400000),
               WORDS(0x3eaaaaab));
  expect_words(FLOAT2 "div.rn.f32 %f3, %f1, %f2;" FSTORE, WORDS(0, 0x80000000), WORDS(0x7fffffff));
  expect_words(FLOAT2 "sqrt.rn.f32 %f3, %f1;" FSTORE, WORDS(0x40000000, 0), WORDS(0x3fb504f3));
  expect_words(FLOAT2 "neg.f32 %f3, %f1;" FSTORE, WORDS(0, 0), WORDS(0x80000000));
  expect_words(FLOAT2 "min.f32 %f3, %f1, %f2;" FSTORE, WORDS(0x7fc00000, 0x3f800000),
               WORDS(0x3f800000));
  expect_words(FLOAT2 "min.f32 %f3, %f1, %f2;" FSTORE, WORDS(0, 0x80000000), WORDS(0x80000000));
  expect_words(FLOAT2 "copysign.f32 %f3, %f1, %f2;" FSTORE, WORDS(0x80000000, 0x40000000),
               WORDS(0xc0000000));
  expect_words(FLOAT2 "setp.lt.f32 %p1, %f1, %f2; selp.u32 %r4, 1, 0, %p1;" STORE,
               WORDS(0x7fc00000, 0), WORDS(0));
  expect_words(FLOAT2 "setp.ltu.f32 %p1, %f1, %f2; selp.u32 %r4, 1, 0, %p1;" STORE,
               WORDS(0x7fc00000, 0), WORDS(1));
  expect_words(FLOAT2 "setp.ne.f32 %p1, %f1, %f2; selp.u32 %r4, 1, 0, %p1;" STORE,
               WORDS(0x7fc00000, 0), WORDS(0));
  expect_words(FLOAT2 "setp.neu.f32 %p1, %f1, %f2; selp.u32 %r4, 1, 0, %p1;" STORE,
               WORDS(0x7fc00000, 0), WORDS(1));
}

static void test_conversions(void **state) {
  (void)state;
  expect_words(FLOAT2 "cvt.rzi.s32.f32 %r4, %f1;" STORE, WORDS(0x4f800000, 0), WORDS(0x7fffffff));
  expect_words(FLOAT2 "cvt.rzi.s32.f32 %r4, %f1;" STORE, WORDS(0xcf800000, 0), WORDS(0x80000000));
  expect_words(FLOAT2 "cvt.rzi.u32.f32 %r4, %f1;" STORE, WORDS(0xbf800000, 0), WORDS(0));
  expect_words(FLOAT2 "cvt.rzi.s32.f32 %r4, %f1;" STORE, WORDS(0x7fc00000, 0), WORDS(0));
  expect_words(FLOAT2 "cvt.rzi.s64.f32 %rd2, %f1; st.global.u64 [%rd1], %rd2;",
               WORDS(0x7fc00000, 0), WORDS(0, 0x80000000));
  expect_words(FLOAT2 "cvt.rni.f32.f32 %f3, %f1;" FSTORE, WORDS(0x3f000000, 0), WORDS(0));
  expect_words(FLOAT2 "cvt.rmi.f32.f32 %f3, %f1;" FSTORE, WORDS(0xbf000000, 0), WORDS(0xbf800000));
  expect_words(FLOAT2 "cvt.rpi.f32.f32 %f3, %f1;" FSTORE, WORDS(0xbf000000, 0), WORDS(0x80000000));
  expect_words(LOAD2 "cvt.rn.f32.u32 %f3, %r2;" FSTORE, WORDS(0xffffffff, 0), WORDS(0x4f800000));
  expect_words(LOAD2 "cvt.rn.f32.s32 %f3, %r2;" FSTORE, WORDS(0xffffffff, 0), WORDS(0xbf800000));
  expect_words(LOAD2 "cvt.s32.s8 %r4, %r2;" STORE, WORDS(0x180, 0), WORDS(0xffffff80));
  expect_words(LOAD2 "cvt.u32.u16 %r4, %r2;" STORE, WORDS(0xabcd8000, 0), WORDS(0x8000));
  expect_words(LOAD2 "cvt.s64.s32 %rd2, %r2; st.global.u64 [%rd1], %rd2;", WORDS(0x80000000, 0),
               WORDS(0x80000000, 0xffffffff));
  // 65504 + 16 is halfway to what f16 has not; 2^-25 is halfway to its smallest.
  expect_words(FLOAT2 "cvt.rn.f16.f32 %rs1, %f1; cvt.u32.u16 %r4, %rs1;" STORE,
               WORDS(0x477ff000, 0), WORDS(0x7c00));
  expect_words(FLOAT2 "cvt.rn.f16.f32 %rs1, %f1; cvt.u32.u16 %r4, %rs1;" STORE,
               WORDS(0x477fefff, 0), WORDS(0x7bff));
  expect_words(FLOAT2 "cvt.rn.f16.f32 %rs1, %f1; cvt.u32.u16 %r4, %rs1;" STORE,
               WORDS(0x33000000, 0), WORDS(0));
  expect_words(FLOAT2 "cvt.rn.f16.f32 %rs1, %f1; cvt.u32.u16 %r4, %rs1;" STORE,
               WORDS(0xb3000001, 0), WORDS(0x8001));
  expect_words(FLOAT2 "cvt.rn.f16.f32 %rs1, %f1; cvt.u32.u16 %r4, %rs1;" STORE,
               WORDS(0x3f801000, 0), WORDS(0x3c00));
  expect_words(LOAD2 "cvt.u16.u32 %rs1, %r2; cvt.f32.f16 %f3, %rs1;" FSTORE, WORDS(0x0001, 0),
               WORDS(0x33800000));
  expect_words(LOAD2 "cvt.u16.u32 %rs1, %r2; cvt.f32.f16 %f3, %rs1;" FSTORE, WORDS(0xc000, 0),
               WORDS(0xc0000000));
  expect_words("ld.global.f64 %fd1, [%rd1]; cvt.rn.f32.f64 %f3, %fd1;" FSTORE,
               WORDS(0x10000000, 0x3ff00000), WORDS(0x3f800000));
  expect_words(FLOAT2 "cvt.f64.f32 %fd1, %f1; st.global.f64 [%rd1], %fd1;", WORDS(1, 0),
               WORDS(0, 0x36a00000));
}

static void test_memory(void **state) {
  (void)state;
  expect_words("ld.global.s8 %r4, [%rd1+1]; ld.global.u8 %rs1, [%rd1+2]; cvt.u32.u16 %r5, %rs1;"
               "st.global.u32 [%rd1+4], %r4; st.global.u8 [%rd1+3], %r5;",
               WORDS(0x11cc8000), WORDS(0xcccc8000, 0xffffff80));
  expect_words(
      "ld.global.v4.u32 {%r2, _, %r3, %r4}, [%rd1]; st.global.v2.u32 [%rd1+8], {%r4, %r2};",
      WORDS(1, 2, 3, 4), WORDS(1, 2, 4, 1));
  expect_words("ld.global.nc.f32 %f1, [%rd1]; st.volatile.global.f32 [%rd1+4], %f1;"
               "ld.relaxed.sys.global.u32 %r2, [%rd1+4]; st.global.u32 [%rd1+8], %r2;",
               WORDS(7), WORDS(7, 7, 7));
  // Generic addresses of local and shared memory.
  uint32_t memory[4] = {5};
  const char *why = run_in(
      ".local .align 8 .b8 depot[16]; .shared .align 4 .b8 all[8]; .reg .b64 %SP; .reg .b64 %SPL;",
      "mov.u64 %SPL, depot; cvta.local.u64 %SP, %SPL; ld.global.u32 %r2, [%rd1];"
      "st.local.u32 [%SPL+4], %r2; add.u64 %rd2, %SP, 4; ld.u32 %r3, [%rd2]; add.s32 %r3, %r3, 1;"
      "mov.u64 %rd3, all; st.shared.u32 [%rd3+4], %r3; cvta.shared.u64 %rd4, %rd3;"
      "ld.u32 %r4, [%rd4+4]; cvta.to.global.u64 %rd5, %rd1; st.global.u32 [%rd5], %r4;",
      memory, sizeof memory, 1, 1);
  assert_null(why);
  assert_int_equal(memory[0], 6);
}

// ---- threads ------------------------------------------------------------------------------------

static void test_threads_meet_at_barriers(void **state) {
  (void)state;
  uint32_t memory[96];
  const char *why =
      run_in(".shared .align 4 .b8 s[128];",
             "mul.wide.u32 %rd2, %r1, 4; mov.u64 %rd3, s; add.s64 %rd4, %rd3, %rd2;"
             "mov.u32 %r5, 0; mov.u32 %r6, %r1;\n"
             "again: st.shared.u32 [%rd4], %r6; bar.sync 0; xor.b32 %r7, %r1, 1;"
             "mul.wide.u32 %rd5, %r7, 4; add.s64 %rd5, %rd3, %rd5; ld.shared.u32 %r6, [%rd5];"
             "bar.sync 0; add.s32 %r6, %r6, 100; add.s32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 3;"
             "@%p1 bra again;\n"
             "mov.u32 %r8, %ctaid.x; mov.u32 %r9, %ntid.x; mad.lo.s32 %r10, %r8, %r9, %r1;"
             "mul.wide.u32 %rd6, %r10, 4; add.s64 %rd6, %rd1, %rd6; st.global.u32 [%rd6], %r6;",
             memory, sizeof memory, 32, 3);
  if (why) fail_msg("%s", why);
  for (uint32_t i = 0; i < 96; i++) assert_int_equal(memory[i], 300 + (i % 32 ^ 1));
}

static void test_atomics(void **state) {
  (void)state;
  uint32_t memory[8] = {0, 0xffffffff, 0, 5};
  const char *why =
      run("atom.global.add.u32 %r2, [%rd1], 3; atom.global.min.s32 %r2, [%rd1+4], %r1;"
          "red.global.or.b32 [%rd1+8], %r1;\n"
          "try: ld.relaxed.sys.global.u32 %r3, [%rd1+12]; add.s32 %r4, %r3, 2;"
          "atom.global.cas.b32 %r5, [%rd1+12], %r3, %r4; setp.ne.s32 %p1, %r5, %r3;"
          "@%p1 bra try; atom.global.exch.b32 %r6, [%rd1+16], 9;"
          "mov.u64 %rd2, 1; atom.global.add.u64 %rd3, [%rd1+24], %rd2;",
          memory, sizeof memory, 64);
  if (why) fail_msg("%s", why);
  const uint32_t expected[8] = {192, 0xffffffff, 63, 133, 9, 0, 64, 0};
  assert_memory_equal(memory, expected, sizeof memory);
}

// ---- what is refused ----------------------------------------------------------------------------

static void expect_refusal(const char *body, const char *words) {
  uint32_t memory[4] = {0};
  const char *why = run(body, memory, sizeof memory, 2);
  if (!why) fail_msg("accepted: %s", body);
  if (!strstr(why, words)) fail_msg("%s\n%s", why, body);
}

static void test_refusals(void **state) {
  (void)state;
  static const struct {
    const char *body, *words;
  } rows[] = {
      {"add.f32 %f1, %f2, %f3;", "without .rn"},
      {"mul.f32 %f1, %f2, %f3;", "without .rn"},
      {"add.rz.f32 %f1, %f2, %f3;", "without .rn"},
      {"div.approx.f32 %f1, %f2, %f3;", "`.approx`"},
      {"div.full.f32 %f1, %f2, %f3;", "`.full`"},
      {"add.rn.ftz.f32 %f1, %f2, %f3;", "`.ftz`"},
      {"ex2.approx.f32 %f1, %f2;", "`ex2.approx.f32`"},
      {"atom.global.add.f32 %f1, [%rd1], %f2;", "not there for its type"},
      {"add.s32 %rd1, %r2, %r3;", "another type or size"},
      {"add.s32 %f1, %r2, %r3;", "another type or size"},
      {"add.s32 %r1, %r2;", "operands"},
      {"mov.u32 %r99, 1;", "no register"},
      {"bra nowhere;", "no label"},
      {"call foo;", "not known"},
      {"mul.s32 %r1, %r2, %r3;", "without .lo"},
      {"cvt.s32.f32 %r1, %f1;", "this rounding"},
      {"cvt.f32.f64 %f1, %fd1;", "this rounding"},
      {"bar.sync 1;", "some threads"},
      {"bar.sync 0, 32;", "some threads"},
      {"st.param.u64 [k_param_0], %rd1;", "a parameter is written"},
      {"setp.lt.b32 %p1, %r1, %r2;", "not there for its type"},
      {"mov.u32 %r2, 0; div.u32 %r3, %r1, %r2;", "division by zero"},
      {"ld.global.u32 %r2, [%rd1+16];", "nobody gave"},
      {"ld.global.u32 %r2, [%rd1+-4];", "nobody gave"},
      {"st.global.u32 [%rd1+2], %r1;", "not aligned"},
      {"setp.eq.s32 %p1, %r1, 0; @%p1 bra out; bar.sync 0;\nout:", "never reach"},
      {"mov.u64 %rd2, 64; ld.shared.u32 %r2, [%rd2];", "nobody gave"},
      {"@%r1 bra out;\nout:", "no predicate"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    expect_refusal(rows[i].body, rows[i].words);
  char message[PTX_MESSAGE];
  static const char *const texts[] = {".version 6.3 .visible .entry k(", "nonsense",
                                      ".visible .entry k() { ret; ", ".address_size 32",
                                      ".visible .entry k() { ret; } .visible .entry k() { ret; }"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    assert_null(ptx_parse(texts[i], strlen(texts[i]), message));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_integers),
      cmocka_unit_test(test_carries),
      cmocka_unit_test(test_bits),
      cmocka_unit_test(test_floats),
      cmocka_unit_test(test_conversions),
      cmocka_unit_test(test_memory),
      cmocka_unit_test(test_threads_meet_at_barriers),
      cmocka_unit_test(test_atomics),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
